//! The consensus engine's own tests of log storage and state machine.

use crate::kit::{Notes, Place};
use conclave_replica::disk::LogStore;
use conclave_replica::raft_types::TypeConfig;
use conclave_replica::state_machine::StateMachine;
use conclave_table::VERSION;
use openraft::StorageError;
use openraft::testing::log::{StoreBuilder, Suite};

struct Builder;

impl StoreBuilder<TypeConfig, LogStore, StateMachine, Place> for Builder {
    async fn build(&self) -> Result<(Place, LogStore, StateMachine), StorageError<TypeConfig>> {
        let place = Place::new();
        let disk = place.open();
        let machine = StateMachine::open(&disk, Box::new(Notes::default()), VERSION).unwrap();
        Ok((place, disk.log(), machine))
    }
}

#[tokio::test]
async fn the_consensus_engine_finds_nothing_wrong() {
    Suite::test_all(Builder).await.unwrap();
}
