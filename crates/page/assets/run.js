// One run as the server answered it: an index of all events, and in full what was asked for so far.
// Events count from 1; 0 is the moment before anything.

const MOMENTS_MAX = 400;
const COLOURS = 6;
// The kind of the last event in the index.
const END = "e";

export class Run {
  constructor(answer) {
    this.answer = answer;
    this.hash = answer.hash;
    this.events = answer.events;
    this.nodes = answer.nodes;
    this.at = Float64Array.from(answer.index.at);
    this.node = answer.index.node.map((node) => (node >= 0 ? node : null));
    this.kind = answer.index.kind;
    const { by_type: kinds, places = {} } = answer.messages;
    this.labels = Object.keys(kinds).sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0));
    this.full = new Map();
    this.messages = new Map();
    this.moments = new Map();
    for (const row of answer.messages_index ?? []) this.#fromIndex(row);
    this.add(answer);
  }

  // Takes in a further part of the same run.
  add(answer) {
    for (const event of answer.list ?? []) {
      if (this.full.has(event.i)) continue;
      this.full.set(event.i, event);
      this.#sent(event);
      this.#arrived(event);
    }
    if (answer.messages_index && answer !== this.answer) {
      for (const row of answer.messages_index) this.#fromIndex(row);
    }
    for (const moment of [answer.moment, ...(answer.ahead ?? [])]) if (moment) this.#keep(moment);
  }

  timeOf(i) {
    return i > 0 ? this.at[i - 1] : 0;
  }

  // How many events after event `i` are of the same moment.
  restOfMoment(i) {
    let next = i;
    while (i > 0 && next < this.events && this.at[next] === this.at[i - 1]
      && this.kind[next] !== END) next += 1;
    return next - i;
  }

  // The colour class of a kind of message: its place among those of the algorithm, so that it is
  // the same in every run.
  colour(label) {
    return `k${(this.answer.messages.places?.[label] ?? 0) % COLOURS}`;
  }

  // Whether an event, as far as it is known, does nothing but start a node or keep it in touch.
  isUpkeep(i) {
    const event = this.full.get(i);
    if (!event || event.told?.length || event.sends?.some(({ upkeep }) => !upkeep)) return false;
    if (event.kind === "start") return true;
    if (event.kind === "message") return Boolean(this.messages.get(event.number)?.upkeep);
    return event.kind === "timer" && event.sends?.length > 0;
  }

  // Whether all events of from..to are here in full.
  has(from, to) {
    for (let i = Math.max(1, from); i <= Math.min(to, this.events); i += 1) {
      if (!this.full.has(i)) return false;
    }
    return true;
  }

  #keep(moment) {
    this.moments.delete(moment.event); // So that it is the newest.
    this.moments.set(moment.event, moment);
    if (this.moments.size > MOMENTS_MAX) this.moments.delete(this.moments.keys().next().value);
  }

  #message(number) {
    if (!this.messages.has(number)) this.messages.set(number, { number, got: [], lost: null });
    return this.messages.get(number);
  }

  #fromIndex([number, fromEvent, toEvent, from, to, label]) {
    const message = this.#message(number);
    message.from ??= from;
    message.to ??= to;
    message.label ??= label;
    message.fromEvent ??= fromEvent;
    message.sent ??= this.timeOf(fromEvent);
    if (toEvent && !message.got.includes(toEvent)) message.got.push(toEvent);
  }

  #sent(event) {
    for (const send of event.sends ?? []) {
      Object.assign(this.#message(send.number), { to: send.to, label: send.label,
        details: send.details, arrival: send.arrival, nth: send.nth, upkeep: send.upkeep,
        from: event.node, fromEvent: event.i, sent: event.at });
    }
  }

  #arrived(event) {
    if (event.number === null || event.number === undefined) return;
    const message = this.#message(event.number);
    message.to ??= event.node;
    message.from ??= event.from;
    message.label ??= event.label;
    if (event.kind === "lost") message.lost = event.i;
    else if (!message.got.includes(event.i)) message.got.push(event.i);
  }
}

// When a node had which sign, as [node, sign, from event, to event or null]: the server's, or made
// from the events that are here.
export function spansOf(run) {
  if (run.answer.spans) return run.answer.spans;
  const spans = [];
  const open = run.nodes.map(() => null);
  const change = (node, sign, i) => {
    if (open[node]) open[node][3] = i;
    open[node] = sign ? [node, sign, i, null] : null;
    if (sign) spans.push(open[node]);
  };
  for (let i = 1; i <= run.events; i += 1) {
    const event = run.full.get(i);
    if (!event || event.node === null || event.node === undefined) continue;
    const sign = signAfter(event);
    if (sign !== undefined) change(event.node, sign, i);
  }
  return spans;
}

function signAfter(event) {
  const told = event.told?.find(({ kind }) => kind === "entered" || kind === "elected");
  if (told?.kind === "entered") return "inside";
  if (told?.kind === "elected") return told.leader === event.node ? "leader" : null;
  if (event.kind === "crash" || event.kind === "dead") return "down";
  if (event.kind === "restart" || event.kind === "resume") return null;
  if (event.kind === "pause") return "paused";
  if (event.kind !== "request") return undefined;
  if (event.label === "Acquire") return "waiting";
  return event.label === "Campaign" ? "candidate" : null;
}
