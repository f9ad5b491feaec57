// The views by their mode (view-mode.js), each loaded when it is first needed. viewer.js says what a view is.
import { importWithTexts } from "./texts.js";

export const VIEWS = {
  pdf: async () => (await importWithTexts(() => import("./pdf-view.js"))).PdfView,
  page: async () => (await importWithTexts(() => import("./page-view.js"))).PageView,
  media: async () => (await importWithTexts(() => import("./media-view.js"))).MediaView,
  text: async () => (await importWithTexts(() => import("./text-view.js"))).TextView,
};
