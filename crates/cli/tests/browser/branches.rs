//! Branches: what if, beside the run as it was.

use crate::lab::{Lab, Line};
use crate::webdriver::key;
use serde_json::{Value, json};

#[test]
fn a_branch_leaves_what_is_drawn_for_the_rest_as_it_was() {
    let Some(lab) = Lab::open("branches") else { return };
    lab.run("a=ricart-agrawala&n=5&seed=7&latency=uniform:1..20&at=/0");
    let drop = lab.until_travels("REQUEST");
    let (at, _) = lab.step();
    let (before, drawn) = (lab.lines(), lab.drawing());
    lab.browser.click(&format!(".flying button[aria-label='{drop}']"));
    lab.branch_chosen("A");
    let branch = lab.lines();
    assert_ne!(branch, before, "the edit changes something");
    the_past_stays(&before[..at as usize], &branch[..at as usize]);
    let said = lab.browser.until(
        "a count of what differs",
        "return /^Differs in (\\d+) of (\\d+) events, first at (\\d+)/
            .exec(document.querySelector('.difference')?.textContent)?.slice(1).map(Number);",
    );
    let mut pairs = before.iter().zip(&branch).skip(at as usize);
    let (first, _) = pairs.find(|(line, other)| line != other).unwrap();
    assert_eq!(said[2], json!(first.number), "{said}");
    assert!(said[0].as_u64() < said[1].as_u64(), "{said}");
    side_by_side_every_lane_is_seen(&lab);
    lab.choose_trunk();
    assert_eq!(lab.lines(), before);
    let (now, drawn) = (lab.drawing(), drawn.as_array().unwrap().clone());
    let other: Vec<&Value> =
        now.as_array().unwrap().iter().filter(|one| !drawn.contains(one)).collect();
    assert!(other.is_empty(), "drawn otherwise: {other:#?}");
    assert_eq!(now.as_array().unwrap().len(), drawn.len());
    lab.press_until(key::HOME, 0);
    lab.browser.assert_calm("branches");
}

#[test]
fn a_branch_from_which_another_leaves_is_not_lost() {
    let Some(lab) = Lab::open("branches-of-branches") else { return };
    lab.run("a=ricart-agrawala&n=4&seed=5&latency=uniform:1..9&at=/9");
    lab.browser.press(&['d']);
    lab.branch_chosen("A");
    lab.browser.press(&['c']);
    lab.branch_chosen("B");
    // Whoever listens hears of the branch, though the step at which it leaves is told, too.
    lab.browser.until(
        "a word about the branch",
        "return document.getElementById('live').textContent.startsWith('Branch B: ');",
    );
    lab.browser.click(".branches li:nth-child(2) .branch-name");
    lab.branch_chosen("A");
    lab.browser.press(&['u']);
    lab.browser.until(
        "why it stays",
        "const notice = document.querySelector('.notice');
         return !notice.hidden && notice.textContent.includes('B leaves from A');",
    );
    lab.branch_chosen("A");
    lab.browser.click(".branches li:nth-child(3) .branch-name");
    lab.branch_chosen("B");
    lab.browser.press(&['u']);
    lab.branch_chosen("A");
    lab.browser.press(&['u']);
    lab.browser.until(
        "no branch",
        "return document.querySelector('.branches').hidden
             && document.querySelector('.notice').hidden;",
    );
    lab.browser.assert_calm("branches of branches");
}

/// On a small screen, too: both diagrams are as high as their lanes.
fn side_by_side_every_lane_is_seen(lab: &Lab) {
    lab.browser.resize(1280, 757);
    lab.browser.click(".diagram-head .row label:nth-of-type(3) input");
    // They are drawn again when the page has given them their room.
    lab.browser.until(
        "two diagrams, nothing hidden below the edge of either",
        "const both = [...document.querySelectorAll('.diagram')];
         const drawn = both.every((one) => one.querySelectorAll('.lane').length === 5);
         return both.length === 2 && drawn
             && both.every((one) => one.scrollHeight <= one.clientHeight);",
    );
    let axes = lab.browser.run(
        "return [...document.querySelectorAll('.diagram')].map((one) =>
             [...one.querySelectorAll('.tick')].map((tick) =>
                 [tick.textContent, tick.getAttribute('x')]));",
        &[],
    );
    assert!(axes[0].as_array().is_some_and(|ticks| ticks.len() > 2), "{axes}");
    assert_eq!(axes[0], axes[1], "both have one axis");
    lab.browser.until("an address that says so", "return location.hash.includes('&beside');");
    lab.browser.click(".diagram-head .row label:nth-of-type(3) input");
    lab.browser.resize(1920, 1080);
}

/// Up to the edit nothing differs, but that the sender's line tells what becomes of the message.
fn the_past_stays(before: &[Line], branch: &[Line]) {
    let pairs = before.iter().zip(branch);
    let other: Vec<&Line> =
        pairs.filter(|(line, twin)| line != twin).map(|(_, twin)| twin).collect();
    assert!(matches!(other[..], [line] if line.text.contains("which is lost")), "{other:#?}");
}
