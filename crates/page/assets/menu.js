// A menu of what can be done to a message or a node now, and what cannot, with the reason.

import { h } from "./dom.js";
import { laterBy, wordsOf } from "./edits.js";

const DELAYS = [1, 5, 20, 100];

// The actions about a selection at this moment.
export function actionsAbout(moment, selection) {
  if (!moment || !selection) return [];
  return (moment.actions ?? []).filter(({ about }) => about?.[selection.kind] === selection.id
    || (selection.kind === "node" && about?.link?.includes(selection.id)));
}

let closeOpen = () => {};

// `selection` is what the menu is about; `choose` is given the edit; `note` says when it happens.
export function openMenu(anchor, title, actions, { context, selection, choose, none, note }) {
  closeOpen();
  const before = document.activeElement;
  const items = actions.flatMap((action) => variants(action, selection, context))
    .map((action) => item(action, take));
  const menu = h("div", { class: "menu", role: "menu", tabindex: -1, "aria-label": title,
    "aria-describedby": note ? "menu-note" : null },
    h("p", { class: "menu-title", role: "presentation" }, title),
    note ? h("p", { class: "menu-note", id: "menu-note" }, note) : null,
    items.length ? items : h("p", { class: "menu-none" }, none));

  function close(back = true) {
    menu.remove();
    removeEventListener("pointerdown", outside, true);
    closeOpen = () => {};
    if (back && before?.isConnected) before.focus({ preventScroll: true });
  }
  function outside(event) {
    if (!menu.contains(event.target)) close(false);
  }
  function take(action) {
    close();
    choose(action.edit);
  }
  menu.addEventListener("keydown", (event) => {
    const at = items.indexOf(document.activeElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (event.key === "Escape" || event.key === "Tab") close();
    else if (next !== undefined) items[(next + items.length) % items.length]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  document.body.append(menu);
  place(menu, anchor.getBoundingClientRect());
  addEventListener("pointerdown", outside, true);
  closeOpen = close;
  context.signal.addEventListener("abort", () => close(false), { once: true });
  const possible = items.find((element) => element.getAttribute("aria-disabled") !== "true");
  (possible ?? items[0] ?? menu).focus(); // A menu can be left by a key, whatever is in it.
}

// A delay by several spans; of links, which, and only what can be done.
function variants(action, { flight }, { t }) {
  if (action.about?.link) {
    return action.possible ? [{ ...action, label: wordsOf(t, action.edit, "do") }] : [];
  }
  if (action.verb !== "delay" || !action.possible || flight === undefined) return [action];
  return DELAYS.map((by) => ({ ...action, label: t("lab.delay-by", { by }),
    edit: laterBy(action.edit, flight, by) }));
}

function item(action, take) {
  return h("button", { type: "button", role: "menuitem", tabindex: -1, class: "menu-item",
    "aria-disabled": action.possible ? null : "true",
    on: { click: () => { if (action.possible) take(action); } } },
  h("span", {}, action.label),
  action.possible ? null : h("span", { class: "why-not" }, action.why_not));
}

function place(menu, box) {
  const left = Math.min(box.right + 8, innerWidth - menu.offsetWidth - 8);
  const top = Math.min(box.top, innerHeight - menu.offsetHeight - 8);
  menu.style.left = `${Math.max(8, left) + scrollX}px`;
  menu.style.top = `${Math.max(8, top) + scrollY}px`;
}
