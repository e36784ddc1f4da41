// A lamp a property: kept, broken, or not yet decided, as the monitors judge the run up to the
// cursor.

import { fill, h } from "./dom.js";

const SIGNS = { kept: "✓", broken: "✕", undecided: "?" };

// The state of a lamp after event `cursor`, and since when.
export function stateAt(lamp, cursor) {
  let [since, state] = [0, "undecided"];
  for (const [event, next] of lamp.changes) {
    if (event > cursor) break;
    [since, state] = [event, next];
  }
  return { state, since };
}

export class Lamps {
  constructor(session, context) {
    Object.assign(this, { session, context, open: null });
    this.root = h("div", { class: "lamps", role: "group" });
    this.why = h("div", { class: "lamp-why", hidden: true });
  }

  draw() {
    const { run, cursor } = this.session;
    const { t } = this.context;
    this.root.setAttribute("aria-label", t("lab.lamps"));
    const lamps = run?.answer.lamps ?? [];
    fill(this.root, lamps.map((lamp) => {
      const { state } = stateAt(lamp, cursor);
      return h("button", { type: "button", class: `lamp ${state}`,
        "aria-expanded": String(this.open === lamp.property),
        "aria-label": `${lamp.property}, ${lamp.name}: ${t(`lamp.${state}`)}`, title: lamp.name,
        "data-property": lamp.property, "data-state": state,
        on: { click: () => this.#toggle(lamp.property) } },
      h("span", { class: "lamp-sign", "aria-hidden": "true" }, SIGNS[state]), lamp.property);
    }));
    this.#explain(lamps.find(({ property }) => property === this.open));
  }

  #toggle(property) {
    this.open = this.open === property ? null : property;
    this.draw();
    this.root.querySelector(`[data-property="${CSS.escape(property)}"]`)?.focus();
  }

  #explain(lamp) {
    this.why.hidden = !lamp;
    if (!lamp) return;
    const { t } = this.context;
    const { state, since } = stateAt(lamp, this.session.cursor);
    const ahead = lamp.changes.find(([event]) => event > this.session.cursor);
    fill(this.why,
      h("p", {}, h("strong", {}, `${lamp.property} · ${lamp.name}. `), t(`lamp.${state}-now`,
        { event: since })),
      state === "broken" && lamp.why ? h("p", {}, lamp.why) : null,
      h("div", { class: "row" },
        state === "broken" ? (lamp.witnesses ?? []).map((event) => this.#jump(t("lab.witness",
          { event }), event)) : null,
        ahead ? this.#jump(t(`lamp.${ahead[1]}-at`, { event: ahead[0] }), ahead[0]) : null));
  }

  #jump(text, event) {
    return h("button", { type: "button", class: "small",
      on: { click: () => this.session.go(event) } }, text);
  }
}
