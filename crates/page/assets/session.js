// What is open in the lab: the run's settings, its branches, the cursor, the selection. Views
// listen: "run" (another run or branch), "cursor", "moment" (the state at the cursor has come),
// "window" (more events have come), "selection", "beside", "trouble", "busy".
//
// A branch is a value: a parent, the event after which it leaves, one edit. The server runs it from
// the beginning whenever it is asked, so nothing is ever discarded.

import { ask, askRecording } from "./server.js";
import { writeFlags } from "./flags.js";
import { Questions } from "./questions.js";
import { Run } from "./run.js";

const WINDOW = 240;
// So many states come with the one at the cursor, and are asked for before they are all shown.
const AHEAD = 24;
// The server tells no more at once.
const WINDOW_MAX = 2000;

export class Session extends EventTarget {
  constructor(signal) {
    super();
    this.signal = signal;
    this.questions = new Questions((question, quiet) => this.#fetch(question, quiet));
    this.#clear();
  }

  #clear() {
    this.spec = null;
    this.branches = [];
    this.branch = "";
    this.cursor = 0;
    this.selection = null;
    this.beside = false;
    this.runs = new Map();
    this.gathered = null;
    this.questions.clear();
  }

  get run() {
    return this.runs.get(this.branch);
  }

  // The state at the cursor, or the last that has come.
  get moment() {
    const moment = this.run?.moments.get(this.cursor);
    if (moment) this.lastMoment = moment;
    return moment ?? (this.lastMoment && this.run ? this.lastMoment : null);
  }

  get event() {
    return this.run?.full.get(this.cursor);
  }

  // Opens a run, all of its branches, at a cursor.
  async open({ spec, branches = [], branch = "", cursor = 0, selection = null, beside = false }) {
    const before = { ...this };
    this.#clear();
    Object.assign(this, { spec, branches, cursor, selection, beside, lastMoment: null });
    this.branch = branches.some(({ name }) => name === branch) ? branch : "";
    const opened = await this.#load(this.branch, cursor);
    if (!opened) {
      // Somebody may have opened yet another run in the meantime: that one stays.
      if (this.spec !== spec) return false;
      if (before.spec && before.runs.size) Object.assign(this, before, { asking: this.asking });
      this.#tell("run");
      return false;
    }
    this.cursor = Math.min(cursor, this.run.events);
    this.#tell("run");
    for (const { name } of [{ name: "" }, ...branches]) {
      if (!this.runs.has(name)) await this.#load(name, 0);
    }
    if (branches.length) this.#tell("run");
    return true;
  }

  close() {
    this.#clear();
    this.#tell("run");
  }

  // The same questions again, for another language.
  async again() {
    if (!this.spec) return;
    const { spec, branches, branch, cursor, selection, beside } = this;
    await this.open({ spec, branches, branch, cursor, selection, beside });
  }

  // The edits of a branch, from the root.
  editsOf(name) {
    const branch = this.branches.find((other) => other.name === name);
    return branch ? [...this.editsOf(branch.parent), branch.edit] : [];
  }

  question(name = this.branch) {
    if (this.spec.recording) return {};
    return { algorithm: this.spec.algorithm, flags: writeFlags(this.spec.flags),
      edits: this.editsOf(name), story: this.spec.story ?? null };
  }

  async #load(name, cursor) {
    const from = Math.max(0, cursor - WINDOW / 2);
    this.#wait(1);
    const answer = await this.#ask({ ...this.question(name), window: [from, from + WINDOW],
      at: cursor, ahead: AHEAD });
    this.#wait(-1);
    if (answer) this.runs.set(name, new Run(answer));
    return Boolean(answer);
  }

  // How many answers somebody waits for.
  #wait(more) {
    this.asking = (this.asking ?? 0) + more;
    this.#tell("busy", this.asking > 0);
  }

  // `quiet` is what nobody waits for.
  async #ask(question, quiet = false) {
    const { spec } = this;
    try {
      const answer = spec.recording ? await askRecording(spec.recording, question, this.signal)
        : await ask("/lab/run", question, this.signal);
      return spec === this.spec ? answer : null;
    } catch (error) {
      if (error.name !== "AbortError" && !quiet) this.#tell("trouble", error.message);
      return null;
    }
  }

  async go(cursor) {
    if (!this.run) return;
    const next = Math.max(0, Math.min(cursor, this.run.events));
    if (next === this.cursor && this.run.moments.has(next)) return;
    const back = next === this.cursor - 1;
    this.cursor = next;
    this.#tell("cursor");
    if (this.run.moments.has(next) && this.run.has(next, next)) this.#tell("moment");
    else await this.need(next, next, { at: back ? Math.max(0, next - AHEAD) : next });
    this.#lookAhead(back);
  }

  // The next steps are asked for before anybody takes them.
  #lookAhead(back) {
    const { run, cursor } = this;
    if (!run) return;
    const step = back ? -1 : 1;
    let known = cursor;
    while (run.moments.has(known) && run.has(known, known)) known += step;
    if (known < 0 || known > run.events || Math.abs(known - cursor) > AHEAD / 2) return;
    this.need(known, known, { at: back ? Math.max(0, known - AHEAD) : known, about: "ahead" });
  }

  // Whether the state at the cursor is here; asks for it where it is not.
  async ready() {
    await this.need(this.cursor, this.cursor, { at: this.cursor });
    return Boolean(this.run?.moments.has(this.cursor));
  }

  // Sees to it that events from..to are here in full, and the states after `at` and those that
  // follow it.
  async need(from, to, { at = null, name = this.branch, about = "cursor" } = {}) {
    const waits = about === "ahead" ? 0 : 1;
    this.#wait(waits);
    await this.questions.put(about, { from, to, at, name });
    this.#wait(-waits);
  }

  async #fetch({ from, to, at, name }, quiet) {
    const run = this.runs.get(name);
    if (!run) return;
    const whole = run.has(from, to);
    const known = at === null || (run.moments.has(at) && run.moments.has(Math.max(at, to)));
    const looked = !quiet && at !== null && name === this.branch;
    if (whole && known) {
      if (looked) this.#tell("moment");
      return;
    }
    const [low, high] = whole ? [0, 0] : around(run, from, to);
    const only = [whole ? null : "list", known ? null : "moment"].filter(Boolean);
    const answer = await this.#ask({ ...this.question(name), window: [low, high], at: at ?? 0,
      ahead: AHEAD, only }, quiet);
    if (!answer || this.runs.get(name) !== run) return;
    run.add(answer);
    if (!whole) this.#tell("window");
    if (looked && run.moments.has(this.cursor)) this.#tell("moment");
  }

  // While one scrolls.
  needSoon(from, to, name = this.branch) {
    return this.need(from, to, { name, about: name === this.branch ? "view" : "beside" });
  }

  // All of two runs, window by window, unless others are wanted meanwhile.
  async needAll(...names) {
    const gathered = names.join("/");
    if (this.gathered === gathered) return;
    this.gathered = gathered;
    for (const name of names) {
      const run = this.runs.get(name);
      for (let from = 1; run && from <= run.events; from += WINDOW_MAX) {
        if (this.gathered !== gathered) return;
        const to = Math.min(from + WINDOW_MAX - 1, run.events);
        await this.need(from, to, { name, about: "all" });
      }
    }
    this.gathered = null;
  }

  // Opens a branch at the cursor; the run it leaves stays as it is.
  async whatIf(edit) {
    const same = this.branches.find((branch) => branch.edit === edit
      && branch.parent === this.branch);
    if (same) return this.choose(same.name);
    const name = this.#freeName();
    this.branches.push({ name, parent: this.branch, step: this.cursor, edit });
    if (await this.#load(name, this.cursor)) return this.choose(name);
    this.branches.pop();
    return false;
  }

  choose(name) {
    if (!this.runs.has(name)) return false;
    this.branch = name;
    this.cursor = Math.min(this.cursor, this.run.events);
    this.lastMoment = null;
    this.#tell("run");
    this.need(this.cursor, this.cursor, { at: this.cursor });
    return true;
  }

  // Those that leave from a branch.
  leaving(name) {
    return this.branches.filter(({ parent }) => parent === name).map((branch) => branch.name);
  }

  // Takes back a branch from which no other leaves.
  remove(name) {
    const gone = this.branches.find((branch) => branch.name === name);
    if (!gone || this.leaving(name).length) return;
    this.branches = this.branches.filter((branch) => branch !== gone);
    this.runs.delete(name);
    if (this.branch === name) this.choose(gone.parent);
    else this.#tell("run");
  }

  // A branch with what it leaves below it, or alone.
  showBeside(beside) {
    this.beside = beside;
    this.#tell("beside");
  }

  select(selection) {
    const same = this.selection && selection && this.selection.kind === selection.kind
      && this.selection.id === selection.id;
    this.selection = same ? null : selection;
    this.#tell("selection");
  }

  #freeName() {
    for (let number = 0; ; number += 1) {
      const letter = String.fromCharCode(65 + (number % 26));
      const name = letter + (number < 26 ? "" : Math.floor(number / 26));
      if (!this.branches.some((branch) => branch.name === name)) return name;
    }
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

// A stretch of events to ask for, a full window where the run has that many.
function around(run, from, to) {
  const spare = Math.max(0, WINDOW - (to - from + 1));
  const low = Math.max(0, from - 1 - Math.floor(spare / 2));
  return [low, Math.min(run.events, Math.max(to, low + WINDOW))];
}
