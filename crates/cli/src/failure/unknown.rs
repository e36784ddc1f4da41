//! What somebody may have meant by a flag that this command does not have.

use clap::Command;
use conclave_algorithms::catalog;

/// So many commands are named at most.
const COMMANDS_MAX: usize = 3;
/// Fewer letters begin too many flags to mean one of them.
const BEGINNING_MIN: usize = 3;

/// A flag of the same command that is spelt nearly like this one; or else which commands have the
/// very same flag; or else where all flags are listed. The usage is what clap shows of the command.
pub fn hint(root: Command, usage: &str, typed: &str) -> String {
    let mut root = root;
    root.build();
    let path = path(usage);
    let own = find(&root, &path);
    if let Some(near) = own.and_then(|command| nearest(command, typed)) {
        return format!("did you mean --{near}?");
    }
    let mut owners = owners(&root, typed);
    // Its sisters, if they have it; others, if not.
    let closest = owners.iter().map(|owner| common(owner, &path)).max().unwrap_or(0);
    owners.retain(|owner| common(owner, &path) == closest);
    let others = if owners.len() > COMMANDS_MAX { " and others" } else { "" };
    owners.truncate(COMMANDS_MAX);
    let named: Vec<String> = owners.iter().map(|owner| owner.join(" ")).collect();
    match named.as_slice() {
        [] => "see --help".to_string(),
        named => format!("it belongs to {}{others}", named.join(", ")),
    }
}

/// The names of a command and those above it: `scenario`, `run`.
fn path(usage: &str) -> Vec<&str> {
    let words = usage.trim_start_matches("Usage:").split_whitespace().skip(1);
    words.take_while(|word| !word.starts_with(['[', '<', '-'])).collect()
}

fn find<'a>(root: &'a Command, path: &[&str]) -> Option<&'a Command> {
    path.iter().try_fold(root, |command, name| command.find_subcommand(name))
}

/// The flags of a command, without the two hyphens.
fn flags(command: &Command) -> impl Iterator<Item = &str> {
    command.get_arguments().filter(|flag| !flag.is_hide_set()).filter_map(clap::Arg::get_long)
}

fn nearest<'a>(command: &'a Command, typed: &str) -> Option<&'a str> {
    let typed = typed.trim_start_matches('-');
    let letters = typed.chars().count();
    let begun = |flag: &&str| letters >= BEGINNING_MIN && flag.starts_with(typed);
    // One letter in three may be wrong.
    let near = |flag: &&str| catalog::distance(flag, typed) <= letters.div_ceil(3).max(1);
    let by_spelling = flags(command).filter(near);
    let nearest = by_spelling.min_by_key(|flag| catalog::distance(flag, typed));
    flags(command).find(begun).or(nearest)
}

/// The commands that have this very flag, those without subcommands first.
fn owners<'a>(root: &'a Command, typed: &str) -> Vec<Vec<&'a str>> {
    let Some(typed) = typed.strip_prefix("--") else { return Vec::new() };
    let mut found = Vec::new();
    let mut left: Vec<(Vec<&str>, &Command)> = vec![(Vec::new(), root)];
    while let Some((path, command)) = left.pop() {
        if !path.is_empty() && flags(command).any(|flag| flag == typed) {
            found.push(path.clone());
        }
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            left.push(([path.as_slice(), &[below.get_name()]].concat(), below));
        }
    }
    found.sort_by_key(|path| (path.len(), path.join(" ")));
    found
}

/// How many names two paths have in common, from the first.
fn common(some: &[&str], others: &[&str]) -> usize {
    some.iter().zip(others).take_while(|(name, other)| name == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Conclave;
    use clap::CommandFactory;

    fn hint(usage: &str, typed: &str) -> String {
        super::hint(Conclave::command(), usage, typed)
    }

    #[test]
    fn a_flag_of_the_same_command_is_suggested_if_it_is_near() {
        for (typed, meant) in [
            ("--node", "did you mean --nodes?"),
            ("--nodse", "did you mean --nodes?"),
            ("--seeed", "did you mean --seed?"),
            ("--part", "did you mean --partition?"),
            ("--frobnicate", "see --help"),
            ("-x", "see --help"),
        ] {
            assert_eq!(hint("Usage: conclave sim [OPTIONS] <ID>", typed), meant, "{typed}");
        }
    }

    #[test]
    fn a_flag_of_another_command_is_found_there_and_nearby_first() {
        let run = "Usage: conclave scenario run [OPTIONS] [NAME]";
        assert_eq!(hint(run, "--answer"), "it belongs to scenario show");
        let lock = "Usage: conclave lock --wait <TIME> <NAME> -- <CMD>...";
        assert_eq!(hint(lock, "--votes"), "it belongs to quorum");
        assert_eq!(hint(lock, "--nodes"), "it belongs to cert, check, compare and others");
    }

    #[test]
    fn no_flag_of_any_command_is_taken_for_another_one_without_a_reason() {
        let mut root = Conclave::command();
        root.build();
        let sim = root.find_subcommand("sim").expect("there is sim");
        for owner in root.get_subcommands().filter(|command| !command.is_hide_set()) {
            for flag in flags(owner).filter(|flag| !flags(sim).any(|own| own == *flag)) {
                if let Some(near) = nearest(sim, &format!("--{flag}")) {
                    let distance = catalog::distance(near, flag);
                    assert!(distance * 2 <= near.len().max(flag.len()), "{flag}: {near}");
                }
            }
        }
    }
}
