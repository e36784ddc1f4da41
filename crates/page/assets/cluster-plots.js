// Rates and latencies over the last two minutes, from the nodes' own counters (`/metrics`). Each
// number is of the seconds since the one before: a counter that began anew says nothing.

import { h, s } from "./dom.js";
import { number, t } from "./i18n.js";
import { setAttribute, setText } from "./cluster-dom.js";

const KEPT = 60;
const WIDTH = 220;
const HEIGHT = 48;

export function plotsPanel(model) {
  const grants = plot("grants");
  const latency = plot("latency");
  const waiting = plot("waiting");
  const all = [grants, latency, waiting];
  const element = h("section", { class: "cluster-plots", "aria-labelledby": "plots-title" },
    h("h2", { id: "plots-title", class: "unseen" }), all.map((one) => one.element));
  let before = null;

  async function refresh(signal) {
    const metrics = await model.metrics(signal);
    if (signal.aborted || metrics.size === 0) return;
    const now = { at: performance.now(), metrics };
    if (before) compare(before, now);
    before = now;
  }

  function compare(old, now) {
    const seconds = (now.at - old.at) / 1000;
    grants.add(sumOfRises(old.metrics, now.metrics, "conclave_entries_total") / seconds);
    const name = model.classic ? "conclave_acquire_seconds_bucket" : "conclave_commit_seconds_bucket";
    const buckets = risesOfBuckets(old.metrics, now.metrics, name);
    latency.add(quantile(buckets, 0.5), quantile(buckets, 0.99));
    const waiters = [...now.metrics.values()].map((one) => one.get("conclave_waiters") ?? 0);
    waiting.add(model.classic ? waiters.reduce((a, b) => a + b, 0) : Math.max(0, ...waiters));
  }

  function paint() {
    setText(element.firstElementChild, t("cluster.plots"));
    grants.paint(t("cluster.plot.grants"), (value) => t("cluster.plot.per-second",
      { n: number(value, value < 10 ? 1 : 0) }));
    const ms = (value) => (value === null ? "–" : `${number(value * 1000, value < 0.01 ? 1 : 0)} ms`);
    latency.paint(t(model.classic ? "cluster.plot.acquire" : "cluster.plot.commit"), ms,
      (value) => t("cluster.plot.worst", { time: ms(value) }));
    waiting.paint(t("cluster.plot.waiting"), (value) => number(value));
    setAttribute(element, "data-stale", model.stale);
  }
  return { element, paint, refresh };
}

function plot(kind) {
  const values = [];
  const worst = [];
  const label = h("span", { class: "plot-label" });
  const now = h("span", { class: "plot-now" });
  const more = h("span", { class: "plot-more soft small" });
  const area = s("path", { class: "area" });
  const line = s("path", { class: "line" });
  const svg = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", preserveAspectRatio: "none" },
    area, line);
  const element = h("div", { class: "sheet plot", data: { kind } },
    h("div", { class: "plot-head" }, label, now), svg, h("div", { class: "row spread" },
      more, h("span", { class: "soft small plot-top" }, "")));
  return {
    element,
    add(value, tail) {
      values.push(value);
      worst.push(tail ?? null);
      if (values.length > KEPT) {
        values.shift();
        worst.shift();
      }
    },
    paint(name, words, wordsOfWorst) {
      setText(label, name);
      const last = values.at(-1) ?? null;
      const text = last === null ? "–" : words(last);
      setText(now, text);
      setText(more, wordsOfWorst && worst.at(-1) !== null && worst.length
        ? wordsOfWorst(worst.at(-1)) : "");
      const known = values.filter((value) => value !== null);
      const most = Math.max(1e-9, ...known);
      const scale = kind === "latency" ? most : Math.max(1, most);
      setText(element.querySelector(".plot-top"),
        known.length > 1 ? t("cluster.plot.top", { n: words(scale) }) : "");
      const x = (i) => WIDTH - (values.length - 1 - i) * (WIDTH / (KEPT - 1));
      const y = (value) => HEIGHT - 3 - (HEIGHT - 8) * (value / scale);
      const points = values.map((value, i) => (value === null ? null : `${x(i).toFixed(1)},${y(value).toFixed(1)}`))
        .filter(Boolean);
      setAttribute(line, "d", points.length > 1 ? `M${points.join("L")}` : null);
      setAttribute(area, "d", points.length > 1
        ? `M${points[0].split(",")[0]},${HEIGHT}L${points.join("L")}L${points.at(-1).split(",")[0]},${HEIGHT}Z` : null);
      setAttribute(svg, "aria-label", t("cluster.plot.said", { name, now: text }));
    },
  };
}

function sumOfRises(old, now, name) {
  let sum = 0;
  for (const [id, numbers] of now) {
    const rise = (numbers.get(name) ?? 0) - (old.get(id)?.get(name) ?? Infinity);
    if (rise > 0) sum += rise;
  }
  return sum;
}

// How many more there are in each bucket of a histogram, of all nodes.
function risesOfBuckets(old, now, name) {
  const rises = new Map();
  for (const [id, numbers] of now) {
    const before = new Map(old.get(id)?.get(name) ?? []);
    if (before.size === 0) continue;
    for (const [bound, count] of numbers.get(name) ?? []) {
      const rise = count - (before.get(bound) ?? 0);
      if (rise >= 0) rises.set(bound, (rises.get(bound) ?? 0) + rise);
    }
  }
  return [...rises].sort(([a], [b]) => a - b);
}

function quantile(buckets, q) {
  const total = buckets.at(-1)?.[1] ?? 0;
  if (total === 0) return null;
  let below = 0;
  let from = 0;
  for (const [bound, count] of buckets) {
    if (count >= q * total) {
      const to = bound === Infinity ? from : bound;
      const share = count === below ? 1 : (q * total - below) / (count - below);
      return from + (to - from) * share;
    }
    below = count;
    from = bound;
  }
  return from;
}
