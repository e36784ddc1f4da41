//! `conclave lab`: served where it says, ended by Ctrl-C, and what it answers the command line
//! gives as well.

use crate::support::{binary, conclave};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

/// A lab that runs, and where.
struct Lab {
    child: Child,
    address: String,
}

impl Lab {
    fn start() -> Self {
        let mut child = binary()
            .args(["lab", "--http", "127.0.0.1:0"])
            .env("LC_ALL", "C")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it was piped");
        BufReader::new(stdout).read_line(&mut line).expect("it says where it is");
        let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
        let address = address.unwrap_or_else(|| panic!("{line}")).to_string();
        Self { child, address }
    }

    fn post(&self, path: &str, question: &Value) -> Value {
        let body = question.to_string();
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let (host, length) = (&self.address, body.len());
        let head = "connection: close\r\ncontent-type: application/json";
        write!(stream, "POST {path} HTTP/1.1\r\nhost: {host}\r\n{head}\r\n").expect("it reads");
        write!(stream, "content-length: {length}\r\n\r\n{body}").expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let body = answer.split_once("\r\n\r\n").expect("a head and a body").1;
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    fn stop(mut self) -> Option<i32> {
        let own = Pid::from_child(&self.child);
        kill_process(own, Signal::INT).expect("it runs");
        self.child.wait().expect("it ends").code()
    }
}

#[test]
fn the_command_of_an_answer_gives_the_same_hash_in_the_command_line() {
    let lab = Lab::start();
    let question = json!({
        "algorithm": "ricart-agrawala",
        "flags": "--nodes 4 --latency uniform:1..20 --seed 7",
        "edits": ["1>3:REQUEST#1=drop", "crash=2@31", "ask=4@60"],
    });
    let answer = lab.post("/lab/run", &question);
    let command = answer["command"].as_str().expect("a command");
    let words = command.strip_prefix("conclave ").expect("of this program");
    let words: Vec<String> = words.split(' ').map(|word| word.replace('\'', "")).collect();
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.push("--json");
    let done = conclave(&words);
    assert_eq!(done.json()["trace_hash"], answer["hash"], "{command}");
    assert_eq!(lab.stop(), Some(0), "Ctrl-C is how it ends");
}

#[test]
fn a_port_that_is_taken_is_an_error_that_names_the_flag() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("it has one");
    let done = conclave(&["lab", "--http", &address.to_string()]);
    assert_eq!(done.code, 2);
    let port = address.port();
    let told = format!(
        "error: --http {address}: port {port} is taken; name another port, or 0 to choose a free \
         one\n"
    );
    assert_eq!(done.stderr, told);
    let wrong = conclave(&["lab", "--http", "here"]);
    assert_eq!((wrong.code, wrong.stderr.contains("--http here: takes IP:PORT")), (2, true));
}
