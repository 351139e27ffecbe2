//! Events of the driver as the facts have them.

use super::{count, join_fields, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use traceglass::rdf::contents::{DriverEvents, Event, EventValue, MarkerStruct, ShaderId};

/// The facts about all events.
pub fn summary(events: DriverEvents<'_>) -> Value {
    let fields = events.fields();
    let mut kinds = BTreeMap::new();
    let mut notable: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    let (mut number, mut last) = (0, Value::Null);
    for event in events.events().map_while(Result::ok) {
        number += 1;
        let kind = kind(&event);
        count(&mut kinds, &kind.clone().into());
        last = event.ticks().map(|ticks| ticks / 32).into();
        let state = event.kind_name() == Some("nop_data");
        if state
            || kind.contains("fault")
            || kind.contains("waves")
            || kind.contains("se_info")
            || kind.contains("registers")
        {
            let of_event = match event.value() {
                Ok(value) => Value::Object(
                    of_value(value).into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
                ),
                Err(_) => json!({}),
            };
            notable.entry(event.kind_name().expect("a name")).or_default().push(of_event);
        }
    }
    json!({
        "provider_version": [fields.major(), fields.minor()],
        "provider": super::name_or(fields.provider().name(), fields.provider().number()),
        "time_unit": fields.unit(), "base": fields.base(), "frequency_hz": fields.hz(),
        "meta_version": [events.version().0, events.version().1],
        "events": number, "kinds": kinds, "last_time": last, "notable": notable,
    })
}

fn kind(event: &Event<'_>) -> String {
    event.kind_name().map_or_else(|| format!("id_{}", event.id()), str::to_owned)
}

/// A line for each event.
pub fn lines(chunk: usize, events: DriverEvents<'_>) -> Vec<String> {
    let lines = events.events().map_while(Result::ok).map(|event| {
        let fields = event.value().map_or_else(|_| String::new(), |value| join_fields(&of_value(value)));
        let (offset, id, size) = (event.offset(), event.id(), event.payload().len());
        format!("{chunk}\t{offset}\t{id}\t{}\t{size}\t{}\t{fields}", event.stored_delta(), kind(&event))
    });
    lines.collect()
}

fn shader(shader: ShaderId) -> Value {
    json!({
        "raw": shader.number(), "wave": shader.wave(), "simd": shader.simd(), "wgp": shader.wgp(),
        "sa": shader.shader_array(), "se": shader.shader_engine(),
    })
}

fn of_value(value: EventValue<'_>) -> Vec<(&'static str, Value)> {
    match value {
        EventValue::LargeDelta(delta) => vec![("delta", delta.into())],
        EventValue::BufferState(state) => vec![
            ("cmd_buffer", state.cmd_buffer().into()),
            ("begin", state.begin().into()),
            ("end", state.end().into()),
        ],
        EventValue::MarkerBegin { cmd_buffer, marker, name, .. } => {
            vec![("cmd_buffer", cmd_buffer.into()), ("marker", marker.number().into()), ("name", text(name))]
        }
        EventValue::MarkerEnd { cmd_buffer, marker, .. } => {
            vec![("cmd_buffer", cmd_buffer.into()), ("marker", marker.number().into())]
        }
        EventValue::MarkerInfo(info) => {
            let mut fields = vec![
                ("cmd_buffer", info.cmd_buffer().into()),
                ("marker", info.marker().number().into()),
                ("info", super::name_or(info.kind_name(), info.kind())),
            ];
            fields.extend(of_struct(info.content(), info.kind_name().is_some()));
            fields
        }
        EventValue::PageFault(fault) => vec![
            ("vm", fault.vm().into()),
            ("pid", fault.pid().into()),
            ("address", fault.address().into()),
            ("process", text(fault.process())),
        ],
        EventValue::ShaderWaves(waves) => {
            let fields = waves.fields();
            let all: Vec<Value> = waves.waves().map(shader).collect();
            vec![
                ("version", fields.version().into()),
                ("gpu", fields.gpu().into()),
                ("hang", fields.hang().into()),
                ("grbm", fields.grbm().collect::<Vec<_>>().into()),
                ("hung", fields.hung().into()),
                ("active", fields.active().into()),
                ("waves", all.into()),
            ]
        }
        EventValue::ShaderEngines(engines) => vec![
            ("version", engines.version().into()),
            ("gpu", engines.gpu().into()),
            ("engines", json!(engines.engines().collect::<Vec<_>>())),
        ],
        EventValue::GpuRegisters(registers) => vec![
            ("version", registers.version().into()),
            ("gpu", registers.gpu().into()),
            ("registers", json!(registers.registers().collect::<Vec<_>>())),
        ],
        EventValue::WaveRegisters(registers) => vec![
            ("version", registers.version().into()),
            ("shader", shader(registers.shader())),
            ("registers", json!(registers.registers().collect::<Vec<_>>())),
        ],
        EventValue::Gprs(gprs) => vec![
            ("version", gprs.version().into()),
            ("shader", shader(gprs.shader())),
            ("work_item", gprs.work_item().into()),
            ("vgpr", gprs.is_vector().into()),
            ("count", gprs.count().into()),
            ("registers", json!(gprs.registers().collect::<Vec<_>>())),
        ],
        _ => vec![("unknown", true.into())],
    }
}

fn of_struct(content: MarkerStruct<'_>, is_known: bool) -> Vec<(&'static str, Value)> {
    match content {
        MarkerStruct::CmdBufferStart(start) => vec![
            ("queue", start.queue().into()),
            ("device", start.device().into()),
            ("queue_flags", start.queue_flags().into()),
        ],
        MarkerStruct::PipelineBind(bind) => {
            vec![("bind_point", bind.bind_point().into()), ("api_pso_hash", bind.api_hash().into())]
        }
        MarkerStruct::Draw(draw) => vec![
            ("draw_type", draw.draw_type().into()),
            ("count", draw.count().into()),
            ("instances", draw.instances().into()),
            ("start", draw.start().into()),
            ("vertex_offset_reg", draw.vertex_offset_reg().into()),
            ("instance_offset_reg", draw.instance_offset_reg().into()),
            ("draw_id_reg", draw.draw_id_reg().into()),
        ],
        MarkerStruct::DrawUserData(data) => vec![
            ("vertex_offset_reg", data.vertex_offset_reg().into()),
            ("instance_offset_reg", data.instance_offset_reg().into()),
            ("draw_id_reg", data.draw_id_reg().into()),
        ],
        MarkerStruct::Dispatch(dispatch) => vec![
            ("dispatch_type", dispatch.dispatch_type().into()),
            ("x", dispatch.x().into()),
            ("y", dispatch.y().into()),
            ("z", dispatch.z().into()),
        ],
        MarkerStruct::BarrierBegin(barrier) => vec![
            ("internal", barrier.internal().into()),
            ("type", barrier.kind().into()),
            ("reason", barrier.reason().into()),
        ],
        MarkerStruct::BarrierEnd(barrier) => vec![
            ("pipeline_stalls", barrier.pipeline_stalls().into()),
            ("layout_transitions", barrier.layout_transitions().into()),
            ("caches", barrier.caches().into()),
        ],
        MarkerStruct::NestedCmdBuffer(nested) => vec![("nested", nested.cmd_buffer().into())],
        _ if is_known => vec![("short", true.into())],
        _ => Vec::new(),
    }
}
