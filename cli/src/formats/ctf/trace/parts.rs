//! The parts of a trace that are printed, and what is missing in them.

use super::span;
use crate::output::Out;
use crate::trace::Bounds;
use std::path::Path;
use traceglass::ctf::data::{Loss, Packet};
use traceglass::record::Time;

/// True if a stream has this name: that of its file, or its id.
pub fn is_named(name: &str, path: &Path, packet: Option<&Packet<'_, '_>>) -> bool {
    path == Path::new(name)
        || path.file_name().is_some_and(|file| file == name)
        || packet.and_then(Packet::stream_id).is_some_and(|id| name.parse() == Ok(id))
}

/// The streams and processors that are asked for.
pub struct Parts<'a> {
    stream: Option<&'a str>,
    cpus: &'a [u64],
}

impl<'a> Parts<'a> {
    pub const fn new(stream: Option<&'a str>, cpus: &'a [u64]) -> Self {
        Self { stream, cpus }
    }

    /// True if all are asked for.
    pub const fn are_all(&self) -> bool {
        self.stream.is_none() && self.cpus.is_empty()
    }

    /// True if a packet of this file is among them.
    pub fn have(&self, path: &Path, packet: Option<&Packet<'_, '_>>) -> bool {
        let is_of = |name: &str| is_named(name, path, packet);
        let cpu = packet.and_then(Packet::cpu);
        self.stream.is_none_or(is_of)
            && (self.cpus.is_empty() || cpu.is_some_and(|cpu| self.cpus.contains(&cpu)))
    }
}

/// Says what is missing.
pub fn tell_loss(path: &Path, loss: Loss, out: &mut Out) {
    if let Some(count) = loss.packets().filter(|count| *count > 0) {
        out.warn(path, format_args!("{count} packets are missing here"));
    }
    if let Some(count) = loss.records().filter(|count| *count > 0) {
        out.warn(path, format_args!("{count} event records were discarded about here"));
    }
}

/// The times that a packet lies between, if they are known.
#[derive(Clone, Copy)]
pub struct Span(Option<(i128, i128)>);

impl Span {
    /// The span of a packet whose first record has this time.
    pub fn of(packet: Option<&Packet<'_, '_>>, time: Option<Time>) -> Self {
        let (begin, end) = packet.map_or((None, None), span);
        let time = time.map(Time::ns);
        let first = begin.into_iter().chain(time).min();
        Self(first.zip(end.into_iter().chain(time).max()))
    }

    /// True if the packet may have something of a range.
    pub fn is_near(self, bounds: &Bounds) -> bool {
        bounds.meets(self.0)
    }
}
