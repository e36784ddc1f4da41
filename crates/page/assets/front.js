// The first screen of the lab: five situations in one sentence each, lessons, and a way to any algorithm.

import { fill, h, s } from "./dom.js";
import { writeAddress } from "./address.js";
import { parseFlags } from "./flags.js";

const FAMILIES = ["mutex", "election", "detector", "clock"];

export function front(root, catalogue, context) {
  const { t } = context;
  const tiles = catalogue.tiles.map((name) => catalogue.scenarios.find((other) =>
    other.name === name)).filter(Boolean);
  fill(root, h("div", { class: "page front" },
    h("p", { class: "eyebrow" }, t("front.eyebrow")),
    h("h1", {}, t("front.title")),
    h("p", { class: "lead" }, t("front.lead")),
    h("ul", { class: "tiles" }, tiles.map((tile) => h("li", {}, tileOf(tile, context)))),
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

function tileOf(tile, { t }) {
  const known = `front.tile.${tile.name}`;
  const sentence = ONE_SENTENCE.has(tile.name) ? t(known) : firstSentence(tile.text);
  const here = tile.flags !== null && tile.flags !== undefined;
  const compare = tile.name === "half-empty-table";
  return h("a", { class: "tile sheet", href: compare ? "/compare" : here ? addressOf(tile)
    : `/scenarios#${tile.name}`, "data-link": true },
  picture(tile), h("strong", {}, tile.title), h("span", { class: "soft" }, sentence),
  h("span", { class: "tile-go" }, t(compare ? "front.measure" : "front.watch")));
}

const ONE_SENTENCE = new Set(["quorum-c4-forgets", "wrong-timeout-two-tokens", "bully-winner-dies",
  "bully-same-id-replacement", "half-empty-table"]);

// A small picture of what goes wrong: circles as [x, y, class], then lines as paths with a class.
const PICTURES = {
  "quorum-c4-forgets": [[...ring(7, 26).map(([x, y], i) => [x, y, i === 3 ? "hollow" : ""]),
    [14, 14, "held"], [82, 14, "held"]], [["M19 18L44 66", "thread"], ["M77 18L55 66", "thread"]]],
  "wrong-timeout-two-tokens": [ring(5, 29).map(([x, y], i) => [x, y, i % 2 ? "" : i < 4 ? "held" : ""]),
    []],
  "bully-winner-dies": [ring(4, 28).map(([x, y], i) => [x, y, i > 1 ? "gone" : ""]),
    [["M20 44l8 8m0 -8l-8 8", "cross"], ["M44 72l8 8m0 -8l-8 8", "cross"]]],
  "bully-same-id-replacement": [ring(4, 28).map(([x, y], i) => [x, y, i > 1 ? "held" : ""]),
    [["M48 20L26 44", "thread"], ["M74 52L52 74", "thread"]]],
  "half-empty-table": [[], [["M22 78V58M40 78V44M58 78V64M76 78V24", "bars"], ["M14 80H84", "thread"]]],
};

function ring(n, radius) {
  return Array.from({ length: n }, (_, i) => {
    const angle = -Math.PI / 2 + (i / n) * 2 * Math.PI;
    return [48 + radius * Math.cos(angle), 48 + radius * Math.sin(angle)];
  });
}

function picture(tile) {
  const [circles, paths] = PICTURES[tile.name] ?? [ring(5, 28).map(([x, y]) => [x, y, ""]), []];
  return s("svg", { class: "tile-picture", viewBox: "0 0 96 96", "aria-hidden": "true" },
    paths.map(([d, name]) => s("path", { d, class: name })),
    circles.map(([cx, cy, name]) => s("circle", { cx, cy, r: 6, class: name })));
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
