use super::*;
use conclave_api::limits::{LOCKS_MAX, SESSIONS_MAX};
use std::time::Instant;

/// Prints how long the desk takes for what it does with ten thousand locks and sessions. Nothing
/// is asserted about it: `cargo test --profile soak -p conclave-service -- --ignored scale`.
#[test]
#[ignore = "measures; run by hand"]
fn scale_of_ten_thousand_locks_and_sessions() {
    let mut bench = Bench::new();
    for number in 0..SESSIONS_MAX {
        bench.session_for(&number.to_string(), 10_000);
    }
    let mut waiting = Vec::new();
    for number in 0..LOCKS_MAX {
        let name = number.to_string();
        waiting.push(bench.acquire(&name, &name, 60_000));
        bench.enter(&name, 1);
    }
    let mut timed = |what: &str, deed: &mut dyn FnMut(&mut Bench)| {
        let start = Instant::now();
        deed(&mut bench);
        println!("{what}: {:.2} ms", start.elapsed().as_secs_f64() * 1e3);
    };
    timed("a wake with nothing over", &mut |bench| bench.pass(250));
    timed("a wake with a look at everything", &mut |bench| {
        bench.desk.timer.due(Ticks::ZERO);
        bench.desk.wake(&mut bench.host);
    });
    timed("metrics", &mut |bench| {
        drop(bench.now(|reply| Command::Show(Question::Metrics { reply })));
    });
    timed("a page of locks", &mut |bench| {
        let page = api::Page::default();
        let all = bench.show(|reply| Question::Locks { page, reply }).expect("a list");
        println!("{} bytes", serde_json::to_string(&all).expect("JSON").len());
    });
    timed("a session that closes", &mut |bench| {
        let session = "7".to_string();
        bench.now(|reply| Command::CloseSession { session, reply }).expect("closed");
    });
    timed("all sessions expire at once", &mut |bench| {
        for _ in 0..50 {
            bench.pass(250);
        }
    });
    assert_eq!(bench.desk.sessions.len(), 0, "all have expired");
}
