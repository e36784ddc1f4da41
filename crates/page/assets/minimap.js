// All events of the run in one strip, the stretch that the diagram shows, and the cursor: a slider
// through time.

import { fill, s } from "./dom.js";

const WIDTH = 1000;
const HEIGHT = 40;
// Kinds of events by their letters, so that one path draws all of a group.
const GROUPS = { failure: "cldpxw", violation: "v" };

export class Minimap {
  constructor(session, context, diagram) {
    Object.assign(this, { session, context, diagram });
    this.svg = s("svg", { class: "minimap", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, tabindex: 0,
      preserveAspectRatio: "none", role: "slider", "aria-valuemin": 0 });
    this.frame = s("rect", { class: "frame", y: 0, height: HEIGHT, rx: 3 });
    this.cursor = s("line", { class: "cursor", y1: 0, y2: HEIGHT });
    this.svg.addEventListener("pointerdown", (event) => this.#drag(event));
    diagram.onScroll = (from, to) => this.#framed(from, to);
  }

  draw() {
    const { run } = this.session;
    if (!run || !this.diagram.scale) return;
    const paths = { usual: "", failure: "", violation: "" };
    const { x, width } = this.diagram.scale;
    const n = Math.max(1, run.nodes.length);
    const seen = new Set();
    for (let i = 1; i <= run.events; i += 1) {
      const kind = run.kind[i - 1];
      const group = Object.keys(GROUPS).find((name) => GROUPS[name].includes(kind)) ?? "usual";
      const px = Math.round((x[i] / width) * WIDTH);
      const lane = run.node[i - 1] ?? 0;
      const key = px * 4096 + lane * 4 + (group === "usual" ? 0 : 1);
      if (seen.has(key)) continue;
      seen.add(key);
      const py = 3 + ((lane + 0.5) / n) * (HEIGHT - 6);
      paths[group] += group === "violation" ? `M${px} 0V${HEIGHT}` : `M${px} ${py.toFixed(1)}h2.5`;
    }
    fill(this.svg, Object.entries(paths).filter(([, d]) => d)
      .map(([group, d]) => s("path", { class: `tiny ${group}`, d })), this.frame, this.cursor);
    this.svg.setAttribute("aria-label", this.context.t("lab.minimap"));
    this.svg.setAttribute("aria-valuemax", run.events);
    this.showCursor();
  }

  showCursor() {
    const { run, cursor } = this.session;
    const { scale } = this.diagram;
    if (!run || !scale) return;
    const x = (scale.x[Math.min(cursor, run.events)] / scale.width) * WIDTH;
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    this.svg.setAttribute("aria-valuenow", cursor);
    this.svg.setAttribute("aria-valuetext", this.context.t("lab.step-of",
      { step: cursor, steps: run.events }));
  }

  #framed(from, to) {
    this.onFrame?.();
    this.frame.setAttribute("x", Math.max(0, from * WIDTH));
    this.frame.setAttribute("width", Math.max(4, (Math.min(1, to) - Math.max(0, from)) * WIDTH));
  }

  #drag(down) {
    if (down.button) return;
    down.preventDefault();
    this.svg.focus();
    const move = (event) => {
      const box = this.svg.getBoundingClientRect();
      const share = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
      this.diagram.scrollToShare(share);
      this.session.go(this.diagram.scale.eventNear(share * this.diagram.scale.width));
    };
    move(down);
    this.svg.setPointerCapture(down.pointerId);
    this.svg.addEventListener("pointermove", move);
    const end = () => this.svg.removeEventListener("pointermove", move);
    this.svg.addEventListener("pointerup", end, { once: true });
    this.svg.addEventListener("pointercancel", end, { once: true });
  }
}
