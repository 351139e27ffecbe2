//! The format of an input, by its content.

use core::fmt;

/// A format that this build reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Format {
    /// AMD's Radeon Data File.
    #[cfg(feature = "rdf")]
    Rdf,
    /// CTF 1.8, whose metadata is TSDL, in packets or plain.
    #[cfg(feature = "ctf")]
    Ctf1,
    /// CTF 2 metadata, in packets or plain.
    #[cfg(feature = "ctf")]
    Ctf2,
    /// dial9: what a service on tokio did.
    #[cfg(feature = "dial9")]
    Dial9,
    /// Rust Flight Recorder.
    #[cfg(feature = "rfr")]
    Rfr,
    /// Ruler Trace Container.
    #[cfg(feature = "rtc")]
    Rtc,
}

impl Format {
    /// The format of `data`, if it is one that this build reads.
    ///
    /// ```
    /// # #[cfg(feature = "rdf")]
    /// assert_eq!(traceglass::Format::detect(b"AMD_RDF \x03\0\0\0"), Some(traceglass::Format::Rdf));
    /// assert_eq!(traceglass::Format::detect(b"PK\x03\x04"), None);
    /// ```
    pub fn detect(data: &[u8]) -> Option<Self> {
        #[cfg(feature = "rdf")]
        if crate::rdf::detect(data) {
            return Some(Self::Rdf);
        }
        #[cfg(feature = "dial9")]
        if crate::dial9::detect(data) {
            return Some(Self::Dial9);
        }
        #[cfg(feature = "ctf")]
        if crate::ctf::metadata::detect_tsdl(data) {
            return Some(Self::Ctf1);
        }
        #[cfg(feature = "ctf")]
        if crate::ctf::metadata::detect(data) {
            return Some(Self::Ctf2);
        }
        #[cfg(feature = "rfr")]
        if crate::rfr::detect(data) {
            return Some(Self::Rfr);
        }
        // Last: what is left of a cut file has no magic at its start, and is searched for.
        #[cfg(feature = "rtc")]
        if crate::rtc::detect(data) {
            return Some(Self::Rtc);
        }
        // One byte is weak evidence: a cut file of another format may begin with it, too.
        #[cfg(feature = "ctf")]
        if crate::ctf::metadata::Form::detect(data).is_some() {
            return Some(Self::Ctf2);
        }
        let _ = data;
        None
    }

    /// The short name, as the `traceglass` command prints it.
    pub const fn name(self) -> &'static str {
        match self {
            #[cfg(feature = "rdf")]
            Self::Rdf => "rdf",
            #[cfg(feature = "ctf")]
            Self::Ctf1 => "ctf1",
            #[cfg(feature = "ctf")]
            Self::Ctf2 => "ctf2",
            #[cfg(feature = "dial9")]
            Self::Dial9 => "dial9",
            #[cfg(feature = "rfr")]
            Self::Rfr => "rfr",
            #[cfg(feature = "rtc")]
            Self::Rtc => "rtc",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Something that is not read here, yet often found where a trace was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lookalike {
    /// A memory trace from before RMV 1.9: `MINI`.
    LegacyRmv,
    /// A Radeon GPU Profiler file from before it used RDF: 0x50303042.
    LegacyRgp,
    /// A recording of dial9 from before it described itself: `TOKIOTRC`.
    LegacyDial9,
    /// A bare Zstandard frame.
    Zstd,
    /// gzip.
    Gzip,
    /// bzip2.
    Bzip2,
    /// A ZIP archive.
    Zip,
    /// xz.
    Xz,
    /// CTF 1.8 metadata as plain text.
    Tsdl,
    /// A data stream of a CTF trace: 0xc1fc1fc1, of either byte order.
    CtfDataStream,
    /// JSON text.
    Json,
    /// An ELF binary.
    Elf,
    /// Text of any other kind.
    Text,
    /// Nothing but zeros, such as a file that was never written after its space was reserved.
    Zeros,
}

impl Lookalike {
    /// The lookalike of `data`, mostly by its first bytes, where [`Format::detect`] found nothing.
    pub fn detect(data: &[u8]) -> Option<Self> {
        const MAGICS: [(&[u8], Lookalike); 12] = [
            (b"MINI", Lookalike::LegacyRmv),
            (b"B00P", Lookalike::LegacyRgp),
            (b"TOKIOTRC", Lookalike::LegacyDial9),
            (b"\x28\xb5\x2f\xfd", Lookalike::Zstd),
            (b"\x1f\x8b", Lookalike::Gzip),
            (b"BZh", Lookalike::Bzip2),
            (b"PK\x03\x04", Lookalike::Zip),
            (b"\xfd7zXZ\0", Lookalike::Xz),
            (b"/* CTF 1.8", Lookalike::Tsdl),
            (b"\xc1\x1f\xfc\xc1", Lookalike::CtfDataStream),
            (b"\xc1\xfc\x1f\xc1", Lookalike::CtfDataStream),
            (b"\x7fELF", Lookalike::Elf),
        ];
        /// The number of bytes that are looked at to recognize text.
        const ENOUGH: usize = 512;
        if let Some(&(_, found)) = MAGICS.iter().find(|(magic, _)| data.starts_with(magic)) {
            return Some(found);
        }
        let start = data.get(..ENOUGH).unwrap_or(data);
        match start.iter().find(|byte| !byte.is_ascii_whitespace())? {
            b'{' | b'[' => Some(Self::Json),
            0 if data.iter().all(|&byte| byte == 0) => Some(Self::Zeros),
            _ => is_text(start).then_some(Self::Text),
        }
    }
}

/// True if `start` is text; its last character may be cut.
fn is_text(start: &[u8]) -> bool {
    let text = match core::str::from_utf8(start) {
        Ok(text) => text,
        Err(error) if error.error_len().is_some() => return false,
        Err(error) => {
            start.get(..error.valid_up_to()).and_then(|text| core::str::from_utf8(text).ok()).unwrap_or("")
        }
    };
    !text.is_empty()
        && text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t' | '\x0c' | '\x1b'))
}

impl Lookalike {
    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LegacyRmv => "legacy RMV",
            Self::LegacyRgp => "legacy RGP",
            Self::LegacyDial9 => "legacy dial9",
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Zip => "ZIP",
            Self::Xz => "xz",
            Self::Tsdl => "TSDL",
            Self::CtfDataStream => "CTF data stream",
            Self::Json => "JSON",
            Self::Elf => "ELF",
            Self::Text => "text",
            Self::Zeros => "zeros",
        }
    }
}

impl fmt::Display for Lookalike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(feature = "ctf")]
    fn metadata_is_told_plain_and_in_packets() {
        for data in [&b"\x57\x1d\xd1\x75"[..], b"\x75\xd1\x1d\x57", b"\x1e\x1e {", b"\x1e", b"\x1egarbage"] {
            assert_eq!(Format::detect(data), Some(Format::Ctf2), "{}", data.escape_ascii());
        }
        assert_eq!(Format::detect(b"/* CTF 1.8 */"), Some(Format::Ctf1));
        for data in [&b"\x57\x1d\xd1"[..], b"{\"type\"", b"/* CTF 2 */"] {
            assert_eq!(Format::detect(data), None, "{}", data.escape_ascii());
        }
    }

    #[test]
    fn lookalikes_are_told_by_their_first_bytes() {
        assert_eq!(Lookalike::detect(&0x5030_3042_u32.to_le_bytes()), Some(Lookalike::LegacyRgp));
        assert_eq!(Lookalike::detect(b" \n{\"a\":1}"), Some(Lookalike::Json));
        assert_eq!(Lookalike::detect(b"AMD_RDF \x03\0\0\0"), None);
        assert_eq!(Lookalike::detect(b"\xc1\xfc\x1f\xc1\0"), Some(Lookalike::CtfDataStream));
        assert_eq!(Lookalike::detect(&[0; 1000]), Some(Lookalike::Zeros));
        assert_eq!(Lookalike::detect(b""), None);
    }

    #[test]
    fn text_is_told_though_its_last_character_is_cut() {
        let long = "ä".repeat(300);
        let odd = [b"x", long.as_bytes()].concat();
        for text in [&b"hello\n"[..], "größe".as_bytes(), long.as_bytes(), &odd, b"\x1b[1mbold\x1b[0m"] {
            assert_eq!(Lookalike::detect(text), Some(Lookalike::Text), "{}", text.escape_ascii());
        }
        for binary in [&b"\x01\x02\x03"[..], b"hello\0", b"\xff\xfe", b"hello \xff", b"\xe4", &[b'x'; 4][..0]]
        {
            assert_eq!(Lookalike::detect(binary), None, "{}", binary.escape_ascii());
        }
    }

    #[test]
    fn each_lookalike_is_told() {
        for (data, name) in [
            (&b"MINI"[..], "legacy RMV"),
            (b"B00P", "legacy RGP"),
            (b"TOKIOTRC\x0d", "legacy dial9"),
            (b"\x28\xb5\x2f\xfd", "zstd"),
            (b"\x1f\x8b", "gzip"),
            (b"BZh", "bzip2"),
            (b"PK\x03\x04", "ZIP"),
            (b"\xfd7zXZ\0", "xz"),
            (b"/* CTF 1.8 */", "TSDL"),
            (b"\xc1\x1f\xfc\xc1", "CTF data stream"),
            (b"[1]", "JSON"),
            (b"\x7fELF", "ELF"),
            (b"hello", "text"),
            (b"\0\0", "zeros"),
        ] {
            let found = Lookalike::detect(data).map(|found| std::format!("{found}"));
            assert_eq!(found.as_deref(), Some(name));
        }
        // Leading zeros do not make the whole input zeros.
        assert_eq!(Lookalike::detect(b"\0\0\x01"), None);
        assert_eq!(Lookalike::detect(b"\0text"), None);
    }

    #[cfg(all(feature = "rdf", feature = "rtc", feature = "ctf", feature = "rfr", feature = "dial9"))]
    #[test]
    fn each_format_has_a_short_name() {
        let formats = [Format::Rdf, Format::Rtc, Format::Ctf1, Format::Ctf2, Format::Rfr, Format::Dial9];
        assert_eq!(
            formats.map(|format| std::format!("{format}")),
            ["rdf", "rtc", "ctf1", "ctf2", "rfr", "dial9"]
        );
        assert_eq!(Format::detect(b"AMD_RDF \x03\0\0\0"), Some(Format::Rdf));
    }
}
