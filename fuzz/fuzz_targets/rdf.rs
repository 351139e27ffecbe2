//! Any bytes as an RDF file, and the same bytes after a valid header.
#![no_main]

use libfuzzer_sys::fuzz_target;
use traceglass::Severity;
use traceglass::rdf::{File, Header, Index, NoDecoder};
use traceglass_fuzz::{found, lies_in, located};

fuzz_target!(|data: &[u8]| {
    read(data);
    // Most random headers are refused; one that is not leads further in.
    let mut file = Vec::from(*b"AMD_RDF \x03\0\0\0\0\0\0\0");
    file.extend(32_u64.to_le_bytes());
    file.extend((data.len() as u64 / 64 * 64).to_le_bytes());
    file.extend(data);
    read(&file);
});

fn read(data: &[u8]) {
    let (file, gap) = match File::recover(data) {
        Ok(opened) => opened,
        Err(error) => {
            located(&error);
            assert_eq!(File::parse(data).unwrap_err(), error);
            return;
        }
    };
    assert_eq!(File::parse(data).err(), gap.map(|gap| gap.cause()));
    assert!(gap.is_none_or(|gap| gap.end() <= data.len() as u64 || gap.len() == 0));
    assert!(file.index().len() <= data.len() / Index::ENTRY_SIZE);
    assert!(Header::parse(data).is_ok());
    let mut order = vec![0; file.index().len()];
    let sorted = file.sort(&mut order).unwrap();
    // With room for a table, lookups go by that.
    let mut storage = vec![0; file.index().len() * 5 + 2];
    let hashed = file.sort(&mut storage).unwrap();
    assert!(hashed.order().eq(sorted.order()));
    assert!(file.entries().rev().map(|entry| entry.number()).eq((0..file.index().len()).rev()));
    let mut errors = 0;
    for (number, entry) in file.entries().enumerate() {
        assert_eq!(entry.number(), number);
        let chunk = file.chunk_at(number).unwrap();
        for part in [chunk.header(), chunk.stored(), chunk.data(&mut [0; 256], &mut NoDecoder)] {
            match part {
                Ok(part) => lies_in(part, data),
                Err(error) => {
                    located(&error);
                    errors += 1;
                }
            }
        }
        if number < 64 {
            let id = entry.identifier();
            let n = file.entries().take(number).filter(|other| other.identifier() == id).count();
            assert_eq!(file.chunk(id, n).unwrap().entry().number(), number);
            assert_eq!(sorted.chunk(id, n).unwrap().entry().number(), number);
            assert_eq!(hashed.chunk(id, n).unwrap().entry().number(), number);
            let numbers: Vec<usize> = sorted.chunks(id).map(|chunk| chunk.entry().number()).collect();
            assert_eq!((numbers.len(), numbers[n]), (file.index().count(id), number));
            assert!(hashed.chunks(id).map(|chunk| chunk.entry().number()).eq(numbers));
        }
    }
    let mut reported = 0;
    file.check(&mut [0; 256], &mut NoDecoder, &mut |finding| {
        found(&finding);
        reported += u32::from(finding.severity() == Severity::Error);
    })
    .unwrap();
    assert_eq!(errors > 0, reported > 0);
    let mut storage = vec![0; file.index().len() * 2];
    file.overlaps(&mut storage, &mut |finding| found(&finding)).unwrap();
}
