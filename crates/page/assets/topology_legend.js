// What the lines between the nodes mean: only those that are drawn at this moment.

import { h, s } from "./dom.js";

// `looked` is the node whose sets and single nodes are drawn.
export function legend(t, run, moment, looked) {
  const found = new Map();
  const add = (line, name) => {
    if (!found.has(line)) found.set(line, new Set());
    found.get(line).add(name);
  };
  moment.nodes.forEach((node, i) => {
    let sets = 0;
    for (const { kind, name, nodes, node: one, to } of node.facets ?? []) {
      const others = (nodes ?? [one ?? to]).filter((other) => known(other) && other !== i);
      if (kind === "edge" && others.length) add("tree", name);
      if (i !== looked) continue;
      const said = t("lab.legend-of", { node: run.nodes[i].name, what: name });
      if (kind === "set" && others.length) add(sets === 0 ? "quorum" : "quorum within", said);
      if (kind === "set") sets += 1;
      if (kind === "node" && others.length) add("vote", said);
    }
  });
  if ((moment.waits ?? []).some(([a, b]) => a !== b)) add("waits", t("lab.legend-waits"));
  if (moment.cycle?.length) add("waits loop", t("lab.legend-loop"));
  if (moment.cuts.length) add("link cut", t("lab.legend-cut"));
  if (moment.nodes.some(({ timers }) => timers?.length)) add("timer", t("lab.legend-timer"));
  return [...found].map(([line, names]) => h("span", {}, sample(line), [...names].join(", ")));
}

const known = (node) => node !== null && node !== undefined;

function sample(line) {
  const head = ["tree", "vote", "waits", "waits loop"].includes(line) ? "M19 2L25 6L19 10" : "";
  const path = line === "timer" ? "M9 6a5 5 0 1 0 5 -5" : `M2 6H25${head}`;
  return s("svg", { viewBox: "0 0 28 12", "aria-hidden": "true" },
    s("path", { class: line, d: path }));
}
