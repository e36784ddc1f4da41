//! A disk of a test's own, which can be full, stand still or fail: ext4 on a loop device. The file
//! behind it has holes and lies in a small memory file system. When that is full, a write into a
//! hole fails as one to a broken disk does.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A mounted disk; gone when it is dropped.
pub struct Disk {
    at: PathBuf,
    /// Where the file behind it lies.
    bed: PathBuf,
}

impl Disk {
    /// Mounts a small one here; says why and gives nothing where that cannot be done.
    pub fn mount(at: &Path) -> Option<Self> {
        Self::mount_of(64, at)
    }

    /// Mounts one of so many megabytes.
    pub fn mount_of(megabytes: u32, at: &Path) -> Option<Self> {
        let disk = Self { at: at.to_path_buf(), bed: at.with_extension("bed") };
        for place in [&disk.at, &disk.bed] {
            fs::create_dir_all(place).expect("a directory");
        }
        let size = format!("size={}m", megabytes + megabytes / 2);
        let bed = ["-t", "tmpfs", "-o", &size, "conclave-test"];
        let room = format!("{megabytes}M");
        let made = disk.share()
            && run(Command::new("mount").args(bed).arg(&disk.bed))
            && run(Command::new("truncate").args(["-s", &room]).arg(disk.image()))
            && run(Command::new("mkfs.ext4").args(["-q", "-m", "0", "-F"]).arg(disk.image()))
            && disk.attach();
        if !made {
            eprintln!("skipped: no disk can be mounted on a loop device here");
        }
        made.then_some(disk)
    }

    /// Whatever writes to it waits, for as long as nobody thaws it.
    pub fn freeze(&self) -> Frozen<'_> {
        assert!(run(Command::new("fsfreeze").arg("-f").arg(&self.at)), "it freezes");
        Frozen(self)
    }

    /// Leaves no room at all.
    pub fn fill(&self) {
        fill(&self.at.join("filler"));
    }

    /// There is room again.
    pub fn make_room(&self) {
        fs::remove_file(self.at.join("filler")).expect("it was filled");
    }

    /// From now on writes to it fail.
    pub fn fail(&self) {
        fill(&self.bed.join("filler"));
    }

    /// It is repaired, and has what had been synced. Nobody may use it meanwhile.
    pub fn repair(&self) {
        fs::remove_file(self.bed.join("filler")).expect("it failed");
        assert!(run(Command::new("umount").arg(&self.at)), "nobody uses it");
        // Its code is 1 where it has repaired something.
        let _ = Command::new("e2fsck").args(["-fy"]).arg(self.image()).output();
        assert!(self.attach(), "it is mounted again");
    }

    /// Every process on a host sees mounts of its own (`ip netns exec`). What is unmounted here
    /// vanishes there only if the place below is shared; a disk that broke would stay in use.
    fn share(&self) -> bool {
        run(Command::new("mount").arg("--bind").arg(&self.at).arg(&self.at))
            && run(Command::new("mount").arg("--make-shared").arg(&self.at))
    }

    fn attach(&self) -> bool {
        run(Command::new("mount").args(["-o", "loop"]).arg(self.image()).arg(&self.at))
    }

    fn image(&self) -> PathBuf {
        self.bed.join("image")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        for place in [&self.at, &self.at, &self.bed] {
            let _ = Command::new("umount").arg("-l").arg(place).output();
        }
    }
}

/// A disk that stands still until this is dropped.
pub struct Frozen<'a>(&'a Disk);

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        let _ = Command::new("fsfreeze").arg("-u").arg(&self.0.at).output();
    }
}

fn fill(filler: &Path) {
    let mut filler = fs::File::create(filler).expect("a file");
    for size in [1 << 20, 4_096, 1] {
        while filler.write_all(&vec![0; size]).is_ok() {}
    }
    let _ = filler.sync_data(); // Where there is no room, there may be none for this either.
}

fn run(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}
