//! What a node says when it meets a mistake of its own.

use super::log::Format;
use crate::failure;
use std::panic::{self, PanicHookInfo};

/// From now on a panic of any thread ends the process, with one line that says why. What a node
/// does after a rule of its own is broken is anybody's guess; to others it is a slow one.
pub fn end_on_panic(id: u32, format: Format) {
    panic::set_hook(Box::new(move |panic| {
        let what = message(panic);
        let place = panic.location();
        let place = place.map(|place| format!(", at {place}")).unwrap_or_default();
        let words = format!("node {id} failed by a mistake in conclave itself: {what}{place}");
        match format {
            Format::Text => failure::say(&words),
            Format::Json => tracing::error!("{words}"),
        }
        std::process::exit(i32::from(failure::Exit::Failed.code()));
    }));
}

fn message<'a>(panic: &'a PanicHookInfo<'_>) -> &'a str {
    let payload = panic.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no reason was given")
}
