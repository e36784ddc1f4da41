//! `--latency`, the same for all commands: how long messages and answers take.

use super::{Names, Read, contents, lines, number, on_line};
use crate::error::Error;
use crate::plan::Latency;
use conclave_core::{NodeId, Ticks};
use std::collections::BTreeMap;

const FLAG: &str = "--latency";
/// What can be said for all links at once, and of one link.
const KINDS: &str = "unit, const:T, uniform:A..B, exp:MEAN, normal:MEAN:DEVIATION, \
                     lognormal:MEDIAN:SIGMA, pareto:MIN:SHAPE, samples:FILE";
const ABOVE_ZERO: &str = "a time above 0, such as 2.5, 250ms or 3s";
const SAMPLE: &str = "takes one time per line: units such as 2.5, or 250ms, or 3s";

/// How long messages take: a distribution, `links:` and a file, or the file alone.
///
/// After `links:`, or alone, `=` begins the lines of such a file, separated by `;`. A line is
/// `from to LATENCY`, where `*` is any node. Later lines win; links of which no line speaks take
/// one unit.
pub fn latency(text: &str, names: &Names, read: Read<'_>) -> Result<Latency, Error> {
    match text.strip_prefix("links:") {
        Some(file) => links(file, names, read),
        None => match distribution(text, read, unknown)? {
            Some(same) => Ok(same),
            None if text.trim().is_empty() => Err(unknown(text)),
            // A single word that is no file was meant for a distribution.
            None if is_word(text) && read(text).is_err() => Err(unknown(text)),
            None => links(text, names, read),
        },
    }
}

/// One latency for all links, or what `unknown` says of it; `None` if the text may be the name of
/// a file.
pub(crate) fn distribution(
    text: &str,
    read: Read<'_>,
    unknown: fn(&str) -> Error,
) -> Result<Option<Latency>, Error> {
    let Some((kind, rest)) = text.split_once(':') else {
        return Ok((text == "unit").then_some(Latency::Constant(Ticks::UNIT)));
    };
    let read_as = match kind {
        "const" => Ticks::parse(rest).map(Latency::Constant),
        "exp" => Ticks::parse(rest).map(Latency::Exponential),
        "uniform" => pair(rest, "..", Ticks::parse, Ticks::parse)
            .map(|(min, max)| Latency::Uniform(min, max)),
        "normal" => pair(rest, ":", Ticks::parse, above_zero)
            .map(|(mean, deviation)| Latency::Normal { mean, deviation }),
        "lognormal" => pair(rest, ":", above_zero, positive)
            .map(|(median, sigma)| Latency::LogNormal { median, sigma }),
        "pareto" => {
            pair(rest, ":", above_zero, positive).map(|(min, shape)| Latency::Pareto { min, shape })
        }
        "samples" => return samples(rest, read).map(Some),
        // A misspelt word is no file; a file may be called `./a:b`, or `C:\links.txt`.
        _ if kind.len() > 1 && kind.bytes().all(|byte| byte.is_ascii_alphabetic()) => None,
        _ => return Ok(None),
    };
    read_as.map(Some).ok_or_else(|| match wrong_part(kind, rest) {
        Some(wrong) => Error::value(FLAG, text, wrong),
        None => unknown(text),
    })
}

/// Which number is wrong in a distribution of the right form, and what it should be.
fn wrong_part(kind: &str, rest: &str) -> Option<String> {
    let form = KINDS.split(", ").find_map(|known| known.strip_prefix(kind)?.strip_prefix(':'))?;
    let mark = if kind == "uniform" { ".." } else { ":" };
    let parts: Vec<&str> = rest.split(mark).collect();
    let names: Vec<&str> = form.split(mark).collect();
    if parts.len() != names.len() {
        return None;
    }
    names.iter().zip(parts).filter(|(_, part)| !part.is_empty()).find_map(|(name, part)| {
        let (fits, takes) = match *name {
            "SIGMA" | "SHAPE" => (positive(part).is_some(), "a number above 0, such as 0.5"),
            "DEVIATION" | "MEDIAN" | "MIN" => (above_zero(part).is_some(), ABOVE_ZERO),
            _ => (Ticks::parse(part).is_some(), "a time from 0, such as 2.5, 250ms or 3s"),
        };
        (!fits).then(|| format!("{name} is {takes}, not '{}'", crate::error::excerpt(part)))
    })
}

/// What is no latency, and what would be one.
fn unknown(text: &str) -> Error {
    Error::value(FLAG, text, format!("takes {KINDS} or links:FILE{}", hint(text)))
}

/// The same where links cannot differ.
pub(crate) fn unknown_alike(text: &str) -> Error {
    let hint = if text.starts_with("link") { String::new() } else { hint(text) };
    Error::value(FLAG, text, format!("takes {KINDS}{hint}"))
}

/// What may have been meant.
fn hint(text: &str) -> String {
    meant(text).map_or(String::new(), |meant| format!("; did you mean {meant}?"))
}

fn is_word(text: &str) -> bool {
    text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// The latency that a single word is like: it begins as one does, or has its letters.
fn meant(text: &str) -> Option<&'static str> {
    let sorted = |word: &str| {
        let mut letters = word.as_bytes().to_vec();
        letters.sort_unstable();
        letters
    };
    let like = |kind: &&str| {
        let name = kind.split(':').next().unwrap_or(kind);
        name.starts_with(text.get(..2).unwrap_or(text)) || sorted(name) == sorted(text)
    };
    let kinds = KINDS.split(", ").chain(["links:FILE"]);
    kinds.filter(|_| is_word(text)).find(like)
}

fn pair<A, B>(
    text: &str,
    mark: &str,
    first: impl Fn(&str) -> Option<A>,
    second: impl Fn(&str) -> Option<B>,
) -> Option<(A, B)> {
    let (a, b) = text.split_once(mark)?;
    Some((first(a)?, second(b)?))
}

fn above_zero(text: &str) -> Option<Ticks> {
    Ticks::parse(text).filter(|&time| time > Ticks::ZERO)
}

fn positive(text: &str) -> Option<f64> {
    number(FLAG, text).ok().filter(|&value| value > 0.0)
}

/// Measured times from a file, or after `=`, separated by commas.
fn samples(file: &str, read: Read<'_>) -> Result<Latency, Error> {
    let (text, end) = match file.strip_prefix('=') {
        Some(inline) => (inline.to_string(), ','),
        None => contents(FLAG, file, read)?,
    };
    times(FLAG, &text, end).map(Latency::Measured)
}

/// Measured times, the quickest first: at least one.
pub(crate) fn times(flag: &'static str, text: &str, end: char) -> Result<Vec<Ticks>, Error> {
    let mut times = Vec::new();
    for (line, word) in lines(text, end) {
        times.push(Ticks::parse(word).ok_or_else(|| {
            let reason = format!("{}: {SAMPLE}", crate::error::excerpt(word));
            Error::BadLine { flag, line, reason }
        })?);
    }
    if times.is_empty() {
        return Err(Error::value(flag, "with no lines", SAMPLE));
    }
    times.sort_unstable();
    Ok(times)
}

fn links(file: &str, names: &Names, read: Read<'_>) -> Result<Latency, Error> {
    let (file, end) = contents(FLAG, file, read)?;
    let mut links = BTreeMap::new();
    let mut others = Latency::Constant(Ticks::UNIT);
    for (number, line) in lines(&file, end) {
        let wrong = |error: Error| on_line(FLAG, number, &error);
        let words: Vec<&str> = line.split_whitespace().collect();
        let [from, to, latency] = words.as_slice() else {
            return Err(wrong(Error::value(FLAG, line, "'from to LATENCY'")));
        };
        let from = any_node(from, names).map_err(wrong)?;
        let to = any_node(to, names).map_err(wrong)?;
        let unknown = || unknown_alike(latency);
        let latency =
            distribution(latency, read, unknown_alike).and_then(|known| known.ok_or_else(unknown));
        set_links(from, to, latency.map_err(wrong)?, names, &mut others, &mut links);
    }
    Ok(if links.is_empty() { others } else { Latency::Links { others: Box::new(others), links } })
}

fn set_links(
    from: Option<NodeId>,
    to: Option<NodeId>,
    latency: Latency,
    names: &Names,
    others: &mut Latency,
    links: &mut BTreeMap<(NodeId, NodeId), Latency>,
) {
    let all = names.clients + names.coordinators;
    match (from, to) {
        (None, None) => {
            links.clear();
            *others = latency;
        }
        (Some(from), Some(to)) => {
            links.insert((from, to), latency);
        }
        (Some(from), None) => {
            links.extend(from.others(all).map(|to| ((from, to), latency.clone())));
        }
        (None, Some(to)) => {
            links.extend(to.others(all).map(|from| ((from, to), latency.clone())));
        }
    }
}

/// A node, or `None` for `*`.
fn any_node(text: &str, names: &Names) -> Result<Option<NodeId>, Error> {
    if text == "*" { Ok(None) } else { names.node(FLAG, text).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testkit::{no_files, refuses};

    fn names() -> Names {
        Names::new(3, 1)
    }

    #[test]
    fn one_latency_for_all_links() {
        let read = |text: &str| latency(text, &names(), &no_files);
        assert_eq!(read("unit"), Ok(Latency::Constant(Ticks::UNIT)));
        assert_eq!(read("const:2.5"), Ok(Latency::Constant(Ticks(2_500))));
        assert_eq!(read("uniform:1..20"), Ok(Latency::Uniform(Ticks::UNIT, Ticks::units(20))));
        assert_eq!(read("exp:3"), Ok(Latency::Exponential(Ticks::units(3))));
        let wrong = ["const", "const:", "const:-1", "uniform:1", "uniform:1..", "exp:x", "missing"];
        let all = [&wrong[..], &["=1 2", "=1 2 3", "=9 1 unit", "=1 2 =1", "=* * *"]].concat();
        let hostile = |text: &str| match text {
            "=" => Err(Error::value("--latency", text, "no lines are no file")),
            text => read(text),
        };
        refuses("--latency", hostile, &all);
    }

    #[test]
    fn each_link_its_own_and_later_lines_win() {
        let file =
            "# c1 is far\n1 2 const:9\n* * const:2\n* c1 const:5\n3 c1 exp:1 # but not from 3\n";
        let read = |name: &str| if name == "links" { Ok(file.to_string()) } else { no_files(name) };
        let Ok(Latency::Links { others, links }) = latency("links", &names(), &read) else {
            panic!("links")
        };
        assert_eq!(*others, Latency::Constant(Ticks::units(2)));
        assert_eq!(links.len(), 3);
        let to_c1 = |from| links[&(NodeId(from), NodeId(3))].clone();
        assert_eq!(to_c1(0), Latency::Constant(Ticks::units(5)));
        assert_eq!(to_c1(2), Latency::Exponential(Ticks::UNIT));
        let bad = |_: &str| Ok("* * unit\n\n1 7 unit\n".to_string());
        let error = latency("links", &names(), &bad).expect_err("no node 7").to_string();
        assert_eq!(error, "--latency line 3: 7: nodes are 1 to 3 and c1 to c1");
    }

    #[test]
    fn all_distributions_are_read_and_misspelt_ones_are_no_files() {
        let read = |text: &str| latency(text, &names(), &no_files);
        let units = Ticks::units;
        let normal = Latency::Normal { mean: units(20), deviation: units(4) };
        assert_eq!(read("normal:20:4"), Ok(normal));
        let lognormal = Latency::LogNormal { median: units(3), sigma: 0.5 };
        assert_eq!(read("lognormal:3:0.5"), Ok(lognormal));
        let pareto = Latency::Pareto { min: units(1), shape: 2.5 };
        assert_eq!(read("pareto:1:2.5"), Ok(pareto));
        assert_eq!(read("samples:=3,1,2ms"), Ok(Latency::Measured([1, 2, 3].map(units).into())));
        assert_eq!(read("links:=* * const:2"), Ok(Latency::Constant(units(2))));
        for wrong in ["expo:3", "uniformm:1-2", "gamma:1", "normal:5", "pareto::1"] {
            let error = read(wrong).expect_err(wrong).to_string();
            assert!(error.starts_with(&format!("--latency {wrong}: takes unit, ")), "{error}");
        }
        for (wrong, meant) in [
            ("unti", "unit"),
            ("const", "const:T"),
            ("exponential", "exp:MEAN"),
            ("lgonormal", "lognormal:MEDIAN:SIGMA"),
            ("link", "links:FILE"),
        ] {
            let error = read(wrong).expect_err("no file").to_string();
            assert!(error.ends_with(&format!("; did you mean {meant}?")), "{error}");
        }
        let file = |name: &str| match name {
            "unix" => Ok("* * const:2".to_string()),
            other => no_files(other),
        };
        assert_eq!(latency("unix", &names(), &file), Ok(Latency::Constant(units(2))), "a file");
        let error = read("mine").expect_err("no file").to_string();
        assert!(error.starts_with("--latency mine: takes unit, "), "{error}");
        assert!(read("./mine").expect_err("no file").to_string().contains("there is no file"));
        let error = read("samples:=1,soon").expect_err("no time").to_string();
        assert!(error.starts_with("--latency line 2: soon: takes one time per line"), "{error}");
    }
    #[test]
    fn the_number_that_is_wrong_is_named() {
        for (wrong, part) in [
            ("normal:5:0", "DEVIATION is a time above 0, such as 2.5, 250ms or 3s, not '0'"),
            ("normal:-1:1", "MEAN is a time from 0, such as 2.5, 250ms or 3s, not '-1'"),
            ("pareto:0:1", "MIN is a time above 0, such as 2.5, 250ms or 3s, not '0'"),
            ("pareto:1:0", "SHAPE is a number above 0, such as 0.5, not '0'"),
            ("uniform:1..x", "B is a time from 0, such as 2.5, 250ms or 3s, not 'x'"),
        ] {
            let error = latency(wrong, &names(), &no_files).expect_err(wrong).to_string();
            assert_eq!(error, format!("--latency {wrong}: {part}"));
        }
    }
}
