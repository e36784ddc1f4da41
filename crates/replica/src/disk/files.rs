//! Durable files: written under another name, synced, renamed (atomic rename), and their directory
//! synced.

use super::error::DiskError;
use rustix::fs::{FallocateFlags, FlockOperation, fallocate, flock};
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Ends the names of files that are not whole yet. Whatever has such a name after a crash is void.
pub const DRAFT: &str = "part";

/// Makes a directory that only its owner may read, and those above it.
pub fn make_directory(path: &Path) -> Result<(), DiskError> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| DiskError::system(path, error))
}

/// A new file that only its owner may read, instead of whatever had its name.
pub fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Opens a file to be read. A pipe in its place would be waited for without end.
pub fn open(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    File::open(path)
}

/// Replaces a file: after a crash it has the old content or the new.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), DiskError> {
    let draft = path.with_extension(DRAFT);
    let written = create(&draft).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()
    });
    written.map_err(|error| DiskError::system(&draft, error))?;
    publish(&draft, path)
}

/// Gives a file that is whole and synced its name.
pub fn publish(draft: &Path, path: &Path) -> Result<(), DiskError> {
    fs::rename(draft, path).map_err(|error| DiskError::system(path, error))?;
    sync_directory(path.parent().unwrap_or(Path::new(".")))
}

/// Makes names in a directory last.
pub fn sync_directory(path: &Path) -> Result<(), DiskError> {
    let synced = File::open(path).and_then(|directory| directory.sync_all());
    synced.map_err(|error| DiskError::system(path, error))
}

/// Takes room for a file, as zeros.
pub fn preallocate(file: &File, length: u64) -> io::Result<()> {
    match fallocate(file, FallocateFlags::empty(), 0, length) {
        // There are file systems that cannot: then writes take the room.
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => file.set_len(length),
        result => Ok(result?),
    }
}

/// How long to wait for whoever uses a directory to be gone: the node before may just be ending,
/// and a child that its process is about to start has the lock, too, until it runs another program.
const LOCK_PATIENCE: Duration = Duration::from_millis(500);
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Locks a directory for this process. Waits a moment for it.
pub fn lock(directory: &Path) -> Result<File, DiskError> {
    let path = directory.join("lock");
    let mut options = OpenOptions::new();
    let opened = options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let file = opened.open(&path).map_err(|error| DiskError::system(&path, error))?;
    let until = Instant::now() + LOCK_PATIENCE;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK) if Instant::now() < until => thread::sleep(LOCK_PAUSE),
            Err(Errno::WOULDBLOCK) => {
                return Err(DiskError::InUse { directory: directory.to_path_buf() });
            }
            Err(error) => return Err(DiskError::system(&path, error.into())),
        }
    }
}

/// The files in a directory, by name.
pub fn list(directory: &Path) -> Result<Vec<PathBuf>, DiskError> {
    let read = || fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect();
    let listed: io::Result<Vec<PathBuf>> = read();
    let mut files = listed.map_err(|error| DiskError::system(directory, error))?;
    files.sort();
    Ok(files)
}

/// Removes what a crash left behind half made.
pub fn remove_drafts(directory: &Path) -> Result<(), DiskError> {
    for path in list(directory)? {
        if path.extension().is_some_and(|extension| extension == DRAFT) {
            fs::remove_file(&path).map_err(|error| DiskError::system(&path, error))?;
        }
    }
    Ok(())
}
