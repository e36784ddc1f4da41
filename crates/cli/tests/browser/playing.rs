//! Runs that are played: what one sees is what the algorithm does.

use crate::lab::Lab;
use crate::webdriver::key;
use serde_json::Value;

#[test]
fn a_run_plays_to_its_end_and_its_lamps_follow() {
    let Some(lab) = Lab::open("playing") else { return };
    the_language_of_the_front_is_that_of_the_lab(&lab);
    a_step_says_by_which_rule(&lab);
    what_a_node_tells_itself_is_said_and_its_rule_is_a_click_away(&lab);
    a_search_in_vain_says_so(&lab);
    a_lesson_asks_then_plays_to_its_answer(&lab);
    bully_of_seven_plays_fourteen_messages(&lab);
    one_answer_lost_leaves_a_request_open_and_then_unanswered(&lab);
    playing_fast_asks_few_questions_and_one_at_a_time(&lab);
    lab.browser.assert_calm("playing");
}

/// The lab was made before the language was chosen, and is shown after it.
fn the_language_of_the_front_is_that_of_the_lab(lab: &Lab) {
    lab.run("a=bully&n=3&at=/0");
    let shows = |words: &str| {
        lab.browser.run("location.hash = 'v=1&a=bully&n=3&at=/0';", &[]);
        let script = format!(
            "return document.querySelector('.lab-bar .primary')?.textContent === '{words}';"
        );
        lab.browser.until(words, &script);
    };
    shows("Break it");
    for (language, words) in [("pt-BR", "Quebrar"), ("en", "Break it")] {
        lab.browser.run("location.hash = '';", &[]);
        lab.browser.until("the front", "return document.querySelector('.front') !== null;");
        lab.browser.click("#language");
        let spoken = format!("return document.documentElement.lang === '{language}';");
        lab.browser.until(language, &spoken);
        shows(words);
    }
}

fn a_step_says_by_which_rule(lab: &Lab) {
    lab.run("a=ricart-agrawala&n=3&at=/0");
    let (_, steps) = lab.step();
    let ruled = "return /^R[0-9]/.test(document.querySelector('dd a.tag')?.textContent);";
    for step in 1..=steps.min(6) {
        lab.press_until(key::RIGHT, step);
        if lab.browser.run(ruled, &[]) == Value::Bool(true) {
            return;
        }
    }
    panic!("no step of six says why it does what it does");
}

/// In Maekawa's algorithm a node votes for itself: nothing is sent, and yet it has a vote.
fn what_a_node_tells_itself_is_said_and_its_rule_is_a_click_away(lab: &Lab) {
    lab.run("a=maekawa&n=7&at=/8");
    let told = lab.browser.until(
        "what it tells itself",
        "return document.querySelector('.to-itself') && [...document.querySelectorAll('.told .own')]
            .map((reason) => reason.textContent).join('; ');",
    );
    let told = told.as_str().unwrap();
    assert!(told.contains("has the votes of 1; the votes of 2, 4 are still to come"), "{told}");
    lab.browser.click(".told .own a.tag"); // Its vote is free: R2.
    let rule = lab.browser.until(
        "the rule on its card",
        "const rule = document.querySelector('.numbered.pointed');
         const { top, bottom } = rule?.getBoundingClientRect() ?? {};
         return top >= 0 && bottom <= innerHeight && [rule.id, rule.textContent];",
    );
    assert_eq!(rule[0], "maekawa.R2");
    assert_eq!(rule[1], "R2 an arbiter whose vote is free gives it");
}

fn a_search_in_vain_says_so(lab: &Lab) {
    lab.run("a=ricart-agrawala&n=3&at=/0");
    let missed = "return document.querySelector('.missed').textContent;";
    let typed = |words: &str| {
        let script = "const box = document.querySelector('.list-head input');
            box.value = arguments[0]; box.dispatchEvent(new Event('input'));";
        lab.browser.run(script, &[words.into()]);
    };
    typed("nobody says this");
    assert_eq!(
        lab.browser.until("that it is not there", missed),
        "“nobody says this” was not found"
    );
    typed("ENTERS");
    lab.browser.until("what is there", "return !document.querySelector('.missed').textContent;");
}

/// The run stops where the answer is to be seen; mere upkeep is passed over on the way.
fn a_lesson_asks_then_plays_to_its_answer(lab: &Lab) {
    let origin = &lab.server.origin;
    for (title, answer, ends_at) in
        [("A vote is asked back", 3, 15), ("Dead, or only slow?", 2, 285)]
    {
        lab.browser.go("about:blank");
        lab.browser.go(&format!("{origin}/lab"));
        let script = format!(
            "const links = [...document.querySelectorAll('.lesson-list a')];
             const lesson = links.find((link) => link.textContent === '{title}');
             lesson?.click(); return Boolean(lesson);"
        );
        lab.browser.until(title, &script);
        lab.settled();
        assert!(!tells_the_end(lab), "{title}: the answer can be read");
        lab.browser.click(&format!(".lesson button:nth-child({answer})"));
        lab.browser
            .until("the answer", "return document.querySelector('.lesson .right') !== null;");
        assert!(tells_the_end(lab));
        lab.at(ends_at);
    }
}

/// Whether the list of events, their sum or what is ahead of the cursor can be seen.
fn tells_the_end(lab: &Lab) -> bool {
    let script = "const of = (name) => getComputedStyle(document.querySelector(name));
        return of('.list').display !== 'none' || of('.facts').visibility !== 'hidden'
            || of('.ahead').opacity !== '1';";
    lab.browser.run(script, &[]).as_bool().unwrap()
}

fn playing_fast_asks_few_questions_and_one_at_a_time(lab: &Lab) {
    lab.run("a=ricart-agrawala&n=5&rounds=10&at=/0");
    let (_, steps) = lab.step();
    assert!(steps > 400, "{steps}");
    let script = "const done = arguments[arguments.length - 1];
        performance.clearResourceTimings();
        const speed = document.querySelector('.speed select');
        speed.value = '32';
        speed.dispatchEvent(new Event('change'));
        document.querySelector('.play').click();
        const at = () => Number(document.querySelector('.where').textContent.split('/')[0]);
        const frame = () => {
            if (at() < 200) return requestAnimationFrame(frame);
            document.querySelector('.play').click();
            const asked = performance.getEntriesByType('resource')
                .filter(({ name }) => name.endsWith('/lab/run'))
                .map((one) => [one.startTime, one.responseEnd, one.responseStatus]);
            return done(asked.sort(([a], [b]) => a - b));
        };
        frame();";
    let asked = lab.browser.run_async(script, &[]);
    let asked = asked.as_array().unwrap();
    assert!(!asked.is_empty() && asked.len() < 40, "{} questions in 200 steps", asked.len());
    assert!(asked.iter().all(|one| one[2] == 200), "{asked:?}");
    let together = |pair: &&[Value]| pair[0][1].as_f64() > pair[1][0].as_f64();
    let together: Vec<&[Value]> = asked.windows(2).filter(together).collect();
    assert!(together.is_empty(), "at the same time: {together:?}");
}

fn bully_of_seven_plays_fourteen_messages(lab: &Lab) {
    lab.run("a=bully&n=7&dead=7&start=4&at=/0");
    let (at, steps) = lab.step();
    assert_eq!(at, 0);
    lab.browser.press(&[']', ']', ']', ']', ' ']); // Fast, then play.
    lab.at(steps);
    assert!(lab.facts().starts_with("14 messages"), "{}", lab.facts());
    let lines = lab.lines();
    assert_eq!(lines.len() as u64, steps);
    let ends = |kind: &str| lines.iter().filter(|line| line.kind == kind).count();
    assert_eq!(ends("message") + ends("lost"), 14, "{lines:#?}");
    let leads = lines.iter().rev().find(|line| line.kind == "message").unwrap();
    assert!(leads.text.contains("COORDINATOR"), "{leads:?}");
    assert_eq!(lab.lamp("E1"), "kept");
}

fn one_answer_lost_leaves_a_request_open_and_then_unanswered(lab: &Lab) {
    lab.run("a=ricart-agrawala&n=3&at=/0");
    lab.to_the_end();
    assert_eq!(lab.lamp("V1"), "kept");
    lab.press_until(key::HOME, 0);
    let drop = lab.until_travels("OK");
    lab.browser.click(&format!(".flying button[aria-label='{drop}']"));
    lab.branch_chosen("A");
    assert_eq!(lab.lamp("V1"), "undecided");
    lab.to_the_end();
    assert_eq!(lab.lamp("V1"), "broken");
    assert_eq!(lab.lamp("S1"), "kept");
}

#[test]
fn the_parameters_of_an_algorithm_are_fields() {
    let Some(lab) = Lab::open("parameters") else { return };
    lab.run("a=raymond&n=7&set=tree=star&at=/0");
    let messages = || {
        let facts = lab.facts();
        facts.split_whitespace().next().unwrap().parse::<u64>().unwrap()
    };
    let star = messages();
    let tree = "[...document.querySelectorAll('.setup-fields select')]
        .find((one) => one.parentNode.textContent.startsWith('tree'))";
    assert_eq!(lab.browser.run(&format!("return {tree}.value;"), &[]), "star");
    let choose = |value: &str| {
        let script = format!(
            "const choice = {tree}; choice.value = '{value}';
             choice.dispatchEvent(new Event('change'));"
        );
        lab.browser.run(&script, &[]);
        let shown = format!(
            "return location.hash.includes('tree=') === {} && {tree}.value === \
             '{value}' && document.querySelector('.lab').getAttribute('aria-busy') !== 'true';",
            value != "heap"
        );
        lab.browser.until(&format!("a {value}"), &shown);
    };
    choose("chain");
    assert!(messages() < star, "a chain where all ask at once costs less than a star");
    choose("heap"); // What is usual needs no flag.
    lab.browser.assert_calm("parameters");
}
