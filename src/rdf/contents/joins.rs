//! Answers that take several chunks.

mod code;
mod fault;
mod in_flight;
mod queues;

pub use code::{CodeFact, CodeUse, CodeUses, join_code};
pub use fault::{AddressHistory, Allocation, Holder, explain_address};
pub use in_flight::{BufferMarkers, OpenMarker, SeenMarker, buffer_states};
pub use queues::{QueueTime, queue_times};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rdf::contents::rmt::{Stream, tests::random};
    use crate::rdf::contents::{Content, LoadEvents, PipelineHash};
    use crate::work;
    use std::vec;
    use std::vec::Vec;

    /// The steps that are allowed for so many items, of which each may be looked for among as many.
    fn allowed(each: usize, items: usize) -> u64 {
        let halvings = items.checked_ilog2().map_or(0, |log| log as usize + 1);
        (each * items * (halvings + 1)) as u64
    }

    fn token(data: &mut Vec<u8>, len: usize, bits: u128) {
        data.extend_from_slice(&bits.to_le_bytes()[..len.min(16)]);
        data.resize(data.len() + len.saturating_sub(16), 0);
    }

    /// A resource gets memory at the address with each token but the second ones, which name one or destroy one.
    #[test]
    fn explaining_an_address_is_no_more_than_n_log_n() {
        let mut random = random();
        for (count, resources) in [(100, 1), (1_000, 1), (1_000, 1_000), (20_000, 7), (20_000, 20_000)] {
            let mut data = Vec::new();
            token(&mut data, 12, 0);
            for _ in 0..count {
                let resource = u128::from(random() % resources);
                token(&mut data, 18, 13 | resource << 8 | 1 << 48);
                token(&mut data, 17, 7 | 0x1000 << 8 | 0x2000 << 56 | resource << 104);
                match random() % 3 {
                    0 => token(&mut data, 5, 15 | resource << 8),
                    1 => token(&mut data, 12, 4 | 4 << 8 | 8 << 12 | resource << 32 | resource << 64),
                    _ => token(&mut data, 12, 4 | 8 << 12 | 0x61 << 32 | resource << 64),
                }
            }
            let stream = Stream::from_parts(1, 1, (1, 9), &data);
            let mut storage = vec![Holder::EMPTY; count];
            let steps = work::of(|| {
                let history = explain_address(0x1000, u64::MAX, stream, [stream], &mut storage).unwrap();
                assert_eq!(history.holders().len(), count);
            });
            assert!(steps <= allowed(12, 3 * count), "{steps} steps for {count}, {resources} resources");
            assert!(steps >= 9 * count as u64, "{steps} steps for {count}: nothing was counted");
        }
    }

    /// Markers that are never ended, that end in the order in which they began, and that end nothing.
    #[test]
    fn markers_are_found_in_steps_as_many_as_events() {
        for (count, ends) in [(100_u32, 1_u32), (10_000, 1), (10_000, 2), (10_000, 64), (50_000, 7)] {
            let event = |id: u8, size: u8, marker: u32| {
                let mut event = vec![id, 0, size, 0, 5, 0, 0, 0];
                event.extend(marker.to_le_bytes());
                event.resize(4 + usize::from(size), 0);
                event
            };
            let mut header = [&[0; 4][..], &[0; 4], &0x5043_4145_u32.to_le_bytes(), &[32, 0, 0, 0]].concat();
            header.extend([[0; 8], 1_000_u64.to_le_bytes()].concat());
            let mut data = [&[0, 0, 1, 0][..], &header].concat();
            let mut number = 0;
            for n in 0..count {
                number += 1;
                data.extend(event(16, 10, number));
                if n % ends == 0 {
                    data.extend(event(17, 8, number / 2 + 1));
                }
            }
            // The last marker that was begun, and the last that was ended.
            let state =
                [&[18, 0, 12, 0, 5, 0, 0, 0][..], &number.to_le_bytes(), &(number / 2 + 1).to_le_bytes()];
            data.extend(state.concat());
            let id = "DDEvent".try_into().unwrap();
            let Content::DriverEvents(events) = Content::parse(id, 1, &header, &data).unwrap() else {
                panic!()
            };
            let state = buffer_states(events).next().unwrap();
            let mut storage = vec![OpenMarker::EMPTY; count as usize];
            let steps = work::of(|| assert!(BufferMarkers::find(events, state, &mut storage).is_ok()));
            let all = u64::from(count + count.div_ceil(ends) + 1);
            assert!(steps <= all * (2 + 2 * 64), "{steps} steps for {all} events");
            assert!(steps > all, "{steps} steps for {all} events: nothing was counted");
        }
    }

    /// Hashes that ascend, descend, are all one, and are any.
    #[test]
    fn code_is_joined_in_n_log_n() {
        let mut random = random();
        let count = 20_000_u64;
        let mut hashes: [&mut dyn FnMut(u64) -> u64; 4] =
            [&mut |n| n, &mut |n| count - n, &mut |_| 7, &mut |_| random()];
        for hash in &mut hashes {
            let mut data = Vec::new();
            for n in 0..count {
                let at = data.len();
                data.extend(n.to_le_bytes());
                data.extend(hash(n).to_le_bytes());
                data.resize(at + 88, 0);
            }
            let id = "PsoCorrelation".try_into().unwrap();
            let Content::PipelineHashes(pipelines) = Content::parse(id, 1, &[], &data).unwrap() else {
                panic!()
            };
            let pipelines: Vec<PipelineHash<'_>> = pipelines.pipelines().map(|(_, hash)| hash).collect();
            let mut storage = vec![CodeFact::EMPTY; count as usize];
            let steps = work::of(|| {
                let loads = None::<LoadEvents<'_>>.into_iter().flat_map(|loads| loads.events());
                assert!(join_code([], pipelines.iter().copied(), loads, &mut storage).is_ok());
            });
            assert!(steps <= allowed(6, count as usize), "{steps} steps for {count}");
            assert!(steps > count, "{steps} steps for {count}: nothing was counted");
        }
    }
}
