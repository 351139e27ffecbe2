//! Tokens as the facts have them.

use super::{AnyStream, count, join_fields, name_or, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use traceglass::rdf::contents::rmt::{ResourceDetail, Token, TokenKind, TokenValue, UserDataKind};

/// The facts about a whole stream.
pub fn summary(stream: AnyStream<'_>) -> Value {
    let mut kinds = BTreeMap::new();
    let (mut userdata, mut resources, mut misc) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let (mut first, mut last, mut hz) = (Value::Null, Value::Null, Value::Null);
    let mut tokens = 0;
    for token in stream.tokens().map_while(Result::ok) {
        tokens += 1;
        count(&mut kinds, &token.kind().name().into());
        let ticks: Value = token.ticks().into();
        if first.is_null() {
            first = ticks.clone();
        }
        last = ticks;
        match token.value() {
            TokenValue::Timestamp { hz: rate } if hz.is_null() => hz = rate.into(),
            TokenValue::UserData(data) => {
                count(&mut userdata, &name_or(data.kind().name(), data.kind().number()))
            }
            TokenValue::ResourceCreate { resource_type, .. } => {
                count(&mut resources, &name_or(resource_type.name(), resource_type.number()));
            }
            TokenValue::Misc(event) => count(&mut misc, &name_or(event.name(), event.number())),
            _ => {}
        }
    }
    json!({
        "version": [stream.version().0, stream.version().1], "bytes": stream.data().len(),
        "tokens": tokens, "kinds": kinds, "userdata": userdata, "resources": resources, "misc": misc,
        "first_ticks": first, "last_ticks": last, "frequency_hz": hz,
    })
}

/// A line for each token.
pub fn lines(chunk: usize, stream: AnyStream<'_>) -> Vec<String> {
    let tokens = stream.tokens().map_while(Result::ok).map(|token| {
        let (offset, size) = (token.offset(), token.bytes().len());
        let kind = token.kind().name().expect("a kind");
        let ticks = token.ticks().expect("a time");
        format!("{chunk}\t{offset}\t{size}\t{kind}\t{ticks}\t{}", fields(&token))
    });
    tokens.collect()
}

fn fields(token: &Token<'_>) -> String {
    let mut fields: Vec<(&str, Value)> = Vec::new();
    if let Some(delta) = token.delta() {
        fields.push(("delta", delta.into()));
    }
    let mut add = |name: &'static str, value: Value| fields.push((name, value));
    match token.value() {
        TokenValue::Timestamp { hz } => add("frequency_hz", hz.into()),
        TokenValue::TimeDelta { units, .. } => add("delta_ticks", (units * 32).into()),
        TokenValue::ResourceUpdate { resource, subresource, resource_type, before, after, .. } => {
            add("resource", resource.into());
            add("subresource", subresource.into());
            add("resource_type", resource_type.number().into());
            add("before", before.into());
            add("after", after.into());
        }
        TokenValue::PageTableUpdate {
            address,
            physical,
            pages,
            page_size,
            is_unmap,
            process,
            update,
            controller,
            ..
        } => {
            add("virtual_address", address.into());
            add("physical_address", physical.into());
            add("pages", pages.into());
            add("page_size", name_or(page_size.name(), page_size.number()));
            add("unmap", is_unmap.into());
            add("process", process.into());
            add("update", name_or(update.name(), update.number()));
            add("controller", controller.into());
        }
        TokenValue::UserData(data) => {
            add("userdata", name_or(data.kind().name(), data.kind().number()));
            add("payload_size", data.payload().len().into());
            match data.kind() {
                UserDataKind::Name => {
                    if let Some((name, id)) = data.name() {
                        add("id", id.into());
                        add("text", text(name.bytes()));
                    }
                }
                UserDataKind::NameV2 => {
                    if let Some((name, id)) = data.name() {
                        add("text", text(name.bytes()));
                        add("id", id.into());
                        add("time_delay", data.lag().into());
                    }
                }
                UserDataKind::Snapshot => add("text", text(data.snapshot().expect("a name").bytes())),
                UserDataKind::Correlation => {
                    if let Some((resource, id)) = data.correlation() {
                        add("resource", resource.into());
                        add("correlation", id.into());
                    }
                }
                _ => {
                    if let Some(resource) = data.implicit() {
                        add("resource", resource.into());
                    }
                    if let Some(lag) = data.lag() {
                        add("time_delay", lag.into());
                    }
                    if let Some(heap) = data.heap_type() {
                        add("heap_type", heap.into());
                    }
                }
            }
        }
        TokenValue::Misc(event) => add("event", name_or(event.name(), event.number())),
        TokenValue::ResourceReference { is_evict, address, queue, .. } => {
            add("remove", is_evict.into());
            add("virtual_address", address.into());
            add("queue", queue.into());
        }
        TokenValue::ResourceBind { address, size, is_system_memory, resource, .. } => {
            add("virtual_address", address.into());
            add("size", size.into());
            add("system_memory", is_system_memory.into());
            add("resource", resource.into());
        }
        TokenValue::ProcessEvent { process, change, .. } => {
            add("process", process.into());
            add("event", name_or(change.name(), change.number()));
        }
        TokenValue::PageReference { page_size, is_compressed, state, .. } => {
            add("page_size", name_or(page_size.name(), page_size.number()));
            add("compressed", is_compressed.into());
            add("state", state.into());
        }
        TokenValue::CpuMap { address, is_unmap, .. } => {
            add("virtual_address", address.into());
            add("unmap", is_unmap.into());
        }
        TokenValue::VirtualFree { address, .. } => add("virtual_address", address.into()),
        TokenValue::VirtualAllocate { size, owner, address, heaps, heap_count, is_external, .. } => {
            add("size", size.into());
            add("owner", name_or(owner.name(), owner.number()));
            add("virtual_address", address.into());
            let heaps: Vec<Value> = heaps.iter().map(|heap| name_or(heap.name(), heap.number())).collect();
            add("heaps", heaps.into());
            add("heap_count", heap_count.into());
            add("external", is_external.into());
        }
        TokenValue::ResourceCreate { resource, owner, category, commit, resource_type, detail, .. } => {
            add("resource", resource.into());
            add("owner", name_or(owner.name(), owner.number()));
            add("category", category.into());
            add("commit", name_or(commit.name(), commit.number()));
            add("type", name_or(resource_type.name(), resource_type.number()));
            for (name, value) in of_detail(detail) {
                add(name, value);
            }
        }
        TokenValue::ResourceDestroy { resource, .. } => add("resource", resource.into()),
        other => panic!("{other:?} at {}", token.offset()),
    }
    assert_ne!(token.kind(), TokenKind::Reserved);
    join_fields(&fields)
}

fn of_detail(detail: ResourceDetail) -> Vec<(&'static str, Value)> {
    match detail {
        ResourceDetail::Image(image) => vec![
            ("dims", image.size.to_vec().into()),
            ("format", image.format.into()),
            ("mips", image.mips.into()),
            ("slices", image.slices.into()),
            ("image_size", image.bytes.into()),
        ],
        ResourceDetail::Buffer { create_flags, usage_flags, size, .. } => vec![
            ("create_flags", create_flags.into()),
            ("usage_flags", usage_flags.into()),
            ("size", size.into()),
        ],
        ResourceDetail::Heap { flags, size, align, segment, .. } => vec![
            ("flags", flags.into()),
            ("size", size.into()),
            ("align", align.into()),
            ("segment", segment.into()),
        ],
        ResourceDetail::Pipeline { create_flags, hash, stages, is_ngg, .. } => vec![
            ("create_flags", create_flags.into()),
            ("hash_hi", hash.upper().into()),
            ("hash_lo", hash.lower().into()),
            ("stages", stages.into()),
            ("ngg", is_ngg.into()),
        ],
        ResourceDetail::DescriptorHeap {
            descriptor_type, is_shader_visible, gpu_mask, descriptors, ..
        } => vec![
            ("descriptor_type", descriptor_type.into()),
            ("shader_visible", is_shader_visible.into()),
            ("gpu_mask", gpu_mask.into()),
            ("descriptors", descriptors.into()),
        ],
        ResourceDetail::DescriptorPool { max_sets, pools, .. } => {
            vec![("max_sets", max_sets.into()), ("pools", pools.into())]
        }
        ResourceDetail::Internal { kind, .. } => vec![("misc_type", kind.into())],
        _ => Vec::new(),
    }
}
