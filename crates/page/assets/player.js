// Play, pause, speed, steps. Between two events the messages move; with reduced motion they jump.

import { fill, h, icon, reducedMotion } from "./dom.js";

const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 32];
const STEP_MIN = 420;
const STEP_MAX = 1300;
const PER_UNIT = 700;
const JUMP = 900;

const ICONS = {
  first: "M6 5v14M19 5l-10 7l10 7z", back: "M16 5l-9 7l9 7z", play: "M7 4l12 8l-12 8z",
  pause: "M8 5v14M16 5v14", on: "M8 5l9 7l-9 7z", last: "M18 5v14M5 5l10 7l-10 7z",
};

export class Player {
  constructor(session, context, topology) {
    Object.assign(this, { session, context, topology, playing: false, speed: 1 });
    this.root = h("div", { class: "transport sheet", role: "group" });
    context.signal.addEventListener("abort", () => this.pause());
  }

  draw() {
    const { t } = this.context;
    const { run, cursor } = this.session;
    const step = (name, key, action, keys) => h("button", { type: "button", class: "icon quiet",
      "data-control": name, "aria-label": t(key), title: `${t(key)} (${keys})`,
      on: { click: action } }, icon(ICONS[name], true));
    this.root.setAttribute("aria-label", t("lab.transport"));
    this.toggleButton = h("button", { type: "button", class: "primary play", "data-control": "play",
      on: { click: () => this.toggle() } });
    this.where = h("span", { class: "where" });
    this.speeds = h("select", { class: "small", "aria-label": t("lab.speed"), on: { change: () => {
      this.speed = Number(this.speeds.value);
    } } }, SPEEDS.map((speed) => h("option", { value: String(speed) },
      `${this.context.number(speed)}×`)));
    this.speeds.value = String(this.speed);
    const focused = document.activeElement?.dataset?.control;
    fill(this.root, step("first", "lab.first", () => this.go(0), "Home"),
      step("back", "lab.back", () => this.step(-1), "←"), this.toggleButton,
      step("on", "lab.on", () => this.step(1), "→"),
      step("last", "lab.last", () => this.go(run?.events ?? 0), "End"),
      this.where, h("label", { class: "speed small" }, h("span", { class: "soft" }, t("lab.speed")),
        this.speeds), this.extra);
    if (focused) this.root.querySelector(`[data-control="${focused}"]`)?.focus();
    this.#label();
    this.showCursor(cursor);
  }

  #label() {
    if (!this.toggleButton) return;
    const { t } = this.context;
    const name = t(this.playing ? "lab.pause" : "lab.play");
    fill(this.toggleButton, icon(this.playing ? ICONS.pause : ICONS.play, !this.playing),
      document.createTextNode(name));
  }

  showCursor() {
    const { run, cursor } = this.session;
    if (!run || !this.where) return;
    this.where.textContent = this.context.t("lab.step-short", { step: this.context.number(cursor),
      steps: this.context.number(run.events) });
  }

  // A step by hand ends what plays by itself.
  go(cursor) {
    this.pause();
    return this.session.go(cursor);
  }

  step(by) {
    return this.go(this.session.cursor + by);
  }

  // The next or previous event of the same node.
  stepOnNode(by) {
    const { run, cursor, selection, event } = this.session;
    const node = selection?.kind === "node" ? selection.id : event?.node;
    for (let i = cursor + by; i >= 1 && i <= run.events; i += by) {
      if (run.node[i - 1] === node) return this.go(i);
    }
    return null;
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  faster(by) {
    const at = SPEEDS.indexOf(this.speed) + by;
    this.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at))];
    if (this.speeds) this.speeds.value = String(this.speed);
    const { announce, number, t } = this.context;
    announce(t("lab.speed-is", { speed: number(this.speed) }));
  }

  // Fast enough to see what comes, to the end or to event `until`, in a few seconds.
  pace(until = null) {
    const { run, cursor } = this.session;
    let steps = 0;
    const end = until ?? run.events;
    for (let i = cursor; i < end; i = this.#after(run, i, end)) steps += 1;
    this.speed = [1, 2, 4, 8, 32].find((speed) => steps * 0.5 / speed <= 9) ?? 32;
    this.draw();
  }

  // The next event to stop at: mere upkeep is passed over, unless it is shown.
  #after(run, i, end) {
    let next = i + 1;
    while (next < end && !this.session.upkeep && run.isUpkeep(next)) next += 1;
    return next;
  }

  pause() {
    this.playing = false;
    clearTimeout(this.timer);
    cancelAnimationFrame(this.frame);
    this.#label();
    this.onChange?.();
  }

  // Plays to the end, or to event `until`.
  async play(until = null) {
    const { session } = this;
    if (!session.run || this.playing) return;
    if (session.cursor >= session.run.events) await session.go(0);
    this.playing = true;
    const turn = this.turn = (this.turn ?? 0) + 1; // Whoever pauses and plays again has another.
    this.#label();
    this.onChange?.();
    const { run } = session;
    const end = until ?? run.events;
    while (this.playing && session.run === run && session.cursor < end) {
      const next = this.#after(run, session.cursor, end);
      await this.#between(run, session.cursor, next);
      if (!this.playing || session.run !== run || turn !== this.turn) return;
      await session.go(next);
      if (turn !== this.turn) return;
    }
    if (session.run === run || !session.run) this.pause();
    else this.playing = false;
    this.#label();
  }

  // The time from event `i` to event `next`, with what moves moving.
  #between(run, i, next) {
    const from = run.timeOf(i);
    const until = run.timeOf(next);
    const usual = Math.max(STEP_MIN, Math.min(STEP_MAX, (until - from) * PER_UNIT));
    if (reducedMotion()) return this.#wait(JUMP / this.speed);
    const lasting = usual / this.speed;
    return new Promise((resolve) => {
      const start = performance.now();
      const frame = (now) => {
        const share = Math.min(1, (now - start) / lasting);
        if (!this.playing) return resolve();
        if (until > from) this.topology.move(from + (until - from) * share);
        if (share >= 1) return resolve();
        this.frame = requestAnimationFrame(frame);
        return undefined;
      };
      this.frame = requestAnimationFrame(frame);
      // A tab in the background draws no frames; it must not hang for that.
      this.timer = setTimeout(resolve, lasting + 1500);
    });
  }

  #wait(pause) {
    return new Promise((resolve) => { this.timer = setTimeout(resolve, pause); });
  }
}
