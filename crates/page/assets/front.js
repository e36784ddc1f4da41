// The first screen of the lab: five situations in one sentence each, lessons, and a way to any algorithm.

import { fill, h, s } from "./dom.js";
import { writeAddress } from "./address.js";
import { parseFlags, valueOf } from "./flags.js";

const FAMILIES = ["mutex", "election", "detector", "clock"];

export function front(root, catalogue, context) {
  const { t } = context;
  const tiles = catalogue.tiles.map((name) => catalogue.scenarios.find((other) =>
    other.name === name)).filter(Boolean);
  fill(root, h("div", { class: "page front" },
    h("p", { class: "eyebrow" }, t("front.eyebrow")),
    h("h1", {}, t("front.title")),
    h("p", { class: "lead" }, t("front.lead")),
    h("ul", { class: "tiles" }, tiles.map((tile, k) => h("li", {}, tileOf(tile, k, context)))),
    h("div", { class: "front-more" },
      lessons(catalogue, context), h("section", {}, h("h2", {}, t("front.any")),
        h("p", { class: "soft" }, t("front.any-lead")), algorithms(catalogue, t)))));
}

export function addressOf(scenario, extra = {}) {
  const spec = { algorithm: scenario.algorithm, flags: parseFlags(scenario.flags ?? ""),
    scenario: scenario.name, ...extra };
  return `/lab${writeAddress({ spec, branches: [], branch: "", cursor: 0 })}`;
}

// The first sentence of a text: what a tile has room for.
export function firstSentence(text) {
  const found = /^.*?[.!?](?=\s|$)/s.exec(text.trim());
  return (found ? found[0] : text).replace(/\s+/g, " ");
}

function tileOf(tile, k, { t }) {
  const known = `front.tile.${tile.name}`;
  const sentence = ONE_SENTENCE.has(tile.name) ? t(known) : firstSentence(tile.text);
  const here = tile.flags !== null && tile.flags !== undefined;
  const compare = tile.name === "half-empty-table";
  return h("a", { class: "tile sheet", href: compare ? "/compare" : here ? addressOf(tile)
    : `/scenarios#${tile.name}`, "data-link": true },
  picture(tile, k), h("strong", {}, tile.title), h("span", { class: "soft" }, sentence),
  h("span", { class: "tile-go" }, t(compare ? "front.measure" : "front.watch")));
}

const ONE_SENTENCE = new Set(["quorum-c4-forgets", "wrong-timeout-two-tokens", "bully-winner-dies",
  "bully-same-id-replacement", "half-empty-table"]);

// A small picture: so many nodes as the run has, the one that matters in the accent's colour.
function picture(tile, k) {
  const flags = parseFlags(tile.flags ?? "");
  const set = flags.filter(([name]) => name === "set").map(([, value]) => value);
  const coordinators = Number(set.find((value) => value.startsWith("coordinators="))?.slice(13) ?? 0);
  const n = Math.min(9, coordinators || Number(valueOf(flags, "nodes") ?? 7));
  const at = (i, radius) => {
    const angle = -Math.PI / 2 + (i / n) * 2 * Math.PI;
    return [40 + radius * Math.cos(angle), 40 + radius * Math.sin(angle)];
  };
  const dots = Array.from({ length: n }, (_, i) => {
    const [cx, cy] = at(i, 27);
    return s("circle", { cx, cy, r: 4.6, class: i === n - 1 - (k % 2) ? "held" : null });
  });
  return s("svg", { class: "tile-picture", viewBox: "0 0 80 80", "aria-hidden": "true" },
    s("circle", { cx: 40, cy: 40, r: 27, class: "orbit" }), dots);
}

function lessons(catalogue, { t }) {
  if (!catalogue.lessons?.length) return null;
  return h("section", {}, h("h2", {}, t("front.lessons")),
    h("p", { class: "soft" }, t("front.lessons-lead")),
    h("ol", { class: "lesson-list" }, catalogue.lessons.map((lesson) => {
      const scenario = catalogue.scenarios.find(({ name }) => name === lesson.scenario);
      const run = scenario && { ...scenario, ...(scenario.runs?.[lesson.run ?? 0] ?? {}) };
      const href = run?.flags !== null && run?.flags !== undefined
        ? addressOf({ ...run, name: scenario.name }, { lesson: lesson.id })
        : `/scenarios#${lesson.scenario}`;
      return h("li", {}, h("a", { href, "data-link": true }, lesson.title));
    })));
}

function algorithms(catalogue, t) {
  return FAMILIES.map((family) => {
    const members = catalogue.algorithms.filter((algorithm) => algorithm.family === family);
    return members.length ? h("p", { class: "family" }, h("span", { class: "family-name" },
      t(`family.${family}`)), members.map((algorithm) => [h("a", { "data-link": true,
      href: `/lab#v=1&a=${algorithm.id}&n=5&at=/0` }, algorithm.title), " "])) : null;
  });
}
