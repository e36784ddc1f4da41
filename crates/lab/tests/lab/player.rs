//! The player: what it shows is what the algorithms do and the monitors say, and an edit changes
//! nothing but what it must.

mod breaking;
mod commands;
mod edits;
mod forged;
mod lamps;
mod looks;
mod recordings;
mod rules;

use conclave_lab::player::{Played, Refused, play};

/// Plays a run that can be played.
fn played(id: &str, flags: &str, edits: &[&str]) -> Played {
    let edits: Vec<String> = edits.iter().map(|edit| (*edit).to_string()).collect();
    match play(id, flags, &edits) {
        Ok(played) => played,
        Err(Refused { field, words }) => panic!("{id} {flags} {edits:?}: {field}: {words}"),
    }
}

/// Why a run cannot be played.
fn refused(id: &str, flags: &str, edits: &[&str]) -> Refused {
    let edits: Vec<String> = edits.iter().map(|edit| (*edit).to_string()).collect();
    play(id, flags, &edits).err().unwrap_or_else(|| panic!("{id} {flags} {edits:?} is played"))
}
