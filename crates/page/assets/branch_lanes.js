// The branches as lanes: each hangs below its parent from the event where it leaves. Click to look
// at one; the difference from its parent is counted beside it.

import { fill, h, s } from "./dom.js";
import { difference } from "./causality.js";
import { wordsOf } from "./edits.js";

const WIDTH_MAX = 400;
const PITCH = 30;
const RIGHT = 12;
// Longer runs are not compared: both would have to be fetched whole.
const EVENTS_MAX = 6000;

export class BranchLanes {
  constructor(session, context, { onDifference, remove }) {
    Object.assign(this, { session, context, onDifference, remove, comparing: true });
    this.root = h("section", { class: "branches" });
  }

  // How the branch that is looked at differs from the one that it leaves; null for the trunk.
  difference() {
    const { session } = this;
    const branch = session.branches.find(({ name }) => name === session.branch);
    const run = session.runs.get(session.branch);
    const parent = branch && session.runs.get(branch.parent);
    if (!run || !parent) return null;
    if (this.counted?.run !== run || !this.counted.found) {
      const found = difference(run, parent);
      if (!found && Math.max(run.events, parent.events) <= EVENTS_MAX) {
        session.needAll(session.branch, branch.parent);
      }
      this.counted = { run, found };
    }
    return this.counted;
  }

  draw() {
    const { session, context: { t } } = this;
    this.root.hidden = !session.branches.length;
    if (!session.branches.length || !session.run) return this.onDifference(null);
    this.root.setAttribute("aria-label", t("lab.branches"));
    const order = inOrder(session.branches);
    const rows = [{ name: "", parent: null, step: 0, edit: null, depth: 0 }, ...order];
    const most = Math.max(...[...session.runs.values()].map(({ events }) => events), 1);
    const width = Math.min(WIDTH_MAX, (this.root.clientWidth || 640) * 0.4);
    const x = (event) => 6 + (event / most) * (width - 6 - RIGHT);
    const picture = s("svg", { class: "branch-picture", width, height: rows.length * PITCH,
      "aria-hidden": "true", on: { click: (click) => {
        const box = picture.getBoundingClientRect();
        const row = rows[Math.floor((click.clientY - box.top) / PITCH)];
        const event = ((click.clientX - box.left - 6) / (width - 6 - RIGHT)) * most;
        if (row && session.choose(row.name)) session.go(Math.max(row.step, Math.round(event)));
      } } },
    rows.map((row, k) => this.#lane(row, k, rows, x)));
    const counted = this.difference();
    this.onDifference(this.comparing ? counted?.found ?? null : null);
    return fill(this.root, h("div", { class: "row spread" }, h("h3", {}, t("lab.branches")),
      this.#toggle()), h("div", { class: "branch-rows" }, picture,
      h("ul", {}, rows.map((row) => this.#name(row)))), this.#sentence(counted));
  }

  #toggle() {
    return h("label", { class: "small" }, h("input", { type: "checkbox", checked: this.comparing,
      on: { change: (event) => { this.comparing = event.target.checked; this.draw(); } } }),
    this.context.t("lab.mark-difference"));
  }

  #lane(row, k, rows, x) {
    const run = this.session.runs.get(row.name);
    const y = k * PITCH + PITCH / 2;
    const above = rows.findIndex(({ name }) => name === row.parent);
    const fork = row.parent === null ? "" : `M${x(row.step)} ${above * PITCH + PITCH / 2}V${y}`;
    const chosen = row.name === this.session.branch;
    const end = run ? x(run.events) : x(row.step);
    return s("g", { class: chosen ? "branch chosen" : "branch" },
      s("path", { d: `${fork}M${x(row.step)} ${y}H${end}` }),
      s("circle", { cx: end, cy: y, r: 3 }),
      chosen ? s("circle", { class: "here", cx: x(this.session.cursor), cy: y, r: 6 }) : null);
  }

  #name(row) {
    const { session, context: { t } } = this;
    const chosen = row.name === session.branch;
    const words = row.edit ? wordsOf(t, row.edit) : t("lab.trunk");
    return h("li", {},
      h("button", { type: "button", class: "small quiet branch-name",
        "aria-pressed": String(chosen), on: { click: () => session.choose(row.name) } },
      row.name ? h("span", { class: "tag" }, row.name) : null, words),
      row.name ? h("button", { type: "button", class: "small quiet", "aria-label":
        t("lab.remove-branch", { name: row.name }), on: { click: () => this.remove(row.name) } },
      "×") : null);
  }

  #sentence(counted) {
    const { t, number } = this.context;
    if (!counted) return h("p", { class: "soft small" }, t("lab.choose-branch"));
    const { found } = counted;
    if (!found) {
      return h("p", { class: "soft small" }, t(this.session.run.events > EVENTS_MAX
        ? "lab.too-long-to-compare" : "lab.comparing"));
    }
    if (!found.count) return h("p", { class: "small" }, t("lab.no-difference"));
    return h("p", { class: "small difference" }, t("lab.differs", { n: number(found.count),
      of: number(found.of), first: found.first }),
    " ", h("button", { type: "button", class: "small", on: { click: () =>
      this.session.go(found.first) } }, t("lab.go-there")));
  }
}

// Children below their parents.
function inOrder(branches, parent = "", depth = 1) {
  return branches.filter((branch) => branch.parent === parent)
    .flatMap((branch) => [{ ...branch, depth }, ...inOrder(branches, branch.name, depth + 1)]);
}
