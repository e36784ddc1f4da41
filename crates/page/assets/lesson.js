// A lesson asks before it shows: the question, the choices, then the run, then whether it was so.

import { fill, h } from "./dom.js";
import { addressOf } from "./front.js";

export class Lesson {
  // `show` plays what a lesson is about.
  constructor(session, context, player, show) {
    Object.assign(this, { session, context, player, show, answered: new Map() });
    this.root = h("section", { class: "lesson sheet", hidden: true });
    // The answer comes when the run has been seen, or was stopped.
    player.onChange = () => {
      if (!this.watching || player.playing) return;
      this.watching = false;
      this.draw(this.catalogue);
    };
  }

  draw(catalogue) {
    const { t } = this.context;
    this.catalogue = catalogue;
    const id = this.session.spec?.lesson;
    const lesson = catalogue?.lessons?.find((other) => String(other.id) === String(id));
    this.root.hidden = !lesson;
    const answer = lesson && this.answered.get(lesson.id);
    // Until it is seen, nothing of the run gives the answer away.
    const asks = Boolean(lesson) && (answer === undefined || Boolean(this.watching));
    this.root.closest(".lab")?.classList.toggle("asks", asks);
    if (!lesson) return;
    const number = catalogue.lessons.indexOf(lesson) + 1;
    fill(this.root,
      h("div", {},
        h("p", { class: "eyebrow" }, t("lesson.number",
          { n: number, of: catalogue.lessons.length })),
        h("h2", {}, lesson.title), lesson.text ? h("p", {}, lesson.text) : null),
      h("div", {}, h("p", { class: "question" }, lesson.question),
        this.watching ? h("p", { class: "soft" }, t("lesson.watch"))
          : answer === undefined ? this.#choices(lesson, catalogue)
            : this.#judged(lesson, answer, catalogue)));
  }

  #choices(lesson, catalogue) {
    const { t } = this.context;
    const take = (answer) => {
      this.answered.set(lesson.id, answer);
      this.watching = true;
      this.draw(catalogue);
      this.show(lesson);
    };
    const options = lesson.options ?? [];
    return h("div", { class: "row" }, options.map((option, k) => h("button", { type: "button",
      on: { click: () => take(k) } }, option)),
    options.length ? null : h("button", { type: "button", class: "primary",
      on: { click: () => take(null) } }, t("lesson.show")));
  }

  // The steps that the answer speaks of: a click goes there.
  #steps({ steps = [] }) {
    const { t } = this.context;
    return steps.length ? h("div", { class: "row lesson-steps" },
      h("span", { class: "soft small" }, t("lesson.steps")), steps.map(([event, text]) =>
        h("button", { type: "button", class: "small", on: { click: () => {
          this.player.go(event);
        } } }, `${event}: ${text}`))) : null;
  }

  #judged(lesson, answer, catalogue) {
    const { t } = this.context;
    const right = answer === lesson.right;
    const next = catalogue.lessons[catalogue.lessons.indexOf(lesson) + 1];
    const scenario = next && catalogue.scenarios.find(({ name }) => name === next.scenario);
    const run = scenario && { ...scenario, ...(scenario.runs?.[next.run ?? 0] ?? {}) };
    const verdict = answer === null ? null : h("p", { class: right ? "right" : "wrong" },
      t(right ? "lesson.right" : "lesson.wrong", { said: lesson.options[answer],
        is: lesson.options[lesson.right] }));
    return [verdict, h("p", {}, lesson.answer), this.#steps(lesson), h("div", { class: "row" },
      h("button", { type: "button", on: { click: () => { this.session.go(0)
        .then(() => this.show(lesson)); } } }, t("lesson.again")),
      next && run?.flags !== null && run?.flags !== undefined ? h("a", { class: "button primary",
        href: addressOf({ ...run, name: scenario.name }, { lesson: next.id }), "data-link": true },
      t("lesson.next")) : null)];
  }
}
