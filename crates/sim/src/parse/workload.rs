//! Flags of the workload: when applications ask, and for how long they stay inside.

use super::{Names, Read, contents, lines, number, on_line};
use crate::error::Error;
use crate::plan::{Act, ScriptLine, Workload};
use conclave_core::Ticks;

const WORKLOAD: &str = "all-at-once, single:ID, closed:THINK, poisson:RATE or script:FILE";
const LINE: &str =
    "'at,node,act', where act is acquire, release, cancel, campaign, event or tell:ID";

/// What the application wants: `all-at-once`, `single:ID`, `closed:THINK`, `poisson:RATE`,
/// `script:FILE`, or `script:=` and the lines of such a file, separated by `;`.
///
/// A line is `at,node,act`, where the act is `acquire`, `release`, `cancel`, `campaign`, `event` or
/// `tell:ID`.
pub fn workload(text: &str, names: &Names, read: Read<'_>) -> Result<Workload, Error> {
    let wrong = || Error::value("--workload", text, WORKLOAD);
    match text.split_once(':') {
        None if text == "all-at-once" => Ok(Workload::AllAtOnce),
        Some(("single", node)) => Ok(Workload::Single(names.node("--workload", node)?)),
        Some(("closed", think)) => Ok(Workload::Closed(Ticks::parse(think).ok_or_else(wrong)?)),
        Some(("poisson", rate)) => {
            Ok(Workload::Poisson(number("--workload", rate).map_err(|_| wrong())?))
        }
        Some(("script", file)) if !file.is_empty() => {
            Ok(Workload::Script(script(file, names, read)?))
        }
        Some(_) | None => Err(wrong()),
    }
}

fn script(file: &str, names: &Names, read: Read<'_>) -> Result<Vec<ScriptLine>, Error> {
    let (text, end) = contents("--workload", file, read)?;
    let parsed = lines(&text, end).map(|(number, text)| {
        line("--workload", text, names).map_err(|error| on_line("--workload", number, &error))
    });
    Ok(sorted(parsed.collect::<Result<_, Error>>()?))
}

/// One thing that somebody has the application do, beside its workload: `at,node,act`.
pub fn act(text: &str, names: &Names) -> Result<ScriptLine, Error> {
    line("--act", text, names)
}

fn line(flag: &'static str, text: &str, names: &Names) -> Result<ScriptLine, Error> {
    let wrong = || Error::value(flag, text, LINE);
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let [at, node, act] = parts.as_slice() else { return Err(wrong()) };
    let act = match *act {
        "acquire" => Act::Acquire,
        "release" => Act::Release,
        "cancel" => Act::Cancel,
        "campaign" => Act::Campaign,
        "event" => Act::Event,
        other => {
            let to = other.strip_prefix("tell:").ok_or_else(wrong)?;
            Act::Tell(names.node(flag, to)?)
        }
    };
    let at = Ticks::parse(at).ok_or_else(wrong)?;
    Ok(ScriptLine { at, node: names.node(flag, node)?, act })
}

/// In order of time; lines of one time stay as they were.
pub fn sorted(mut script: Vec<ScriptLine>) -> Vec<ScriptLine> {
    script.sort_by_key(|line| line.at);
    script
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testkit::{no_files, refuses};
    use conclave_core::NodeId;

    fn read(text: &str) -> Result<Workload, Error> {
        workload(text, &Names::new(3, 1), &no_files)
    }

    #[test]
    fn workloads_have_names() {
        assert_eq!(read("all-at-once"), Ok(Workload::AllAtOnce));
        assert_eq!(read("single:3"), Ok(Workload::Single(NodeId(2))));
        assert_eq!(read("closed:2.5"), Ok(Workload::Closed(Ticks(2_500))));
        assert_eq!(read("poisson:0.25"), Ok(Workload::Poisson(0.25)));
        let wrong = [
            "all",
            "single",
            "single:9",
            "closed:-1",
            "poisson:x",
            "poisson:",
            "script:",
            "script:missing",
            "script:=1,1",
            "script:=1,1,dance",
            "script:=x,1,acquire",
            "script:=1,9,acquire",
            "script:=1,1,tell:9",
            "script:=1,1,tell:",
            "script:=1,1,acquire,now",
        ];
        refuses("--workload", read, &wrong);
    }

    #[test]
    fn a_script_is_put_in_order_of_time() {
        let at = |at, node, act| ScriptLine { at: Ticks(at), node: NodeId(node), act };
        let expected = Workload::Script(vec![
            at(0, 0, Act::Acquire),
            at(2_500, 2, Act::Cancel),
            at(2_500, 1, Act::Release),
            at(3_000, 0, Act::Tell(NodeId(1))),
        ]);
        let inline = "script:=3,1,tell:2;0,1,acquire;2.5,3,cancel; 2.5, 2, release;";
        assert_eq!(read(inline), Ok(expected.clone()));
        let file = "# who\n3,1,tell:2\n0,1,acquire # first\n\n2.5,3,cancel\n2.5,2,release\n";
        let files = |_: &str| Ok(file.to_string());
        assert_eq!(workload("script:run.txt", &Names::new(3, 1), &files), Ok(expected));
    }

    #[test]
    fn an_act_is_a_line_of_a_script() {
        let read = |text: &str| act(text, &Names::new(3, 1));
        let expected = ScriptLine { at: Ticks(2_500), node: NodeId(2), act: Act::Acquire };
        assert_eq!(read("2.5,3,acquire"), Ok(expected));
        refuses("--act", read, &["2.5,3", "2.5,9,acquire", "x,1,acquire", "1,1,dance"]);
    }

    #[test]
    fn a_wrong_line_is_named() {
        let files = |_: &str| Ok("0,1,acquire\n\n0,4,acquire\n".to_string());
        let error = workload("script:x", &Names::new(3, 0), &files).expect_err("no node 4");
        assert_eq!(error.to_string(), "--workload line 3: 4: nodes are 1 to 3");
    }
}
