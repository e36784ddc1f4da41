//! What `up` shows when all nodes are there: one screen.

use super::member::Member;
use super::setup::Setup;
use crate::invocation::{called, in_same_language};
use crate::output::table::Table;
use crate::output::{dim, good, labelled, strong, typed, width};
use crate::texts::tr;
use conclave_algorithms::catalog;
use conclave_client::api::Cluster;
use conclave_core::Property;
use conclave_service::REPLICATED;
use std::fmt::Write;

const COLUMN: usize = 10;
/// What the replicated engine promises, to every client that is running; the others are held off by
/// fences.
const REPLICATED_HAS: [Property; 4] = [Property::S1, Property::S1Eff, Property::V2, Property::F1];

/// The cluster, its nodes, what it promises, and what to try.
pub fn screen(cluster: &Cluster, setup: &Setup, members: &[Member]) -> String {
    let nodes = members.len();
    let engine = strong(&cluster.engine);
    let about = match (&cluster.election, &cluster.detector) {
        (Some(election), Some(detector)) => {
            format!("{nodes} nodes: {engine} with election {election} and detector {detector}")
        }
        _ => format!("{nodes} nodes: {engine}"),
    };
    let mut text = format!("{}  {}\n\n", strong("Conclave"), tr(&about));
    let mut table = Table::new(width(), &["node", "API", "links", "pid", ""]);
    for (node, member) in setup.nodes.iter().zip(members) {
        let leads =
            (cluster.leader == Some(node.id)).then(|| format!("leads, term {}", cluster.term));
        table.row([
            node.id.to_string(),
            format!("http://{}", node.api),
            node.peer.clone(),
            member.pid().to_string(),
            tr(&leads.unwrap_or_default()).into_owned(),
        ]);
    }
    text += &table.render();
    text.push('\n');
    text += &labelled("page", COLUMN, &page(setup));
    text += &labelled("promises", COLUMN, &promises(cluster));
    let kept = if setup.is_temporary() { "removed at the end" } else { "kept" };
    text += &labelled("data", COLUMN, &format!("{} ({kept}), logs too", setup.directory.display()));
    text += &labelled("token", COLUMN, &format!("{} (for the use of force)", setup.token));
    text += &attempts(cluster, members);
    let _ = writeln!(text, "\n{}", dim("Ctrl-C stops it all. What happens is told here:"));
    text
}

/// Where the page is. The token is behind the `#`: a browser sends that part to nobody.
fn page(setup: &Setup) -> String {
    let address = setup.http.local_addr().map(|address| address.to_string()).unwrap_or_default();
    typed(format!("http://{address}/#token={}", setup.token))
}

/// What the engine promises under its parameters.
fn promises(cluster: &Cluster) -> String {
    let nodes = u32::try_from(cluster.nodes.len()).unwrap_or(u32::MAX);
    let set: Vec<(&str, &str)> =
        cluster.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let found = catalog::find(&cluster.engine).and_then(|entry| {
        let mut has = (entry.has)(&entry.setting(nodes, &set)?.params);
        has.sort_unstable();
        Ok(has)
    });
    let has = found.unwrap_or_default();
    let has = if cluster.engine == REPLICATED { &REPLICATED_HAS[..] } else { &has };
    let told = has.iter().map(|property| format!("{} {}", good(property), tr(property.meaning())));
    let survives = (cluster.engine == REPLICATED).then(|| survives(nodes));
    told.chain(survives).collect::<Vec<String>>().join("; ")
}

/// How many nodes of a replicated cluster may be lost.
fn survives(nodes: u32) -> String {
    let lost = nodes.saturating_sub(1) / 2;
    match lost {
        0 => tr("nothing acknowledged is lost while its disk is there").into_owned(),
        _ => tr(&format!("nothing acknowledged is lost with {lost} of {nodes} nodes")).into_owned(),
    }
}

fn attempts(cluster: &Cluster, members: &[Member]) -> String {
    let leader = members.iter().find(|member| Some(member.id) == cluster.leader);
    let victim = leader.or(members.first()).map(Member::pid).unwrap_or_default();
    let own = called();
    let attempts = [
        (format!("{own} lock demo -- sh -c 'echo $CONCLAVE_FENCE'"), "a number that rises"),
        (format!("{own} status --watch"), "who holds, who waits"),
        (format!("kill -9 {victim}"), "the node that leads, gone"),
    ];
    // As they are shown: what is typed keeps its language.
    let attempts = attempts.map(|(command, about)| (in_same_language(&command), about));
    let width = |command: &str| command.chars().count();
    let longest = attempts.iter().map(|(command, _)| width(command)).max().unwrap_or_default();
    let mut text = format!("\n{}\n", strong("Try, in another terminal"));
    for (command, about) in attempts {
        let gap = " ".repeat(longest + 2 - width(&command));
        let _ = writeln!(text, "  {}{gap}{}", typed(&command), dim(about));
    }
    text
}
