//! A run as a file: a drawing, a diagram in Mermaid, a recording.

use super::played::Played;
use super::{Language, Refused, limits};
use conclave_sim::trace::{self, mermaid, svg};

/// A file.
pub struct Exported {
    /// What browsers call its kind.
    pub kind: &'static str,
    /// What it may be called.
    pub name: String,
    /// What is in it.
    pub text: String,
}

impl Played {
    /// The run as `svg`, `mermaid` or `jsonl`.
    pub fn export(self, format: &str, language: Language) -> Result<Exported, Refused> {
        if self.is_too_large() {
            return Err(limits::too_large_a_file());
        }
        let patience = self.patience;
        let trace = self.into_recording();
        let undrawable = Refused::of::<conclave_sim::Error>("format");
        let (kind, ending, text) = match format {
            "svg" => ("image/svg+xml", "svg", svg::write(&trace, language).map_err(undrawable)?),
            "mermaid" => {
                let text = mermaid::write(&trace, language);
                ("text/plain; charset=utf-8", "mmd", text)
            }
            "jsonl" => ("application/x-ndjson", "jsonl", trace::write(&trace)),
            other => {
                let words = format!("{other}: takes svg, mermaid or jsonl");
                return Err(Refused::new("format", words));
            }
        };
        if patience.is_over() {
            return Err(limits::took_too_long("format"));
        }
        let name = format!("{}.{ending}", trace.header.algorithm);
        Ok(Exported { kind, name, text })
    }
}
