//! Directories that are gone when the test is over.

use std::path::PathBuf;

pub struct Place(pub PathBuf);

impl Place {
    pub fn new() -> Self {
        let bits = conclave_net::random::bits().expect("the system has random numbers");
        let path = std::env::temp_dir().join(format!("conclave-host-{bits:032x}"));
        std::fs::create_dir(&path).expect("a new name in a place for such things");
        Self(path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
