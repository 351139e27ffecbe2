//! Lines of what lasted, each below what it lies in.

use std::collections::HashMap;

/// Lines that come in the order in which what they are about ends, put below those that they lie in.
#[derive(Default)]
pub struct Tree {
    tracks: HashMap<u64, Track>,
    /// The number of tracks that have been met.
    met: usize,
}

/// The lines of one outermost slice, as far as its slices have ended.
#[derive(Default)]
struct Track {
    number: usize,
    /// The depth of each slice, and its line; `None` if it is not wanted.
    ended: Vec<(usize, Option<Vec<u8>>)>,
    /// The same of those that do not end.
    open: Vec<(usize, Option<Vec<u8>>)>,
}

impl Tree {
    /// Takes a line, and gives out those of an outermost slice that has ended.
    pub fn take<E>(
        &mut self,
        track: u64,
        depth: usize,
        is_open: bool,
        line: Option<Vec<u8>>,
        to: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let met = &mut self.met;
        let track = self.tracks.entry(track).or_insert_with(|| {
            *met = met.saturating_add(1);
            Track { number: *met, ..Track::default() }
        });
        if is_open {
            track.open.push((depth, line));
            return Ok(());
        }
        track.ended.push((depth, line));
        if depth > 0 {
            return Ok(());
        }
        let ended = std::mem::take(&mut track.ended);
        print(ended, to)
    }

    /// Gives out what has not ended, by track.
    pub fn finish<E>(self, to: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut tracks: Vec<Track> = self.tracks.into_values().collect();
        tracks.sort_by_key(|track| track.number);
        for Track { mut ended, mut open, .. } in tracks {
            // As if the innermost ended first.
            open.sort_by_key(|(depth, _)| std::cmp::Reverse(*depth));
            ended.append(&mut open);
            print(ended, to)?;
        }
        Ok(())
    }
}

/// Prints lines that came innermost first: each place is found from the end on, once for each line.
fn print<E>(
    lines: Vec<(usize, Option<Vec<u8>>)>,
    to: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    // The number of lines from each one's first inner one to itself.
    let mut sizes = Vec::with_capacity(lines.len());
    let mut pending: Vec<(usize, usize)> = Vec::new();
    for (depth, _) in &lines {
        let mut size = 1_usize;
        while let Some((_, inner)) = pending.pop_if(|(inner, _)| *inner > *depth) {
            size = size.saturating_add(inner);
        }
        pending.push((*depth, size));
        sizes.push(size);
    }
    let count = lines.len();
    let mut ordered: Vec<Option<Vec<u8>>> = Vec::new();
    ordered.resize_with(count, || None);
    // The lines around a line: the depth of each, and the end of the next one in it.
    let mut around: Vec<(usize, usize)> = Vec::new();
    let mut rest = count;
    for ((depth, line), size) in lines.into_iter().zip(sizes).rev() {
        while around.pop_if(|(outer, _)| *outer >= depth).is_some() {}
        let end = around.last_mut().map_or(&mut rest, |(_, end)| end);
        let start = end.saturating_sub(size);
        let inner_end = std::mem::replace(end, start);
        around.push((depth, inner_end));
        if let Some(place) = ordered.get_mut(start) {
            *place = line;
        }
    }
    ordered.iter().flatten().try_for_each(|line| to(line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::convert::Infallible;

    /// Random nests on three tracks, against the order in which all began on each track.
    #[test]
    fn each_line_follows_what_it_lies_in() {
        let mut random = Random(0x5eed_0042);
        let mut next = |most: u64| random.next() % most;
        let mut total = 0;
        for round in 0..300 {
            let mut tree = Tree::default();
            let (mut open, mut begun) = (vec![Vec::new(); 3], vec![Vec::new(); 3]);
            let mut printed: Vec<Vec<u8>> = Vec::new();
            let mut take = |line: &[u8]| -> Result<(), Infallible> {
                printed.push(line.to_vec());
                Ok(())
            };
            let mut number = 0_u32;
            for _ in 0..next(120) {
                let track = usize::try_from(next(3)).unwrap();
                if next(2) == 0 {
                    // One in five is not wanted.
                    let line = (next(5) > 0).then(|| format!("{track} {number}").into_bytes());
                    number += 1;
                    begun[track].extend(line.clone());
                    open[track].push(line);
                } else if let Some(line) = open[track].pop() {
                    let depth = open[track].len();
                    let Ok(()) = tree.take(track as u64, depth, false, line, &mut take);
                }
            }
            for (track, open) in open.into_iter().enumerate() {
                for (depth, line) in open.into_iter().enumerate() {
                    let Ok(()) = tree.take(track as u64, depth, true, line, &mut take);
                }
            }
            let Ok(()) = tree.finish(&mut take);
            for (track, expected) in begun.iter().enumerate() {
                let of = |line: &&Vec<u8>| line.starts_with(format!("{track} ").as_bytes());
                let found: Vec<_> = printed.iter().filter(of).collect();
                assert_eq!(found, expected.iter().collect::<Vec<_>>(), "round {round}");
                total += found.len();
            }
        }
        assert!(total > 3_000, "{total}");
    }
}
