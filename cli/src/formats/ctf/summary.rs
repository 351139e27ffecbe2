//! The facts about the trace that fragments tell: who recorded it, where, and its clocks.

use super::fragment::name_of;
use crate::json::minify;
use crate::output::{counted, grouped, printable};
use crate::trace::{shown_time, time_json};
use serde_json::{Map, Value};
use traceglass::JsonString;
use traceglass::ctf::metadata::{
    ClockClass, ClockOrigin, EnvironmentValue, Fragment, FragmentKind, Text, TraceClass,
};
use traceglass::ctf::schema::{self, Name};

/// The facts about the fragments that `info` tells.
#[derive(Default)]
pub struct Summary {
    pub count: u64,
    pub by_kind: Map<String, Value>,
    pub version: Option<u64>,
    pub uuid: Option<String>,
    pub trace_name: Option<String>,
    pub environment: Map<String, Value>,
    pub clocks: Vec<Value>,
    clock_lines: Vec<String>,
}

impl Summary {
    pub fn add(&mut self, fragment: Fragment<'_>) {
        // A fragment that is not JSON to its end cannot be printed, whatever its type.
        let found = fragment.check().and_then(|()| fragment.kind());
        self.count += u64::from(found.is_ok());
        let name = name_of(&found);
        match self.by_kind.get_mut(&name) {
            Some(count) => *count = (count.as_u64().unwrap_or(0) + 1).into(),
            None => {
                self.by_kind.insert(name, 1.into());
            }
        }
        match found {
            Ok(FragmentKind::Preamble) => {
                if let Ok(Some(preamble)) = fragment.preamble() {
                    self.version = self.version.or(preamble.version());
                    self.uuid = self.uuid.take().or(preamble.uuid().map(|uuid| uuid.to_string()));
                }
            }
            Ok(FragmentKind::TraceClass) => {
                if let Ok(Some(trace)) = fragment.trace_class() {
                    self.add_trace(&trace);
                }
            }
            Ok(FragmentKind::ClockClass) => {
                if let Ok(Some(clock)) = fragment.clock_class() {
                    self.clock_lines.push(clock_line(&clock));
                    self.clocks.push(clock_json(&clock));
                }
            }
            _ => {}
        }
    }

    fn add_trace(&mut self, trace: &TraceClass<'_>) {
        self.trace_name = self.trace_name.take().or(text(trace.name()));
        for (name, value) in trace.environment().map_while(Result::ok) {
            let value = match value {
                EnvironmentValue::Integer(value) => time_json(Some(value)),
                EnvironmentValue::String(value) => value.to_string().into(),
                EnvironmentValue::Other(value) => {
                    let mut json = Vec::new();
                    minify(value.pieces().flatten().copied(), &mut json);
                    let text = String::from_utf8_lossy(&json);
                    crate::json::value(&text).unwrap_or_else(|| text.into())
                }
                _ => Value::Null,
            };
            self.environment.insert(name.to_string(), value);
        }
    }

    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        if self.count > 0 {
            let kinds: Vec<String> =
                self.by_kind.iter().map(|(kind, count)| format!("{count} {}", printable(kind))).collect();
            lines.push(("fragments", format!("{}: {}", grouped(self.count), kinds.join(", "))));
        }
        if let Some(version) = self.version {
            let uuid = self.uuid.as_ref().map(|uuid| format!(", UUID {uuid}")).unwrap_or_default();
            lines.push(("trace", format!("CTF {version}{uuid}")));
        }
        if let Some(name) = self.trace_name.as_ref().filter(|name| !name.is_empty()) {
            lines.push(("name", printable(name)));
        }
        lines.extend(environment_lines(&self.environment));
        for (number, clock) in self.clock_lines.iter().enumerate() {
            lines.push((if number == 0 { "clocks" } else { "" }, clock.clone()));
        }
        lines
    }
}

/// A variable of the environment, as JSON.
pub fn variable((name, value): (Name<'_>, schema::EnvironmentValue<'_>)) -> (String, Value) {
    let value = match value {
        schema::EnvironmentValue::Integer(value) => time_json(Some(value)),
        schema::EnvironmentValue::Text(text) => text.to_string().into(),
        _ => Value::Null,
    };
    (name.to_string(), value)
}

/// Tracer and host, and the rest of the environment.
pub fn environment_lines(environment: &Map<String, Value>) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let entry = |key: &str| environment.get(key).map(shown);
    if let Some(tracer) = entry("tracer_name") {
        let version: Vec<String> =
            ["tracer_major", "tracer_minor", "tracer_patch"].into_iter().map_while(entry).collect();
        lines.push(("tracer", format!("{tracer} {}", version.join(".")).trim_end().to_owned()));
    }
    lines.extend(entry("hostname").map(|host| ("host", host)));
    let told = ["tracer_name", "tracer_major", "tracer_minor", "tracer_patch", "hostname"];
    let rest = environment.iter().filter(|(name, _)| !told.contains(&name.as_str()));
    lines.extend(rest.enumerate().map(|(number, (name, value))| {
        let label = if number == 0 { "environment" } else { "" };
        (label, format!("{} = {}", printable(name), shown(value)))
    }));
    lines
}

/// A value of the environment, for people.
fn shown(value: &Value) -> String {
    printable(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

fn text(string: Option<JsonString<Text<'_>>>) -> Option<String> {
    string.map(|string| string.to_string())
}

fn clock_json(clock: &ClockClass<'_>) -> Value {
    serde_json::json!({
        "name": text(clock.name()),
        "id": text(clock.id()),
        "uid": text(clock.uid()),
        "description": text(clock.description()),
        "frequency": clock.frequency(),
        "offset_seconds": clock.offset_seconds(),
        "offset_cycles": clock.offset_cycles(),
        "origin": origin(clock),
    })
}

fn origin(clock: &ClockClass<'_>) -> Option<String> {
    match clock.origin()? {
        ClockOrigin::UnixEpoch => Some("unix-epoch".to_owned()),
        ClockOrigin::Other(name) => Some(name.to_string()),
        _ => Some("custom".to_owned()),
    }
}

fn clock_line(clock: &ClockClass<'_>) -> String {
    let name =
        text(clock.name().or(clock.id())).map_or_else(|| "unnamed".to_owned(), |name| printable(&name));
    let frequency = match clock.frequency() {
        Some(hertz) if hertz > 0 && hertz.is_multiple_of(1_000_000) => {
            format!("{} MHz", grouped(hertz / 1_000_000))
        }
        Some(hertz) => format!("{} Hz", grouped(hertz)),
        None => "frequency not stated".to_owned(),
    };
    let zero = || {
        let cycles = i128::from(clock.offset_cycles()).checked_mul(1_000_000_000)?;
        let part = cycles.checked_div(clock.frequency()?.into())?;
        Some(i128::from(clock.offset_seconds()).saturating_mul(1_000_000_000).saturating_add(part))
    };
    if let (Some(ClockOrigin::UnixEpoch), Some(zero)) = (clock.origin(), zero()) {
        return format!("{name}: {frequency}, zero is {}", shown_time(zero, true));
    }
    let since = match origin(clock) {
        Some(origin) => format!("since {}", printable(&origin)),
        None => "origin not stated".to_owned(),
    };
    let cycles = counted(clock.offset_cycles(), "cycle", "cycles");
    format!("{name}: {frequency}, zero is {} s + {cycles} {since}", grouped(clock.offset_seconds()))
}
