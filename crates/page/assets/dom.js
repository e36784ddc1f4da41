// Elements made by hand. Text only ever goes in as text, so a lock named `<img onerror=…>` is a
// name.

const SVG = "http://www.w3.org/2000/svg";

// h("button", { class: "quiet", type: "button", on: { click } }, "text", child, [more])
export function h(tag, properties, ...children) {
  return furnished(document.createElement(tag), properties, children);
}

// The same for SVG.
export function s(tag, properties, ...children) {
  return furnished(document.createElementNS(SVG, tag), properties, children);
}

function furnished(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) {
        element.addEventListener(event, listener);
      }
    } else if (name === "data") {
      Object.assign(element.dataset, value);
    } else if (name === "value" && "value" in element) {
      element.value = value;
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined
    && child !== false).map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

const FOCUSABLE = "button, input, select, textarea, summary, a[href], [tabindex]";

// Puts `children` where whatever `element` had was. Whoever was at one of those with the keyboard is
// then at the one like it: the same words, or the same place among its kind.
export function fill(element, ...children) {
  const at = element.contains(document.activeElement) ? likeness(element) : null;
  element.replaceChildren(...children.flat(3).filter((child) => child !== null
    && child !== undefined && child !== false));
  if (at) {
    const all = [...element.querySelectorAll(FOCUSABLE)].filter(({ tagName }) => tagName === at.tag);
    (all.find((one) => wordsOf(one) === at.words) ?? all[at.place])?.focus({ preventScroll: true });
  }
  return element;
}

function likeness(element) {
  const { activeElement } = document;
  const { tagName: tag } = activeElement;
  const all = [...element.querySelectorAll(FOCUSABLE)].filter(({ tagName }) => tagName === tag);
  return { tag, words: wordsOf(activeElement), place: all.indexOf(activeElement) };
}

function wordsOf(element) {
  return element.getAttribute("aria-label") || element.textContent || element.id;
}

export function button(text, click, properties = {}) {
  return h("button", { type: "button", ...properties, on: { click } }, text);
}

// A line icon from its path, for buttons whose name is in `aria-label`.
export function icon(path, filled = false) {
  return s("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", class: "glyph" },
    s("path", { d: path, class: filled ? "filled" : null }));
}

export const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// Calls `action` at most once a frame, however often it is asked for.
export function oncePerFrame(action) {
  let asked = 0;
  return () => {
    if (!asked) asked = requestAnimationFrame(() => { asked = 0; action(); });
  };
}

// Calls `action` after `pause` ms of calm.
export function afterCalm(pause, action) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), pause);
  };
}

// A modal dialog with a title and a way out; removed when it is closed.
export function dialog(title, closeLabel, ...content) {
  const close = h("button", { type: "button", class: "quiet icon", "aria-label": closeLabel,
    on: { click: () => box.close() } }, icon("M6 6l12 12M18 6L6 18"));
  const heading = h("h2", { id: "dialog-title" }, title);
  const box = h("dialog", { "aria-labelledby": "dialog-title" },
    h("div", { class: "dialog-head" }, heading, close), content);
  box.addEventListener("close", () => box.remove());
  box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
  document.body.append(box);
  box.showModal();
  return box;
}
