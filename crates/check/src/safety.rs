//! Safety: the properties that are violated in a single state, whatever happens next.

use crate::explorer::Explorer;
use crate::local::Phase;
use crate::state::State;
use conclave_core::Property;

/// The safety properties that are violated in a state: mutual exclusion by the state itself, the
/// others by what the history variables remember of the way to it.
pub fn violated(explorer: &Explorer<'_>, state: &State) -> Vec<Property> {
    let mut violated = Vec::new();
    let inside = |&node: &u16| explorer.face(state, node).phase == Phase::Inside;
    if (0..explorer.clients() as u16).filter(inside).count() > 1 {
        violated.push(Property::S1);
    }
    let broken = explorer.global(state.global).broken;
    let remembered = [
        (broken.same_fence, Property::S1Eff),
        (broken.fence, Property::F1),
        (broken.term, Property::E1Term),
        (broken.order, Property::HB),
    ];
    violated.extend(remembered.iter().filter(|(is, _)| *is).map(|&(_, property)| property));
    violated
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{for_every_state, with_space};
    use conclave_core::Bounds;

    #[test]
    fn two_nodes_inside_violate_mutual_exclusion_and_an_equal_fence_is_remembered() {
        let mut seen = Vec::new();
        with_space(&Bounds::default(), |space| {
            for_every_state(&mut Explorer::new(space), |explorer, state| {
                let violated = violated(explorer, state);
                let inside = |&node: &u16| explorer.face(state, node).phase == Phase::Inside;
                assert_eq!(violated.contains(&Property::S1), (0..2).filter(inside).count() == 2);
                seen.extend(violated);
            });
        });
        for property in [Property::S1, Property::S1Eff, Property::F1] {
            assert!(seen.contains(&property), "{property:?}");
        }
    }
}
