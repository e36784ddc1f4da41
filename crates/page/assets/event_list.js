// The run as a list, one line an event: the accessible truth beside the pictures, with the same
// content. Only the lines in view exist.

import { afterCalm, fill, h, oncePerFrame } from "./dom.js";

const SPARE = 6;

export class EventList {
  constructor(session, context) {
    Object.assign(this, { session, context, filter: { node: "", failures: false }, changed: null });
    this.head = h("div", { class: "list-head row" });
    this.box = h("div", { class: "list-lines", role: "listbox", tabindex: 0 });
    this.extent = h("div", { class: "list-extent", role: "presentation" });
    this.box.append(this.extent);
    this.root = h("section", { class: "list sheet" }, this.head, this.box);
    this.box.addEventListener("scroll", oncePerFrame(() => this.#lines()), { passive: true });
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
    this.#lines(true);
    this.showCursor();
  }

  #passes(run, i) {
    return this.filter.node === "" || String(run.node[i - 1]) === this.filter.node;
  }

  get #pitch() {
    return matchMedia("(max-width: 720px)").matches ? 54 : 32;
  }

  #lines() {
    const { run, cursor } = this.session;
    if (!run || !this.rows) return;
    const pitch = this.#pitch;
    this.extent.style.height = `${this.rows.length * pitch}px`;
    const first = Math.max(0, Math.floor(this.box.scrollTop / pitch) - SPARE);
    const last = Math.min(this.rows.length,
      Math.ceil((this.box.scrollTop + this.box.clientHeight) / pitch) + SPARE);
    const shown = this.rows.slice(first, last);
    if (shown.length && !run.has(shown[0], shown.at(-1)) && shown.at(-1) - shown[0] < 2000) {
      this.session.needSoon(shown[0], shown.at(-1));
    }
    const hadFocus = this.extent.contains(document.activeElement);
    fill(this.extent, shown.map((i, k) => this.#line(run, i, first + k, pitch, cursor)));
    this.box.tabIndex = this.extent.querySelector('[tabindex="0"]') ? -1 : 0;
    if (hadFocus) this.extent.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  }

  #line(run, i, row, pitch, cursor) {
    const event = run.full.get(i);
    const { number } = this.context;
    const differs = this.changed?.has(i);
    const line = h("div", { class: `line ${event?.kind ?? ""}${i === cursor ? " now" : ""}`
      + `${i > cursor ? " later" : ""}${differs ? " differs" : ""}`, role: "option",
      "aria-selected": String(i === cursor), "aria-posinset": row + 1,
      "aria-setsize": this.rows.length, tabindex: i === cursor ? 0 : -1, "data-i": i },
    h("span", { class: "line-i" }, String(i)),
    h("span", { class: "line-at" }, number(run.timeOf(i), 2)),
    h("span", { class: "line-text" }, event ? event.text : "…"));
    line.style.top = `${row * pitch}px`;
    line.style.height = `${pitch}px`;
    return line;
  }

  // More events have come: what is in view is drawn where it is, and nobody is taken back to the cursor.
  draw() {
    this.#lines();
  }

  showCursor() {
    if (!this.rows) return;
    const row = this.rows.indexOf(this.session.cursor);
    const pitch = this.#pitch;
    if (row >= 0) {
      const top = row * pitch;
      const { scrollTop, clientHeight } = this.box;
      if (top < scrollTop) this.box.scrollTop = top - pitch;
      else if (top + pitch > scrollTop + clientHeight) {
        this.box.scrollTop = top + 2 * pitch - clientHeight;
      }
    } else if (this.session.cursor === 0) this.box.scrollTop = 0;
    this.#lines();
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
    const at = this.rows.indexOf(this.session.cursor);
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
