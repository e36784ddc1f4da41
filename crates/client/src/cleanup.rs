//! Cleanup: releases and withdrawals that are still owed to a node. A session that lives on must
//! not keep a lock, or a place in a queue, only because an answer or a request got lost.

use crate::api::{Acquire, Code, Grant, Release, Released, Withdrawn};
use crate::clock::since_boot;
use crate::lease::{Kind, Shared};
use crate::{Client, Error};
use std::time::Duration;

/// What is owed is tried again after so long.
const RETRY: Duration = Duration::from_secs(1);

/// One thing that is owed to the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cleanup {
    /// To have this request leave its queue; or, if it was granted, to give that back.
    Request { kind: Kind, name: String, id: String },
    /// To give this back. A repeat has the same id, so that it counts once.
    Hold { kind: Kind, name: String, release: Release },
}

/// All that is owed, and when to try again.
#[derive(Debug, Default)]
pub(crate) struct Cleanups {
    owed: Vec<Cleanup>,
    again: Duration,
}

impl Cleanups {
    pub fn add(&mut self, cleanup: Cleanup) {
        self.owed.push(cleanup);
        self.put_off();
    }

    /// When to try again, if anything is owed.
    pub fn due(&self) -> Option<Duration> {
        (!self.owed.is_empty()).then_some(self.again)
    }

    /// It was tried just now, or could not be.
    pub fn put_off(&mut self) {
        self.again = since_boot() + RETRY;
    }

    pub fn take(&mut self) -> Vec<Cleanup> {
        std::mem::take(&mut self.owed)
    }
}

impl Shared {
    /// Does what is owed; if nobody answers, the thread will.
    pub fn clean_up(&self, cleanup: Cleanup, client: &Client) {
        if let Some(left) = self.attempt(cleanup, client) {
            self.clean_up_later(left);
        }
    }

    /// The thread does this later.
    pub fn clean_up_later(&self, cleanup: Cleanup) {
        self.lock().cleanups.add(cleanup);
        self.changed.notify_all();
    }

    /// What is left to do after one attempt. A clear answer, whichever, is the end of it.
    fn attempt(&self, cleanup: Cleanup, client: &Client) -> Option<Cleanup> {
        match &cleanup {
            Cleanup::Hold { kind, name, release } => {
                is_undecided(give_back(client, *kind, name, release)).then_some(cleanup)
            }
            Cleanup::Request { kind, name, id } => {
                match withdraw(client, *kind, name, id, &self.session) {
                    Err(error) if error.says(Code::Granted) => self.return_grant(cleanup, client),
                    answer => is_undecided(answer).then_some(cleanup),
                }
            }
        }
    }

    /// A request that was granted unnoticed: its repeat says with which fence.
    fn return_grant(&self, cleanup: Cleanup, client: &Client) -> Option<Cleanup> {
        let Cleanup::Request { kind, name, id } = &cleanup else { return Some(cleanup) };
        let request = Acquire {
            session: self.session.clone(),
            request_id: Some(id.clone()),
            ..Acquire::default()
        };
        match ask(client, *kind, name, &request) {
            Ok(grant) if grant.released => None,
            Ok(grant) => {
                let release = self.release_of(&grant, id);
                self.attempt(Cleanup::Hold { kind: *kind, name: name.clone(), release }, client)
            }
            answer => is_undecided(answer).then_some(cleanup),
        }
    }

    /// The words that give a grant back. They have the id of the request that led to it, so that
    /// of several holds the right one is given back.
    pub fn release_of(&self, grant: &Grant, id: &str) -> Release {
        let session = self.session.clone();
        let request_id = Some(id.to_string());
        Release { session, fence: grant.fence, request_id, ..Release::default() }
    }
}

/// Whether the node may or may not have done what it was asked for.
fn is_undecided<T>(answer: Result<T, Error>) -> bool {
    answer.is_err_and(|error| error.is_undecided())
}

/// Asks for a lock or a leadership.
pub(crate) fn ask(
    client: &Client,
    kind: Kind,
    name: &str,
    request: &Acquire,
) -> Result<Grant, Error> {
    match kind {
        Kind::Lock => client.acquire(name, request),
        Kind::Election => client.campaign(name, request),
    }
}

/// Gives a lock or a leadership back.
pub(crate) fn give_back(
    client: &Client,
    kind: Kind,
    name: &str,
    request: &Release,
) -> Result<Released, Error> {
    match kind {
        Kind::Lock => client.release(name, request),
        Kind::Election => client.resign(name, request),
    }
}

/// Has a request leave its queue.
pub(crate) fn withdraw(
    client: &Client,
    kind: Kind,
    name: &str,
    id: &str,
    session: &str,
) -> Result<Withdrawn, Error> {
    match kind {
        Kind::Lock => client.withdraw(name, id, session),
        Kind::Election => client.stand_down(name, id, session),
    }
}
