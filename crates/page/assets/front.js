// The first screen of the lab: five situations in one sentence each, lessons, and a way to any
// algorithm.

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

const ONE_SENTENCE = new Set(["quorum-c4-forgets", "token-ring-short-timeout", "bully-winner-dies",
  "bully-same-id-replacement", "half-empty-table"]);

// A small picture of what goes wrong: circles as [x, y, class], then lines as paths with a class.
const PICTURES = {
  "quorum-c4-forgets": [[...ring(7, 25).map(([x, y], i) => [x, y + 6, i === 3 ? "hollow" : ""]),
    [12, 18, "held"], [84, 18, "held"]], [["M12 18L32 76M12 18L24 60M12 18L28 38", "thread"],
    ["M84 18L59 77M84 18L72 60M84 18L68 38", "thread"]]],
  "token-ring-short-timeout": [ring(5, 30).map(([x, y], i) => [x, y, i === 0 || i === 2 ? "held"
    : ""]), []],
  "bully-winner-dies": [ring(4, 29).map(([x, y], i) => [x, y, i > 1 ? "gone" : ""]),
    [["M14 43l10 10m0 -10l-10 10M43 72l10 10m0 -10l-10 10", "cross"]]],
  "bully-same-id-replacement": [ring(4, 29).map(([x, y], i) => [x, y, i > 1 ? "held" : ""]),
    [["M48 19V77M77 48H19", "thread"]]],
  "half-empty-table": [[], [["M20 82V60M39 82V44M58 82V66M77 82V20", "bars"],
    ["M10 84H88", "thread"]]],
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
    circles.length ? s("circle", { cx: 48, cy: 48, r: 29, class: "orbit" }) : null,
    paths.filter(([, name]) => name !== "cross").map(([d, name]) => s("path", { d, class: name })),
    circles.map(([cx, cy, name]) => s("circle", { cx, cy, r: name === "held" ? 7.5 : 6,
      class: name })),
    paths.filter(([, name]) => name === "cross").map(([d, name]) => s("path", { d, class: name })));
}

function lessons(catalogue, { t }) {
  if (!catalogue.lessons?.length) return null;
  return h("section", {}, h("h2", {}, t("front.lessons",
    { n: catalogue.lessons.length })),
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
      href: `/lab#v=1&a=${algorithm.id}&n=${algorithm.nodes ?? 5}&at=/0` },
    algorithm.title), " "])) : null;
  });
}
