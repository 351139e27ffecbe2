//! Any bytes as a streaming file, and after a valid identifier.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceglass::Severity;
use traceglass::rfr::{RecordData, StreamData, Streaming};
use traceglass_fuzz::{found, lies_in, located_in, walk};

fuzz_target!(|data: &[u8]| {
    read(data);
    let mut file = Vec::from(*b"\x0brfr-s/0.0.2");
    file.extend(data);
    read(&file);
});

fn read(data: &[u8]) {
    let stream = match Streaming::parse(data) {
        Ok(stream) => stream,
        Err(error) => return located_in(&error, data),
    };
    let mut late = false;
    walk(stream.fields(), data.len() as u64, data, |field| Some(field.offset()));
    let damage = walk(stream.records(), data.len() as u64, data, |record| {
        late |= record.unix_micros().is_err();
        match record.data() {
            StreamData::Callsite(callsite) => lies_in(callsite.name().unwrap_or_default().as_bytes(), data),
            StreamData::Task(task) => lies_in(task.name().as_bytes(), data),
            StreamData::Span(span) => assert_eq!(span.dynamic_fields().len(), span.dynamic_fields().count()),
            StreamData::Record(RecordData::Event(event)) => {
                assert_eq!(event.dynamic_fields().len(), event.dynamic_fields().count());
            }
            _ => {}
        }
        Some(record.offset())
    });
    let mut errors = 0;
    stream
        .check(&mut |finding| {
            found(&finding);
            errors += u32::from(finding.severity() == Severity::Error);
        })
        .unwrap();
    assert!(errors > 0 || (damage.is_none() && !late));
    let mut records = stream.records();
    for step in 0.. {
        assert!(step <= data.len());
        match records.next() {
            Some(Ok(_)) => {}
            Some(Err(_)) if records.recover().is_some() => {}
            _ => break,
        }
    }
}
