//! `traceglass completions`

use crate::output::Out;
use crate::status::{Result, Status};
use clap::CommandFactory;
use clap_complete::Shell;

/// Completions for a shell, to be sourced or installed
#[derive(clap::Args)]
pub struct Args {
    shell: Shell,
}

pub fn run<C: CommandFactory>(args: &Args, out: &mut Out) -> Result<Status> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut C::command(), "traceglass", &mut script);
    out.bytes(&script)?;
    Ok(Status::Clean)
}
