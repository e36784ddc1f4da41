//! Writes of values: one that may have been done is not done again, unless a number tells.

use crate::support::{Answer, Fake, refuse};
use crate::table::Nodes;
use conclave_client::api::NewValue;
use conclave_client::{Client, Wanted};
use serde_json::{Value, json};
use std::net::TcpListener;

const PUT: &str = "PUT /v1/values/build";

fn written() -> Answer {
    let value = json!({"name": "build", "value": 1, "fence": 7, "node": 1, "replicated": true});
    Answer::Says(200, value)
}

fn first() -> NewValue {
    NewValue { value: Value::from(1), fence: 7, ..NewValue::default() }
}

fn numbered() -> NewValue {
    let session = Some("5e55".to_string());
    NewValue { session, request_id: Some("3".to_string()), ..first() }
}

/// Asks a node that does what it is told and says nothing, and then, perhaps, one that is well.
fn asked_of_the_second(silent: fn() -> Answer, value: &NewValue) -> usize {
    let fakes = [Fake::start(move |_| silent()), Fake::start(|_| written())];
    let client = Client::new(fakes.each_ref().map(|fake| &fake.address)).unwrap();
    let asked = || fakes[1].bodies(PUT).len();
    assert_eq!(client.set_value("build", value).is_ok(), asked() == 1);
    asked()
}

#[test]
fn a_write_that_a_node_may_have_done_is_repeated_only_under_a_number() {
    let hangs_up = || Answer::HangsUp;
    assert_eq!(asked_of_the_second(hangs_up, &first()), 0);
    assert_eq!(asked_of_the_second(hangs_up, &numbered()), 1);
    let unknown = || refuse(503, "unavailable", "it may or may not have taken effect");
    assert_eq!(asked_of_the_second(unknown, &first()), 0);
    let nobody_leads = || refuse(503, "no_leader", "no node leads the cluster now");
    assert_eq!(asked_of_the_second(nobody_leads, &first()), 1, "it was not done");
}

#[test]
fn a_node_that_cannot_be_reached_has_written_nothing() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let well = Fake::start(|_| written());
    let client = Client::new([&free, &well.address]).unwrap();
    assert_eq!(client.set_value("build", &first()).unwrap().fence, 7);
}

#[test]
fn a_guard_writes_under_the_numbers_of_its_session() {
    let nodes = Nodes::start(1);
    let client = Client::new(nodes.addresses()).unwrap();
    let guard = client.lock("build", &Wanted::default()).unwrap();
    for value in [1, 2] {
        let written = guard.set_value("build", value.into()).unwrap();
        assert_eq!(written.fence, guard.fence());
    }
    let bodies = nodes.bodies(PUT);
    let session = nodes.change(|table| table.session());
    let number = |body: &Value| body["request_id"].as_str().unwrap().parse::<u64>().unwrap();
    assert!(bodies.iter().all(|body| body["session"] == *session));
    assert!(number(&bodies[0]) < number(&bodies[1]), "{bodies:?}");
    assert_eq!(bodies[1]["lowest_open"], bodies[1]["request_id"], "the first is answered");
    client.close();
    assert!(guard.set_value("build", 3.into()).is_err() && guard.fence_if_held().is_err());
    assert_eq!(nodes.bodies(PUT).len(), 2, "whoever has lost it writes nothing");
}
