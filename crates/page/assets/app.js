// The shell: language, theme, which halves the server has, and the view that the address names.

import { counted, language, number, onLanguage, preferredLanguage, setLanguage, store, stored, t }
  from "./i18n.js";
import { router } from "./router.js";

// In milliseconds.
const BREATH = 1000;
let said = { text: "", until: 0 };

async function start() {
  const [about] = await Promise.all([whatTheServerHas(), setLanguage(preferredLanguage())]);
  document.querySelector('[data-view="cluster"]').hidden = !about.cluster;
  for (const view of ["lab", "compare", "scenarios", "algorithms"]) {
    document.querySelector(`[data-view="${view}"]`).hidden = !about.lab;
  }
  languageButton();
  themeButton();
  makeContext.about = about;
  await router(document.getElementById("view"), makeContext);
}

// What every view gets. `signal` aborts when the view is left.
function makeContext(signal, navigate) {
  return {
    t, counted, number, language, announce, navigate, signal, stored, store,
    about: makeContext.about,
    onLanguage: (listener) => onLanguage(listener, signal),
  };
}

async function whatTheServerHas() {
  try {
    const answer = await fetch("/page/about");
    if (answer.ok) return await answer.json();
  } catch (unreachable) {
    // Said by the view, which will ask for more than this.
  }
  return { lab: true, cluster: false, up: false };
}

// Says `text` to whoever listens with a screen reader. What is `urgent` is not silenced by what
// comes in the same breath: both are said.
function announce(text, urgent = false) {
  const now = performance.now();
  const before = !urgent && now < said.until && said.text !== text ? `${said.text} ` : "";
  document.getElementById("live").textContent = before + text;
  if (urgent) said = { text, until: now + BREATH };
}

function languageButton() {
  const button = document.getElementById("language");
  const other = () => (language() === "en" ? "pt" : "en");
  const name = () => {
    button.textContent = other() === "pt" ? "Português" : "English";
    button.lang = other() === "pt" ? "pt-BR" : "en";
  };
  name();
  button.addEventListener("click", async () => {
    await setLanguage(other());
    store("conclave.language", language());
    name();
    const view = document.querySelector('a[aria-current="page"]')?.dataset.view;
    if (view) document.title = `${t(`shell.${view}`)} · Conclave`;
  });
}

function themeButton() {
  const root = document.documentElement;
  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    store("conclave.theme", root.dataset.theme);
    announce(t(dark ? "shell.now-light" : "shell.now-dark"));
  });
}

start();
