//! Steps through the records of traces, compiled once.

use super::Compiled;
use crate::status::{Failure, Result};
use traceglass::Format;
use traceglass::ctf::data::{ProgramSlot, Programs};

/// Room for the programs of all traces.
pub fn room(traces: &[Compiled<'_>]) -> Vec<Vec<ProgramSlot>> {
    let needed = |trace: &Compiled<'_>| usize::try_from(Programs::needed(&trace.schema)).unwrap_or(0);
    traces.iter().map(|trace| vec![ProgramSlot::EMPTY; needed(trace)]).collect()
}

/// The programs of all traces. No two of their classes and fields have the same number.
pub fn compile<'p>(traces: &[Compiled<'_>], room: &'p mut [Vec<ProgramSlot>]) -> Result<Vec<Programs<'p>>> {
    let mut base = 0;
    let compile = |(trace, slots): (&Compiled<'_>, &'p mut Vec<ProgramSlot>)| {
        let programs = Programs::compile_from(&trace.schema, base, slots);
        let programs = programs.map_err(|error| Failure::content(Format::Ctf2, error))?;
        base = programs.end();
        Ok(programs)
    };
    traces.iter().zip(room).map(compile).collect()
}
