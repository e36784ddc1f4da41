// What happens in a cluster, in the reader's language.

import { counted, language, number, t } from "./i18n.js";

// 950 ms, 3.2 s, 4 min 10 s, 2 h 5 min
export function duration(ms) {
  if (ms === null || ms === undefined) return "–";
  if (ms < 1000) return `${number(Math.round(ms))} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${number(seconds, seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${number(minutes)} min ${number(Math.floor(seconds % 60))} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${number(hours)} h ${number(minutes % 60)} min`
    : `${number(Math.floor(hours / 24))} d ${number(hours % 24)} h`;
}

let clock = null;
let clockLanguage = "";

export function timeOfDay(ms) {
  if (clockLanguage !== language()) {
    clockLanguage = language();
    const locale = language() === "pt" ? "pt-BR" : "en-GB";
    clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit",
      second: "2-digit", fractionalSecondDigits: 1 });
  }
  return clock.format(ms);
}

// Groups of events, for the filters.
export const GROUPS = {
  locks: ["granted", "released", "queued", "cancelled", "lost", "revoked", "forced"],
  leaders: ["leader"],
  nodes: ["suspected", "trusted", "connected", "disconnected", "member"],
  sessions: ["session_opened", "session_closed", "expired"],
};

export function groupOf(event) {
  if (event.kind === "leader") return "leaders";
  return Object.keys(GROUPS).find((group) => GROUPS[group].includes(event.kind)) ?? "locks";
}

// Whom an event is about, where the server's words tell it first.
export function labelOf(event) {
  return event.label ?? /^'(.*)' (?:\([0-9a-f]{8}\) )?/.exec(event.message)?.[1];
}

const NODE = /^node (\d+)/;

// One sentence. Where nothing better is known, the server's own words.
export function sentence(event) {
  const label = labelOf(event);
  const values = { who: label || t("cluster.nameless"), name: event.name, node: event.node,
    fence: event.fence, place: event.position };
  const about = NODE.exec(event.message)?.[1];
  switch (event.kind) {
    case "granted":
      if (event.fence !== undefined && label !== undefined) return t("cluster.event.granted", values);
      break;
    case "queued":
      if (event.position !== undefined) return t("cluster.event.queued", values);
      break;
    case "forced": {
      const from = /^taken by force from '(.*)': (.*)$/s.exec(event.message);
      if (from) return t("cluster.event.forced-why", { who: from[1], why: from[2] });
      if (label !== undefined) return t("cluster.event.forced", values);
      break;
    }
    case "lost":
    case "released":
    case "revoked":
    case "session_opened":
    case "session_closed":
      if (label !== undefined) return t(`cluster.event.${event.kind}`, values);
      break;
    case "cancelled":
      if (label === undefined) break;
      if (event.message.includes("long enough")) return t("cluster.event.timed-out", values);
      if (event.message.includes("deadlock")) return t("cluster.event.deadlock", values);
      return t("cluster.event.cancelled", values);
    case "expired":
      if (label === undefined) break;
      return t(event.message.includes("stream") ? "cluster.event.lapsed" : "cluster.event.expired",
        values);
    case "leader":
      if (event.name && label !== undefined && event.fence !== undefined) {
        return t("cluster.event.elected", values);
      }
      if (event.name && label !== undefined) return t("cluster.event.stepped-down", values);
      if (event.message.includes("no majority")) return t("cluster.event.deaf", { node: about });
      if (event.message === "no node leads") return t("cluster.event.no-leader");
      if (event.message.endsWith("no longer") && !event.name) {
        return t("cluster.event.deposed", { node: event.node });
      }
      if (about) {
        const term = /term (\d+)/.exec(event.message)?.[1];
        return t("cluster.event.leads", { node: about, term: term ?? "?" });
      }
      break;
    case "member": {
      const [, node, what] = /^node (\d+) (joined|has a vote|left)/.exec(event.message) ?? [];
      if (node) return t(`cluster.event.member-${what.replaceAll(" ", "-")}`, { node });
      break;
    }
    case "connected":
    case "disconnected":
    case "suspected":
    case "trusted":
      if (about) return t(`cluster.event.${event.kind}`, { node: about, by: event.node });
      break;
    default:
  }
  return event.message;
}

// How a lock is, in words, from what the server says of it.
export function explained(lock, noLeader = false) {
  const sentences = [];
  const [first] = lock.holders;
  const waiting = lock.waiters.length;
  const name = (who) => who.label || t("cluster.nameless");
  if (lock.holders.length === 1) {
    sentences.push(t("cluster.explain.held", { who: name(first), fence: first.fence,
      time: duration(first.held_ms) }));
  } else if (lock.holders.length > 1) {
    sentences.push(counted("cluster.explain.shared", lock.holders.length,
      { mode: t(`cluster.mode.${lock.mode ?? "shared"}`) }));
  } else {
    sentences.push(t(waiting ? "cluster.explain.none-inside" : "cluster.explain.free"));
  }
  for (const holder of lock.holders) {
    if (holder.revoked) sentences.push(t("cluster.explain.revoked", { who: name(holder) }));
  }
  // While nobody leads no lease ends.
  if (first?.lease_ms !== undefined && lock.holders.length === 1 && !noLeader) {
    sentences.push(t("cluster.explain.lease", { time: duration(first.lease_ms) }));
  }
  if (waiting) {
    const next = lock.waiters[0];
    sentences.push(counted("cluster.explain.waiting", waiting, { who: name(next),
      time: duration(next.waited_ms) }));
  }
  if (lock.blocked_on) {
    sentences.push(t("cluster.explain.blocked", { nodes: lock.blocked_on.nodes.join(", "),
      time: duration(lock.blocked_on.for_ms) }));
  }
  return sentences;
}
