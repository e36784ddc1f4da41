//! The few commands of WebDriver that the tests need, over HTTP to chromedriver.

use serde_json::{Value, json};
use std::time::Duration;
use ureq::Agent;

/// Longer than any command takes, those that wait in the page among them.
const PATIENCE: Duration = Duration::from_secs(120);
/// A screenshot, or the tree of a large page.
const ANSWER_MAX: u64 = 64 << 20;

/// A conversation with one chromedriver.
pub struct Wire {
    agent: Agent,
    base: String,
}

impl Wire {
    pub fn new(port: u16) -> Self {
        let settings = Agent::config_builder().http_status_as_error(false);
        let agent = settings.timeout_global(Some(PATIENCE)).build().new_agent();
        Self { agent, base: format!("http://127.0.0.1:{port}") }
    }

    pub fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        let url = format!("{}{path}", self.base);
        answer(self.agent.post(url).send_json(body))
    }

    pub fn get(&self, path: &str) -> Result<Value, String> {
        answer(self.agent.get(format!("{}{path}", self.base)).call())
    }

    pub fn delete(&self, path: &str) -> Result<Value, String> {
        answer(self.agent.delete(format!("{}{path}", self.base)).call())
    }
}

type Answer = Result<ureq::http::Response<ureq::Body>, ureq::Error>;

/// What WebDriver puts into `value`; its message where it refuses.
fn answer(answer: Answer) -> Result<Value, String> {
    let mut answer = answer.map_err(|error| error.to_string())?;
    let refused = !answer.status().is_success();
    let body = answer.body_mut().with_config().limit(ANSWER_MAX).read_json::<Value>();
    let value = body.map_err(|error| error.to_string())?["value"].take();
    match refused {
        true => Err(format!("{}: {}", value["error"], text(&value["message"]))),
        false => Ok(value),
    }
}

/// The first line: what follows is a stack of addresses.
fn text(message: &Value) -> &str {
    message.as_str().and_then(|message| message.lines().next()).unwrap_or_default()
}

/// Keys as WebDriver names those that write nothing.
pub mod key {
    pub const TAB: char = '\u{E004}';
    pub const ENTER: char = '\u{E007}';
    pub const ESCAPE: char = '\u{E00C}';
    pub const END: char = '\u{E010}';
    pub const HOME: char = '\u{E011}';
    pub const RIGHT: char = '\u{E014}';
}

/// Keys that are pressed one after another, as the body of an action.
pub fn presses(keys: &[char]) -> Value {
    let strokes = keys.iter().flat_map(|key| {
        let stroke = |kind: &str| json!({"type": kind, "value": key.to_string()});
        [stroke("keyDown"), stroke("keyUp")]
    });
    let strokes: Vec<Value> = strokes.collect();
    json!({"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]})
}
