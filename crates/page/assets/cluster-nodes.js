// The nodes: what each is and knows, and what can be done to its process.

import { h } from "./dom.js";
import { number, t } from "./i18n.js";
import { send } from "./cluster-ask.js";
import { keyed, setAttribute, setText } from "./cluster-dom.js";
import { duration } from "./cluster-words.js";

// Each button is one of two: what can be done, and what undoes it.
const BUTTONS = [["kill", "restart"], ["pause", "resume"], ["isolate", "heal"]];

export function nodesPanel(model, withToken, after) {
  const list = h("ul", { class: "nodes" });
  const make = (node) => card(node, model, withToken, after);
  const element = h("section", { class: "cluster-nodes", "aria-labelledby": "nodes-title" },
    h("h2", { id: "nodes-title", data: { t: "cluster.nodes" } }, t("cluster.nodes")), list);
  const paint = () => keyed(list, model.nodes, (node) => node.id, make,
    (item, node) => item.change(node));
  return { element, paint };
}

function card(node, model, withToken, after) {
  const title = h("h3");
  const badge = h("span", { class: "badge" });
  const state = h("p", { class: "node-state" });
  const facts = ["term", "applied", "lag", "uptime"].map((fact) => {
    const value = h("dd");
    const label = h("dt");
    return { fact, label, value, row: h("div", {}, label, value) };
  });
  const links = h("ul", { class: "links" });
  const buttons = BUTTONS.map((pair) => {
    const element = h("button", { type: "button", class: "small" });
    element.addEventListener("click", () => act(element, element.dataset.action));
    return { pair, element };
  });
  const problem = h("p", { class: "error small", role: "alert" });
  const item = h("li", { class: "sheet node" },
    h("div", { class: "node-head" }, title, badge), state,
    h("dl", {}, facts.map(({ row }) => row)),
    links,
    model.up ? h("div", { class: "row node-buttons" }, buttons.map(({ element }) => element)) : null,
    problem);

  async function act(button, action) {
    setText(problem, "");
    if (!await withToken()) return;
    button.setAttribute("aria-busy", "true");
    try {
      await send("POST", `/up/nodes/${node.id}/${action}`);
    } catch (error) {
      setText(problem, error.message);
    }
    button.removeAttribute("aria-busy");
    after();
  }

  item.change = (now) => {
    setText(title, t("cluster.node", { node: now.id }));
    setAttribute(item, "data-state", now.state);
    setAttribute(item, "data-leads", now.role === "leader" && !now.stale);
    setAttribute(item, "data-stale", now.stale);
    const role = now.answers && now.role ? t(`cluster.role.${now.role}`) : t(`cluster.state.${now.state}`);
    setText(badge, role);
    setText(state, stateWords(now));
    for (const { fact, label, value, row } of facts) {
      setText(label, t(`cluster.fact.${fact}`));
      const shown = now[fact] === undefined || now[fact] === null ? null
        : fact === "uptime" ? duration(now[fact]) : number(now[fact]);
      setText(value, shown ?? "");
      row.hidden = shown === null;
    }
    paintLinks(links, now);
    for (const { pair, element } of buttons) paintButton(element, pair, now);
  };
  return item;
}

// One line that says how it is.
function stateWords(node) {
  const words = [];
  if (node.state !== "running") words.push(t(`cluster.state-words.${node.state}`));
  else if (!node.answers) words.push(t("cluster.state-words.silent"));
  else if (!node.ready) words.push(t("cluster.state-words.unready"));
  if (node.stale && node.heard_ms > 0) {
    words.push(t("cluster.heard", { time: duration(node.heard_ms) }));
  }
  if (node.suspectedBy.length) {
    words.push(t("cluster.suspected-by", { nodes: node.suspectedBy.join(", ") }));
  }
  return words.join(" ") || t("cluster.state-words.well");
}

// Which others it reaches.
function paintLinks(list, node) {
  const others = node.sees.filter((other) => other.state !== "self");
  list.hidden = others.length === 0;
  setAttribute(list, "aria-label", t("cluster.reaches", { node: node.id }));
  keyed(list, others, (other) => other.id, () => h("li"), (item, other) => {
    setText(item, String(other.id));
    setAttribute(item, "data-link", other.state);
    const words = t(`cluster.link.${other.state}`, { node: other.id });
    setAttribute(item, "title", words);
    setAttribute(item, "aria-label", words);
  });
}

function paintButton(button, [does, undoes], node) {
  const gone = node.state === "killed" || node.state === "stopped";
  const action = does === "kill" ? (gone ? "restart" : "kill")
    : node.can.includes(undoes) ? undoes : does;
  button.dataset.action = action;
  setText(button, t(`cluster.action.${action}`));
  setAttribute(button, "aria-label", t(`cluster.action-on.${action}`, { node: node.id }));
  setAttribute(button, "title", t(`cluster.action-what.${action}`));
  setAttribute(button, "class", action === "kill" ? "small danger" : "small");
  button.disabled = !node.can.includes(action);
}
