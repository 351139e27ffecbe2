//! The details of a callsite, found once.

use super::callsite::{Callsite, CallsiteKind, Level};
use super::element::FIELD;
use super::list::{List, sealed::Item as _};
use super::read::Reader;
use super::value::{Field, FieldValue, checked_list};

/// The most bytes of a callsite's fields that are looked up. Those of `tracing` have some hundred.
const SIZE_MAX: usize = 4096;

/// A place in the source, as the records that refer to it need it.
///
/// Of a callsite whose fields take more than 4 KiB, which would be told again with each record, only the id, the level
/// and the kind are kept.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    pub(super) id: u64,
    pub(super) offset: u64,
    level: Level,
    kind: CallsiteKind,
    name: Option<&'a str>,
    target: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u64>,
    names: Reader<'a>,
}

impl<'a> Site<'a> {
    /// An empty slot, to fill storage with before lending it.
    pub const EMPTY: Self = Self {
        id: 0,
        offset: 0,
        level: Level::new(0),
        kind: CallsiteKind::Unknown,
        name: None,
        target: None,
        file: None,
        line: None,
        names: Reader::new(&[]),
    };

    /// The details of a callsite.
    pub fn new(callsite: &Callsite<'a>) -> Self {
        let (id, offset) = (callsite.id(), callsite.offset());
        let mut site = Self { id, offset, level: callsite.level(), kind: callsite.kind(), ..Self::EMPTY };
        let mut reader = callsite.lists();
        if reader.left() > SIZE_MAX.try_into().unwrap_or(u64::MAX) {
            return site;
        }
        let [mut name, mut target, mut file, mut line]: [Option<FieldValue<'a>>; 4] = [None; 4];
        for _ in 0..reader.u64(FIELD).unwrap_or(0) {
            let Ok(field) = Field::read(&mut reader) else { break };
            let place = match field.name() {
                "name" => &mut name,
                "target" => &mut target,
                "file" => &mut file,
                "line" => &mut line,
                _ => continue,
            };
            place.get_or_insert(field.value());
        }
        let text = |value: Option<FieldValue<'a>>| value?.as_str();
        (site.name, site.target) = (text(name), text(target));
        (site.file, site.line) = (text(file).map(short), line.and_then(|line| line.as_u64()));
        site.names = reader;
        site
    }

    /// The id of the callsite.
    pub const fn id(&self) -> u64 {
        self.id
    }

    /// The importance of its records.
    pub const fn level(&self) -> Level {
        self.level
    }

    /// The kind of records that it makes.
    pub const fn kind(&self) -> CallsiteKind {
        self.kind
    }

    /// The name of the span, or `event FILE:LINE`.
    pub const fn name(&self) -> Option<&'a str> {
        self.name
    }

    /// The target: mostly the module path.
    pub const fn target(&self) -> Option<&'a str> {
        self.target
    }

    /// The source file; of one in Cargo's registry, the path from the crate on.
    pub const fn file(&self) -> Option<&'a str> {
        self.file
    }

    /// The line in the source file.
    pub const fn line(&self) -> Option<u64> {
        self.line
    }

    /// The names of the values that its spans and events have, in that order.
    pub fn split_field_names(&self) -> List<'a, &'a str> {
        checked_list(&mut self.names.clone())
    }
}

default_is_empty!(Site<'_>);

/// The path of a source file from the crate on, where it lies in Cargo's registry.
fn short(file: &str) -> &str {
    let registry = b"/registry/src/";
    // Searches of `str` for text can panic as far as the linker can tell.
    let found = file.as_bytes().windows(registry.len()).position(|bytes| bytes == registry);
    let after = found.and_then(|at| file.get(at.saturating_add(registry.len())..));
    after.map_or(file, |after| after.split_once('/').map_or(after, |(_, path)| path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_the_registry_are_short() {
        assert_eq!(
            short("/home/a/.cargo/registry/src/index-123/tokio-1.44.1/src/lib.rs"),
            "tokio-1.44.1/src/lib.rs"
        );
        assert_eq!(short("src/main.rs"), "src/main.rs");
    }
}
