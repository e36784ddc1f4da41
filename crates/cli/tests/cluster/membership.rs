//! `conclave cluster` with real nodes, as an operator uses it: nodes join and leave, a lost disk is
//! replaced, a backup becomes a cluster; and what is typed by mistake.

use crate::hostile::kit::{Cluster, Member, ready, until};
use crate::support::{Done, conclave};
use conclave_client::{Client, Wanted};
use std::fs;
use std::time::Duration;

/// A replicated cluster that has an operator.
struct Operated {
    cluster: Cluster,
    token: String,
}

impl Operated {
    fn start(n: u32) -> Self {
        let mut cluster = Cluster::new(n, "replicated");
        let token = cluster.place.path("admin-token");
        fs::write(&token, "an operator's token\n".replace(' ', "-")).unwrap();
        for member in &mut cluster.members {
            member.set("--admin-token-file", &token);
        }
        Self { cluster: cluster.start(), token }
    }

    fn servers(&self) -> String {
        let apis: Vec<String> = self.cluster.apis().iter().map(ToString::to_string).collect();
        apis.join(",")
    }

    fn typed(&self, arguments: &[&str]) -> Done {
        let servers = self.servers();
        let operator = ["--server", &servers, "--admin-token-file", &self.token];
        conclave(&[&["cluster"], arguments, &operator].concat())
    }

    /// It is done.
    fn done(&self, arguments: &[&str]) -> Done {
        let done = self.typed(arguments);
        assert_eq!(done.code, 0, "{arguments:?}: {}", done.stderr);
        done
    }

    /// It is refused by one line with these words.
    fn refused(&self, arguments: &[&str], words: &str) {
        let done = self.typed(arguments);
        assert_eq!(done.code, 1, "{arguments:?}: {}{}", done.stdout, done.stderr);
        assert!(done.stderr.contains(words), "{arguments:?}: {}", done.stderr);
        assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    }

    /// The numbers of those with a vote.
    fn voters(&self) -> Vec<u64> {
        let listed = self.done(&["members", "--json"]).json();
        let members = listed["members"].as_array().unwrap().iter();
        let voters = members.filter(|member| member["vote"] == "voter");
        voters.map(|member| member["id"].as_u64().unwrap()).collect()
    }

    /// A node with an empty disk is taken in, and gets its vote.
    fn take_in(&self, member: &Member) {
        let id = member.id.to_string();
        member.line("waits to be added, by `conclave cluster add`");
        let (peer, api) = (member.peer.to_string(), member.api.to_string());
        self.done(&["add", &id, "--peer", &peer, "--api", &api]);
        ready(member);
        self.done(&["promote", &id]);
    }
}

#[test]
fn a_cluster_grows_and_shrinks_and_a_lost_disk_is_replaced() {
    let operated = Operated::start(3);
    let client = Client::new(operated.cluster.apis().iter().map(ToString::to_string)).unwrap();
    let wanted = Wanted { wait: Some(Duration::from_secs(60)), ..Wanted::default() };
    let guard = client.lock("kept", &wanted).unwrap();
    let mut fourth = operated.cluster.newcomer(&[]);
    let mut fifth = operated.cluster.newcomer(&[&fourth]);
    for newcomer in [&mut fourth, &mut fifth] {
        newcomer.start();
        operated.take_in(newcomer);
    }
    assert_eq!(operated.voters(), [1, 2, 3, 4, 5]);
    // Whoever is asked, it is told how far behind the others are.
    let all = operated.done(&["members", "--json"]).json();
    let told = all["members"].as_array().unwrap().iter().filter(|member| member["lag"].is_u64());
    assert_eq!(told.count(), 4, "{all:#}");
    // A host comes back without its disk: it is a new member.
    fifth.kill();
    fs::remove_dir_all(&fifth.data).unwrap();
    fifth.start();
    let add = ["add", "5", "--peer", &fifth.peer.to_string(), "--api", &fifth.api.to_string()];
    operated.refused(&add, "node 5 belongs to the cluster already");
    operated.done(&["remove", "5"]);
    operated.take_in(&fifth);
    // The leader is removed too: it hands over first.
    operated.done(&["transfer", "--to", "4"]);
    operated.done(&["remove", "4"]);
    assert_eq!(operated.voters(), [1, 2, 3, 5]);
    assert_eq!(fourth.ended().code(), Some(1), "{}", fourth.log());
    fourth.start();
    assert_eq!(fourth.ended().code(), Some(1), "{}", fourth.log());
    fourth.line("is that of a node that was removed from its cluster: choose an empty directory");
    let seen = Client::new([fifth.api.to_string()]).unwrap().verify("kept", guard.fence());
    assert!(seen.unwrap().valid, "it is held as before");
    assert_eq!(guard.lost(), None);
    guard.release().unwrap();
}

#[test]
fn what_an_operator_gets_wrong_is_told_in_one_line() {
    let operated = Operated::start(1);
    for act in ["remove", "promote"] {
        operated.refused(&[act, "7"], "node 7 does not belong to the cluster");
    }
    operated.refused(&["transfer", "--to", "7"], "node 7 does not belong to the cluster");
    operated.refused(&["transfer"], "there is no other node with a vote");
    operated.refused(&["remove", "1"], "the only voter of a cluster cannot be removed");
    let nobody = crate::ports::free_addresses(1)[0].to_string();
    let add = |id: &str, peer: &str| operated.typed(&["add", id, "--peer", peer, "--api", "x:1"]);
    let absent = add("2", &nobody);
    assert_eq!(absent.code, 1, "it may be there later: {}", absent.stderr);
    assert!(absent.stderr.contains("node 2 cannot be added: node 2 cannot be reached"));
    let unknown = add("2", "no-such-host.invalid:7100");
    assert!(unknown.stderr.contains("node 2 cannot be reached"), "{}", unknown.stderr);
    assert_eq!(add("0", &nobody).code, 2);
    let servers = operated.servers();
    let tokenless = conclave(&["cluster", "remove", "1", "--server", &servers]);
    assert!(tokenless.stderr.contains("--admin-token-file FILE"), "{}", tokenless.stderr);
    assert_eq!(operated.voters(), [1], "nothing has changed");
}

/// A backup of a cluster that has granted something, and where another may be restored.
struct BackedUp {
    operated: Operated,
    backup: String,
    peer: String,
    api: String,
}

impl BackedUp {
    fn new() -> Self {
        let operated = Operated::start(1);
        let lock = ["lock", "demo", "--server", &operated.servers(), "--", "true"];
        assert_eq!(conclave(&lock).code, 0);
        let backup = operated.cluster.place.path("backup");
        operated.done(&["snapshot", &backup]);
        let addresses = crate::ports::free_addresses(2);
        let [peer, api] = [0, 1].map(|at| addresses[at].to_string());
        Self { operated, backup, peer, api }
    }

    fn path(&self, name: &str) -> String {
        self.operated.cluster.place.path(name)
    }

    fn restore(&self, file: &str, data: &str, more: &[&str]) -> Done {
        let where_to = ["--data", data, "--peer", &self.peer, "--api", &self.api];
        conclave(&[&["cluster", "restore", file], &where_to[..], more].concat())
    }

    /// It is refused by one line with these words.
    fn refused(&self, file: &str, data: &str, more: &[&str], words: &str) {
        let done = self.restore(file, data, more);
        assert_eq!(done.code, 1, "{words}: {}", done.stdout);
        assert!(done.stderr.contains(words), "{}", done.stderr);
        assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    }
}

#[test]
fn a_backup_that_cannot_be_used_is_refused_and_nothing_is_made() {
    let backed_up = BackedUp::new();
    let [torn, bent, data, used] = ["torn", "bent", "data", "used"].map(|it| backed_up.path(it));
    let mut bytes = fs::read(&backed_up.backup).unwrap();
    fs::write(&torn, &bytes[..bytes.len() - 9]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&bent, &bytes).unwrap();
    for file in [&torn, &bent] {
        backed_up.refused(file, &data, &[], "the backup is damaged or not complete");
    }
    let whole = &backed_up.backup;
    let low = ["--fence-floor", "1"];
    backed_up.refused(whole, &data, &low, "a fence floor must be above");
    assert!(!fs::exists(&data).unwrap(), "nothing was made");
    fs::create_dir(&used).unwrap();
    fs::write(format!("{used}/letter"), "x").unwrap();
    backed_up.refused(whole, &used, &[], "choose an empty directory");
    let own = backed_up.path("node-1");
    backed_up.refused(whole, &own, &[], "another conclave node is using");
}

#[test]
fn a_restored_cluster_says_why_it_lets_nobody_in() {
    let mut backed_up = BackedUp::new();
    let data = backed_up.path("restored");
    assert_eq!(backed_up.restore(&backed_up.backup, &data, &[]).code, 0);
    let BackedUp { operated, peer, api, .. } = &mut backed_up;
    operated.cluster.members[0].kill();
    let mut restored = operated.cluster.members[0].twin(&operated.cluster.place, "restored");
    restored.set("--peer", &format!("1={peer},api={api}"));
    restored.set("--listen", peer);
    restored.set("--http", api);
    restored.start();
    let lock = ["lock", "demo", "--wait", "0", "--server", api, "--", "true"];
    let quiet = "this cluster was restored from a backup: nobody is let in for another ";
    until("it serves", || {
        let done = conclave(&lock);
        (done.code == 75).then(|| assert!(done.stderr.contains(quiet), "{}", done.stderr))
    });
    let waited = conclave(&["lock", "demo", "--wait", "100ms", "--server", api, "--", "true"]);
    assert!(waited.code == 75 && waited.stderr.contains(quiet), "{}", waited.stderr);
    let told = conclave(&["status", "demo", "--explain", "--server", api]);
    let words: Vec<&str> = told.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains(quiet.trim()), "{}", told.stdout);
}
