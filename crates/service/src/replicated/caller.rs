//! Whoever asks the engine for something, by way of this node's API.

use super::answers::lost;
use super::commands::unexpected;
use super::engine::ReplicatedEngine;
use super::hop::{Asked, Changed, Patience, Said};
use crate::desk::Answer as Answered;
use crate::rights::Principal;
use conclave_table::{Change, SessionId, Text};
use std::ops::Deref;
use std::sync::Arc;

/// The engine, in somebody's name: what it is asked for goes to the leader with that name.
pub struct Caller {
    engine: Arc<ReplicatedEngine>,
    /// Who asks.
    pub principal: Principal,
}

impl Deref for Caller {
    type Target = ReplicatedEngine;

    fn deref(&self) -> &ReplicatedEngine {
        &self.engine
    }
}

impl Caller {
    /// This engine, in that name.
    pub fn new(engine: Arc<ReplicatedEngine>, principal: Principal) -> Self {
        Self { engine, principal }
    }

    /// The name, as the table knows it.
    pub fn name(&self) -> Text {
        Text::from(self.principal.name())
    }

    /// Whether a session is this caller's, as far as this node knows.
    pub fn is_own(&self, session: SessionId) -> bool {
        self.is_of(session, &self.name())
    }

    /// Has the leader put a change into the log.
    pub async fn changed(&self, change: Change, patience: Patience) -> Answered<Changed> {
        self.changed_by(self.name(), change, patience).await
    }
}

impl ReplicatedEngine {
    /// Has the leader put a change into the log, in this name. What a node does by itself for a
    /// session, it does in the name of whoever opened that.
    pub async fn changed_by(
        &self,
        principal: Text,
        change: Change,
        patience: Patience,
    ) -> Answered<Changed> {
        let asked = Asked::Change { principal, change };
        let said = self.ask(&asked, patience).await.map_err(lost)?;
        if let Said::Changed(changed) = said { Ok(changed) } else { Err(unexpected(said)) }
    }
}
