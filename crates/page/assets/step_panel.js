// One step explained: because of what, by which rule, with what effect; the state of its node with
// what changed; what can happen next and what cannot.

import { fill, h } from "./dom.js";
import { actionsAbout } from "./menu.js";
import { signName, signOf } from "./topology.js";

const NEXT_MAX = 24;

export class StepPanel {
  constructor(session, context, { openMenuFor, whatIf }) {
    Object.assign(this, { session, context, openMenuFor, whatIf });
    this.root = h("section", { class: "step sheet" });
  }

  draw() {
    const { session, context: { t } } = this;
    const { run, event, moment, cursor } = session;
    if (!run) return fill(this.root);
    this.root.setAttribute("aria-label", t("lab.step-panel"));
    const time = this.context.number(run.timeOf(cursor));
    const head = h("header", { class: "step-head" },
      h("h2", {}, t("lab.step-of", { step: cursor, steps: run.events })),
      h("span", { class: "soft" }, t("lab.at-time", { time })));
    return fill(this.root, head, cursor === 0 ? this.#beginning(run) : this.#told(run, event),
      moment ? [this.#state(run, moment, event), this.#next(run, moment)] : null);
  }

  // Fades whatever is neither cause nor effect of this step.
  #coneButton(cursor) {
    const { selection } = this.session;
    const on = selection?.kind === "event" && selection.id === cursor;
    return h("button", { type: "button", class: "small quiet", "aria-pressed": String(on),
      on: { click: () => this.session.select({ kind: "event", id: cursor }) } },
    this.context.t("lab.cone"));
  }

  #beginning(run) {
    const { t } = this.context;
    return h("div", { class: "told" }, h("p", { class: "big" },
      t("lab.before-anything", { n: run.nodes.length })),
    h("p", { class: "soft" }, t("lab.press-play")));
  }

  #told(run, event) {
    if (!event) return h("p", { class: "soft told" }, this.context.t("shell.loading"));
    const { t } = this.context;
    const why = event.why ?? [];
    const effects = this.#effects(run, event);
    const atNode = event.node !== null && event.node !== undefined;
    const ends = event.kind === "end";
    const ending = run.answer.ending;
    return h("dl", { class: "told" },
      h("dt", {}, t(ends ? "lab.the-end" : "lab.because")),
      h("dd", { class: "big" }, ends && ending ? sentence(ending) : cause(t, run, event)),
      why.length ? [h("dt", {}, t("lab.rule")), why.map((reason, k) => [
        reason.own && !why[k - 1]?.own ? h("dd", { class: "to-itself soft small" },
          t("lab.to-itself")) : null, h("dd", { class: reason.own ? "own" : null }, reason.text,
          reason.rule ? [" ", h("a", { class: "tag", "data-link": true,
            href: `/algorithms#${reason.place}` }, reason.rule)] : null)])] : null,
      atNode ? h("dt", {}, t("lab.so")) : null,
      !atNode ? null : effects.length ? effects.map((text) => h("dd", {}, text))
        : h("dd", { class: "soft" }, t("lab.so-nothing")),
      this.#breaks(run, event.i),
      h("dd", { class: "cone" }, this.#coneButton(event.i)));
  }

  // The promises that break at this step, and why.
  #breaks(run, step) {
    const { t } = this.context;
    const broken = (run.answer.lamps ?? []).filter((lamp) => lamp.changes.some(([event, state]) =>
      event === step && state === "broken"));
    return broken.length ? [h("dt", {}, t("lab.breaks")), broken.map((lamp) =>
      h("dd", { class: "breaks" }, h("span", { class: "tag" }, lamp.property), " ",
        h("strong", {}, `${lamp.name}. `), lamp.why ?? null))] : null;
  }

  #effects(run, event) {
    const { t } = this.context;
    const name = (node) => run.nodes[node]?.name ?? "?";
    const sends = new Map();
    for (const { label, details, to } of event.sends ?? []) {
      const key = details ? `${label} (${details})` : label;
      sends.set(key, [...(sends.get(key) ?? []), name(to)]);
    }
    return [
      ...[...sends].map(([label, to]) => t("lab.sends", { label, to: to.join(", ") })),
      ...(event.told ?? []).map((told) => toldText(t, told, name)),
      ...(event.timers ?? []).map((timer) => (timer.set
        ? t("lab.timer-set", { name: timer.set, until: this.context.number(timer.until) })
        : t("lab.timer-cancelled", { name: timer.cancelled }))),
    ];
  }

  #state(run, moment, event) {
    const { session, context: { t } } = this;
    const i = session.selection?.kind === "node" ? session.selection.id : event?.node ?? 0;
    const state = moment.nodes[i];
    if (!state) return null;
    const sign = signName(t, signOf(state));
    const facets = this.#facets(run, state);
    const fields = h("dl", { class: "fields" }, (state.fields ?? []).map((field) => {
      const changed = field.was !== undefined && field.was !== null;
      return [h("dt", {}, field.name), h("dd", { class: changed ? "changed" : null },
        changed ? [h("del", {}, String(field.was)), " "] : null,
        changed ? h("ins", {}, String(field.value)) : String(field.value))];
    }));
    return h("section", { class: "state" },
      h("div", { class: "row spread" },
        h("h3", {}, t("lab.state-of", { node: run.nodes[i].name })),
        h("span", { class: "soft" }, sign),
        h("button", { type: "button", class: "small", on: { click: (click) =>
          this.openMenuFor({ kind: "node", id: i }, click.currentTarget) } }, t("lab.what-if"))),
      // What helps to understand comes first; then all that the program keeps.
      facets.length ? h("dl", { class: "fields facets" }, facets) : null,
      facets.length ? h("h4", { class: "soft small" }, t("lab.all-fields")) : null, fields);
  }

  #facets(run, state) {
    const name = (node) => run.nodes[node]?.name ?? "?";
    const { t } = this.context;
    const rows = (state.facets ?? []).map((facet) => {
      const { kind, nodes, items } = facet;
      if (kind === "queue") return [facet.name, items.join("  ") || t("lab.empty")];
      if (kind === "set") return [facet.name, nodes.map(name).join(", ") || t("lab.empty")];
      const node = facet.kind === "edge" ? facet.to : facet.node;
      return [facet.name, node === null || node === undefined ? t("lab.nobody") : name(node)];
    });
    const timers = (state.timers ?? []).map((timer) => [timer.name,
      t("lab.rings-at", { until: this.context.number(timer.until) })]);
    return [...rows, ...timers].map(([label, value]) => [h("dt", {}, label), h("dd", {}, value)]);
  }

  // What travels may arrive next, or be dropped; grouped by message, then nodes.
  #next(run, moment) {
    const { t } = this.context;
    const actions = moment.actions ?? [];
    const cannot = actions.filter(({ possible }) => !possible);
    const flying = moment.flying.slice(0, NEXT_MAX)
      .map((message) => this.#flying(run, moment, message));
    return h("section", { class: "next" },
      h("h3", {}, t("lab.can-happen", { n: moment.flying.length })),
      flying.length ? h("ul", { class: "flying" }, flying)
        : h("p", { class: "soft small" }, t("lab.nothing-flies")),
      moment.flying.length > NEXT_MAX
        ? h("p", { class: "soft small" }, t("lab.and-more", { n: moment.flying.length - NEXT_MAX }))
        : null,
      cannot.length ? h("details", {},
        h("summary", {}, t("lab.cannot-happen", { n: cannot.length })),
        h("ul", { class: "cannot" }, cannot.slice(0, NEXT_MAX).map((action) => h("li", {},
          h("span", {}, this.#about(run, action), ": ", action.label), " ",
          h("span", { class: "why-not" }, action.why_not))))) : null);
  }

  #about(run, action) {
    const { node, link } = action.about ?? {};
    const name = (i) => run.nodes[i]?.name ?? "?";
    if (link) return link.map(name).join("–");
    if (node !== undefined) return name(node);
    const message = run.messages.get(action.about?.message);
    return message ? titleOf(run, message) : "";
  }

  #flying(run, moment, message) {
    const { t } = this.context;
    const actions = actionsAbout(moment, { kind: "message", id: message.number });
    const quick = actions.filter(({ verb, possible }) => possible
      && ["first", "drop"].includes(verb));
    const selected = this.session.selection?.kind === "message"
      && this.session.selection.id === message.number;
    const title = titleOf(run, message);
    return h("li", { class: selected ? "selected" : null },
      h("span", { class: `swatch ${run.colour(message.label)}`, "aria-hidden": "true" }),
      h("span", { class: "flying-name" }, title, message.details
        ? h("span", { class: "soft small" }, ` ${message.details}`) : null),
      h("span", { class: "flying-actions" },
        quick.map((action) => h("button", { type: "button", class: "small quiet",
          "aria-label": `${title}: ${action.label}`,
          on: { click: () => this.whatIf(action.edit) } }, t(`verb.${action.verb}`))),
        actions.length > quick.length ? h("button", { type: "button", class: "small quiet",
          "aria-label": t("lab.more-about", { what: title }), on: { click: (click) =>
            this.openMenuFor({ kind: "message", id: message.number }, click.currentTarget) } },
        "…") : null));
  }
}

// "OK 2 → 1".
export function titleOf(run, { label, from, to }) {
  return `${label} ${run.nodes[from].name} → ${run.nodes[to].name}`;
}

const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

// What set the step off, in words; the server's own sentence where there is no better.
function cause(t, run, event) {
  const node = run.nodes[event.node]?.name;
  const from = run.nodes[event.from]?.name;
  // As its sender wrote it, where that is known: what arrives may be written for machines.
  const details = run.messages.get(event.number)?.details ?? "";
  const label = details ? `${event.label} (${details})` : event.label;
  if (event.kind === "message") return t("cause.message", { node, from, label });
  if (event.kind === "timer") return t("cause.timer", { node, label: event.label });
  return event.text;
}

function toldText(t, told, name) {
  if (told.kind === "entered") {
    return told.fence === undefined || told.fence === null ? t("told.entered")
      : t("told.entered-fence", { fence: told.fence });
  }
  if (told.kind === "elected") return t("told.elected", { leader: name(told.leader) });
  if (told.kind === "suspect") return t("told.suspect", { node: name(told.node) });
  if (told.kind === "trust") return t("told.trust", { node: name(told.node) });
  if (told.kind === "deposed") return t("told.deposed");
  return told.text ?? told.kind;
}
