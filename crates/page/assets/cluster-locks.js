// The locks: searched, sorted and paged by the server, since there may be a hundred thousand.

import { button, h } from "./dom.js";
import { counted, number, t } from "./i18n.js";
import { get, Refused } from "./cluster-ask.js";
import { keyed, setAttribute, setText } from "./cluster-dom.js";
import { duration } from "./cluster-words.js";

const PAGE = 50;
const SHOWN_WAITERS = 3;

export function locksPanel(model, open, changed) {
  const asked = { search: "", sort: "name", after: [] };
  let found = { locks: [], next: null, at: 0, error: null };
  const search = h("input", { type: "search", class: "small", maxlength: 256, on: {
    input: () => ask({ search: search.value.trim(), after: [] }) } });
  const sort = h("select", { class: "small", on: {
    change: () => ask({ sort: sort.value, after: [] }) } },
  ["name", "waiters", "held"].map((order) => h("option", { value: order })));
  const searchLabel = h("span", { class: "unseen" });
  const sortLabel = h("span");
  // The roles are said, since on a telephone the rows are no rows of a table any more.
  const body = h("tbody", { role: "rowgroup" });
  const heads = ["name", "holder", "fence", "age", "queue"].map((key) =>
    h("th", { scope: "col", role: "columnheader", class: key === "fence" || key === "age" ? "number" : null,
      data: { key } }));
  const table = h("table", { class: "locks", role: "table" },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads)), body);
  const empty = h("p", { class: "soft empty" });
  const previous = button("", () => ask({ after: asked.after.slice(0, -1) }), { class: "small" });
  const next = button("", () => ask({ after: [...asked.after, found.next] }), { class: "small" });
  const where = h("span", { class: "soft small" });
  const element = h("div", { class: "cluster-locks" },
    h("div", { class: "row list-tools" }, h("label", { class: "search" }, searchLabel, search),
      h("label", { class: "small soft" }, sortLabel, sort)),
    h("div", { class: "scroll-x" }, table), empty,
    h("div", { class: "row pager" }, previous, next, where));

  function ask(more) {
    Object.assign(asked, more);
    refresh().then(changed);
  }

  let turn = 0;
  async function refresh(signal) {
    turn += 1;
    const own = turn;
    const query = new URLSearchParams({ limit: PAGE, sort: asked.sort, stale: true });
    if (asked.search) query.set("search", asked.search);
    const after = asked.after.at(-1);
    if (after && asked.sort === "name") query.set("after", after);
    try {
      const answer = await lists(model, `/v1/locks?${query}`, signal);
      if (own === turn) found = { ...answer, at: performance.now(), error: null };
    } catch (error) {
      if (own !== turn || signal?.aborted) return;
      // What no name can have in it is in none.
      const none = error instanceof Refused && error.status === 400;
      found = none ? { locks: [], next: null, at: performance.now(), error: null }
        : { ...found, error };
    }
  }

  function paint() {
    setText(searchLabel, t("cluster.locks.search"));
    setAttribute(search, "placeholder", t("cluster.locks.search"));
    setText(sortLabel, t("cluster.locks.sort"));
    for (const option of sort.options) setText(option, t(`cluster.locks.sort.${option.value}`));
    for (const head of heads) setText(head, t(`cluster.locks.${head.dataset.key}`));
    const age = performance.now() - found.at;
    setAttribute(element, "data-stale", model.stale || (found.at > 0 && age > 2800));
    keyed(body, found.locks, (lock) => lock.name, (lock) => row(lock.name, open),
      (line, lock) => line.change(lock, age));
    table.parentElement.hidden = found.locks.length === 0;
    empty.hidden = found.locks.length > 0;
    setText(empty, found.error ? t("cluster.unasked", { why: found.error.message })
      : t(asked.search ? "cluster.locks.none-found" : "cluster.locks.none"));
    previous.hidden = asked.after.length === 0 || asked.sort !== "name";
    next.hidden = !found.next;
    setText(previous, t("cluster.previous"));
    setText(next, t("cluster.next"));
    const n = found.locks.length;
    const before = asked.after.length * PAGE;
    setText(where, n === 0 ? "" : t(model.classic && model.up
      ? "cluster.locks.shown-classic" : "cluster.locks.shown",
    { n: number(n), from: number(before + 1), to: number(before + n) }));
  }
  return { element, paint, refresh };
}

// A list of the cluster. With a classic engine each node knows its own part: they are put together.
export async function lists(model, path, signal) {
  if (!model.classic || !model.up) return get(path, signal);
  const asked = model.answering().map((node) => get(model.at(node.id, path), signal)
    .catch(() => null));
  const answers = (await Promise.all(asked)).filter(Boolean);
  if (answers.length === 0) return get(path, signal);
  return { locks: merged(answers.flatMap((answer) => answer.locks)), next: null };
}

// The same lock as several nodes know it, as one.
export function merged(locks) {
  const all = new Map();
  for (const lock of locks) {
    const known = all.get(lock.name);
    if (!known) {
      all.set(lock.name, { ...lock, waiters: lock.waiters.map((one) => ({ ...one, node: lock.node })) });
      continue;
    }
    known.holders = [...known.holders, ...lock.holders];
    known.holder ??= lock.holder;
    known.waiters = [...known.waiters, ...lock.waiters.map((one) => ({ ...one, node: lock.node }))];
    known.blocked_on ??= lock.blocked_on;
    known.entries = (known.entries ?? 0) + (lock.entries ?? 0);
    if (known.holders.length) known.state = "held";
    else if (known.waiters.length || lock.state === "waiting") known.state = "waiting";
  }
  return [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function row(name, open) {
  const link = h("button", { type: "button", class: "name-link mono", on: { click: () => open(name) } });
  const cell = (name) => h("td", { class: name, role: "cell" });
  const [holder, fence, age, queue] = [null, "number mono", "number", "queue"].map(cell);
  const line = h("tr", { role: "row" }, h("th", { scope: "row", role: "rowheader" }, link), holder,
    fence, age, queue);
  line.change = (lock, since) => {
    setText(link, lock.name);
    setAttribute(link, "title", t("cluster.locks.open", { name: lock.name }));
    setAttribute(line, "data-state", lock.blocked_on ? "blocked" : lock.state);
    const [first] = lock.holders;
    const others = lock.holders.length - 1;
    setText(holder, lock.blocked_on ? t("cluster.blocked", { nodes: lock.blocked_on.nodes.join(", ") })
      : !first ? t(`cluster.lock-state.${lock.state}`)
        : others > 0 ? counted("cluster.and-others", others, { who: nameOf(first) }) : nameOf(first));
    setText(fence, first ? String(first.fence) : "");
    setText(age, first ? duration(first.held_ms + since) : "");
    const shown = lock.waiters.slice(0, SHOWN_WAITERS).map((waiter) =>
      `${waiter.position}. ${nameOf(waiter)} (${duration(waiter.waited_ms + since)})`);
    const more = lock.waiters.length - SHOWN_WAITERS;
    if (more > 0) shown.push(counted("cluster.more", more));
    setText(queue, shown.join(" · "));
  };
  return line;
}

export function nameOf(who) {
  return who.label || t("cluster.nameless");
}
