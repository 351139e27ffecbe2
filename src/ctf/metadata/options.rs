/// The strictness with which packets are read.
///
/// ```
/// use traceglass::ctf::metadata::{MetadataStream, ParseOptions};
///
/// let plain = b"\x1e{}";
/// assert!(MetadataStream::parse_with(plain, ParseOptions::LENIENT).is_ok());
/// assert_eq!(ParseOptions::default(), ParseOptions::STRICT);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ParseOptions {
    lenient: bool,
}

impl ParseOptions {
    /// Reads what the documents allow, and accepts a last packet without its padding.
    pub const STRICT: Self = Self { lenient: false };

    /// Also reads two mistakes of producers:
    ///
    /// - packets whose byte order differs from that of the packets before;
    /// - packets that claim version 2 but have the 37-byte header of version 1.8. The first packet decides for the
    ///   whole stream: its content begins at byte 37 with 0x1E, and bytes 40 to 43 are not a possible header size.
    pub const LENIENT: Self = Self { lenient: true };

    pub(super) const fn is_lenient(self) -> bool {
        self.lenient
    }
}
