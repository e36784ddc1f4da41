//! Pictures of the running page, for README and docs: `scripts/screenshots` keeps them. Made by
//! every run of the tests, so that they can be made when they are wanted.

use crate::chromium::Browser;
use crate::cluster_process::{Place, Running, Up};
use crate::lab::{Lab, Server};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// Nobody wants to wait for a picture.
const BYTES_MAX: usize = 150_000;
const QUALITY: u64 = 82;

#[test]
#[ignore = "a minute or more; scripts/soak browser"]
fn pictures_of_the_page_are_made_and_small() {
    let Some(browser) = Browser::new() else { return };
    let lab = Lab { browser, server: Server::start("pictures") };
    lab.browser.prefer("light", "reduce"); // Nothing that is caught while it moves.
    lab.browser.devtools("Emulation.setScrollbarsHidden", &json!({"hidden": true}));
    front(&lab);
    branch(&lab);
    telephone(&lab);
    play(&lab, "bully", "a=bully&n=5&dead=5&start=2", &[10, 12, 15, 22]);
    play(&lab, "maekawa", "a=maekawa&n=4", &[6, 12, 18, 24]);
    compare(&lab);
    cluster(&lab.browser);
}

fn front(lab: &Lab) {
    lab.browser.resize(1280, 860);
    lab.browser.go(&format!("{}/lab", lab.server.origin));
    lab.browser.until("tiles", "return document.querySelector('.tile');");
    take(&lab.browser, "lab-front", None);
}

/// Two branches, one of them compared with the run as it was.
fn branch(lab: &Lab) {
    lab.browser.resize(1440, 1000);
    lab.run("a=ricart-agrawala&n=4&seed=7&latency=uniform:1..20&at=/0");
    let drop = lab.until_travels("OK");
    lab.browser.click(&format!(".flying button[aria-label='{drop}']"));
    lab.branch_chosen("A");
    let steps = lab.to_the_end();
    assert!(steps > 0);
    lab.browser.run("document.querySelector('.step').scrollTop = 0; scrollTo(0, 0);", &[]);
    in_both_languages(&lab.browser, "lab-branch");
    lab.branch_chosen("A");
    lab.browser.prefer("dark", "reduce");
    take(&lab.browser, "lab-branch-dark", None);
    lab.browser.prefer("light", "reduce");
}

fn telephone(lab: &Lab) {
    lab.browser.resize(390, 844);
    lab.run("a=maekawa&n=5&at=/18");
    take(&lab.browser, "lab-phone", None);
    lab.browser.resize(1440, 1000);
}

/// A few frames of a run that is played: nodes, messages, and what the step says.
fn play(lab: &Lab, name: &str, run: &str, steps: &[u64]) {
    for (frame, step) in steps.iter().enumerate() {
        lab.run(&format!("{run}&at=/0"));
        let (_, last) = lab.step();
        lab.run(&format!("{run}&at=/{}", step.min(&last)));
        take(&lab.browser, &format!("play-{name}-{}", frame + 1), Some(".topology-box"));
    }
}

fn compare(lab: &Lab) {
    lab.browser.resize(1280, 900);
    lab.browser.go(&format!("{}/compare", lab.server.origin));
    lab.browser.until("a plot", "return document.querySelector('.view-compare svg path');");
    take(&lab.browser, "compare", None);
}

/// Three nodes, a lock with a queue, and one without.
fn cluster(browser: &Browser) {
    let place = Place::new("pictures-up");
    let up = Up::bare(&place, &["--nodes", "3"]);
    let held = [("orders/42", "billing"), ("nightly-report", "cron on host-3")];
    let _held: Vec<Running> = held.map(|(lock, label)| hold(&place, lock, label, true)).into();
    let _waiting = hold(&place, "orders/42", "shipping", false);
    browser.resize(1280, 900);
    browser.go(&format!("{}/#token={}", up.page, up.token));
    browser.until(
        "two locks and a queue",
        "return document.querySelectorAll('.locks tbody tr').length >= 2
            && document.querySelector('.cluster-plots .line[d]')
            && document.querySelector('.cluster').textContent.includes('shipping');",
    );
    in_both_languages(browser, "cluster");
}

fn hold(place: &Place, lock: &str, label: &str, inside: bool) -> Running {
    let command = ["lock", lock, "--label", label, "--", "sh", "-c", "echo inside; read never"];
    let mut command = place.command(&command);
    command.stdin(std::process::Stdio::piped());
    let mut running = Running::start(place, command);
    if inside {
        running.wait_for("inside");
    }
    running
}

fn in_both_languages(browser: &Browser, name: &str) {
    take(browser, name, None);
    for (language, sign) in [("pt-BR", "Nó"), ("en", "Node")] {
        browser.run("document.getElementById('language').click();", &[]);
        browser.until(
            &format!("all of it in {language}"),
            &format!(
                "return document.documentElement.lang === '{language}'
                    && document.getElementById('view').textContent.includes('{sign}')
                    && !document.querySelector('main [aria-busy=\"true\"]');"
            ),
        );
        if language != "en" {
            take(browser, &format!("{name}.{language}"), None);
        }
    }
}

/// What is seen, or one part of it, as a file.
fn take(browser: &Browser, name: &str, part: Option<&str>) {
    browser.run_async("requestAnimationFrame(() => requestAnimationFrame(arguments[0]));", &[]);
    let mut how = json!({"format": "webp", "quality": QUALITY});
    if let Some(part) = part {
        let script = "const { x, y, width, height } = document.querySelector(arguments[0])
            .getBoundingClientRect(); return { x, y: y + scrollY, width, height, scale: 1 };";
        how["clip"] = browser.run(script, &[json!(part)]);
        how["captureBeyondViewport"] = json!(true);
    }
    let picture = browser.devtools("Page.captureScreenshot", &how);
    let bytes = decoded(&picture["data"]);
    assert!(bytes.starts_with(b"RIFF"), "{name} is no picture");
    assert!(bytes.len() < BYTES_MAX, "{name} has {} bytes", bytes.len());
    fs::write(folder().join(format!("{name}.webp")), bytes).unwrap();
}

fn folder() -> PathBuf {
    let kept = std::env::var_os("CONCLAVE_PICTURES").map(PathBuf::from);
    let folder =
        kept.unwrap_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pictures"));
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Base 64, as the browser gives pictures.
fn decoded(text: &Value) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    for four in text.as_str().unwrap().trim_end_matches('=').as_bytes().chunks(4) {
        let values = four.iter().map(|letter| DIGITS.iter().position(|digit| digit == letter));
        let bits = values.fold(0, |bits, value| bits << 6 | value.unwrap());
        let bits = bits << (6 * (4 - four.len()));
        bytes.extend((0..four.len() - 1).map(|i| (bits >> (16 - 8 * i)) as u8));
    }
    bytes
}
