//! The holders of an address: the answer to a page fault.

use crate::bytes::to_u64;
use crate::error::{Error, ErrorKind, Result};
use crate::rdf::contents::element::PAGE_FAULT_STORAGE;
use crate::rdf::contents::rmt::{ResourceDetail, ResourceType, Stream, TokenValue};
use crate::sort::sort_by_key;
use crate::work;

/// A resource that held an address.
#[derive(Clone, Copy, Debug)]
pub struct Holder<'a> {
    offset: u64,
    ticks: Option<u64>,
    address: u64,
    size: u64,
    resource: u32,
    /// The offset of the resource's creation; `None` before that is known, or if it was not seen.
    created: Option<u64>,
    kind: Option<ResourceType>,
    detail: ResourceDetail,
    /// The number by which a name refers to it.
    name_id: Option<u32>,
    name: Option<&'a [u8]>,
    destroyed: Option<u64>,
    /// The state of the resource as the tokens are read; kept in the first holder of each resource only.
    current: Current,
}

/// The state of a resource as the tokens are read.
#[derive(Clone, Copy, Debug)]
struct Current {
    created: Option<u64>,
    kind: Option<ResourceType>,
    detail: ResourceDetail,
    name_id: Option<u32>,
}

const NOTHING: Current = Current { created: None, kind: None, detail: ResourceDetail::None, name_id: None };

impl<'a> Holder<'a> {
    /// A place for the storage that is lent.
    pub const EMPTY: Self = Self {
        offset: 0,
        ticks: None,
        address: 0,
        size: 0,
        resource: 0,
        created: None,
        kind: None,
        detail: ResourceDetail::None,
        name_id: None,
        name: None,
        destroyed: None,
        current: NOTHING,
    };

    /// The time at which the resource got the memory, in CPU ticks.
    pub const fn ticks(&self) -> Option<u64> {
        self.ticks
    }

    /// The address of its memory.
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// Size of its memory in bytes.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Number of the resource.
    pub const fn resource(&self) -> u32 {
        self.resource
    }

    /// The type of the resource; `None` if its creation is not in the stream.
    pub const fn kind(&self) -> Option<ResourceType> {
        self.kind
    }

    /// More, depending on what it is.
    pub const fn detail(&self) -> ResourceDetail {
        self.detail
    }

    /// The name, if the program gave it one.
    pub const fn name(&self) -> Option<&'a [u8]> {
        self.name
    }

    /// The time of its destruction, in CPU ticks.
    pub const fn destroyed(&self) -> Option<u64> {
        self.destroyed
    }

    /// Offset of the token in the stream.
    pub const fn offset(&self) -> u64 {
        self.offset
    }
}

default_is_empty!(Holder<'_>);

/// An allocation that held an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The time of its creation, in CPU ticks.
    pub(super) ticks: Option<u64>,
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) freed: Option<u64>,
}

impl Allocation {
    /// The time of its creation, in CPU ticks.
    pub const fn ticks(&self) -> Option<u64> {
        self.ticks
    }

    /// The address.
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// The size in bytes.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The time at which it was freed, in CPU ticks; `None` if it was not.
    pub const fn freed(&self) -> Option<u64> {
        self.freed
    }
}

/// The holders of an address, in the order of time.
#[derive(Clone, Copy, Debug)]
pub struct AddressHistory<'a, 's> {
    holders: &'s [Holder<'a>],
    last: Option<Allocation>,
    allocations: u64,
}

impl<'a, 's> AddressHistory<'a, 's> {
    /// The resources, the latest last.
    pub const fn holders(&self) -> &'s [Holder<'a>] {
        self.holders
    }

    /// The last allocation that held it.
    pub const fn last_allocation(&self) -> Option<Allocation> {
        self.last
    }

    /// The number of allocations that held it.
    pub const fn allocations(&self) -> u64 {
        self.allocations
    }

    /// The resource to tell a person of: of those that got memory with the last allocation, the last one with a name,
    /// or else the last one that is not a heap; if there is none, the last of all.
    pub fn culprit(&self) -> Option<&'s Holder<'a>> {
        let since = self.last.and_then(|allocation| allocation.ticks);
        let recent = || self.holders.iter().rev().filter(move |holder| holder.ticks >= since);
        let is_heap = |holder: &&Holder<'_>| holder.kind == Some(ResourceType::Heap);
        recent()
            .find(|holder| holder.name.is_some())
            .or_else(|| recent().find(|holder| !is_heap(holder)))
            .or(self.holders.last())
    }

    /// The time from the memory's last free to `ticks`, in ticks; `None` if it was not freed before.
    pub fn freed_before(&self, ticks: u64) -> Option<u64> {
        ticks.checked_sub(self.last?.freed?)
    }
}

/// True if `address` lies in the range.
const fn holds(start: u64, size: u64, address: u64) -> bool {
    match address.checked_sub(start) {
        Some(distance) => distance < size,
        None => false,
    }
}

/// Finds what held `address` until `ticks`: allocations, the resources in them, their names, and when they were freed.
///
/// `process` is the stream of the process; `streams` are all streams, for names may stand in one of their own. Tokens
/// after `ticks` do not count, except names. Damage ends a stream; what precedes it counts.
///
/// `storage` takes a [`Holder`] for each time that a resource got memory at the address. The work is
/// O(n log m) for n tokens and m holders.
///
/// # Errors
/// [`CapacityExceeded`](ErrorKind::CapacityExceeded) with the number of holders.
pub fn explain_address<'a, 's>(
    address: u64,
    ticks: u64,
    process: Stream<'a>,
    streams: impl IntoIterator<Item = Stream<'a>>,
    storage: &'s mut [Holder<'a>],
) -> Result<AddressHistory<'a, 's>> {
    let capacity = storage.len();
    let mut found = 0_usize;
    let mut last: Option<Allocation> = None;
    let mut allocations = 0_u64;
    // The first token after `ticks`: even if time goes back, what follows it comes later.
    let mut end = u64::MAX;
    for token in process.tokens().map_while(Result::ok) {
        work::count(1);
        if token.ticks().is_some_and(|token| token > ticks) {
            end = token.offset();
            break;
        }
        match token.value() {
            TokenValue::VirtualAllocate { address: start, size, .. } if holds(start, size, address) => {
                last = Some(Allocation { ticks: token.ticks(), address: start, size, freed: None });
                allocations = allocations.saturating_add(1);
            }
            TokenValue::VirtualFree { address: start } => match &mut last {
                Some(last) if last.address == start && last.freed.is_none() => last.freed = token.ticks(),
                _ => {}
            },
            TokenValue::ResourceBind { address: start, size, resource, .. }
                if holds(start, size, address) =>
            {
                if let Some(place) = storage.get_mut(found) {
                    let (offset, ticks) = (token.offset(), token.ticks());
                    *place = Holder { offset, ticks, address: start, size, resource, ..Holder::EMPTY };
                }
                found = found.saturating_add(1);
            }
            _ => {}
        }
    }
    let Some(holders) = storage.get_mut(..found) else {
        let kind = ErrorKind::CapacityExceeded { capacity: to_u64(capacity), needed: to_u64(found) };
        return Err(Error::new(0, PAGE_FAULT_STORAGE, kind));
    };
    sort_by_key(holders, |holder| work::counted((holder.resource, holder.offset)));
    describe(process, end, holders);
    sort_by_key(holders, |holder| work::counted((holder.name_id, holder.offset)));
    for stream in streams {
        name(stream, holders);
    }
    let mut previous: Option<(Option<u32>, Option<&'a [u8]>)> = None;
    for holder in holders.iter_mut() {
        match previous {
            Some((id, name)) if id == holder.name_id && id.is_some() => holder.name = name,
            _ => {}
        }
        previous = Some((holder.name_id, holder.name));
    }
    sort_by_key(holders, |holder| work::counted(holder.offset));
    Ok(AddressHistory { holders, last, allocations })
}

/// Finds what each resource is, and by which number its name refers to it. The holders are sorted by resource. Names
/// and creations count after `end`, too: a resource that gets the same number later has a name of its own.
fn describe(process: Stream<'_>, end: u64, holders: &mut [Holder<'_>]) {
    let first = |holders: &[Holder<'_>], resource: u32| {
        let place = holders.partition_point(|holder| work::counted(holder.resource < resource));
        holders.get(place).filter(|holder| holder.resource == resource).map(|_| place)
    };
    for token in process.tokens().map_while(Result::ok) {
        work::count(1);
        let offset = token.offset();
        let late = offset >= end;
        match token.value() {
            TokenValue::ResourceCreate { resource, resource_type, detail, .. } => {
                let Some(head) = first(holders, resource).and_then(|place| holders.get_mut(place)) else {
                    continue;
                };
                head.current =
                    Current { created: Some(offset), kind: Some(resource_type), detail, ..NOTHING };
            }
            TokenValue::ResourceBind { resource, .. } if !late => {
                let Some(current) =
                    first(holders, resource).and_then(|place| holders.get(place)).map(|head| head.current)
                else {
                    continue;
                };
                let key = (resource, offset);
                let place =
                    holders.partition_point(|holder| work::counted((holder.resource, holder.offset) < key));
                match holders.get_mut(place) {
                    Some(holder) if (holder.resource, holder.offset) == key => {
                        holder.created = current.created;
                        holder.kind = current.kind;
                        holder.detail = current.detail;
                        holder.name_id = current.name_id;
                    }
                    _ => {}
                }
            }
            TokenValue::ResourceDestroy { resource } if !late => {
                let created = first(holders, resource).and_then(|place| holders.get(place)?.current.created);
                if let Some(holder) = latest(holders, resource, offset)
                    && holder.created == created
                {
                    holder.destroyed = holder.destroyed.or(token.ticks());
                }
            }
            TokenValue::UserData(data) => {
                // In older files a name refers to the resource itself.
                let named = data.name().filter(|_| data.lag().is_none()).map(|(_, id)| (id, id));
                let Some((resource, id)) = data.correlation().or(named) else { continue };
                let Some(head) = first(holders, resource).and_then(|place| holders.get_mut(place)) else {
                    continue;
                };
                head.current.name_id = Some(id);
                let created = head.current.created;
                if let Some(holder) = latest(holders, resource, offset)
                    && holder.created == created
                {
                    holder.name_id = Some(id);
                }
            }
            _ => {}
        }
    }
    // Facts about the last holder of a resource hold for those before it, back to its creation.
    let mut next: Option<Holder<'_>> = None;
    for holder in holders.iter_mut().rev() {
        if let Some(next) = next
            && next.resource == holder.resource
            && next.created == holder.created
        {
            holder.name_id = holder.name_id.or(next.name_id);
            holder.destroyed = holder.destroyed.or(next.destroyed);
        }
        next = Some(*holder);
    }
}

/// The last holder of `resource` before `offset`.
fn latest<'h, 'a>(holders: &'h mut [Holder<'a>], resource: u32, offset: u64) -> Option<&'h mut Holder<'a>> {
    let after = holders
        .partition_point(|holder| work::counted((holder.resource, holder.offset) < (resource, offset)));
    holders.get_mut(after.checked_sub(1)?).filter(|holder| holder.resource == resource)
}

/// Finds names by their numbers. The holders are sorted by these; the first of a number gets the name.
fn name<'a>(stream: Stream<'a>, holders: &mut [Holder<'a>]) {
    for token in stream.tokens().map_while(Result::ok) {
        work::count(1);
        let TokenValue::UserData(data) = token.value() else { continue };
        let Some((text, id)) = data.name() else { continue };
        let place = holders.partition_point(|holder| work::counted(holder.name_id < Some(id)));
        match holders.get_mut(place) {
            Some(holder) if holder.name_id == Some(id) => holder.name = Some(text.bytes()),
            _ => {}
        }
    }
}
