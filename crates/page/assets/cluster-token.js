// Who asks: the token that `conclave up` shows, or that of a node's admin token file.

import { keepToken, token } from "./cluster-ask.js";
import { dialog, h } from "./dom.js";
import { t } from "./i18n.js";

// Asks for the token once; whether there is one now.
export function withToken() {
  if (token()) return Promise.resolve(true);
  return new Promise((resolve) => {
    const field = h("input", { type: "password", autocomplete: "off", required: true });
    const form = h("form", { class: "force", on: { submit: (event) => {
      event.preventDefault();
      keepToken(field.value.trim());
      box.close();
    } } },
    h("p", {}, t("cluster.token.what")),
    h("label", { class: "field" }, h("span", {}, t("cluster.token")), field),
    h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, t("cluster.token.use"))));
    const box = dialog(t("cluster.token"), t("shell.close"), form);
    box.addEventListener("close", () => resolve(Boolean(token())));
    field.focus();
  });
}
