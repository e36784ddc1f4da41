// Every algorithm of a family, measured on the spot beside its formula: a table, and plots over N.

import { fill, h } from "./dom.js";
import { plot } from "./plot.js";
import { ask, catalogue } from "./server.js";

const NODES = [2, 4, 8, 16, 32];
const MEASURES = {
  mutex: ["messages_per_entry", "client_delay", "client_delay_serial", "sync_delay"],
  election: ["messages", "time"],
};

export function mount(root, context) {
  new Comparison(root, context).start();
}

class Comparison {
  constructor(root, context) {
    Object.assign(this, { root, context, family: "mutex", load: "heavy", log: true, at: 8,
      rows: null });
  }

  start() {
    this.body = h("div", {});
    this.page = h("div", { class: "page" });
    fill(this.root, this.page);
    this.context.onLanguage(() => { this.draw(); this.measured(); });
    this.draw();
    this.measured();
  }

  draw() {
    const { t } = this.context;
    const choice = (label, name, values, changed) => h("label", { class: "field" },
      h("span", {}, label), h("select", { on: { change: (event) => {
        this[name] = event.target.value;
        changed();
      } } }, values.map(([value, text]) => h("option", { value, selected: value
        === String(this[name]) }, text))));
    fill(this.page, h("h1", {}, t("shell.compare")), h("p", { class: "lead" }, t("compare.lead")),
      h("div", { class: "row filters" },
        choice(t("compare.family"), "family", Object.keys(MEASURES).map((family) =>
          [family, t(`family.${family}`)]), () => this.measured()),
        choice(t("compare.load"), "load", [["light", t("compare.light")], ["heavy",
          t("compare.heavy")]], () => this.show()),
        choice(t("compare.at"), "at", NODES.map((n) => [String(n), `${n}`]), () => this.show()),
        h("label", {}, h("input", { type: "checkbox", checked: this.log, on: { change: (event) => {
          this.log = event.target.checked;
          this.show();
        } } }), t("compare.log"))), this.body);
  }

  // One after another: the server measures for one at a time, and refuses who comes meanwhile.
  measured() {
    this.#wait(); // In the reader's language, even while it still measures for another.
    this.measuring = (this.measuring ?? Promise.resolve()).then(() => this.#measure());
  }

  async #measure() {
    const { family } = this;
    this.#wait();
    try {
      const [answer, known] = await Promise.all([ask("/lab/compare", { family, nodes: NODES },
        this.context.signal), catalogue(true)]);
      if (family !== this.family) return;
      this.rows = answer.rows;
      this.titles = new Map(known.algorithms.map(({ id, title }) => [id, title]));
      this.show();
    } catch (error) {
      if (error.name !== "AbortError") fill(this.body, h("p", { class: "error" }, error.message));
    }
  }

  #wait() {
    fill(this.body, h("p", { class: "soft", role: "status" },
      this.context.t("compare.measuring")));
  }

  show() {
    if (!this.rows) return;
    const { t, number } = this.context;
    const rows = this.rows.filter((row) => !row.load || row.load === this.load);
    const measures = MEASURES[this.family].filter((name) => rows.some((row) => numeric(row[name])));
    const plots = measures.map((name) => plot({ log: this.log, number: (value) => number(value, 2),
      label: t("compare.plot-of", { what: t(`compare.${name}`) }), lines: linesOf(rows, name) }));
    fill(this.body, h("h2", { class: "section" }, t("compare.table-at", { n: this.at })),
      this.#table(rows.filter((row) => String(row.nodes) === String(this.at)), measures),
      h("div", { class: "plots" }, plots.filter(Boolean)));
  }

  #table(rows, measures) {
    const { t, number } = this.context;
    const cell = (value) => (numeric(value) ? number(value, 2) : "–");
    return h("div", { class: "scroll-x sheet", tabindex: 0, role: "region", "aria-label":
      t("compare.table-at", { n: this.at }) }, h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("compare.algorithm")),
        measures.map((name) => h("th", { scope: "col", class: "number" }, t(`compare.${name}`))),
        h("th", { scope: "col" }, t("compare.formula")))),
      h("tbody", {}, rows.map((row) => h("tr", {},
        h("th", { scope: "row" }, h("a", { href: `/lab#v=1&a=${row.algorithm}&n=${this.at}&at=/0`,
          "data-link": true }, this.titles.get(row.algorithm) ?? row.algorithm)),
        measures.map((name) => h("td", { class: "number" }, cell(row[name]))),
        h("td", { class: "soft small" }, row.formula ?? ""))))));
  }
}

const numeric = (value) => typeof value === "number" && Number.isFinite(value);

function linesOf(rows, name) {
  const lines = new Map();
  for (const row of rows) {
    if (!numeric(row[name])) continue;
    lines.set(row.algorithm, [...(lines.get(row.algorithm) ?? []), [row.nodes, row[name]]]);
  }
  return [...lines].map(([algorithm, points]) => ({ name: algorithm, points }));
}
