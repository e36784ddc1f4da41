// The settings of a run as fields: algorithm, size, workload, latency, seed; the parameters of the
// algorithm, such as its topology; a switch for each assumption that it states; and whatever else
// `conclave sim` takes, as its flags.

import { afterCalm, fill, h } from "./dom.js";
import { includesAll, parameterOf, parseFlags, valueOf, withFlag, withoutAll, withParameter,
  writeFlags } from "./flags.js";

const LATENCIES = ["unit", "uniform:1..20", "exp:2", "const:5"];
const WORKLOADS = ["all-at-once", "single:1", "closed:10", "poisson:0.05"];
const FIELDS = ["nodes", "seed", "latency", "workload"];
// What an algorithm's parameter takes beside words: anything of that kind.
const KINDS = ["TIME", "NUMBER", "FILE"];
const FAMILIES = ["mutex", "election", "detector", "clock"];

export class Setup {
  // `change(spec)` opens another run.
  constructor(session, context, change) {
    Object.assign(this, { session, context, change, catalogue: null });
    this.fields = h("div", { class: "setup-fields" });
    this.switches = h("div", { class: "assumptions", role: "group" });
  }

  draw(catalogue) {
    this.catalogue = catalogue ?? this.catalogue;
    const { spec } = this.session;
    if (!spec || !this.catalogue || spec.recording) {
      fill(this.fields);
      fill(this.switches);
      return;
    }
    this.#fields(spec);
    this.#switches(spec);
  }

  get algorithm() {
    return this.catalogue?.algorithms.find(({ id }) => id === this.session.spec?.algorithm);
  }

  // Another run: the branches belong to the old one, and so does the scenario's name.
  #set(flags, algorithm = this.session.spec.algorithm) {
    this.change({ algorithm, flags, story: null, scenario: null });
  }

  #fields(spec) {
    const { t } = this.context;
    const set = (name) => (event) =>
      this.#set(withFlag(spec.flags, name, event.target.value.trim()));
    const field = (label, input) => h("label", { class: "field" }, h("span", {}, label), input);
    const parameters = this.algorithm?.parameters ?? [];
    const hasField = ([name, value]) => FIELDS.includes(name)
      || parameters.some((parameter) => name === "set" && value.startsWith(`${parameter.name}=`));
    const rest = spec.flags.filter((flag) => !hasField(flag));
    const families = FAMILIES.map((family) => h("optgroup", { label: t(`family.${family}`) },
      this.catalogue.algorithms.filter((algorithm) => algorithm.family === family)
        .map((algorithm) => h("option", { value: algorithm.id }, algorithm.title))));
    const choice = h("select", { on: { change: () => this.#another(choice.value) } }, families);
    choice.value = spec.algorithm;
    fill(this.fields, field(t("setup.algorithm"), choice),
      field(t("setup.nodes"), h("input", { type: "number", min: 1, max: 64, value:
        valueOf(spec.flags, "nodes") ?? "7", class: "short", on: { change: set("nodes") } })),
      field(t("setup.workload"), this.#suggest("workload", WORKLOADS, spec, set)),
      field(t("setup.latency"), this.#suggest("latency", LATENCIES, spec, set)),
      field(t("setup.seed"), h("input", { type: "number", min: 0, value:
        valueOf(spec.flags, "seed") ?? "1", class: "short", on: { change: set("seed") } })),
      h("button", { type: "button", on: { click: () => this.#set(withFlag(spec.flags, "seed",
        String(1 + Number(valueOf(spec.flags, "seed") ?? "1")))) } }, t("setup.next-seed")),
      parameters.map((parameter) => this.#parameter(parameter, spec)),
      h("label", { class: "field wide" }, h("span", {}, t("setup.flags")),
        h("input", { class: "mono", spellcheck: "false", autocomplete: "off",
          value: writeFlags(rest), on: { change: (event) => this.#set([
            ...spec.flags.filter(hasField),
            ...parseFlags(event.target.value)]) } })));
  }

  #suggest(name, values, spec, set) {
    return suggesting(name, values, valueOf(spec.flags, name) ?? values[0], set(name));
  }

  // A choice of words, or a field where other values are possible, too. There are no files here.
  #parameter({ name, accepted, default: usual, about }, spec) {
    const value = parameterOf(spec.flags, name) ?? usual;
    const all = accepted.split("|");
    const words = all.filter((word) => !KINDS.includes(word));
    const change = (event) => this.#set(withParameter(spec.flags, name,
      event.target.value.trim() === usual ? "" : event.target.value.trim()));
    const open = all.some((word) => word === "TIME" || word === "NUMBER");
    const choice = open ? suggesting(`set-${name}`, words, value, change)
      : h("select", { on: { change } }, words.map((word) => h("option",
        { value: word, selected: word === value }, word)));
    return h("label", { class: "field", title: about }, h("span", { class: "mono" }, name), choice);
  }

  // Another algorithm keeps only what all have.
  #another(id) {
    const { flags } = this.session.spec;
    this.#set(flags.filter(([name]) => ["nodes", "seed", "latency"].includes(name)), id);
  }

  #switches(spec) {
    const { t } = this.context;
    this.switches.setAttribute("aria-label", t("setup.assumptions"));
    const known = (this.algorithm?.assumptions ?? []).filter(({ without }) => without);
    const heading = h("span", { class: "soft small" }, t("setup.assumes"));
    fill(this.switches, known.length ? heading : null,
      known.map((assumption) => {
        const breaking = parseFlags(assumption.without);
        const off = includesAll(spec.flags, breaking);
        // Whatever shares a flag with it is kept again with it: half of it would show nowhere.
        const shared = known.map(({ without }) => parseFlags(without)).filter((flags) =>
          includesAll(spec.flags, flags) && withoutAll(flags, breaking).length < flags.length);
        return h("label", { class: `switch${off ? " off" : ""}`, title: assumption.without },
          h("input", { type: "checkbox", role: "switch", checked: !off, on: { change: afterCalm(0,
            () => this.#set(off ? withoutAll(spec.flags, shared.flat())
              : [...spec.flags, ...breaking])) } }),
          h("span", { class: "tag" }, assumption.id), h("span", {}, assumption.text));
      }));
  }
}

function suggesting(name, values, value, change) {
  const list = `suggest-${name}`;
  return h("span", {}, h("input", { list, class: "middling", value, on: { change } }),
    h("datalist", { id: list }, values.map((word) => h("option", { value: word }))));
}
