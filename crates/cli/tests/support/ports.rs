//! Ports on loopback for processes that are started later, perhaps more than once.
//!
//! The system could give a port that is free right now to any connection before the process binds
//! it. These lie below the ports that it gives out, and a file lock keeps other tests away.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Mutex, PoisonError};

/// Linux gives out ports from 32,768 on.
const FIRST: u16 = 10_000;
const LAST: u16 = 31_900;
/// How many ports one lock stands for.
const BLOCK: u16 = 100;

/// Ports that belong to this test program until it ends.
struct Block {
    _lock: File,
    left: std::ops::Range<u16>,
}

impl Block {
    /// The first block that no other test program has.
    fn take() -> Self {
        let user = rustix::process::geteuid().as_raw();
        let folder = std::env::temp_dir().join(format!("conclave-test-ports-{user}"));
        fs::create_dir_all(&folder).expect("a folder for locks");
        for first in (FIRST..LAST).step_by(BLOCK.into()) {
            let lock = File::create(folder.join(first.to_string())).expect("a file to lock");
            if lock.try_lock().is_ok() {
                return Self { _lock: lock, left: first..first + BLOCK };
            }
        }
        panic!("all ports belong to other tests");
    }
}

/// So many addresses on which nobody listens. No other test gets them.
pub fn free_addresses(count: usize) -> Vec<SocketAddr> {
    (0..count).map(|_| free_address()).collect()
}

fn free_address() -> SocketAddr {
    static BLOCKS: Mutex<Vec<Block>> = Mutex::new(Vec::new());
    let mut blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let Some(port) = blocks.last_mut().and_then(|block| block.left.next()) else {
            blocks.push(Block::take());
            continue;
        };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        // Programs that are not tests may listen there.
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}
