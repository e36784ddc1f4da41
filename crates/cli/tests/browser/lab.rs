//! The lab as a visitor has it: the program serves it, the browser shows it.

use crate::chromium::Browser;
use crate::cluster_process::{Place, Running};
use crate::webdriver::key;
use serde_json::{Value, json};
use std::rc::Rc;

/// The server of the lab, alone.
#[derive(Clone)]
pub struct Server {
    pub origin: String,
    _process: Rc<(Running, Place)>, // Ended before its place is removed.
}

impl Server {
    pub fn start(name: &str) -> Self {
        let place = Place::new(name);
        let lab = place.command(&["lab", "--http", "127.0.0.1:0"]);
        let mut running = Running::start(&place, lab);
        let line = running.wait_for("http://");
        let (_, address) = line.split_once("http://").unwrap();
        let origin = format!("http://{}", address.trim_end_matches("/lab"));
        Self { origin, _process: Rc::new((running, place)) }
    }
}

/// A browser that looks at a lab.
pub struct Lab {
    pub browser: Browser,
    pub server: Server,
}

/// One line of the list of events.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub number: u64,
    pub kind: String,
    pub time: String,
    pub text: String,
}

/// Whatever the page asked for has come.
const IDLE: &str = "document.querySelector('.lab')?.getAttribute('aria-busy') !== 'true'";

impl Lab {
    /// Nothing where there is no browser; that has been said.
    pub fn open(name: &str) -> Option<Self> {
        let browser = Browser::new()?;
        browser.resize(1920, 1080);
        Some(Self { browser, server: Server::start(name) })
    }

    /// Opens a run by its address, and waits until it is there.
    pub fn run(&self, fragment: &str) {
        self.browser.go("about:blank"); // Else only the fragment would change.
        self.browser.go(&format!("{}/lab#v=1&{fragment}", self.server.origin));
        self.settled();
    }

    /// Waits until a run is shown and nothing is asked of the server.
    pub fn settled(&self) {
        let shown = format!(
            "const step = document.querySelector('.step h2');
             const asks = document.querySelector('.list-lines .line-text, .list-lines');
             return {IDLE} && step && asks && document.querySelector('.topology .node');"
        );
        self.browser.until("a run that is shown", &shown);
    }

    /// The step at the cursor, and how many there are.
    pub fn step(&self) -> (u64, u64) {
        let script = "const [step, steps] = document.querySelector('.where').textContent
            .split('/').map((part) => Number(part.replace(/\\D/g, ''))); return [step, steps];";
        let found = self.browser.run(script, &[]);
        (found[0].as_u64().unwrap(), found[1].as_u64().unwrap())
    }

    /// Presses a key of the lab and waits until the cursor is at this event, and its state shown.
    pub fn press_until(&self, pressed: char, event: u64) {
        self.browser.run("document.activeElement?.blur?.();", &[]);
        self.browser.press(&[pressed]);
        self.at(event);
    }

    /// Waits until the cursor is at this event, and its step shown.
    pub fn at(&self, event: u64) {
        let script = format!(
            "const digits = (text) => Number(text.split('/')[0].replace(/\\D/g, ''));
             const heading = document.querySelector('.step h2').textContent;
             return {IDLE} && digits(document.querySelector('.where').textContent) === {event}
                 && Number(/\\d+/.exec(heading)[0]) === {event};"
        );
        self.browser.until(&format!("at event {event}"), &script);
    }

    pub fn to_the_end(&self) -> u64 {
        let (_, steps) = self.step();
        self.press_until(key::END, steps);
        steps
    }

    /// What a property's lamp shows.
    pub fn lamp(&self, property: &str) -> String {
        let script = "return document.querySelector(`[data-property=\"${arguments[0]}\"]`)
            ?.dataset.state;";
        let state = self.browser.run(script, &[json!(property)]);
        state.as_str().unwrap_or_else(|| panic!("no lamp {property}")).to_string()
    }

    /// The whole list, from its first line to its last, as it is drawn while one scrolls.
    pub fn lines(&self) -> Vec<Line> {
        let script = "const done = arguments[arguments.length - 1];
            const box = document.querySelector('.list-lines');
            const found = new Map();
            const step = (top) => {
                box.scrollTop = top;
                const collect = () => {
                    const lines = [...box.querySelectorAll('[data-i]')];
                    const text = (line, part) => line.querySelector(part).textContent;
                    if (lines.some((line) => text(line, '.line-text') === '…')) {
                        return setTimeout(collect, 20);
                    }
                    for (const line of lines) found.set(Number(line.dataset.i), [
                        line.className.split(' ')[1], text(line, '.line-at'),
                        text(line, '.line-text')]);
                    if (top + box.clientHeight >= box.scrollHeight) {
                        return done([...found].sort(([a], [b]) => a - b));
                    }
                    return step(top + box.clientHeight);
                };
                requestAnimationFrame(() => requestAnimationFrame(collect));
            };
            step(0);";
        let found = self.browser.run_async(script, &[]);
        found.as_array().unwrap().iter().map(line).collect()
    }

    /// Every mark, arrow and span of the space-time diagram: what it is, and when. How far apart
    /// the lanes are, and so where there is room for a label, depends on what is below them.
    pub fn drawing(&self) -> Value {
        let script = "const when = (one) => [...['x', 'cx', 'width'].map((name) =>
                one.getAttribute(name)), /^M([\\d.]+)/.exec(one.getAttribute('d'))?.[1] ?? ''];
            return [...document.querySelectorAll('.diagram-box > .diagram .space-time *')]
                .filter((one) => !/arrow-label/.test(one.getAttribute('class') ?? ''))
                .map((one) => [one.tagName, (one.getAttribute('class') ?? '').trim(),
                    { ...one.dataset }, one.childElementCount ? '' : one.textContent, when(one)]);";
        self.browser.run(script, &[])
    }

    /// The sentence about messages, costs and the end of the run.
    pub fn facts(&self) -> String {
        let facts = self.browser.run("return document.querySelector('.facts').textContent;", &[]);
        facts.as_str().unwrap().to_string()
    }

    /// Steps on until a message of this kind travels, and gives what its button to drop it is
    /// called.
    pub fn until_travels(&self, kind: &str) -> String {
        let (mut at, steps) = self.step();
        let script = "const buttons = [...document.querySelectorAll('.flying button')];
            return buttons.map((button) => button.getAttribute('aria-label'));";
        loop {
            let offered = self.browser.run(script, &[]);
            let offered = offered.as_array().unwrap().iter().filter_map(Value::as_str);
            let mut drops = offered.filter(|name| name.starts_with(kind) && name.contains("drop"));
            if let Some(name) = drops.next() {
                return name.to_string();
            }
            assert!(at < steps, "no {kind} travels in this run");
            at += 1;
            self.press_until(key::RIGHT, at);
        }
    }

    /// Waits until a branch of this name is the one that is looked at.
    pub fn branch_chosen(&self, name: &str) {
        let script = format!(
            "const chosen = document.querySelector('.branch-name[aria-pressed=\"true\"]');
             return {IDLE} && chosen && (chosen.querySelector('.tag')?.textContent ?? '') === {};",
            json!(name)
        );
        self.browser.until(&format!("on branch '{name}'"), &script);
    }

    pub fn choose_trunk(&self) {
        self.browser.click(".branches li:first-child .branch-name");
        self.branch_chosen("");
    }

    /// Opens the dialog that shares, and reads its link and its command.
    pub fn shared(&self) -> (String, String) {
        self.browser.click(".lab-buttons button:nth-child(2)");
        let script = "return [document.getElementById('share-link').value,
            document.getElementById('share-command').value];";
        let found = self.browser.until("a link to share", script);
        self.browser.press(&[key::ESCAPE]);
        self.browser.until("the dialog gone", "return !document.querySelector('dialog');");
        (found[0].as_str().unwrap().to_string(), found[1].as_str().unwrap().to_string())
    }
}

fn line(row: &Value) -> Line {
    let text = |part: &Value| part.as_str().unwrap().to_string();
    Line {
        number: row[0].as_u64().unwrap(),
        kind: text(&row[1][0]),
        time: text(&row[1][1]),
        text: text(&row[1][2]),
    }
}
