//! The content of a chunk as the facts have it.

use super::{events, name_or, text, tokens};
use serde_json::{Value, json};
use traceglass::rdf::contents::{
    AsicInfo, CodeObject, Content, Hash128, HistoryRecord, Json, PciId, SystemInfo,
};

fn pci(pci: PciId) -> Value {
    json!({"raw": pci.number(), "bus": pci.bus(), "device": pci.device(), "function": pci.function()})
}

fn hash(hash: Hash128) -> Value {
    hash.to_string().into()
}

fn string(text: Option<traceglass::JsonString<traceglass::Text<'_>>>) -> Value {
    text.map(|text| text.chars().collect::<String>()).into()
}

/// JSON of the file as JSON.
fn parsed(json: Json<'_>) -> Value {
    serde_json::from_slice(json.raw()).expect("JSON")
}

pub fn content(content: &Content<'_>) -> Value {
    match content {
        Content::Api(api) => json!({
            "api_raw": api.fields().api(), "api": name_or(api.api().name(), api.api().number()),
            "major": api.fields().major(), "minor": api.fields().minor(),
        }),
        Content::Asic(info) => asic(info),
        Content::Adapter(adapter) => json!({
            "name": text(adapter.name().bytes()), "family": adapter.family(), "revision": adapter.revision(),
            "device": adapter.device(), "min_engine_mhz": adapter.min_engine_mhz(),
            "max_engine_mhz": adapter.max_engine_mhz(),
            "memory_type": name_or(adapter.memory_type().name(), adapter.memory_type().number()),
            "memory_ops_per_clock": adapter.memory_ops_per_clock(),
            "memory_bus_bits": adapter.memory_bus_bits(),
            "memory_bandwidth_mib_s": adapter.memory_bandwidth_mib_s(),
            "min_memory_mhz": adapter.min_memory_mhz(), "max_memory_mhz": adapter.max_memory_mhz(),
        }),
        Content::System(info) => system(info),
        Content::DriverOverrides(overrides) => {
            let overridden: Vec<Value> = overrides
                .overridden()
                .map(|setting| {
                    json!({
                        "component": string(setting.component()),
                        "structure": string(Some(setting.structure())),
                        "name": string(setting.name()), "value": parsed(setting.value()),
                    })
                })
                .collect();
            json!({"is_driver_experiments": overrides.is_experiments(), "overridden": overridden})
        }
        Content::TraceConfig(value) | Content::ExtendedInfo(value) => json!({"value": parsed(*value)}),
        Content::Process(process) => json!({
            "pid": process.pid(), "length": process.path_length(), "path": text(process.path().bytes()),
        }),
        Content::MemorySegments(segments) => {
            let all: Vec<Value> = segments
                .segments()
                .map(|segment| {
                    let heap = name_or(segment.heap().name(), segment.heap().number());
                    json!({"heap": heap, "base": segment.base(), "size": segment.size()})
                })
                .collect();
            json!({"segments": all})
        }
        Content::TraceError(error) => json!({
            "chunk": text(error.fields().missing().bytes()), "chunk_index": error.fields().missing_index(),
            "result": error.fields().result(),
            "payload": name_or(error.fields().payload().name(), error.fields().payload().number()),
            "text": error.text().map(|words| text(words.bytes())),
        }),
        Content::CodeObject(code) => code_object(code),
        Content::LoadEvents(loads) => {
            let records: Vec<Value> = loads
                .events()
                .map(|event| {
                    let fields = event.fields();
                    let mut record = json!({
                        "event": name_or(event.kind().name(), event.kind().number()), "base": fields.base(),
                        "hash": hash(fields.hash()), "ticks": fields.ticks(),
                    });
                    if let Some(pci) = event.pci() {
                        record["pci"] = pci.number().into();
                    }
                    record
                })
                .collect();
            json!({"count": loads.claimed(), "records": records})
        }
        Content::PipelineHashes(hashes) => {
            let records: Vec<Value> = hashes
                .pipelines()
                .map(|(pci, pipeline)| {
                    let mut record = json!({
                        "api_hash": format!("{:016x}", pipeline.api_hash()), "hash": hash(pipeline.hash()),
                        "name": text(pipeline.name().bytes()),
                    });
                    if let Some(pci) = pci {
                        record["pci"] = pci.number().into();
                    }
                    record
                })
                .collect();
            json!({"count": hashes.claimed(), "records": records})
        }
        Content::CodeObjectHashes(hashes) => {
            let records: Vec<Value> = hashes
                .records()
                .map(|record| {
                    json!({
                        "hash": hash(record.pipeline()), "code_object": hash(record.code_object()),
                        "has_metadata": record.has_metadata(),
                    })
                })
                .collect();
            json!({"count": hashes.claimed(), "records": records})
        }
        Content::QueueInfo(queue) => json!({
            "pci": pci(queue.pci()), "queue": queue.queue(), "context": queue.context(),
            "type": name_or(queue.queue_type().name(), queue.queue_type().number()),
            "engine": name_or(queue.engine().name(), queue.engine().number()),
        }),
        Content::QueueEvent(event) => json!({
            "pci": pci(event.pci()), "queue": event.queue(),
            "event": name_or(event.event().name(), event.event().number()),
            "sqtt_cmd_buffer": event.sqtt_cmd_buffer(), "frame": event.frame(), "sub_index": event.sub_index(),
            "api_id": event.api_id(), "cpu_ticks": event.cpu_ticks(), "gpu_begin": event.gpu_begin(),
            "gpu_end": event.gpu_end(),
        }),
        Content::ClockCalibration(clock) => json!({
            "pci": clock.pci().map(pci), "cpu_ticks": clock.cpu_ticks(), "gpu_ticks": clock.gpu_ticks(),
        }),
        Content::Sqtt(sqtt) => {
            let fields = sqtt.fields();
            json!({
                "stream_bytes": sqtt.tokens().len(), "pci": sqtt.pci().map(pci),
                "shader_engine": fields.shader_engine(), "sqtt_version": fields.sqtt_version(),
                "spec_version": fields.spec_version(), "api_version": fields.api_version(), "wgp": fields.wgp(),
                "trace_buffer_bytes": sqtt.buffer_bytes(),
                "instruction_timing": sqtt.has_instruction_timing(), "exec_pop_tokens": sqtt.has_exec_pop(),
            })
        }
        Content::SpmSession(session) => {
            let fields = session.fields();
            json!({
                "pci": session.pci().map(pci), "flags": fields.flags(), "interval": fields.interval(),
                "timestamps": fields.timestamps(), "counters": fields.counters(),
                "times": session.times().collect::<Vec<_>>(),
            })
        }
        Content::SpmCounter(counter) => {
            let fields = counter.fields();
            json!({
                "pci": counter.pci().map(pci), "block": name_or(fields.block().name(), fields.block().number()),
                "instance": fields.instance(), "event": fields.event(), "item_size": fields.item_size(),
                "samples": counter.samples().collect::<Vec<_>>(),
            })
        }
        Content::StringTable(strings) => {
            let all: Vec<Value> =
                strings.strings().map(|string| string.map(|string| text(string.bytes())).into()).collect();
            json!({"table": strings.fields().table(), "count": strings.fields().count(), "strings": all})
        }
        Content::MarkerHistory(history) => {
            let ops: Vec<Value> =
                history.ops().map(|(op, string)| json!([name_or(op.name(), op.number()), string])).collect();
            let fields = history.fields();
            json!({
                "sqtt_cmd_buffer": fields.sqtt_cmd_buffer(), "table": fields.table(), "count": fields.count(),
                "ops": ops,
            })
        }
        Content::Snapshot(snapshot) => json!({
            "name": text(snapshot.name().bytes()), "ticks": snapshot.ticks(),
            "name_length": snapshot.name_length(), "inner_version": snapshot.inner_version(),
        }),
        Content::SnapshotIndex(index) => json!({
            "inner_version": index.fields().inner_version(), "indices": index.places().collect::<Vec<_>>(),
        }),
        Content::Rmt(rmt) => {
            let mut value = tokens::summary(rmt.stream());
            let fields = rmt.fields();
            value["process"] = fields.process().into();
            value["thread"] = fields.thread().into();
            value["size"] = fields.size().into();
            value["stream"] = fields.stream().into();
            value
        }
        Content::DriverEvents(driver) => events::summary(*driver),
        Content::AccelStruct(accel) => {
            let fields = accel.fields();
            json!({
                "gpurt_version": [accel.version().0, accel.version().1], "base": accel.base(),
                "metadata": [fields.metadata_offset(), fields.metadata_size()],
                "header": [fields.header_offset(), fields.header_size()],
                "kind": if accel.is_bottom_level() { "blas" } else { "tlas" }, "bytes": accel.data().len(),
            })
        }
        Content::HistoryMetadata(history) => {
            let records: Vec<Value> =
                history.records().map_while(Result::ok).map(|record| history_record(&record)).collect();
            json!({"chunk_version": [history.version().0, history.version().1], "records": records})
        }
        Content::Unknown { header, data, .. } => json!({"header_bytes": header.len(), "bytes": data.len()}),
        other => panic!("{other:?}"),
    }
}

/// The facts about any JSON: its size, and the number of NULs that follow it.
pub fn of_json(content: &Content<'_>, total: usize) -> Option<Value> {
    let json = match content {
        Content::System(info) => info.json(),
        Content::DriverOverrides(overrides) => overrides.json(),
        Content::TraceConfig(value) | Content::ExtendedInfo(value) => *value,
        _ => return None,
    };
    Some(json!({"trailing_nuls": total - json.raw().len(), "bytes": total}))
}

fn asic(info: &AsicInfo<'_>) -> Value {
    let fields = info.fields();
    // All numbers come from the table of fields, which dumps use, too.
    let bytes_of = |name: &str| {
        traceglass::rdf::contents::AsicFields::FIELDS
            .iter()
            .find(|field| field.name() == name)
            .expect("a field")
    };
    assert_eq!((bytes_of("name").offset(), bytes_of("cu_mask").offset()), (152, 436));
    let masks: Vec<u16> = fields.cu_mask().collect();
    let engines = usize::try_from(fields.shader_engines()).unwrap_or(0).min(32);
    let masks: Vec<&[u16]> = masks.chunks(2).take(engines).collect();
    let mut value = json!({
        "shader_clock_hz": fields.shader_clock_hz(), "memory_clock_hz": fields.memory_clock_hz(),
        "gpu_timestamp_hz": fields.gpu_timestamp_hz(), "max_shader_clock_hz": fields.max_shader_clock_hz(),
        "max_memory_clock_hz": fields.max_memory_clock_hz(), "device_id": fields.device_id(),
        "device_revision": fields.device_revision(), "vgprs_per_simd": fields.vgprs_per_simd(),
        "sgprs_per_simd": fields.sgprs_per_simd(), "shader_engines": fields.shader_engines(),
        "cus_per_shader_engine": fields.cus_per_shader_engine(), "simds_per_cu": fields.simds_per_cu(),
        "waves_per_simd": fields.waves_per_simd(), "min_vgpr_alloc": fields.min_vgpr_alloc(),
        "vgpr_alloc_granularity": fields.vgpr_alloc_granularity(), "min_sgpr_alloc": fields.min_sgpr_alloc(),
        "sgpr_alloc_granularity": fields.sgpr_alloc_granularity(),
        "hardware_contexts": fields.hardware_contexts(),
    });
    let more = json!({
        "gpu_type": name_or(fields.gpu_type().name(), fields.gpu_type().number()),
        "gfxip": [fields.gfxip_major(), fields.gfxip_minor(), fields.gfxip_stepping()],
        "gpu_index": fields.gpu_index(), "ce_ram": fields.ce_ram(), "ce_ram_graphics": fields.ce_ram_graphics(),
        "ce_ram_compute": fields.ce_ram_compute(), "dedicated_cus": fields.dedicated_cus(),
        "vram_bytes": fields.vram_bytes(), "vram_bus_bits": fields.vram_bus_bits(),
        "l2_bytes": fields.l2_bytes(), "l1_bytes": fields.l1_bytes(), "lds_bytes": fields.lds_bytes(),
        "name": text(info.name().bytes()), "alu_per_clock": fields.alu_per_clock(),
        "texture_per_clock": fields.texture_per_clock(), "prims_per_clock": fields.prims_per_clock(),
        "pixels_per_clock": fields.pixels_per_clock(), "memory_ops_per_clock": fields.memory_ops_per_clock(),
        "memory_type": name_or(fields.memory_type().name(), fields.memory_type().number()),
        "lds_granularity": fields.lds_granularity(), "cu_mask": masks,
    });
    let object = value.as_object_mut().expect("an object");
    object.extend(more.as_object().expect("an object").clone());
    if let Some(place) = info.pci() {
        object.insert("pci".into(), pci(place));
    }
    if let Some(caches) = info.caches() {
        object.insert("pixel_packer_mask".into(), caches.pixel_packer_mask().collect::<Vec<_>>().into());
        object.insert("gl1_bytes".into(), caches.gl1_bytes().into());
        object.insert("instruction_cache_bytes".into(), caches.instruction_cache_bytes().into());
        object.insert("scalar_cache_bytes".into(), caches.scalar_cache_bytes().into());
        object.insert("mall_bytes".into(), caches.mall_bytes().into());
    }
    value
}

fn system(info: &SystemInfo<'_>) -> Value {
    let number = |path: &[&str]| info.get(path).and_then(|value| value.as_u64());
    let words = |path: &[&str]| string(info.get(path).and_then(|value| value.text()));
    let cpus: Vec<Value> = info
        .cpus()
        .map(|cpu| {
            let number = |name: &str| cpu.get(name).and_then(|value| value.as_u64());
            json!({
                "name": string(cpu.get("name").and_then(|name| name.text())),
                "numPhysicalCores": number("numPhysicalCores"), "numLogicalCores": number("numLogicalCores"),
                "cpuTimeClockFreq": number("cpuTimeClockFreq"),
            })
        })
        .collect();
    let gpus: Vec<Value> = info
        .gpus()
        .map(|gpu| {
            let at = |path: &[&str]| path.iter().try_fold(gpu, |value, name| value.get(name));
            let number = |path: &[&str]| at(path).and_then(|value| value.as_u64());
            json!({
                "name": string(gpu.get("name").and_then(|name| name.text())),
                "pci": at(&["pci"]).map(parsed), "device": number(&["asic", "ids", "device"]),
                "revision": number(&["asic", "ids", "revision"]), "family": number(&["asic", "ids", "family"]),
                "e_rev": number(&["asic", "ids", "eRev"]), "counter_hz": number(&["asic", "gpuCounterFreq"]),
                "memory_type": string(at(&["memory", "type"]).and_then(|name| name.text())),
                "local_bytes": number(&["memory", "heaps", "local", "size"]),
                "invisible_bytes": number(&["memory", "heaps", "invisible", "size"]),
            })
        })
        .collect();
    json!({
        "format_version": [number(&["version", "major"]), number(&["version", "minor"])],
        "driver": {
            "name": string(info.driver_name()), "softwareVersion": string(info.driver_version()),
            "packagingVersion": string(info.driver_package()),
            "isClosedSource": info.get(&["driver", "isClosedSource"]).and_then(|value| value.as_bool()),
        },
        "os": {
            "name": string(info.os_name()), "type": words(&["os", "type"]),
            "description": string(info.os_description()), "memory_bytes": info.memory_bytes(),
        },
        "cpus": cpus, "gpus": gpus, "process_count": info.processes().map(Iterator::count),
        "has_hostname": info.hostname().is_some(),
    })
}

fn code_object(code: &CodeObject<'_>) -> Value {
    let mut value =
        json!({"pci": code.pci().map(pci), "hash": hash(code.hash()), "bytes": code.data().len()});
    if let Ok(elf) = code.elf() {
        value["osabi"] = elf.os_abi().into();
        value["machine"] = elf.machine().into();
        value["mach"] = elf.mach().into();
        let functions: Vec<Value> = elf
            .functions()
            .map(|function| json!([text(function.name().bytes()), function.value(), function.size()]))
            .collect();
        value["functions"] = functions.into();
        let notes: Vec<Value> = elf
            .notes()
            .map(|note| json!([text(note.name().bytes()), note.kind(), note.content().len()]))
            .collect();
        value["notes"] = notes.into();
    }
    value
}

fn history_record(record: &HistoryRecord<'_>) -> Value {
    let mut value = json!({
        "kind": name_or(record.kind().name(), record.kind().number()), "size": record.content().len(),
    });
    if let Some(info) = record.counter_info() {
        let more = json!({
            "dispatch": [info.dispatch_x(), info.dispatch_y(), info.dispatch_z()],
            "hit_groups": info.hit_groups(), "miss_shaders": info.miss_shaders(),
            "pipeline_shaders": info.pipeline_shaders(), "state_object_hash": info.state_object_hash(),
            "counter_mode": info.counter_mode(), "counter_mask": info.counter_mask(),
            "counter_stride": info.counter_stride(), "ray_counter_size": info.ray_counter_size(),
            "lost_token_bytes": info.lost_token_bytes(), "range_begin": info.range_begin(),
            "range_end": info.range_end(), "pipeline_type": info.pipeline_type(),
        });
        value.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    }
    if let Some((buffer, index)) = record.user_marker() {
        value["cmd_buffer"] = buffer.into();
        value["history_index"] = index.into();
    }
    value
}
