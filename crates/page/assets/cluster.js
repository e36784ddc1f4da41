// The cluster, live: nodes, locks, elections, sessions, events. Made to be looked at while something
// is wrong: without a leader, with nodes lost, or when nobody answers at all.

import { button, h } from "./dom.js";
import { number, t } from "./i18n.js";
import { takeToken } from "./cluster-ask.js";
import { lockDetail } from "./cluster-detail.js";
import { setAttribute, setText, throttled } from "./cluster-dom.js";
import { eventsPanel } from "./cluster-events.js";
import { Feed } from "./cluster-feed.js";
import { electionsPanel, sessionsPanel } from "./cluster-lists.js";
import { locksPanel } from "./cluster-locks.js";
import { Model } from "./cluster-model.js";
import { nodesPanel } from "./cluster-nodes.js";
import { plotsPanel } from "./cluster-plots.js";
import { withToken } from "./cluster-token.js";
import { duration } from "./cluster-words.js";

// At most four repaints a second; questions a little less often.
const REPAINT = 250;
const NODES_EVERY = 800;
const LISTS_EVERY = 1500;
const LISTS_SOON = 300;
const METRICS_EVERY = 2000;
const GROWS_OLD_EVERY = 500;

export function mount(root, context) {
  takeToken();
  const { signal } = context;
  const model = new Model(context.about);
  let paused = false;
  let detail = null;
  const still = () => document.hidden || signal.aborted || paused;
  const repaint = throttled(REPAINT, still, paint);
  let feed = new Feed("/v1/events", signal, happened);
  const nodes = nodesPanel(model, withToken, refreshNodes);
  const plots = plotsPanel(model);
  const locks = locksPanel(model, openLock, repaint);
  const elections = electionsPanel(model, repaint);
  const sessions = sessionsPanel(model, repaint);
  const events = eventsPanel(model, () => feed, tellBy, openLock, repaint);
  const tabs = tabList([["locks", locks], ["elections", elections], ["sessions", sessions]], () => {
    refreshLists();
    repaint();
  });
  const summary = summaryLine(model, togglePause);
  const banner = h("div", { class: "cluster-banner", role: "alert" });
  const unknown = button("", () => withToken().then(refreshNodes).then(refreshLists),
    { class: "primary", hidden: true });
  const lab = labLink(model);
  link("/assets/cluster.css");
  root.append(h("div", { class: "cluster" }, summary.element, banner, unknown, lab.element,
    nodes.element,
    plots.element, h("div", { class: "cluster-lists" }, tabs.element, events.element)));

  function happened() {
    listsSoon();
    repaint();
  }

  // Another node tells what happens: with a classic engine each tells of its own.
  function tellBy(id) {
    feed.stop();
    detail?.close();
    feed = new Feed(id ? model.at(id, "/v1/events") : "/v1/events", signal, happened);
    repaint();
  }

  async function refreshNodes() {
    const leader = model.leader;
    await model.refresh(signal);
    if (leader !== model.leader && model.leader !== null && leader !== undefined && !model.noLeader) {
      context.announce(t("cluster.said.leader", { node: model.leader }));
    }
    repaint();
  }

  async function refreshLists() {
    await Promise.all([tabs.shown().refresh(signal), detail?.refresh(signal)]);
    repaint();
  }
  const listsSoon = throttled(LISTS_SOON, still, refreshLists);

  function openLock(name) {
    detail?.close();
    const own = lockDetail(name, { model, feed, withToken, announce: context.announce,
      after: refreshLists, closed: () => { if (detail === own) detail = null; } });
    detail = own;
    own.refresh(signal).then(() => own.paint());
  }

  function togglePause() {
    paused = !paused;
    summary.paused = paused;
    context.announce(t(paused ? "cluster.said.paused" : "cluster.said.goes-on"));
    paint();
    if (!paused) refreshNodes().then(refreshLists);
  }

  function paint() {
    summary.paint();
    setText(unknown, t("cluster.token.say"));
    paintBanner(banner, model, paused, context.announce, unknown);
    lab.paint();
    nodes.paint();
    plots.paint();
    tabs.paint();
    events.paint();
    detail?.paint();
  }

  context.onLanguage(() => { detail?.close(); paint(); });
  every(NODES_EVERY, refreshNodes, still, signal);
  every(LISTS_EVERY, refreshLists, still, signal);
  every(METRICS_EVERY, () => plots.refresh(signal).then(repaint), still, signal);
  // What nobody answers grows old all the same.
  every(GROWS_OLD_EVERY, async () => { if (model.stale) repaint(); }, still, signal);
  document.addEventListener("visibilitychange", () => { if (!still()) refreshNodes(); }, { signal });
  refreshNodes().then(refreshLists);
  return () => detail?.close();
}

// Asks again and again, never twice at once, and not while nobody looks.
function every(pause, ask, still, signal) {
  let busy = false;
  const timer = setInterval(async () => {
    if (busy || still()) return;
    busy = true;
    try {
      await ask();
    } finally {
      busy = false;
    }
  }, pause);
  signal.addEventListener("abort", () => clearInterval(timer));
}

function summaryLine(model, togglePause) {
  const title = h("h1");
  const about = h("p", { class: "soft about" });
  const figures = ["leader", "term", "locks", "sessions"].map((name) => {
    const value = h("dd");
    const label = h("dt");
    return { name, value, label, row: h("div", {}, label, value) };
  });
  const pause = button("", togglePause, { class: "small" });
  const element = h("header", { class: "cluster-summary" },
    h("div", {}, title, about), h("dl", { class: "figures" }, figures.map(({ row }) => row)), pause);
  const line = { element, paused: false, paint() {
    const { view } = model;
    setText(title, t("cluster.title"));
    setText(about, view ? aboutWords(view, model) : t("cluster.asking"));
    const values = { leader: model.noLeader || model.leader === null ? t("cluster.nobody")
      : t("cluster.node", { node: model.leader }), term: number(model.term),
    locks: number(view?.locks ?? 0), sessions: number(view?.sessions ?? 0) };
    for (const { name, value, label } of figures) {
      setText(label, t(`cluster.figure.${name}`));
      setText(value, view ? values[name] : "–");
    }
    setAttribute(element, "data-stale", model.stale);
    setText(pause, t(line.paused ? "cluster.go-on" : "cluster.pause"));
    setAttribute(pause, "aria-pressed", line.paused);
  } };
  return line;
}

function aboutWords(view, model) {
  const nodes = t("cluster.about.nodes", { n: number(model.nodes.length) });
  const engine = view.engine === "replicated" ? t("cluster.about.replicated")
    : t("cluster.about.classic", { engine: view.engine, election: view.election,
      detector: view.detector });
  return `${nodes} ${engine}`;
}

// What is wrong, if anything is: which node is lost, that nobody leads, that nobody answers.
function paintBanner(banner, model, paused, announce, unknown) {
  const problems = [];
  unknown.hidden = model.error?.status !== 401;
  if (!unknown.hidden) {
    problems.push(["bad", t("cluster.banner.unknown")]);
  } else if (model.error && model.stale) {
    problems.push(["bad", t(model.up ? "cluster.banner.up-gone" : "cluster.banner.node-gone",
      { time: duration(model.age) })]);
  } else {
    for (const node of model.nodes) {
      const known = ["killed", "stopped", "paused", "isolated"].includes(node.state);
      if (known) problems.push(["odd", t(`cluster.banner.${node.state}`, { node: node.id })]);
      else if (node.stale) {
        problems.push(["bad", t("cluster.banner.lost",
          { node: node.id, time: duration(node.heard_ms) })]);
      }
    }
    if (model.view && model.noLeader) problems.unshift(["bad", t("cluster.banner.no-leader")]);
  }
  if (paused) problems.push(["", t("cluster.banner.updates-paused")]);
  const text = problems.map(([, words]) => words).join("\n");
  if (banner.dataset.said === text) return;
  banner.dataset.said = text;
  banner.replaceChildren(...problems.map(([kind, words]) =>
    h("p", { class: `notice ${kind}` }, words)));
  if (!text && banner.dataset.was) announce(t("cluster.said.well"));
  banner.dataset.was = text;
}

// From the live recording of a classic engine into the lab.
function labLink(model) {
  const link = h("a", { class: "button small", href: "/lab#recording=up", data: { link: "" } });
  const words = h("span", { class: "soft small" });
  const element = h("p", { class: "row lab-link" }, link, words);
  return { element, paint() {
    element.hidden = !(model.classic && model.recorded);
    setText(link, t("cluster.lab"));
    setText(words, t("cluster.lab.what"));
  } };
}

function tabList(panels, chosen) {
  let shown = 0;
  const buttons = panels.map(([name], i) => h("button", { type: "button", role: "tab",
    id: `tab-${name}`, "aria-controls": `panel-${name}`, on: { click: () => choose(i) } }));
  const bodies = panels.map(([name, panel]) => h("div", { role: "tabpanel", id: `panel-${name}`,
    "aria-labelledby": `tab-${name}`, tabindex: -1 }, panel.element));
  const bar = h("div", { role: "tablist", class: "tabs" }, buttons);
  bar.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    choose((shown + step + panels.length) % panels.length);
    buttons[shown].focus();
  });
  function choose(i) {
    shown = i;
    mark();
    chosen();
  }
  function mark() {
    buttons.forEach((one, i) => {
      setAttribute(one, "aria-selected", String(i === shown));
      one.tabIndex = i === shown ? 0 : -1;
      bodies[i].hidden = i !== shown;
    });
  }
  mark();
  return {
    element: h("section", { class: "sheet cluster-tabs" }, bar, bodies),
    shown: () => panels[shown][1],
    paint() {
      setAttribute(bar, "aria-label", t("cluster.lists"));
      panels.forEach(([name], i) => setText(buttons[i], t(`cluster.tab.${name}`)));
      panels[shown][1].paint();
    },
  };
}

function link(address) {
  if (document.querySelector(`link[href="${address}"]`)) return;
  document.head.append(h("link", { rel: "stylesheet", href: address }));
}
