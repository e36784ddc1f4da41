//! `conclave completions`: shell completion scripts, made from the flags themselves.

use crate::failure::Exit;
use crate::output;
use clap::Command;
use clap_complete::Shell;
use std::str::FromStr;

/// Prints a script that completes commands and flags in a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    conclave completions bash > ~/.local/share/bash-completion/completions/conclave\n  \
    conclave completions zsh > ~/.zfunc/_conclave\n  \
    conclave completions fish > ~/.config/fish/completions/conclave.fish")]
pub struct Completions {
    /// The shell: bash, zsh, fish, elvish or powershell
    #[arg(value_name = "SHELL", value_parser = shell)]
    shell: Shell,
}

/// Prints the script for the commands of this program.
pub fn run(arguments: &Completions, program: &Command) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    let name = program.get_name();
    clap_complete::generate(arguments.shell, &mut visible(program), name, &mut script);
    output::print(&String::from_utf8(script)?)?;
    Ok(Exit::Done)
}

/// The program without its hidden commands, which clap_complete would offer.
fn visible(program: &Command) -> Command {
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    Command::new(env!("CARGO_PKG_NAME"))
        .version(env!("CARGO_PKG_VERSION"))
        .propagate_version(true)
        .disable_help_subcommand(true)
        .subcommands(commands.cloned())
}

fn shell(text: &str) -> Result<Shell, String> {
    let known = "takes bash, zsh, fish, elvish or powershell";
    Shell::from_str(text).map_err(|_| known.to_string())
}
