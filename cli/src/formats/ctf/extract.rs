//! The metadata as text, and the content of every packet.

use super::Ctf2;
use crate::status::Result;
use crate::trace::{Outcome, Part, Parts};
use traceglass::ctf::metadata::Form;

impl Ctf2<'_> {
    pub(super) fn extract_packets(&self, parts: &mut dyn Parts) -> Result<Outcome> {
        let errors = self.errors();
        let damage = self.damage(&errors);
        let part = parts.part(&Part { kind: "metadata", ..Part::default() })?;
        for piece in self.pieces() {
            parts.write(part, piece)?;
        }
        if let Some(error) = errors.first() {
            parts.cut(part, &error.to_string());
        }
        parts.end(part)?;
        if self.stream.form() != Form::Plain {
            for (number, packet) in (0..).zip(self.packets()) {
                let offset = Some(packet.header().offset());
                let part = parts.part(&Part { kind: "packet", number, offset, ..Part::default() })?;
                parts.write(part, packet.content())?;
                parts.end(part)?;
                parts.advance(packet.header().total_bytes().into());
            }
        }
        Ok(damage.into())
    }
}
