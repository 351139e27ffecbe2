//! The entries of `traceglass::rfr`.

use crate::sum::Sum;
use traceglass::record::Record as _;
use traceglass::rfr::{
    CallsiteTable, Callsites, Chunk, Directory, DirectoryEntry, FormatIdentifier, Item, Merge, MergeSlot,
    Meta, NameSlot, Names, NewChunk, NewSequence, RegistrySlot, Site, StreamData, Streaming, write_count,
};

entries! {
    rfr_identifier(data) { FormatIdentifier::parse(data).map_or(1, |id| u64::from(id.version().2)) }
    rfr_meta(data) {
        let Ok(meta) = Meta::parse(data) else { return 1 };
        meta.created().unwrap_or(0) ^ meta.formats().filter(|format| format.is_ok()).count() as u64
    }
    rfr_callsites(data) {
        let Ok(callsites) = Callsites::parse(data) else { return 1 };
        let mut sum = callsites.offset();
        for callsite in callsites {
            let Ok(callsite) = callsite else { continue };
            sum ^= callsite.id() ^ callsite.line().unwrap_or(0) ^ callsite.name().map_or(0, str::len) as u64;
            sum ^= callsite.split_field_names().into_iter().count() as u64;
        }
        sum
    }
    rfr_write(data) {
        let Ok(chunk) = Chunk::parse(data) else { return 1 };
        let mut put = |bytes: &[u8]| if bytes.len() == 7 { Err(()) } else { Ok(()) };
        let header = chunk.header();
        let mut sum = u64::from(NewChunk::like(&header).sequences(3).spans(Some((1, 2))).write(&mut put).is_ok());
        for sequence in chunk.sequences() {
            let Ok(sequence) = sequence else { continue };
            let new = NewSequence::like(&sequence.header(), &header, 7).spans(None);
            sum ^= u64::from(new.write(&mut put).is_ok()) ^ u64::from(write_count(7, &mut put).is_ok());
        }
        sum
    }
    rfr_items(data) {
        let Ok(chunk) = Chunk::parse(data) else { return 1 };
        let mut sum = chunk.header().unix_micros(7).unwrap_or(0);
        for item in chunk.items() {
            sum ^= match item {
                Ok(Item::Object(object)) => object.iid(),
                Ok(Item::Record(record)) => record.micros() ^ record.data().iid().unwrap_or(0),
                Ok(_) => 1,
                Err(error) => error.offset(),
            };
        }
        sum
    }
    rfr_fields(data) {
        let fields = match Chunk::parse(data) {
            Ok(chunk) => chunk.fields(),
            Err(_) => match Streaming::parse(data) {
                Ok(stream) => stream.fields(),
                Err(_) => return 1,
            },
        };
        let mut sum = fields.offset();
        for field in fields {
            sum ^= field.map_or_else(|error| error.offset(), |field| field.size());
        }
        sum
    }
    rfr_sequences(data) {
        let Ok(chunk) = Chunk::parse(data) else { return 1 };
        let mut sum = 0;
        for sequence in chunk.sequences() {
            let Ok(sequence) = sequence else { return 2 };
            for object in sequence.objects() {
                sum ^= object.map_or(0, |object| object.callsite_id());
            }
            let Ok(mut records) = sequence.records() else { continue };
            sum ^= u64::from(records.skip_record().is_ok());
            for record in records {
                sum ^= record.map_or(0, |record| record.micros());
            }
        }
        sum
    }
    rfr_streaming(data) {
        let Ok(stream) = Streaming::parse(data) else { return 1 };
        let mut sum = 0;
        for record in stream.records() {
            let Ok(record) = record else { continue };
            sum ^= record.unix_micros().unwrap_or(0) ^ u64::from(matches!(record.data(), StreamData::End));
        }
        for record in stream.records_from(sum) {
            sum ^= record.map_or(0, |record| record.unix_micros().unwrap_or(0));
        }
        sum
    }
    rfr_check(data) {
        let mut found = 0;
        if let Ok(chunk) = Chunk::parse(data) {
            let checked = chunk.check(&mut |finding| found ^= finding.cause().offset());
            found ^= checked.map_or(1, |summary| summary.errors());
        }
        if let Ok(callsites) = Callsites::parse(data) {
            let checked = callsites.check(&mut |finding| found ^= finding.cause().offset());
            found ^= checked.map_or(1, |summary| summary.errors());
        }
        if let Ok(stream) = Streaming::parse(data) {
            let checked = stream.check(&mut |finding| found ^= finding.cause().offset());
            found ^= checked.map_or(1, |summary| summary.errors());
        }
        found
    }
    rfr_directory(data) {
        let Ok(chunk) = Chunk::parse(data) else { return 1 };
        let mut storage = [DirectoryEntry::EMPTY; 8];
        let Ok(directory) = Directory::build(&chunk, &mut storage) else { return 2 };
        directory.sequence(1).map_or(0, |sequence| sequence.seq_id()) ^ directory.entries().len() as u64
    }
    rfr_merge(data) {
        let Ok(chunk) = Chunk::parse(data) else { return 1 };
        let mut slots = [const { MergeSlot::EMPTY }; 8];
        let mut merge = Merge::new(&mut slots);
        for sequence in chunk.sequences() {
            let Ok(sequence) = sequence else { break };
            let Ok(records) = sequence.records() else { break };
            let _ = merge.add(&chunk.header(), records);
        }
        let mut sum = 0;
        while let Ok(Some(merged)) = merge.next_record() {
            sum ^= merged.record().micros();
        }
        sum
    }
    rfr_names(data) {
        let mut storage = [Site::EMPTY; 16];
        if let Ok(callsites) = Callsites::parse(data) {
            let table = CallsiteTable::build(&callsites, &mut storage);
            return table.ok().and_then(|table| table.get(7)).map_or(0, |callsite| callsite.id());
        }
        let mut names = Names::new([RegistrySlot::EMPTY; 8], [NameSlot::EMPTY; 8]);
        let mut lines = Sum(0);
        if let Ok(stream) = Streaming::parse(data) {
            for record in stream.records() {
                let Ok(record) = record else { continue };
                let _ = names.follow_stream(&record);
                let _ = names.stream_record(&record, record.offset()).tell(&mut lines);
            }
            return lines.0;
        }
        let Ok(chunk) = Chunk::parse(data) else { return 1 };
        for item in chunk.items() {
            match item {
                Ok(Item::Object(object)) => {
                    let _ = names.meet(&object);
                    let _ = names.object(&object, Some(7)).tell(&mut lines);
                }
                Ok(Item::Record(record)) => {
                    names.follow(&record.data());
                    let _ = names.record(&record, &chunk.header(), Some(7), record.offset()).tell(&mut lines);
                }
                _ => names.clear(),
            }
        }
        lines.0
    }
}
