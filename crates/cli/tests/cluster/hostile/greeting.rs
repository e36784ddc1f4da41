//! Greetings written by hand, by somebody who knows the protocol from its description and reaches
//! the port where nodes meet.

use super::http::connect;
use super::kit::{Cluster, Member};
use super::steady::Steady;
use std::io::{Read, Write};

/// What a node says of itself when it connects. The defaults are wrong in the name of the cluster.
struct Greeting {
    cluster: String,
    n: u32,
    from: u32,
    to: u32,
    identity: u128,
    incarnation: u32,
    acknowledged: u64,
    algorithm: String,
}

impl Greeting {
    fn new(from: u32, to: u32) -> Self {
        Self {
            cluster: "guessed".to_string(),
            n: 3,
            from: from - 1,
            to: to - 1,
            identity: 7,
            incarnation: 1,
            acknowledged: 0,
            algorithm: "unknown".to_string(),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut body = vec![0];
        text(&mut body, &self.cluster);
        for it in [self.n, self.from, self.to] {
            number(&mut body, it.into());
        }
        number(&mut body, self.identity);
        number(&mut body, self.incarnation.into());
        body.extend([5, 0]); // The nonce of this start; it has met no start of the other.
        number(&mut body, self.acknowledged.into());
        text(&mut body, &self.algorithm);
        [b"CONCLAVE\x03".as_slice(), &(body.len() as u32).to_be_bytes(), &body].concat()
    }

    /// Says it, and returns all that is answered; as text, since what can be read is what counts.
    fn say(&self, to: &Member) -> String {
        let mut stream = connect(to.peer);
        stream.write_all(&self.bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }
}

fn text(bytes: &mut Vec<u8>, text: &str) {
    number(bytes, text.len() as u128);
    bytes.extend(text.as_bytes());
}

/// Seven bits at a time, the lowest first.
fn number(bytes: &mut Vec<u8>, mut number: u128) {
    while number >= 128 {
        bytes.push((number & 127) as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The algorithms of a node, as its own log has them: a stranger cannot read it.
fn algorithm(node: &Member) -> String {
    Greeting { cluster: "conclave".to_string(), ..Greeting::new(2, 1) }.say(node);
    let line = node.line("it was refused: node 2 runs 'unknown'");
    let words = line.split_once("node 1 runs '").expect("both are named").1;
    words.strip_suffix('\'').expect("in quotes").to_string()
}

#[test]
fn a_stranger_learns_from_refusals_which_node_it_is_and_nothing_else() {
    let cluster = Cluster::new(3, "central-failover").start();
    let steady = Steady::start(&cluster.apis());
    let second = &cluster.members[1];
    let known = || Greeting { cluster: "conclave".to_string(), ..Greeting::new(1, 2) };
    let table = [
        (Greeting::new(1, 2), "it is of cluster 'guessed', this is 'conclave'"),
        (
            Greeting { cluster: "\x1b[31mx\n\u{202e}".to_string(), ..Greeting::new(1, 2) },
            r"it is of cluster '\u{1b}[31mx\u{a}\u{202e}', this is 'conclave'",
        ),
        (Greeting { n: 4, ..known() }, "its cluster has 4 nodes, this one has 3"),
        (Greeting { to: 2, ..known() }, "it looks for node 3, this is node 2"),
        (Greeting { from: 7, ..known() }, "it calls itself node 8, at node 2 of 3"),
        (known(), "node 1 runs 'unknown', node 2 runs '3 nodes; engine central-failover"),
        (
            Greeting { algorithm: algorithm(&cluster.members[0]), ..known() },
            "another node 1 was met before",
        ),
    ];
    let mut answers = Vec::new();
    for (greeting, reason) in table {
        answers.push(greeting.say(second));
        second.line(&format!("it was refused: {reason}"));
    }
    assert!(answers[0].contains("refused; see the log of node 2"), "{:?}", answers[0]);
    answers.dedup();
    assert_eq!(answers.len(), 1, "they can be told apart");
    steady.finish();
}

#[test]
fn one_frame_ends_no_node() {
    let mut cluster = Cluster::new(3, "central-failover");
    let first = &mut cluster.members[0];
    first.start();
    first.line("started");
    // The worst case: all is known, and the real node 2 was never met.
    let known = || Greeting {
        cluster: "conclave".to_string(),
        algorithm: algorithm(first),
        ..Greeting::new(2, 1)
    };
    let answer = Greeting { acknowledged: 1 << 40, ..known() }.say(first);
    assert!(answer.contains("refused; see the log of node 1"), "{answer:?}");
    first.line("node 2 alone is not believed, unless another says so too");
    let answer = Greeting { incarnation: u32::MAX, ..known() }.say(first);
    assert!(answer.contains("refused; see the log of node 1"), "{answer:?}");
    first.line("nobody starts so often");
    assert!(first.runs(), "{}", first.log());
}
