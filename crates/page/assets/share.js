// The link, the command, the files: a run given to somebody else. And a recording opened.

import { dialog, h } from "./dom.js";
import { LENGTH_MAX, STORY_MAX } from "./address.js";
import { download } from "./server.js";

const FORMATS = [["svg", "svg"], ["mermaid", "mmd"], ["jsonl", "jsonl"]];

export function share(session, context, link) {
  const { t, announce } = context;
  const { run, spec } = session;
  const lacksStory = spec.story?.length > STORY_MAX; // A link without it would be another run.
  const trouble = h("p", { class: "error", role: "status" });
  const copy = (text, name) => h("button", { type: "button", on: { click: async (event) => {
    const { currentTarget } = event;
    try {
      await navigator.clipboard.writeText(text);
      currentTarget.textContent = t("share.copied");
      announce(t("share.copied"));
    } catch (forbidden) {
      document.getElementById(name).select();
    }
  } } }, t("share.copy"));
  const line = (name, label, text) => h("div", { class: "share-line" },
    h("label", { class: "field" }, h("span", {}, label),
      h("input", { id: name, readonly: true, class: "mono", value: text })), copy(text, name));
  const files = FORMATS.map(([format, ending]) => h("button", { type: "button", on: { click: () =>
    download({ ...session.question(), format }, `${spec.algorithm}.${ending}`)
      .catch((error) => { trouble.textContent = error.message; }) } }, t(`share.${format}`)));
  dialog(t("share.title"), t("shell.close"),
    spec.recording || lacksStory ? null : line("share-link", t("share.link"), link),
    lacksStory ? h("p", { class: "small" }, t("share.no-story")) : null,
    link.length > LENGTH_MAX ? h("p", { class: "soft small" }, t("share.too-long")) : null,
    run.answer.command ? line("share-command", t("share.command"), run.answer.command) : null,
    run.answer.command && run.answer.overrun
      ? h("p", { class: "soft small" }, t("share.runs-on")) : null,
    spec.recording ? null : h("div", { class: "row" }, h("span", { class: "soft small" },
      t("share.files")), files), trouble,
    h("p", { class: "soft small" }, t("share.hash", { hash: run.hash })));
}

// Lets somebody choose a recording, of a simulated or a real run.
export function chooseRecording(open) {
  const input = h("input", { type: "file", accept: ".jsonl,.rec" });
  input.addEventListener("change", () => { if (input.files[0]) open(input.files[0]); });
  input.click();
}
