//! One node: the service's engine on a runtime of its own, whose clock the world moves.
//!
//! A crash drops the runtime, with all that was under way. A pause does not run it; its clock then
//! jumps, as that of a process that was stopped.

use crate::chance::Chance;
use crate::disk::SimDisk;
use crate::history::Recording;
use crate::network::{Presence, SimNetwork, address};
use crate::person::Doors;
use conclave_core::NodeId;
use conclave_net::rpc::Listener;
use conclave_replica::disk::DiskOptions;
use conclave_replica::{Clock, Founder, Host, Reading, ReplicaConfig, Role, Timing};
use conclave_service::{Command, EngineConfig, ReplicatedEngine};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::time::{Instant, advance, sleep_until};

/// What all nodes have in common.
#[derive(Clone)]
pub struct Common {
    pub nodes: usize,
    pub data: PathBuf,
    pub network: SimNetwork,
    pub doors: Doors,
    pub recording: Recording,
    pub sync: (u64, u64),
    pub snapshot_entries: u64,
}

/// What a start has come to.
#[derive(Clone, Default)]
enum Stage {
    #[default]
    Starting,
    Runs(Arc<ReplicatedEngine>),
    Ended(String),
}

/// One node.
pub struct SimNode {
    me: usize,
    common: Common,
    life: Option<Life>,
    paused_until: u64,
    stalled_until: u64,
    /// How fast its clock runs, in ten thousandths.
    rate: u64,
}

/// From a start to the next crash.
struct Life {
    runtime: Runtime,
    /// When it began, by the world's clock and by its own.
    since: u64,
    began: Instant,
    disk: SimDisk,
    stage: Arc<Mutex<Stage>>,
}

/// The clock of a runtime.
struct RuntimeClock(Instant);

impl Clock for RuntimeClock {
    fn read(&self) -> Reading {
        let now = self.0.elapsed() + Duration::from_secs(1);
        Reading { monotonic: now, raw: now }
    }
}

impl SimNode {
    pub fn new(me: usize, common: Common, chance: &mut Chance) -> Self {
        let rate = chance.between(9_900, 10_100);
        Self { me, common, life: None, paused_until: 0, stalled_until: 0, rate }
    }

    /// Its process starts, with whatever is on its disk.
    pub fn start(&mut self, now: u64, chance: Chance) {
        let mut builder = Builder::new_current_thread();
        let runtime = builder.enable_time().start_paused(true).build().expect("a runtime");
        let began = runtime.block_on(async { Instant::now() });
        let disk = SimDisk::new(chance, self.common.sync);
        let stage: Arc<Mutex<Stage>> = Arc::default();
        let (commands, taken) = mpsc::channel(1_024);
        let mut network = self.common.network.lock();
        network.reset_all_of(self.me);
        network.set_presence(self.me, Presence::Listens);
        drop(network);
        self.common.doors.lock().nodes[self.me] = Some(commands);
        runtime.spawn(run(
            self.common.clone(),
            self.me,
            (began, disk.clone()),
            taken,
            stage.clone(),
        ));
        self.life = Some(Life { runtime, since: now, began, disk, stage });
        self.paused_until = 0;
        self.stalled_until = 0;
    }

    /// Its process dies, and how its host tells.
    pub fn crash(&mut self, presence: Presence) {
        let Some(life) = self.life.take() else { return };
        self.common.network.lock().set_presence(self.me, presence);
        self.common.doors.lock().nodes[self.me] = None;
        life.disk.crash();
        drop(life);
    }

    /// Runs until the world's clock reads this. Says whether its process has ended by itself.
    pub fn run_until(&mut self, now: u64) -> Option<String> {
        let paused = self.is_paused(now);
        let Some(life) = &self.life else { return None };
        if paused {
            return None;
        }
        let mine = Duration::from_micros((now - life.since) * self.rate / 10);
        let then = life.began + mine;
        life.runtime.block_on(async {
            let behind = then.saturating_duration_since(Instant::now());
            if behind > JUMP {
                advance(behind).await; // It was stopped meanwhile.
            }
            sleep_until(then).await;
        });
        let stage = life.stage.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match stage {
            _ if life.disk.is_dead() => Some("it crashed in a sync".to_string()),
            Stage::Ended(why) => Some(why),
            Stage::Starting | Stage::Runs(_) => None,
        }
    }

    pub fn engine(&self) -> Option<Arc<ReplicatedEngine>> {
        let stage = self.life.as_ref()?.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if let Stage::Runs(engine) = &*stage { Some(Arc::clone(engine)) } else { None }
    }

    /// Whether it knows another as a voter or as a learner; or, if nothing is said, as neither.
    pub fn knows(&self, other: usize, voter: Option<bool>) -> bool {
        let Some(engine) = self.engine() else { return false };
        let members = engine.status().members;
        let known = members.iter().find(|member| member.id == NodeId(other as u32));
        !members.is_empty() && known.map(|member| member.voter) == voter
    }

    /// Who has a vote, as far as it knows.
    pub fn voters(&self) -> Vec<usize> {
        let Some(engine) = self.engine() else { return Vec::new() };
        let members = engine.status().members;
        members.iter().filter(|member| member.voter).map(|member| member.id.0 as usize).collect()
    }

    /// All that was on its disk is gone. It must be down.
    pub fn empty_disk(&self) {
        let _ = std::fs::remove_dir_all(self.common.data.join(self.me.to_string())); // Or it was.
    }

    pub fn is_up(&self) -> bool {
        self.life.is_some()
    }

    pub fn pause_until(&mut self, then: u64) {
        self.paused_until = then;
    }

    fn is_paused(&self, now: u64) -> bool {
        now < self.paused_until
    }

    /// Its disk stands still for so long.
    pub fn stall(&mut self, now: u64, millis: u64) {
        self.stalled_until = now + millis;
        let Some(life) = &self.life else { return };
        let until = life.runtime.block_on(async { Instant::now() }) + Duration::from_millis(millis);
        life.disk.stall(until);
    }

    pub fn fill_disk(&self) {
        if let Some(life) = &self.life {
            life.disk.fill();
        }
    }

    pub fn die_at_next_sync(&self) {
        if let Some(life) = &self.life {
            life.disk.die_at_next_sync();
        }
    }

    /// Whether it can take its part now.
    pub fn is_able(&self, now: u64) -> bool {
        self.engine().is_some() && !self.is_paused(now) && now >= self.stalled_until
    }

    /// Whether it leads, as far as it knows.
    pub fn leads(&self) -> bool {
        self.engine().is_some_and(|engine| {
            let status = engine.status();
            status.role == Role::Leader && status.quorum
        })
    }
}

/// A process that was not run for longer than this was stopped.
const JUMP: Duration = Duration::from_millis(20);

async fn run(
    common: Common,
    me: usize,
    (began, disk): (Instant, SimDisk),
    commands: mpsc::Receiver<Command>,
    stage: Arc<Mutex<Stage>>,
) {
    let listener = Listener(Arc::new(common.network.place(me)));
    let auditor = Some(common.recording.observer(me));
    let config = EngineConfig { replica: config(&common, me, began, disk), audit: None };
    let started = ReplicatedEngine::start_audited(listener, config, commands, auditor).await;
    let set = |now| *stage.lock().unwrap_or_else(PoisonError::into_inner) = now;
    match started {
        Ok(engine) => {
            set(Stage::Runs(Arc::clone(&engine)));
            if let Some(replica) = engine.replica() {
                let why = replica.ended().await.to_string();
                set(Stage::Ended(why));
            }
        }
        Err(error) => set(Stage::Ended(error.to_string())),
    }
}

fn config(common: &Common, me: usize, began: Instant, disk: SimDisk) -> ReplicaConfig {
    let founder = |id: usize| Founder {
        id: NodeId(id as u32),
        peer: address(id),
        api: format!("10.0.0.{}:8000", id + 1),
    };
    ReplicaConfig {
        cluster: "simulated".to_string(),
        me: NodeId(me as u32),
        founders: (0..common.nodes).map(founder).collect(),
        listen: address(me).parse().expect("an address"),
        data: common.data.join(me.to_string()),
        tls: None,
        timing: Timing { snapshot_entries: common.snapshot_entries, ..Timing::default() },
        host: Host {
            clock: Arc::new(RuntimeClock(began)),
            hands: Arc::new(disk),
            disk: DiskOptions { segment_bytes: 32 << 10, cached_bytes: 16 << 10 },
        },
    }
}
