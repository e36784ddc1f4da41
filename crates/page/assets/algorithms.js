// A card for each algorithm of the catalogue: idea, promises, cost, paper, and the way into the
// lab.

import { fill, h } from "./dom.js";
import { catalogue } from "./server.js";

const FAMILIES = ["mutex", "election", "detector", "clock"];

export async function mount(root, context) {
  const draw = async () => {
    try {
      show(root, await catalogue(), context);
      point();
    } catch (error) {
      fill(root, h("p", { class: "waiting error" }, error.message));
    }
  };
  context.onLanguage(draw);
  addEventListener("hashchange", point, { signal: context.signal });
  await draw();
}

// To what the address names: a card, or a rule on it, `#maekawa.R3`.
function point() {
  const name = decodeURIComponent(location.hash.slice(1));
  const rule = document.getElementById(name);
  const card = (rule ?? document.getElementById(name.split(".")[0]))?.closest(".card");
  document.querySelector(".pointed")?.classList.remove("pointed");
  if (!card) return;
  if (name.includes(".")) card.querySelector("details").open = true;
  (rule ?? card).classList.add("pointed");
  (rule ?? card).scrollIntoView({ block: rule === card ? "start" : "center" });
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
  const { id, title, idea, has, cost } = algorithm;
  return h("li", { class: "card sheet", id },
    h("h3", {}, title), h("p", {}, idea),
    h("p", { class: "tags" }, has.map(({ property, text }) => [h("span", { class: "tag",
      title: text }, property), " "])),
    cost.length ? h("p", { class: "small" }, h("span", { class: "soft" },
      `${t("algorithms.cost")}: `), cost.at(0).formula) : null,
    h("details", {}, h("summary", {}, t("algorithms.more")), inFull(algorithm, t)),
    h("div", { class: "row card-foot" }, h("a", { class: "button small", "data-link": true,
      href: `/lab#v=1&a=${id}&n=${algorithm.nodes ?? 5}&at=/0`,
      "aria-label": `${t("algorithms.open")}: ${title}` },
    t("algorithms.open"))));
}

const promise = ({ property, text }) => [h("span", { class: "tag" }, property), " ", text];

function inFull({ id: card, source, assumptions, messages, rules, has, lacks, parameters }, t) {
  const list = (key, rows) => (rows.length
    ? [h("dt", {}, t(key)), rows.map((row) => h("dd", {}, row))] : null);
  // What reasons point to: a number, what it says, and in which language if not in the reader's.
  const numbered = (key, rows) => (rows.length ? [h("dt", {}, t(key)), rows.map((row) =>
    h("dd", { id: row.anchor, class: "numbered" }, h("span", { class: "tag" }, row.id), " ",
      h("span", { lang: row.lang ?? null }, row.text),
      row.lang ? h("span", { class: "soft" }, ` (${t("algorithms.in-english")})`) : null))] : null);
  return h("dl", { class: "in-full" },
    numbered("algorithms.rules", rules),
    numbered("algorithms.assumes", assumptions.map(({ id, text }) => ({ id, text,
      anchor: `${card}.${id}` }))),
    list("algorithms.messages", messages.map((message) => [h("code", {}, message.name), " ",
      [message.from_to.replace(", ", " → "), message.when].filter(Boolean).join(": ")])),
    list("algorithms.has", has.map(promise)), list("algorithms.lacks", lacks.map(promise)),
    list("algorithms.parameters", parameters.map((parameter) => [h("code", {},
      `--set ${parameter.name}=${parameter.accepted}`), " ", parameter.about])),
    list("algorithms.source", source ? [[source]] : []));
}
