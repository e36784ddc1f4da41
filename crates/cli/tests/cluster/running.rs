//! What `docs/running.md` says about who may do what can be copied and pasted.

use crate::ports::free_addresses;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Nothing of it takes longer, however busy the machine.
const LONGEST_SECONDS: &str = "120";
const MANUAL: &str = include_str!("../../../../docs/running.md");

/// All that is to be typed under a heading, with ports that are free.
fn typed(heading: &str) -> String {
    let from = MANUAL.find(heading).expect("the heading") + heading.len();
    let section = &MANUAL[from..];
    let section = &section[..section.find("\n## ").unwrap_or(section.len())];
    let mut text = String::new();
    for block in section.split("```sh\n").skip(1) {
        text += block.split("```").next().unwrap_or_default();
    }
    for (kind, addresses) in [("707", free_addresses(3)), ("710", free_addresses(3))] {
        for (node, address) in (1..).zip(addresses) {
            let node: u32 = node;
            text = text.replace(&format!("127.0.0.1:{kind}{node}"), &address.to_string());
        }
    }
    text
}

/// A directory of the test's own, and whatever was started in it; both are gone in the end.
struct Walk {
    folder: PathBuf,
    group: Option<Pid>,
}

impl Walk {
    /// Types it all into a shell, and returns what was said and what was complained about.
    fn walk(text: &str) -> (String, String) {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("running-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut walk = Self { folder, group: None };
        let file = |name: &str| File::create(walk.folder.join(name)).unwrap();
        let own = Path::new(env!("CARGO_BIN_EXE_conclave")).parent().unwrap();
        let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("timeout")
            .args([LONGEST_SECONDS, "sh", "-c", text])
            .env("PATH", path)
            .env("LANG", "C")
            .current_dir(&walk.folder)
            .stdin(Stdio::null())
            .stdout(file("said"))
            .stderr(file("complained"))
            .process_group(0)
            .spawn()
            .unwrap();
        walk.group = Some(Pid::from_child(&shell));
        shell.wait().unwrap();
        let read = |name: &str| fs::read_to_string(walk.folder.join(name)).unwrap();
        (read("said"), read("complained"))
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            let _ = kill_process_group(group, Signal::KILL); // The nodes, which outlive the shell.
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn who_may_do_what_can_be_tried_by_copy_and_paste() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("skipped: 'curl' is missing");
        return;
    }
    let (said, complained) = Walk::walk(&typed("## Who may do what"));
    assert_eq!(said.matches("inside\n").count(), 2, "{said}{complained}");
    assert!(!said.contains("never\n"), "{said}");
    let refused = "error: deploys/main: 'ci' has no right to acquire 'deploys/main'\n";
    assert!(complained.contains(refused), "{complained}");
    assert!(said.contains("https://127.0.0.1:"), "status: {said}");
    assert!(said.contains("conclave_audit_lines_total"), "metrics: {said}");
}
