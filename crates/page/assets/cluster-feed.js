// One event stream per browser. A browser has six connections to a server, and a stream keeps one:
// with a stream in each tab the seventh tab would never load. So of all tabs that are seen one, by a
// lock of the browser (Web Locks), has the stream, and tells the others (BroadcastChannel). A tab
// that is not seen has none.

import { stream } from "./cluster-ask.js";

// As many as a node keeps, and some that came since.
export const KEPT = 2000;
const PAUSE_MIN = 400;
const PAUSE_MAX = 4000;

export class Feed {
  // `changed` is called when there are new events, or the stream came or went.
  constructor(path, left, changed) {
    this.ending = new AbortController();
    const signal = AbortSignal.any([left, this.ending.signal]);
    this.path = path;
    this.changed = changed;
    this.events = [];
    this.node = null; // Whose events these are.
    this.up = false;
    this.missed = 0;
    const name = `conclave ${path}`;
    this.channel = new BroadcastChannel(name);
    this.channel.addEventListener("message", ({ data }) => this.hear(data));
    const visible = () => {
      this.seen?.abort();
      if (document.hidden) return;
      const seen = new AbortController();
      this.seen = seen;
      this.channel.postMessage({ hello: true });
      // A request for the lock that is given up is no failure.
      navigator.locks.request(name, { signal: seen.signal }, () => this.lead(seen.signal))
        .catch(() => {});
    };
    document.addEventListener("visibilitychange", visible, { signal });
    signal.addEventListener("abort", () => { this.seen?.abort(); this.channel.close(); });
    visible();
  }

  stop() {
    this.ending.abort();
  }

  // This tab has the stream, until it is hidden or closed.
  async lead(signal) {
    this.leads = true;
    let pause = PAUSE_MIN;
    while (!signal.aborted) {
      try {
        const opened = () => this.say({ up: true });
        for await (const event of stream(this.path, signal, opened)) {
          pause = PAUSE_MIN;
          this.take(event);
        }
      } catch (broken) {
        // It is asked for again below.
      }
      if (signal.aborted) break;
      this.say({ up: false });
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(pause * 2, PAUSE_MAX);
    }
    this.leads = false;
  }

  // Events come one by one; the other tabs get them by the heap.
  take(event) {
    this.heap ??= [];
    this.heap.push(event);
    this.timer ??= setTimeout(() => {
      this.timer = null;
      const events = this.heap;
      this.heap = [];
      this.say({ up: true, events });
    }, 100);
  }

  say(news) {
    try {
      this.channel.postMessage(news);
    } catch (closed) {
      return; // The view was left meanwhile.
    }
    this.hear(news);
  }

  hear({ hello, up, events, all }) {
    if (hello) {
      if (this.leads) this.channel.postMessage({ up: this.up, all: this.events.slice(-500) });
      return;
    }
    if (all && this.events.length === 0) this.add(all);
    if (events) this.add(events);
    if (up !== undefined) this.up = up;
    this.changed();
  }

  add(events) {
    for (const event of events) {
      if (event.node !== this.node) {
        // Another node has numbers of its own, and has told of the same in its own words.
        this.events = [];
        this.node = event.node;
        this.missed = 0;
      }
      const last = this.events.at(-1);
      const again = last && event.number <= last.number && event.at_ms <= last.at_ms;
      if (again) continue;
      const gap = last ? event.number - last.number - 1 : 0;
      if (gap > 0) this.missed += gap;
      this.events.push(event);
    }
    if (this.events.length > KEPT) this.events.splice(0, this.events.length - KEPT);
  }
}
