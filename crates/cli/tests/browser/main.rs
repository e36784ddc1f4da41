//! The page in a real browser: Debian's chromium, driven as a visitor would use it.
//!
//! Each test has a browser and a server of its own, and does many things with them, since both take
//! a second to start. What a test waits for is looked for in the page until it is there.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod axe;
mod branches;
mod breaking;
mod budget;
mod chromium;
mod cluster;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../cluster/up/cluster.rs"]
mod cluster_process;
mod explained;
mod files;
mod keyboard;
mod lab;
mod playing;
mod screenshots;
mod sharing;
#[path = "../support/mod.rs"]
mod support;
mod views;
mod webdriver;
