// Which view the address names, and the change from one to another without loading the page again.
// A view is a module with `mount(root, context)`, which may return a function that ends it.

import { t } from "./i18n.js";

const VIEWS = {
  cluster: () => import("./cluster.js"),
  lab: () => import("./lab.js"),
  compare: () => import("./compare.js"),
  scenarios: () => import("./scenarios.js"),
  algorithms: () => import("./algorithms.js"),
};

export function router(root, makeContext) {
  let leave = () => {};
  let shown = null;

  // A view that somebody went to begins at its top, unless it goes elsewhere by itself.
  async function show(wentTo = false) {
    const name = viewOf(location.pathname, makeContext.about);
    if (name === shown) return;
    leave();
    shown = name;
    mark(name);
    const ending = new AbortController();
    const context = makeContext(ending.signal, navigate);
    leave = () => ending.abort();
    try {
      const view = await VIEWS[name]();
      if (ending.signal.aborted) return;
      root.replaceChildren();
      root.className = `view-${name}`;
      if (wentTo) {
        root.focus({ preventScroll: true });
        scrollTo(0, 0);
      }
      const end = view.mount(root, context);
      if (typeof end === "function") ending.signal.addEventListener("abort", end);
    } catch (error) {
      if (ending.signal.aborted) return;
      console.error(error);
      root.textContent = t("shell.broken");
    }
  }

  function navigate(address) {
    const target = new URL(address, location.href);
    const same = viewOf(target.pathname, makeContext.about) === shown;
    history.pushState(null, "", target);
    if (same) dispatchEvent(new HashChangeEvent("hashchange"));
    else show(true);
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-link]");
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    navigate(link.href);
  });
  addEventListener("popstate", () => show());
  return show();
}

function viewOf(path, about) {
  const name = path.split("/")[1];
  if (name in VIEWS) return name;
  return about.cluster ? "cluster" : "lab";
}

function mark(name) {
  for (const link of document.querySelectorAll("a[data-view]")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${t(`shell.${name}`)} · Conclave`;
}
