// The stage of the lab: bar, topology, diagram, step, branches, transport, list; each drawn anew
// only when what it shows has changed.

import { BranchLanes } from "./branch_lanes.js";
import { Diagram } from "./diagram.js";
import { fill, h, icon, oncePerFrame, reducedMotion } from "./dom.js";
import { wordsOf } from "./edits.js";
import { EventList } from "./event_list.js";
import { help } from "./keys.js";
import { Lamps } from "./lamps.js";
import { Lesson } from "./lesson.js";
import { actionsAbout, openMenu } from "./menu.js";
import { Minimap } from "./minimap.js";
import { Player } from "./player.js";
import { Setup } from "./setup.js";
import { StepPanel, titleOf } from "./step_panel.js";
import { Topology } from "./topology.js";
import { parseFlags, writeFlags } from "./flags.js";

export class Stage {
  constructor(session, context, actions) {
    Object.assign(this, { session, context, actions, catalogue: null });
    const menuAt = (anchor) => this.openMenuFor(session.selection, anchor);
    this.topology = new Topology(session, context, menuAt);
    this.diagram = new Diagram(session, context, menuAt, () => session.branch,
      () => session.cursor);
    this.beside = new Diagram(session, context, menuAt, () => this.#parent(),
      () => this.#cursorInParent());
    this.diagram.partner = this.beside;
    this.beside.partner = this.diagram;
    this.minimap = new Minimap(session, context, this.diagram);
    this.minimap.onFrame = () => this.#showing();
    this.lamps = new Lamps(session, context);
    this.list = new EventList(session, context);
    this.player = new Player(session, context, this.topology);
    this.setup = new Setup(session, context, actions.change);
    this.lesson = new Lesson(session, context, this.player,
      (lesson) => this.playTheLesson(lesson));
    this.step = new StepPanel(session, context, { openMenuFor: (about, anchor) => {
      const box = anchor.getBoundingClientRect(); // Selecting draws the panel anew.
      const { selection } = session;
      if (selection?.kind !== about.kind || selection.id !== about.id) session.select(about);
      this.openMenuFor(about, { getBoundingClientRect: () => box });
    }, whatIf: (edit) => this.whatIf(edit) });
    this.branches = new BranchLanes(session, context, {
      onDifference: (found) => this.#compare(found), remove: (name) => this.remove(name) });
    this.#build();
    this.#listen();
  }

  #build() {
    this.title = h("h1", { class: "lab-title" });
    this.summary = h("p", { class: "soft small lab-summary" });
    this.buttons = h("div", { class: "row lab-buttons" });
    this.settings = h("details", { class: "setup" }, this.setupName = h("summary", {}),
      this.setup.fields);
    this.notice = h("div", { class: "notice bad", role: "alert", hidden: true });
    this.diagramHead = h("div", { class: "diagram-head" });
    this.shown = h("span", { class: "soft small shown" });
    this.facts = h("p", { class: "facts soft small" });
    this.besideBox = h("div", { class: "beside", hidden: true }, this.besideName = h("h3"),
      this.beside.root);
    this.tabs = h("div", { class: "tabs", role: "group" });
    this.stage = h("div", { class: "stage" },
      this.topology.root,
      h("section", { class: "sheet diagram-box" }, this.diagramHead, this.diagram.root,
        this.besideBox, this.minimap.svg, this.branches.root, this.facts),
      this.step.root);
    this.root = h("div", { class: "lab" },
      h("div", { class: "lab-bar" }, h("div", { class: "lab-name" }, this.title, this.summary),
        this.lamps.root, this.buttons),
      this.lamps.why, h("div", { class: "lab-settings" }, this.setup.switches, this.settings),
      this.notice, this.lesson.root, this.tabs, this.stage, this.player.root, this.list.root);
    this.relabel();
  }

  #listen() {
    const { session } = this;
    const on = (type, action) => session.addEventListener(type, action);
    on("run", () => this.draw());
    on("cursor", () => this.#cursorMoved());
    on("moment", oncePerFrame(() => this.#momentCame()));
    on("window", oncePerFrame(() => this.#windowCame()));
    on("selection", () => this.#selected());
    on("trouble", (event) => this.#complain(event.detail));
    on("beside", () => this.#besides());
    on("busy", (event) => this.root.setAttribute("aria-busy", String(event.detail)));
  }

  setCatalogue(catalogue) {
    this.catalogue = catalogue;
  }

  relabel() {
    const { t } = this.context;
    const { actions } = this;
    fill(this.buttons,
      h("button", { type: "button", class: "primary", on: { click: actions.breakIt } },
        t("break.button")),
      h("button", { type: "button", on: { click: actions.share } }, t("share.button")),
      h("button", { type: "button", class: "quiet", on: { click: actions.load } }, t("lab.load")),
      h("button", { type: "button", class: "quiet icon", "aria-label": t("keys.title"),
        title: `${t("keys.title")} (?)`, on: { click: () => help(this.context) } }, "?"));
    this.setupName.textContent = t("setup.title");
    this.#tabs(false);
    this.list.relabel();
    if (this.session.run) this.draw();
  }

  #tabs(diagram) {
    const { t } = this.context;
    const tab = (key, shows) => h("button", { type: "button", class: "small",
      "aria-pressed": String(shows === diagram), on: { click: () => this.#tabs(shows) } }, t(key));
    fill(this.tabs, tab("lab.tab-overview", false), tab("lab.tab-diagram", true));
    this.root.classList.toggle("shows-diagram", diagram);
    if (diagram && this.session.run) this.diagram.draw();
  }

  // Everything, for another run or branch.
  draw() {
    const { session } = this;
    this.setup.draw(this.catalogue);
    this.lesson.draw(this.catalogue);
    this.root.classList.toggle("empty", !session.run);
    if (!session.run) {
      this.title.textContent = session.spec?.algorithm ?? "";
      this.summary.textContent = session.spec ? writeFlags(session.spec.flags) : "";
      this.settings.open = !this.notice.hidden;
      return;
    }
    this.#name();
    this.#diagramHead();
    this.branches.draw();
    this.player.draw();
    this.diagram.scale = null;
    this.diagram.draw();
    this.diagram.showCursor();
    this.minimap.draw();
    this.list.refresh();
    this.lamps.draw();
    this.step.draw();
    this.topology.draw();
  }

  #name() {
    const { spec, run } = this.session;
    const { t } = this.context;
    const scenario = this.catalogue?.scenarios.find(({ name }) => name === spec.scenario);
    const title = this.catalogue?.algorithms.find(({ id }) => id === run.answer.algorithm)?.title
      ?? run.answer.title;
    const flags = writeFlags(spec.flags);
    const part = scenario?.runs?.find((other) => writeFlags(parseFlags(other.flags)) === flags);
    this.title.textContent = scenario?.title ?? spec.title ?? title ?? spec.algorithm;
    this.summary.textContent = [part?.title, scenario || spec.recording ? title : null,
      spec.story ? t("lab.a-story") : null, spec.recording ? t("lab.a-recording")
        : flags].filter(Boolean).join(" · ");
    const { messages, costs = [] } = run.answer;
    const kinds = Object.entries(messages.by_type).map(([kind, n]) => `${kind} ${n}`).join(", ");
    const measured = costs.filter((cost) => cost.measured !== null && cost.measured !== undefined)
      .map((cost) => t("lab.cost", { label: cost.label, formula: cost.formula || "–",
        measured: this.context.number(cost.measured, 2) }));
    const { missing } = run.answer;
    this.facts.textContent = [missing ? t("lab.missing", { n: missing }) : null,
      t("lab.messages", { n: this.context.number(messages.total), kinds }),
      ...measured, run.answer.ending].filter(Boolean).join(" · ");
  }

  #diagramHead() {
    const { t } = this.context;
    const { run, upkeep } = this.session;
    const zoom = (by, key, path) => h("button", { type: "button", class: "icon quiet", "aria-label":
      t(key), title: t(key), on: { click: () => { this.diagram.setZoom(this.diagram.zoom * by);
        this.#besides(); this.minimap.draw(); } } }, icon(path));
    const check = (key, checked, change) => h("label", { class: "small" }, h("input", {
      type: "checkbox", checked, on: { change: (event) => change(event.target.checked) } }),
    t(key));
    fill(this.diagramHead, h("div", { class: "legend" }, run.labels.slice(0, 8).map((label) =>
      h("span", {}, h("span", { class: `swatch ${run.colour(label)}` }), label))),
    h("div", { class: "row" }, this.shown,
      check("lab.follow", this.diagram.follow, (on) => { this.diagram.follow = on;
        if (on) this.diagram.showCursor(true); }),
      check("lab.upkeep", Boolean(upkeep), (on) => { this.session.upkeep = on;
        this.diagram.draw(); }),
      this.session.branch ? check("lab.side-by-side", this.session.beside, (on) =>
        this.session.showBeside(on)) : null,
      zoom(1 / 1.5, "lab.zoom-out", "M6 12h12"), zoom(1.5, "lab.zoom-in", "M6 12h12M12 6v12")));
  }

  // Which events the diagram shows, where it cannot show all.
  #showing() {
    const { number, t } = this.context;
    const { run } = this.session;
    const [from, to] = this.diagram.inView();
    this.shown.textContent = run && to - from + 1 < run.events ? t("lab.showing",
      { from: number(from), to: number(to), of: number(run.events) }) : "";
  }

  #parent() {
    return this.session.branches.find(({ name }) => name === this.session.branch)?.parent ?? "";
  }

  // The last event of the parent that is not after the cursor's time.
  #cursorInParent() {
    const parent = this.session.runs.get(this.#parent());
    const { run, cursor } = this.session;
    if (!parent || !run) return 0;
    if (cursor && run.full.get(cursor)?.key === parent.full.get(cursor)?.key) return cursor;
    const time = run.timeOf(cursor);
    let i = 0;
    while (i < parent.events && parent.at[i] <= time) i += 1;
    return i;
  }

  // The branch and what it leaves, on one axis; or the branch alone.
  #besides() {
    const { session, diagram, beside } = this;
    const parent = session.runs.get(this.#parent());
    const shown = Boolean(session.beside && session.branch && parent);
    const pair = shown ? [session.run, parent, diagram.zoom] : [];
    const other = pair.length !== this.pair?.length || pair.some((one, i) => one !== this.pair[i]);
    this.pair = pair;
    this.besideBox.hidden = !shown;
    for (const one of [diagram, beside]) one.shown = one.whole = shown;
    if (other) {
      diagram.scale = beside.scale = null;
      diagram.draw();
      diagram.showCursor();
    }
    if (!shown) return;
    const { t } = this.context;
    const name = this.#parent();
    this.besideName.textContent = name ? t("lab.branch-named", { name }) : t("lab.trunk");
    beside.zoom = diagram.zoom;
    beside.draw();
    beside.showCursor();
    beside.root.scrollLeft = diagram.root.scrollLeft; // The same moment above each other.
  }

  #compare(found) {
    this.diagram.changed = found?.count ? found.changed : null;
    this.beside.changed = found?.count ? found.theirs : null;
    this.diagram.changedFrom = this.beside.changedFrom = found?.first ?? 0;
    this.list.changed = this.diagram.changed;
    this.#besides();
  }

  #cursorMoved() {
    this.diagram.showCursor();
    if (!this.besideBox.hidden) this.beside.showCursor();
    this.minimap.showCursor();
    this.player.showCursor();
    this.list.showCursor();
    this.lamps.draw();
  }

  #momentCame() {
    const { session, context } = this;
    this.step.draw();
    this.topology.draw();
    if (session.branches.length) this.branches.draw();
    const broken = (session.run?.answer.lamps ?? []).filter((lamp) => lamp.changes.some(([event,
      state]) => event === session.cursor && state === "broken"));
    const text = this.#stepInWords();
    const known = text === this.leftAt;
    this.leftAt = null;
    if (!known && (!this.player.playing || broken.length)) {
      context.announce([text, ...broken.map((lamp) => context.t("lamp.broken-said",
        { property: lamp.property, name: lamp.name }))].join(" "));
    }
  }

  #stepInWords() {
    const { cursor, event } = this.session;
    return event ? `${cursor}. ${event.text}` : "";
  }

  #windowCame() {
    this.branches.draw();
    this.diagram.draw();
    this.list.draw();
    this.step.draw();
  }

  #selected() {
    this.diagram.draw();
    this.topology.draw();
    this.step.draw();
  }

  // Why there is nothing to choose.
  whyNothing() {
    const { story, recording } = this.session.spec;
    return this.context.t(story ? "lab.story-is-fixed" : recording ? "lab.recording-is-fixed"
      : "lab.nothing-possible");
  }

  openMenuFor(about, anchor = null) {
    const { session, context } = this;
    const { run, moment } = session;
    if (!about || !moment || about.kind === "event") return;
    const known = about.kind === "node" ? run.nodes[about.id] : run.messages.get(about.id);
    if (!known) return; // An address may name what is in no run.
    const at = anchor ?? this.topology.svg.querySelector(`[data-${about.kind}="${about.id}"]`)
      ?? this.step.root;
    const title = about.kind === "node"
      ? context.t("lab.what-if-node", { node: run.nodes[about.id].name })
      : titleOf(run, run.messages.get(about.id));
    this.player.pause();
    const flying = about.kind === "message"
      ? moment.flying.find(({ number }) => number === about.id) : null;
    const flight = flying ? flying.arrival - flying.sent : undefined;
    openMenu(at, title, actionsAbout(moment, about), { context, selection: { ...about, flight },
      none: this.whyNothing(), choose: (edit) => this.whatIf(edit),
      note: about.kind === "node" ? this.#later() : null });
  }

  // Whatever is done to a node comes after all that happens at this moment.
  #later() {
    const { run, cursor } = this.session;
    const n = run.restOfMoment(cursor);
    const { number, t } = this.context;
    return n ? t("lab.what-if-later", { n: number(n), time: number(run.timeOf(cursor)) }) : null;
  }

  // Takes back a branch, or says why it cannot be: nobody wants to lose those that leave from it.
  remove(name) {
    const leaving = this.session.leaving(name);
    if (!name) this.say(this.context.t("lab.nothing-to-undo"));
    else if (leaving.length) {
      this.say(this.context.t("lab.branches-leave", { name, others: leaving.join(", ") }));
    } else {
      this.calm();
      this.session.remove(name);
    }
  }

  async whatIf(edit) {
    const { session, context } = this;
    this.player.pause();
    this.calm();
    session.selection = null;
    this.leftAt = this.#stepInWords(); // It is the branch that is new, not the step.
    if (await session.whatIf(edit)) {
      context.announce(context.t("lab.branch-opened", { name: session.branch,
        words: wordsOf(context.t, edit) }), true);
    }
  }

  // Plays to where something breaks, or to the end, fast enough for whoever has just come.
  playTheStory() {
    const { lamps } = this.session.run.answer;
    const until = breaksAt(lamps);
    this.player.pace(until);
    if (!reducedMotion()) this.player.play(until);
  }

  // Plays what a lesson is about: to where it says, or to where that promise breaks.
  playTheLesson({ stop, property }) {
    const { lamps } = this.session.run.answer;
    const until = stop ?? breaksAt(lamps.filter((lamp) => lamp.property === property));
    this.player.pace(until);
    this.player.play(until);
  }

  // Says something that is no trouble of the server's.
  trouble(key) {
    this.#complain(this.context.t(key));
  }

  say(text) {
    this.context.announce(text, true);
    this.#complain(text);
  }

  calm() {
    this.notice.hidden = true;
  }

  #complain(text) {
    const { t } = this.context;
    this.notice.hidden = false;
    fill(this.notice, h("span", {}, text), h("button", { type: "button", class: "small quiet",
      on: { click: () => this.calm() } }, t("shell.close")));
  }
}

// The first event at which one of these is broken.
function breaksAt(lamps) {
  const broken = lamps.flatMap(({ changes }) => changes)
    .filter(([, state]) => state === "broken").map(([event]) => event);
  return broken.length ? Math.min(...broken) : null;
}
