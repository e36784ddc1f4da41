// The nodes in a circle, what travels between them, and what helps to understand: who is inside,
// whose timer runs, queues, votes, quorums, the tree, who waits for whom.

import { fill, h, s } from "./dom.js";
import { legend } from "./topology_legend.js";

const SIZE = 420;
const MIDDLE = SIZE / 2;
// Above the first node and below the last there is room for three lines of words.
const VIEW = `0 -30 ${SIZE} ${SIZE + 56}`;
const FLYING_MAX = 80;
// The width of a letter of the words beside a node.
const LETTER = 7.9;
// How far from the rim of a node a message is that was just sent, or is about to arrive.
const GAP = 7;
const FULL = 2 * Math.PI;

export class Topology {
  constructor(session, context, openMenu) {
    this.session = session;
    this.context = context;
    this.openMenu = openMenu;
    this.svg = s("svg", { class: "topology", viewBox: VIEW, role: "group" });
    this.legend = h("p", { class: "topology-legend soft small" });
    this.root = h("section", { class: "sheet topology-box" }, this.svg, this.legend);
    this.svg.addEventListener("click", (event) => this.#clicked(event));
    this.svg.addEventListener("keydown", (event) => this.#pressed(event));
  }

  // Draws the state at the cursor; `time` may run ahead of it, towards the next event.
  draw(time = null) {
    const { run, moment } = this.session;
    this.svg.setAttribute("aria-label", this.context.t("lab.topology"));
    if (!run || !moment || moment.nodes.length !== run.nodes.length) {
      fill(this.svg);
      return;
    }
    const focused = document.activeElement?.closest?.(".topology g")?.dataset.node;
    this.places = places(run.nodes);
    this.radius = nodeRadius(run.nodes.length);
    this.rings = [];
    this.flying = [];
    fill(this.svg, this.#links(run, moment), this.#facetLines(run, moment),
      this.#waits(moment), this.#nodes(run, moment), this.#messages(run, moment));
    fill(this.legend, legend(this.context.t, run, moment, this.#lookedAt()));
    if (focused !== undefined) this.svg.querySelector(`g[data-node="${focused}"]`)?.focus();
    this.move(time ?? moment.at);
  }

  // Moves what moves, without drawing anew.
  move(time) {
    for (const flying of this.flying) {
      const { element, message } = flying;
      const share = message.arrival > message.sent
        ? (time - message.sent) / (message.arrival - message.sent) : 1;
      const { x, y } = this.#between(message.from, message.to, Math.max(0, Math.min(1, share)));
      element.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
      this.#placeLabel(flying, share < 0.5 ? 1 : -1);
    }
    for (const { element, timer, around } of this.rings) {
      const share = timer.until > timer.since
        ? Math.max(0, Math.min(1, (timer.until - time) / (timer.until - timer.since))) : 0;
      element.setAttribute("stroke-dasharray", `${round(share * around)} ${round(around)}`);
    }
  }

  // The word beside a message is on the side where its way is longer, so that it is over no node.
  #placeLabel(flying, side) {
    const { label, message } = flying;
    if (!label || flying.side === side) return;
    flying.side = side;
    const [a, b] = [this.places[message.from], this.places[message.to]];
    const distance = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const [dx, dy] = [(side * (b.x - a.x)) / distance, (side * (b.y - a.y)) / distance];
    label.setAttribute("x", round(dx * 10));
    label.setAttribute("y", round(dy * 16 + 3));
    label.style.textAnchor = dx > 0.25 ? "start" : dx < -0.25 ? "end" : "middle";
  }

  #between(from, to, share) {
    const a = this.places[from];
    const b = this.places[to];
    if (from === to) {
      return { x: a.x + Math.cos(share * FULL) * 30, y: a.y + Math.sin(share * FULL) * 30 };
    }
    const distance = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const edge = (this.radius + GAP) / distance;
    const along = edge + share * (1 - 2 * edge);
    // A little to one side, so that two that cross do not lie on each other.
    const side = 7 * Math.sin(Math.PI * share);
    return { x: a.x + (b.x - a.x) * along - ((b.y - a.y) / distance) * side,
      y: a.y + (b.y - a.y) * along + ((b.x - a.x) / distance) * side };
  }

  #line(from, to, name, head = false) {
    const a = this.places[from];
    const b = this.places[to];
    const distance = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const [dx, dy] = [(b.x - a.x) / distance, (b.y - a.y) / distance];
    const start = [a.x + dx * this.radius, a.y + dy * this.radius];
    const end = [b.x - dx * (this.radius + 4), b.y - dy * (this.radius + 4)];
    let path = `M${start.map(round)}L${end.map(round)}`;
    if (head) {
      const back = (angle) => {
        const [c, n] = [Math.cos(angle), Math.sin(angle)];
        return [end[0] - 9 * (dx * c - dy * n), end[1] - 9 * (dy * c + dx * n)].map(round);
      };
      path += `M${back(0.45)}L${end.map(round)}L${back(-0.45)}`;
    }
    return s("path", { class: name, d: path });
  }

  #links(run, moment) {
    const n = run.nodes.length;
    const cut = new Set(moment.cuts.map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`));
    let pairs = run.answer.links;
    if (!pairs && n <= 12) {
      pairs = run.nodes.flatMap((_, a) => run.nodes.map((__, b) => [a, b]))
        .filter(([a, b]) => a < b);
    }
    const lines = (pairs ?? []).filter(([a, b]) => !cut.has(`${Math.min(a, b)}-${Math.max(a, b)}`))
      .map(([a, b]) => this.#line(a, b, "link"));
    return [...lines, ...moment.cuts.map(([a, b]) => this.#line(a, b, "link cut"))];
  }

  // Trees for all nodes; quorums and votes of the node that is looked at.
  #facetLines(run, moment) {
    const looked = this.#lookedAt();
    const lines = [];
    moment.nodes.forEach((node, i) => {
      let sets = 0;
      for (const facet of node.facets ?? []) {
        if (facet.kind === "edge" && facet.to !== null && facet.to !== i) {
          lines.push(this.#line(i, facet.to, "tree", true));
        } else if (facet.kind === "set" && i === looked) {
          const name = sets === 0 ? "quorum" : "quorum within";
          sets += 1;
          lines.push(...facet.nodes.filter((to) => to !== i)
            .map((to) => this.#line(i, to, name)));
        } else if (facet.kind === "node" && i === looked && facet.node !== null
          && facet.node !== undefined && facet.node !== i) {
          lines.push(this.#line(i, facet.node, "vote", true));
        }
      }
    });
    return lines;
  }

  #lookedAt() {
    const { selection, event } = this.session;
    return selection?.kind === "node" ? selection.id : event?.node ?? null;
  }

  #waits(moment) {
    const loop = new Set();
    const cycle = moment.cycle ?? [];
    for (let i = 0; i + 1 < cycle.length; i += 1) loop.add(`${cycle[i]}-${cycle[i + 1]}`);
    return (moment.waits ?? []).filter(([a, b]) => a !== b)
      .map(([a, b]) => this.#line(a, b, loop.has(`${a}-${b}`) ? "waits loop" : "waits", true));
  }

  #nodes(run, moment) {
    const looked = this.#lookedAt();
    const quorum = new Set((moment.nodes[looked]?.facets ?? [])
      .filter(({ kind }) => kind === "set").flatMap(({ nodes }) => nodes));
    return run.nodes.map((node, i) => this.#node(node, moment.nodes[i], i,
      { looked: i === looked, first: i === (looked ?? 0), member: quorum.has(i), moment }));
  }

  #node(node, state, i, { looked, first, member, moment }) {
    const { x, y } = this.places[i];
    const r = this.radius;
    const { t } = this.context;
    const sign = signOf(state);
    const selected = this.session.selection?.kind === "node" && this.session.selection.id === i;
    const timers = (state.timers ?? []).slice(0, 3).map((timer, k) => {
      const radius = r + 5 + k * 5;
      const ring = s("circle", { class: "timer", r: radius, transform: "rotate(-90)" });
      this.rings.push({ element: ring, timer, around: radius * FULL });
      return ring;
    });
    const name = t("lab.node-is", { node: node.name, sign: signName(t, sign) });
    return s("g", { class: `node ${sign}${node.coordinator ? " coordinator" : ""}`
      + `${looked ? " looked" : ""}${selected ? " selected" : ""}${member ? " member" : ""}`,
      transform: `translate(${round(x)} ${round(y)})`, "data-node": i,
      tabindex: first ? 0 : -1, role: "button", "aria-label": name },
    node.coordinator
      ? s("rect", { class: "body", x: -r, y: -r, width: 2 * r, height: 2 * r, rx: 6 })
      : s("circle", { class: "body", r }),
    timers,
    s("text", { class: "name", dy: "0.35em" }, node.name),
    r > 13 ? this.#badge(state, i, moment) : null);
  }

  // Beside a node: its sign in words, whom it gave its vote to, its queue.
  #badge(state, i, moment) {
    const { t } = this.context;
    const outward = this.places[i].y > MIDDLE + 10 ? 1 : -1;
    const queue = (state.facets ?? []).find(({ kind, items }) => kind === "queue" && items.length);
    const vote = (state.facets ?? []).find(({ kind, node }) => kind === "node"
      && node !== null && node !== undefined);
    const sign = signOf(state);
    // Coordinators stand close together: there is room for a few letters only.
    const inner = this.session.run.nodes[i].coordinator;
    const words = [
      sign === "idle" || sign === "follower" ? null : signName(t, sign),
      vote ? `${inner ? "→" : vote.name} ${this.session.run.nodes[vote.node].name}` : null,
      queue && !inner ? shortened(queue.items) : null,
    ].filter(Boolean);
    const start = outward > 0 ? this.radius + 22 : -(this.radius + 10 + (words.length - 1) * 15);
    // A little outwards, where no message passes.
    const x = this.places[i].x + (this.places[i].x - MIDDLE) * 0.14;
    return words.map((text, k) => s("text", { class: `badge${k === 0 && sign !== "idle" ? " sign"
      : ""}`, x: round(x - this.places[i].x + within(x, text)), y: start + k * 15 }, text));
  }

  #messages(run, moment) {
    const { selection } = this.session;
    const crowded = moment.flying.length > 10;
    const named = new Set();
    return moment.flying.slice(0, FLYING_MAX).map((message) => {
      // Of a message to many, one word says enough.
      const group = `${message.from} ${message.sent} ${message.label}`;
      const silent = crowded || named.has(group);
      named.add(group);
      const selected = selection?.kind === "message" && selection.id === message.number;
      const { t } = this.context;
      const element = s("g", { class: `message ${run.colour(message.label)}`
        + `${selected ? " selected" : ""}`, "data-message": message.number, role: "button",
        tabindex: -1, "aria-label": t("lab.message-is", { label: message.label,
          from: run.nodes[message.from].name, to: run.nodes[message.to].name }) },
      s("circle", { class: "reach", r: 14 }), s("circle", { class: "dot", r: 5.5 }));
      const label = silent && !selected ? null : s("text", { class: "label" }, message.label);
      if (label) element.append(label);
      this.flying.push({ element, message, label });
      return element;
    });
  }

  #clicked(event) {
    const message = event.target.closest?.("g[data-message]");
    const node = event.target.closest?.("g[data-node]");
    if (message) this.#choose("message", Number(message.dataset.message), message);
    else if (node) this.#choose("node", Number(node.dataset.node), node);
    else if (this.session.selection) this.session.select(null);
  }

  #choose(kind, id, element) {
    const { selection } = this.session;
    if (selection?.kind !== kind || selection.id !== id) this.session.select({ kind, id });
    const anchor = this.svg.querySelector(`g[data-${kind}="${id}"]`) ?? element;
    this.openMenu(anchor);
  }

  #pressed(event) {
    if (event.key !== "Enter" && event.key !== " ") return;
    const node = event.target.closest?.("g[data-node],g[data-message]");
    if (!node) return;
    event.preventDefault();
    event.stopPropagation();
    this.#clicked({ target: node });
  }
}

const round = (value) => Math.round(value * 10) / 10;

// How far words in the middle of `x` have to be moved so that both of their ends are in the picture.
function within(x, text) {
  const half = Math.min(SIZE / 2, text.length * LETTER / 2 + 2);
  return round(Math.max(0, half - x) - Math.max(0, x + half - SIZE));
}

function shortened(items) {
  const shown = items.slice(0, 3).join(" ");
  return items.length > 3 ? `${shown} +${items.length - 3}` : shown;
}

export function signOf(state) {
  if (!state.up) return "down";
  return state.paused ? "paused" : state.sign || "idle";
}

const SIGNS = ["idle", "waiting", "inside", "candidate", "leader", "follower", "down", "paused"];

export function signName(t, sign) {
  return SIGNS.includes(sign) ? t(`sign.${sign}`) : sign;
}

const nodeRadius = (n) => Math.max(9, Math.min(24, 190 / Math.max(n, 1) + 6));

// Clients on the circle; coordinators, which everybody asks, in a smaller one within.
function places(nodes) {
  const outer = nodes.filter(({ coordinator }) => !coordinator).length;
  const inner = nodes.length - outer;
  const both = outer > 0 && inner > 0;
  const counts = { outer: 0, inner: 0 };
  return nodes.map(({ coordinator }) => {
    const ring = both && coordinator ? "inner" : "outer";
    const [count, radius] = ring === "inner" ? [inner, inner === 1 ? 0 : outer > 3 ? 76 : 92]
      : [both ? outer : nodes.length, 156];
    const angle = -Math.PI / 2 + (counts[ring] / count) * FULL;
    counts[ring] += 1;
    return { x: MIDDLE + radius * Math.cos(angle), y: MIDDLE + radius * Math.sin(angle) };
  });
}
