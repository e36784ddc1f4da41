// Questions about a run that wait for their turn: one is under way at a time, and of those that are
// about the same thing only the latest is asked. So however fast one plays or scrolls, the server
// has one question to answer.

// What is looked at comes before what may be looked at next.
const ORDER = ["cursor", "view", "beside", "find", "all", "ahead"];

export class Questions {
  constructor(ask) {
    Object.assign(this, { ask, waiting: new Map(), busy: false });
  }

  // Resolves when it was asked, or when another about the same thing took its place.
  put(about, question) {
    this.waiting.get(about)?.done();
    return new Promise((done) => {
      this.waiting.set(about, { question, done });
      this.#work();
    });
  }

  clear() {
    for (const { done } of this.waiting.values()) done();
    this.waiting.clear();
  }

  async #work() {
    if (this.busy) return;
    this.busy = true;
    for (let about = this.#next(); about; about = this.#next()) {
      const { question, done } = this.waiting.get(about);
      this.waiting.delete(about);
      try {
        await this.ask(question, about === "ahead");
      } finally {
        done();
      }
    }
    this.busy = false;
  }

  #next() {
    return ORDER.find((about) => this.waiting.has(about));
  }
}
