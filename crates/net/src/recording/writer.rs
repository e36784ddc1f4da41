//! Writes a recording while a node runs.

use super::{Check, Entry, Header, MAGIC, VERSION};
use conclave_core::Ticks;
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A recording has all names of locks and all messages in it: it is for its owner alone.
const OWNER: u32 = 0o600;

/// A recording being written. A disk that refuses more ends the recording, not the node.
pub struct Recorder {
    /// `None` once writing has failed.
    out: Option<Box<dyn Write + Send>>,
    check: Check,
    path: PathBuf,
    written: bool,
}

impl Recorder {
    /// Begins a recording at this path. The first start of a node writes to the path itself, later
    /// ones beside it (`a.rec`, `a.2.rec`, `a.3.rec`), so that a restart erases nothing.
    pub fn create(path: &Path, header: &Header) -> io::Result<Self> {
        let path = place(path, header.incarnation);
        let out = BufWriter::with_capacity(1 << 16, create_file(&path, OWNER)?);
        Self::new(Box::new(out), path, header)
    }

    /// Begins a recording on anything; the path is only for messages.
    pub(crate) fn new(
        mut out: Box<dyn Write + Send>,
        path: PathBuf,
        header: &Header,
    ) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        let mut recorder = Self { out: Some(out), check: Check::default(), path, written: false };
        recorder.frame(header)?;
        recorder.out.as_mut().map_or(Ok(()), |out| out.flush())?;
        Ok(recorder)
    }

    /// Where it goes.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends an entry. It may stay in memory until the next [`flush`](Self::flush).
    pub fn write(&mut self, entry: &Entry) {
        self.written = true;
        let result = self.frame(entry);
        self.give_up_if_failed(result);
    }

    /// Hands everything to the system.
    pub fn flush(&mut self) {
        if std::mem::take(&mut self.written) {
            let result = self.out.as_mut().map_or(Ok(()), |out| out.flush());
            self.give_up_if_failed(result);
        }
    }

    /// Ends it in good order.
    pub fn finish(mut self, at: Ticks) {
        self.write(&Entry::Stopped(at));
        self.flush();
    }

    fn frame(&mut self, data: &impl Serialize) -> io::Result<()> {
        let Some(out) = &mut self.out else { return Ok(()) };
        let body = postcard::to_allocvec(data).map_err(io::Error::other)?;
        let length = u32::try_from(body.len()).map_err(io::Error::other)?;
        out.write_all(&length.to_le_bytes())?;
        out.write_all(&self.check.of_length(length))?;
        out.write_all(&body)?;
        out.write_all(&self.check.of_body(&body))
    }

    fn give_up_if_failed(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            let path = self.path.display();
            tracing::error!("recording stops, the node goes on: {path}: {error}");
            self.out = None;
        }
    }
}

/// Creates a file, or empties the one that is there; nothing is written over that a link at its
/// path points to. If it is new, the bits of `mode` say who may read it, less those of the umask.
#[cfg(unix)]
pub fn create_file(path: &Path, mode: u32) -> io::Result<File> {
    use rustix::fs::OFlags;
    use rustix::io::Errno;
    use std::os::unix::fs::OpenOptionsExt;
    let no_link = OFlags::NOFOLLOW.bits().cast_signed();
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(mode).custom_flags(no_link);
    options.open(path).map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::LOOP) => io::Error::other("it is a link: name the file itself"),
        Some(_) | None => error,
    })
}

/// The same, where there is no such mode.
#[cfg(not(unix))]
pub fn create_file(path: &Path, _mode: u32) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).open(path)
}

fn place(path: &Path, incarnation: u32) -> PathBuf {
    if incarnation <= 1 {
        return path.to_path_buf();
    }
    match path.extension() {
        Some(extension) => {
            path.with_extension(format!("{incarnation}.{}", extension.to_string_lossy()))
        }
        None => path.with_extension(incarnation.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::NodeId;

    /// A disk with room for so many bytes.
    struct Small(usize);

    impl Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            if taken == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn header() -> Header {
        Header {
            cluster: "test".into(),
            settings: String::new(),
            node: NodeId(0),
            n: 1,
            incarnation: 1,
            started: 0,
        }
    }

    #[test]
    fn a_full_disk_ends_the_recording_and_nothing_else() {
        let room = Box::new(Small(60));
        let mut recorder = Recorder::new(room, "small.rec".into(), &header()).expect("it has room");
        for at in 0..10 {
            recorder.write(&Entry::Stopped(Ticks(at)));
        }
        assert!(recorder.out.is_none());
        recorder.finish(Ticks(10));
    }

    #[cfg(unix)]
    #[test]
    fn a_recording_is_for_its_owner_alone_and_follows_no_link() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let name = format!("conclave-recording-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&directory).expect("a directory");
        let [real, link] = ["a.rec", "link.rec"].map(|name| directory.join(name));
        Recorder::create(&real, &header()).expect("a recording");
        let mode = std::fs::metadata(&real).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let before = std::fs::read(&real).expect("a recording");
        symlink(&real, &link).expect("a link");
        let later = Header { started: 7, ..header() };
        let refused = Recorder::create(&link, &later).err().expect("somebody else's file perhaps");
        assert_eq!(refused.to_string(), "it is a link: name the file itself");
        assert_eq!(std::fs::read(&real).expect("a recording"), before);
        std::fs::remove_dir_all(directory).expect("there");
    }

    #[test]
    fn later_starts_write_beside_the_first() {
        assert_eq!(place(Path::new("x/a.rec"), 1), Path::new("x/a.rec"));
        assert_eq!(place(Path::new("x/a.rec"), 3), Path::new("x/a.3.rec"));
        assert_eq!(place(Path::new("a"), 2), Path::new("a.2"));
    }
}
