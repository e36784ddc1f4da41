//! Writes a run down and draws it: `--trace FILE` and `--frames DIR`.

use crate::failure::Usage;
use crate::lang::Lang;
use crate::output::note;
use crate::output::numbers::local;
use crate::written::{self, Readers};
use anyhow::Context;
use conclave_lab::Experiment;
use conclave_sim::trace::frames::Film;
use conclave_sim::trace::{
    self, Language, Question, Record, Share, Trace, Window, frames, mermaid, perfetto, shiviz, svg,
};
use conclave_sim::{Error, Outcome};
use std::fs;
use std::io;
use std::path::Path;

/// Where a run is to be written, and how.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Drawing {
    /// Write the run to a file: .jsonl (the recording), .svg (space-time diagram), .mmd (Mermaid),
    /// .shiviz or .perfetto; may be repeated
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    trace: Vec<String>,
    /// Draw the topology step by step: one SVG per step, and a page that flips through them
    #[arg(long, value_name = "DIR", help_heading = "Run")]
    frames: Option<String>,
}

/// What a trace can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Jsonl,
    Svg,
    Mermaid,
    Shiviz,
    Perfetto,
}

impl Format {
    /// By the end of the file's name.
    fn of(file: &str) -> Result<Self, Usage> {
        let extension = Path::new(file).extension().unwrap_or_default();
        match &*extension.to_string_lossy() {
            "jsonl" => Ok(Self::Jsonl),
            "svg" => Ok(Self::Svg),
            "mmd" => Ok(Self::Mermaid),
            "shiviz" => Ok(Self::Shiviz),
            "perfetto" => Ok(Self::Perfetto),
            _ => {
                let accepted = "takes a file that ends in .jsonl, .svg, .mmd, .shiviz or .perfetto";
                Err(Usage::flag("--trace", file, accepted))
            }
        }
    }

    fn write(self, trace: &Trace, window: Option<&Window>) -> Result<String, Error> {
        let language = language();
        match (self, window) {
            (Self::Svg, Some(window)) => return svg::draw(trace, window, language),
            (Self::Mermaid, Some(window)) => return Ok(mermaid::draw(trace, window, language)),
            (Self::Svg | Self::Mermaid | Self::Jsonl | Self::Shiviz | Self::Perfetto, _) => {}
        }
        match self {
            Self::Jsonl => Ok(trace::write(trace)),
            Self::Svg => svg::write(trace, language),
            Self::Mermaid => Ok(mermaid::write(trace, language)),
            Self::Shiviz => shiviz::write(trace, language),
            Self::Perfetto => Ok(perfetto::write(trace)),
        }
    }
}

impl Drawing {
    /// Whether anything is to be written.
    pub fn is_wanted(&self) -> bool {
        !self.trace.is_empty() || self.frames.is_some()
    }

    /// The same for one run of several: `run.svg` becomes `run-1.svg`.
    pub fn numbered(&self, number: usize) -> Self {
        let of_file = |file: &String| {
            let path = Path::new(file);
            let [stem, extension] = [path.file_stem(), path.extension()]
                .map(|part| part.unwrap_or_default().to_string_lossy().into_owned());
            let name = format!("{stem}-{number}.{extension}");
            path.with_file_name(name).to_string_lossy().into_owned()
        };
        let trace = self.trace.iter().map(of_file).collect();
        let frames = self.frames.as_ref().map(|folder| format!("{folder}-{number}"));
        Self { trace, frames }
    }

    /// Refuses what cannot be written, before anything is run.
    pub fn vet(&self, many: bool) -> Result<(), Usage> {
        for file in &self.trace {
            Format::of(file)?;
            if many {
                return Err(Usage::flag("--trace", file, "writes one run, not many"));
            }
        }
        match &self.frames {
            Some(folder) if many => Err(Usage::flag("--frames", folder, "draws one run, not many")),
            Some(_) | None => Ok(()),
        }
    }

    /// Writes a run that was made by this command.
    pub fn of_run(
        &self,
        experiment: &Experiment,
        outcome: &Outcome,
        command: impl Fn() -> String,
    ) -> anyhow::Result<()> {
        if !self.is_wanted() {
            return Ok(());
        }
        let header = experiment.header(command());
        self.write(experiment, &Trace { header, records: outcome.records.clone() })
    }

    /// Writes and draws a trace of an algorithm.
    pub fn write(&self, experiment: &Experiment, trace: &Trace) -> anyhow::Result<()> {
        self.write_within(experiment, trace, None)
    }

    /// The same, where what is drawn to be looked at as a whole shows only a stretch of it.
    pub fn write_within(
        &self,
        experiment: &Experiment,
        trace: &Trace,
        window: Option<&Window>,
    ) -> anyhow::Result<()> {
        for file in &self.trace {
            let flag = || format!("--trace {file}");
            let text = Format::of(file)?.write(trace, window).with_context(flag)?;
            let readers = Readers::of(trace);
            written::write(Path::new(file), &text, readers).map_err(plain).with_context(flag)?;
            note(&format!("wrote {file}{}", left_out(file, trace, window)));
        }
        if let Some(folder) = &self.frames {
            let flag = || format!("--frames {folder}");
            // A run that cannot be run again, such as one of which not all was kept, is shown as
            // it is, without its reasons.
            let explained = experiment.explain(trace, &Question::all(trace)).unwrap_or_default();
            let film = frames::write(trace, &explained, language()).with_context(flag)?;
            fs::create_dir_all(folder).map_err(plain).with_context(flag)?;
            remove_old_frames(Path::new(folder)).map_err(plain).with_context(flag)?;
            for (name, text) in &film.files {
                let (file, readers) = (Path::new(folder).join(name), Readers::of(trace));
                written::write(&file, text, readers).map_err(plain).with_context(flag)?;
            }
            let Film { shown, total, .. } = film;
            let cut = if shown < total { format!(" of {total}") } else { String::new() };
            note(&format!("drew {shown} steps{cut}; open {folder}/index.html"));
        }
        if let Some(Record::End { missing: missing @ 1.., .. }) = trace.records.last() {
            note(&format!("the run went on for {missing} events more, which were not kept"));
        }
        Ok(())
    }
}

/// The language of labels.
fn language() -> Language {
    match Lang::spoken() {
        Lang::En => Language::English,
        Lang::Pt => Language::Portuguese,
    }
}

/// Removes what an earlier, longer run left behind, where the folder is one of frames.
fn remove_old_frames(folder: &Path) -> io::Result<()> {
    if !folder.join("index.html").exists() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let number = name.strip_suffix(".svg").unwrap_or_default();
        if number.len() >= 3 && number.bytes().all(|byte| byte.is_ascii_digit()) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Which stretch of a run a picture shows, if it does not show all.
fn left_out(file: &str, trace: &Trace, window: Option<&Window>) -> String {
    let drawn = matches!(Format::of(file), Ok(Format::Svg | Format::Mermaid));
    let Some(window) = window.filter(|_| drawn) else { return String::new() };
    let Share { shown, total, end } = trace.share(window);
    if shown == total {
        return String::new();
    }
    let from = local(&window.from.to_string());
    let end = local(&end.to_string());
    format!(": {shown} of {total} messages, from {from} to {end}; see --from and --until")
}

/// An error of the system without its number.
fn plain(error: io::Error) -> anyhow::Error {
    let reason = error.to_string();
    let reason = reason.split(" (os error").next().unwrap_or_default();
    anyhow::anyhow!("cannot write: {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_runs_make_several_files() {
        let drawing = Drawing { trace: vec!["a.b/run.svg".into()], frames: Some("film".into()) };
        let second = drawing.numbered(2);
        assert_eq!(second.trace, ["a.b/run-2.svg"]);
        assert_eq!(second.frames.as_deref(), Some("film-2"));
    }

    #[test]
    fn the_end_of_the_name_says_what_is_written() {
        assert_eq!(Format::of("a/b.svg"), Ok(Format::Svg));
        assert_eq!(Format::of("run.jsonl"), Ok(Format::Jsonl));
        for wrong in ["run", "run.png", ".svg", "svg", "run.svg.gz", ""] {
            let error = Format::of(wrong).expect_err(wrong).to_string();
            assert!(error.starts_with(&format!("--trace {wrong}: takes a file")), "{error}");
        }
    }
}
