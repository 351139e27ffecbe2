//! Advice for an input that is none of the formats.

use traceglass::Lookalike;

/// The name of it, and what can be done about it.
pub fn advice(found: Lookalike) -> &'static str {
    match found {
        Lookalike::LegacyRmv => "begins with MINI: an .rmv from before RMV 1.9, not RDF",
        Lookalike::LegacyRgp => "begins with 0x50303042: a legacy .rgp, not RDF",
        Lookalike::LegacyDial9 => {
            "begins with TOKIOTRC: a recording of dial9-tokio-telemetry 0.1, another format"
        }
        Lookalike::Zstd => "a bare zstd frame: decompress it first",
        Lookalike::Gzip => "gzip: decompress it first",
        Lookalike::Bzip2 => "bzip2: decompress it first",
        Lookalike::Zip => "a ZIP archive: unpack it first",
        Lookalike::Xz => "xz: decompress it first",
        Lookalike::Tsdl => "CTF 1.8 metadata as plain text, without packets",
        Lookalike::CtfDataStream => {
            "a CTF data stream: it is read together with the file `metadata` beside it"
        }
        Lookalike::Json => "JSON text; CTF 2 metadata begins with the byte 0x1e",
        Lookalike::Elf => "an ELF binary, not a trace",
        Lookalike::Text => "text, not a trace",
        Lookalike::Zeros => "nothing but zeros",
        other => other.name(),
    }
}
