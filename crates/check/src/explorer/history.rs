//! History variables: what must be remembered of a run to judge safety properties that a single
//! state does not show, such as fencing tokens that rise and one leader per term.

use super::parts::Parts;
use crate::local::Phase;
use crate::space::Space;
use crate::state::State;
use crate::vocabulary::Word;

/// Remembers what the user of a node was told by the move that leads to this state.
pub fn remember(space: &Space<'_>, parts: &mut Parts, next: &mut State, node: u16, word: Word) {
    let watch = space.watch;
    let changed = match word {
        Word::Entered { fence } if watch.fences || watch.order => {
            let has_it = |other| parts.locals.of(next, other).fence == Some(fence);
            let shared = watch.fences && others(space, node).any(has_it);
            let overtakes = |other| overtakes(parts, next, node, other);
            let overtaken = watch.order && others(space, node).any(overtakes);
            parts.globals.changed(space, next.global, |global| {
                if watch.fences {
                    global.entered(fence, shared);
                }
                global.broken.order |= overtaken;
            })
        }
        Word::Elected { leader, term } if watch.terms => {
            parts.globals.changed(space, next.global, |global| global.elected(leader, term))
        }
        Word::Entered { .. } | Word::Elected { .. } | Word::Deposed => return,
    };
    parts.set_global(next, changed);
}

/// The users of all other nodes.
fn others(space: &Space<'_>, node: u16) -> impl Iterator<Item = u16> + use<> {
    (0..space.workings.clients() as u16).filter(move |&other| other != node)
}

/// Whether a node that enters asked only after another that still waits, and because of it.
fn overtakes(parts: &Parts, state: &State, node: u16, other: u16) -> bool {
    let mine = parts.locals.of(state, node);
    let theirs = parts.locals.of(state, other);
    let place = usize::from(other);
    theirs.phase == Phase::Waiting && mine.asked[place] >= theirs.asked[place]
}

/// Forgets what was broken by the move before: the next one does not break it again.
pub fn forget_violations(space: &Space<'_>, parts: &mut Parts, next: &mut State) {
    let changed = parts.globals.changed(space, next.global, |global| global.go_on());
    parts.set_global(next, changed);
}
