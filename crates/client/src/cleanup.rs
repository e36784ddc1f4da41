//! Cleanup: releases and withdrawals that are still owed to a node. A session that lives on must
//! not keep a lock, or a place in a queue, only because an answer or a request got lost.

use crate::api::{Acquire, Code, Grant, Release, Released, Withdraw, Withdrawn};
use crate::asking::Words;
use crate::clock::since_boot;
use crate::session::{Kind, Shared};
use crate::{Client, Error};
use std::time::Duration;

/// What is owed is tried again after so long.
const RETRY: Duration = Duration::from_secs(1);

/// One thing that is owed to the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cleanup {
    /// To have this request leave its queue; or, if it was granted, to give that back. In a cluster
    /// the withdrawal has a number of its own.
    Request { kind: Kind, name: String, number: u64, own: Option<u64> },
    /// To give this back. A repeat has the same id, so that it counts once.
    Hold { kind: Kind, name: String, release: Release, own: Option<u64> },
}

impl Cleanup {
    /// The number of the request that does it.
    fn own(&self) -> Option<u64> {
        match self {
            Self::Request { own, .. } | Self::Hold { own, .. } => *own,
        }
    }
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
        let own = cleanup.own();
        match self.attempt(cleanup, client) {
            Some(left) => self.clean_up_later(left),
            None => self.settle(own),
        }
    }

    /// The thread does this later.
    pub fn clean_up_later(&self, cleanup: Cleanup) {
        self.lock().cleanups.add(cleanup);
        self.changed.notify_all();
    }

    /// A request was answered, if it had a number.
    pub fn settle(&self, number: Option<u64>) {
        if let Some(number) = number {
            self.lock().requests.settle(number);
        }
    }

    /// What is left to do after one attempt. A clear answer, whichever, is the end of it.
    fn attempt(&self, cleanup: Cleanup, client: &Client) -> Option<Cleanup> {
        match &cleanup {
            Cleanup::Hold { kind, name, release, .. } => {
                is_undecided(give_back(client, *kind, name, release)).then_some(cleanup)
            }
            Cleanup::Request { kind, name, number, own } => {
                match self.withdraw(client, *kind, name, *number, *own) {
                    Err(error) if error.says(Code::Granted) && !self.of_cluster => {
                        self.return_grant(cleanup, client)
                    }
                    answer => is_undecided(answer).then_some(cleanup),
                }
            }
        }
    }

    /// A request that was granted unnoticed: its repeat says with which fence.
    fn return_grant(&self, cleanup: Cleanup, client: &Client) -> Option<Cleanup> {
        let Cleanup::Request { kind, name, number, own } = &cleanup else { return Some(cleanup) };
        let request = Acquire {
            session: self.session.clone(),
            request_id: Some(number.to_string()),
            ..Acquire::default()
        };
        let words = Words::One(*kind, name.clone(), request);
        match words.ask(client).map(|mut grants| grants.pop()) {
            Ok(Some(grant)) if !grant.released => {
                let release = self.release_of(&grant, *number, *own);
                let hold = Cleanup::Hold { kind: *kind, name: name.clone(), release, own: *own };
                self.attempt(hold, client)
            }
            Ok(_) => None,
            Err(error) => error.is_undecided().then_some(cleanup),
        }
    }

    /// The words that give a grant back. They name the request that led to it, so that of several
    /// holds the right one is given back: a node alone takes them under its id, and in a cluster
    /// they have a number of their own.
    pub fn release_of(&self, grant: &Grant, number: u64, own: Option<u64>) -> Release {
        Release {
            session: self.session.clone(),
            fence: grant.fence,
            hold: own.map(|_| number.to_string()),
            request_id: Some(own.unwrap_or(number).to_string()),
            lowest_open: self.lowest_open(),
        }
    }

    /// Has a request leave its queue.
    pub fn withdraw(
        &self,
        client: &Client,
        kind: Kind,
        name: &str,
        number: u64,
        own: Option<u64>,
    ) -> Result<Withdrawn, Error> {
        let words = Withdraw {
            session: self.session.clone(),
            request_id: own.map(|own| own.to_string()),
            lowest_open: self.lowest_open(),
        };
        match kind {
            Kind::Lock => client.withdraw(name, &number.to_string(), &words),
            Kind::Election => client.stand_down(name, &number.to_string(), &words),
        }
    }
}

/// Whether the node may or may not have done what it was asked for.
fn is_undecided<T>(answer: Result<T, Error>) -> bool {
    answer.is_err_and(|error| error.is_undecided())
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
