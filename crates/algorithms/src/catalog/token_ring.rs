//! The row of the token ring, without and with the detection of lost tokens.

use super::claims::{
    ALL, STUCK, UNFENCED, UNSAFE, as_usual, claim, comeback, copied, for_ever, loss, thrice, twice,
    withdrawn_twice, withdrawn_with_a_comeback,
};
use super::dropped::breaks;
use super::{
    Assumption, Cluster, Cost, Entry, Evidence, Family, Formula, Kind, Lock, MutexCost, OnNetwork,
    Parameter, Params, Rejoin, Set, Setting, Stated, exactly, limits,
};
use crate::Error;
use crate::mutex::ping_pong::{self, PingPong};
use crate::mutex::token_ring::{self, Idle, TASK, TokenRing, normal};
use conclave_core::{Property, Ticks};

/// An unwanted token rests until it is called.
const PARKED: Set = &[("idle", "park")];
/// Two tokens, each of which notices the other's loss.
const PING_PONG: Set = &[("loss_detection", "ping-pong")];

/// The token ring.
pub const ENTRY: Entry = Entry {
    id: "token-ring",
    family: Family::Mutex,
    title: "Token ring",
    summary: "One token goes from node to node; who wants to enter keeps it for that long.",
    paper: "G. Le Lann, \"Distributed systems: towards a formal approach\", IFIP Congress 1977; \
            ping-pong: J. Misra, PODC 1983",
    seeds: &["000", "001", "002", "003"],
    assumptions: &[
        Assumption {
            tag: "A1",
            text: "every message arrives exactly once; with ping-pong, one token at a time may be \
                   lost",
            dropped: breaks(limits::astray, &[Property::V1, Property::V2]),
        },
        Assumption {
            tag: "A2",
            text: "no node crashes, or it restarts with its disk",
            dropped: breaks(limits::amnesia, &[Property::V1, Property::V2])
                .nodes(2)
                .with(&[("idle", "park")]),
        },
        Assumption {
            tag: "A3",
            text: "who enters also leaves",
            dropped: breaks(limits::stay, &[Property::V2]),
        },
        Assumption {
            tag: "A4",
            text: "with ping-pong, channels are FIFO",
            dropped: breaks(limits::reorder, &[Property::S1, Property::S1Eff, Property::F1])
                .nodes(2)
                .with(&[("loss_detection", "ping-pong")]),
        },
    ],
    bounds: limits::untimed,
    has,
    lacks: &[
        (Property::HB, "entries follow the ring, not the order of the requests"),
        (
            Property::BW,
            "idle=park: where the token rests, its holder may enter again and again until a WAKE \
             arrives",
        ),
    ],
    bypass: Some(|setting| u64::from(setting.n) - 1),
    parameters: &[
        Parameter {
            name: "idle",
            kind: Kind::Choice(&["circulate", "park"]),
            default: "circulate",
            about: "whether an unwanted token goes on, or rests until a WAKE comes round the ring",
        },
        Parameter {
            name: "hold",
            kind: Kind::Time { or: &[] },
            default: "0",
            about: "how long an unwanted token stays before it goes on",
        },
        Parameter {
            name: "loss_detection",
            kind: Kind::Choice(&["none", "ping-pong"]),
            default: "none",
            about: "ping-pong: two tokens, of which one lets in, and each notices the other's loss",
        },
        Parameter {
            name: "text",
            kind: Kind::Choice(&["corrected", "seed"]),
            default: "corrected",
            about: "seed: as notes 002 print it, a task is run wherever the token arrives, \
                    so it stays 10 units even where nobody asked",
        },
    ],
    cost: Cost::Mutex(MutexCost {
        upkeep: &[],
        light: Formula {
            text: "1..∞, from the start (N+1)/2; parked N-1; ping-pong N+11",
            range: light,
        },
        heavy: Formula { text: "1; parked 2(N-1)/N; ping-pong 12", range: heavy },
        client_delay: Formula {
            text: "0..N, from the start (N-1)/2; parked N-1",
            range: client_delay,
        },
        client_delay_serial: Formula {
            text: "0..N, from the start (N-1)/2; parked N-1",
            range: client_delay_serial,
        },
        sync_delay: Formula {
            text: "1..N; 1 when all wait",
            range: |setting| exactly(if setting.n == 1 { 0.0 } else { 1.0 }),
        },
        textbooks: "Messages per entry are given as 1 to N or, counting a token that goes round \
                    for nobody, 1 to infinity; the delay as 0 to N-1 or, counting the whole lap \
                    after it has just left, 0 to N.",
    }),
    rejoin_without_disk: Rejoin::Never,
    on_network: OnNetwork::Lock(Lock { defaults: on_network, ..Lock::OF_EQUALS }),
    evidence: Evidence {
        claims: Stated::Yes(&[
            claim(2, thrice, 142, UNFENCED).place(20),
            claim(3, as_usual, 112, UNFENCED).place(21),
            claim(3, twice, 529, UNFENCED).place(40),
            claim(3, for_ever, 40, UNFENCED).place(47),
            claim(2, loss, 44, STUCK).place(8),
            claim(3, withdrawn_with_a_comeback, 2_068, UNFENCED),
            claim(3, copied, 220, UNFENCED),
            claim(3, withdrawn_twice, 9_513, ALL).with(PARKED),
            claim(3, comeback, 692, ALL).with(PARKED),
            claim(3, copied, 765, ALL).with(PARKED),
            claim(3, for_ever, 141, UNFENCED).with(PARKED),
            claim(3, as_usual, 593, UNFENCED).with(PING_PONG),
            claim(3, loss, 2_140, UNFENCED).with(PING_PONG),
            claim(2, withdrawn_with_a_comeback, 924, UNFENCED).with(PING_PONG),
            claim(2, copied, 98, UNSAFE).with(PING_PONG),
        ]),
        normal: Stated::Yes(&[&[], &[("hold", "1")], PARKED, PING_PONG]),
        plain: Stated::No("its token never rests"),
    },
    why: &[token_ring::WHY, ping_pong::WHY],
    facets: &[],
};

/// A parked token wakes nobody up: it rests unless something is set that needs one that moves.
fn on_network(is_set: &dyn Fn(&str) -> bool) -> Set {
    if ["hold", "loss_detection", "text"].into_iter().any(is_set) {
        return &[("hold", "0")];
    }
    &[("hold", "0"), ("idle", "park")]
}

/// Whether the setting asks for [`ping_pong`] in place of the plain ring.
pub fn detects_loss(setting: &Setting) -> bool {
    setting.params.is("loss_detection", "ping-pong")
}

/// Builds the plain ring.
pub fn cluster(setting: &Setting) -> Result<Cluster<TokenRing>, Error> {
    let n = setting.n;
    let hold = hold(setting);
    let parks = parks(&setting.params);
    if parks && hold > Ticks::ZERO {
        let reason =
            "idle=park rests until it is woken, so it goes with neither hold nor text=seed";
        return Err(Error::Unusable { name: "idle", reason: reason.into() });
    }
    let idle = if parks { Idle::PARK } else { Idle::Circulate { hold } };
    let ring = Cluster::of_equals(n, move |me| TokenRing::new(me, n, idle));
    Ok(Cluster { silent: parks || n == 1, normal: Some(normal), ..ring })
}

/// Builds the ring that notices lost tokens.
pub fn ping_pong(setting: &Setting) -> Result<Cluster<PingPong>, Error> {
    if parks(&setting.params) {
        let reason = "ping-pong needs idle=circulate: a token that rests is not missed";
        return Err(Error::Unusable { name: "loss_detection", reason: reason.into() });
    }
    let n = setting.n;
    let hold = hold(setting);
    let ring = Cluster::of_equals(n, move |me| PingPong::new(me, n, hold));
    Ok(Cluster { silent: n == 1, normal: Some(ping_pong::normal), ..ring })
}

fn has(params: &Params) -> Vec<Property> {
    let mut has = vec![Property::S1, Property::S1Eff, Property::V1, Property::V2, Property::F1];
    if !parks(params) {
        has.push(Property::BW);
    }
    has
}

fn parks(params: &Params) -> bool {
    params.is("idle", "park")
}

/// How long an unwanted token stays; as printed in notes 002, for a task besides.
fn hold(setting: &Setting) -> Ticks {
    let task = if setting.params.is("text", "seed") { TASK } else { Ticks::ZERO };
    setting.params.ticks("hold").unwrap_or_default() + task
}

/// Client k costs k hops and the one on its release. Pong makes a hop at the start and then one per
/// unit, until the client leaves after k hops, k holds, and its 10 units inside.
fn light(setting: &Setting) -> (f64, f64) {
    let n = setting.n();
    let hold = hold(setting).as_units();
    match setting.n {
        1 => exactly(0.0),
        _ if parks(&setting.params) => exactly(n - 1.0),
        _ if detects_loss(setting) => {
            let most = (n - 1.0) / 2.0 * (2.0 + hold) + 12.0;
            (if hold.fract() == 0.0 { most } else { most - 1.0 }, most)
        }
        _ => exactly((n + 1.0) / 2.0),
    }
}

/// Parked, each node but the holder sends a WAKE, which the next in the ring need not carry on,
/// having sent its own. Pong makes a hop at the start and then one per unit, until the last leaves
/// at 11n - 1.
fn heavy(setting: &Setting) -> (f64, f64) {
    let n = setting.n();
    exactly(match setting.n {
        1 => 0.0,
        _ if parks(&setting.params) => 2.0 * (n - 1.0) / n,
        _ if detects_loss(setting) => 12.0,
        _ => 1.0,
    })
}

/// Client k waits for k hops and as many holds, the first of which takes a tick at least.
fn client_delay(setting: &Setting) -> (f64, f64) {
    let n = setting.n();
    let hold = hold(setting);
    if parks(&setting.params) {
        return exactly(n - 1.0);
    }
    let first = if hold == Ticks::ZERO { Ticks(1).as_units() } else { 0.0 };
    exactly((n - 1.0) / 2.0 * (1.0 + hold.as_units()) + first * (n - 1.0) / n)
}

/// Pong's hops count too, one per unit.
fn client_delay_serial(setting: &Setting) -> (f64, f64) {
    let n = setting.n();
    let hold = hold(setting).as_units();
    let hops = (n - 1.0) / 2.0;
    match () {
        () if parks(&setting.params) => exactly(n - 1.0),
        () if detects_loss(setting) => (hops, hops * (2.0 + hold)),
        () => exactly(hops),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rests_cannot_also_move() {
        let with = |set: &[(&str, &str)]| ENTRY.setting(7, set).expect("taken");
        assert!(cluster(&with(&[("idle", "park")])).expect("can be built").silent);
        assert!(!cluster(&with(&[("hold", "2")])).expect("can be built").silent);
        assert!(cluster(&with(&[("idle", "park"), ("hold", "2")])).is_err());
        assert!(cluster(&with(&[("idle", "park"), ("text", "seed")])).is_err());
        assert!(ping_pong(&with(&[("idle", "park")])).is_err());
    }

    #[test]
    fn the_text_as_printed_keeps_the_token_everywhere_for_a_task() {
        let setting = ENTRY.setting(7, &[("text", "seed")]).expect("taken");
        assert_eq!(client_delay(&setting), exactly(33.0));
    }
}
