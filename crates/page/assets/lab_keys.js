// What each key of the lab does.

import { help } from "./keys.js";
import { actionsAbout } from "./menu.js";

export function keyActions(stage, context) {
  const { session, player } = stage;
  const open = (action) => () => (session.run && stage.root.isConnected ? action() : false);
  return {
    on: open(() => { player.step(1); }),
    back: open(() => { player.step(-1); }),
    nodeOn: open(() => { player.stepOnNode(1); }),
    nodeBack: open(() => { player.stepOnNode(-1); }),
    first: open(() => { player.go(0); }),
    last: open(() => { player.go(session.run.events); }),
    play: open(() => { player.toggle(); }),
    slower: open(() => player.faster(-1)),
    faster: open(() => player.faster(1)),
    nodeUp: open(() => otherNode(session, -1)),
    nodeDown: open(() => otherNode(session, 1)),
    branch: open(() => nextBranch(session, context)),
    menu: open(() => stage.openMenuFor(session.selection ?? ownNode(session))),
    drop: open(() => { take(stage, "drop"); }),
    crash: open(() => { take(stage, "crash"); }),
    whatIf: open(() => stage.openMenuFor(ownNode(session))),
    undo: open(() => stage.remove(session.branch)),
    search: open(() => stage.list.search.focus()),
    escape: open(() => (session.selection ? session.select(null) : false)),
    help: () => help(context),
  };
}

function ownNode(session) {
  if (session.selection?.kind === "node") return session.selection;
  return { kind: "node", id: session.event?.node ?? 0 };
}

function otherNode(session, by) {
  const n = session.run.nodes.length;
  session.select({ kind: "node", id: (ownNode(session).id + by + n) % n });
}

function nextBranch(session, { announce, t }) {
  const names = ["", ...session.branches.map(({ name }) => name)];
  const name = names[(names.indexOf(session.branch) + 1) % names.length];
  if (session.choose(name)) announce(name ? t("lab.branch-named", { name }) : t("lab.trunk"), true);
}

// The action of that name on what is selected: a message that is on its way, or a node.
async function take(stage, verb) {
  const { session } = stage;
  if (!await session.ready()) return;
  const first = session.moment?.flying[0];
  const about = verb === "crash" ? ownNode(session) : session.selection?.kind === "message"
    ? session.selection : first && { kind: "message", id: first.number };
  const action = actionsAbout(session.moment, about).find((other) => other.verb === verb);
  if (action?.possible) stage.whatIf(action.edit);
  else stage.say(action?.why_not ?? stage.whyNothing());
}
