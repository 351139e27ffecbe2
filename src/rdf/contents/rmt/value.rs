//! What a token says.

use super::{
    AllocationHeap, Commit, MiscEvent, Owner, PageSize, PageUpdate, ProcessChange, ResourceType, TokenKind,
    UserDataKind,
};
use crate::rdf::contents::{FixedText, Hash128};

/// The `len` bits of `bytes` from bit `low`, as a little-endian integer; bits that are missing are 0.
#[inline]
fn bits(bytes: &[u8], low: u32, len: u32) -> u64 {
    let start = usize::try_from(low >> 3).unwrap_or(usize::MAX);
    let window = bytes.get(start..).unwrap_or_default();
    let wide = match window.first_chunk::<16>() {
        Some(chunk) => u128::from_le_bytes(*chunk),
        None => window.iter().rev().fold(0, |value, &byte| value << 8 | u128::from(byte)),
    };
    let mask = 1_u128.wrapping_shl(len).wrapping_sub(1);
    let [a, b, c, d, e, f, g, h, ..] = (wide.wrapping_shr(low & 7) & mask).to_le_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

/// At most 32 bits.
fn bits32(bytes: &[u8], low: u32, len: u32) -> u32 {
    u32::try_from(bits(bytes, low, len.min(32))).unwrap_or(0)
}

/// At most 16 bits.
fn bits16(bytes: &[u8], low: u32, len: u32) -> u16 {
    u16::try_from(bits(bytes, low, len.min(16))).unwrap_or(0)
}

/// At most 8 bits.
fn bits8(bytes: &[u8], low: u32, len: u32) -> u8 {
    u8::try_from(bits(bytes, low, len.min(8))).unwrap_or(0)
}

fn bit(bytes: &[u8], low: u32) -> bool {
    bits(bytes, low, 1) == 1
}

/// What a [`Token`](super::Token) says. Addresses and sizes are in bytes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum TokenValue<'a> {
    /// The time, from here on.
    Timestamp {
        /// Rate of the clock in Hz.
        hz: u32,
    },
    /// The use of a resource changes.
    #[non_exhaustive]
    ResourceUpdate {
        /// The resource.
        resource: u32,
        /// Which part of it; all bits set for all.
        subresource: u32,
        /// What it is.
        resource_type: ResourceType,
        /// Use before.
        before: u16,
        /// Use after.
        after: u16,
    },
    /// Pages are mapped or unmapped.
    #[non_exhaustive]
    PageTableUpdate {
        /// Virtual address of the first page.
        address: u64,
        /// Physical address; 0 in system memory.
        physical: u64,
        /// Number of pages.
        pages: u32,
        /// Size of a page.
        page_size: PageSize,
        /// True if they are unmapped.
        is_unmap: bool,
        /// The process.
        process: u32,
        /// What happened.
        update: PageUpdate,
        /// 0 the operating system, 1 the kernel driver.
        controller: u8,
    },
    /// Bytes of several kinds.
    UserData(UserData<'a>),
    /// An event without further facts.
    Misc(MiscEvent),
    /// A resource is made resident or evicted.
    #[non_exhaustive]
    ResourceReference {
        /// True if it is evicted.
        is_evict: bool,
        /// Virtual address.
        address: u64,
        /// The queue.
        queue: u8,
    },
    /// A resource gets memory.
    #[non_exhaustive]
    ResourceBind {
        /// Virtual address.
        address: u64,
        /// Size.
        size: u64,
        /// True if it is system memory.
        is_system_memory: bool,
        /// The resource.
        resource: u32,
    },
    /// A process starts or ends.
    #[non_exhaustive]
    ProcessEvent {
        /// The process.
        process: u32,
        /// What happened.
        change: ProcessChange,
    },
    /// Pages were used.
    #[non_exhaustive]
    PageReference {
        /// Size of a page.
        page_size: PageSize,
        /// True if the state is compressed.
        is_compressed: bool,
        /// A bit a page.
        state: u64,
    },
    /// Memory is mapped for the CPU, or unmapped.
    #[non_exhaustive]
    CpuMap {
        /// Virtual address.
        address: u64,
        /// True if it is unmapped.
        is_unmap: bool,
    },
    /// Virtual memory is freed.
    #[non_exhaustive]
    VirtualFree {
        /// Virtual address, as allocated.
        address: u64,
    },
    /// Virtual memory is allocated.
    #[non_exhaustive]
    VirtualAllocate {
        /// Size.
        size: u64,
        /// Who did it.
        owner: Owner,
        /// Virtual address.
        address: u64,
        /// Heaps by preference.
        heaps: [AllocationHeap; 4],
        /// How many of the heaps count; 0 in versions before 1.6.
        heap_count: u8,
        /// True if the memory is imported; from version 1.8.
        is_external: bool,
    },
    /// A resource is created.
    #[non_exhaustive]
    ResourceCreate {
        /// The resource.
        resource: u32,
        /// Who did it.
        owner: Owner,
        /// What the owner says it is for.
        category: u8,
        /// How it gets its memory.
        commit: Commit,
        /// What it is.
        resource_type: ResourceType,
        /// More, depending on what it is.
        detail: ResourceDetail,
    },
    /// Time passes.
    #[non_exhaustive]
    TimeDelta {
        /// In units of 32 ticks.
        units: u64,
    },
    /// A resource is destroyed.
    #[non_exhaustive]
    ResourceDestroy {
        /// The resource.
        resource: u32,
    },
    /// A kind that is reserved; no token has it.
    Reserved,
}

impl<'a> TokenValue<'a> {
    pub(super) fn from_bytes(bytes: &'a [u8], wide: bool) -> Self {
        let kind = TokenKind::from_stored(bytes.first().map_or(2, |byte| byte & 0xf));
        match kind {
            TokenKind::Timestamp => Self::Timestamp { hz: bits32(bytes, 64, 32) },
            TokenKind::ResourceUpdate => Self::ResourceUpdate {
                resource: bits32(bytes, 8, 32),
                subresource: bits32(bytes, 40, 32),
                resource_type: ResourceType::from_stored(bits8(bytes, 72, 6)),
                before: bits16(bytes, 78, 15),
                after: bits16(bytes, 93, 15),
            },
            TokenKind::PageTableUpdate => Self::PageTableUpdate {
                address: bits(bytes, 8, 36) << 12,
                physical: bits(bytes, 44, 36) << 12,
                pages: bits32(bytes, 80, 20),
                page_size: PageSize::from_stored(bits8(bytes, 100, 3)),
                is_unmap: bit(bytes, 103),
                process: bits32(bytes, 104, 32),
                update: PageUpdate::from_stored(bits8(bytes, 136, 2)),
                controller: bits8(bytes, 138, 1),
            },
            TokenKind::UserData => Self::UserData(UserData {
                kind: UserDataKind::from_stored(bits8(bytes, 8, 4)),
                payload: bytes.get(4..).unwrap_or_default(),
            }),
            TokenKind::Misc => Self::Misc(MiscEvent::from_stored(bits8(bytes, 8, 4))),
            TokenKind::ResourceReference => Self::ResourceReference {
                is_evict: bit(bytes, 8),
                address: bits(bytes, 9, 48),
                queue: bits8(bytes, 57, 7),
            },
            TokenKind::ResourceBind => Self::ResourceBind {
                address: bits(bytes, 8, 48),
                size: bits(bytes, 56, 44),
                is_system_memory: bit(bytes, 100),
                resource: bits32(bytes, 104, 32),
            },
            TokenKind::ProcessEvent => Self::ProcessEvent {
                process: bits32(bytes, 8, 32),
                change: ProcessChange::from_stored(bits8(bytes, 40, 8)),
            },
            TokenKind::PageReference => Self::PageReference {
                page_size: PageSize::from_stored(bits8(bytes, 8, 3)),
                is_compressed: bit(bytes, 11),
                state: bits(bytes, 16, 64),
            },
            TokenKind::CpuMap => Self::CpuMap { address: bits(bytes, 8, 48), is_unmap: bit(bytes, 56) },
            TokenKind::VirtualFree => Self::VirtualFree { address: bits(bytes, 8, 48) },
            TokenKind::VirtualAllocate => Self::VirtualAllocate {
                size: bits(bytes, 8, 24).saturating_add(1) << 12,
                owner: Owner::from_stored(bits8(bytes, 32, 2)),
                address: bits(bytes, 34, 48),
                heaps: [82, 84, 86, 88].map(|low| AllocationHeap::from_stored(bits8(bytes, low, 2))),
                heap_count: bits8(bytes, 90, 3),
                is_external: bit(bytes, 93),
            },
            TokenKind::ResourceCreate => {
                let resource_type = ResourceType::from_stored(bits8(bytes, 48, 6));
                Self::ResourceCreate {
                    resource: bits32(bytes, 8, 32),
                    owner: Owner::from_stored(bits8(bytes, 40, 2)),
                    category: bits8(bytes, 42, 4),
                    commit: Commit::from_stored(bits8(bytes, 46, 2)),
                    resource_type,
                    detail: detail(resource_type, bytes.get(7..).unwrap_or_default(), wide),
                }
            }
            TokenKind::TimeDelta => {
                Self::TimeDelta { units: bits(bytes.get(1..).unwrap_or_default(), 0, 56) }
            }
            TokenKind::ResourceDestroy => Self::ResourceDestroy { resource: bits32(bytes, 8, 32) },
            TokenKind::Reserved | TokenKind::Other(_) => Self::Reserved,
        }
    }
}

/// An image, as it was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Image {
    /// Width, height, depth.
    pub size: [u16; 3],
    /// Number of the format.
    pub format: u8,
    /// Number of mip levels.
    pub mips: u8,
    /// Number of slices.
    pub slices: u16,
    /// Size in bytes.
    pub bytes: u64,
}

/// What a `resource_create` says of a resource of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceDetail {
    /// Nothing that is read here.
    None,
    /// An image.
    Image(Image),
    /// A buffer.
    #[non_exhaustive]
    Buffer {
        /// Flags of its creation.
        create_flags: u8,
        /// What it is used for.
        usage_flags: u16,
        /// Size in bytes.
        size: u64,
    },
    /// A heap.
    #[non_exhaustive]
    Heap {
        /// Flags.
        flags: u8,
        /// Size in bytes.
        size: u64,
        /// Alignment, as stored.
        align: u8,
        /// Memory segment.
        segment: u8,
    },
    /// A pipeline.
    #[non_exhaustive]
    Pipeline {
        /// Flags of its creation.
        create_flags: u8,
        /// Its hash, by which code objects and load events refer to it.
        hash: Hash128,
        /// A bit a stage.
        stages: u8,
        /// True if it uses primitive shaders.
        is_ngg: bool,
    },
    /// A heap of descriptors.
    #[non_exhaustive]
    DescriptorHeap {
        /// What descriptors it holds.
        descriptor_type: u8,
        /// True if shaders see it.
        is_shader_visible: bool,
        /// A bit a GPU.
        gpu_mask: u8,
        /// Number of descriptors.
        descriptors: u16,
    },
    /// A pool of descriptors.
    #[non_exhaustive]
    DescriptorPool {
        /// Most sets.
        max_sets: u16,
        /// Number of pools.
        pools: u8,
    },
    /// Memory that the driver keeps for itself.
    #[non_exhaustive]
    Internal {
        /// What for, as stored.
        kind: u8,
    },
}

fn detail(resource_type: ResourceType, payload: &[u8], wide: bool) -> ResourceDetail {
    match resource_type {
        ResourceType::Image => {
            let (width, shift) = if wide { (14_u32, 3_u32) } else { (13, 0) };
            let side = |number: u32| {
                let low = width.saturating_mul(number).saturating_add(37);
                bits16(payload, low, width).saturating_add(1)
            };
            let at = |low: u32| low.saturating_add(shift);
            ResourceDetail::Image(Image {
                size: [side(0), side(1), side(2)],
                format: bits8(payload, at(88), 8),
                mips: bits8(payload, at(96), 4),
                slices: bits16(payload, at(100), 11).saturating_add(1),
                bytes: bits(payload, at(128), 32),
            })
        }
        ResourceType::Buffer => ResourceDetail::Buffer {
            create_flags: bits8(payload, 0, 8),
            usage_flags: bits16(payload, 8, 16),
            size: bits(payload, 24, 64),
        },
        ResourceType::Heap => ResourceDetail::Heap {
            flags: bits8(payload, 0, 5),
            size: bits(payload, 5, 64),
            align: bits8(payload, 69, 5),
            segment: bits8(payload, 74, 4),
        },
        ResourceType::Pipeline => ResourceDetail::Pipeline {
            create_flags: bits8(payload, 0, 8),
            hash: Hash128::new(bits(payload, 8, 64), bits(payload, 72, 64)),
            stages: bits8(payload, 136, 8),
            is_ngg: bit(payload, 144),
        },
        ResourceType::DescriptorHeap => ResourceDetail::DescriptorHeap {
            descriptor_type: bits8(payload, 0, 4),
            is_shader_visible: bit(payload, 4),
            gpu_mask: bits8(payload, 5, 8),
            descriptors: bits16(payload, 13, 16),
        },
        ResourceType::DescriptorPool => {
            ResourceDetail::DescriptorPool { max_sets: bits16(payload, 0, 16), pools: bits8(payload, 16, 8) }
        }
        ResourceType::Internal => ResourceDetail::Internal { kind: bits8(payload, 0, 8) },
        _ => ResourceDetail::None,
    }
}

/// The bytes of a `userdata` token.
#[derive(Clone, Copy)]
pub struct UserData<'a> {
    kind: UserDataKind,
    payload: &'a [u8],
}

impl<'a> UserData<'a> {
    /// What the bytes are.
    pub const fn kind(&self) -> UserDataKind {
        self.kind
    }

    /// The bytes.
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// The payload without its last `len` bytes, and these as an integer, where there is a NUL before them.
    fn split_tail(&self, len: usize) -> Option<(&'a [u8], &'a [u8])> {
        let text = self.payload.len().checked_sub(len).filter(|&text| text > 0)?;
        self.payload.split_at_checked(text)
    }

    /// The name of something, and the number that refers to it: of a resource (`name`), or one that a
    /// [`correlation`](Self::correlation) joins with a resource (`name_v2`).
    pub fn name(&self) -> Option<(FixedText<'a>, u32)> {
        let (text, tail) = match self.kind {
            UserDataKind::Name => self.split_tail(4)?,
            UserDataKind::NameV2 => self.split_tail(12)?,
            _ => return None,
        };
        Some((FixedText::new(text), bits32(tail, 0, 32)))
    }

    /// The name of a snapshot.
    pub fn snapshot(&self) -> Option<FixedText<'a>> {
        (self.kind == UserDataKind::Snapshot).then(|| FixedText::new(self.payload))
    }

    /// A resource, and the number by which its name refers to it.
    pub fn correlation(&self) -> Option<(u32, u32)> {
        (self.kind == UserDataKind::Correlation && self.payload.len() >= 8)
            .then(|| (bits32(self.payload, 0, 32), bits32(self.payload, 32, 32)))
    }

    /// The resource that was created by the driver on its own.
    pub fn implicit(&self) -> Option<u32> {
        match (self.kind, self.payload.len()) {
            (UserDataKind::Implicit, len) => {
                let tail = self.payload.get(len.checked_sub(4)?..)?;
                Some(bits32(tail, 0, 32))
            }
            (UserDataKind::ImplicitV2, 12..) => Some(bits32(self.payload, 0, 32)),
            _ => None,
        }
    }

    /// How much earlier than the token it happened, in CPU ticks.
    pub fn lag(&self) -> Option<u64> {
        match self.kind {
            UserDataKind::NameV2 => self.split_tail(12).map(|(_, tail)| bits(tail, 32, 64)),
            UserDataKind::ImplicitV2 if self.payload.len() >= 12 => Some(bits(self.payload, 32, 64)),
            _ => None,
        }
    }

    /// The kind of heap of an implicit resource.
    pub fn heap_type(&self) -> Option<u8> {
        (self.kind == UserDataKind::ImplicitV2).then(|| self.payload.get(12).copied()).flatten()
    }
}

impl core::fmt::Debug for UserData<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("UserData").field("kind", &self.kind).field("len", &self.payload.len()).finish()
    }
}
