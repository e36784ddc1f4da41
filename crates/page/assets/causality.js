// Cause and effect between the events that are here (happened-before): within a node by order,
// between nodes by messages. And what is different between two branches.

// The events that could have influenced event `i`, and those that it could influence.
export function coneOf(run, i) {
  return { past: past(run, i), future: future(run, [i]) };
}

function past(run, i) {
  const found = new Set([i]);
  const nodes = new Set();
  const senders = new Set();
  for (let k = i; k >= 1; k -= 1) {
    const event = run.full.get(k);
    if (!event) continue;
    if (k === i || nodes.has(event.node) || senders.has(k)) {
      found.add(k);
      if (event.node !== null) nodes.add(event.node);
      const sender = run.messages.get(event.number)?.fromEvent;
      if (sender) senders.add(sender);
    }
  }
  return found;
}

// All that the events of `seeds` could influence, themselves among them.
export function future(run, seeds) {
  const found = new Set(seeds);
  const nodes = new Set();
  const first = seeds.reduce((least, i) => Math.min(least, i), Infinity);
  for (let k = first; k <= run.events; k += 1) {
    const event = run.full.get(k);
    if (!event) continue;
    const sender = run.messages.get(event.number)?.fromEvent;
    if (found.has(k) || nodes.has(event.node) || found.has(sender)) {
      found.add(k);
      if (event.node !== null && event.node !== undefined) nodes.add(event.node);
    }
  }
  return found;
}

// How a branch differs from another run: events are the same when they have the same key, happen at
// the same time and send the same. Null while not all events of both are here.
export function difference(run, other) {
  if (!run.has(1, run.events) || !other.has(1, other.events)) return null;
  const theirs = new Map();
  for (const event of other.full.values()) theirs.set(event.key, event);
  const changed = new Set();
  const kept = new Set();
  for (const event of run.full.values()) {
    const twin = theirs.get(event.key);
    if (twin && fingerprint(twin) === fingerprint(event)) kept.add(event.key);
    else changed.add(event.i);
  }
  const missing = [...other.full.values()].filter((event) => !kept.has(event.key)
    && !sameKey(run, event.key)).map((event) => event.i);
  const theirChanged = new Set([...other.full.values()].filter((event) => !kept.has(event.key))
    .map((event) => event.i));
  const first = [...changed, ...missing].reduce((least, i) => Math.min(least, i), Infinity);
  return { changed, theirs: theirChanged, count: changed.size + missing.length,
    of: run.events + missing.length, first: Number.isFinite(first) ? first : null };
}

function sameKey(run, key) {
  run.byKey ??= new Map([...run.full.values()].map((event) => [event.key, event.i]));
  return run.byKey.has(key);
}

function fingerprint(event) {
  const sends = (event.sends ?? []).map((send) => `${send.to}:${send.label}:${send.details}`);
  const told = JSON.stringify(event.told ?? []);
  return `${event.at}|${event.details ?? ""}|${sends.join(",")}|${told}`;
}
