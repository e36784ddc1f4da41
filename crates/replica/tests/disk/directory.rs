//! Whose directory it is: identities, engines, and one process at a time.

use crate::kit::{EXPECTED, Place, SMALL, append, blank, open};
use conclave_core::NodeId;
use conclave_replica::disk::{ClusterId, Disk, Engine, Expected, engine_of};
use std::fs;
use std::process::Command;

#[tokio::test]
async fn what_was_promised_is_there_after_a_restart() {
    let place = Place::new();
    let disk = place.open();
    let random = disk.identity().disk;
    assert!(disk.is_blank() && disk.founding().is_none());
    let cluster_id = ClusterId { id: 77, generation: 3 };
    disk.promise_founding(b"the members".to_vec(), cluster_id).unwrap();
    disk.close().await;
    let disk = place.open();
    assert_eq!(disk.founding().as_deref(), Some(&b"the members"[..]));
    assert_eq!(disk.identity().cluster_id, Some(cluster_id));
    assert_eq!(disk.identity().disk, random);
    assert!(disk.is_blank());
    append(&mut disk.log(), vec![blank(1, 0)]).await.unwrap();
    assert!(!disk.is_blank());
    disk.close().await;
    let other = Place::new().open();
    assert_ne!(other.identity().disk, random);
}

#[tokio::test]
async fn another_cluster_or_node_is_refused() {
    let place = Place::new();
    place.open().close().await;
    let table = [
        (Expected { cluster: "other", ..EXPECTED }, "is that of cluster 'test', not 'other'"),
        (Expected { node: NodeId(2), ..EXPECTED }, "is that of node "),
    ];
    for (expected, words) in table {
        let line = Disk::open_with(&place.data(), &expected, SMALL).err().unwrap().to_string();
        assert!(line.contains(words) && line.contains("choose another directory"), "{line}");
        assert!(line.contains(place.data().join("identity").to_str().unwrap()), "{line}");
    }
    place.open().close().await;
}

#[tokio::test]
async fn a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for() {
    let place = Place::new();
    place.open().close().await;
    let identity = place.data().join("identity");
    fs::remove_file(&identity).unwrap();
    assert!(Command::new("mkfifo").arg(&identity).status().unwrap().success());
    let line = place.refusal();
    assert!(line.contains("identity") && line.contains("not a regular file"), "{line}");
}

#[test]
fn engines_know_their_directories() {
    let place = Place::new();
    assert_eq!(engine_of(&place.data()), None);
    fs::create_dir(place.data()).unwrap();
    assert_eq!(engine_of(&place.data()), None);
    drop(place.open());
    assert_eq!(engine_of(&place.data()), Some(Engine::Replicated));
    let classic = Place::new();
    fs::create_dir(classic.data()).unwrap();
    fs::write(classic.data().join("conclave.redb"), "whatever").unwrap();
    assert_eq!(engine_of(&classic.data()), Some(Engine::Classic));
    let line = classic.refusal();
    assert!(line.contains("is that of engine 'classic', not 'replicated'"), "{line}");
    assert_eq!(fs::read_dir(classic.data()).unwrap().count(), 1, "nothing was put there");
}

#[tokio::test]
async fn an_identity_that_was_changed_is_refused() {
    let place = Place::new();
    place.open().close().await;
    let path = place.data().join("identity");
    let good = fs::read(&path).unwrap();
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 4;
        fs::write(&path, &bytes).unwrap();
        let line = place.refusal();
        let known = if (8..12).contains(&at) { "has format" } else { "is damaged" };
        assert!(line.contains(known) && line.contains(path.to_str().unwrap()), "{at}: {line}");
    }
    for garbage in [&b""[..], b"conclave", &good[..good.len() - 1]] {
        fs::write(&path, garbage).unwrap();
        assert!(place.refusal().contains("is damaged"), "{}", place.refusal());
    }
}

#[tokio::test]
async fn a_log_without_an_identity_is_refused() {
    let place = Place::new();
    let disk = place.open();
    append(&mut disk.log(), vec![blank(1, 0)]).await.unwrap();
    disk.close().await;
    fs::remove_file(place.data().join("identity")).unwrap();
    let line = place.refusal();
    assert!(line.contains("identity is missing"), "{line}");
}

#[tokio::test]
async fn a_first_start_that_was_cut_short_is_made_anew() {
    let place = Place::new();
    place.open().close().await;
    fs::remove_file(place.data().join("identity")).unwrap();
    fs::write(place.data().join("identity.part"), "half").unwrap();
    fs::write(place.data().join("log/0000000000000002.part"), "half").unwrap();
    let disk = place.open();
    append(&mut disk.log(), vec![blank(1, 0)]).await.unwrap();
    disk.close().await;
    place.open().close().await;
}

#[test]
fn files_of_somebody_else_are_left_alone() {
    let place = Place::new();
    fs::create_dir(place.data()).unwrap();
    fs::write(place.data().join("thesis.txt"), "years of work").unwrap();
    let line = place.refusal();
    assert!(line.contains("thesis.txt") && line.contains("choose an empty directory"), "{line}");
    assert_eq!(fs::read_dir(place.data()).unwrap().count(), 1, "nothing was put there");
    let file = Place::new();
    fs::write(file.data(), "a file").unwrap();
    assert!(file.refusal().contains(file.data().to_str().unwrap()), "{}", file.refusal());
}

const OTHER: &str = "CONCLAVE_TEST_OTHER_PROCESS";

#[tokio::test]
async fn a_second_process_is_told_of_the_first() {
    if let Ok(data) = std::env::var(OTHER) {
        let line = open(data.as_ref()).err().map(|error| error.to_string());
        eprintln!("other process: {}", line.unwrap_or_else(|| "opened".into()));
        return;
    }
    let place = Place::new();
    let disk = place.open();
    let words = format!("another conclave node is using {}", place.data().display());
    assert_eq!(place.refusal(), words);
    let other = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([
            "--exact",
            "directory::a_second_process_is_told_of_the_first",
            "--nocapture",
        ]);
        let output = command.env(OTHER, place.data()).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let told = other();
    assert!(told.contains(&format!("other process: {words}")), "{told}");
    disk.close().await;
    let told = other();
    assert!(told.contains("other process: opened"), "{told}");
}
