use super::*;
use crate::random::Stream;
use std::collections::BTreeMap;

impl Item for u32 {
    const VACANT: Self = Self::MAX;

    fn is_vacant(&self) -> bool {
        *self == Self::VACANT
    }
}

fn pop(wheel: &mut Wheel<u32>, limit: Ticks) -> Option<(u64, u32)> {
    wheel.next_before(limit).map(|slot| (wheel.now().0, wheel.take(slot)))
}

fn drain(wheel: &mut Wheel<u32>) -> Vec<(u64, u32)> {
    std::iter::from_fn(|| pop(wheel, Ticks(u64::MAX))).collect()
}

#[test]
fn at_equal_times_messages_come_before_timers_before_the_application() {
    let mut wheel = Wheel::new(|&item| (item % 2) as u8);
    for (lane, node, item) in [
        (Lane::Application, 2, 11),
        (Lane::Application, 5, 12),
        (Lane::Application, 1, 13),
        (Lane::Timer, 0, 2),
        (Lane::Message, 9, 0),
        (Lane::Message, 0, 1),
    ] {
        wheel.schedule(Ticks(7), lane, NodeId(node), item);
    }
    let order: Vec<u32> = drain(&mut wheel).into_iter().map(|(_, item)| item).collect();
    assert_eq!(order, [0, 1, 2, 12, 13, 11]);
}

#[test]
fn a_cancelled_item_never_comes() {
    let mut wheel = Wheel::new(|_| 0);
    let near = wheel.schedule(Ticks(1), Lane::Timer, NodeId(0), 1);
    let far = wheel.schedule(Ticks(1_000_000), Lane::Timer, NodeId(0), 2);
    wheel.schedule(Ticks(2), Lane::Timer, NodeId(0), 3);
    wheel.cancel(near);
    wheel.cancel(far);
    assert_eq!(drain(&mut wheel), [(2, 3)]);
    assert!(wheel.is_empty());
}

#[test]
fn a_message_sent_for_now_comes_before_what_the_application_had_ready() {
    let mut wheel = Wheel::new(|_| 0);
    wheel.schedule(Ticks(5), Lane::Application, NodeId(0), 1);
    wheel.schedule(Ticks(5), Lane::Application, NodeId(1), 2);
    assert_eq!(pop(&mut wheel, Ticks(6)), Some((5, 1)));
    wheel.schedule(Ticks(5), Lane::Message, NodeId(0), 9);
    assert_eq!(drain(&mut wheel), [(5, 9), (5, 2)]);
}

#[test]
fn nothing_is_taken_at_or_after_the_limit() {
    let mut wheel = Wheel::new(|_| 0);
    wheel.schedule(Ticks(5), Lane::Message, NodeId(0), 1);
    wheel.schedule(Ticks(90_000), Lane::Message, NodeId(0), 2);
    assert_eq!(pop(&mut wheel, Ticks(5)), None);
    assert_eq!(pop(&mut wheel, Ticks(6)), Some((5, 1)));
    assert_eq!(pop(&mut wheel, Ticks(90_000)), None);
    assert_eq!(drain(&mut wheel), [(90_000, 2)]);
}

#[test]
fn any_mix_of_near_and_far_comes_in_order_of_time_and_scheduling() {
    for seed in 0..50 {
        let mut random = Stream::new(seed, 0);
        let mut wheel = Wheel::new(|_| 0);
        let mut model: BTreeMap<(u64, u32), u32> = BTreeMap::new();
        let mut now = 0;
        let mut count = 0;
        for _ in 0..2_000 {
            if random.below(3) > 0 {
                let reach = [1, 1_000, SPAN, 5 * SPAN][random.below(4) as usize];
                let at = now + random.below(reach);
                wheel.schedule(Ticks(at), Lane::Message, NodeId(0), count);
                model.insert((at, count), count);
                count += 1;
            } else if let Some(due) = pop(&mut wheel, Ticks(u64::MAX)) {
                let ((at, _), item) = model.pop_first().expect("the model has it too");
                assert_eq!(due, (at, item), "seed {seed}");
                now = at;
            }
        }
    }
}
