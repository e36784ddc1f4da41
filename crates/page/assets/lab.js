// The lab: front screen or a run with its pictures, one cursor through all of them, and the address
// that holds everything.

import { parseAddress, sameHash, writeAddress } from "./address.js";
import { breakIt } from "./break_it.js";
import { withToken } from "./cluster-token.js";
import { fill, h } from "./dom.js";
import { parseFlags } from "./flags.js";
import { front } from "./front.js";
import { listen } from "./keys.js";
import { keyActions } from "./lab_keys.js";
import { Stage } from "./lab_stage.js";
import { Session } from "./session.js";
import { chooseRecording, share } from "./share.js";
import { catalogue, recordingOfCluster } from "./server.js";

// Browsers refuse more than 100 to 200 changes of the address in 10 s.
const ADDRESS_PAUSE = 350;

export function mount(root, context) {
  const lab = new Lab(root, context);
  lab.start();
}

class Lab {
  constructor(root, context) {
    Object.assign(this, { root, context, written: null, writing: 0 });
    this.session = new Session(context.signal);
    this.stage = new Stage(this.session, context, {
      change: (spec) => this.open({ spec }),
      breakIt: () => this.breakIt(),
      share: () => this.session.run && share(this.session, context, location.origin + "/lab" + this.address()),
      load: () => chooseRecording((file) => this.open({ spec: { algorithm: "", flags: [],
        recording: file, title: file.name } })),
    });
  }

  async start() {
    const { context, session } = this;
    fill(this.root, h("p", { class: "waiting" }, context.t("shell.loading")));
    addEventListener("hashchange", () => this.route(), { signal: context.signal });
    for (const type of ["cursor", "run", "selection", "beside"]) {
      session.addEventListener(type, () => this.writeSoon());
    }
    context.signal.addEventListener("abort", () => clearTimeout(this.writing));
    context.onLanguage(() => this.relabel());
    listen(context, keyActions(this.stage, context));
    await this.route();
  }

  async learn() {
    try {
      this.catalogue = await catalogue(true);
      this.stage.setCatalogue(this.catalogue);
      return true;
    } catch (error) {
      fill(this.root, h("p", { class: "waiting error" }, error.message));
      return false;
    }
  }

  async route() {
    if (location.hash && location.hash === this.written) return;
    const address = parseAddress(location.hash);
    const live = new URLSearchParams(location.hash.slice(1));
    this.stage.player.pause();
    if (!await this.learn()) return;
    if (live.get("recording") === "up") {
      await this.openLive(live.get("lock"));
      return;
    }
    if (!address) {
      this.session.close();
      this.written = null;
      front(this.root, this.catalogue, this.context);
      return;
    }
    await this.open(address);
    const { run } = this.session;
    const trunk = this.session.runs.get("");
    if (trunk && !sameHash(address.hash, trunk.hash)) this.stage.trouble("lab.other-run");
    const told = address.spec.scenario && !address.spec.lesson;
    if (run && told && !address.cursor && !address.hash) this.stage.playTheStory();
  }

  // What the nodes of this cluster have written down until now, of one lock or of all.
  async openLive(lock) {
    fill(this.root, this.stage.root);
    try {
      await withToken();
      const file = await recordingOfCluster(lock);
      await this.open({ spec: { algorithm: "", flags: [], recording: file,
        title: lock ?? this.context.t("lab.live-recording") } });
    } catch (error) {
      this.session.close();
      this.stage.say(error.message);
    }
  }

  async open(address) {
    if (this.stage.root.parentNode !== this.root) fill(this.root, this.stage.root);
    this.stage.player.pause();
    this.stage.calm();
    return this.session.open(address);
  }

  async relabel() {
    if (!await this.learn()) return;
    this.stage.relabel(); // It is shown later, if it is not shown now.
    if (this.session.spec) await this.session.again();
    else front(this.root, this.catalogue, this.context);
  }

  address() {
    return writeAddress({ ...this.session, hash: this.session.runs.get("")?.hash });
  }

  // The address follows, at most three times a second.
  writeSoon() {
    if (this.writing || !this.session.run || this.session.spec.recording) return;
    this.writing = setTimeout(() => {
      this.writing = 0;
      if (!this.session.run || this.context.signal.aborted) return;
      const address = this.address();
      history.replaceState(null, "", `/lab${address}`);
      this.written = location.hash;
    }, ADDRESS_PAUSE);
  }

  breakIt() {
    const { session, context } = this;
    this.stage.player.pause();
    // A recording says itself what ran.
    const ran = session.spec.algorithm || session.run?.answer.algorithm;
    const algorithm = this.catalogue.algorithms.find(({ id }) => id === ran);
    breakIt(session, algorithm, context, async (question, found) => {
      const spec = { algorithm: question.algorithm, story: found.story, scenario: null,
        flags: parseFlags(found.flags ?? question.flags) };
      if (await this.open({ spec })) this.stage.playTheStory();
    });
  }
}
