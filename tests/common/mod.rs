//! Builders of test data and what several test suites share. Plain `std`, so that examples, benches and fuzz targets
//! can include a builder by its path.
#![allow(dead_code)] // Each suite uses a part.

pub mod ctf;
pub mod dial9;
pub mod random;
pub mod rdf;
pub mod rdf_contents;
pub mod rfr;
pub mod rtc;
pub mod told;

/// Every prefix of `data`, the empty one and the whole included.
pub fn prefixes(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    (0..=data.len()).map(|len| &data[..len])
}

/// Calls `f` with `data` at each of the 8 alignments.
pub fn at_alignments(data: &[u8], mut f: impl FnMut(&[u8])) {
    let mut room = vec![0_u8; data.len() + 16];
    let start = room.as_ptr().align_offset(8);
    for shift in 0..8 {
        let place = &mut room[start + shift..][..data.len()];
        place.copy_from_slice(data);
        f(place);
    }
}

/// Calls `f` with `data` after each change of a single byte to 0, 1, 0x7f, 0x80, 0xff and its neighbours.
pub fn mutations(data: &[u8], mut f: impl FnMut(usize, &[u8])) {
    let mut mutant = data.to_vec();
    for place in 0..data.len() {
        let old = data[place];
        for new in [0, 1, 0x7f, 0x80, 0xff, old.wrapping_add(1), old.wrapping_sub(1), old ^ 0x80] {
            mutant[place] = new;
            f(place, &mutant);
        }
        mutant[place] = old;
    }
}

/// True if `part` lies in the memory of `whole`.
pub fn lies_in(part: &[u8], whole: &[u8]) -> bool {
    let (part, whole) = (part.as_ptr_range(), whole.as_ptr_range());
    part.is_empty() || (whole.start <= part.start && part.end <= whole.end)
}
