//! The messages that have been reported already, by whichever thread.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Numbers of tracks and tasks that have a row: each gets one only, however many pieces it is found in.
#[derive(Debug, Default)]
pub struct Seen {
    tracks: Mutex<HashSet<u64>>,
    tasks: Mutex<HashSet<u64>>,
}

impl Seen {
    pub(crate) fn is_new_track(&self, id: u64) -> bool {
        self.tracks.lock().unwrap_or_else(PoisonError::into_inner).insert(id)
    }

    pub(crate) fn is_new_task(&self, id: u64) -> bool {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).insert(id)
    }
}

/// A number made of bytes: FNV-1a, and its bits mixed. The first bit is 0, so that engines without unsigned integers
/// can take it.
#[derive(Clone, Copy)]
pub(crate) struct Number(u64);

impl Number {
    pub(crate) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn bytes(self, bytes: &[u8]) -> Self {
        // 0xff ends the bytes, so that the next ones are a part of their own.
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Self(bytes.iter().chain(&[0xff]).fold(self.0, step))
    }

    pub(crate) fn id(self, id: u64) -> Self {
        self.bytes(&id.to_le_bytes())
    }

    pub(crate) const fn finish(self) -> u64 {
        let id = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let id = (id ^ (id >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (id ^ (id >> 31)) >> 1
    }
}
