//! The values of tokens.

use super::window::{Window, bit, bits, bits8, bits16, bits32, delta};
use super::{
    AllocationHeap, Commit, MiscEvent, Owner, PageSize, PageUpdate, ProcessChange, ResourceType, TokenKind,
    UserDataKind,
};
use crate::rdf::contents::{FixedText, Hash128};

/// The value of a [`Token`](super::Token). Addresses and sizes are in bytes.
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
        /// The number of the part; all bits set for all.
        subresource: u32,
        /// The type of the resource.
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
        /// The kind of change.
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
        /// The kind of change.
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
        /// The software that did it.
        owner: Owner,
        /// Virtual address.
        address: u64,
        /// Heaps by preference.
        heaps: [AllocationHeap; 4],
        /// The number of valid heaps; 0 in versions before 1.6.
        heap_count: u8,
        /// True if the memory is imported; from version 1.8.
        is_external: bool,
    },
    /// A resource is created.
    #[non_exhaustive]
    ResourceCreate {
        /// The resource.
        resource: u32,
        /// The software that did it.
        owner: Owner,
        /// The purpose of the resource, as the owner numbers it.
        category: u8,
        /// The way it gets its memory.
        commit: Commit,
        /// The type of the resource.
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
    /// The value of the token in `bytes`, which are also in front of the window; a `wide` image has one bit more a
    /// side.
    #[inline]
    pub(super) fn read(bytes: &'a [u8], window: &Window, wide: bool) -> Self {
        match TokenKind::from_stored(window[0] & 0xf) {
            TokenKind::Timestamp => Self::Timestamp { hz: bits32(window, 64, 32) },
            TokenKind::ResourceUpdate => Self::ResourceUpdate {
                resource: bits32(window, 8, 32),
                subresource: bits32(window, 40, 32),
                resource_type: ResourceType::from_stored(bits8(window, 72, 6)),
                before: bits16(window, 78, 15),
                after: bits16(window, 93, 15),
            },
            TokenKind::PageTableUpdate => Self::PageTableUpdate {
                address: bits(window, 8, 36) << 12,
                physical: bits(window, 44, 36) << 12,
                pages: bits32(window, 80, 20),
                page_size: PageSize::from_stored(bits8(window, 100, 3)),
                is_unmap: bit(window, 103),
                process: bits32(window, 104, 32),
                update: PageUpdate::from_stored(bits8(window, 136, 2)),
                controller: bits8(window, 138, 1),
            },
            TokenKind::UserData => Self::UserData(UserData {
                kind: UserDataKind::from_stored(bits8(window, 8, 4)),
                payload: bytes.get(4..).unwrap_or_default(),
            }),
            TokenKind::Misc => Self::Misc(MiscEvent::from_stored(bits8(window, 8, 4))),
            TokenKind::ResourceReference => Self::ResourceReference {
                is_evict: bit(window, 8),
                address: bits(window, 9, 48),
                queue: bits8(window, 57, 7),
            },
            TokenKind::ResourceBind => Self::ResourceBind {
                address: bits(window, 8, 48),
                size: bits(window, 56, 44),
                is_system_memory: bit(window, 100),
                resource: bits32(window, 104, 32),
            },
            TokenKind::ProcessEvent => Self::ProcessEvent {
                process: bits32(window, 8, 32),
                change: ProcessChange::from_stored(bits8(window, 40, 8)),
            },
            TokenKind::PageReference => Self::PageReference {
                page_size: PageSize::from_stored(bits8(window, 8, 3)),
                is_compressed: bit(window, 11),
                state: bits(window, 16, 64),
            },
            TokenKind::CpuMap => Self::CpuMap { address: bits(window, 8, 48), is_unmap: bit(window, 56) },
            TokenKind::VirtualFree => Self::VirtualFree { address: bits(window, 8, 48) },
            TokenKind::VirtualAllocate => Self::VirtualAllocate {
                size: bits(window, 8, 24).saturating_add(1) << 12,
                owner: Owner::from_stored(bits8(window, 32, 2)),
                address: bits(window, 34, 48),
                heaps: [82, 84, 86, 88].map(|low| AllocationHeap::from_stored(bits8(window, low, 2))),
                heap_count: bits8(window, 90, 3),
                is_external: bit(window, 93),
            },
            TokenKind::ResourceCreate => {
                let resource_type = ResourceType::from_stored(bits8(window, 48, 6));
                Self::ResourceCreate {
                    resource: bits32(window, 8, 32),
                    owner: Owner::from_stored(bits8(window, 40, 2)),
                    category: bits8(window, 42, 4),
                    commit: Commit::from_stored(bits8(window, 46, 2)),
                    resource_type,
                    detail: detail(resource_type, window, wide),
                }
            }
            TokenKind::TimeDelta => Self::TimeDelta { units: delta(window) },
            TokenKind::ResourceDestroy => Self::ResourceDestroy { resource: bits32(window, 8, 32) },
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

/// The details of a new resource, by its type.
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
        /// The flags of its use.
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
        /// The hash, by which code objects and load events refer to it.
        hash: Hash128,
        /// A bit a stage.
        stages: u8,
        /// True if it uses primitive shaders.
        is_ngg: bool,
    },
    /// A heap of descriptors.
    #[non_exhaustive]
    DescriptorHeap {
        /// The type of its descriptors.
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
        /// The purpose, as stored.
        kind: u8,
    },
}

/// More about a resource, from bit 56 of the token on.
#[inline]
fn detail(resource_type: ResourceType, window: &Window, wide: bool) -> ResourceDetail {
    match resource_type {
        ResourceType::Image => {
            let (width, shift) = if wide { (14_u32, 3_u32) } else { (13, 0) };
            let side = |number: u32| {
                let low = width.saturating_mul(number).saturating_add(37 + 56);
                bits16(window, low, width).saturating_add(1)
            };
            let at = |low: u32| low.saturating_add(shift);
            ResourceDetail::Image(Image {
                size: [side(0), side(1), side(2)],
                format: bits8(window, at(144), 8),
                mips: bits8(window, at(152), 4),
                slices: bits16(window, at(156), 11).saturating_add(1),
                bytes: bits(window, at(184), 32),
            })
        }
        ResourceType::Buffer => ResourceDetail::Buffer {
            create_flags: bits8(window, 56, 8),
            usage_flags: bits16(window, 64, 16),
            size: bits(window, 80, 64),
        },
        ResourceType::Heap => ResourceDetail::Heap {
            flags: bits8(window, 56, 5),
            size: bits(window, 61, 64),
            align: bits8(window, 125, 5),
            segment: bits8(window, 130, 4),
        },
        ResourceType::Pipeline => ResourceDetail::Pipeline {
            create_flags: bits8(window, 56, 8),
            hash: Hash128::new(bits(window, 64, 64), bits(window, 128, 64)),
            stages: bits8(window, 192, 8),
            is_ngg: bit(window, 200),
        },
        ResourceType::DescriptorHeap => ResourceDetail::DescriptorHeap {
            descriptor_type: bits8(window, 56, 4),
            is_shader_visible: bit(window, 60),
            gpu_mask: bits8(window, 61, 8),
            descriptors: bits16(window, 69, 16),
        },
        ResourceType::DescriptorPool => {
            ResourceDetail::DescriptorPool { max_sets: bits16(window, 56, 16), pools: bits8(window, 72, 8) }
        }
        ResourceType::Internal => ResourceDetail::Internal { kind: bits8(window, 56, 8) },
        _ => ResourceDetail::None,
    }
}

/// The integer of `N` bytes at `at`, where they are there.
fn integer<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// The bytes of a `userdata` token.
#[derive(Clone, Copy)]
pub struct UserData<'a> {
    kind: UserDataKind,
    payload: &'a [u8],
}

impl<'a> UserData<'a> {
    /// The kind of the bytes.
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
        Some((FixedText::new(text), u32::from_le_bytes(integer(tail, 0)?)))
    }

    /// The name of a snapshot.
    pub fn snapshot(&self) -> Option<FixedText<'a>> {
        (self.kind == UserDataKind::Snapshot).then(|| FixedText::new(self.payload))
    }

    /// A resource, and the number by which its name refers to it.
    pub fn correlation(&self) -> Option<(u32, u32)> {
        if self.kind != UserDataKind::Correlation {
            return None;
        }
        let [resource, id] = [0, 4].map(|at| integer(self.payload, at).map(u32::from_le_bytes));
        Some((resource?, id?))
    }

    /// The resource that was created by the driver on its own.
    pub fn implicit(&self) -> Option<u32> {
        match (self.kind, self.payload.len()) {
            (UserDataKind::Implicit, len) => {
                integer(self.payload, len.checked_sub(4)?).map(u32::from_le_bytes)
            }
            (UserDataKind::ImplicitV2, 12..) => integer(self.payload, 0).map(u32::from_le_bytes),
            _ => None,
        }
    }

    /// The time from the event to the token, in CPU ticks.
    pub fn lag(&self) -> Option<u64> {
        match self.kind {
            UserDataKind::NameV2 => integer(self.split_tail(12)?.1, 4).map(u64::from_le_bytes),
            UserDataKind::ImplicitV2 => integer(self.payload, 4).map(u64::from_le_bytes),
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
