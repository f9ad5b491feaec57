// What the admin theme (unfold) has inline and as global functions, as components: the build of Alpine for a strict
// content security policy evaluates neither global names nor functions in attributes.
import { recall, remember } from "./remembered.js";

const SIDEBAR = "sidebarDesktopOpen";

/** The state of the page: its tab, and the navigation at the side. */
const panel = (firstTab) => ({
  activeTab: window.getCurrentTab() ?? firstTab,
  sidebarMobileOpen: false,
  sidebarDesktopOpen: recall(SIDEBAR) !== "0",
  // The theme's form sends itself to the tab where it was, by an expression with these two.
  window: { location: { pathname: location.pathname, search: location.search } },
  init() {
    this.$watch(SIDEBAR, (open) => remember(SIDEBAR, open ? "1" : "0"));
  },
});

document.addEventListener("alpine:init", () => {
  window.Alpine.data("panel", panel);
  // Of unfold/js/app.js, which comes before this.
  for (const name of ["theme", "searchForm", "searchDropdown", "searchCommand"]) window.Alpine.data(name, window[name]);
});
