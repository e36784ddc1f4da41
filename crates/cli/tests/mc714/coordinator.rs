//! The lock of `conclave mc714` between our programs and those of a script.

use crate::peers::{Peer, ours, python_is_missing, script};

fn coordinator(flags: &[&str]) -> (Peer, String) {
    let arguments = [&["coordinator", "--listen", "127.0.0.1:0"], flags].concat();
    let mut coordinator = ours(&arguments);
    let url = coordinator.url();
    (coordinator, url)
}

fn client(url: &str, id: &str) -> Peer {
    script(&["client", url, id])
}

/// Lets a client ask, and waits until the coordinator knows.
fn ask(coordinator: &mut Peer, client: &mut Peer, id: &str) {
    client.told("ask").says("asked");
    coordinator.says(&format!("client {id} asks for access"));
}

#[test]
fn clients_of_the_script_are_let_in_one_by_one_in_the_order_in_which_they_asked() {
    if python_is_missing() {
        return;
    }
    let (mut coordinator, url) = coordinator(&[]);
    let mut holder = client(&url, "1");
    ask(&mut coordinator, &mut holder, "1");
    holder.says("granted 200");
    let mut line: Vec<(String, Peer)> =
        ["7", "3", "9", "2"].map(|id| (id.to_string(), client(&url, id))).into();
    for (id, waiter) in &mut line {
        ask(&mut coordinator, waiter, id);
    }
    holder.told("read").says("read 200 10");
    holder.told("write \"17\"").says("write 200");
    holder.told("read").says("read 200 \"17\"");
    holder.told("release").says("release 200");
    for (_, waiter) in &mut line {
        waiter.says("granted 200");
        waiter.told("release").says("release 200");
    }
    coordinator.says("client 2 releases");
    let let_in = coordinator.said.iter().filter(|line| line.ends_with("is let in"));
    let order: Vec<&str> = let_in.filter_map(|line| line.split(' ').rev().nth(3)).collect();
    assert_eq!(order, ["1", "7", "3", "9", "2"]);
}

#[test]
fn any_json_value_can_be_written_and_none_at_all_cannot() {
    if python_is_missing() {
        return;
    }
    let (_coordinator, url) = coordinator(&[]);
    let mut client = client(&url, "1");
    for value in ["17", "\"20\"", "0", "false", "[1, {\"a\": null}]", "\"\""] {
        client.told(&format!("write {value}")).says("write 200");
        client.told("read").says(&format!("read 200 {value}"));
    }
    client.told("write").says("write 500");
    client.told("write null").says("write 500");
    client.told("read").says("read 200 \"\"");
}

#[test]
fn a_release_by_somebody_else_is_refused_and_lets_nobody_in() {
    if python_is_missing() {
        return;
    }
    let (mut coordinator, url) = coordinator(&[]);
    let [mut holder, mut waiter] = ["1", "2"].map(|id| client(&url, id));
    waiter.told("release").says("release 409");
    ask(&mut coordinator, &mut holder, "1");
    holder.says("granted 200");
    ask(&mut coordinator, &mut waiter, "2");
    waiter.told("release").says("release 409");
    coordinator.says("refused: client 2 does not hold the resource; client 1 does");
    assert!(!waiter.all_said().iter().any(|line| line.contains("granted")));
    holder.told("release").says("release 200");
    waiter.says("granted 200");
}

#[test]
fn a_waiter_that_hangs_up_is_passed_over() {
    if python_is_missing() {
        return;
    }
    let (mut coordinator, url) = coordinator(&[]);
    let [mut holder, mut gone, mut next] = ["1", "2", "3"].map(|id| client(&url, id));
    ask(&mut coordinator, &mut holder, "1");
    ask(&mut coordinator, &mut gone, "2");
    ask(&mut coordinator, &mut next, "3");
    gone.told("hang-up").says("hung up");
    coordinator.says("client 2 hangs up, and leaves the line");
    holder.told("release").says("release 200");
    next.says("granted 200");
}

#[test]
fn unrepaired_anybody_may_release_and_two_are_inside() {
    if python_is_missing() {
        return;
    }
    let (mut coordinator, url) = coordinator(&["--literal"]);
    let [mut holder, mut second] = ["1", "2"].map(|id| client(&url, id));
    ask(&mut coordinator, &mut holder, "1");
    holder.says("granted 200");
    ask(&mut coordinator, &mut second, "2");
    second.told("release").says("granted 200"); // And the first one has not left.
    holder.told("write 0").says("write 500"); // What Python takes for no value.
}

#[test]
fn unrepaired_a_waiter_that_hung_up_keeps_what_it_is_given() {
    if python_is_missing() {
        return;
    }
    let (mut coordinator, url) = coordinator(&["--literal"]);
    let [mut holder, mut gone, mut last] = ["1", "2", "3"].map(|id| client(&url, id));
    ask(&mut coordinator, &mut holder, "1");
    holder.says("granted 200");
    ask(&mut coordinator, &mut gone, "2");
    gone.told("hang-up").says("hung up");
    coordinator.says("client 2 hangs up, and nobody takes notice");
    holder.told("release").says("release 200");
    coordinator.says("client 2 is let in");
    ask(&mut coordinator, &mut last, "3");
    last.told("read").says("read 200 10");
    assert!(!last.all_said().iter().any(|line| line.contains("granted")));
    holder.told("release").says("release 200"); // One too many, in place of the one that is lost.
    last.says("granted 200");
}

#[test]
fn unrepaired_the_order_of_asking_is_not_kept() {
    if python_is_missing() {
        return;
    }
    let (mut coordinator, url) = coordinator(&["--literal"]);
    let mut clients: Vec<Peer> = (1..=15).map(|id| client(&url, &id.to_string())).collect();
    for (id, client) in (1..).zip(&mut clients) {
        ask(&mut coordinator, client, &id.to_string());
    }
    let mut order = Vec::new();
    for _ in 0..clients.len() - 1 {
        clients[0].told("release").says("release 200");
        let line = coordinator.says("is let in");
        order.push(line.split(' ').rev().nth(3).and_then(|id| id.parse::<u32>().ok()));
    }
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (2..=15).map(Some).collect::<Vec<_>>());
    assert_ne!(order, sorted, "one in 14! runs may end here");
}

#[test]
fn our_client_uses_a_coordinator_of_the_script() {
    if python_is_missing() {
        return;
    }
    let mut coordinator = script(&["coordinator"]);
    let url = coordinator.url();
    let arguments = ["client", "--id", "1", "--coordinator", &url, "--ops", "r,w17,r", "--json"];
    let mut client = ours(&arguments);
    assert_eq!(client.ends(), Some(0));
    let report: serde_json::Value = serde_json::from_str(&client.said.join("\n")).expect("JSON");
    let expected = serde_json::json!({
        "client": 1, "operations": [{ "read": 10 }, { "wrote": "17" }, { "read": "17" }],
    });
    assert_eq!(report, expected);
    let spoken: Vec<String> = (0..9).map(|_| coordinator.says(" /")).collect();
    let once = |what: &str| spoken.iter().filter(|line| line.as_str() == what).count();
    assert_eq!(once("GET /request_access {\"id\": \"1\"} null"), 3);
    assert_eq!(once("GET /get_resource {\"id\": \"1\"} null"), 2);
    assert_eq!(once("POST /change_resource {} {\"id\": \"1\", \"value\": \"17\"}"), 1);
    assert_eq!(once("GET /release_access {\"id\": \"1\"} null"), 3);
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    let (_coordinator, url) = coordinator(&[]);
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let get = |path: &str| {
        let mut answer = agent.get(format!("{url}{path}")).call().expect("an answer");
        (answer.status().as_u16(), answer.body_mut().read_to_string().expect("text"))
    };
    let none =
        |id: &str| format!("the id {id} is none: it takes a whole number from 1 to 999999\n");
    assert_eq!(get("/request_access"), (400, "the parameter id is missing\n".to_string()));
    assert_eq!(get("/release_access?id=0"), (400, none("0")));
    assert_eq!(get("/get_resource?id=99999999999999"), (400, none("99999999999999")));
    let post = |body: &str| {
        let sent = agent.post(format!("{url}/change_resource")).send(body).expect("an answer");
        sent.status().as_u16()
    };
    assert_eq!(post("{\"value\": 1}"), 400);
    assert_eq!(post("{\"id\": 1, \"value\":"), 400);
    assert_eq!(post(&format!("\"{}\"", "x".repeat(70_000))), 413);
    assert_eq!(post("{\"id\": 1, \"value\": 1}"), 200);
}
