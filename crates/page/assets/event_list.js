// The run as a list, one line an event: the accessible truth beside the pictures, with the same
// content. Only the lines in view exist.

import { afterCalm, fill, h, oncePerFrame } from "./dom.js";
import { language } from "./i18n.js";

const SPARE = 6;
const narrow = matchMedia("(max-width: 720px)");

export class EventList {
  constructor(session, context) {
    Object.assign(this, { session, context, filter: { node: "", failures: false }, changed: null,
      drawn: new Map(), top: 0, room: 0 });
    this.head = h("div", { class: "list-head row" });
    this.box = h("div", { class: "list-lines", role: "listbox", tabindex: 0 });
    this.extent = h("div", { class: "list-extent", role: "presentation" });
    this.box.append(this.extent);
    this.root = h("section", { class: "list sheet" }, this.head, this.box);
    const redraw = oncePerFrame(() => this.#lines());
    this.box.addEventListener("scroll", () => {
      this.top = this.box.scrollTop;
      redraw();
    }, { passive: true });
    // To ask for its height at every step would be to wait for a layout every time.
    const resized = new ResizeObserver(() => {
      this.room = this.box.clientHeight;
      redraw();
    });
    resized.observe(this.box);
    context.signal.addEventListener("abort", () => resized.disconnect());
    this.box.addEventListener("click", (event) => {
      const line = event.target.closest("[data-i]");
      if (line) this.session.go(Number(line.dataset.i));
    });
    this.box.addEventListener("keydown", (event) => this.#pressed(event));
    this.#heading();
  }

  #heading() {
    const { t } = this.context;
    this.count = h("span", { class: "soft small" });
    this.search = h("input", { type: "search", class: "small", "aria-label": t("lab.search"),
      placeholder: t("lab.search"), on: { keydown: (event) => {
        if (event.key === "Enter") { event.preventDefault(); this.find(event.shiftKey ? -1 : 1); }
        if (event.key === "Escape") {
          this.search.value = this.missed.textContent = "";
          this.box.focus();
        }
        event.stopPropagation();
      }, input: afterCalm(200, () => this.find(0)) } });
    this.missed = h("span", { class: "missed small" });
    this.nodeFilter = h("select", { class: "small", "aria-label": t("lab.filter-node"),
      on: { change: () => { this.filter.node = this.nodeFilter.value; this.refresh(); } } });
    fill(this.head, h("h2", {}, t("lab.events")), this.count, this.nodeFilter, this.missed,
      this.search);
  }

  relabel() {
    this.#heading();
    this.refresh();
  }

  // Another run or filter: which events are lines.
  refresh() {
    const { run } = this.session;
    const { t, number } = this.context;
    if (!run) return;
    this.box.setAttribute("aria-label", t("lab.events-of", { n: run.events }));
    if (this.listed !== run) {
      this.listed = run;
      fill(this.nodeFilter, h("option", { value: "" }, t("lab.all-nodes")),
        run.nodes.map((node, i) => h("option", { value: String(i) }, node.name)));
      this.nodeFilter.value = this.filter.node;
      if (this.nodeFilter.selectedIndex < 0) this.nodeFilter.value = this.filter.node = "";
    }
    this.rows = [];
    for (let i = 1; i <= run.events; i += 1) if (this.#passes(run, i)) this.rows.push(i);
    this.count.textContent = this.rows.length === run.events ? t("lab.n-events", {
      n: number(run.events) }) : t("lab.n-of-events", { n: number(this.rows.length),
      of: number(run.events) });
    this.showCursor();
  }

  #passes(run, i) {
    return this.filter.node === "" || String(run.node[i - 1]) === this.filter.node;
  }

  get #pitch() {
    return narrow.matches ? 54 : 32;
  }

  #lines() {
    const { run } = this.session;
    if (!run || !this.rows) return;
    const pitch = this.#pitch;
    this.extent.style.height = `${this.rows.length * pitch}px`;
    const first = Math.max(0, Math.floor(this.top / pitch) - SPARE);
    const last = Math.min(this.rows.length, Math.ceil((this.top + this.room) / pitch) + SPARE);
    const shown = this.rows.slice(first, last);
    if (shown.length && !run.has(shown[0], shown.at(-1)) && shown.at(-1) - shown[0] < 2000) {
      this.session.needSoon(shown[0], shown.at(-1));
    }
    const hadFocus = this.extent.contains(document.activeElement);
    const before = [...this.drawn.values()];
    const drawn = shown.map((i, k) => this.#line(run, i, first + k, pitch));
    this.drawn = new Map(drawn.map((one) => [one.i, one]));
    const same = drawn.length === before.length && drawn.every((one, k) => one === before[k]);
    if (!same) fill(this.extent, drawn.map(({ line }) => line));
    drawn.forEach((one) => this.#place(one));
    const now = this.drawn.get(this.session.cursor)?.line;
    this.box.tabIndex = now ? -1 : 0;
    if (hadFocus) now?.focus({ preventScroll: true });
  }

  // The line of an event: the one that is there, if it would be the same.
  #line(run, i, row, pitch) {
    const event = run.full.get(i);
    const { number } = this.context;
    const differs = Boolean(this.changed?.has(i));
    const of = this.rows.length;
    const known = this.drawn.get(i);
    if (known && known.run === run && known.event === event && known.row === row
      && known.pitch === pitch && known.differs === differs && known.of === of
      && known.lang === language()) return known;
    const line = h("div", { role: "option", "aria-posinset": row + 1, "aria-setsize": of,
      "data-i": i },
    h("span", { class: "line-i" }, String(i)),
    h("span", { class: "line-at" }, number(run.timeOf(i), 2)),
    h("span", { class: "line-text" }, event ? event.text : "…"));
    line.style.top = `${row * pitch}px`;
    line.style.height = `${pitch}px`;
    return { line, run, i, event, row, pitch, differs, of, lang: language() };
  }

  // Before, at or behind the cursor.
  #place(one) {
    const { cursor } = this.session;
    const place = one.i === cursor ? " now" : one.i > cursor ? " later" : "";
    if (one.place === place) return;
    one.place = place;
    one.line.className = `line ${one.event?.kind ?? ""}${place}${one.differs ? " differs" : ""}`;
    one.line.setAttribute("aria-selected", String(one.i === cursor));
    one.line.tabIndex = one.i === cursor ? 0 : -1;
  }

  // Where an event stands among the lines; -1 if it is none of them.
  #rowOf(i) {
    let [low, high] = [0, this.rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.rows[middle] < i) low = middle + 1;
      else high = middle;
    }
    return this.rows[low] === i ? low : -1;
  }

  // More events have come: what is in view is drawn where it is, and nobody is taken back to the cursor.
  draw() {
    this.#lines();
  }

  // Brings the cursor into view; when it leaves it, with room for what comes next.
  showCursor() {
    if (!this.rows) return;
    const row = this.#rowOf(this.session.cursor);
    const pitch = this.#pitch;
    const at = row * pitch;
    if (row >= 0 && (at < this.top || at + pitch > this.top + this.room)) {
      this.#scrollTo(at < this.top ? at - pitch : at - this.room * 0.3);
    } else if (this.session.cursor === 0) this.#scrollTo(0);
    this.#lines();
  }

  #scrollTo(top) {
    if (this.top === top) return;
    this.extent.style.height = `${this.rows.length * this.#pitch}px`;
    this.box.scrollTop = top;
    this.top = this.box.scrollTop;
  }

  // Goes to the next event whose line has the words looked for, after the last the first again;
  // fetches what is not here yet, and says so if there is none.
  async find(direction) {
    const words = this.search.value.trim().toLowerCase();
    const { run } = this.session;
    this.missed.textContent = "";
    if (!words || !run) return;
    const step = direction < 0 ? -1 : 1;
    const first = this.session.cursor - 1 + (direction === 0 ? 0 : step);
    for (let k = 0; k < run.events; k += 1) {
      const i = 1 + (((first + k * step) % run.events) + run.events) % run.events;
      if (!run.full.has(i)) await this.session.need(i, i, { about: "find" });
      if (run !== this.session.run) return;
      if (run.full.get(i)?.text.toLowerCase().includes(words) && this.#passes(run, i)) {
        this.session.go(i);
        return;
      }
    }
    if (this.search.value.trim().toLowerCase() !== words) return; // Others are looked for by now.
    this.missed.textContent = this.context.t("lab.not-found", { words });
    this.context.announce(this.missed.textContent);
  }

  #pressed(event) {
    const at = this.#rowOf(this.session.cursor);
    const page = Math.max(1, Math.floor(this.box.clientHeight / this.#pitch) - 1);
    const row = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this.rows.length - 1,
      PageDown: at + page, PageUp: at - page }[event.key];
    if (row === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const next = Math.max(0, Math.min(row, this.rows.length - 1));
    this.session.go(at <= 0 && event.key === "ArrowUp" ? 0 : this.rows[next]);
    this.extent.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  }
}
