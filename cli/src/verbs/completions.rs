//! `traceglass completions`

use crate::output::Out;
use crate::status::{Result, Status};
use clap::CommandFactory;
use clap_complete::Shell;

/// Print completions for a shell, to be sourced or installed
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    shell: Shell,
}

const EXAMPLES: &str = "\
\x1b[1;4mExamples:\x1b[0m
  source <(traceglass completions bash)
  traceglass completions fish > ~/.config/fish/completions/traceglass.fish";

pub fn run<C: CommandFactory>(args: &Args, out: &mut Out) -> Result<Status> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut C::command(), "traceglass", &mut script);
    out.own(&script)?;
    Ok(Status::Clean)
}
