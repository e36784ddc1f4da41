//! Without a mouse, without looking, and without motion.

use crate::lab::Lab;
use crate::webdriver::key;
use serde_json::{Value, json};

/// More than there are places to stop at, in any view.
const TABS_MAX: usize = 200;

#[test]
fn a_tile_is_opened_stepped_branched_and_shared_by_keyboard_alone() {
    let Some(lab) = Lab::open("keyboard") else { return };
    let browser = &lab.browser;
    browser.go(&format!("{}/lab", lab.server.origin));
    browser.until("tiles", "return document.querySelector('.tile');");
    // What the live region says from now on is kept.
    browser.run(
        "window.said = []; new MutationObserver(() => window.said.push(
            document.getElementById('live').textContent)).observe(
            document.getElementById('live'), { childList: true, characterData: true,
                subtree: true });",
        &[],
    );
    tab_until(&lab, "a tile", "document.activeElement.closest('.tile')");
    browser.press(&[key::ENTER]);
    lab.settled();
    browser.press(&[key::RIGHT]); // Ends what plays by itself.
    browser.until("a pause", "return document.querySelector('.play').textContent === 'Play';");
    browser.press(&[key::HOME]);
    lab.at(0);
    step_until_something_travels(&lab);
    browser.press(&['d']);
    lab.branch_chosen("A");
    heard(&lab, "a branch", "/^Branch A: .*dropped/");
    let (at, _) = lab.step();
    browser.press(&[key::RIGHT]);
    lab.at(at + 1);
    // In the same breath as the branch, perhaps, which is said first then.
    heard(&lab, "a step", &format!("/(^| ){}\\. /", at + 1));
    share(&lab);
    browser.assert_calm("keyboard");
    single_letters_can_be_switched_off(&lab);
}

/// To the button, into the dialog, to the link, and back.
fn share(lab: &Lab) {
    let browser = &lab.browser;
    tab_until(lab, "Share", "document.activeElement.textContent === 'Share'");
    assert_eq!(browser.focused_name(), "Share");
    browser.press(&[key::ENTER]);
    let inside = "return document.querySelector('dialog')?.contains(document.activeElement);";
    browser.until("the focus in the dialog", inside);
    tab_until(lab, "the link", "document.activeElement.id === 'share-link'");
    let link = browser.run("return document.activeElement.value;", &[]);
    assert!(link.as_str().unwrap().contains("&w=A:"), "{link}");
    browser.press(&[key::ESCAPE]);
    browser.until(
        "the focus back where it was",
        "return !document.querySelector('dialog')
            && document.activeElement.textContent === 'Share';",
    );
}

fn step_until_something_travels(lab: &Lab) {
    let (mut at, steps) = lab.step();
    let drop = "return [...document.querySelectorAll('.flying button')].some((button) =>
        button.textContent === 'drop');";
    while lab.browser.run(drop, &[]) != json!(true) {
        assert!(at < steps, "nothing ever travels");
        at += 1;
        lab.browser.press(&[key::RIGHT]);
        lab.at(at);
    }
}

/// Presses Tab until the focus is where it should be; on the way it is always to be seen.
fn tab_until(lab: &Lab, what: &str, there: &str) {
    let look = format!(
        "const style = getComputedStyle(document.activeElement);
         const seen = style.outlineStyle !== 'none' || style.boxShadow !== 'none';
         return [Boolean({there}), seen, document.activeElement.outerHTML.slice(0, 200)];"
    );
    for _ in 0..TABS_MAX {
        lab.browser.press(&[key::TAB]);
        let found = lab.browser.run(&look, &[]);
        assert_eq!(found[1], Value::Bool(true), "the focus is not seen on {}", found[2]);
        if found[0] == Value::Bool(true) {
            return;
        }
    }
    panic!("{what} is never in focus");
}

/// Waits until the live region has said something like this.
fn heard(lab: &Lab, what: &str, pattern: &str) {
    let script = format!("return window.said.some((text) => {pattern}.test(text));");
    lab.browser.until(&format!("{what}, said aloud"), &script);
}

fn single_letters_can_be_switched_off(lab: &Lab) {
    lab.run("a=ricart-agrawala&n=3&at=/4");
    lab.browser.press(&['?']);
    lab.browser.click("dialog input[type=checkbox]");
    lab.browser.press(&[key::ESCAPE]);
    lab.browser.until("the dialog gone", "return !document.querySelector('dialog');");
    lab.browser.press(&['d', key::RIGHT]);
    lab.at(5); // A step later, had there been a branch it would be shown.
    let branches = lab.browser.run("return document.querySelector('.branches').hidden;", &[]);
    assert_eq!(branches, json!(true));
}

#[test]
fn with_reduced_motion_nothing_moves_between_two_steps() {
    let Some(lab) = Lab::open("motion") else { return };
    lab.browser.prefer("light", "reduce");
    lab.run("a=ricart-agrawala&n=4&latency=uniform:1..20&at=/4");
    lab.browser.click("[data-control='play']");
    // As many frames as two steps take: between them everything stays where it is.
    let script = "const done = arguments[arguments.length - 1];
        const where = () => document.querySelector('.where').textContent;
        const [first, seen, moved] = [where(), new Map(), []];
        const steps = new Set();
        const frame = () => {
            const running = document.getAnimations().filter((one) => one.playState === 'running');
            if (running.length) moved.push(`${running.length} animations`);
            for (const message of document.querySelectorAll('.topology .message')) {
                const name = `${where()} ${message.dataset.message}`;
                const place = message.getAttribute('transform');
                if (seen.has(name) && seen.get(name) !== place && steps.has(where())) {
                    moved.push(name);
                }
                seen.set(name, place);
            }
            steps.add(where());
            if (steps.size > 2) return done([first, moved]);
            return requestAnimationFrame(frame);
        };
        frame();";
    let found = lab.browser.run_async(script, &[]);
    assert_eq!(found[1], json!([]), "from step {}", found[0]);
}
