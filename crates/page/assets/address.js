// The address of the lab: the run in the simulator's own flags, branches as edits, the cursor, and
// the first digits of the trace's hash. In the fragment, so no server ever logs it.
//
//   #v=1&a=ricart-agrawala&n=5&seed=7&w=A:14!1>3:REQUEST%232=drop&at=A/31&sel=m17&h=9f3c21ab

import { cutOnce, hasFlag } from "./flags.js";

const OWN = new Set(["v", "a", "n", "w", "at", "sel", "beside", "h", "story", "s", "lesson"]);
const HASH_DIGITS = 8;
// Longer links break in mail and chat.
export const LENGTH_MAX = 2000;
export const STORY_MAX = 1500;

// What `fragment` says; null where it names no run.
export function parseAddress(fragment) {
  const pairs = fragment.replace(/^#/, "").split("&").filter(Boolean).map((pair) => {
    const [name, value] = cutOnce(pair, "=");
    return [decode(name), value === null ? null : decode(value)];
  });
  const first = (name) => pairs.find(([other]) => other === name)?.[1] ?? null;
  if (!first("a")) return null;
  const flags = pairs.filter(([name]) => !OWN.has(name));
  if (first("n") && !hasFlag(flags, "nodes")) flags.unshift(["nodes", first("n")]);
  const [branch, step] = cutOnce(first("at") ?? "/0", "/");
  return {
    spec: { algorithm: first("a"), flags, story: first("story"), scenario: first("s"),
      lesson: first("lesson") },
    branches: pairs.filter(([name]) => name === "w").map(([, text]) => parseBranch(text ?? ""))
      .filter(Boolean),
    branch,
    cursor: Math.max(0, Number.parseInt(step ?? "0", 10) || 0),
    selection: parseSelection(first("sel")),
    beside: pairs.some(([name]) => name === "beside"),
    hash: first("h"),
  };
}

// "B^A:20!crash=2@31": branch B of A, leaves it after event 20, by that edit.
function parseBranch(text) {
  const found = /^(\w+)(?:\^(\w+))?:(\d+)!(.+)$/.exec(text);
  if (!found) return null;
  return { name: found[1], parent: found[2] ?? "", step: Number(found[3]), edit: found[4] };
}

function parseSelection(text) {
  const found = /^([mne])(\d+)$/.exec(text ?? "");
  if (!found) return null;
  return { kind: { m: "message", n: "node", e: "event" }[found[1]], id: Number(found[2]) };
}

export function writeAddress({ spec, branches, branch, cursor, selection, beside, hash }) {
  const parts = ["v=1", `a=${encode(spec.algorithm)}`];
  for (const [name, value] of spec.flags) {
    const short = name === "nodes" ? "n" : encode(name);
    parts.push(value === null ? short : `${short}=${encode(value)}`);
  }
  if (spec.scenario) parts.push(`s=${encode(spec.scenario)}`);
  if (spec.lesson) parts.push(`lesson=${encode(spec.lesson)}`);
  if (spec.story && spec.story.length <= STORY_MAX) parts.push(`story=${encode(spec.story)}`);
  for (const { name, parent, step, edit } of branches) {
    parts.push(`w=${encode(`${name}${parent ? `^${parent}` : ""}:${step}!${edit}`)}`);
  }
  parts.push(`at=${branch}/${cursor}`);
  if (selection) parts.push(`sel=${selection.kind[0]}${selection.id}`);
  if (beside && branch) parts.push("beside");
  if (hash) parts.push(`h=${hash.slice(0, HASH_DIGITS)}`);
  return `#${parts.join("&")}`;
}

// Whether a run is still the one that a link was made from.
export const sameHash = (kept, hash) => !kept || hash.startsWith(kept);

// Only what would end a pair or a fragment; the rest stays readable.
function encode(text) {
  return encodeURIComponent(text).replace(/%(3A|2C|40|3E|21|2F|3D|5E|3B|2B|2A)/g,
    (code) => decodeURIComponent(code));
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch (malformed) {
    return text;
  }
}
