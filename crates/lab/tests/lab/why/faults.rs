//! Runs that take particular faults to give a reason: the flags of `conclave sim`, and the reasons.

use conclave_algorithms::catalog::Family;
use conclave_core::Ticks;
use conclave_lab::Experiment;
use conclave_lab::sim_flags::SimFlags;
use conclave_sim::Plan;

/// An algorithm, the flags of a run, and the codes of the reasons that it is here for.
pub type Run = (&'static str, &'static str, &'static [&'static str]);

pub const RUNS: &[Run] = &[
    ("central-failover", "--latency exp:5 --no-fifo --set retransmit=3", &["answered-late"]),
    ("central-failover", "--pause 1@10+100", &["wanted"]),
    ("central-failover", "--nodes 3 --crash 3@10 --set detector=perfect", &["lapsed-unheard"]),
    (
        "central-failover",
        "--nodes 3 --cs 3 --rounds 9 --no-fifo --rule *>2:QUEUED#1=20 --set detector=perfect",
        &["told-place-late"],
    ),
    (
        "central-failover",
        "--nodes 3 --seed 9 --latency uniform:1..20 --no-fifo --crash 3@88 --restart 3@100 \
         --partition 2,3/1@13..69 --set detector=perfect",
        &["elected-late"],
    ),
    (
        "central-failover",
        "--nodes 2 --cs 60 --suspect 1:2@25 --set mode=fence --set election=ring \
         --set detector=perfect",
        &["revokes", "revoked"],
    ),
    (
        "token-ring-regenerating",
        "--nodes 2 --rounds 2 --suspect 1:2@50 --pause 1@1+49 --set detector=perfect",
        &["destroyed"],
    ),
    (
        "token-ring-regenerating",
        "--nodes 2 --rounds 2 --suspect 2:1@105 --suspect 1:2@50 --pause 1@1+49 \
         --set detector=perfect",
        &["gives-up"],
    ),
    (
        "token-ring-regenerating",
        "--latency exp:6 --set detector=perfect --set retransmit=3",
        &["refused"],
    ),
    (
        "token-ring-regenerating",
        "--latency exp:6 --no-fifo --set retransmit=3",
        &["token-was-here"],
    ),
    (
        "token-ring-regenerating",
        "--nodes 3 --cs 60 --set retransmit=3 --set detector=perfect --until 200",
        &["took-over"],
    ),
    ("token-ring-regenerating", "--nodes 3 --crash 1@10 --set lease=5 --until 200", &["lapsed"]),
    (
        "token-ring-regenerating",
        "--nodes 5 --rounds 9 --workload closed:2 --cs 3 --set detector=perfect \
         --set retransmit=3 --backoff 1:500 --backoff 2:40 --backoff 3:16 --backoff 4:10 \
         --backoff 5:40 --crash 5@5 --restart 5@25 --crash 4@45 --rule *>1:HEARTBEAT=80 \
         --rule *>1:REQUEST_VOTE=drop --until 200",
        &["elected-late"],
    ),
    ("maekawa", "--nodes 5 --latency exp:5 --duplicate 0.1 --restart 2@6", &["no-vote"]),
    ("token-ring", "--workload closed:2 --cs 1 --set hold=3", &["rests"]),
    (
        "token-ring",
        "--workload closed:2 --cs 1 --set hold=3 --set loss_detection=ping-pong",
        &["rests"],
    ),
    (
        "token-ring",
        "--nodes 3 --rounds 5 --workload closed:2 --rule 1>2:TOKEN#1=twice:25 \
         --restart 2@20:amnesia",
        &["second-token"],
    ),
    ("suzuki-kasami", "--nodes 2 --restart 2@10:amnesia --rounds 4 --cs 1", &["served"]),
    ("raymond", "--seed 8 --cancel 0.3", &["skipped"]),
    (
        "bully",
        "--loss 0.05 --crash 1@3 --suspect 5:2@8+40 --candidates 1,2 --set terms=true",
        &["nobody-may-lead"],
    ),
    (
        "bully",
        "--nodes 5 --partition 5/4,1,3,2@80..130 --set hysteresis=20",
        &["was-cut-off", "still-returning"],
    ),
    (
        "bully",
        "--nodes 5 --latency uniform:1..20 --partition 2,4,1/5,3@5..35 --set majority=true",
        &["no-majority"],
    ),
    ("bully", "--latency exp:5 --no-fifo", &["overtaken"]),
    (
        "bully",
        "--nodes 3 --dead 3 --start 2 --set hysteresis=20 --partition 2/1,3@20..40 \
         --act 41,2,campaign",
        &["settled"],
    ),
    (
        "bully",
        "--nodes 3 --crash 2@10 --partition 1/2,3@12..37 --set majority=true",
        &["steps-down"],
    ),
    ("ring", "--latency exp:5 --partition 2/4,1,3,5@12..16", &["nothing-to-tell"]),
    ("ring", "--nodes 4 --partition 2/4,3,1@4..12 --candidates 1", &["nobody-may-lead"]),
    ("ring", "--nodes 3 --crash 2@20 --start 2,3 --dead 1", &["nobody-left"]),
    ("ring", "--nodes 4 --start 1 --crash 1@2", &["cut-off"]),
    (
        "ring",
        "--nodes 5 --partition 1,2,3/4,5@10..40 --act 15,4,campaign --act 20,1,campaign \
         --act 30,2,campaign",
        &["healed"],
    ),
    ("chang-roberts", "--latency uniform:1..20 --act 15,1,campaign", &["already"]),
    ("chang-roberts", "--act 15,1,campaign", &["over"]),
    ("chang-roberts", "--dead 1 --set skip=dead", &["nothing-to-tell"]),
    ("chang-roberts", "--nodes 2 --restart 2@2:amnesia", &["not-sent"]),
    (
        "chang-roberts",
        "--crash 3@20 --partition 3,1,4/5,2@80..85 --suspect 4:2@2 --set join=initiators \
         --set skip=dead",
        &["leader-dead"],
    ),
    ("hirschberg-sinclair", "--act 25,1,campaign", &["already"]),
    ("peterson", "--act 25,1,campaign", &["already"]),
    ("yo-yo", "--act 12,2,campaign", &["already"]),
    ("yo-yo", "--set topology=star --set choose=max", &["said-no", "answers-no", "turned"]),
    ("yo-yo", "--candidates 1,2,4", &["answers-no-from-below"]),
    ("yo-yo", "--restart 3@80", &["still-follows"]),
    ("wireless", "--restart 1@8", &["came-back"]),
    (
        "wireless",
        "--nodes 3 --latency uniform:1..20 --partition 3,2/1@10..15 --start 2,3",
        &["unanswered"],
    ),
    (
        "wireless",
        "--nodes 5 --seed 3 --latency exp:5 --crash 4@4 --dead 5 --set topology=star",
        &["winner-lost"],
    ),
    ("majority", "--candidates 2,3", &["only-votes"]),
    ("majority", "--latency exp:5 --act 30,1,campaign --set prevote=on", &["asked-in-vain"]),
    ("majority", "--act 12,1,campaign", &["leader-stands"]),
    (
        "majority",
        "--nodes 3 --start 2 --backoff 1:100 --backoff 3:23 --partition 3/1,2@0..20 \
         --partition 2/1,3@20..24.5 --restart 1@21:amnesia --until 40",
        &["two-leaders"],
    ),
    ("flood-max", "--act 100,5,campaign", &["already"]),
    ("flood-max", "--crash 1@1 --restart 1@21", &["resumes"]),
    ("flood-max", "--restart 1@60", &["decided"]),
    ("echo", "--act 3,6,campaign", &["in-a-wave"]),
    ("echo", "--restart 1@11", &["still-follows"]),
    ("lamport-clock", "--nodes 3 --set task=213", &["task-done", "takes-task", "not-my-step"]),
];

/// Most of what never ends by itself says all that it has to say until then.
const LONG_ENOUGH: Ticks = Ticks::units(400);

/// What a row is run as, and under which plan.
pub fn read((id, flags, _): Run) -> (Experiment, Plan) {
    let no_files = |_: &str| Err("no files here".to_string());
    let read = || -> Result<_, conclave_lab::Error> {
        let flags = SimFlags::of_line(id, flags)?;
        let experiment = flags.experiment(&no_files)?;
        let mut plan = flags.plan(&experiment, &no_files)?;
        if experiment.setting.entry.family != Family::Clock {
            plan.until = plan.until.min(LONG_ENOUGH);
        }
        Ok((experiment, plan))
    };
    read().unwrap_or_else(|error| panic!("{id} {flags}: {error}"))
}
