//! No allocation per event: twice as long a run asks the allocator (almost) nothing more.
#![allow(unsafe_code, reason = "counting allocations needs an allocator of one's own")]

use conclave_algorithms::catalog::{self, ENTRIES, Family};
use conclave_core::Ticks;
use conclave_sim::{Options, Plan, Workload};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counting what each thread asks of it.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged; counting touches no heap.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract, which is the system's own.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `alloc` above, that is from the system.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Locks that do allocate as they go, and how often.
const ALLOCATES: &[(&str, &str)] = &[
    ("central-failover", "about once in 20 events, most of which are signs of life"),
    ("token-ring-regenerating", "about once in 20 events, most of which are signs of life"),
];

/// Events, and allocations, of a busy cluster of 8 that enters `rounds` times each.
fn measure(id: &str, rounds: u32) -> (u64, u64) {
    let setting = catalog::find(id).and_then(|entry| entry.setting(8, &[])).expect("it exists");
    let workload = Workload::Closed(Ticks::units(3));
    let plan = Plan { rounds, workload, until: Ticks::units(10_000_000), ..Plan::default() };
    let cluster = conclave_lab::drivers(&setting).expect("it can be built").simulator;
    let before = ALLOCATIONS.with(Cell::get);
    let options = Options { order: true, hash: true, ..Options::default() };
    let outcome = cluster.run(&plan, &options).expect("the plan is sound");
    (outcome.events, ALLOCATIONS.with(Cell::get) - before)
}

/// What is wrong with twice as long a run, if anything is.
fn complaint(id: &str) -> Option<String> {
    // Left to grow are the list of entries and the samples, which double: a handful at most.
    let growth = 12;
    let (events, allocations) = measure(id, 200);
    let (more_events, more_allocations) = measure(id, 400);
    if more_events <= events + 4_000 {
        return Some(format!("{id}: {events} then {more_events} events"));
    }
    (more_allocations > allocations + growth).then(|| {
        format!("{id}: {allocations} allocations in {events} events, then {more_allocations}")
    })
}

#[test]
fn twice_the_events_need_no_more_allocations() {
    let mut complaints = Vec::new();
    for entry in ENTRIES.iter().filter(|entry| entry.family == Family::Mutex) {
        let excused = ALLOCATES.iter().any(|(id, _)| *id == entry.id);
        match complaint(entry.id) {
            Some(complaint) if !excused => complaints.push(complaint),
            None if excused => complaints.push(format!("{}: no longer in ALLOCATES", entry.id)),
            Some(_) | None => {}
        }
    }
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn detectors_need_no_more_the_longer_they_watch() {
    let watch = |id: &str, units| {
        let setting = catalog::find(id).and_then(|entry| entry.setting(8, &[])).expect("it exists");
        let plan = Plan { until: Ticks::units(units), ..Plan::default() };
        let cluster = conclave_lab::drivers(&setting).expect("it can be built").simulator;
        let before = ALLOCATIONS.with(Cell::get);
        cluster.run(&plan, &Options::default()).expect("the plan is sound");
        ALLOCATIONS.with(Cell::get) - before
    };
    for id in ENTRIES.iter().filter(|it| it.family == Family::Detector).map(|entry| entry.id) {
        let (short, long) = (watch(id, 500), watch(id, 1_000)); // By then windows are full.
        assert!(long <= short + 4, "{id}: {short}, then {long} allocations");
    }
}
