//! Opening the file of a node: it is made once, and checked whenever it is opened again.

use super::error::Failed;
use super::{APPLICATION, Expected, MACHINES, META, OUTBOX, PEERS, STARTS, Store, StoreError};
use conclave_core::NodeId;
use redb::{Database, ReadableDatabase};
use std::fs::{self, File};
use std::io;
use std::path::Path;

const FILE: &str = "conclave.redb";
const FORMAT: u32 = 3;
/// Only in a file that was found out to be an old copy.
const CONDEMNED: &str = "old-copy";
/// Plenty: what a node keeps is small, and most of it is in its memory anyway.
const CACHE_BYTES: usize = 16 << 20;

pub(super) fn open(directory: &Path, expected: &Expected) -> Result<Store, StoreError> {
    let path = directory.join(FILE);
    make_directory(directory)
        .map_err(|source| StoreError::System { path: directory.to_path_buf(), source })?;
    let exists = path.try_exists().map_err(|error| Failed::from(error).at(&path))?;
    if !exists {
        make(directory, &path, expected).map_err(|failed| failed.at(&path))?;
    }
    let database = reopen(&path).map_err(|failed| failed.at(&path))?;
    let meta = Meta::read(&database).map_err(|failed| failed.at(&path))?;
    meta.check(&path, expected)?;
    add_tables(&database).map_err(|failed| failed.at(&path))?;
    let incarnation = meta.incarnation.saturating_add(1);
    let nonce = crate::random::bits().map_err(|error| Failed::from(error).at(&path))? as u64;
    let syncs = Default::default();
    Ok(Store { database, path, identity: meta.identity, incarnation, nonce, syncs })
}

/// The settings that the file in this directory was made with; nothing if there is no file.
pub(super) fn settings(directory: &Path) -> Result<Option<String>, StoreError> {
    let path = directory.join(FILE);
    if !path.exists() {
        return Ok(None);
    }
    let meta = reopen(&path).and_then(|database| Meta::read(&database));
    let meta = meta.map_err(|failed| failed.at(&path))?;
    match meta.format {
        FORMAT => Ok(Some(meta.settings)),
        found => Err(StoreError::Format { path, found, known: FORMAT }),
    }
}

/// Writes down that this file must not be used again.
pub(super) fn condemn(database: &Database, reason: &str) -> Result<(), Failed> {
    let write = database.begin_write()?;
    write.open_table(META)?.insert(CONDEMNED, reason.as_bytes())?;
    Ok(write.commit()?)
}

fn make_directory(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Makes the file under a name of its own and gives it the right one when it is complete: it is
/// there entirely or not at all, and of two nodes that start at once only one can make it.
fn make(directory: &Path, path: &Path, expected: &Expected) -> Result<(), Failed> {
    let identity = crate::random::bits()?;
    let draft = directory.join(format!("{FILE}.{identity:032x}"));
    let made =
        write_first(&draft, expected, identity).and_then(|()| match fs::hard_link(&draft, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            result => Ok(result?),
        });
    // A draft that stays behind takes room and does no harm.
    let _ = fs::remove_file(&draft);
    made?;
    Ok(File::open(directory)?.sync_all()?)
}

fn write_first(draft: &Path, expected: &Expected, identity: u128) -> Result<(), Failed> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let database = Database::builder().create_file(options.open(draft)?)?;
    let write = database.begin_write()?;
    {
        let mut meta = write.open_table(META)?;
        meta.insert("format", &FORMAT.to_le_bytes()[..])?;
        meta.insert("cluster", expected.cluster.as_bytes())?;
        meta.insert("node", &expected.node.0.to_le_bytes()[..])?;
        meta.insert("settings", expected.settings.as_bytes())?;
        meta.insert("identity", &identity.to_le_bytes()[..])?;
        meta.insert("incarnation", &0u32.to_le_bytes()[..])?;
        write.open_table(PEERS)?;
        write.open_table(MACHINES)?;
        write.open_table(OUTBOX)?;
        write.open_table(APPLICATION)?;
    }
    Ok(write.commit()?)
}

fn reopen(path: &Path) -> Result<Database, Failed> {
    // An empty file would be taken for a new one.
    if fs::metadata(path)?.len() == 0 {
        return Err(Failed::Damaged("it is empty".into()));
    }
    // The library underneath panics at some kinds of damage that it meets before its checksums.
    let checked = panic::catching(path, || {
        let mut database = Database::builder().set_cache_size(CACHE_BYTES).open(path)?;
        // Looks at every page. A repair would go back to an earlier state, which is to forget.
        match database.check_integrity()? {
            true => Ok(database),
            false => Err(Failed::Damaged("its checksums are wrong".into())),
        }
    });
    checked.unwrap_or_else(|| Err(nonsense()))
}

fn nonsense() -> Failed {
    Failed::Damaged("it makes no sense".into())
}

/// Panics that are answers.
mod panic {
    use super::nonsense;
    use std::panic::{UnwindSafe, catch_unwind, set_hook, take_hook};
    use std::path::Path;
    use std::sync::{Mutex, PoisonError};

    /// There is one hook for all threads.
    static HOOK: Mutex<()> = Mutex::new(());

    /// Does this, quietly; `None` if it panicked. In a build that aborts then, the hook is the last
    /// to be heard: it says what there is to say and ends the process as any error would.
    pub fn catching<T>(path: &Path, work: impl FnOnce() -> T + UnwindSafe) -> Option<T> {
        let _alone = HOOK.lock().unwrap_or_else(PoisonError::into_inner);
        let before = take_hook();
        let file = path.to_path_buf();
        set_hook(Box::new(move |_| {
            if cfg!(panic = "abort") {
                eprintln!("error: {}", nonsense().at(&file));
                std::process::exit(1);
            }
        }));
        let result = catch_unwind(work);
        set_hook(before);
        result.ok()
    }
}

/// Those that files of earlier versions do not have.
fn add_tables(database: &Database) -> Result<(), Failed> {
    let write = database.begin_write()?;
    write.open_table(STARTS)?;
    Ok(write.commit()?)
}

/// Writes down that this start is used up.
pub(super) fn count(database: &Database, incarnation: u32) -> Result<(), Failed> {
    let write = database.begin_write()?;
    write.open_table(META)?.insert("incarnation", &incarnation.to_le_bytes()[..])?;
    Ok(write.commit()?)
}

struct Meta {
    format: u32,
    cluster: String,
    node: NodeId,
    settings: String,
    identity: u128,
    incarnation: u32,
    condemned: Option<String>,
}

impl Meta {
    fn read(database: &Database) -> Result<Self, Failed> {
        let table = database.begin_read()?.open_table(META)?;
        let bytes = |name: &str| match table.get(name)? {
            Some(value) => Ok(value.value().to_vec()),
            None => Err(Failed::Damaged(format!("it does not say its {name}"))),
        };
        let text = |name| {
            String::from_utf8(bytes(name)?)
                .map_err(|_| Failed::Damaged(format!("its {name} is no text")))
        };
        let number = |name| number(name, &bytes(name)?).map(u32::from_le_bytes);
        let format = number("format")?;
        if format != FORMAT {
            // The rest may be something else altogether.
            let cluster = String::new();
            let settings = String::new();
            let node = NodeId(0);
            let identity = 0;
            let incarnation = 0;
            let condemned = None;
            return Ok(Self { format, cluster, node, settings, identity, incarnation, condemned });
        }
        Ok(Self {
            format,
            cluster: text("cluster")?,
            node: NodeId(number("node")?),
            settings: text("settings")?,
            identity: u128::from_le_bytes(self::number("identity", &bytes("identity")?)?),
            incarnation: number("incarnation")?,
            condemned: table.get(CONDEMNED)?.map(|_| text(CONDEMNED)).transpose()?,
        })
    }

    fn check(&self, path: &Path, expected: &Expected) -> Result<(), StoreError> {
        let path = path.to_path_buf();
        if self.format != FORMAT {
            return Err(StoreError::Format { path, found: self.format, known: FORMAT });
        }
        let node = self.node.to_string();
        let expected_node = expected.node.to_string();
        let differing = [
            ("cluster", &*self.cluster, expected.cluster),
            ("node", &*node, &*expected_node),
            ("the settings", &*self.settings, expected.settings),
        ]
        .into_iter()
        .find(|(_, found, expected)| found != expected);
        match differing {
            None => match self.condemned.clone() {
                None => Ok(()),
                Some(reason) => Err(StoreError::OldCopy { path, reason }),
            },
            Some((what, found, expected)) => {
                let found = found.to_string();
                let expected = expected.to_string();
                Err(StoreError::Other { path, what, found, expected })
            }
        }
    }
}

fn number<const N: usize>(name: &str, bytes: &[u8]) -> Result<[u8; N], Failed> {
    bytes.try_into().map_err(|_| Failed::Damaged(format!("its {name} is no number")))
}
