//! The payload of every stream.

use super::scan::{Event, Pass};
use super::session::Rtc;
use super::value::Text;
use crate::output::bytes;
use crate::status::Result;
use crate::trace::{Damage, DamageExt as _, Outcome, Part, PartId, Parts};
use std::collections::HashMap;
use traceglass::{ErrorKind, Severity};

impl Rtc<'_> {
    /// Streams are told apart by session: ids are used again.
    pub(super) fn extract_streams(&self, parts: &mut dyn Parts) -> Result<Outcome> {
        let mut damage = Damage::default();
        let mut open: HashMap<(u64, u64), PartId> = HashMap::new();
        let mut read = 0;
        let mut session = 0;
        let status = self.scan(&Pass::default(), |event| {
            match event {
                Event::Frame(frame, streams) if frame.is_user() => {
                    let Some(stream) = frame.slot().and_then(|slot| streams.at(slot)) else {
                        return Ok(());
                    };
                    let key = (session, stream.id());
                    let part = match open.get(&key) {
                        Some(&part) => part,
                        None => {
                            let name = Text::of(stream.name()).text;
                            let (name, number) = (name.as_deref(), stream.id());
                            let part =
                                parts.part(&Part { kind: "stream", name, number, ..Part::default() })?;
                            open.insert(key, part);
                            part
                        }
                    };
                    parts.write(part, frame.payload())?;
                    parts.advance(frame.offset().saturating_sub(read));
                    read = frame.offset();
                }
                Event::Gap(gap, _) => damage.add(format!("{}; {} lost", gap.cause(), bytes(gap.len()))),
                Event::Session(ended) => session = ended.number.saturating_add(1),
                Event::Finding(finding) if finding.severity() == Severity::Error => {
                    let cause = finding.cause();
                    if !matches!(cause.kind(), ErrorKind::Lost { .. }) {
                        damage.add(cause.to_string());
                    }
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(Outcome { status: status.max(damage.status()), damage })
    }
}
