//! Supervises a running command: passes signals on, and stops it before its lease ends.

use super::child::{self, Child};
use super::{Happened, Outcome};
use crate::output;
use conclave_client::{Guard, Loss, Watch, nap, since_boot};
use rustix::process::Signal;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// The command is asked to stop so long before the deadline, at most.
const WARNING: Duration = Duration::from_secs(2);
/// And is killed so long before it.
const MARGIN: Duration = Duration::from_millis(100);

/// How far the end has come.
enum Phase {
    /// All is well.
    Running,
    /// The command was asked to stop, and is killed at this moment.
    Stopping(Loss, Duration),
    /// It was killed.
    Killed(Loss),
}

/// Waits for the end of the command, whatever brings it about.
pub fn supervise(
    child: Child,
    guard: &Guard,
    sender: &Sender<Happened>,
    events: &Receiver<Happened>,
) -> anyhow::Result<Outcome> {
    let pid = child.pid();
    let ended = sender.clone();
    thread::Builder::new().name("waits".into()).spawn(move || {
        child::wait(pid);
        let _ = ended.send(Happened::Ended);
    })?;
    let watch = guard.watch();
    let lost = sender.clone();
    thread::Builder::new().name("watches".into()).spawn(move || {
        if let Some(loss) = watch.wait() {
            let _ = lost.send(Happened::Lost(loss));
        }
    })?;
    let watch = guard.watch();
    let warning = WARNING.min(watch.lasts() / 4);
    let mut supervisor = Supervisor { watch, warning, phase: Phase::Running, in_reach: true };
    loop {
        match events.recv_timeout(supervisor.pause()) {
            Ok(Happened::Signal(signal)) => child.signal(signal),
            Ok(Happened::Lost(loss)) if supervisor.watch.lost().is_some() => {
                supervisor.stop(&child, loss);
            }
            Ok(Happened::Ended) => return supervisor.end(child),
            Ok(Happened::Lost(_) | Happened::Answered(_)) => {} // Of an earlier command.
            Err(RecvTimeoutError::Timeout) => {
                supervisor.check_reach(&child);
                supervisor.check_deadline(&child);
            }
            Err(error @ RecvTimeoutError::Disconnected) => return Err(error.into()),
        }
    }
}

struct Supervisor {
    watch: Watch,
    /// How long before the deadline to ask.
    warning: Duration,
    phase: Phase,
    /// Signals reach the command, as far as is known.
    in_reach: bool,
}

impl Supervisor {
    /// Says so as soon as the command cannot be stopped any more: it may become another user's at
    /// any time, and then the lock protects nothing once it is lost.
    fn check_reach(&mut self, child: &Child) {
        if self.in_reach && child.is_out_of_reach() {
            self.in_reach = false;
            output::warn(
                "the command runs as another user and cannot be stopped: when the time to live \
                 has passed unanswered, it goes on while others are let in; put sudo first \
                 ('sudo conclave …')",
            );
        }
    }

    /// How long nothing needs to be looked at.
    fn pause(&self) -> Duration {
        nap(match &self.phase {
            Phase::Running => self.watch.left().saturating_sub(self.warning),
            Phase::Stopping(_, moment) => moment.saturating_sub(since_boot()),
            Phase::Killed(_) => Duration::MAX,
        })
    }

    fn check_deadline(&mut self, child: &Child) {
        match &self.phase {
            Phase::Running => {
                if self.watch.left() <= self.warning {
                    let loss = self.watch.lost().unwrap_or(Loss::Silence);
                    self.stop(child, loss);
                }
            }
            Phase::Stopping(loss, moment) if since_boot() >= *moment => {
                child.signal(Signal::KILL);
                if child.is_out_of_reach() {
                    self.in_reach = false;
                    output::warn("the command goes on: it is another user's");
                }
                self.phase = Phase::Killed(loss.clone());
            }
            Phase::Stopping(..) | Phase::Killed(_) => {}
        }
    }

    /// Asks the command to stop. What the node says, it says as soon as it can, and there is some
    /// time left. After silence there is none if this process slept beyond the deadline.
    fn stop(&mut self, child: &Child, loss: Loss) {
        if matches!(self.phase, Phase::Running) {
            child.signal(Signal::TERM);
            child.signal(Signal::CONT); // Who is stopped could not hear it.
            let grace = grace(self.warning, self.watch.time_to_leave());
            self.phase = Phase::Stopping(loss, since_boot() + grace);
        }
    }

    /// The command has ended. Perhaps it ended late, while this process was stopped too.
    fn end(self, child: Child) -> anyhow::Result<Outcome> {
        let loss = match self.phase {
            Phase::Running => self.watch.lost(),
            Phase::Stopping(loss, _) | Phase::Killed(loss) => Some(loss),
        };
        let Some(loss) = loss else { return Ok(Outcome::Exit(child.end()?)) };
        // Whatever it left behind.
        if child.kill()? && self.in_reach {
            output::warn("what the command started goes on: it is another user's");
        }
        Ok(Outcome::Lost(loss))
    }
}

/// How long a command has that was asked to stop, by whatever loss, if the next one may be inside
/// after so long.
fn grace(warning: Duration, time_to_leave: Duration) -> Duration {
    warning.min(time_to_leave.saturating_sub(MARGIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_killed_before_the_next_one_may_be_inside() {
        let ms = Duration::from_millis;
        assert_eq!(grace(ms(2_000), ms(9_700)), ms(2_000), "it was told in good time");
        for left in [0, 99, 101, 1_500] {
            let grace = grace(ms(2_000), ms(left));
            assert!(grace.is_zero() || grace + MARGIN <= ms(left), "{left}: {grace:?}");
        }
    }
}
