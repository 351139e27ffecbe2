use super::{Fragment, FragmentKind, Language, MetadataStream};
use crate::ctf::element::{FRAGMENT, PREAMBLE, PREAMBLE_VERSION, TEXT};
use crate::error::{Error, ErrorKind, Finding, Report, Result, Summary};

impl MetadataStream<'_> {
    /// Reads everything, and reports what is wrong or odd in file order of packets, then of fragments.
    ///
    /// Errors: a packet that cannot be read, a fragment that is not a JSON object in UTF-8. Warnings: an unknown minor
    /// version, missing padding of the last packet, a missing or repeated preamble, a preamble of another version, a
    /// first fragment without its 0x1E, TSDL without its signature, a fragment without a type or with a known member of
    /// a wrong type.
    ///
    /// It ends with the first packet that cannot be read; [`Packets::recover`](super::Packets::recover) tells whether
    /// others follow, and [`resumed_at`](Self::resumed_at) checks those.
    pub fn check(&self, report: &mut dyn FnMut(Finding)) -> Result<Summary> {
        let mut report = Report::new(report);
        let mut minor_is_reported = false;
        for packet in self.packets() {
            match packet {
                Ok(packet) => {
                    for oddity in packet.oddities() {
                        // All packets of a stream have it: one is enough.
                        let is_minor = matches!(oddity.kind(), ErrorKind::UnsupportedRevision { .. });
                        if !(is_minor && minor_is_reported) {
                            report.warning(oddity);
                        }
                        minor_is_reported |= is_minor;
                    }
                    if let Err(error) = packet.check_content() {
                        report.error(error);
                    }
                }
                Err(error) => report.error(error),
            }
        }
        if self.language() == Language::Tsdl {
            let (text, _) = self.text_until_error();
            if !text.is_empty() && !self.is_resumed() && !self.has_tsdl_signature() {
                let kind = ErrorKind::bad_magic(text.pieces().flatten());
                report.warning(Error::new(text.offset(), TEXT, kind));
            }
            return Ok(report.summary());
        }
        let mut is_first = !self.is_resumed();
        // An error here is that of the packets again.
        for fragment in self.fragments().map_while(Result::ok) {
            if !fragment.is_separated() && self.is_resumed() {
                // The rest of one whose beginning is lost, which has been reported.
                continue;
            }
            if !fragment.is_separated() {
                let kind = ErrorKind::Unexpected { byte: self.byte_at(fragment.offset()), expected: "0x1E" };
                report.warning(Error::new(fragment.offset(), FRAGMENT, kind));
            }
            match fragment.check() {
                Err(error) => report.error(error),
                Ok(()) => {
                    report.item();
                    if let Err(warning) = typed(&fragment, is_first) {
                        report.warning(warning);
                    }
                }
            }
            is_first = false;
        }
        Ok(report.summary())
    }
}

/// True if the fragment is what CTF 2 allows at its place, and its known members are of their types.
fn typed(fragment: &Fragment<'_>, is_first: bool) -> Result<()> {
    let kind = fragment.kind()?;
    let at = |element, kind| Err(Error::new(fragment.offset(), element, kind));
    let is_preamble = matches!(kind, FragmentKind::Preamble);
    if is_first && !is_preamble {
        return at(PREAMBLE, ErrorKind::Missing);
    }
    match kind {
        FragmentKind::Preamble if !is_first => at(PREAMBLE, ErrorKind::Repeated),
        FragmentKind::Preamble => match fragment.preamble()?.and_then(|preamble| preamble.version()) {
            Some(2) => Ok(()),
            Some(found) => at(PREAMBLE, ErrorKind::UnsupportedVersion { found, supported: 2 }),
            None => at(PREAMBLE_VERSION, ErrorKind::Missing),
        },
        FragmentKind::ClockClass => fragment.clock_class().map(drop),
        FragmentKind::TraceClass => fragment.trace_class().map(drop),
        FragmentKind::Untyped => at(FRAGMENT, ErrorKind::Missing),
        _ => Ok(()),
    }
}
