//! The records of drivers' events: names, fields, hints and values, in one table.

use super::umd::InfoKind;
use super::{
    Event, EventValue, Marker, MarkerInfo, MarkerSource, MarkerStruct, PageFault, Provider, ShaderId,
    kind_name,
};
use crate::bytes::to_u64;
use crate::error::Result;
use crate::rdf::contents::tell::{Classes, List, Said, Words, group, record};
use crate::rdf::contents::ticks_to_ns;
use crate::record::{Any, Class, ClassId, Head, Listener, Record, Time};
use zerocopy::little_endian::U32;

/// An event of a driver as a record: with what its chunk says of it.
#[derive(Clone, Copy, Debug)]
pub struct EventRecord<'a> {
    event: Event<'a>,
    value: EventValue<'a>,
    hz: u64,
}

impl<'a> EventRecord<'a> {
    /// The record of an event whose clock has the rate `hz`; 0 if that is not known.
    ///
    /// # Errors
    /// The errors of [`Event::value`].
    #[inline]
    pub fn new(event: Event<'a>, hz: u64) -> Result<Self> {
        Ok(Self { event, value: event.value()?, hz })
    }

    /// The event.
    pub const fn event(&self) -> Event<'a> {
        self.event
    }

    /// Nanoseconds on the CPU's clock, if its rate is known.
    pub fn ns(&self) -> Option<i128> {
        ticks_to_ns(self.event.ticks()?, self.hz)
    }

    /// Calls `each` with the classes of markers.
    pub(in crate::rdf::contents) fn each_marker_class(each: &mut dyn FnMut(&dyn Class)) {
        let mut classes = Classes(each);
        // What more there is about a marker: its size, and the number that says which fields it has.
        let infos = (0..=8_u8).map(|number| (19, number));
        for (id, number) in [(16, 0), (17, 0)].into_iter().chain(infos) {
            let mut payload = [0; 64];
            let [_, _, _, _, _, _, _, _, size, _, kind, ..] = &mut payload;
            (*size, *kind) = (54, number);
            let provider = Provider::Umd;
            let event = Event { id, small: 0, delta: 0, time: None, offset: 0, provider, payload: &payload };
            if let Ok(record) = EventRecord::new(event, 0) {
                record.tell_all(&mut Any(&mut classes));
            }
        }
    }
}

impl Record for EventRecord<'_> {
    fn tell<L: Listener>(&self, to: &mut L) -> Result<()> {
        self.tell_all(&mut Any(to));
        Ok(())
    }
}

group! {
    Wave(stored: [U32; 2]) {
        version: u32 = stored[0].get();
        shader: u32 [Hexadecimal] = stored[1].get();
        shader_engine: u32 = ShaderId::from_stored(stored[1].get()).shader_engine();
        shader_array: u32 = ShaderId::from_stored(stored[1].get()).shader_array();
        wgp: u32 = ShaderId::from_stored(stored[1].get()).wgp();
        simd: u32 = ShaderId::from_stored(stored[1].get()).simd();
        wave: u32 = ShaderId::from_stored(stored[1].get()).wave();
    }
}

group! {
    Engine(stored: [U32; 4]) {
        version: u32 = stored[0].get();
        values: [Hex; 3] = [Hex(stored[1]), Hex(stored[2]), Hex(stored[3])];
    }
}

group! {
    Register(stored: [U32; 2]) {
        offset: u32 [Hexadecimal] = stored[0].get();
        value: u32 [Hexadecimal] = stored[1].get();
    }
}

/// The content of a register.
#[derive(Clone, Copy)]
struct Hex(U32);

impl From<U32> for Hex {
    fn from(stored: U32) -> Self {
        Self(stored)
    }
}

impl Said for Hex {
    const KIND: crate::record::Kind = crate::record::Kind::Unsigned { bits: 32 };
    const HINT: crate::record::Hint = crate::record::Hint::Hexadecimal;

    fn say(self, slot: crate::record::Slot, to: &mut Any<'_>) {
        to.unsigned(slot, self.0.get().into());
    }
}

/// The name of a kind.
const fn named(provider: Provider, id: u8) -> &'static str {
    match kind_name(provider, id) {
        Some(name) => name,
        None => "event",
    }
}

impl EventRecord<'_> {
    fn head(&self) -> Head {
        Head {
            class: ClassId(0),
            time: self.ns().map(Time::since_origin),
            offset: self.event.offset(),
            bit: 0,
            len: Some(to_u64(self.event.payload().len()).saturating_add(4)),
        }
    }

    fn tell_all(&self, to: &mut Any<'_>) {
        let (event, head) = (&self.event, self.head());
        macro_rules! event {
            ($id:literal $provider:ident $number:literal { $($rows:tt)* }) => {
                record!(to, head, $id, named(Provider::$provider, $number), true, {
                    ticks: Option<u64> [Ticks] = event.ticks();
                    $($rows)*
                })
            };
        }
        match self.value {
            EventValue::LargeDelta(delta) => event!(29 Umd 0 { delta: u64 = delta; }),
            EventValue::BufferState(state) => event!(30 Umd 18 {
                cmd_buffer: u32 = state.cmd_buffer();
                begin: u32 [Hexadecimal] = state.begin();
                end: u32 [Hexadecimal] = state.end();
                is_in_flight: bool = state.is_in_flight();
            }),
            EventValue::MarkerBegin { cmd_buffer, marker, name } => event!(31 Umd 16 {
                cmd_buffer: u32 = cmd_buffer;
                marker: u32 [Hexadecimal] = marker.number();
                source: MarkerSource = marker.source();
                name: Words<'_> = Words(name);
            }),
            EventValue::MarkerEnd { cmd_buffer, marker } => event!(32 Umd 17 {
                cmd_buffer: u32 = cmd_buffer;
                marker: u32 [Hexadecimal] = marker.number();
                source: MarkerSource = marker.source();
            }),
            EventValue::MarkerInfo(info) => self.tell_info(&info, to),
            EventValue::PageFault(fault) => self.tell_fault(&fault, to),
            EventValue::ShaderWaves(waves) => {
                let fields = waves.fields();
                event!(43 Kmd 17 {
                    version: u32 = fields.version();
                    gpu: u32 = fields.gpu();
                    hang: u32 = fields.hang();
                    grbm: List<'_, U32, Hex> = List::new(&fields.raw().grbm);
                    hung: u32 = fields.hung();
                    active: u32 = fields.active();
                    waves: List<'_, [U32; 2], Wave> = List::new(waves.stored());
                });
            }
            EventValue::ShaderEngines(engines) => event!(44 Kmd 18 {
                version: u32 = engines.version();
                gpu: u32 = engines.gpu();
                engines: List<'_, [U32; 4], Engine> = List::new(engines.stored());
            }),
            EventValue::GpuRegisters(registers) => event!(45 Kmd 19 {
                version: u32 = registers.version();
                gpu: u32 = registers.gpu();
                registers: List<'_, [U32; 2], Register> = List::new(registers.stored());
            }),
            EventValue::WaveRegisters(registers) => event!(46 Kmd 20 {
                version: u32 = registers.version();
                shader: u32 [Hexadecimal] = registers.shader().number();
                registers: List<'_, [U32; 2], Register> = List::new(registers.stored());
            }),
            EventValue::Gprs(gprs) => event!(47 Kmd 21 {
                version: u32 = gprs.version();
                shader: u32 [Hexadecimal] = gprs.shader().number();
                work_item: u32 = gprs.work_item();
                is_vector: bool = gprs.is_vector();
                count: u32 = gprs.count();
                registers: List<'_, U32, Hex> = List::new(gprs.stored());
            }),
            EventValue::Unknown => event!(48 Kmd 255 {
                provider: Provider = event.provider();
                id: u8 = event.id();
                bytes: &[u8] = event.payload();
            }),
        }
    }

    fn tell_fault(&self, fault: &PageFault<'_>, to: &mut Any<'_>) {
        record!(to, self.head(), 42, named(Provider::Kmd, 16), true, {
            ticks: Option<u64> [Ticks] = self.event.ticks();
            address: u64 [Address] = fault.address();
            vm: u32 = fault.vm();
            pid: u32 = fault.pid();
            process: Words<'_> = Words(fault.process());
        });
    }

    fn tell_info(&self, info: &MarkerInfo<'_>, to: &mut Any<'_>) {
        let marker: Marker = info.marker();
        macro_rules! info {
            ($id:literal { $($rows:tt)* }) => {
                record!(to, self.head(), $id, named(Provider::Umd, 19), true, {
                    ticks: Option<u64> [Ticks] = self.event.ticks();
                    cmd_buffer: u32 = info.cmd_buffer();
                    marker: u32 [Hexadecimal] = marker.number();
                    source: MarkerSource = marker.source();
                    info: InfoKind = InfoKind::from_stored(info.kind());
                    $($rows)*
                })
            };
        }
        match info.content() {
            MarkerStruct::CmdBufferStart(begin) => info!(33 {
                queue: u8 = begin.queue();
                device: u64 [Address] = begin.device();
                queue_flags: u32 [Hexadecimal] = begin.queue_flags();
            }),
            MarkerStruct::PipelineBind(bind) => info!(34 {
                bind_point: u32 = bind.bind_point();
                api_hash: u64 [Address] = bind.api_hash();
            }),
            MarkerStruct::Draw(draw) => info!(35 {
                draw_type: u32 = draw.draw_type();
                count: u32 = draw.count();
                instances: u32 = draw.instances();
                start: u32 = draw.start();
                vertex_offset_reg: u32 = draw.vertex_offset_reg();
                instance_offset_reg: u32 = draw.instance_offset_reg();
                draw_id_reg: u32 = draw.draw_id_reg();
            }),
            MarkerStruct::DrawUserData(data) => info!(36 {
                vertex_offset_reg: u32 = data.vertex_offset_reg();
                instance_offset_reg: u32 = data.instance_offset_reg();
                draw_id_reg: u32 = data.draw_id_reg();
            }),
            MarkerStruct::Dispatch(dispatch) => info!(37 {
                dispatch_type: u32 = dispatch.dispatch_type();
                x: u32 = dispatch.x();
                y: u32 = dispatch.y();
                z: u32 = dispatch.z();
            }),
            MarkerStruct::BarrierBegin(barrier) => info!(38 {
                internal: u8 = barrier.internal();
                barrier: u32 = barrier.kind();
                reason: u32 [Hexadecimal] = barrier.reason();
            }),
            MarkerStruct::BarrierEnd(barrier) => info!(39 {
                pipeline_stalls: u16 = barrier.pipeline_stalls();
                layout_transitions: u16 = barrier.layout_transitions();
                caches: u16 [Hexadecimal] = barrier.caches();
            }),
            MarkerStruct::NestedCmdBuffer(nested) => {
                info!(40 { nested_cmd_buffer: u32 = nested.cmd_buffer(); })
            }
            MarkerStruct::Other(bytes) => info!(41 { bytes: &[u8] = bytes; }),
        }
    }
}
