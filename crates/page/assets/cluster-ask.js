// Questions to the cluster: the API of a node, and what `conclave up` knows of its processes.

import { t } from "./i18n.js";

// Soon enough for what is shown to be called stale within three seconds.
const PATIENCE = 2000;
// What is to be done may take longer: a node is given time to start.
const PATIENCE_TO_ACT = 8000;

// Refused by the server, in its own words.
export class Refused extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

// The token lives as long as the tab: it came behind the # of the address, which is sent to nobody.
const TOKEN = "conclave.token";

export function token() {
  return sessionStorage.getItem(TOKEN) ?? "";
}

export function keepToken(value) {
  if (value) sessionStorage.setItem(TOKEN, value);
  else sessionStorage.removeItem(TOKEN);
}

// Takes the token out of the address, so that it is not in what is copied or shown.
export function takeToken() {
  const found = /(?:^|[#&])token=([0-9A-Za-z._~-]{8,256})/.exec(location.hash);
  if (!found) return;
  keepToken(found[1]);
  const rest = location.hash.replace(found[0], "").replace(/^#?&?/, "");
  history.replaceState(history.state, "", location.pathname + location.search + (rest && `#${rest}`));
}

// Fails in the reader's language, not in the browser's.
async function ask(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error(t(error.name === "TimeoutError" ? "shell.no-answer" : "shell.out-of-reach"));
  }
}

export async function get(path, signal) {
  return answered(await ask(path, { headers: authorization(), signal: within(PATIENCE, signal) }));
}

export async function getText(path, signal) {
  const signalled = within(PATIENCE, signal);
  const answer = await ask(path, { headers: authorization(), signal: signalled });
  if (!answer.ok) throw await refusal(answer);
  return answer.text();
}

export async function send(method, path, body) {
  const headers = { ...authorization() };
  if (body !== undefined) headers["content-type"] = "application/json";
  const content = body === undefined ? undefined : JSON.stringify(body);
  return answered(await ask(path, { method, headers, body: content,
    signal: within(PATIENCE_TO_ACT) }));
}

// The events of a stream (server-sent events), read by hand: a header can say who asks.
export async function* stream(path, signal, opened) {
  const answer = await fetch(path, { headers: authorization(), signal });
  if (!answer.ok) throw await refusal(answer);
  opened();
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = { id: "", data: "" };
      for (const line of block.split("\n")) {
        const colon = line.indexOf(":");
        const field = line.slice(0, colon);
        if (field in event) event[field] += line.slice(colon + 1).trimStart();
      }
      if (event.data) yield { number: Number(event.id), ...JSON.parse(event.data) };
    }
  }
}

// What shows who asks, where a node wants to know.
export function authorization() {
  return token() ? { authorization: `Bearer ${token()}` } : {};
}

function within(ms, signal) {
  const patience = AbortSignal.timeout(ms);
  return signal ? AbortSignal.any([signal, patience]) : patience;
}

async function answered(answer) {
  if (!answer.ok) throw await refusal(answer);
  return answer.status === 204 ? null : answer.json();
}

async function refusal(answer) {
  if (answer.status === 401) keepToken(""); // A wrong one is asked for again.
  try {
    const { error } = await answer.json();
    return new Refused(answer.status, error.code, error.message);
  } catch (noJson) {
    return new Refused(answer.status, "", `HTTP ${answer.status}`);
  }
}
