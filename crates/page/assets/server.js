// Questions to the server. The page computes no algorithm: it asks, and draws the answer.

import { authorization, keepToken } from "./cluster-ask.js";
import { language } from "./i18n.js";

// Refused, with the server's one line, and which field it is about.
export class Refusal extends Error {
  constructor(message, field) {
    super(message);
    this.field = field;
  }
}

const RETRY_AFTER = 250;
const TRIES = 4;

export async function ask(path, question, signal) {
  for (let tries = 1; ; tries += 1) {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...authorization() },
      body: JSON.stringify({ ...question, lang: language() }),
      signal,
    });
    if (answer.ok) return answer.json();
    // 503: as many questions as may be asked at once are being answered.
    if (answer.status !== 503 || tries === TRIES) throw await refusal(answer);
    await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER * tries));
  }
}

async function refusal(answer) {
  if (answer.status === 401) keepToken(""); // A wrong one is asked for again.
  try {
    const { error, field } = await answer.json();
    // A node that wants a token answers in the words of its API.
    return new Refusal(error?.message ?? error ?? `HTTP ${answer.status}`, field);
  } catch (noJson) {
    return new Refusal(`HTTP ${answer.status}`);
  }
}

// The same for a recording, a Blob: it is sent with each question, since the server keeps nothing.
export async function askRecording(recording, { window: [from, to], at, ahead, only }, signal) {
  const query = new URLSearchParams({ lang: language(), at, ahead, from, to });
  if (only) query.set("only", only);
  const answer = await fetch(`/lab/recording?${query}`,
    { method: "POST", headers: authorization(), body: recording, signal });
  if (!answer.ok) throw await refusal(answer);
  return answer.json();
}

// The recording that the nodes of the cluster behind this page are making.
export async function recordingOfCluster(lock) {
  const query = lock === null ? "" : `?${new URLSearchParams({ lock })}`;
  const answer = await fetch(`/up/recording${query}`, { headers: authorization() });
  if (!answer.ok) throw await refusal(answer);
  return answer.blob();
}

const catalogues = new Map();

// What there is: algorithms, scenarios, lessons; in brief for the lab, which does not show all of
// it. Asked once a language.
export function catalogue(brief = false) {
  const asked = `lang=${language()}${brief ? "&brief=true" : ""}`;
  if (!catalogues.has(asked)) {
    const coming = fetch(`/lab/catalog?${asked}`, { headers: authorization() }).then(async (answer) => {
      if (!answer.ok) throw await refusal(answer);
      return answer.json();
    });
    coming.catch(() => catalogues.delete(asked));
    catalogues.set(asked, coming);
  }
  return catalogues.get(asked);
}

// The objects of an answer that comes line by line; aborting `signal` ends the server's work.
export async function* lines(path, question, signal) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", ...authorization() },
    body: JSON.stringify({ ...question, lang: language() }),
    signal,
  });
  if (!answer.ok) throw await refusal(answer);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    rest += value ?? "";
    const complete = rest.split("\n");
    rest = complete.pop();
    for (const line of complete) if (line.trim()) yield JSON.parse(line);
    if (done) break;
  }
  if (rest.trim()) yield JSON.parse(rest);
}

// A run as a file: what the command line would write.
export async function exported(question) {
  const answer = await fetch("/lab/export", {
    method: "POST",
    headers: { "content-type": "application/json", ...authorization() },
    body: JSON.stringify({ ...question, lang: language() }),
  });
  if (!answer.ok) throw await refusal(answer);
  return answer.blob();
}

// Lets the browser save it.
export async function download(question, name) {
  const address = URL.createObjectURL(await exported(question));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
