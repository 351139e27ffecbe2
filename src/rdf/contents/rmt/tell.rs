//! The records of tokens: names, fields, hints and values, in one table.

use super::tokens::Token;
use super::value::{ResourceDetail, TokenValue, UserData};
use super::{
    AllocationHeap, Commit, MiscEvent, Owner, PageSize, PageUpdate, ProcessChange, ResourceType, TokenKind,
    UserDataKind,
};
use crate::bytes::to_u64;
use crate::error::Result;
use crate::rdf::contents::tell::{Classes, List, record};
use crate::rdf::contents::{FixedText, Hash128, ticks_to_ns};
use crate::record::{Any, Class, ClassId, Head, Listener, Record, Time};
use core::num::NonZeroU64;

/// A token as a record: with what its stream says of it.
#[derive(Clone, Copy, Debug)]
pub struct TokenRecord<'a> {
    token: Token<'a>,
    stream: u32,
    hz: Option<NonZeroU64>,
    base: u64,
}

impl<'a> TokenRecord<'a> {
    /// The record of a token of the stream with this number, whose clock has the rate `hz`; 0 if that is not known.
    pub const fn new(token: Token<'a>, stream: u32, hz: u64) -> Self {
        Self { token, stream, hz: NonZeroU64::new(hz), base: 0 }
    }

    /// The same, in a source where its tokens begin at `base`.
    #[must_use]
    pub const fn at(self, base: u64) -> Self {
        Self { base, ..self }
    }

    /// The token.
    pub const fn token(&self) -> Token<'a> {
        self.token
    }

    /// Offset in its source.
    pub const fn offset(&self) -> u64 {
        self.base.saturating_add(self.token.offset())
    }

    /// Nanoseconds on the CPU's clock, if its rate is known.
    pub fn ns(&self) -> Option<i128> {
        ticks_to_ns(self.token.ticks()?, self.hz?.get())
    }

    /// Calls `each` with the classes of tokens that tell more than the time, some of them more than once: the columns of a
    /// table before its first row.
    pub fn each_class(each: &mut dyn FnMut(&dyn Class)) {
        let mut classes = Classes(each);
        for kind in 0..16_u8 {
            // Of two kinds, a number in the token says which fields it has.
            let (at, last) = match TokenKind::from_stored(kind) {
                TokenKind::Timestamp | TokenKind::TimeDelta | TokenKind::Reserved => continue,
                TokenKind::UserData => (1, 7),
                TokenKind::ResourceCreate => (6, 17),
                _ => (1, 0),
            };
            for number in 0..=last {
                let mut bytes = [0; 40];
                for (place, value) in [(0, kind), (at, number)] {
                    if let Some(byte) = bytes.get_mut(place) {
                        *byte = value;
                    }
                }
                TokenRecord::new(Token::alone(&bytes), 0, 0).tell_all(&mut Any(&mut classes));
            }
        }
    }
}

impl Record for TokenRecord<'_> {
    #[inline]
    fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        self.tell_all(&mut Any(to));
        Ok(())
    }
}

/// The name of a kind.
const fn named(kind: TokenKind) -> &'static str {
    match kind.name() {
        Some(name) => name,
        None => "token",
    }
}

impl TokenRecord<'_> {
    fn tell_all(&self, to: &mut Any<'_>) {
        let token = &self.token;
        let head = Head {
            class: ClassId(0),
            time: self.ns().map(Time::since_origin),
            offset: self.offset(),
            bit: 0,
            len: Some(to_u64(token.bytes().len())),
        };
        macro_rules! token {
            ($id:literal $kind:ident { $($rows:tt)* }) => {
                record!(to, head, $id, named(TokenKind::$kind), true, {
                    stream: u32 = self.stream;
                    ticks: Option<u64> [Ticks] = token.ticks();
                    $($rows)*
                })
            };
        }
        match token.value() {
            TokenValue::Timestamp { hz } => token!(0 Timestamp { hz: u32 [None "Hz"] = hz; }),
            TokenValue::ResourceUpdate { resource, subresource, resource_type, before, after } => {
                token!(1 ResourceUpdate {
                    resource: u32 = resource;
                    subresource: u32 = subresource;
                    resource_type: ResourceType = resource_type;
                    before: u16 [Hexadecimal] = before;
                    after: u16 [Hexadecimal] = after;
                })
            }
            TokenValue::Reserved => token!(2 Reserved {}),
            TokenValue::PageTableUpdate {
                address,
                physical,
                pages,
                page_size,
                is_unmap,
                process,
                update,
                controller,
            } => token!(3 PageTableUpdate {
                address: u64 [Address] = address;
                physical: u64 [Address] = physical;
                pages: u32 = pages;
                page_size: PageSize = page_size;
                is_unmap: bool = is_unmap;
                process: u32 = process;
                update: PageUpdate = update;
                controller: u8 = controller;
            }),
            TokenValue::UserData(data) => self.tell_data(data, head, to),
            TokenValue::Misc(event) => token!(5 Misc { event: MiscEvent = event; }),
            TokenValue::ResourceReference { is_evict, address, queue } => token!(6 ResourceReference {
                is_evict: bool = is_evict;
                address: u64 [Address] = address;
                queue: u8 = queue;
            }),
            TokenValue::ResourceBind { address, size, is_system_memory, resource } => {
                token!(7 ResourceBind {
                    address: u64 [Address] = address;
                    size: u64 [None "B"] = size;
                    is_system_memory: bool = is_system_memory;
                    resource: u32 = resource;
                })
            }
            TokenValue::ProcessEvent { process, change } => token!(8 ProcessEvent {
                process: u32 = process;
                change: ProcessChange = change;
            }),
            TokenValue::PageReference { page_size, is_compressed, state } => token!(9 PageReference {
                page_size: PageSize = page_size;
                is_compressed: bool = is_compressed;
                state: u64 [Address] = state;
            }),
            TokenValue::CpuMap { address, is_unmap } => token!(10 CpuMap {
                address: u64 [Address] = address;
                is_unmap: bool = is_unmap;
            }),
            TokenValue::VirtualFree { address } => {
                token!(11 VirtualFree { address: u64 [Address] = address; })
            }
            TokenValue::VirtualAllocate { size, owner, address, heaps, heap_count, is_external } => {
                token!(12 VirtualAllocate {
                    address: u64 [Address] = address;
                    size: u64 [None "B"] = size;
                    owner: Owner = owner;
                    heaps: List<'_, AllocationHeap, AllocationHeap> = List::new(&heaps);
                    heap_count: u8 = heap_count;
                    is_external: bool = is_external;
                })
            }
            TokenValue::ResourceCreate { resource, owner, category, commit, resource_type, detail } => {
                macro_rules! create {
                    ($id:literal { $($rows:tt)* }) => {
                        token!($id ResourceCreate {
                            resource: u32 = resource;
                            resource_type: ResourceType = resource_type;
                            owner: Owner = owner;
                            category: u8 = category;
                            commit: Commit = commit;
                            $($rows)*
                        })
                    };
                }
                match detail {
                    ResourceDetail::None => create!(13 {}),
                    ResourceDetail::Image(image) => create!(16 {
                        dimensions: [u16; 3] = image.size;
                        format: u8 = image.format;
                        mips: u8 = image.mips;
                        slices: u16 = image.slices;
                        size: u64 [None "B"] = image.bytes;
                    }),
                    ResourceDetail::Buffer { create_flags, usage_flags, size } => create!(17 {
                        create_flags: u8 [Hexadecimal] = create_flags;
                        usage_flags: u16 [Hexadecimal] = usage_flags;
                        size: u64 [None "B"] = size;
                    }),
                    ResourceDetail::Heap { flags, size, align, segment } => create!(18 {
                        flags: u8 [Hexadecimal] = flags;
                        size: u64 [None "B"] = size;
                        align: u8 = align;
                        segment: u8 = segment;
                    }),
                    ResourceDetail::Pipeline { create_flags, hash, stages, is_ngg } => create!(19 {
                        create_flags: u8 [Hexadecimal] = create_flags;
                        hash: Hash128 = hash;
                        stages: u8 [Hexadecimal] = stages;
                        is_ngg: bool = is_ngg;
                    }),
                    ResourceDetail::DescriptorHeap {
                        descriptor_type,
                        is_shader_visible,
                        gpu_mask,
                        descriptors,
                    } => create!(20 {
                        descriptor_type: u8 = descriptor_type;
                        is_shader_visible: bool = is_shader_visible;
                        gpu_mask: u8 [Hexadecimal] = gpu_mask;
                        descriptors: u16 = descriptors;
                    }),
                    ResourceDetail::DescriptorPool { max_sets, pools } => create!(21 {
                        max_sets: u16 = max_sets;
                        pools: u8 = pools;
                    }),
                    ResourceDetail::Internal { kind } => create!(22 { internal_kind: u8 = kind; }),
                }
            }
            TokenValue::TimeDelta { units } => token!(14 TimeDelta { units: u64 = units; }),
            TokenValue::ResourceDestroy { resource } => {
                token!(15 ResourceDestroy { resource: u32 = resource; })
            }
        }
    }

    fn tell_data(&self, data: UserData<'_>, head: Head, to: &mut Any<'_>) {
        let token = &self.token;
        macro_rules! data {
            ($id:literal { $($rows:tt)* }) => {
                record!(to, head, $id, named(TokenKind::UserData), true, {
                    stream: u32 = self.stream;
                    ticks: Option<u64> [Ticks] = token.ticks();
                    data: UserDataKind = data.kind();
                    $($rows)*
                })
            };
        }
        match (data.name(), data.correlation(), data.snapshot(), data.implicit(), data.lag()) {
            (Some((name, id)), .., None) => {
                data!(23 { name: FixedText<'_> = name; id: u32 = id; });
            }
            (Some((name, id)), .., lag) => {
                data!(24 { name: FixedText<'_> = name; id: u32 = id; lag_ticks: Option<u64> [Ticks] = lag; });
            }
            (_, Some((resource, id)), ..) => data!(25 { resource: u32 = resource; id: u32 = id; }),
            (_, _, Some(name), ..) => data!(26 { name: FixedText<'_> = name; }),
            (_, _, _, Some(resource), None) => data!(27 { resource: u32 = resource; }),
            (_, _, _, Some(resource), lag) => data!(28 {
                resource: u32 = resource;
                lag_ticks: Option<u64> [Ticks] = lag;
                heap_type: Option<u8> = data.heap_type();
            }),
            _ => data!(4 { bytes: &[u8] = data.payload(); }),
        }
    }
}
