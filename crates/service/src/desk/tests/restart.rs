use super::*;
use AnyRequest::{Acquire, Cancel, Release};

/// A node at which `a` holds `held` and waits for `wanted`, crashed.
fn crashed() -> Vec<(String, Vec<u8>)> {
    let mut bench = Bench::new();
    bench.session_for("a", 2_000);
    for lock in ["held", "wanted"] {
        assert!(bench.desk.machine(&lock_key(lock)).is_some());
    }
    drop(bench.acquire_as("held", acquire("a", 1_000, Some("r"))));
    bench.enter("held", 7);
    drop(bench.acquire("wanted", "a", 60_000));
    bench.disk()
}

#[test]
fn a_hold_lasts_over_a_restart_and_waits_do_not() {
    let mut bench = Bench::with(config(), Survival::Whole, crashed(), &["held", "wanted"]);
    assert_eq!(bench.asked("held"), []);
    assert_eq!(bench.asked("wanted"), [Cancel], "its request ended with the node");
    assert_eq!(bench.lock("held").holder.expect("still").fence, 7);
    let repeat = granted(&mut bench.acquire_as("held", acquire("a", 0, Some("r"))));
    assert_eq!((repeat.fence, repeat.holds), (7, 1));
    bench.release("held", "a", 7).expect("held");
    assert_eq!(bench.asked("held"), [Release]);
}

#[test]
fn sessions_get_their_whole_life_again() {
    let mut bench = Bench::with(config(), Survival::Whole, crashed(), &["held", "wanted"]);
    bench.pass(1_900);
    assert_eq!(bench.lock("held").state, "held");
    bench.pass(400);
    assert_eq!(bench.asked("held"), [Release]);
}

/// Tokens were introduced, or taken away, while the node was down: who had no name before is not
/// whoever has one now, and the other way round.
#[test]
fn a_session_is_nobodys_after_a_restart_that_changes_who_has_a_name() {
    let (nobody, ci) = (Principal::default(), Principal::almighty("ci"));
    for (before, after) in [(&nobody, &ci), (&ci, &nobody)] {
        let mut bench = Bench::new();
        assert!(bench.desk.machine(&lock_key("held")).is_some());
        let opening = |ttl_ms| api::NewSession {
            ttl_ms: Some(ttl_ms),
            request_id: Some("0123456789abcdef".to_string()),
            ..api::NewSession::default()
        };
        let open = |id: &str, reply| Command::OpenSession {
            request: opening(2_000),
            id: id.to_string(),
            reply,
        };
        bench.now(|reply| Command::by(before, open("a", reply))).expect("a session");
        let (reply, _granted) = oneshot::channel();
        let (name, request) = ("held".to_string(), acquire("a", 1_000, None));
        bench.command(Command::by(before, Command::Acquire { name, request, reply }));
        bench.enter("held", 7);
        let mut bench = Bench::with(config(), Survival::Whole, bench.disk(), &["held"]);
        let (session, request) = ("a".to_string(), api::KeepAlive::default());
        let keep = |reply| Command::KeepAlive { session, request, reply };
        assert_eq!(code(bench.now(|reply| Command::by(after, keep(reply)))), "no_session");
        let request = api::Release { session: "a".to_string(), fence: 7, ..Default::default() };
        let release = |reply| Command::Release { name: "held".to_string(), request, reply };
        assert_eq!(code(bench.now(|reply| Command::by(after, release(reply)))), "no_session");
        let end = |reply| Command::CloseSession { session: "a".to_string(), reply };
        assert_eq!(code(bench.now(|reply| Command::by(after, end(reply)))), "no_session");
        let own = bench.now(|reply| Command::by(after, open("b", reply))).expect("a session");
        assert_eq!(own.session, "b", "the same request_id, and not the same one who asks");
        assert_eq!(bench.lock("held").holder.expect("still").fence, 7);
        bench.pass(2_400);
        assert_eq!(bench.asked("held"), [Release], "it ends by itself");
    }
}

#[test]
fn a_machine_that_is_inside_for_nobody_is_released() {
    let mut disk = crashed();
    disk.retain(|(key, _)| !key.starts_with("session/"));
    let mut bench = Bench::with(config(), Survival::Whole, disk, &["held", "wanted"]);
    assert_eq!(bench.asked("held"), [Release]);
    assert_eq!(bench.lock("held").state, "free");
}

#[test]
fn holds_of_machines_that_forget_them_are_over() {
    let mut bench = Bench::with(config(), Survival::Returns, crashed(), &["held", "wanted"]);
    assert_eq!(bench.asked("held"), [], "it is not inside any more");
    assert_eq!(bench.lock("held").state, "free");
    assert_eq!(code(bench.release("held", "a", 7)), "not_holder");
    let session = "a".to_string();
    bench
        .now(|reply| Command::KeepAlive { session, request: Default::default(), reply })
        .expect("it lives on");
    let verify = |reply| Question::Verify { name: "held".to_string(), request: verify(7), reply };
    let verified = bench.show(verify).expect("an answer");
    assert_eq!((verified.valid, verified.latest), (false, Some(7)));
    drop(bench.acquire("held", "a", 1_000));
    assert_eq!(bench.asked("held"), [Acquire]);
}

#[test]
fn a_record_that_cannot_be_read_is_passed_over() {
    let mut disk = crashed();
    disk.push(("lock/broken".to_string(), b"{".to_vec()));
    disk.push(("what".to_string(), Vec::new()));
    let mut bench = Bench::with(config(), Survival::Whole, disk, &["held", "wanted"]);
    assert_eq!(bench.lock("held").state, "held");
}

#[test]
fn a_release_that_is_repeated_after_a_restart_counts_once() {
    let mut bench = Bench::new();
    bench.session("a");
    assert!(bench.desk.machine(&lock_key("x")).is_some());
    let mut outer = bench.acquire_as("x", acquire("a", 1_000, Some("outer")));
    bench.enter("x", 7);
    granted(&mut outer);
    granted(&mut bench.acquire_as("x", acquire("a", 0, Some("inner"))));
    let release = |bench: &mut Bench| {
        let (session, request_id) = ("a".to_string(), Some("s".to_string()));
        let request = api::Release { session, fence: 7, request_id, ..api::Release::default() };
        bench.now(|reply| Command::Release { name: "x".to_string(), request, reply })
    };
    assert_eq!(release(&mut bench).expect("held").holds, 1);
    let mut bench = Bench::with(config(), Survival::Whole, bench.disk(), &["x"]);
    assert_eq!(release(&mut bench).expect("the same again").holds, 1);
    assert_eq!(bench.lock("x").state, "held");
}

#[test]
fn records_on_disk_are_written_as_they_always_were() {
    let mut bench = Bench::new();
    bench.session_for("a", 2_000);
    let _held = bench.acquire_as("x", acquire("a", 1_000, Some("r")));
    bench.enter("x", 7);
    let request = api::NewValue {
        value: serde_json::json!({"b": [1, null]}),
        fence: 5,
        ..api::NewValue::default()
    };
    bench.now(|reply| Command::SetValue { name: "v".to_string(), request, reply }).expect("new");
    let disk = bench.disk();
    let on_disk = |name: &str| {
        let (_, bytes) = disk.iter().find(|(key, _)| key == name).expect("a record");
        String::from_utf8(bytes.clone()).expect("JSON")
    };
    let lock = r#"{"stage":"Inside","latest":7,"holder":{"session":"a","fence":7,"#.to_string()
        + r#""holds":["r"],"given_back":[]}}"#;
    assert_eq!(on_disk("lock/x"), lock);
    let session = r#"{"ttl":2000000,"label":"label of a","request_id":null}"#;
    assert_eq!(on_disk("session/a"), session);
    assert_eq!(on_disk("value/v"), r#"{"value":{"b":[1,null]},"fence":5}"#);
    assert_eq!(on_disk("began"), "true");
}
