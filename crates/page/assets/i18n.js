// The page's own words, in English and Portuguese, switched in place. What a run says comes from
// the server in the same language.

const LANGUAGES = ["en", "pt"];
const listeners = new Set();
let words = {};
let current = "en";

export const language = () => current;

// The text under `key`, with {name} replaced from `values`.
export function t(key, values) {
  const text = words[key];
  if (text === undefined) {
    console.error(`no text for ${key}`);
    return key;
  }
  return text.replace(/\{(\w+)\}/g, (whole, name) => values?.[name] ?? whole);
}

// The text under `key.one` or `key.other`, with {n}.
export function counted(key, n, values) {
  return t(`${key}.${n === 1 ? "one" : "other"}`, { n: number(n), ...values });
}

// 12500 as 12,500 or 12.500. To make a format takes longer than to use it a hundred times.
const formats = new Map();

export function number(value, digits = 3) {
  const key = `${current} ${digits}`;
  if (!formats.has(key)) {
    const locale = current === "pt" ? "pt-BR" : "en";
    formats.set(key, new Intl.NumberFormat(locale, { maximumFractionDigits: digits }));
  }
  return formats.get(key).format(value);
}

export function preferredLanguage() {
  const kept = stored("conclave.language");
  if (LANGUAGES.includes(kept)) return kept;
  return (navigator.language ?? "en").toLowerCase().startsWith("pt") ? "pt" : "en";
}

export async function setLanguage(lang) {
  const answer = await fetch(`/assets/${lang}.json`);
  words = await answer.json();
  current = lang;
  document.documentElement.lang = lang === "pt" ? "pt-BR" : "en";
  translate(document);
  for (const listener of listeners) listener(lang);
}

// Calls `listener` whenever the language changes, until `signal` aborts.
export function onLanguage(listener, signal) {
  listeners.add(listener);
  signal?.addEventListener("abort", () => listeners.delete(listener));
}

// Elements with data-t have their text, those with data-t-label their name, from the language file.
export function translate(root) {
  for (const element of root.querySelectorAll("[data-t]")) {
    element.textContent = t(element.dataset.t);
  }
  for (const element of root.querySelectorAll("[data-t-label]")) {
    element.setAttribute("aria-label", t(element.dataset.tLabel));
    element.title = t(element.dataset.tLabel);
  }
}

export function stored(name) {
  try {
    return localStorage.getItem(name);
  } catch (blocked) {
    return null;
  }
}

export function store(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch (blocked) {
    // Storage may be forbidden: then a choice lasts as long as the page.
  }
}
