//! axe-core: what is known to keep people out who see, hear or point differently.

use crate::chromium::Browser;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Its source as text; says why and gives nothing where it was not installed.
pub fn source() -> Option<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = root.join("target/axe/node_modules/axe-core/axe.min.js");
    let text = std::fs::read_to_string(file).ok();
    if text.is_none() {
        eprintln!("skipped: axe-core is missing; scripts/install-axe installs it, with npm");
    }
    text
}

/// There is no serious barrier in this view. What axe looks for is the same in every language, but
/// for the words themselves: one is enough.
pub fn assert_none(browser: &Browser, source: Option<&str>, view: &str) {
    let Some(source) = source.filter(|_| view.contains(" in en,")) else { return };
    let found = barriers(browser, source);
    assert!(found.is_empty(), "{view}:\n{}", found.join("\n"));
}

/// What of the page is a serious or critical barrier, in one line each. Scripts of WebDriver are
/// exempt from the page's security policy; a script tag would not be.
fn barriers(browser: &Browser, source: &str) -> Vec<String> {
    let there = browser.run("return typeof axe === 'object';", &[]);
    if there != json!(true) {
        browser.run(source, &[]);
    }
    let script = "const done = arguments[arguments.length - 1];
        const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
        // Below a node of the topology its state is written, which is no part of what it is called.
        const rules = { 'label-content-name-mismatch': { enabled: false } };
        axe.run(document, { runOnly: tags, rules, resultTypes: ['violations'] }).then(
            ({ violations }) => done(violations
                .filter(({ impact }) => impact === 'serious' || impact === 'critical')
                .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 4)
                    .map((node) => node.html.slice(0, 160) + ' ' + (node.any[0]?.message ?? ''))
                    .join(' | ')}`)),
            (error) => done([`axe failed: ${error}`]));";
    let found = browser.run_async(script, &[]);
    found.as_array().unwrap().iter().filter_map(Value::as_str).map(str::to_string).collect()
}
