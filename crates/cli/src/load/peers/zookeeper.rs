//! ZooKeeper: three servers with the settings of its own example, which sync every commit.

use super::{Role, Wanted, is_on_path};
use anyhow::Context;
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(2);
/// As Debian and Ubuntu have it.
const JAR: &str = "/usr/share/java/zookeeper.jar";
const MAIN: &str = "org.apache.zookeeper.server.quorum.QuorumPeerMain";

pub fn is_there() -> bool {
    is_on_path("java") && Path::new(JAR).exists()
}

pub fn command(wanted: &Wanted<'_>, index: usize) -> anyhow::Result<Vec<OsString>> {
    let place = wanted.place(index);
    fs::create_dir_all(&place).with_context(|| place.display().to_string())?;
    fs::write(place.join("myid"), (index + 1).to_string())?;
    let file = place.join("zoo.cfg");
    fs::write(&file, settings(wanted, index))?;
    Ok(vec!["java".into(), "-cp".into(), JAR.into(), MAIN.into(), file.into()])
}

/// What its own example says; beyond that, sessions may live as long as ours, and `srvr` tells who
/// leads.
fn settings(wanted: &Wanted<'_>, index: usize) -> String {
    let mut text = format!(
        "tickTime=2000\ninitLimit=10\nsyncLimit=5\n\
         maxSessionTimeout=120000\nmaxClientCnxns=0\n\
         4lw.commands.whitelist=srvr\nadmin.enableServer=false\n\
         dataDir={}\nclientPortAddress={}\nclientPort={}\n",
        wanted.place(index).display(),
        wanted.addresses[index].ip(),
        wanted.addresses[index].port(),
    );
    for (number, links) in wanted.links.chunks(2).enumerate() {
        let ports: Vec<String> = links.iter().map(|link| link.port().to_string()).collect();
        text += &format!("server.{}={}:{}\n", number + 1, links[0].ip(), ports.join(":"));
    }
    text
}

/// What a server says, once it knows who leads.
pub fn role(address: SocketAddr) -> Option<Role> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.write_all(b"srvr").ok()?;
    let mut told = String::new();
    stream.read_to_string(&mut told).ok()?;
    judged(&told)
}

fn judged(told: &str) -> Option<Role> {
    match told.lines().find_map(|line| line.strip_prefix("Mode: "))? {
        "leader" => Some(Role::Leads),
        "follower" => Some(Role::Follows),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_told_of_all_servers() {
        let port = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        let addresses = [port(1), port(2)];
        let links = [port(3), port(4), port(5), port(6)];
        let directory = Path::new("/d");
        let wanted = Wanted { directory, addresses: &addresses, links: &links };
        let text = settings(&wanted, 1);
        assert!(text.contains("\ndataDir=/d/server-1\n"), "{text}");
        assert!(text.contains("\nclientPort=2\n"), "{text}");
        assert!(text.ends_with("\nserver.1=127.0.0.1:3:4\nserver.2=127.0.0.1:5:6\n"), "{text}");
    }

    #[test]
    fn a_server_says_its_mode() {
        assert_eq!(judged("Zxid: 0x0\nMode: leader\n"), Some(Role::Leads));
        assert_eq!(judged("Mode: follower\n"), Some(Role::Follows));
        assert_eq!(judged("This ZooKeeper instance is not currently serving requests\n"), None);
    }
}
