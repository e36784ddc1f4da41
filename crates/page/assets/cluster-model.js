// The state of the cluster, asked for again and again: from `conclave up`, which hears of every
// node, or from the one node that serves this page.

import { get, getText } from "./cluster-ask.js";

// After how long without a word what is shown counts as stale.
export const STALE = 2500;

export class Model {
  constructor(about) {
    this.up = about.up;
    this.nodes = [];
    this.view = null; // How the node sees the cluster that knows most.
    this.heard = 0; // When anything was last heard, by performance.now().
    this.error = null;
    this.recorded = false;
  }

  get stale() {
    return performance.now() - this.heard > STALE;
  }

  get age() {
    return performance.now() - this.heard;
  }

  async refresh(signal) {
    try {
      if (this.up) this.takeAll(await get("/up/nodes", signal));
      else this.takeOne(await get("/v1/cluster", signal));
      this.heard = performance.now();
      this.error = null;
    } catch (error) {
      if (signal.aborted) return;
      this.error = error;
    }
  }

  // What `up` says of all nodes.
  takeAll({ nodes, recorded }) {
    this.recorded = recorded;
    const fresh = nodes.filter((node) => isFresh(node) && node.view).map((node) => node.view);
    this.choose(fresh.length ? fresh : nodes.map((node) => node.view).filter(Boolean));
    const leaderView = fresh.find((view) => view.node === this.leader);
    const committed = Math.max(0, ...fresh.map((view) => view.committed ?? 0));
    this.noLeader = !fresh.some((view) => view.leader !== null);
    this.nodes = nodes.map((node) => ({
      ...node,
      stale: !isFresh(node),
      // How far behind somebody is who does not answer, a leader that is new cannot know.
      ...told(node.id, node.view, isFresh(node) ? leaderView : null, this.leader, committed),
      suspectedBy: fresh.filter((view) => view.node !== node.id
        && view.nodes.some((other) => other.id === node.id && isDoubted(other)))
        .map((view) => view.node),
      sees: isFresh(node) ? node.view?.nodes ?? [] : [],
    }));
  }

  // What one node says of itself and of the others.
  takeOne(view) {
    this.choose([view]);
    this.noLeader = view.leader === null;
    this.nodes = view.nodes.map((node) => {
      const own = node.id === view.node;
      return {
        id: node.id,
        api: node.api,
        state: own || !isDoubted(node) ? "running" : "unknown",
        answers: own || !isDoubted(node),
        ready: !isDoubted(node),
        heard_ms: isDoubted(node) ? node.for_ms : 0,
        can: [],
        stale: !own && isDoubted(node),
        ...told(node.id, own ? view : null, view.leader === view.node ? view : null, view.leader),
        suspectedBy: isDoubted(node) ? [view.node] : [],
        sees: own ? view.nodes : [],
      };
    });
  }

  choose(views) {
    const newest = (a, b) => b.term - a.term || (b.leader ?? 0) - (a.leader ?? 0)
      || (b.applied ?? 0) - (a.applied ?? 0);
    this.view = [...views].sort(newest)[0] ?? this.view;
    this.leader = this.view?.leader ?? null;
    this.term = this.view?.term ?? 0;
    this.classic = this.view ? this.view.engine !== "replicated" : false;
  }

  // Where the API of a node is, from here.
  at(id, path) {
    return this.up ? `/up/nodes/${id}${path}` : path;
  }

  answering() {
    return this.up ? this.nodes.filter((node) => node.answers) : this.nodes.filter((node) => node.sees.length);
  }

  // The numbers of every node that answers, by name.
  async metrics(signal) {
    const asked = this.answering().map(async (node) => {
      try {
        return [node.id, parsed(await getText(this.at(node.id, "/metrics"), signal))];
      } catch (failed) {
        return null;
      }
    });
    return new Map((await Promise.all(asked)).filter(Boolean));
  }
}

function isFresh(node) {
  return node.answers && node.heard_ms < STALE;
}

function isDoubted(node) {
  return node.state === "suspected" || node.state === "unreachable";
}

// Of somebody who was cut off before it was elected, a leader has not heard how far behind it is.
function told(id, view, leaderView, leader, committed = 0) {
  const member = leaderView?.members?.find((one) => one.id === id);
  const role = view?.role ?? (view || leader === id ? (leader === id ? "leader" : "member") : null);
  return {
    role: role === "leader" && view?.majority === false ? "deposed" : role,
    term: view?.term,
    applied: view?.applied,
    lag: member?.lag ?? Math.max(view?.lag ?? 0, committed - (view?.applied ?? committed)),
    uptime: view?.uptime_ms,
    vote: member?.vote,
  };
}

// The text format of Prometheus: the sum of what a name has, and its histogram's buckets.
export function parsed(text) {
  const numbers = new Map();
  for (const line of text.split("\n")) {
    if (!line || line.startsWith("#")) continue;
    const space = line.lastIndexOf(" ");
    const value = Number(line.slice(space + 1));
    const brace = line.indexOf("{");
    const name = line.slice(0, brace === -1 ? space : brace);
    if (name.endsWith("_bucket")) {
      const bound = /le="([^"]*)"/.exec(line)?.[1];
      if (!numbers.has(name)) numbers.set(name, []);
      numbers.get(name).push([bound === "+Inf" ? Infinity : Number(bound), value]);
    } else {
      numbers.set(name, (numbers.get(name) ?? 0) + value);
    }
  }
  return numbers;
}
