// Elections and sessions, in tables.

import { h } from "./dom.js";
import { number, t } from "./i18n.js";
import { get } from "./cluster-ask.js";
import { keyed, setAttribute, setText } from "./cluster-dom.js";
import { nameOf } from "./cluster-locks.js";
import { duration } from "./cluster-words.js";

const PAGE = 100;

function listPanel({ columns, empty, query, key, cells, searched }) {
  return (model, changed) => {
    let found = { items: [], at: 0, total: 0, error: null };
    let wanted = "";
    const body = h("tbody");
    const heads = columns.map(([name, kind]) => h("th", { scope: "col", class: kind, data: { name } }));
    const table = h("table", {}, h("thead", {}, h("tr", {}, heads)), body);
    const nothing = h("p", { class: "soft empty" });
    const label = h("span", { class: "unseen" });
    const search = h("input", { type: "search", class: "small", maxlength: 128, on: {
      input: () => { wanted = search.value.trim(); refresh().then(changed); } } });
    const where = h("p", { class: "soft small pager" });
    const element = h("div", {},
      h("div", { class: "row list-tools" }, h("label", { class: "search" }, label, search)),
      h("div", { class: "scroll-x", tabindex: 0 }, table), nothing, where);
    async function refresh(signal) {
      try {
        found = { ...await query(model, wanted, signal), at: performance.now(), error: null };
      } catch (error) {
        if (!signal?.aborted) found = { ...found, error };
      }
    }
    function paint() {
      setText(label, t(searched));
      setAttribute(search, "placeholder", t(searched));
      for (const head of heads) setText(head, t(head.dataset.name));
      const age = performance.now() - found.at;
      setAttribute(element, "data-stale", model.stale || (found.at > 0 && age > 2800));
      const make = () => {
        const all = columns.map(([, kind]) => h("td", { class: kind }));
        return Object.assign(h("tr", {}, all), { all });
      };
      keyed(body, found.items, key, make, (line, item) =>
        cells(item, age).forEach((text, i) => setText(line.all[i], text)));
      table.parentElement.hidden = found.items.length === 0;
      nothing.hidden = found.items.length > 0;
      setText(nothing, found.error ? t("cluster.unasked", { why: found.error.message })
        : t(wanted ? "cluster.none-found" : empty));
      setText(where, found.items.length < found.total
        ? t("cluster.some", { n: number(found.items.length), all: number(found.total) }) : "");
    }
    return { element, paint, refresh };
  };
}

// With a classic engine each node knows its own: they are put together.
async function everywhere(model, path, signal) {
  if (!model.classic || !model.up) return [await get(path, signal)];
  const asked = model.answering().map((node) => get(model.at(node.id, path), signal)
    .catch(() => null));
  const all = (await Promise.all(asked)).filter(Boolean);
  return all.length ? all : [await get(path, signal)];
}

export const electionsPanel = listPanel({
  columns: [["cluster.elections.name", "mono"], ["cluster.elections.leader"],
    ["cluster.elections.value", "mono"], ["cluster.elections.fence", "number mono"],
    ["cluster.elections.since", "number"], ["cluster.elections.candidates"]],
  empty: "cluster.elections.none",
  searched: "cluster.elections.search",
  query: async (model, search, signal) => {
    const query = new URLSearchParams({ limit: PAGE, stale: true });
    if (search) query.set("search", search);
    const answers = await everywhere(model, `/v1/elections?${query}`, signal);
    const all = new Map();
    for (const election of answers.flatMap((answer) => answer.elections)) {
      const known = all.get(election.name);
      if (!known || (!known.leader && election.leader)) all.set(election.name, election);
    }
    const items = [...all.values()];
    return { items, total: items.length + (answers.some((answer) => answer.next) ? 1 : 0) };
  },
  key: (election) => election.name,
  cells: (election, age) => [election.name,
    election.leader ? nameOf(election.leader) : t("cluster.elections.nobody"),
    election.value ?? "", election.leader ? String(election.leader.fence) : "",
    election.leader ? duration(election.leader.held_ms + age) : "",
    election.candidates.map((one) => `${one.position}. ${nameOf(one)}`).slice(0, 4).join(" · ")],
});

export const sessionsPanel = listPanel({
  columns: [["cluster.sessions.label"], ["cluster.sessions.id", "mono"],
    ["cluster.sessions.node", "number"], ["cluster.sessions.holds", "number"],
    ["cluster.sessions.waits", "number"], ["cluster.sessions.lease", "number"]],
  empty: "cluster.sessions.none",
  searched: "cluster.sessions.search",
  query: async (model, search, signal) => {
    const query = new URLSearchParams({ limit: PAGE, stale: true });
    if (search) query.set("search", search);
    const answers = await everywhere(model, `/v1/sessions?${query}`, signal);
    const order = (a, b) => b.holds - a.holds || b.waits - a.waits || (a.label < b.label ? -1 : 1);
    const items = answers.flatMap((answer) => answer.sessions).sort(order);
    return { items, total: answers.reduce((sum, answer) => sum + answer.total, 0) };
  },
  key: (session) => `${session.session}${session.node}`,
  cells: (session, age) => [nameOf(session), session.session, String(session.node),
    number(session.holds), number(session.waits),
    t("cluster.sessions.of", { left: duration(Math.max(0, session.lease_ms - age)),
      ttl: duration(session.ttl_ms) })],
});
