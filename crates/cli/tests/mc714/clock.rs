//! The task that goes from clock to clock, between our processes and those of a script. Clocks do
//! not tick here, so that the times are those of the rules alone.

use crate::peers::{Peer, addresses, ours, python_is_missing, script};

/// Starts three clocks, ours where the digit is among those, and returns them with their URLs.
fn clocks(ours_are: &str, rule: &str, application: &str) -> (Vec<Peer>, String) {
    clocks_with(ours_are, rule, application, ["0s", "0s"])
}

/// The same; ours hold the task and tick as often as this.
fn clocks_with(
    ours_are: &str,
    rule: &str,
    application: &str,
    [pause, tick]: [&str; 2],
) -> (Vec<Peer>, String) {
    let (ports, peers) = addresses(3);
    let mut clocks = Vec::new();
    for (id, port) in ["1", "2", "3"].into_iter().zip(&ports) {
        clocks.push(if ours_are.contains(id) {
            let listen = format!("127.0.0.1:{port}");
            ours(&[
                "clock",
                "--id",
                id,
                "--listen",
                &listen,
                "--peers",
                &peers,
                "--application",
                application,
                "--rule",
                rule,
                "--pause",
                pause,
                "--tick",
                tick,
            ])
        } else {
            script(&["clock", id, port, &peers, application, rule])
        });
    }
    clocks.iter_mut().for_each(|clock| drop(clock.url()));
    (clocks, peers)
}

/// Runs our application with a task, and returns what it tells.
fn answer(ours_are: &str, rule: &str, task: &str) -> (serde_json::Value, Vec<Peer>) {
    let (ports, application) = addresses(1);
    let (clocks, peers) = clocks(ours_are, rule, &application);
    let listen = format!("127.0.0.1:{}", ports[0]);
    let mut application =
        ours(&["application", "--listen", &listen, "--task", task, "--peers", &peers, "--json"]);
    assert_eq!(application.ends(), Some(0));
    (serde_json::from_str(&application.said.join("\n")).expect("JSON"), clocks)
}

#[test]
fn our_clocks_end_the_task_at_the_time_of_their_rule() {
    for (rule, task, clock) in [
        ("code", "2132121", 8),     // One more at each of seven receipts.
        ("report", "2132121", 8),   // No time was equal here.
        ("lamport", "2132121", 15), // One more at each receipt and at each sending.
        ("code", "2222", 5),
        ("report", "2222", 2), // Sent and received at 2, again and again.
        ("lamport", "2222", 9),
    ] {
        let (report, _) = answer("123", rule, task);
        assert_eq!(report["clock"], clock, "{task} by {rule}");
        assert_eq!(report["task"], task);
    }
}

#[test]
fn a_mixed_chain_keeps_the_same_times() {
    if python_is_missing() {
        return;
    }
    for (rule, received) in [
        ("code", ["1 2132121 clock 2", "4 2121 clock 5", "6 21 clock 7"]),
        ("report", ["1 2132121 clock 2", "4 2121 clock 5", "6 21 clock 7"]),
        ("lamport", ["1 2132121 clock 2", "7 2121 clock 8", "11 21 clock 12"]),
    ] {
        let (report, mut clocks) = answer("13", rule, "2132121");
        let last = if rule == "lamport" { 15 } else { 8 };
        assert_eq!(report["clock"], last, "process 1 is ours and the last, by {rule}");
        for line in received {
            assert_eq!(clocks[1].says("received"), format!("received {line}"), "by {rule}");
        }
        // The last process of the script says nothing of its clock.
        assert_eq!(answer("13", rule, "12").0["clock"], serde_json::Value::Null);
    }
}

#[test]
fn an_application_of_the_script_gets_its_answer() {
    if python_is_missing() {
        return;
    }
    let (ports, url) = addresses(1);
    let (_clocks, peers) = clocks("23", "code", &url);
    let mut application = script(&["application", &ports[0], "2132121", &peers]);
    application.says("answer");
    application.says("handed in 200");
}

#[test]
fn clocks_that_tick_never_receive_before_the_sending() {
    for rule in ["code", "lamport"] {
        let (ports, application) = addresses(1);
        let (mut clocks, peers) = clocks_with("123", rule, &application, ["5ms", "2ms"]);
        let listen = format!("127.0.0.1:{}", ports[0]);
        let task = ["application", "--listen", &listen, "--task", "1231321", "--peers", &peers];
        assert_eq!(ours(&task).ends(), Some(0));
        let mut receipts = 0;
        for line in clocks.iter_mut().flat_map(|clock| clock.last_words().to_vec()) {
            if line.contains("receives time") {
                receipts += 1;
                assert!(received_later(&line), "{line}");
            }
        }
        assert_eq!(receipts, 7);
    }
}

/// Whether the clock reads more than the message carried, by a line of the clock.
fn received_later(line: &str) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    let after = |word| {
        let at = words.iter().position(|found| *found == word)?;
        words.get(at + 1)?.trim_end_matches(':').parse::<u64>().ok()
    };
    let reads = if line.contains("set to") { after("to") } else { after("at") };
    after("time").expect("it carries a time") < reads.expect("the clock reads something")
}

#[test]
fn a_task_that_gets_stuck_is_told_at_once() {
    let (ports, peers) = addresses(3);
    let listen = format!("127.0.0.1:{}", ports[1]);
    let mut clock = ours(&[
        "clock",
        "--id",
        "2",
        "--listen",
        &listen,
        "--peers",
        &peers,
        "--application",
        "http://127.0.0.1:1",
        "--pause",
        "0s",
    ]);
    clock.url();
    let mut application =
        ours(&["application", "--listen", "127.0.0.1:0", "--task", "21", "--peers", &peers]);
    assert_eq!(application.ends(), Some(1));
    clock.says("the task got stuck: process 1 does not answer");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let (mut clocks, peers) = clocks("123", "lamport", "http://127.0.0.1:1");
    let config = ureq::Agent::config_builder().http_status_as_error(false).build();
    let agent = ureq::Agent::new_with_config(config);
    let first = peers.split(',').next().expect("an address");
    for (query, why) in [
        ("ts=1", "the parameter content is missing"),
        ("content=1", "the parameter ts is missing"),
        ("ts=1&content=14", "the content takes digits from 1 to 3, the processes; '4' is none"),
        ("ts=x&content=1", "the ts x is none: it takes a whole number below 2^62"),
        ("ts=-1&content=1", "the ts -1 is none: it takes a whole number below 2^62"),
        (
            "ts=9223372036854775808&content=1",
            "the ts 9223372036854775808 is none: it takes a whole number below 2^62",
        ),
    ] {
        let request = agent.post(format!("{first}/receive_msg?{query}")).send_empty();
        let mut answer = request.expect("an answer");
        assert_eq!(answer.status().as_u16(), 400, "{query}");
        let text = answer.body_mut().read_to_string().expect("text");
        assert_eq!(text, format!("{why}\n"), "{query}");
    }
    assert!(!clocks[0].all_said().iter().any(|line| line.contains("receives")));
}

#[test]
fn a_clock_that_ticks_begins_at_its_own_id_as_the_original_does() {
    let (_, peers) = addresses(3);
    for (tick, reading) in [("60s", "its clock reads 3"), ("0s", "its clock reads 0")] {
        let mut clock = ours(&[
            "clock",
            "--id",
            "3",
            "--listen",
            "127.0.0.1:0",
            "--peers",
            &peers,
            "--application",
            "http://127.0.0.1:1",
            "--tick",
            tick,
        ]);
        let line = clock.says("listens");
        assert!(line.ends_with(reading), "{line}");
    }
}
