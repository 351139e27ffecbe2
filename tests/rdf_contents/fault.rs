//! The holders of an address, beside an oracle that looks at the whole list for each question.

use super::common::random::Random;
use super::common::rdf_contents::token;
use traceglass::ErrorKind;
use traceglass::rdf::contents::joins::{Holder, explain_address};
use traceglass::rdf::contents::rmt::{ResourceType, Stream};

/// A token of the test.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Allocate { start: u64, pages: u64 },
    Free { start: u64 },
    Create { resource: u32, kind: u8 },
    Bind { resource: u32, start: u64, size: u64 },
    Destroy { resource: u32 },
    Correlate { resource: u32, id: u32 },
}

impl Op {
    fn token(self) -> Vec<u8> {
        let wide = u128::from;
        match self {
            Self::Allocate { start, pages } => token(12, 12 | wide(pages - 1) << 8 | wide(start) << 34),
            Self::Free { start } => token(7, 11 | wide(start) << 8),
            Self::Create { resource, kind } => {
                let len = if kind == 1 { 18 } else { 17 };
                token(len, 13 | u128::from(resource) << 8 | u128::from(kind) << 48)
            }
            Self::Bind { resource, start, size } => {
                token(17, 7 | wide(start) << 8 | wide(size) << 56 | u128::from(resource) << 104)
            }
            Self::Destroy { resource } => token(5, 15 | u128::from(resource) << 8),
            Self::Correlate { resource, id } => {
                token(12, 4 | 4 << 8 | 8 << 12 | u128::from(resource) << 32 | u128::from(id) << 64)
            }
        }
    }
}

/// A token of the test, where it stands, and when it happened.
#[derive(Clone, Copy, Debug)]
struct Told {
    op: Op,
    offset: u64,
    ticks: u64,
}

/// A stream of tokens; time goes on, and sometimes back.
fn stream(random: &mut Random, count: usize) -> (Vec<u8>, Vec<Told>) {
    let (mut data, mut told, mut units) = (Vec::new(), Vec::new(), 1_000_u64);
    for _ in 0..count {
        if data.is_empty() || random.next().is_multiple_of(3) {
            units = match random.next() % 40 {
                0 => units.saturating_sub(random.next() % 9),
                _ => units + random.next() % 5,
            };
            data.extend(token(12, u128::from(units) << 4 | 10_000_000 << 64));
        }
        let resource = (random.next() % 3 + 1) as u32;
        let start = 0x10000 + random.next() % 3 * 0x1000;
        let op = match random.next() % 12 {
            0 => Op::Allocate { start, pages: random.next() % 3 + 1 },
            1 | 2 => Op::Free { start },
            3 | 4 => Op::Create { resource, kind: if random.next().is_multiple_of(2) { 1 } else { 11 } },
            5..=8 => Op::Bind { resource, start, size: random.next() % 3 * 0x1000 },
            9 => Op::Destroy { resource },
            _ => Op::Correlate { resource, id: (random.next() % 4 + 90) as u32 },
        };
        told.push(Told { op, offset: data.len() as u64, ticks: units * 32 });
        data.extend(op.token());
    }
    (data, told)
}

fn name_token(id: u32, text: &str) -> Vec<u8> {
    let name = [text.as_bytes(), b"\0", &id.to_le_bytes(), &[0; 8]].concat();
    [token(4, 4 | 6 << 8 | (name.len() as u128) << 12), name].concat()
}

/// A holder as the oracle sees it.
#[derive(Debug, PartialEq)]
struct Expected {
    offset: u64,
    ticks: u64,
    resource: u32,
    kind: Option<ResourceType>,
    name: Option<String>,
    destroyed: Option<u64>,
}

/// The holders of `address` up to `until`: every question is a search of the whole list.
fn expected(told: &[Told], names: &[(u32, String)], address: u64, until: u64) -> Vec<Expected> {
    let holds = |start: u64, size: u64| (start..start + size).contains(&address);
    let end = told.iter().position(|one| one.ticks > until).unwrap_or(told.len());
    let in_time = &told[..end];
    let mut holders = Vec::new();
    for one in in_time {
        let Op::Bind { resource, start, size } = one.op else { continue };
        if !holds(start, size) {
            continue;
        }
        let is_create = |other: &&Told| matches!(other.op, Op::Create { resource: of, .. } if of == resource);
        // A lifetime: from the creation before to the one after, whenever that is.
        let created = told.iter().rfind(|other| other.offset < one.offset && is_create(other));
        let ends = told.iter().find(|other| other.offset > one.offset && is_create(other));
        let ends = ends.map_or(u64::MAX, |other| other.offset);
        let lifetime = |other: &&Told| {
            created.is_none_or(|created| created.offset < other.offset) && other.offset < ends
        };
        let kind = created.map(|created| match created.op {
            Op::Create { kind, .. } => ResourceType::from_stored(kind),
            _ => unreachable!(),
        });
        let destroyed = in_time
            .iter()
            .filter(lifetime)
            .find(|other| other.offset > one.offset && other.op == Op::Destroy { resource });
        // The last number before the memory changes again; or else the next one.
        let ids = || {
            told.iter().filter(lifetime).filter_map(|other| match other.op {
                Op::Correlate { resource: of, id } if of == resource => Some((other.offset, id)),
                _ => None,
            })
        };
        let moves = in_time.iter().filter(lifetime).filter(|other| other.offset > one.offset);
        let moves = moves.filter(|other| {
            matches!(other.op, Op::Bind { resource: of, start, size } if of == resource && holds(start, size))
        });
        let id = moves
            .map(|other| other.offset)
            .chain([ends])
            .find_map(|before| ids().rfind(|&(offset, _)| offset < before));
        let name = id.and_then(|(_, id)| names.iter().rfind(|(of, _)| *of == id));
        holders.push(Expected {
            offset: one.offset,
            ticks: one.ticks,
            resource,
            kind,
            name: name.map(|(_, name)| name.clone()),
            destroyed: destroyed.map(|destroyed| destroyed.ticks),
        });
    }
    holders
}

#[test]
fn histories_are_those_of_an_oracle() {
    let mut random = Random(0x5eed_0001);
    let (mut freed_twice, mut culprits, mut late) = (0, 0, 0);
    for round in 0..3_000 {
        let (data, told) = stream(&mut random, 1 + round % 60);
        let names: Vec<(u32, String)> = (0..random.next() % 6)
            .map(|number| ((random.next() % 4 + 90) as u32, format!("name {number}")))
            .collect();
        let named = names.iter().flat_map(|(id, name)| name_token(*id, name)).collect::<Vec<_>>();
        let (address, until) = (0x10000 + random.next() % 0x4000, (995 + random.next() % 60) * 32);
        let process = Stream::from_parts(7, 1, (1, 9), &data);
        let streams = [process, Stream::from_parts(0, 2, (1, 9), &named)];
        let expected = expected(&told, &names, address, until);

        let mut storage = vec![Holder::EMPTY; expected.len()];
        if let Some(few) = expected.len().checked_sub(1) {
            let error = explain_address(address, until, process, streams, &mut storage[..few]).unwrap_err();
            let (capacity, needed) = (few as u64, expected.len() as u64);
            assert_eq!(error.kind(), ErrorKind::CapacityExceeded { capacity, needed });
        }
        let history = explain_address(address, until, process, streams, &mut storage).unwrap();
        let found: Vec<Expected> = history
            .holders()
            .iter()
            .map(|holder| Expected {
                offset: holder.offset(),
                ticks: holder.ticks().unwrap(),
                resource: holder.resource(),
                kind: holder.kind(),
                name: holder.name().map(|name| String::from_utf8(name.to_vec()).unwrap()),
                destroyed: holder.destroyed(),
            })
            .collect();
        assert_eq!(found, expected, "round {round}: {address:#x} until {until}: {told:#?}");

        // The last allocation, and the first time that it was freed.
        let end = told.iter().position(|one| one.ticks > until).unwrap_or(told.len());
        let made: Vec<_> = told[..end]
            .iter()
            .filter_map(|one| match one.op {
                Op::Allocate { start, pages } if (start..start + pages * 4096).contains(&address) => {
                    Some((one, start, pages * 4096))
                }
                _ => None,
            })
            .collect();
        assert_eq!(history.allocations(), made.len() as u64);
        let frees = |one: &Told, start| {
            let after = told[..end].iter().filter(move |other| other.offset > one.offset);
            after.filter(move |other| other.op == Op::Free { start }).collect::<Vec<_>>()
        };
        let last = made.last().map(|&(one, start, size)| {
            let frees = frees(one, start);
            freed_twice += usize::from(frees.iter().any(|free| free.ticks != frees[0].ticks));
            (one.ticks, start, size, frees.first().map(|free| free.ticks))
        });
        let allocation = history.last_allocation();
        assert_eq!(
            allocation.map(|one| (one.ticks().unwrap(), one.address(), one.size(), one.freed())),
            last,
            "round {round}"
        );
        let before = last.and_then(|(.., freed)| until.checked_sub(freed?));
        assert_eq!(history.freed_before(until), before);

        // The culprit: got its memory with the last allocation; named ones first, then those that are no heap.
        let since = last.map_or(0, |(ticks, ..)| ticks);
        let recent: Vec<&Expected> = expected.iter().filter(|one| one.ticks >= since).collect();
        let culprit = recent.iter().rev().find(|one| one.name.is_some());
        let culprit = culprit.or(recent.iter().rev().find(|one| one.kind != Some(ResourceType::Heap)));
        let culprit = culprit.copied().or(expected.last());
        assert_eq!(history.culprit().map(Holder::offset), culprit.map(|one| one.offset), "round {round}");
        culprits += usize::from(expected.iter().any(|one| one.ticks < since && one.name.is_some()));
        late += usize::from(told[end..].iter().any(|one| {
            let of = |resource| expected.iter().any(|holder| holder.resource == resource);
            matches!(one.op, Op::Destroy { resource } | Op::Create { resource, .. } if of(resource))
        }));
    }
    // The rounds have what the rules are about.
    assert!(freed_twice > 20 && culprits > 20 && late > 200, "{freed_twice} {culprits} {late}");
}
