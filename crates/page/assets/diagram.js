// The space-time diagram: a lane a node, time from left to right, an arrow a message. Only what is
// seen is drawn, with a margin; where events are too many to be told apart, one path a kind.

import { fill, h, oncePerFrame, s } from "./dom.js";
import { future, coneOf } from "./causality.js";
import { arrowPath, labelPlace, messageNear, shape, whole } from "./diagram_shapes.js";
import { spansOf } from "./run.js";
import { TimeScale } from "./time_scale.js";

const AXIS = 26;
const PITCH_MAX = 88;
const PITCH_MIN = 24;
// Where there is room for all lanes to be made: how close they are, and what the scroll bar takes.
const PITCH_WHOLE = 20;
const BAR = 18;
// So many marks and arrows are drawn one by one; more become one path a kind.
const MARKS_MAX = 420;
const ARROWS_MAX = 420;
const LABELS_MAX = 70;
const STRETCH_MAX = 2.6;

export class Diagram {
  // `branchOf` says which branch it shows, `cursorOf` where in it the cursor is.
  constructor(session, context, openMenu, branchOf, cursorOf) {
    Object.assign(this, { session, context, openMenu, branchOf, cursorOf, zoom: 1, changed: null,
      follow: true });
    this.names = h("div", { class: "lane-names", "aria-hidden": "true" });
    this.svg = s("svg", { class: "space-time", role: "group" });
    // Not part of the picture, which would be painted anew with every step.
    this.ahead = h("div", { class: "ahead" });
    this.line = h("div", { class: "cursor-line" });
    this.extent = h("div", { class: "extent" }, this.svg, this.ahead, this.line);
    this.root = h("div", { class: "diagram" }, this.names, this.extent);
    const redraw = oncePerFrame(() => this.#seen());
    this.root.addEventListener("scroll", () => {
      this.scrolled = this.root.scrollLeft;
      if (this.partner?.shown) this.partner.root.scrollLeft = this.scrolled;
      redraw();
    }, { passive: true });
    this.resize = new ResizeObserver(oncePerFrame(() => this.draw()));
    this.resize.observe(this.root);
    context.signal.addEventListener("abort", () => this.resize.disconnect());
    this.svg.addEventListener("click", (event) => this.#clicked(event));
    this.svg.addEventListener("keydown", (event) => this.#pressed(event));
  }

  get run() {
    return this.session.runs.get(this.branchOf());
  }

  setZoom(zoom) {
    this.zoom = Math.max(0.05, Math.min(6, zoom));
    this.scale = null;
    this.draw();
    this.showCursor();
  }

  // Everything anew: another run, window, selection or size.
  draw() {
    const { run } = this;
    this.ahead.hidden = this.line.hidden = !run;
    if (!run) {
      fill(this.svg);
      return;
    }
    if (this.named !== run) {
      fill(this.names, run.nodes.map((node) => h("div", { class: "lane-name" }, node.name)));
      this.names.style.paddingTop = `${AXIS}px`;
      this.named = run;
    }
    // Beside another one it takes what room its lanes need, and the page scrolls instead of it.
    this.root.style.minHeight = this.whole ? `${AXIS + run.nodes.length * PITCH_WHOLE + BAR}px` : "";
    this.#measure();
    if (this.scaled !== run || !this.scale) {
      this.scale = this.#fitting(run);
      this.scaled = run;
    }
    const n = run.nodes.length;
    this.pitch = Math.max(this.whole ? PITCH_WHOLE - 1 : PITCH_MIN,
      Math.min(PITCH_MAX, this.room / n));
    this.height = AXIS + n * this.pitch;
    for (const name of this.names.children) name.style.height = `${this.pitch}px`;
    this.extent.style.width = `${Math.max(this.scale.width, this.view - 1)}px`;
    this.extent.style.height = `${this.height}px`;
    this.#stretch();
  }

  // What only the browser knows. To ask for it is to wait for a layout, so that it is done here and
  // where something scrolls, and not at every step.
  #measure() {
    this.view = Math.max(120, this.root.clientWidth - this.names.offsetWidth);
    this.room = Math.max(0, this.root.clientHeight - AXIS - 4);
    this.scrolled = this.root.scrollLeft;
  }

  #scrollTo(x) {
    this.root.scrollLeft = x;
    this.scrolled = this.root.scrollLeft;
  }

  // A short run is stretched to the room there is.
  #fitting(run) {
    const other = this.partner?.shown ? this.partner.run : null;
    const scale = new TimeScale(run, this.zoom, other);
    const spare = (this.view - 4) / scale.width;
    if (spare < 1.05 || this.zoom < 1) return scale;
    return new TimeScale(run, this.zoom * Math.min(spare, STRETCH_MAX), other);
  }

  y(node) {
    return AXIS + (node + 0.5) * this.pitch;
  }

  // After scrolling: draws another stretch when the drawn one does not reach.
  #seen() {
    if (!this.scale) return;
    const left = this.scrolled;
    const right = left + this.view;
    const short = (left < this.left && this.left > 0)
      || (right > this.right && this.right < this.scale.width);
    if (short) this.#stretch();
    this.onScroll?.(left / this.scale.width, right / this.scale.width);
  }

  // The first and last event in view.
  inView() {
    if (!this.scale) return [0, 0];
    return this.scale.eventsWithin(this.scrolled, this.scrolled + this.view);
  }

  #stretch() {
    const { view } = this;
    // A shorter run may have come meanwhile, and the place that was looked at is no more.
    const at = Math.min(this.scrolled, Math.max(0, this.scale.width - view));
    this.left = Math.max(0, at - view / 2);
    this.right = Math.min(Math.max(view, this.scale.width), at + view * 1.5);
    const [first, last] = this.scale.eventsWithin(this.left, this.right);
    this.first = first;
    this.last = last;
    const width = this.right - this.left;
    this.svg.style.left = `${this.left}px`;
    this.ahead.style.width = `${width}px`;
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", this.height);
    this.svg.setAttribute("viewBox", `${this.left} 0 ${width} ${this.height}`);
    this.svg.setAttribute("aria-label", this.context.t("lab.diagram"));
    if (last - first < 1500 && !this.run.has(first, last)) {
      this.session.needSoon(first, last, this.branchOf());
    }
    this.#paint();
    this.onScroll?.(at / this.scale.width, (at + view) / this.scale.width);
  }

  #paint() {
    const focused = document.activeElement?.dataset?.i;
    const hadFocus = this.svg.contains(document.activeElement);
    this.#fading();
    fill(this.svg, this.#axis(), this.#lanes(), this.#spans(), this.#arrows(), this.#marks(),
      this.#loop());
    this.marked = null;
    this.#placeCursor();
    if (hadFocus && focused) this.svg.querySelector(`[data-i="${focused}"]`)?.focus();
  }

  // What stays while the rest fades: cause and effect of what is selected, or what differs.
  #fading() {
    const { selection } = this.session;
    const { run } = this;
    this.kept = null;
    this.fade = " faded";
    if (selection?.kind === "event" && run.full.has(selection.id)) {
      const { past, future: later } = coneOf(run, selection.id);
      this.kept = new Set([...past, ...later]);
    } else if (selection?.kind === "message") {
      const message = run.messages.get(selection.id);
      if (message?.fromEvent) {
        const past = coneOf(run, message.fromEvent).past;
        const later = message.got.length ? future(run, message.got) : [];
        this.kept = new Set([...past, ...later]);
      }
    } else if (this.changed) {
      this.kept = this.changed;
      this.fade = " same";
    }
  }

  // Before the first difference nothing fades: there both are one run.
  #stays(i) {
    return !this.kept || this.kept.has(i) || (this.fade === " same" && i < this.changedFrom);
  }

  #fades(i) {
    return this.#stays(i) ? "" : this.fade;
  }

  #axis() {
    const { scale } = this;
    const parts = [];
    let after = -Infinity;
    for (let k = Math.max(0, scale.columnAt(this.run.timeOf(this.first)));
      k < scale.times.length && scale.from[k] <= this.right; k += 1) {
      if (scale.from[k] - after < 42) continue;
      after = scale.from[k];
      parts.push(s("text", { class: "tick", x: after, y: 15 },
        this.context.number(scale.times[k], 2)));
    }
    for (const cut of scale.cuts) {
      if (cut.x < this.left || cut.x > this.right) continue;
      const [x, low] = [cut.x, this.height - 6];
      parts.push(s("path", { class: "gap", d: `M${x - 3} ${AXIS}L${x + 3} ${low}M${x + 3} ${AXIS}`
        + `L${x + 9} ${low}` }));
    }
    return parts;
  }

  // Where a run that never ends goes round.
  #loop() {
    const from = this.run.answer.loop_from;
    if (!from || from > this.run.events) return null;
    const [a, b] = [this.scale.x[from], this.scale.x[this.run.events]];
    return [s("path", { class: "loop-arc", d: `M${b} ${this.height - 4}H${a}m7 -4l-7 4l7 4` }),
      s("text", { class: "loop-name", x: (a + b) / 2, y: this.height - 8 },
        this.context.t("lab.again-and-again"))];
  }

  #lanes() {
    return this.run.nodes.map((_, i) => s("path", { class: "lane",
      d: `M${this.left} ${this.y(i)}H${this.right}` }));
  }

  #spans() {
    const { run, scale } = this;
    if (this.spansAt !== run.full.size || this.spansRun !== run) {
      [this.spansAt, this.spansRun, this.allSpans] = [run.full.size, run, spansOf(run)];
    }
    return this.allSpans.filter(([, , from, to]) => from <= this.last
      && (to === null || to >= this.first)).slice(0, 300).map(([node, sign, from, to]) => {
      const start = Math.max(this.left, scale.x[from]);
      const end = Math.min(this.right, to === null ? this.right : scale.x[to]);
      const high = sign === "waiting" || sign === "candidate" ? 3 : 12;
      return s("rect", { class: `span ${sign}`, x: start, y: this.y(node) - high / 2,
        width: Math.max(0, end - start), height: high, rx: 3 });
    });
  }

  // The messages to draw, with their ends.
  #shownMessages() {
    const { run, scale } = this;
    const shown = [];
    for (const message of run.messages.values()) {
      if (message.upkeep && !this.session.upkeep && !message.lost) continue;
      if (!message.fromEvent || message.to === undefined) continue;
      const x1 = scale.x[message.fromEvent];
      const arrived = message.got[0] ?? message.lost;
      const x2 = arrived ? scale.x[arrived]
        : message.arrival === null || message.arrival === undefined ? x1 + 40
          : scale.xOfTime(message.arrival);
      if (x2 < this.left || x1 > this.right) continue;
      shown.push({ message, x1, y1: this.y(message.from), x2, y2: this.y(message.to), arrived });
    }
    return shown;
  }

  #arrows() {
    const { run } = this;
    this.drawn = this.#shownMessages();
    if (this.drawn.length > ARROWS_MAX) return this.#manyArrows();
    const { selection } = this.session;
    const labels = [];
    const taken = { groups: new Set(), boxes: [] };
    const arrows = this.drawn.map((arrow) => {
      const { message, arrived } = arrow;
      const gone = message.lost || (!arrived && (message.arrival === null
        || message.arrival === undefined));
      const chosen = selection?.kind === "message" && selection.id === message.number;
      const stays = this.#stays(message.fromEvent) && (gone || !arrived || this.#stays(arrived));
      const fades = chosen || stays ? "" : this.fade;
      const name = `${run.colour(message.label)}${gone ? " gone" : ""}${fades}`
        + `${chosen ? " selected" : ""}${message.upkeep ? " upkeep" : ""}`;
      const label = this.#label(arrow, taken, labels.length, name);
      if (label) labels.push(label);
      return s("path", { class: `arrow ${name}`, d: arrowPath(arrow, gone),
        "data-m": message.number });
    });
    return [...arrows, ...labels];
  }

  #manyArrows() {
    const paths = new Map();
    for (const { message, x1, y1, x2, y2 } of this.drawn) {
      const name = this.run.colour(message.label);
      const line = `M${whole(x1)} ${whole(y1)}L${whole(x2)} ${whole(y2)}`;
      paths.set(name, (paths.get(name) ?? "") + line);
    }
    return [...paths].map(([name, d]) => s("path", { class: `arrow many ${name}`, d }));
  }

  // The kind of a message, beside its arrow.
  #label(arrow, taken, count, name) {
    if (count >= LABELS_MAX || this.drawn.length > 160) return null;
    const at = labelPlace(arrow, taken, { axis: AXIS, pitch: this.pitch });
    return at && s("text", { class: `arrow-label ${name}`, x: at.x, y: at.y + 3 },
      arrow.message.label);
  }

  #marks() {
    const { run, scale } = this;
    if (this.last - this.first > MARKS_MAX) return this.#manyMarks();
    const marks = [];
    for (let i = this.first; i <= this.last; i += 1) {
      const node = run.node[i - 1];
      const event = run.full.get(i);
      if (node === null || node === undefined) {
        if (run.kind[i - 1] === "v" || event?.kind === "violation") {
          marks.push(s("path", { class: "violation", d: `M${scale.x[i]} ${AXIS - 6}V${this.height}`,
            "data-i": i }));
        }
        continue;
      }
      if (run.messages.get(event?.number)?.upkeep && event.kind === "message"
        && !this.session.upkeep) continue;
      marks.push(this.#mark(event, i, scale.x[i], this.y(node)));
    }
    return marks;
  }

  #mark(event, i, x, y) {
    const kind = event?.kind ?? "unknown";
    const colour = kind === "message" || kind === "lost" ? this.run.colour(event.label) : "";
    const differs = this.changed?.has(i) ? " differs" : "";
    return s("path", { class: `mark ${kind} ${colour}${this.#fades(i)}${differs}`,
      d: shape(kind, x, y), "data-i": i, role: "button",
      tabindex: i === this.cursorOf() ? 0 : -1,
      "aria-label": event ? `${i}. ${event.text}` : String(i) });
  }

  #manyMarks() {
    const paths = new Map();
    for (let i = this.first; i <= this.last; i += 1) {
      const node = this.run.node[i - 1];
      if (node === null || node === undefined) continue;
      const kind = this.run.kind[i - 1];
      const dot = `M${whole(this.scale.x[i])} ${whole(this.y(node))}h0`;
      paths.set(kind, (paths.get(kind) ?? "") + dot);
    }
    return [...paths].map(([kind, d]) => s("path", { class: `marks kind-${kind}`, d }));
  }

  #placeCursor() {
    const x = this.scale.x[Math.min(this.cursorOf(), this.run.events)];
    this.line.style.transform = `translateX(${x}px)`;
    this.ahead.style.transform = `translateX(${x + 0.5}px)`;
    const mark = this.svg.querySelector(`.mark[data-i="${this.cursorOf()}"]`);
    const hadFocus = mark && this.svg.contains(document.activeElement);
    this.marked?.classList.remove("now");
    this.marked?.setAttribute("tabindex", -1);
    mark?.classList.add("now");
    mark?.setAttribute("tabindex", 0);
    this.marked = mark;
    if (hadFocus) mark.focus({ preventScroll: true });
  }

  // Brings the cursor into view, if that is wanted.
  showCursor(force = false) {
    if (!this.scale || !this.run) return;
    const x = this.scale.x[Math.min(this.cursorOf(), this.run.events)];
    const { scrolled, view } = this;
    if (force || (this.follow && (x < scrolled + 40 || x > scrolled + view - 90))) {
      this.#scrollTo(Math.max(0, x - view * 0.4));
      this.#seen();
    }
    this.#placeCursor();
  }

  scrollToShare(share) {
    this.#scrollTo(share * this.scale.width - this.view / 2);
  }

  #clicked(event) {
    const { i, m } = event.target.dataset;
    const { x, y } = this.#point(event);
    const number = m ? Number(m) : i ? null : messageNear(this.drawn, x, y);
    const at = i ? Number(i) : this.scale.eventNear(x);
    // What is shown beside a branch is its parent: it is looked at from now on.
    if (this.branchOf() !== this.session.branch) {
      if (this.session.choose(this.branchOf()) && !number) this.session.go(at);
    } else if (i && at === this.session.cursor) {
      return this.session.select({ kind: "event", id: at });
    } else if (!number) {
      if (!i && this.session.selection) this.session.select(null);
      return this.session.go(at);
    }
    if (!number) return null;
    this.session.select({ kind: "message", id: number });
    const box = { left: event.clientX, right: event.clientX, top: event.clientY,
      bottom: event.clientY };
    return this.openMenu({ getBoundingClientRect: () => box });
  }

  #point(event) {
    const box = this.svg.getBoundingClientRect();
    return { x: this.left + event.clientX - box.left, y: event.clientY - box.top };
  }

  #pressed(event) {
    const { i } = event.target.dataset;
    if (!i || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    event.stopPropagation();
    this.session.select({ kind: "event", id: Number(i) });
  }
}
