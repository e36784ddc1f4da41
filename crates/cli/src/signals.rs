//! Signals as events: what the terminal or another process wants of this one.

use rustix::process::Signal;
use std::fs;
use std::future;
use std::io;
use std::thread;
use tokio::runtime::Builder;
use tokio::signal::unix::{self, SignalKind};

/// From now on these signals do nothing by themselves, but are passed on: INT, TERM, HUP, QUIT.
/// Those that were ignored until now stay so, here and in every command that is started: that is
/// how `nohup` and a shell keep a signal away.
pub fn pass_on(mut to: impl FnMut(Signal) + Send + 'static) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let entered = runtime.enter();
    let ignored = ignored();
    let mut interrupt = heard(Signal::INT, ignored)?;
    let mut terminate = heard(Signal::TERM, ignored)?;
    let mut hangup = heard(Signal::HUP, ignored)?;
    let mut quit = heard(Signal::QUIT, ignored)?;
    drop(entered);
    let listen = async move {
        loop {
            to(tokio::select! {
                () = next(&mut interrupt) => Signal::INT,
                () = next(&mut terminate) => Signal::TERM,
                () = next(&mut hangup) => Signal::HUP,
                () = next(&mut quit) => Signal::QUIT,
            });
        }
    };
    thread::Builder::new().name("signals".into()).spawn(move || runtime.block_on(listen))?;
    Ok(())
}

/// The signals that this process ignores, one bit each.
fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

/// A signal as it comes, unless it is ignored.
fn heard(signal: Signal, ignored: u64) -> io::Result<Option<unix::Signal>> {
    let number = signal.as_raw();
    let is_ignored = ignored >> (number - 1) & 1 == 1;
    (!is_ignored).then(|| unix::signal(SignalKind::from_raw(number))).transpose()
}

async fn next(signal: &mut Option<unix::Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => future::pending().await,
    }
}

/// The exit code of what a signal ended.
pub fn code(signal: Signal) -> u8 {
    u8::try_from(128 + signal.as_raw()).unwrap_or(u8::MAX)
}
