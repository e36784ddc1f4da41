// The keys of the lab. Single letters can be switched off, for whoever dictates or uses a screen
// reader.

import { dialog, h } from "./dom.js";

const SWITCH = "conclave.keys";

const KEYS = [
  ["→ ←", "keys.step"], ["Shift + → ←", "keys.same-node"], ["Home End", "keys.ends"],
  ["Space", "keys.play"], ["[ ]", "keys.speed"], ["↑ ↓", "keys.node"], ["b", "keys.branch"],
  ["Enter", "keys.menu"], ["d", "keys.drop"], ["c", "keys.crash"], ["w", "keys.what-if"],
  ["u", "keys.undo"], ["/", "keys.search"], ["?", "keys.help"],
];

export const keysOn = (context) => context.stored(SWITCH) !== "off";

// `actions` by name; those that return false leave the key to the browser.
export function listen(context, actions) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) {
      return;
    }
    // A box is ticked by the space bar alone; other fields take all keys.
    const box = event.target.matches?.("input[type=checkbox]");
    if (box ? event.key === " " : event.target.closest?.("input, select, textarea, .menu")) return;
    const action = actionFor(event, context, actions);
    if (action && action() !== false) event.preventDefault();
  }, { signal: context.signal });
}

function actionFor(event, context, actions) {
  const { key, shiftKey } = event;
  if (key === "ArrowRight") return shiftKey ? actions.nodeOn : actions.on;
  if (key === "ArrowLeft") return shiftKey ? actions.nodeBack : actions.back;
  const named = { Home: actions.first, End: actions.last, ArrowUp: actions.nodeUp,
    ArrowDown: actions.nodeDown, Escape: actions.escape }[key];
  if (named) return named;
  const pressed = key === " " || key === "Enter";
  if (pressed && event.target.closest?.("button, a, summary, [role=button]")) return null;
  if (key === " ") return actions.play;
  if (key === "Enter") return actions.menu;
  if (!keysOn(context)) return null;
  return { "[": actions.slower, "]": actions.faster, b: actions.branch, d: actions.drop,
    c: actions.crash, w: actions.whatIf, u: actions.undo, "/": actions.search,
    "?": actions.help }[key];
}

export function help(context) {
  const { t, store } = context;
  dialog(t("keys.title"), t("shell.close"),
    h("dl", { class: "keys" }, KEYS.map(([keys, text]) => [h("dt", {}, keys.split(" ").map((key) =>
      (key === "+" ? " + " : h("kbd", {}, key)))), h("dd", {}, t(text))])),
    h("label", {}, h("input", { type: "checkbox", checked: keysOn(context), on: { change: (event) =>
      store(SWITCH, event.target.checked ? "on" : "off") } }), t("keys.single")));
}
