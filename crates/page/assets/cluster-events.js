// What happens, newest first, with filters. Only as many as can be seen are drawn.

import { h } from "./dom.js";
import { counted, number, t } from "./i18n.js";
import { keyed, setAttribute, setText } from "./cluster-dom.js";
import { GROUPS, groupOf, sentence, timeOfDay } from "./cluster-words.js";

const SHOWN = 120;

export function eventsPanel(model, feed, choose, open, changed) {
  const groups = Object.keys(GROUPS).map((group) => {
    const box = h("input", { type: "checkbox", checked: true, on: { change: changed } });
    const label = h("span");
    return { group, box, label, element: h("label", { class: "small" }, box, label) };
  });
  const search = h("input", { type: "search", class: "small", maxlength: 256, on: { input: changed } });
  const searchLabel = h("span", { class: "unseen" });
  const teller = h("select", { class: "small", on: { change: () => choose(teller.value) } });
  const tellerLabel = h("span");
  const tellerField = h("label", { class: "small soft" }, tellerLabel, teller);
  const list = h("ol", { class: "events", tabindex: 0 });
  const note = h("p", { class: "soft small pager" });
  const title = h("h2", { id: "events-title" });
  const element = h("section", { class: "cluster-events sheet", "aria-labelledby": "events-title" },
    title,
    h("div", { class: "row list-tools" }, h("label", { class: "search" }, searchLabel, search),
      tellerField),
    h("div", { class: "row filters" }, groups.map((one) => one.element)), list, note);

  function paint() {
    setText(title, t("cluster.events"));
    setText(searchLabel, t("cluster.events.search"));
    setAttribute(search, "placeholder", t("cluster.events.search"));
    setAttribute(list, "aria-label", t("cluster.events"));
    for (const { group, label } of groups) setText(label, t(`cluster.events.${group}`));
    paintTellers();
    setAttribute(element, "data-stale", !feed().up);
    const wanted = new Set(groups.filter(({ box }) => box.checked).map(({ group }) => group));
    const text = search.value.trim().toLowerCase();
    const matches = (event) => wanted.has(groupOf(event)) && (!text
      || `${event.name ?? ""} ${event.message}`.toLowerCase().includes(text));
    const found = [];
    const { events } = feed();
    for (let i = events.length - 1; i >= 0 && found.length < SHOWN; i -= 1) {
      if (matches(events[i])) found.push(events[i]);
    }
    keyed(list, found, (event) => `${event.node}:${event.number}:${event.at_ms}`,
      (event) => line(event, open), (item, event) => item.change(event));
    setText(note, noteWords(found.length));
  }

  function noteWords(shown) {
    const { up, events, missed, node } = feed();
    if (!up) return t("cluster.events.down");
    if (events.length === 0) return t("cluster.events.none");
    const words = [t("cluster.events.shown", { n: number(shown), all: number(events.length), node })];
    if (missed > 0) words.push(counted("cluster.events.missed", missed));
    return words.join(" ");
  }

  // With a classic engine each node tells of its own sessions.
  function paintTellers() {
    tellerField.hidden = !(model.classic && model.up);
    setText(tellerLabel, t("cluster.events.teller"));
    keyed(teller, [{ id: "" }, ...model.nodes], (node) => node.id, (node) =>
      h("option", { value: node.id }), (option, node) =>
      setText(option, node.id === "" ? t("cluster.events.any") : t("cluster.node", { node: node.id })));
  }
  return { element, paint };
}

function line(event, open) {
  const time = h("time");
  const name = event.name ? h("button", { type: "button", class: "name-link mono",
    on: { click: () => open(event.name) } }, event.name) : null;
  const text = h("span", { class: "what" });
  const item = h("li", { data: { kind: event.kind, group: groupOf(event) } }, time,
    h("span", { class: "event-body" }, name, text));
  item.change = (now) => {
    setText(time, timeOfDay(now.at_ms));
    setText(text, sentence(now));
  };
  return item;
}
