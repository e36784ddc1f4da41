//! A trace as a film: the topology, one picture for each step, and a page that flips through them.

mod paper;
mod places;
mod state;

use super::{Explained, Language, Record, Trace, words};
use crate::error::Error;
use paper::frame;
use places::places;
use state::State;

/// More nodes than this cannot be told apart on a page.
const NODES_MAX: usize = 64;
/// Nobody flips through more pictures than this.
const FRAMES_MAX: usize = 999;

/// A film: its files, each with its name, and how much of the run it shows.
pub struct Film {
    /// `000.svg`, `001.svg` and so on, and `index.html`.
    pub files: Vec<(String, String)>,
    /// How many steps it shows.
    pub shown: usize,
    /// How many there were.
    pub total: usize,
}

/// A trace as a film, of its first steps if there are very many. Where it is explained, pictures say
/// why a node does what it does.
pub fn write(trace: &Trace, explained: &Explained, language: Language) -> Result<Film, Error> {
    let n = trace.header.names.len();
    if n > NODES_MAX {
        return Err(Error::Undrawable(format!("frames of {n} nodes: at most {NODES_MAX}")));
    }
    let mut shown = trace.records_without_upkeep();
    shown.retain(|(_, record)| is_shown(record));
    let pages = shown.len().min(FRAMES_MAX);
    let places = places(&trace.header);
    let mut state = State::new(trace, language);
    let mut files = Vec::with_capacity(pages + 2);
    let title = trace.header.title(language);
    files.push((name(0), frame(&state, &places, (0, pages), [&title, ""])));
    for (page, (place, record)) in (1..).zip(shown.iter().take(pages)) {
        state.happens(record);
        let why = trace.header.tell(&words::reasons(explained.reasons(*place), language));
        files.push((name(page), frame(&state, &places, (page, pages), [state.caption(), &why])));
    }
    let total = shown.len();
    let cut = (total > pages).then(|| match language {
        Language::English => format!(" (the first {pages} of {total} steps)"),
        Language::Portuguese => format!(" (os primeiros {pages} de {total} passos)"),
    });
    let page = index(trace, files.len(), &cut.unwrap_or_default(), language);
    files.push(("index.html".to_string(), page));
    Ok(Film { files, shown: pages, total })
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
fn index(trace: &Trace, frames: usize, cut: &str, language: Language) -> String {
    let title = super::svg::escaped(&trace.header.title(language));
    let command = super::svg::escaped(&trace.header.command);
    let told = |page: String, (mark, english, portuguese): &(&str, &str, &str)| {
        page.replace(mark, language.pick(english, portuguese))
    };
    let page = WORDS.iter().fold(PAGE.to_string(), told);
    page.replace("@LANG", language.tag())
        .replace("@TITLE", &title)
        .replace("@COMMAND", &command)
        .replace("@CUT", cut)
        .replace("@LAST", &(frames - 1).to_string())
}

/// The words of the page, each under its mark.
const WORDS: [(&str, &str, &str); 6] = [
    ("@BACK", "one step back", "um passo atrás"),
    ("@ON", "one step on", "um passo adiante"),
    ("@STEP", "step", "passo"),
    ("@PLAY", "play", "tocar"),
    ("@STOP", "stop", "parar"),
    (
        "@KEYS",
        "Arrow keys flip, Home and End jump, space plays.",
        "As setas viram, Home e End saltam, espaço toca.",
    ),
];

const PAGE: &str = r#"<!doctype html>
<html lang="@LANG">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>@TITLE</title>
<style>
html { background: #fff; color-scheme: light }
body { margin: 0 auto; max-width: 760px; padding: 12px; font: 15px sans-serif; color: #222 }
img { width: 100%; height: auto; border: 1px solid #ddd }
nav { display: flex; gap: 8px; align-items: center; margin: 8px 0 }
input { flex: 1 }
code { color: #777; overflow-wrap: anywhere }
</style>
<nav>
<button id="back" aria-label="@BACK">◀</button>
<input id="at" type="range" min="0" max="@LAST" value="0" aria-label="@STEP">
<button id="on" aria-label="@ON">▶</button>
<button id="play">@PLAY</button>
<span id="number"></span>
</nav>
<img id="frame" alt="">
<p>@KEYS@CUT</p>
<p><code>@COMMAND</code></p>
<script>
const get = (id) => document.getElementById(id);
const last = @LAST;
let at = 0, playing = null;
function show(place) {
  at = Math.max(0, Math.min(last, place));
  const name = String(at).padStart(3, "0") + ".svg";
  get("frame").src = name;
  get("frame").alt = "@STEP " + at;
  get("at").value = at;
  get("number").textContent = at + " / " + last;
  if (at < last) new Image().src = String(at + 1).padStart(3, "0") + ".svg";
}
function play() {
  if (playing) { clearInterval(playing); playing = null; }
  else playing = setInterval(() => { if (at < last) show(at + 1); else play(); }, 700);
  get("play").textContent = playing ? "@STOP" : "@PLAY";
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
        let files =
            write(&hand_made(), &Explained::default(), Language::English).expect("small").files;
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names[..2], ["000.svg", "001.svg"]);
        assert_eq!(names[names.len() - 1], "index.html");
        assert_eq!(names.len(), 6 + 7 + 2, "steps, faults, the beginning and the page");
        let page = &files[files.len() - 1].1;
        assert!(page.contains("max=\"13\"") && !page.contains("http"));
    }

    #[test]
    fn messages_are_seen_from_their_sending_to_their_arrival() {
        let files =
            write(&hand_made(), &Explained::default(), Language::English).expect("small").files;
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
        let film =
            write(&draft.end(1_100), &Explained::default(), Language::English).expect("one node");
        assert_eq!((film.shown, film.total), (999, 1_100));
        let files = film.files;
        assert_eq!(files.len(), 1_001);
        assert!(files[1_000].1.contains("(the first 999 of 1100 steps)"));
        assert!(write(&Draft::new(65).end(0), &Explained::default(), Language::English).is_err());
    }
}
