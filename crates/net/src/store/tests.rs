use super::*;
use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A directory that is gone when the test is over.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        let bits = crate::random::bits().unwrap();
        Self(std::env::temp_dir().join(format!("conclave-store-{bits:032x}")))
    }

    fn file(&self) -> PathBuf {
        self.0.join("conclave.redb")
    }

    fn open(&self) -> Result<Store, StoreError> {
        Store::open(&self.0, &EXPECTED)
    }

    fn refusal(&self) -> String {
        self.open().unwrap_err().to_string()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const EXPECTED: Expected<'static> =
    Expected { cluster: "test", node: NodeId(1), settings: "engine=central" };

fn packet(number: u64) -> Packet {
    Packet { lane: Lane::Durable, number, key: "lock/a".into(), bytes: vec![number as u8] }
}

const KEPT: KeptPeer =
    KeptPeer { identity: Some(7), incarnation: 5, nonce: Some(6), received: 4, sent: 2 };

fn some_batch() -> Batch {
    let machine = KeptMachine {
        survival: Survival::Whole,
        saved: vec![1, 2, 3],
        timers: vec![(vec![0], Delay::exactly(conclave_core::Ticks(5)))],
    };
    Batch {
        peers: vec![(NodeId(2), KEPT)],
        machines: vec![("lock/a".into(), encode(&machine))],
        outbox: vec![(NodeId(0), packet(1)), (NodeId(2), packet(1)), (NodeId(2), packet(2))],
        delivered: Vec::new(),
        application: vec![("x".into(), Some(vec![9])), ("y".into(), Some(vec![8]))],
    }
}

#[test]
fn a_start_that_fails_does_not_count() {
    let place = Place::new();
    for _ in 0..3 {
        let early = Store::open_uncounted(&place.0, &EXPECTED).unwrap();
        assert_eq!(early.store().incarnation(), 1);
        assert_eq!(early.store().load().unwrap(), Kept::default(), "all can be read before");
    }
    let counted = Store::open_uncounted(&place.0, &EXPECTED).unwrap().count().unwrap();
    assert_eq!(counted.incarnation(), 1);
    drop(counted);
    assert_eq!(place.open().unwrap().incarnation(), 2);
}

#[test]
fn what_was_committed_is_there_again() {
    let place = Place::new();
    let store = place.open().unwrap();
    assert_eq!((store.incarnation(), store.load().unwrap()), (1, Kept::default()));
    let identity = store.identity();
    store.commit(&some_batch()).unwrap();
    let delivered = vec![(NodeId(2), 1)];
    let application = vec![("x".into(), None)];
    store.commit(&Batch { delivered, application, ..Batch::default() }).unwrap();
    drop(store);

    let store = place.open().unwrap();
    assert_eq!((store.incarnation(), store.identity()), (2, identity));
    let kept = store.load().unwrap();
    assert_eq!(kept.outbox, [(NodeId(0), packet(1)), (NodeId(2), packet(2))]);
    assert_eq!(kept.application, [("y".to_string(), vec![8])]);
    assert_eq!(kept.machines["lock/a"].saved, [1, 2, 3]);
    assert_eq!(kept.peers[&NodeId(2)].received, 4);
    let KeptPeer { identity, incarnation, nonce, received, sent } = KEPT;
    let past = Past { identity, incarnation, nonce, received, sent, acknowledged: 1 };
    assert_eq!(store.past(4).unwrap(), [Past::default(), Past::default(), past, Past::default()]);
    let delivered = vec![(NodeId(2), 2)];
    store.commit(&Batch { delivered, ..Batch::default() }).unwrap();
    assert_eq!(store.past(3).unwrap()[2], Past { acknowledged: 2, ..past });
}

#[test]
fn each_opening_has_a_number_of_its_own() {
    let place = Place::new();
    let first = place.open().unwrap().nonce();
    assert_ne!(place.open().unwrap().nonce(), first);
}

#[test]
fn a_file_of_a_version_without_starts_is_taken_up() {
    let place = Place::new();
    let store = place.open().unwrap();
    store.commit(&some_batch()).unwrap();
    let write = store.database.begin_write().unwrap();
    write.delete_table(STARTS).unwrap();
    write.commit().unwrap();
    drop(store);
    let past = place.open().unwrap().past(3).unwrap()[2];
    assert_eq!((past.incarnation, past.nonce), (KEPT.incarnation, None));
}

#[test]
fn an_old_copy_that_was_found_out_is_never_opened_again() {
    let place = Place::new();
    place.open().unwrap().condemn("node 2 remembers more").unwrap();
    for _ in 0..2 {
        let said = place.refusal();
        let words = "is an old copy, as was found out in an earlier run: node 2 remembers more; ";
        assert!(said.contains(words), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn nobody_else_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    drop(place.open().unwrap());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&place.0), mode(&place.file())), (0o700, 0o600));
    assert_eq!(fs::read_dir(&place.0).unwrap().count(), 1, "the draft is gone");
}

#[test]
fn a_killed_node_finds_its_last_commit() {
    let (place, copy) = (Place::new(), Place::new());
    let store = place.open().unwrap();
    store.commit(&some_batch()).unwrap();
    // What the disk has while the file is open is what a kill leaves behind.
    fs::create_dir(&copy.0).unwrap();
    fs::copy(place.file(), copy.file()).unwrap();
    assert_eq!(copy.open().unwrap().load().unwrap(), store.load().unwrap());
}

#[test]
fn the_file_of_somebody_else_is_refused() {
    let place = Place::new();
    drop(place.open().unwrap());
    let refusal = |expected| Store::open(&place.0, &expected).unwrap_err().to_string();
    let file = place.file().display().to_string();
    let of = |what: &str| format!("{file} is that of {what}");
    assert_eq!(
        refusal(Expected { cluster: "other", ..EXPECTED }),
        of("cluster 'test', not 'other'")
    );
    assert_eq!(refusal(Expected { node: NodeId(4), ..EXPECTED }), of("node '2', not '5'"));
    assert_eq!(
        refusal(Expected { settings: "engine=raymond", ..EXPECTED }),
        of("the settings 'engine=central', not 'engine=raymond'")
    );
    assert_eq!(place.open().unwrap().incarnation(), 2, "refusals change nothing");
}

#[test]
fn a_second_node_is_told_of_the_first() {
    let place = Place::new();
    let _first = place.open().unwrap();
    assert_eq!(place.refusal(), format!("another conclave node is using {}", place.0.display()));
}

#[test]
fn another_format_is_refused_by_its_number() {
    for format in [1u32, 9] {
        let place = Place::new();
        let store = place.open().unwrap();
        let write = store.database.begin_write().unwrap();
        write.open_table(META).unwrap().insert("format", &format.to_le_bytes()[..]).unwrap();
        write.commit().unwrap();
        drop(store);
        let words =
            format!("has format {format}, and this version of the program reads format 3: ");
        assert!(place.refusal().contains(&words), "{}", place.refusal());
    }
}

#[test]
fn a_place_that_cannot_be_used_is_named() {
    let place = Place::new();
    fs::write(&place.0, b"a file").unwrap();
    assert!(place.refusal().contains(&place.0.display().to_string()));
    fs::remove_file(&place.0).unwrap();
    fs::create_dir_all(place.file()).unwrap();
    assert!(place.refusal().contains("conclave.redb"));
}

#[test]
fn a_file_of_something_else_or_cut_short_is_refused() {
    let place = Place::new();
    let store = place.open().unwrap();
    store.commit(&some_batch()).unwrap();
    drop(store);
    let whole = fs::read(place.file()).unwrap();
    let text = b"this is a text of somebody, and not even a short one".repeat(100);
    let cut = |part: usize| whole[..whole.len() * part / 100].to_vec();
    for wrong in [Vec::new(), text, cut(1), cut(20), cut(50), cut(99)] {
        fs::write(place.file(), &wrong).unwrap();
        let refusal = place.refusal();
        assert!(refusal.contains("is damaged"), "{} bytes: {refusal}", wrong.len());
        assert_eq!(fs::read(place.file()).unwrap().len(), wrong.len(), "it is left alone");
    }
}

#[test]
fn a_changed_byte_is_noticed_or_changes_nothing() {
    let place = Place::new();
    let store = place.open().unwrap();
    store.commit(&some_batch()).unwrap();
    let kept = store.load().unwrap();
    drop(store);
    let whole = fs::read(place.file()).unwrap();
    let mut noticed = 0;
    let used: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] != 0).collect();
    for at in used.iter().step_by(used.len() / 40 + 1) {
        let mut changed = whole.clone();
        changed[*at] ^= 0xFF;
        fs::write(place.file(), changed).unwrap();
        match place.open() {
            Ok(store) => assert_eq!(store.load().unwrap(), kept, "byte {at}"),
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains("conclave.redb"), "{text}");
                noticed += 1;
            }
        }
    }
    // Most bytes belong to pages that are no longer in use.
    assert!(noticed > 0, "no change was noticed");
}

/// A disk that is full from some moment on.
#[derive(Debug)]
struct Filling(redb::backends::InMemoryBackend, Arc<AtomicBool>);

impl Filling {
    fn room(&self) -> io::Result<()> {
        if self.1.load(Ordering::Relaxed) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

impl redb::StorageBackend for Filling {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.room().and_then(|()| self.0.set_len(len))
    }
    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.room().and_then(|()| self.0.write(offset, data))
    }
}

#[test]
fn a_full_disk_is_said_to_be_full() {
    let full = Arc::new(AtomicBool::new(false));
    let disk = Filling(redb::backends::InMemoryBackend::new(), full.clone());
    let database = Database::builder().create_with_backend(disk).unwrap();
    let path = "disk/conclave.redb".into();
    let store =
        Store { database, path, identity: 1, incarnation: 1, nonce: 1, syncs: Arc::default() };
    store.commit(&some_batch()).unwrap();
    full.store(true, Ordering::Relaxed);
    let error = store.commit(&some_batch()).unwrap_err().to_string();
    assert!(error.starts_with("disk/conclave.redb: ") && error.contains("storage"), "{error}");
}
