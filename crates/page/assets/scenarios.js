// All scenarios: what happens in each, and a way to watch it.

import { afterCalm, fill, h } from "./dom.js";
import { addressOf } from "./front.js";
import { catalogue, exported } from "./server.js";

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

function show(root, { scenarios, algorithms }, context) {
  const { t } = context;
  const titles = new Map(algorithms.map(({ id, title }) => [id, title]));
  const cards = scenarios.map((scenario) => ({ element: card(scenario, titles, context),
    words: [scenario.name, scenario.title, scenario.text, scenario.algorithm].join(" ")
      .toLowerCase() }));
  const none = h("p", { class: "soft", hidden: true }, t("scenarios.none"));
  const search = h("input", { type: "search", "aria-label": t("scenarios.search"),
    placeholder: t("scenarios.search"), on: { input: afterCalm(120, () => {
      const words = search.value.trim().toLowerCase().split(/\s+/);
      let left = 0;
      for (const { element, words: text } of cards) {
        element.hidden = !words.every((word) => text.includes(word));
        left += element.hidden ? 0 : 1;
      }
      none.hidden = left > 0;
    }) } });
  fill(root, h("div", { class: "page" }, h("h1", {}, t("shell.scenarios")),
    h("p", { class: "lead" }, t("scenarios.lead")), h("div", { class: "row filters" }, search),
    h("ul", { class: "cards" }, cards.map(({ element }) => element)), none));
}

function card(scenario, titles, { t }) {
  const runs = scenario.runs?.length ? scenario.runs : scenario.flags !== null
    && scenario.flags !== undefined ? [scenario] : [];
  return h("li", { class: "card sheet", id: scenario.name },
    h("h2", {}, scenario.title),
    h("p", { class: "soft small" }, titles.get(scenario.algorithm) ?? scenario.algorithm),
    h("p", {}, scenario.text), runs.length ? picture(scenario, runs[0], t) : null,
    h("div", { class: "row card-foot" }, runs.map((run, k) => h("a", { class: "button small",
      href: addressOf({ ...scenario, ...run, name: scenario.name }), "data-link": true,
      "aria-label": `${t("scenarios.play")}: ${scenario.title}${runs.length > 1
        ? `, ${run.title ?? k + 1}` : ""}` },
    runs.length > 1 ? run.title ?? String(k + 1) : t("scenarios.play")))));
}

// The space-time diagram of the first run, as the command line would write it; fetched when opened.
function picture(scenario, run, t) {
  const box = h("div", { class: "scenario-picture" });
  const details = h("details", { on: { toggle: async () => {
    if (!details.open || box.firstChild) return;
    fill(box, h("p", { class: "soft" }, t("shell.loading")));
    try {
      const { algorithm, flags } = { ...scenario, ...run };
      const file = await exported({ algorithm, flags, edits: [], story: null, format: "svg" });
      const address = URL.createObjectURL(file);
      fill(box, h("img", { src: address, alt: t("scenarios.picture-of", { title: scenario.title }),
        on: { load: () => URL.revokeObjectURL(address) } }));
    } catch (error) {
      fill(box, h("p", { class: "error" }, error.message));
    }
  } } }, h("summary", {}, t("scenarios.picture")), box);
  return details;
}
