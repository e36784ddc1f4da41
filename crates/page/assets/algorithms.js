// A card for each algorithm of the catalogue: idea, promises, cost, paper, and the way into the
// lab.

import { fill, h } from "./dom.js";
import { catalogue } from "./server.js";

const FAMILIES = ["mutex", "election", "detector", "clock"];

export async function mount(root, context) {
  const draw = async () => {
    try {
      show(root, await catalogue(), context);
    } catch (error) {
      fill(root, h("p", { class: "waiting error" }, error.message));
    }
  };
  context.onLanguage(draw);
  await draw();
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

function show(root, { algorithms }, context) {
  const { t } = context;
  fill(root, h("div", { class: "page" }, h("h1", {}, t("shell.algorithms")),
    h("p", { class: "lead" }, t("algorithms.lead")),
    FAMILIES.map((family) => {
      const members = algorithms.filter((algorithm) => algorithm.family === family);
      return members.length ? h("section", {}, h("h2", { class: "section" }, t(`family.${family}`)),
        h("ul", { class: "cards" }, members.map((algorithm) => card(algorithm, context)))) : null;
    })));
}

function card(algorithm, { t }) {
  const { id, title, idea, has = [], lacks, cost } = algorithm;
  const missing = Array.isArray(lacks) ? lacks.map((what) => [what, ""])
    : Object.entries(lacks ?? {});
  return h("li", { class: "card sheet", id },
    h("h3", {}, title), h("p", {}, idea),
    h("p", { class: "tags" }, has.map((tag) => [h("span", { class: "tag" }, tag), " "])),
    cost ? h("p", { class: "small" }, h("span", { class: "soft" }, `${t("algorithms.cost")}: `),
      typeof cost === "string" ? cost : cost.heavy ?? cost.light ?? "") : null,
    h("details", {}, h("summary", {}, t("algorithms.more")), inFull(algorithm, missing, t)),
    h("div", { class: "row card-foot" }, h("a", { class: "button small", "data-link": true,
      href: `/lab#v=1&a=${id}&n=5&at=/0`, "aria-label": `${t("algorithms.open")}: ${title}` },
    t("algorithms.open"))));
}

function inFull({ source, assumptions = [], messages = [], parameters = [] }, missing, t) {
  const list = (key, rows) => (rows.length
    ? [h("dt", {}, t(key)), rows.map((row) => h("dd", {}, row))] : null);
  return h("dl", { class: "in-full" },
    list("algorithms.assumes", assumptions.map(({ id, text }) => [
      h("span", { class: "tag" }, id), " ", text])),
    list("algorithms.messages", messages.map((message) => [h("code", {}, message.name), " ",
      [message.from_to, message.when].filter(Boolean).join("; ")])),
    list("algorithms.lacks", missing.map(([what, why]) => [h("span", { class: "tag" }, what), " ",
      why])),
    list("algorithms.parameters", parameters.map((parameter) => [h("code", {},
      `--set ${parameter.name}=${parameter.accepted}`), " ", parameter.about])),
    list("algorithms.source", source ? [[source]] : []));
}
