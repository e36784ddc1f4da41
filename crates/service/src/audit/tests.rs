use super::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("conclave-audit-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir(&path).expect("a directory");
    path
}

fn record(index: u64, name: &str) -> Record {
    Record {
        index: Some(index),
        event: "granted".to_string(),
        name: name.to_string(),
        ..Record::default()
    }
}

/// Waits until so many lines were written or lost.
fn settled(audit: &Audit, lines: u64) {
    audit.flush();
    assert_eq!(audit.written() + audit.lost(), lines);
}

#[test]
fn lines_are_whole_and_a_file_is_taken_up_where_it_ended() {
    let folder = folder("whole");
    let path = folder.join("audit.jsonl");
    let audit = Audit::open(&path, 2).expect("a file");
    assert!(!audit.has(&record(7, "a")));
    audit.write([record(7, "a"), record(7, "b")]);
    settled(&audit, 2);
    let mode = fs::metadata(&path).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = fs::read_to_string(&path).expect("text");
    fs::write(&path, format!("{text}{{\"at_ms\":1,\"node\":2,\"index\":9,\"ev")).expect("torn");
    let again = Audit::open(&path, 2).expect("a file");
    assert!(again.has(&record(7, "a")) && again.has(&record(7, "b")));
    assert!(!again.has(&record(9, "a")), "what was cut short does not count");
    again.write([record(8, "c")]);
    settled(&again, 1);
    let text = fs::read_to_string(&path).expect("text");
    let whole: Vec<Record> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(whole.iter().map(|one| &*one.name).collect::<Vec<_>>(), ["a", "b", "c"]);
    fs::remove_dir_all(&folder).expect("there");
}

#[test]
fn a_symbolic_link_is_not_followed_and_a_moved_file_is_made_anew() {
    let folder = folder("moved");
    let (path, link) = (folder.join("audit.jsonl"), folder.join("link"));
    symlink(&path, &link).expect("a link");
    assert!(Audit::open(&link, 1).is_err() && !path.exists());
    let audit = Audit::open(&path, 1).expect("a file");
    audit.write([record(1, "a")]);
    settled(&audit, 1);
    fs::rename(&path, folder.join("audit.jsonl.1")).expect("moved");
    audit.write([record(2, "b")]);
    settled(&audit, 2);
    assert!(fs::read_to_string(&path).expect("made anew").contains("\"b\""));
    fs::remove_dir_all(&folder).expect("there");
}

#[test]
fn what_a_full_disk_does_not_take_is_counted() {
    let audit = Audit::open(Path::new("/dev/full"), 1);
    assert!(audit.is_err(), "a device is no file");
    let file = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let counts = Arc::<Counts>::default();
    let mut writer = Writer {
        path: PathBuf::from("/dev/full"),
        file,
        torn: false,
        counts: Arc::clone(&counts),
        warnings: RateLimitedLog::new("audit log"),
    };
    assert!(writer.write(b"{}\n").is_err() && writer.torn);
    let (orders, taken) = sync_channel(1);
    orders.send(Order::Write(b"{}\n{}\n".to_vec())).expect("room");
    drop(orders);
    writer.run(&taken);
    assert_eq!(counts.lost.load(Ordering::Relaxed), 2);
}
