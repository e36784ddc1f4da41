//! A browser of a test's own, with a fresh profile, that reaches nothing but loopback.

use crate::webdriver::{Wire, presses};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Whatever a test waits for in the page happens sooner than this.
const DEADLINE: Duration = Duration::from_secs(45);
/// So long one command looks at the page before it asks anew.
const LOOK: Duration = Duration::from_secs(5);
/// Lines of the driver's log that are shown when a test fails.
const LOG_LINES: usize = 40;

/// Runs in every document before its own scripts: what goes wrong there is kept for the test.
const WATCH: &str = "
    window.troubles = [];
    addEventListener('securitypolicyviolation', (event) => window.troubles.push(
        `CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
    addEventListener('error', (event) => window.troubles.push(`error: ${event.message}`), true);
    addEventListener('unhandledrejection', (event) =>
        window.troubles.push(`rejection: ${event.reason}`));";

/// One at a time: two would only take the processor from each other, and budgets are measured.
static TURN: Mutex<()> = Mutex::new(());

pub struct Browser {
    wire: Wire,
    session: String,
    driver: Child,
    log: PathBuf,
    versions: String,
    _turn: Option<MutexGuard<'static, ()>>,
}

impl Browser {
    /// Starts one when it is its turn; says why and gives nothing where that cannot be done.
    pub fn new() -> Option<Self> {
        for tool in ["chromium", "chromedriver"] {
            if program(tool).is_none() {
                eprintln!("skipped: '{tool}' is missing; scripts/test installs it, as root");
                return None;
            }
        }
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut browser = Self::start(Some(turn));
        browser.watch();
        Some(browser)
    }

    /// Another one beside this, with a profile of its own: somebody else's machine.
    pub fn another(&self) -> Self {
        let mut browser = Self::start(None);
        browser.watch();
        browser
    }

    fn start(turn: Option<MutexGuard<'static, ()>>) -> Self {
        let log = log_file();
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").arg(format!("--log-path={}", log.display()));
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        // Debian's wrapper of chromium has words of its own about the machine.
        command.stderr(File::create(log.with_extension("stderr")).unwrap());
        let mut driver = command.spawn().unwrap();
        let port = port(&mut driver);
        let wire = Wire::new(port);
        let opened = wire.post("/session", &wishes());
        let opened = opened.unwrap_or_else(|why| {
            let _ = driver.kill().and_then(|()| driver.wait());
            panic!("no browser: {why}\n{}\n{}", versions(), tail(&log));
        });
        let session = format!("/session/{}", opened["sessionId"].as_str().unwrap());
        let versions = format!(
            "chromium {}, chromedriver {}",
            opened["capabilities"]["browserVersion"],
            opened["capabilities"]["chrome"]["chromedriverVersion"],
        );
        Self { wire, session, driver, log, versions, _turn: turn }
    }

    fn watch(&mut self) {
        let long = json!({"script": 100_000, "pageLoad": 60_000});
        self.post("/timeouts", &long).unwrap();
        self.watch_this_tab();
    }

    /// For the tab that is looked at: what goes wrong in it is kept from now on.
    pub fn watch_this_tab(&self) {
        self.devtools("Page.addScriptToEvaluateOnNewDocument", &json!({"source": WATCH}));
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        self.wire.post(&format!("{}{path}", self.session), body)
    }

    /// A command of the browser's own protocol.
    pub fn devtools(&self, command: &str, parameters: &Value) -> Value {
        let body = json!({"cmd": command, "params": parameters});
        self.post("/goog/cdp/execute", &body).unwrap_or_else(|why| panic!("{command}: {why}"))
    }

    pub fn go(&self, url: &str) {
        self.post("/url", &json!({"url": url})).unwrap_or_else(|why| panic!("{url}: {why}"));
    }

    /// Runs a script in the page and gives what it returns.
    pub fn run(&self, script: &str, arguments: &[Value]) -> Value {
        let body = json!({"script": script, "args": arguments});
        self.post("/execute/sync", &body).unwrap_or_else(|why| panic!("{script}: {why}"))
    }

    /// The same for a script that calls its last argument when it is done.
    pub fn run_async(&self, script: &str, arguments: &[Value]) -> Value {
        let body = json!({"script": script, "args": arguments});
        self.post("/execute/async", &body).unwrap_or_else(|why| panic!("{script}: {why}"))
    }

    /// Looks again and again until a script returns something true, and gives that.
    pub fn until(&self, what: &str, script: &str) -> Value {
        let looks = format!(
            "const done = arguments[arguments.length - 1];
             const begun = performance.now();
             const asked = () => {{ {script} }};
             const look = () => {{
                 let found = null;
                 try {{ found = asked(); }} catch (error) {{ found = null; }}
                 if (found || performance.now() - begun > {}) return done(found || null);
                 return setTimeout(look, 15);
             }};
             look();",
            LOOK.as_millis(),
        );
        let end = Instant::now() + DEADLINE;
        let body = json!({"script": looks, "args": []});
        loop {
            // Refused where the page has just been left for another: then that one is asked.
            let found = self.post("/execute/async", &body);
            match found {
                Ok(found) if !found.is_null() => return found,
                answer => assert!(Instant::now() < end, "never {what}: {answer:?}"),
            }
        }
    }

    /// Clicks as a hand would: the element is scrolled to, and must not be covered.
    pub fn click(&self, css: &str) {
        let wanted = format!("return document.querySelector({});", json!(css));
        let element = self.until(css, &wanted);
        let id = element.as_object().and_then(|element| element.values().next());
        let id = id.and_then(Value::as_str).unwrap().to_string();
        self.post(&format!("/element/{id}/click"), &json!({}))
            .unwrap_or_else(|why| panic!("click on {css}: {why}"));
    }

    /// Presses keys one after another, wherever the focus is.
    pub fn press(&self, keys: &[char]) {
        self.post("/actions", &presses(keys)).unwrap();
    }

    /// What the element in focus is called, by whoever reads it aloud.
    pub fn focused_name(&self) -> String {
        let active = self.wire.get(&format!("{}/element/active", self.session)).unwrap();
        let id = active.as_object().and_then(|element| element.values().next()).unwrap();
        let path = format!("{}/element/{}/computedlabel", self.session, id.as_str().unwrap());
        self.wire.get(&path).unwrap().as_str().unwrap_or_default().to_string()
    }

    /// Everything that a screen reader finds with this role below an element, by name.
    pub fn names(&self, css: &str, role: &str) -> Vec<String> {
        let document = self.devtools("DOM.getDocument", &json!({"depth": 0}));
        let root = &document["root"]["nodeId"];
        let found = self.devtools("DOM.querySelector", &json!({"nodeId": root, "selector": css}));
        let query = json!({"nodeId": found["nodeId"], "role": role});
        let tree = self.devtools("Accessibility.queryAXTree", &query);
        let nodes = tree["nodes"].as_array().unwrap().iter();
        let seen = nodes.filter(|node| node["ignored"] != json!(true));
        seen.map(|node| node["name"]["value"].as_str().unwrap_or_default().to_string()).collect()
    }

    /// As large as this; a window by itself is never narrower than 500.
    pub fn resize(&self, width: u64, height: u64) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1,
            "mobile": width < 500});
        self.devtools("Emulation.setDeviceMetricsOverride", &size);
    }

    /// What the system would prefer: its theme, and whether things may move.
    pub fn prefer(&self, theme: &str, motion: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": theme},
            {"name": "prefers-reduced-motion", "value": motion}]);
        self.devtools("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// Opens a further tab and looks at it.
    pub fn new_tab(&self) -> String {
        let made = self.post("/window/new", &json!({"type": "tab"})).unwrap();
        let handle = made["handle"].as_str().unwrap().to_string();
        self.look_at(&handle);
        self.watch_this_tab();
        handle
    }

    pub fn look_at(&self, tab: &str) {
        self.post("/window", &json!({"handle": tab})).unwrap();
    }

    pub fn tab(&self) -> String {
        let handle = self.wire.get(&format!("{}/window", self.session)).unwrap();
        handle.as_str().unwrap().to_string()
    }

    pub fn close_tab(&self) {
        self.wire.delete(&format!("{}/window", self.session)).unwrap();
    }

    /// Nothing went wrong in the page since it was loaded, and since this was last asked.
    pub fn assert_calm(&self, what: &str) {
        self.assert_no_mistake(what);
        let said = self.console();
        assert!(said.is_empty(), "{what}: the console says {said:#?}");
    }

    /// The same, where the console has to tell of servers that do not answer.
    pub fn assert_no_mistake(&self, what: &str) {
        let troubles = self.run("return window.troubles;", &[]);
        assert_eq!(troubles, json!([]), "{what}");
    }

    /// Errors and warnings in the console since it was last asked.
    fn console(&self) -> Vec<Value> {
        let entries = self.post("/se/log", &json!({"type": "browser"})).unwrap_or_default();
        let entries = entries.as_array().cloned().unwrap_or_default().into_iter();
        entries.filter(|entry| entry["level"] == "SEVERE" || entry["level"] == "WARNING").collect()
    }

    /// The picture of what is seen now, as a PNG in base 64.
    pub fn screenshot(&self) -> Option<String> {
        let shot = self.wire.get(&format!("{}/screenshot", self.session)).ok()?;
        shot.as_str().map(str::to_string)
    }

    /// What helps to find out why a test failed.
    fn explain(&self) {
        eprintln!("{}", self.versions);
        let body = json!({"script": "return [location.href, innerWidth,
            document.getElementById('live')?.textContent, window.troubles]", "args": []});
        eprintln!("the page: {:?}", self.post("/execute/sync", &body));
        eprintln!("the console: {:#?}", self.console());
        if let Some(shot) = self.screenshot() {
            let file = self.log.with_extension("png.base64");
            let _ = fs::write(&file, shot);
            eprintln!("a picture: base64 -d {}", file.display());
        }
        eprintln!("{}", tail(&self.log));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let failed = std::thread::panicking();
        if failed {
            self.explain();
        }
        let _ = self.wire.delete(&self.session); // This ends chromium.
        let _ = self.driver.kill().and_then(|()| self.driver.wait());
        if !failed {
            let _ = fs::remove_file(&self.log);
            let _ = fs::remove_file(self.log.with_extension("stderr"));
        }
    }
}

/// Where a program is, if it is.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn wishes() -> Value {
    let mut flags = vec![
        "--headless=new",
        "--disable-dev-shm-usage", // Small in containers.
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--lang=en-US",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ];
    if rustix::process::geteuid().is_root() {
        flags.push("--no-sandbox"); // Chromium refuses to start without it.
    }
    let options = json!({"args": flags, "binary": program("chromium")});
    json!({"capabilities": {"alwaysMatch": {"browserName": "chrome",
        "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
}

/// chromedriver says it once it listens.
fn port(driver: &mut Child) -> u16 {
    let lines = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut said = lines.filter_map(|line| {
        let (_, port) = line.split_once("successfully on port ")?;
        port.trim_end_matches('.').parse().ok()
    });
    said.next().unwrap_or_else(|| panic!("chromedriver does not start\n{}", versions()))
}

fn versions() -> String {
    let version = |name: &str| match Command::new(name).arg("--version").output() {
        Ok(output) => String::from_utf8_lossy(&output.stdout).trim().to_string(),
        Err(error) => format!("{name}: {error}"),
    };
    format!("{}, {}", version("chromium"), version("chromedriver"))
}

fn log_file() -> PathBuf {
    static COUNT: Mutex<u32> = Mutex::new(0);
    let mut count = COUNT.lock().unwrap_or_else(PoisonError::into_inner);
    *count += 1;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser");
    fs::create_dir_all(&folder).unwrap();
    folder.join(format!("{}-{count}.log", std::process::id()))
}

fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
}
