// One lock in detail: how it is, in words, who holds and waits, and its history as a timeline.
// Taking it away by force needs a reason and a second step.

import { button, dialog, h, s } from "./dom.js";
import { number, t } from "./i18n.js";
import { get, Refused, send } from "./cluster-ask.js";
import { keyed, setAttribute, setText } from "./cluster-dom.js";
import { STALE } from "./cluster-model.js";
import { merged, nameOf } from "./cluster-locks.js";
import { duration, explained, labelOf, sentence, timeOfDay } from "./cluster-words.js";

const WIDTH = 560;
const LANE = 22;
const LANES_MAX = 8;
const REASON_MAX = 256;

export function lockDetail(name, { model, feed, withToken, announce, after, closed }) {
  let lock = null;
  let at = null; // When it was last told of; before that nothing is known, not that it is free.
  const words = h("div", { class: "explained" });
  const holders = h("tbody");
  const waiters = h("tbody");
  const help = h("div", { class: "explained" });
  const chart = h("div", { class: "timeline", tabindex: 0, role: "group",
    "aria-label": t("cluster.detail.history") });
  const history = h("ol", { class: "history" });
  const since = h("p", { class: "soft small" });
  const force = button(t("cluster.force"), () => forceDialog(), { class: "danger" });
  const lab = model.classic && model.recorded ? h("a", { class: "button", data: { link: "" },
    href: `/lab#recording=up&lock=${encodeURIComponent(name)}` }, t("cluster.lab")) : null;
  lab?.addEventListener("click", () => box.close());
  const problem = h("p", { class: "error", role: "alert" });
  const head = (keys) => h("thead", {}, h("tr", {}, keys.map((key) =>
    h("th", { scope: "col" }, t(`cluster.detail.${key}`)))));
  const holderTable = h("table", {}, head(["who", "fence", "held-since", "lease"]), holders);
  const waiterTable = h("table", {}, head(["place", "who", "waiting", "eta"]), waiters);
  const titles = ["detail.holders", "detail.queue", "detail.history"].map((key) =>
    h("h3", {}, t(`cluster.${key}`)));
  const box = dialog(name, t("shell.close"), words, help,
    h("section", {}, titles[0], h("div", { class: "scroll-x" }, holderTable)),
    h("section", {}, titles[1], h("div", { class: "scroll-x" }, waiterTable)),
    h("section", {}, titles[2], chart, since, history),
    h("div", { class: "row detail-foot" }, lab, force), problem);
  box.classList.add("lock-detail");
  box.addEventListener("close", closed);

  async function refresh(signal) {
    const path = `/v1/locks/${encodeURIComponent(name)}?explain=true&stale=true`;
    try {
      lock = await asked(path, signal);
      at = performance.now();
      setText(problem, "");
    } catch (error) {
      if (signal?.aborted) return;
      if (error instanceof Refused && error.status === 404) {
        lock = null;
        at = performance.now();
        setText(problem, "");
      } else setText(problem, t("cluster.unasked", { why: error.message }));
    }
  }

  async function asked(path, signal) {
    if (!model.classic || !model.up) return get(path, signal);
    const all = await Promise.all(model.answering().map((node) =>
      get(model.at(node.id, path), signal).catch(() => null)));
    const [one] = merged(all.filter(Boolean));
    if (!one) throw new Refused(404, "not_found", "");
    return one;
  }

  function paint() {
    const passed = performance.now() - (at ?? 0);
    const now = lock ?? { holders: [], waiters: [] };
    const told = at === null ? [t("cluster.asking")] : explained(now, model.noLeader);
    keyed(words, told.map((text, i) => ({ text, i })), ({ i }) => i, () => h("p"),
      (item, { text }) => setText(item, text));
    setAttribute(box, "data-stale", at === null || passed > STALE);
    paintHelp(now);
    holderTable.closest("section").hidden = now.holders.length === 0;
    waiterTable.closest("section").hidden = now.waiters.length === 0;
    keyed(holders, now.holders, (one) => one.session + one.fence, cells(4), (line, one) =>
      line.fill([nameOf(one), String(one.fence), duration(one.held_ms + passed),
        one.lease_ms === undefined ? "–" : duration(Math.max(0, one.lease_ms - passed))]));
    keyed(waiters, now.waiters, (one) => `${one.session}${one.position}${one.node}`, cells(4),
      (line, one) => line.fill([number(one.position), nameOf(one),
        duration(one.waited_ms + passed), one.eta_ms === null ? "–" : duration(one.eta_ms)]));
    force.disabled = now.holders.length === 0;
    paintHistory();
  }

  // Who is in whose way, and what would help: the server works it out, the page says it.
  function paintHelp(now) {
    const waits = now.explanation?.waits ?? [];
    const lines = waits.slice(0, 5).filter((wait) => wait.blocked_by.length).map((wait) => {
      const [first] = wait.blocked_by;
      const key = first.because === "holds" ? "cluster.explain.behind-holder" : "cluster.explain.behind";
      return t(key, { who: nameOf(wait), other: nameOf(first), lock: first.lock });
    });
    if (now.holders.length && now.waiters.length) lines.push(t("cluster.explain.helps"));
    keyed(help, lines.map((text, i) => ({ text, i })), ({ i }) => i, () => h("p", { class: "soft" }),
      (item, { text }) => setText(item, text));
  }

  function paintHistory() {
    const events = feed.events.filter((event) => event.name === name);
    const latest = events.slice(-60).reverse();
    keyed(history, latest, (event) => event.number, () => {
      const time = h("time");
      const text = h("span");
      return Object.assign(h("li", {}, time, text), { time, text });
    }, (item, event) => {
      setText(item.time, timeOfDay(event.at_ms));
      setText(item.text, sentence(event));
      item.dataset.kind = event.kind;
    });
    const first = feed.events[0];
    setText(since, first ? t(events.length ? "cluster.detail.since" : "cluster.detail.nothing",
      { time: timeOfDay(first.at_ms), node: feed.node }) : "");
    drawTimeline(chart, events, name);
  }

  function forceDialog() {
    const reason = h("input", { type: "text", maxlength: REASON_MAX, required: true });
    const now = h("input", { type: "checkbox" });
    const failed = h("p", { class: "error", role: "alert" });
    const who = (lock?.holders ?? []).map(nameOf).join(", ");
    const confirm = h("button", { type: "submit", class: "danger" }, t("cluster.force.do"));
    const form = h("form", { class: "force", on: { submit: (event) => { event.preventDefault(); act(); } } },
      h("p", {}, t("cluster.force.what", { name, who })),
      h("p", { class: "soft" }, t(model.classic ? "cluster.force.classic" : "cluster.force.lease")),
      h("label", { class: "field" }, h("span", {}, t("cluster.force.reason")), reason),
      model.classic ? null : h("label", {}, now, h("span", {}, t("cluster.force.now"))),
      failed, h("div", { class: "row" }, confirm, button(t("cluster.cancel"), () => asks.close())));
    const asks = dialog(t("cluster.force"), t("shell.close"), form);
    reason.focus();

    async function act() {
      if (!reason.value.trim() || !await withToken()) return;
      confirm.disabled = true;
      const body = { reason: reason.value.trim() };
      if (now.checked) body.now = true;
      const own = `/v1/locks/${encodeURIComponent(name)}/holders`;
      const holder = lock?.holders[0]?.node;
      const path = model.classic && model.up && holder ? model.at(holder, own) : own;
      try {
        const done = await send("DELETE", path, body);
        asks.close();
        announce(t(done.safety === "lease" ? "cluster.force.told" : "cluster.force.done", { name }));
        after();
      } catch (error) {
        setText(failed, error.message);
        confirm.disabled = false;
      }
    }
  }
  return { refresh, paint, close: () => box.close() };
}

function cells(count) {
  return () => {
    const all = Array.from({ length: count }, () => h("td"));
    const line = h("tr", {}, all);
    line.fill = (texts) => texts.forEach((text, i) => setText(all[i], text));
    return line;
  };
}

// Who had it when: a bar for each hold, a thin one for each wait, a lane for each who did.
function drawTimeline(root, events, name) {
  // Bars of who is still inside grow.
  const stamp = `${events.at(-1)?.number}:${events.length}:${Math.floor(Date.now() / 2000)}`;
  if (root.dataset.stamp === stamp) return;
  root.dataset.stamp = stamp;
  root.replaceChildren();
  const { bars, lanes, begin, end } = barsOf(events);
  if (bars.length === 0) return;
  const shown = lanes.slice(-LANES_MAX);
  const height = shown.length * LANE + 20;
  const x = (ms) => 120 + (WIDTH - 130) * (ms - begin) / Math.max(1, end - begin);
  const svg = s("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img",
    "aria-label": t("cluster.detail.chart", { name }) });
  shown.forEach((lane, i) => {
    svg.append(s("text", { x: 0, y: i * LANE + 15, class: "lane" },
      lane.length > 17 ? `${lane.slice(0, 16)}…` : lane));
    svg.append(s("line", { x1: 120, x2: WIDTH - 10, y1: i * LANE + 11, y2: i * LANE + 11, class: "rule" }));
  });
  for (const { who, from, to, kind, text } of bars) {
    const lane = shown.indexOf(who);
    if (lane === -1) continue;
    const thick = kind === "held";
    svg.append(s("rect", { x: x(from), y: lane * LANE + (thick ? 4 : 9),
      width: Math.max(2, x(to) - x(from)), height: thick ? 14 : 4, rx: 2, class: kind },
    s("title", {}, text)));
  }
  const bottom = height - 3;
  svg.append(s("text", { x: 120, y: bottom, class: "tick" }, timeOfDay(begin)),
    s("text", { x: WIDTH - 10, y: bottom, class: "tick end" }, timeOfDay(end)));
  root.append(svg);
}

function barsOf(events) {
  const bars = [];
  const lanes = [];
  const open = new Map();
  const begin = events[0]?.at_ms ?? 0;
  const end = Math.max(Date.now(), events.at(-1)?.at_ms ?? 0);
  const close = (key, to) => {
    const one = open.get(key);
    if (!one) return;
    open.delete(key);
    const time = duration(to - one.from);
    bars.push({ ...one, to, text: t(`cluster.detail.bar-${one.kind}`, { who: one.who, time }) });
  };
  for (const event of events) {
    const who = labelOf(event);
    if (who === undefined) continue;
    if (!lanes.includes(who)) lanes.push(who);
    if (event.kind === "queued") open.set(`w${who}`, { who, from: event.at_ms, kind: "waited" });
    if (event.kind === "granted") {
      close(`w${who}`, event.at_ms);
      open.set(`h${who}`, { who, from: event.at_ms, kind: "held" });
    }
    if (event.kind === "cancelled") close(`w${who}`, event.at_ms);
    if (["released", "lost", "forced"].includes(event.kind)) close(`h${who}`, event.at_ms);
  }
  for (const key of [...open.keys()]) close(key, end);
  return { bars, lanes, begin, end };
}
