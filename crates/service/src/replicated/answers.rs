//! From the table's answers to the words of the API: refusals with codes, and messages that name
//! the lock and say what to do.

use super::explain::BlockerSeen;
use super::hop::{Changed, Lost};
use super::sights::{Details, HolderSeen, Who};
use super::words;
use crate::desk::refusal::{self, Refusal};
use conclave_api::{self as api, Code, Failure};
use conclave_table::{Answer, Fence, Mode, Quota, Refusal as Why, Senseless};

/// What a client is to wait before it asks again, when nobody leads.
const ASK_AGAIN_MS: u64 = 500;

/// The refusal of a request about this name.
pub fn refuse(name: &str, why: &Why, details: Option<&Details>) -> Refusal {
    let mut refusal = plain(name, why);
    if let Some(details) = details {
        refusal.holders = details.holders.iter().map(holder).collect();
        refusal.position = details.position;
        refusal.waited_ms = details.waited_ms;
        refusal.eta_ms = details.eta_ms;
        refusal.cycle = details.cycle.iter().map(blocker).collect();
        if let Some(quiet_ms) =
            details.quiet_ms.filter(|_| matches!(why, Why::Busy | Why::TimedOut))
        {
            refusal.error.message = quiet(quiet_ms);
        }
    }
    refusal
}

impl Changed {
    /// It is done, or was refused.
    pub fn done(&self, name: &str) -> Result<(), Refusal> {
        match self.answer == Answer::Done {
            true => Ok(()),
            false => Err(self.refusal(name)),
        }
    }

    /// Why not. Another answer than was asked for is a bug.
    pub fn refusal(&self, name: &str) -> Refusal {
        match &self.answer {
            Answer::Refused(why) => refuse(name, why, self.details.as_deref()),
            Answer::Done
            | Answer::Opened { .. }
            | Answer::Renewed(_)
            | Answer::Granted(_)
            | Answer::Waiting { .. }
            | Answer::Released { .. }
            | Answer::Forced(_) => strange(),
        }
    }
}

/// There is no answer.
pub fn lost(lost: Lost) -> Refusal {
    let mut refusal = match lost {
        Lost::NoLeader => {
            refusal::refuse(Code::NoLeader, "no node leads the cluster now; ask again")
        }
        Lost::Unknown => refusal::unavailable(
            "the leader was lost before it answered: it may or may not have taken effect",
        ),
        Lost::Busy => refusal::unavailable("too many requests are under way at the leader"),
    };
    refusal.retry_after_ms = Some(ASK_AGAIN_MS);
    refusal
}

/// The table or another node answered what nobody asked: a bug.
pub fn strange() -> Refusal {
    refusal::refuse(Code::Internal, "the engine gave an answer to another question")
}

/// Why nobody is let in, though all may be free.
pub fn quiet(ms: u64) -> String {
    let seconds = ms.div_ceil(1_000);
    format!(
        "this cluster was restored from a backup: nobody is let in for another {seconds} s, until \
         whatever was granted after the backup has ended"
    )
}

/// Who holds, in the words of the API.
pub fn holder(seen: &HolderSeen) -> api::Holder {
    api::Holder {
        label: seen.who.label.to_string(),
        session: hash(&seen.who),
        node: Some(seen.at.0 + 1),
        fence: seen.fence.0,
        held_ms: seen.held_ms,
        mode: Some(mode_name(seen.mode).to_string()),
        slot: matches!(seen.mode, Mode::Permits(_)).then_some(seen.slot),
        lease_ms: Some(seen.lease_ms),
        revoked: seen.ends_in_ms.is_some(),
    }
}

/// Who is in another's way.
pub fn blocker(seen: &BlockerSeen) -> api::Blocker {
    api::Blocker {
        label: seen.who.label.to_string(),
        session: hash(&seen.who),
        lock: seen.lock.to_string(),
        because: if seen.holds { "holds" } else { "earlier" }.to_string(),
    }
}

/// A session's short hash, as it is shown.
pub fn hash(who: &Who) -> String {
    format!("{:08x}", who.hash)
}

/// A mode in one word.
pub fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Exclusive => "exclusive",
        Mode::Shared => "shared",
        Mode::Permits(_) => "permits",
    }
}

fn plain(name: &str, why: &Why) -> Refusal {
    match why {
        Why::NoSession => words::no_session(),
        Why::TakenId => with_status(409, "the request_id opened a session of somebody else"),
        Why::Forgotten => with_status(
            410,
            "the answer to this request is no longer kept: its lowest_open was above it",
        ),
        Why::AnotherRequest => {
            with_status(422, "this request_id was used for another request: draw a new one")
        }
        Why::StaleStream => with_status(409, "the numbers of a session's streams rise"),
        Why::Senseless(what) => senseless(*what),
        Why::Busy => refusal::refuse(Code::Held, format!("'{name}' is not free")),
        Why::TimedOut => {
            refusal::refuse(Code::Timeout, format!("'{name}' could not be had in time"))
        }
        Why::Withdrawn => refusal::refuse(Code::Withdrawn, "it was withdrawn"),
        Why::ModeConflict => refusal::refuse(
            Code::ModeConflict,
            format!("'{name}' is in use with another number of permits, or without any"),
        ),
        Why::Deadlock(all) => refusal::refuse(Code::Deadlock, deadlock(name, all.len())),
        Why::NotWaiting => {
            refusal::not_found(format!("no such request of this session waits for '{name}'"))
        }
        Why::AlreadyGranted => refusal::refuse(
            Code::Granted,
            format!("'{name}' was granted before; give it back with its fence"),
        ),
        Why::NotHolder => refusal::not_holder(name),
        Why::NoCandidate => {
            refusal::not_found(format!("nobody with this label stands for '{name}'"))
        }
        Why::StaleFence { at_least } => stale(name, *at_least),
        Why::Full(quota) => full(*quota),
    }
}

fn stale(name: &str, at_least: Fence) -> Refusal {
    let over = "an older one may be that of a hold that is over";
    let words = format!("'{name}' takes fences from {} on: {over}", at_least.0);
    refusal::refuse(Code::StaleFence, words)
}

fn deadlock(name: &str, parties: usize) -> String {
    let others = parties.saturating_sub(1);
    format!(
        "whoever waits for '{name}' here waits for ever: {others} others wait for what this \
         session has, in a circle; give something back first"
    )
}

fn with_status(status: u16, words: &str) -> Refusal {
    let mut failure = Failure::new(Code::Conflict, words);
    failure.status = Some(status);
    Box::new(failure)
}

fn senseless(what: Senseless) -> Refusal {
    let mut refusal = refusal::bad(match what {
        Senseless::HowMany => "a request names 1 to 16 locks",
        Senseless::NameTwice => "a request names no lock twice",
        Senseless::NoPermits => "permits is 1 or more",
        Senseless::ElectionAlone => "to lead is exclusive, and is asked for by itself",
        Senseless::FutureFence => "no such fence was granted yet",
        Senseless::Version => "the rules of the table only ever become later ones",
    });
    let told_by_no_schema = matches!(what, Senseless::FutureFence | Senseless::NameTwice);
    refusal.status = told_by_no_schema.then_some(422);
    refusal
}

fn full(quota: Quota) -> Refusal {
    let too_many = |words: &str| refusal::too_many(words);
    let quota_met = |words: &str| refusal::refuse(Code::Quota, words);
    match quota {
        Quota::Sessions => too_many("the cluster has as many sessions as it may have"),
        Quota::Names => too_many("the cluster has as many names in use as it may have"),
        Quota::NamesOfPrefix => {
            quota_met("as many names of this first segment are in use as may be")
        }
        Quota::Waiters => too_many("as many requests wait in the cluster as may"),
        Quota::WaitersOfLock => too_many("as many requests wait for this lock as may"),
        Quota::RequestsOfSession => quota_met("this session waits and holds as often as it may"),
        Quota::OpenOfSession => quota_met(
            "too many answers are kept for this session: say lowest_open with its requests",
        ),
        Quota::AnswersBytes => quota_met("the cluster keeps as many answers as it may"),
        Quota::Values => refusal::used_up("the cluster has as many values as it may have"),
        Quota::ValuesBytes => {
            refusal::refuse(Code::TooLarge, "all values together would be too large")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_table::Fence;

    #[test]
    fn every_refusal_has_the_code_and_the_status_that_clients_expect() {
        let all = [
            (Why::NoSession, "no_session", 404),
            (Why::Forgotten, "conflict", 410),
            (Why::AnotherRequest, "conflict", 422),
            (Why::Senseless(Senseless::NameTwice), "bad_request", 422),
            (Why::Senseless(Senseless::ElectionAlone), "bad_request", 400),
            (Why::Busy, "held", 409),
            (Why::TimedOut, "timeout", 409),
            (Why::Withdrawn, "withdrawn", 409),
            (Why::ModeConflict, "mode_conflict", 409),
            (Why::Deadlock(Vec::new()), "deadlock", 409),
            (Why::NotHolder, "not_holder", 409),
            (Why::NotWaiting, "not_found", 404),
            (Why::AlreadyGranted, "granted", 409),
            (Why::Senseless(Senseless::FutureFence), "bad_request", 422),
            (Why::NoCandidate, "not_found", 404),
            (Why::StaleFence { at_least: Fence(7) }, "stale_fence", 409),
            (Why::Full(Quota::WaitersOfLock), "too_many", 429),
            (Why::Full(Quota::NamesOfPrefix), "quota", 429),
            (Why::Full(Quota::ValuesBytes), "too_large", 413),
        ];
        for (why, code, status) in all {
            let refusal = refuse("a", &why, None);
            assert_eq!(refusal.error.code.as_str(), code);
            assert_eq!(refusal.status(), status, "{code}");
        }
        let stale = refuse("a", &Why::StaleFence { at_least: Fence(7) }, None);
        let words = "'a' takes fences from 7 on: an older one may be that of a hold that is over";
        assert_eq!(stale.error.message, words, "nobody may ever have held 'a'");
    }
}
