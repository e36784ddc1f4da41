//! Signals as events: what the terminal or another process wants of this one.

use rustix::process::Signal;
use std::io;
use std::thread;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

/// From now on these signals do nothing by themselves, but are passed on: INT, TERM, HUP, QUIT.
pub fn pass_on(mut to: impl FnMut(Signal) + Send + 'static) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let entered = runtime.enter();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut quit = signal(SignalKind::quit())?;
    drop(entered);
    let listen = async move {
        loop {
            to(tokio::select! {
                _ = interrupt.recv() => Signal::INT,
                _ = terminate.recv() => Signal::TERM,
                _ = hangup.recv() => Signal::HUP,
                _ = quit.recv() => Signal::QUIT,
            });
        }
    };
    thread::Builder::new().name("signals".into()).spawn(move || runtime.block_on(listen))?;
    Ok(())
}

/// The exit code of what a signal ended.
pub fn code(signal: Signal) -> u8 {
    u8::try_from(128 + signal.as_raw()).unwrap_or(u8::MAX)
}
