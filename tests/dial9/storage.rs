//! Storage that is too small.

use crate::common::dial9::sample;
use traceglass::dial9::element::{ANNOTATIONS, CLASS, SCHEMA, STACK_POOL, STRING_POOL};
use traceglass::dial9::{AnnotationSlot, ClassSlot, Frames, PoolSlot, SchemaSlot, Storage};
use traceglass::{Element, ErrorKind, Result};

/// How many slots there are of each kind.
#[derive(Clone, Copy)]
struct Sizes {
    schemas: usize,
    strings: usize,
    stacks: usize,
    annotations: usize,
    classes: usize,
}

fn count(data: &[u8], sizes: Sizes) -> Result<usize> {
    let mut schemas = vec![SchemaSlot::EMPTY; sizes.schemas];
    let mut strings = vec![PoolSlot::EMPTY; sizes.strings];
    let mut stacks = vec![PoolSlot::EMPTY; sizes.stacks];
    let mut annotations = vec![AnnotationSlot::EMPTY; sizes.annotations];
    let mut classes = vec![ClassSlot::EMPTY; sizes.classes];
    let (mut schemas, mut strings, mut stacks) = (&mut schemas[..], &mut strings[..], &mut stacks[..]);
    let (mut annotations, mut classes) = (&mut annotations[..], &mut classes[..]);
    let storage = Storage::new(&mut schemas)
        .strings(&mut strings)
        .stacks(&mut stacks)
        .annotations(&mut annotations)
        .classes(&mut classes);
    let mut frames = Frames::new(data, storage);
    let mut count = 0;
    let error = loop {
        match frames.next_frame() {
            Ok(Some(_)) => count += 1,
            Ok(None) => return Ok(count),
            Err(error) => break error,
        }
    };
    assert!(frames.next().is_none());
    Err(error)
}

/// Asking again with what the error says works, and with one less does not.
#[test]
fn each_room_that_is_too_small_says_how_much_is_needed() {
    let data = sample();
    let enough = Sizes { schemas: 2, strings: 2, stacks: 2, annotations: 1, classes: 4 };
    assert_eq!(count(&data, enough), Ok(17));
    type Field = fn(&mut Sizes) -> &mut usize;
    let cases: [(Field, usize, Element); 5] = [
        (|sizes| &mut sizes.schemas, 2, SCHEMA),
        (|sizes| &mut sizes.strings, 2, STRING_POOL),
        (|sizes| &mut sizes.stacks, 2, STACK_POOL),
        (|sizes| &mut sizes.annotations, 1, ANNOTATIONS),
        (|sizes| &mut sizes.classes, 4, CLASS),
    ];
    for (field, size, element) in cases {
        for capacity in 0..size {
            let mut sizes = enough;
            *field(&mut sizes) = capacity;
            let error = count(&data, sizes).unwrap_err();
            assert_eq!(error.element(), element);
            let ErrorKind::CapacityExceeded { capacity: said, needed } = error.kind() else {
                panic!("{error}");
            };
            assert_eq!(said, capacity as u64);
            // Until all batches fit: what an error says is enough for the batch it is in.
            let (mut needed, mut rounds) = (needed, 0);
            while let Err(error) = {
                *field(&mut sizes) = needed as usize;
                count(&data, sizes)
            } {
                let ErrorKind::CapacityExceeded { needed: more, .. } = error.kind() else {
                    panic!("{error}")
                };
                assert!(more > needed);
                (needed, rounds) = (more, rounds + 1);
            }
            assert!(rounds <= 2 && needed >= size as u64, "{element}: {needed}, {rounds}");
        }
    }
}
