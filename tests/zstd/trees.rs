//! Huffman trees that the reference does not write.

use crate::faults::{fault, frame};
use crate::{reference, stream};
use traceglass::ErrorKind;
use traceglass::zstd::{self, Workspace};

/// A block of literals alone, coded with this tree in one stream.
fn block(tree: &[u8], text: &[u8], code: impl Fn(u8) -> (u32, usize)) -> Vec<u8> {
    // Read from the end: first a mark, then the codes in order, most significant bit first.
    let mut bits = vec![true];
    for &symbol in text {
        let (code, len) = code(symbol);
        bits.extend((0..len).rev().map(|bit| code >> bit & 1 == 1));
    }
    let mut stream = vec![0_u8; bits.len().div_ceil(8)];
    for (place, _) in bits.iter().rev().enumerate().filter(|(_, bit)| **bit) {
        stream[place / 8] |= 1 << (place % 8);
    }
    let sizes = 2 | text.len() << 4 | (tree.len() + stream.len()) << 14; // compressed, one stream
    let mut block = sizes.to_le_bytes()[..3].to_vec();
    block.extend(tree);
    block.extend(&stream);
    block.push(0); // no sequences
    block
}

/// Whole, and as a stream, as the reference reads it.
fn decodes(input: &[u8], text: &[u8]) {
    assert_eq!(reference(input, text.len()).as_deref(), Some(text));
    let mut workspace = Workspace::new();
    let mut output = vec![0; text.len()];
    assert_eq!(zstd::decompress(input, &mut output, &mut workspace), Ok(text.len()));
    assert!(output == text);
    assert_eq!(stream(input, &mut workspace).as_deref(), Ok(text));
}

/// The deepest tree, of 12 bits, deeper than the RFC allows and read by the reference as well.
#[test]
fn the_deepest_tree_is_decoded() {
    // Of symbol 0 the code is 1, of 1 it is 01, … of 11 it is 0…00, and of the last one, which is not stated, 0…01.
    let code = |symbol: u8| match symbol {
        0..11 => (1_u32, usize::from(symbol) + 1),
        11 => (0, 12),
        _ => (1, 12),
    };
    let text: Vec<u8> = (0..200_u8).map(|n| n.wrapping_mul(7) % 13).collect();
    let mut tree = vec![127 + 12]; // 12 weights of 4 bits: 12, 11, … 1
    tree.extend((1..=6).map(|pair| ((14 - 2 * pair) << 4 | (13 - 2 * pair)) as u8));
    decodes(&frame(text.len() as u8, &[&block(&tree, &text, code)]), &text);
}

/// Weights may be coded with an accuracy of 6 bits, and with no more; the reference writes 5.
#[test]
fn weights_have_an_accuracy_of_6_bits_at_most() {
    let text: Vec<u8> = (0..60_u8).map(|n| n.wrapping_mul(7) % 3).collect();
    // The weights 1, 1 and, not stated, 2.
    let code = |symbol: u8| [(0, 2), (1, 2), (1, 1)][usize::from(symbol)];
    let tree = |accuracy: u16| {
        // Accuracy - 5; 32 + 1 of 66 values in 6 bits; 32 + 1 of 34 values in 6 bits, as the upper ones are written.
        let counts = (accuracy - 5) | 33 << 4 | 63 << 10;
        // A mark, and two states of 6 bits, both of them of symbol 1.
        [&[4][..], &counts.to_le_bytes(), &0x1fff_u16.to_le_bytes()].concat()
    };
    decodes(&frame(60, &[&block(&tree(6), &text, code)]), &text);
    let (_, element, kind) = fault(&frame(60, &[&block(&tree(7), &text, code)]));
    assert!(matches!(kind, ErrorKind::OverLimit { value: 7, limit: 6 }), "{element}: {kind}");
}

/// Four streams of two bytes that ought to hold 2,000 symbols each: the first one is read past the front of the input.
#[test]
fn a_stream_that_leads_out_of_the_input_is_located() {
    // A window of 1 MiB, and a block: 8,000 literals in 16 bytes, the weights 1 and 1, three sizes, four streams.
    let mut input = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x50];
    input.extend(&(21_u32 << 3 | 2 << 1 | 1).to_le_bytes()[..3]);
    input.extend((2 | 2 << 2 | 8000 << 4 | 16_u32 << 18).to_le_bytes());
    input.extend([129, 0x11, 2, 0, 2, 0, 2, 0]);
    input.extend([0xff, 1].repeat(4));
    input.push(0); // no sequences
    let mut workspace = Workspace::new();
    let error = zstd::decompress(&input, &mut [0; 10_000], &mut workspace).unwrap_err();
    let expected = (21, "zstd Huffman stream", ErrorKind::BadBitStream);
    assert_eq!((error.offset(), error.element().name(), error.kind()), expected);
}
