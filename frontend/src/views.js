// The views by their mode (view-mode.js), each loaded when it is first needed. viewer.js says what a view is.

export const VIEWS = {
  pdf: async () => (await import("./pdf-view.js")).PdfView,
  page: async () => (await import("./page-view.js")).PageView,
  media: async () => (await import("./media-view.js")).MediaView,
  text: async () => (await import("./text-view.js")).TextView,
};
