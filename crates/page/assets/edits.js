// An edit in words: "1>3:REQUEST#2=drop" is "REQUEST 1→3 dropped"; as something to do (`how` is
// "do"), "cut=1,3@5" is "cut the link between 1 and 3".

const MESSAGE = /^(.+?)>(.+?):(.+?)(?:#(\d+))?=(drop|twice|first|before|delay)(?:[:@](.+))?$/;
const VERBS = "crash|restart|amnesia|pause|cut|heal|ask|leave|suspect";
const FAULT = new RegExp(`^(${VERBS})(?:=([^@]*))?(?:@([\\d.]+))?(?:\\+(.+))?$`);

export function wordsOf(t, edit, how = "edit") {
  const message = MESSAGE.exec(edit);
  if (message) {
    const [, from, to, label, nth, verb, by] = message;
    const which = nth && nth !== "1" ? `${label} #${nth}` : label;
    return t(`edit.${verb === "before" ? "first" : verb}`, { label: which, from, to, by });
  }
  const fault = FAULT.exec(edit);
  if (!fault) return edit;
  const [, verb, who, at, lasting] = fault;
  const [a, b] = (who ?? "").split(/[,:]/);
  const all = (verb === "cut" && b === undefined) || (verb === "heal" && !who);
  return t(all ? `${how}.${verb}-all` : `${how}.${verb}`,
    { node: a, other: b, at: shortTime(at), lasting });
}

function shortTime(text) {
  const time = Number(text);
  return Number.isFinite(time) ? String(Math.round(time * 100) / 100) : text ?? "";
}

// The same edit, with a message that is `by` later than it would be; `flight` is how long it takes.
export function laterBy(edit, flight, by) {
  const whole = Math.round((flight + by) * 1000) / 1000;
  return edit.replace(/=delay(:.*)?$/, `=delay:${whole}`);
}
