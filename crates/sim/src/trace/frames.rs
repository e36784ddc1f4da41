//! A trace as a film: the topology, one picture for each step, and a page that flips through them.

mod paper;
mod places;
mod state;

use super::{Record, Trace};
use crate::error::Error;
use paper::frame;
use places::places;
use state::State;

/// More nodes than this cannot be told apart on a page.
const NODES_MAX: usize = 64;
/// Nobody flips through more pictures than this.
const FRAMES_MAX: usize = 999;

/// The files of a film, each with its name: `000.svg`, `001.svg` and so on, and `index.html`.
pub fn write(trace: &Trace) -> Result<Vec<(String, String)>, Error> {
    let n = trace.header.names.len();
    if n > NODES_MAX {
        return Err(Error::Undrawable(format!("frames of {n} nodes: at most {NODES_MAX}")));
    }
    let trace = &*trace.without_upkeep();
    let shown: Vec<&Record> = trace.records.iter().filter(|record| is_shown(record)).collect();
    let pages = shown.len().min(FRAMES_MAX);
    let places = places(&trace.header);
    let mut state = State::new(trace);
    let mut files = Vec::with_capacity(pages + 2);
    let title = trace.header.title();
    files.push((name(0), frame(&state, &places, (0, pages), &title)));
    for (place, record) in (1..).zip(shown.iter().take(pages)) {
        state.happens(record);
        files.push((name(place), frame(&state, &places, (place, pages), state.caption())));
    }
    let cut = (shown.len() > pages).then(|| format!("the first {pages} of {} steps", shown.len()));
    files.push(("index.html".to_string(), index(trace, files.len(), cut.as_deref())));
    Ok(files)
}

fn name(place: usize) -> String {
    format!("{place:03}.svg")
}

/// That a node is merely started is nothing to look at.
fn is_shown(record: &Record) -> bool {
    match record {
        Record::Step(step) => !step.is_quiet_start(),
        Record::Violation(_) | Record::End { .. } => false,
        Record::Lost { .. }
        | Record::Dead { .. }
        | Record::Crash { .. }
        | Record::Restart { .. }
        | Record::Pause { .. }
        | Record::Resume { .. }
        | Record::Partition { .. }
        | Record::Heal { .. }
        | Record::Suspect { .. } => true,
    }
}

/// The page that flips through the pictures.
fn index(trace: &Trace, frames: usize, cut: Option<&str>) -> String {
    let title = super::svg::escaped(&trace.header.title());
    let command = super::svg::escaped(&trace.header.command);
    let cut = cut.map(|cut| format!(" ({cut})")).unwrap_or_default();
    PAGE.replace("@TITLE", &title)
        .replace("@COMMAND", &command)
        .replace("@CUT", &cut)
        .replace("@LAST", &(frames - 1).to_string())
}

const PAGE: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>@TITLE</title>
<style>
body { margin: 0 auto; max-width: 760px; padding: 12px; font: 15px sans-serif; color: #222 }
img { width: 100%; height: auto; border: 1px solid #ddd }
nav { display: flex; gap: 8px; align-items: center; margin: 8px 0 }
input { flex: 1 }
code { color: #777; overflow-wrap: anywhere }
</style>
<nav>
<button id="back" aria-label="one step back">◀</button>
<input id="at" type="range" min="0" max="@LAST" value="0" aria-label="step">
<button id="on" aria-label="one step on">▶</button>
<button id="play">play</button>
<span id="number"></span>
</nav>
<img id="frame" alt="">
<p>Arrow keys flip, Home and End jump, space plays.@CUT</p>
<p><code>@COMMAND</code></p>
<script>
const get = (id) => document.getElementById(id);
const last = @LAST;
let at = 0, playing = null;
function show(place) {
  at = Math.max(0, Math.min(last, place));
  const name = String(at).padStart(3, "0") + ".svg";
  get("frame").src = name;
  get("frame").alt = "step " + at;
  get("at").value = at;
  get("number").textContent = at + " / " + last;
  if (at < last) new Image().src = String(at + 1).padStart(3, "0") + ".svg";
}
function play() {
  if (playing) { clearInterval(playing); playing = null; }
  else playing = setInterval(() => { if (at < last) show(at + 1); else play(); }, 700);
  get("play").textContent = playing ? "stop" : "play";
}
get("back").onclick = () => show(at - 1);
get("on").onclick = () => show(at + 1);
get("at").oninput = () => show(Number(get("at").value));
get("play").onclick = play;
document.onkeydown = (event) => {
  const act = { ArrowLeft: () => show(at - 1), ArrowRight: () => show(at + 1),
    Home: () => show(0), End: () => show(last), " ": play }[event.key];
  if (act) { event.preventDefault(); act(); }
};
show(0);
</script>
</html>
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testkit::{Draft, hand_made};

    #[test]
    fn there_is_a_picture_for_every_step_and_a_page_that_shows_them() {
        let files = write(&hand_made()).expect("small");
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names[..2], ["000.svg", "001.svg"]);
        assert_eq!(names[names.len() - 1], "index.html");
        assert_eq!(names.len(), 6 + 7 + 2, "steps, faults, the beginning and the page");
        let page = &files[files.len() - 1].1;
        assert!(page.contains("max=\"13\"") && !page.contains("http"));
    }

    #[test]
    fn messages_are_seen_from_their_sending_to_their_arrival() {
        let files = write(&hand_made()).expect("small");
        let under_way = |place: usize, label: &str| {
            let (sign, label) = ("class=\"n m\"", format!(">{label}<"));
            files[place].1.lines().any(|line| line.contains(sign) && line.contains(&label))
        };
        assert!(!under_way(0, "REQUEST"));
        assert!(under_way(1, "REQUEST"), "sent");
        assert!(!under_way(2, "REQUEST"), "arrived");
        assert!(under_way(2, "OK"));
        assert!(files[1].1.contains("asks to enter"), "{}", files[1].1);
    }

    #[test]
    fn a_long_run_is_cut_with_a_note() {
        let mut draft = Draft::new(1);
        for at in 0..1_100 {
            draft.ask(at, 0, "Acquire");
        }
        let files = write(&draft.end(1_100)).expect("one node");
        assert_eq!(files.len(), 1_001);
        assert!(files[1_000].1.contains("(the first 999 of 1100 steps)"));
        assert!(write(&Draft::new(65).end(0)).is_err());
    }
}
