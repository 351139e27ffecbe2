//! Any bytes as the text of a stream: plain, and in packets of a size that cuts it anywhere. Both give the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceglass::ctf::metadata::{EnvironmentValue, Fragment, MetadataStream};
use traceglass::{ErrorKind, Severity};
use traceglass_fuzz::{found, located_in, walk};

fuzz_target!(|data: &[u8]| {
    let Some((&size, text)) = data.split_first() else { return };
    let plain = [b"\x1e", text].concat();
    let packets: Vec<u8> = plain.chunks(usize::from(size) + 1).flat_map(packet).collect();
    let (a, b) = (read(&plain), read(&packets));
    assert_eq!(a, b);
    // JSON for another parser is JSON here; it refuses deeper nesting, and does not look at lone surrogates.
    // A part of white space is no fragment.
    let parts = plain.split(|byte| *byte == 0x1e);
    let parts: Vec<&[u8]> = parts.filter(|part| part.iter().any(|byte| !b" \t\n\r".contains(byte))).collect();
    assert_eq!(a.0.len(), parts.len());
    for (fragment, part) in a.0.iter().zip(parts) {
        let other = serde_json::from_slice::<&serde_json::value::RawValue>(part);
        let object = other.is_ok_and(|value| value.get().starts_with('{'));
        assert!(!object || fragment.is_none(), "{:?} {fragment:?}", part.escape_ascii().to_string());
    }
});

/// A packet of version 1.8, big-endian, with padding that looks like a fragment.
fn packet(content: &[u8]) -> Vec<u8> {
    let padding = b"\x1e{";
    let content_size = (37 + content.len()) as u32 * 8;
    let mut packet = Vec::from(0x75d1_1d57_u32.to_be_bytes());
    packet.extend([7; 20]);
    packet.extend(content_size.to_be_bytes());
    packet.extend((content_size + padding.len() as u32 * 8).to_be_bytes());
    packet.extend([0, 0, 0, 1, 8]);
    packet.extend(content);
    packet.extend(padding);
    packet
}

/// The error of each fragment, if it has one, what the classes say, and how many findings there are.
fn read(data: &[u8]) -> (Vec<Option<ErrorKind>>, Vec<String>, usize) {
    let stream = MetadataStream::parse(data).unwrap();
    let (mut errors, mut said) = (Vec::new(), Vec::new());
    let fault = walk(stream.fragments(), data.len() as u64 + 1, data, |fragment| {
        let error = fragment.check().err();
        if let Some(error) = &error {
            located_in(error, data);
        }
        errors.push(error.map(|error| error.kind()));
        describe(fragment, &mut said);
        Some(fragment.offset())
    });
    assert_eq!(fault, None);
    let (mut findings, mut errors_found) = (0, 0);
    stream
        .check(&mut |finding| {
            found(&finding);
            located_in(&finding.cause(), data);
            findings += 1;
            errors_found += usize::from(finding.severity() == Severity::Error);
        })
        .unwrap();
    assert_eq!(errors_found, errors.iter().flatten().count());
    (errors, said, findings)
}

fn describe(fragment: &Fragment<'_>, said: &mut Vec<String>) {
    let mut room = [0; 32];
    for member in fragment.members().take(1000) {
        match member {
            Ok((name, value)) => {
                let decoded = name.decode(&mut room).map(str::to_owned).map_err(|error| error.kind());
                if let Ok(decoded) = &decoded {
                    assert!(name == decoded.as_str() || decoded.contains('\u{fffd}'));
                }
                said.push(format!("{decoded:?} {}", value.len()));
            }
            Err(error) => said.push(format!("{:?}", error.kind())),
        }
    }
    said.push(format!("{:?}", fragment.preamble().map_err(|error| error.kind())));
    if let Ok(Some(clock)) = fragment.clock_class() {
        said.push(format!("{:?} {} {}", clock.frequency(), clock.offset_seconds(), clock.offset_cycles()));
    }
    if let Ok(Some(trace)) = fragment.trace_class() {
        for entry in trace.environment() {
            said.push(match entry {
                Ok((name, EnvironmentValue::Integer(value))) => format!("{name} {value}"),
                Ok((name, EnvironmentValue::String(value))) => format!("{name} {value}"),
                Ok((name, _)) => name.to_string(),
                Err(error) => format!("{:?}", error.kind()),
            });
        }
    }
}
