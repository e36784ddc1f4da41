//! A run as a file: written by the page, and opened by it.

use crate::lab::{Lab, Line};
use crate::webdriver::key;
use serde_json::{Value, json};

/// Keeps what the page lets the browser save, and gives it as a file to whoever chooses one. The
/// system's own dialogs are not for tests.
const DESK: &str = "window.saved = [];
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob) => {
        blob.text().then((text) => window.saved.push(text));
        return make.call(URL, blob);
    };
    const click = HTMLInputElement.prototype.click;
    HTMLInputElement.prototype.click = function () {
        if (this.type !== 'file') return click.call(this);
        const chosen = new DataTransfer();
        chosen.items.add(new File([window.chosen], 'run.jsonl'));
        this.files = chosen.files;
        return this.dispatchEvent(new Event('change'));
    };";

#[test]
fn a_run_is_saved_in_three_ways_and_its_recording_opened() {
    let Some(lab) = Lab::open("files") else { return };
    lab.run("a=maekawa&n=3&seed=2&latency=uniform:1..9&at=/0");
    let told = lab.lines();
    lab.browser.run(DESK, &[]);
    let [drawing, diagram, recording] = saved(&lab);
    assert!(drawing.starts_with("<svg") || drawing.starts_with("<?xml"), "{drawing:.80}");
    assert!(drawing.contains("REQUEST") && diagram.contains("sequenceDiagram"), "{diagram:.80}");
    the_recording_tells_the_same(&lab, &recording, &told);
    what_is_no_recording_is_refused(&lab);
    lab.browser.assert_no_mistake("files");
}

/// The drawing, the diagram for Mermaid, the recording.
fn saved(lab: &Lab) -> [String; 3] {
    lab.browser.click(".lab-buttons button:nth-child(2)");
    lab.browser.until("the dialog", "return document.getElementById('share-link');");
    for file in 1..=3 {
        let button = format!("dialog .row button:nth-of-type({file})");
        lab.browser.click(&button);
        let script = format!("return window.saved.length === {file};");
        lab.browser.until(&format!("file {file}"), &script);
    }
    lab.browser.press(&[key::ESCAPE]);
    lab.browser.until("the dialog gone", "return !document.querySelector('dialog');");
    let saved = lab.browser.run("return window.saved;", &[]);
    [0, 1, 2].map(|file: usize| saved[file].as_str().unwrap().to_string())
}

fn open(lab: &Lab, recording: &str) {
    lab.browser.run("window.chosen = arguments[0];", &[json!(recording)]);
    lab.browser.click(".lab-buttons button:nth-child(3)");
}

fn the_recording_tells_the_same(lab: &Lab, recording: &str, told: &[Line]) {
    open(lab, recording);
    lab.browser.until(
        "the recording",
        "return document.querySelector('.lab-title').textContent === 'run.jsonl';",
    );
    lab.settled();
    assert_eq!(lab.lines(), told);
    let steps = lab.to_the_end();
    assert_eq!(steps, told.len() as u64);
    assert_eq!((lab.lamp("S1"), lab.lamp("V1")), ("kept".into(), "kept".into()));
    let asked = "return [...document.querySelectorAll('.flying button')].length;";
    assert_eq!(lab.browser.run(asked, &[]), Value::from(0), "what has happened has happened");
}

fn what_is_no_recording_is_refused(lab: &Lab) {
    let shown = lab.step();
    open(lab, "{}");
    lab.browser.until(
        "a word about it",
        "const notice = document.querySelector('.notice');
         return !notice.hidden && notice.textContent.length > 20;",
    );
    lab.browser.until("the run before", "return document.querySelector('.topology .node');");
    assert_eq!(lab.step(), shown);
}
