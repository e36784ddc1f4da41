//! How commands find the cluster that `conclave up` runs on this machine.
//!
//! Each `up` keeps a file in a directory of its user alone, and a lock of the system on it. The
//! lock ends with the process, however that ends, so a file without one is stale.

use anyhow::Context;
use rustix::fs::{FlockOperation, Mode, flock};
use rustix::io::Errno;
use rustix::process::getuid;
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

/// No file is longer than this.
const BYTES_MAX: u64 = 64 << 10;

/// What the file says.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Notice {
    /// When it was written: the newest is found first.
    since_ms: u64,
    /// Where the nodes serve their API.
    servers: Vec<String>,
}

/// A file that can be found for as long as this lives.
#[derive(Debug)]
pub struct Announced {
    path: PathBuf,
    /// Keeps the lock.
    file: File,
}

impl Drop for Announced {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path); // Without its lock it is ignored anyway.
    }
}

/// Tells other commands of the same user where the cluster is.
pub fn announce(servers: Vec<String>) -> anyhow::Result<Announced> {
    announce_in(&directory()?, servers)
}

/// The nodes of the newest cluster that runs, if any does. An error says why it cannot be known.
pub fn servers() -> anyhow::Result<Option<Vec<String>>> {
    Ok(newest_in(&directory()?))
}

fn announce_in(directory: &Path, servers: Vec<String>) -> anyhow::Result<Announced> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let since_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    let path = directory.join(format!("up-{}-{}.json", process::id(), since.as_nanos()));
    let failed = || format!("{}: cannot write", path.display());
    // Under this name nobody looks for it: without its lock it would seem stale.
    let early = path.with_extension("new");
    let options = OpenOptions::new().write(true).create_new(true).mode(0o600).clone();
    let file = options.open(&early).with_context(failed)?;
    let mut announced = Announced { path: early, file };
    flock(&announced.file, FlockOperation::NonBlockingLockExclusive).with_context(failed)?;
    let text = serde_json::to_string(&Notice { since_ms, servers })?;
    announced.file.write_all(text.as_bytes()).with_context(failed)?;
    fs::rename(&announced.path, &path).with_context(failed)?;
    announced.path = path;
    Ok(announced)
}

fn newest_in(directory: &Path) -> Option<Vec<String>> {
    let files = fs::read_dir(directory).ok()?.flatten();
    let live = files.filter_map(|file| live(&file.path()));
    live.max_by_key(|notice| notice.since_ms).map(|notice| notice.servers)
}

/// What a file says whose writer still runs; the file of one that does not is removed.
fn live(path: &Path) -> Option<Notice> {
    let name = path.file_name()?.to_str()?;
    if !name.starts_with("up-") || !name.ends_with(".json") {
        return None;
    }
    let file = File::open(path).ok()?;
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => {}
        Ok(()) => {
            let _ = fs::remove_file(path);
            return None;
        }
        Err(_) => return None,
    }
    let mut text = String::new();
    file.take(BYTES_MAX).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// A directory that nobody else can write to.
fn directory() -> anyhow::Result<PathBuf> {
    let user = getuid();
    let path = match std::env::var_os("XDG_RUNTIME_DIR").filter(|path| !path.is_empty()) {
        Some(runtime) => PathBuf::from(runtime).join("conclave"),
        None => std::env::temp_dir().join(format!("conclave-{}", user.as_raw())),
    };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&path);
    made.with_context(|| format!("{}: cannot be made", path.display()))?;
    match distrust(&path, user.as_raw())? {
        None => Ok(path),
        Some(why) => {
            let path = path.display();
            anyhow::bail!("{path}: {why}; it must be a directory of this user alone (mode 700)")
        }
    }
}

/// Why what others may have written there is not believed.
fn distrust(path: &Path, user: u32) -> anyhow::Result<Option<String>> {
    let found = fs::symlink_metadata(path)
        .with_context(|| format!("{}: cannot be looked at", path.display()))?;
    let others = (Mode::RWXG | Mode::RWXO).as_raw_mode();
    let mode = found.mode() & 0o7777;
    Ok(if found.is_symlink() {
        Some("it is a symbolic link".to_string())
    } else if !found.is_dir() {
        Some("it is no directory".to_string())
    } else if found.uid() != user {
        Some(format!("it belongs to user {}, not to user {user}", found.uid()))
    } else if mode & others != 0 {
        Some(format!("its mode is {mode:o}: others can use it"))
    } else {
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    const ROUNDS: usize = 5_000;

    fn folder(name: &str) -> PathBuf {
        let unique = format!("conclave-local-{}-{name}", process::id());
        let path = std::env::temp_dir().join(unique);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        path
    }

    #[test]
    fn the_newest_cluster_that_runs_is_found() {
        let folder = folder("newest");
        let old = announce_in(&folder, vec!["a".to_string()]).unwrap();
        assert_eq!(newest_in(&folder), Some(vec!["a".to_string()]));
        let newer = Notice { since_ms: u64::MAX, servers: vec!["b".to_string()] };
        let path = folder.join("up-1-2.json");
        fs::write(&path, serde_json::to_string(&newer).unwrap()).unwrap();
        let file = File::open(&path).unwrap();
        flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert_eq!(newest_in(&folder), Some(newer.servers));
        drop(file); // As if its process had been killed.
        assert_eq!(newest_in(&folder), Some(vec!["a".to_string()]));
        assert!(!path.exists(), "what is stale is removed");
        drop(old);
        assert_eq!(newest_in(&folder), None);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn who_looks_meanwhile_does_not_take_a_new_notice_for_a_stale_one() {
        let folder = folder("meanwhile");
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    newest_in(&folder);
                }
            });
            let lost = (0..ROUNDS).filter(|_| {
                let announced = announce_in(&folder, vec!["a".to_string()]);
                !announced.is_ok_and(|announced| announced.path.exists())
            });
            let lost = lost.count();
            stop.store(true, Ordering::SeqCst);
            assert_eq!(lost, 0, "of {ROUNDS}");
        });
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_directory_that_is_not_trusted_says_why() {
        let folder = folder("distrusted");
        let user = getuid().as_raw();
        let set_mode = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode));
        let why = |path: &Path, user| distrust(path, user).unwrap().unwrap_or_default();
        set_mode(0o700).unwrap();
        assert_eq!(why(&folder, user), "");
        let owner = format!("it belongs to user {user}, not to user {}", user + 1);
        assert_eq!(why(&folder, user + 1), owner);
        set_mode(0o755).unwrap();
        assert_eq!(why(&folder, user), "its mode is 755: others can use it");
        let link = folder.join("link");
        symlink(&folder, &link).unwrap();
        assert_eq!(why(&link, user), "it is a symbolic link");
        fs::write(folder.join("file"), "").unwrap();
        assert_eq!(why(&folder.join("file"), user), "it is no directory");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_no_notice_is_ignored() {
        let folder = folder("ignored");
        let path = folder.join("up-3-4.json");
        fs::write(&path, "{").unwrap();
        let file = File::open(&path).unwrap();
        flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        fs::write(folder.join("notes.txt"), "mine").unwrap();
        assert_eq!(newest_in(&folder), None);
        assert!(path.exists() && folder.join("notes.txt").exists());
        fs::remove_dir_all(&folder).unwrap();
    }
}
