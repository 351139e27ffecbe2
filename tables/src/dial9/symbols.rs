//! Names of addresses, as the recorder appends them to a file.

use memchr::memmem;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use traceglass::dial9::{Event, Frame, Frames, PoolSlot, SchemaSlot, Storage, Value};

/// The name of the events that name an address.
const SYMBOLS: &str = "SymbolTableEntry";

/// The frames at the addresses of a file. A frame is text: a name, and where it is in the source if that is known.
#[derive(Default)]
pub(super) struct Symbols(HashMap<u64, Vec<(u64, String)>>);

impl Symbols {
    /// Reads the symbols of a file. What cannot be read is reported by whoever reads the events.
    pub(super) fn of(data: &[u8]) -> Self {
        // Most files have none: that is seen faster than it is read.
        if memmem::find(data, SYMBOLS.as_bytes()).is_none() {
            return Self::default();
        }
        let (mut schemas, mut strings): (Vec<SchemaSlot>, Vec<PoolSlot>) = Default::default();
        let mut frames = Frames::new(data, Storage::new(&mut schemas).strings(&mut strings));
        let mut symbols = Self::default();
        // The number that symbols have in a batch.
        let mut type_id = None;
        loop {
            match frames.next_frame() {
                Ok(Some(Frame::Event(event))) if Some(event.schema().type_id()) == type_id => {
                    symbols.add(&event, &frames);
                }
                Ok(Some(Frame::Header(_))) => type_id = None,
                Ok(Some(Frame::Schema(schema))) if schema.name() == SYMBOLS => {
                    type_id = Some(schema.type_id());
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) if frames.recover().is_some() => {}
                Err(_) => break,
            }
        }
        symbols
    }

    fn add(&mut self, event: &Event<'_>, frames: &Frames<'_, '_>) {
        let number = |name| event.get(name).and_then(|value| value.unsigned());
        let text = |name| match event.get(name) {
            Some(Value::PooledString(id)) => frames.string(id).unwrap_or_default(),
            Some(Value::String(text)) => text,
            _ => &[],
        };
        let (Some(address), name) = (number("addr"), text("symbol_name")) else { return };
        if name.is_empty() {
            return;
        }
        let mut frame = String::from_utf8_lossy(name).into_owned();
        let (file, line) = (String::from_utf8_lossy(text("source_file")), number("source_line").unwrap_or(0));
        // A string takes all that is written to it.
        let _ = match (&*file, line) {
            ("", _) => Ok(()),
            (file, 0) => write!(frame, " ({file})"),
            (file, line) => write!(frame, " ({file}:{line})"),
        };
        let depth = number("inline_depth").unwrap_or(0);
        let frames = self.0.entry(address).or_default();
        // The innermost first, as in a stack. What is told again replaces what was told before.
        match frames.binary_search_by(|(of, _)| depth.cmp(of)) {
            Ok(at) => frames.get_mut(at).into_iter().for_each(|slot| slot.1.clone_from(&frame)),
            Err(at) => frames.insert(at, (depth, frame)),
        }
    }

    /// The frames at an address, the innermost first; without a name, the address.
    pub(super) fn frames(&self, address: u64) -> impl Iterator<Item = Cow<'_, str>> {
        let known = self.0.get(&address);
        let unknown = known.is_none().then(|| Cow::Owned(format!("{address:#x}")));
        known.into_iter().flatten().map(|(_, frame)| Cow::Borrowed(frame.as_str())).chain(unknown)
    }
}
