//! etcd: three servers with their defaults, which sync every commit.

use super::{Role, Wanted, is_on_path};
use serde::Deserialize;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Deserialize)]
struct Status {
    header: Header,
    leader: Option<String>,
}

#[derive(Deserialize)]
struct Header {
    member_id: String,
}

pub fn is_there() -> bool {
    is_on_path("etcd")
}

pub fn command(wanted: &Wanted<'_>, index: usize) -> Vec<OsString> {
    let own = wanted.addresses[index];
    let link = wanted.links[index];
    let all =
        (0..wanted.addresses.len()).map(|other| format!("s{other}=http://{}", wanted.links[other]));
    let flags = [
        ("--name", format!("s{index}")),
        ("--data-dir", wanted.place(index).display().to_string()),
        ("--listen-client-urls", format!("http://{own}")),
        ("--advertise-client-urls", format!("http://{own}")),
        ("--listen-peer-urls", format!("http://{link}")),
        ("--initial-advertise-peer-urls", format!("http://{link}")),
        ("--initial-cluster", all.collect::<Vec<_>>().join(",")),
        ("--initial-cluster-token", wanted.links[0].to_string()),
        ("--initial-cluster-state", "new".to_string()),
        ("--logger", "zap".to_string()),
        ("--log-level", "error".to_string()),
    ];
    let flags = flags.into_iter().flat_map(|(flag, value)| [flag.into(), value.into()]);
    std::iter::once(OsString::from("etcd")).chain(flags).collect()
}

/// What a server says, once it knows who leads.
pub fn role(address: SocketAddr) -> Option<Role> {
    let url = format!("http://{address}/v3/maintenance/status");
    let agent = ureq::Agent::config_builder().proxy(None).timeout_global(Some(PATIENCE)).build();
    let answer = ureq::Agent::from(agent).post(url).send("{}").ok()?;
    judged(&answer.into_body().read_to_string().ok()?)
}

fn judged(status: &str) -> Option<Role> {
    let status: Status = serde_json::from_str(status).ok()?;
    let leader = status.leader.filter(|leader| leader != "0")?;
    Some(if leader == status.header.member_id { Role::Leads } else { Role::Follows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_told_of_the_same_cluster() {
        let port = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        let addresses = [port(1), port(2)];
        let links = [port(3), port(4), port(5), port(6)];
        let directory = std::path::Path::new("/d");
        let wanted = Wanted { directory, addresses: &addresses, links: &links };
        let value = |index: usize, flag: &str| {
            let command = command(&wanted, index);
            let place = command.iter().position(|word| word == flag).expect("it is there");
            command[place + 1].clone()
        };
        for flag in ["--initial-cluster", "--initial-cluster-token"] {
            assert_eq!(value(0, flag), value(1, flag), "{flag}");
        }
        assert_eq!(value(1, "--initial-cluster"), "s0=http://127.0.0.1:3,s1=http://127.0.0.1:4");
        assert_ne!(value(0, "--data-dir"), value(1, "--data-dir"));
    }

    #[test]
    fn whoever_has_the_number_of_the_leader_leads() {
        let status =
            |leader: &str| format!(r#"{{"header":{{"member_id":"7"}},"leader":"{leader}"}}"#);
        assert_eq!(judged(&status("7")), Some(Role::Leads));
        assert_eq!(judged(&status("8")), Some(Role::Follows));
        assert_eq!(judged(&status("0")), None, "nobody leads");
        assert_eq!(judged(r#"{"header":{"member_id":"7"}}"#), None);
    }
}
