//! What is drawn, what is offered and what comes to an end say what they mean.

use crate::lab::Lab;
use crate::webdriver::key;
use serde_json::Value;

#[test]
fn what_is_drawn_and_what_breaks_is_explained() {
    let Some(lab) = Lab::open("explained") else { return };
    a_deadlock_is_named_and_its_steps_are_a_click_away(&lab);
    what_is_done_to_a_node_says_what_comes_before_it(&lab);
    side_by_side_the_same_moment_is_above_itself(&lab);
    lab.browser.assert_calm("explained");
}

/// The first version of Maekawa's algorithm, as a lesson.
fn a_deadlock_is_named_and_its_steps_are_a_click_away(lab: &Lab) {
    lab.browser.go(&format!("{}/lab", lab.server.origin));
    lab.browser.until(
        "the lesson",
        "const links = [...document.querySelectorAll('.lesson-list a')];
         const lesson = links.find(({ textContent }) => /wait for each other/.test(textContent));
         lesson?.click(); return Boolean(lesson);",
    );
    lab.settled();
    lab.browser.click(".lesson button:nth-child(2)");
    lab.browser.until("the answer", "return document.querySelector('.lesson .right') !== null;");
    lab.browser.until("the end", &says(".told", "Nothing more can happen."));
    lab.browser.until("what breaks", &says(".told .breaks", "somebody who waits gets in"));
    lab.browser.until("the circle", &says(".topology-legend", "wait in a circle"));
    lab.browser.click(".lesson-steps button:nth-of-type(3)");
    lab.at(18);
    lab.browser.until("its rule", &says(".told", "queues (1,1) as the first"));
    lab.browser.until("whose quorum", &says(".topology-legend", "node 4: quorum"));
}

/// A crash comes after all that happens at the same moment; whoever listens hears of the branch
/// alone, since the step is known.
fn what_is_done_to_a_node_says_what_comes_before_it(lab: &Lab) {
    lab.run("a=maekawa&n=7&at=/9");
    let before = lab.lines();
    lab.browser.press(&['w']);
    lab.browser.until("what comes first", &says(".menu-note", "come first (5)"));
    lab.browser.press(&[key::ENTER]);
    lab.branch_chosen("A");
    let after = lab.lines();
    assert_eq!(after[..14], before[..14]);
    assert_eq!(after[14].text, "2 CRASHES");
    let said = lab.browser.run("return document.getElementById('live').textContent;", &[]);
    assert_eq!(said, "Branch A: 2 crashes at 0");
    lab.press_until(key::END, after.len() as u64);
    lab.browser.press(&['w']);
    lab.browser.until("a menu without it", "return document.querySelector('.menu') !== null;");
    assert_eq!(lab.browser.run("return document.querySelector('.menu-note');", &[]), Value::Null);
    lab.browser.press(&[key::ESCAPE]);
}

/// In another language, too, in which all is drawn anew; and on a telephone there is room for it.
fn side_by_side_the_same_moment_is_above_itself(lab: &Lab) {
    let run = "a=ricart-agrawala&n=4&seed=7&latency=uniform:1..20";
    lab.run(&format!("{run}&w=A:14!1%3E3:REQUEST%231=drop&at=A/25&beside"));
    let aligned = "const [one, other] = [...document.querySelectorAll('.diagram')]
        .map(({ scrollLeft }) => scrollLeft); return one > 0 && one === other;";
    lab.browser.resize(1280, 900);
    lab.browser.until("both scrolled alike", aligned);
    lab.browser.click("#language");
    lab.browser.until("the other language", &says(".beside h3", "a execução original"));
    lab.browser.until("both still scrolled alike", aligned);
    lab.browser.click("#language");
    lab.browser.resize(390, 844);
    lab.browser.until(
        "nodes and step on a telephone",
        "return ['.topology-box', '.step'].every((name) =>
            document.querySelector(name).getBoundingClientRect().height > 300);",
    );
    lab.browser.resize(1920, 1080);
}

fn says(place: &str, words: &str) -> String {
    format!("return document.querySelector('{place}')?.textContent.includes('{words}');")
}
