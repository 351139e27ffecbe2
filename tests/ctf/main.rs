//! CTF 2 metadata streams, built field by field.
#![cfg(feature = "ctf")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/ctf_table.rs"]
mod table;
use common::random as numbers;

mod decoder;
mod environment;
mod fragments;
mod json;
mod lists;
mod packets;
mod random;
mod samples;
mod schema;
mod streams;
mod tables;
mod tell;
mod text;
mod tsdl;
mod variants;
mod wire;
mod wire_growing;
mod wire_limits;
mod wire_ring;

use common::ctf::{Packet, stream};
use common::lies_in;
use traceglass::ctf::element::MAGIC;
use traceglass::ctf::metadata::{MetadataStream, ParseOptions, compact};
use traceglass::{Error, ErrorKind, Finding};

/// Everything that a stream gives: its text up to the fault, and the fault.
pub fn read(data: &[u8], leniency: ParseOptions) -> Result<(Vec<u8>, Option<Error>), Error> {
    let stream = MetadataStream::parse_with(data, leniency)?;
    let mut pieces = stream.pieces();
    let mut text = Vec::new();
    let fault = loop {
        match pieces.next() {
            Some(Ok(piece)) => {
                assert!(lies_in(piece, data));
                text.extend(piece);
            }
            Some(Err(error)) => break Some(error),
            None => break None,
        }
    };
    assert!(pieces.next().is_none() && pieces.next().is_none());
    // The other ways to the text agree.
    let (readable, also) = stream.text_until_error();
    assert_eq!(also, fault);
    assert_eq!(readable.len(), text.len() as u64);
    assert_eq!(readable.copy_to(&mut vec![0; text.len()]).unwrap(), text);
    let mut buffer = data.to_vec();
    let compacted = compact(&mut buffer, leniency).unwrap();
    assert_eq!((compacted.error(), compacted.text()), (fault, &text[..]));
    Ok((text, fault))
}

pub fn fault(data: &[u8]) -> Error {
    match read(data, ParseOptions::STRICT) {
        Err(error) => error,
        Ok((_, fault)) => fault.expect("a fault"),
    }
}

pub fn findings(data: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let summary = MetadataStream::parse(data).unwrap().check(&mut |finding| findings.push(finding)).unwrap();
    assert_eq!(summary.errors() + summary.warnings(), findings.len() as u64);
    findings
}

/// Both byte orders, both versions, at a packet size that cuts everything.
pub fn forms(text: &[u8], size: usize) -> Vec<Vec<u8>> {
    let mut forms = vec![text.to_vec()];
    for big in [false, true] {
        for make in [Packet::v1, Packet::v2] {
            forms.push(stream(text.chunks(size), |content| make(content).big(big)));
            let padding = b"\x1e{}\x57\x1d\xd1\x75\x75\xd1\x1d\x57\0\xff";
            forms.push(stream(text.chunks(size), |content| make(content).big(big).padding(padding)));
        }
    }
    forms
}

pub fn bad_magic(offset: u64, bytes: &[u8; 4]) -> Error {
    let mut found = [0; 8];
    found[..4].copy_from_slice(bytes);
    Error::new(offset, MAGIC, ErrorKind::BadMagic { found })
}
