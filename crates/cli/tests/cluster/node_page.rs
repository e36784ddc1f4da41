//! The page that a node serves: the lab is there only if flag or file ask for it.

use crate::ports::free_addresses;
use crate::support::binary;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Stdio};

/// A node alone, until it is dropped.
struct Node {
    child: Child,
    api: SocketAddr,
    /// Kept: what it logs must go somewhere.
    _log: BufReader<ChildStderr>,
}

impl Node {
    /// With these lines in its settings, and these flags.
    fn start(name: &str, lines: &str, flags: &[&str]) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder); // Of an earlier run.
        fs::create_dir_all(&folder).unwrap();
        let addresses = free_addresses(2);
        let (peer, api) = (addresses[0], addresses[1]);
        let settings = folder.join("conclave.toml");
        let data = folder.join("data");
        let nodes = format!("[[nodes]]\nid = 1\npeer = \"{peer}\"\napi = \"{api}\"\n");
        let text = format!("{lines}\nid = 1\ndata = {data:?}\n{nodes}");
        fs::write(&settings, text).unwrap();
        let mut node = binary();
        node.args(["node", "--config", settings.to_str().unwrap()]).args(flags);
        let mut child = node.stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let started = log.by_ref().lines().any(|line| line.unwrap().contains("started"));
        assert!(started, "it ends before it serves");
        Self { child, api, _log: log }
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.api).unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.api);
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill(); // It may have ended.
        let _ = self.child.wait();
    }
}

#[test]
fn a_node_has_the_cluster_on_its_page_and_not_the_lab() {
    let node = Node::start("page-without-lab", "", &[]);
    assert!(node.get("/").starts_with("HTTP/1.1 200"), "{}", node.get("/"));
    let about = node.get("/page/about");
    assert!(about.contains(r#""lab":false,"cluster":true,"up":false"#), "{about}");
    let refused = node.get("/lab/catalog?lang=en");
    assert!(refused.starts_with("HTTP/1.1 404"), "{refused}");
    assert!(refused.contains("'conclave node' if it is started with --lab"), "{refused}");
}

#[test]
fn the_lab_comes_with_the_flag_or_with_a_line_in_the_settings() {
    for (name, lines, flags) in
        [("page-by-flag", "", &["--lab"][..]), ("page-by-file", "lab = true", &[])]
    {
        let node = Node::start(name, lines, flags);
        let about = node.get("/page/about");
        assert!(about.contains(r#""lab":true,"cluster":true,"up":false"#), "{name}: {about}");
        let catalog = node.get("/lab/catalog?lang=en");
        assert!(catalog.starts_with("HTTP/1.1 200"), "{name}: {catalog}");
    }
}
