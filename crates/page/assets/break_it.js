// "Break it": asks the checker for the shortest violation under chosen assumptions, shows how far
// it has come, can be stopped, and plays the story that was found.

import { dialog, fill, h } from "./dom.js";
import { writeFlags } from "./flags.js";
import { lines } from "./server.js";

export function breakIt(session, algorithm, context, play) {
  const { t } = context;
  const { spec } = session;
  if (algorithm?.checkable === false) {
    dialog(t("break.title"), t("shell.close"), h("p", {}, t("break.not-checkable")));
    return;
  }
  const without = new Set();
  const nodes = h("input", { type: "number", min: 2, max: 6, class: "short",
    placeholder: t("break.few") });
  const seconds = h("input", { type: "number", min: 1, max: 60, class: "short", value: 20 });
  const assumptions = (algorithm?.assumptions ?? []).filter(({ checkable }) => checkable !== false);
  const switches = assumptions.map((assumption) => h("label", { class: "choice" },
    h("input", { type: "checkbox", on: { change: (event) => {
      if (event.target.checked) without.add(assumption.id);
      else without.delete(assumption.id);
    } } }), h("span", { class: "tag" }, assumption.id), h("span", {}, assumption.text)));
  const again = h("input", { type: "checkbox" });
  const asks = algorithm?.family === "mutex" ? h("label", { class: "choice asks-again" }, again,
    h("span", {}, t("break.again"))) : null;
  const result = h("div", { class: "search-result", role: "status", "aria-live": "polite" });
  const start = h("button", { type: "button", class: "primary" }, t("break.start"));
  const stop = h("button", { type: "button", hidden: true }, t("break.stop"));
  const box = dialog(t("break.title"), t("shell.close"),
    h("p", {}, t("break.lead", { algorithm: algorithm?.title ?? spec.algorithm })),
    switches.length ? h("fieldset", { class: "choices" }, h("legend", {}, t("break.without")),
      switches) : null,
    asks,
    h("div", { class: "row" },
      h("label", { class: "field" }, h("span", {}, t("setup.nodes")), nodes),
      h("label", { class: "field" }, h("span", {}, t("break.seconds")), seconds)),
    h("div", { class: "row buttons" }, start, stop), result);

  let search = null;
  const done = () => { search = null; start.hidden = false; stop.hidden = true; };
  box.addEventListener("close", () => search?.abort());
  stop.addEventListener("click", () => {
    search?.abort();
    fill(result, h("p", {}, t("break.stopped")));
    done();
  });
  start.addEventListener("click", async () => {
    search = new AbortController();
    start.hidden = true;
    stop.hidden = false;
    stop.focus();
    fill(result, h("progress"), h("p", { class: "soft" }, t("break.searching")));
    const kept = spec.flags.filter(([name]) => name === "set");
    const question = { algorithm: algorithm?.id ?? spec.algorithm, without: [...without],
      flags: writeFlags(nodes.value ? [["nodes", nodes.value], ...kept] : kept),
      again: again.checked, seconds: Number(seconds.value) };
    try {
      for await (const line of lines("/lab/check", question, search.signal)) {
        told(result, line, context, () => {
          box.close();
          play(question, line.found);
        });
      }
    } catch (error) {
      if (error.name !== "AbortError") fill(result, h("p", { class: "error" }, error.message));
    }
    done();
  });
}

function told(result, line, { t, number }, play) {
  if (line.progress) {
    const text = t("break.progress", { states: number(line.progress.states),
      depth: number(line.progress.depth) });
    const shown = result.querySelector("p");
    if (shown) shown.textContent = text;
  } else if (line.found) {
    const { property, what, steps, loop_from: loop } = line.found;
    const button = h("button", { type: "button", class: "primary", on: { click: play } },
      t("break.play"));
    fill(result, h("p", { class: "found" }, t(loop === null || loop === undefined ? "break.found"
      : "break.found-loop", { property, steps, loop })), h("p", {}, what), button);
    button.focus();
  } else if (line.holds) {
    fill(result, h("p", { class: "holds" }, t("break.holds",
      { states: number(line.holds.states) })), h("p", { class: "soft" }, line.holds.bounds),
    h("p", {}, t("break.more")));
  } else if (line.unknown) {
    fill(result, h("p", {}, t("break.unknown", { states: number(line.unknown.states) })),
      h("p", { class: "soft" }, `${line.unknown.why}: ${line.unknown.bounds}`));
  } else if (line.error) {
    fill(result, h("p", { class: "error" }, line.error));
  }
}
