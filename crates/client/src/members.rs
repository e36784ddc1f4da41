//! The calls about membership: who belongs to a replicated cluster, who leads it, and its backups.
//! All but the first need the admin token.

use crate::api::{Members, NewMember, Promote, Transfer};
use crate::question::Question;
use crate::{Client, Error};
use std::time::Duration;

/// A new member gets a snapshot first, and a change of members needs a majority twice.
const PATIENCE: Duration = Duration::from_secs(30);

/// No backup is larger, in bytes.
const SNAPSHOT_MAX: usize = 4 << 30;

impl Client {
    /// Who belongs to the cluster.
    pub fn members(&self) -> Result<Members, Error> {
        self.ask(&Question::get("/v1/cluster/members".to_string(), PATIENCE))
    }

    /// Takes a node with an empty disk in, as a learner.
    pub fn add_member(&self, member: &NewMember) -> Result<Members, Error> {
        self.ask(&Question::post("/v1/cluster/members".to_string(), member, PATIENCE))
    }

    /// A node belongs to the cluster no longer.
    pub fn remove_member(&self, id: u32) -> Result<Members, Error> {
        self.ask(&Question::delete(format!("/v1/cluster/members/{id}"), PATIENCE))
    }

    /// A learner gets its vote.
    pub fn promote(&self, id: u32) -> Result<Members, Error> {
        self.ask(&Question::post("/v1/cluster/promote".to_string(), &Promote { id }, PATIENCE))
    }

    /// Another node is to lead: this one, or the voter that is least behind.
    pub fn transfer(&self, to: Option<u32>) -> Result<Members, Error> {
        self.ask(&Question::post("/v1/cluster/transfer".to_string(), &Transfer { to }, PATIENCE))
    }

    /// A backup of the table: its bytes, as `conclave cluster restore` takes them.
    pub fn snapshot(&self) -> Result<Vec<u8>, Error> {
        let nothing = serde_json::Map::new();
        let question = Question::post("/v1/cluster/snapshot".to_string(), &nothing, PATIENCE);
        self.bytes(&question.with_answer_max(SNAPSHOT_MAX)).map(|(_, bytes)| bytes)
    }
}
