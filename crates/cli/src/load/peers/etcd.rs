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
        ("--initial-cluster-token", link.to_string()),
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
    let agent = ureq::Agent::config_builder().timeout_global(Some(PATIENCE)).build();
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
    fn whoever_has_the_number_of_the_leader_leads() {
        let status =
            |leader: &str| format!(r#"{{"header":{{"member_id":"7"}},"leader":"{leader}"}}"#);
        assert_eq!(judged(&status("7")), Some(Role::Leads));
        assert_eq!(judged(&status("8")), Some(Role::Follows));
        assert_eq!(judged(&status("0")), None, "nobody leads");
        assert_eq!(judged(r#"{"header":{"member_id":"7"}}"#), None);
    }
}
