//! "Break it": the checker looks for what goes wrong, and the lab plays it.

use crate::lab::Lab;
use serde_json::json;

#[test]
fn lamport_breaks_without_fifo_and_the_story_is_played() {
    let Some(lab) = Lab::open("breaking") else { return };
    lab.run("a=lamport&n=2&at=/0");
    let browser = &lab.browser;
    browser.click(".lab-buttons button:first-child");
    let switch = browser.until(
        "the assumption that links keep the order",
        "return [...document.querySelectorAll('dialog .choice')].findIndex((choice) =>
            /order|overtake|FIFO/i.test(choice.textContent)) + 1;",
    );
    browser.click(&format!("dialog .choice:nth-of-type({switch}) input"));
    browser.click("dialog .buttons .primary");
    let found = browser.until("a story", "return document.querySelector('.found')?.textContent;");
    assert!(found.as_str().unwrap().starts_with("S1 breaks"), "{found}");
    browser.click("dialog .search-result .primary");
    browser.until("the dialog gone", "return !document.querySelector('dialog');");
    lab.settled();
    let steps = lab.to_the_end();
    assert!(steps > 0);
    assert_eq!(lab.lamp("S1"), "broken");
    the_lamp_says_why_and_leads_to_its_witnesses(&lab);
    nothing_is_found_where_nothing_can_break(&lab);
    browser.assert_calm("breaking");
}

/// Nobody ever stops: the story is a beginning and a loop, and is drawn as that.
#[test]
fn whoever_is_passed_over_for_ever_is_shown_in_a_loop() {
    let Some(lab) = Lab::open("loops") else { return };
    lab.run("a=central&n=2&set=busy=try&at=/0");
    let browser = &lab.browser;
    browser.click(".lab-buttons button:first-child");
    browser.click("dialog .asks-again input");
    browser.click("dialog .buttons .primary");
    let found = browser.until("a story", "return document.querySelector('.found')?.textContent;");
    assert!(found.as_str().unwrap().starts_with("V2 breaks: from step"), "{found}");
    browser.click("dialog .search-result .primary");
    browser.until("the dialog gone", "return !document.querySelector('dialog');");
    lab.settled();
    lab.to_the_end();
    assert_eq!(lab.lamp("V2"), "broken");
    assert!(lab.facts().contains("for ever"), "{}", lab.facts());
    browser.until(
        "the loop, drawn",
        "const [arc, name] = ['.loop-arc', '.loop-name'].map((part) =>
            document.querySelector(`.diagram ${part}`));
         return arc?.getTotalLength() > 20 && name?.textContent.length > 5;",
    );
    browser.assert_calm("loops");
}

fn the_lamp_says_why_and_leads_to_its_witnesses(lab: &Lab) {
    lab.browser.click("[data-property='S1']");
    let why = lab.browser.until(
        "why it is broken",
        "const why = document.querySelector('.lamp-why');
         return !why.hidden && [why.textContent, why.querySelectorAll('button').length];",
    );
    assert!(why[0].as_str().unwrap().contains("Broken since event"), "{why}");
    assert!(why[1].as_u64().unwrap() > 0, "{why}");
}

fn nothing_is_found_where_nothing_can_break(lab: &Lab) {
    lab.run("a=token-ring&n=2&at=/0");
    lab.browser.click(".lab-buttons button:first-child");
    lab.browser.click("dialog .buttons .primary");
    let answer = lab.browser.until(
        "an answer",
        "return document.querySelector('.search-result .holds, .search-result .found, \
            .search-result .error')?.className;",
    );
    assert_eq!(answer, json!("holds"));
}
