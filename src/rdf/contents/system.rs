//! The computer: driver, operating system, CPUs, GPUs, processes.

use super::api::supported;
use super::{FixedText, Json, element};
use crate::bytes::{Bytes, to_u64};
use crate::error::{Error, ErrorKind, Finding, Result, Severity};
use crate::json::JsonString;
use crate::text::Text;
use zerocopy::little_endian::U32;

/// The computer that a trace was taken on: chunk `SystemInfo`, version 1.
///
/// # Layout
/// JSON; `version.major` is 1 or 2.
///
/// # Privacy
/// `os.hostname`, `processes` and the GPUs' `luid` tell of the person; show them only when asked to.
#[derive(Clone, Copy, Debug)]
pub struct SystemInfo<'a>(Json<'a>);

impl<'a> SystemInfo<'a> {
    pub(super) fn parse(version: u32, data: &'a [u8]) -> Result<Self> {
        supported(version, 1..=1)?;
        Json::parse(data, element::SYSTEM_INFO).map(Self)
    }

    /// The whole text.
    pub const fn json(&self) -> Json<'a> {
        self.0
    }

    /// A member by its path.
    pub fn get(&self, path: &[&str]) -> Option<Json<'a>> {
        path.iter().try_fold(self.0, |object, name| object.get(name))
    }

    fn text(&self, path: &[&str]) -> Option<JsonString<Text<'a>>> {
        self.get(path)?.text()
    }

    /// Name of the driver, such as "AMD Windows".
    pub fn driver_name(&self) -> Option<JsonString<Text<'a>>> {
        self.text(&["driver", "name"])
    }

    /// Version of the driver that users know, such as "24.9.1".
    #[doc(alias = "softwareVersion")]
    pub fn driver_version(&self) -> Option<JsonString<Text<'a>>> {
        self.text(&["driver", "softwareVersion"])
    }

    /// Version of the driver's package.
    #[doc(alias = "packagingVersion")]
    pub fn driver_package(&self) -> Option<JsonString<Text<'a>>> {
        self.text(&["driver", "packagingVersion"])
    }

    /// Name of the operating system.
    pub fn os_name(&self) -> Option<JsonString<Text<'a>>> {
        self.text(&["os", "name"])
    }

    /// The exact version.
    pub fn os_description(&self) -> Option<JsonString<Text<'a>>> {
        self.text(&["os", "description"])
    }

    /// Name of the computer. See "Privacy" above.
    pub fn hostname(&self) -> Option<JsonString<Text<'a>>> {
        self.text(&["os", "hostname"])
    }

    /// Memory of the computer in bytes.
    pub fn memory_bytes(&self) -> Option<u64> {
        self.get(&["os", "memory", "physical"])?.as_u64()
    }

    /// The CPUs.
    pub fn cpus(&self) -> impl Iterator<Item = Json<'a>> + Clone + use<'a> {
        self.get(&["cpus"]).into_iter().flat_map(|cpus| cpus.elements())
    }

    /// The GPUs.
    pub fn gpus(&self) -> impl Iterator<Item = Json<'a>> + Clone + use<'a> {
        self.get(&["gpus"]).into_iter().flat_map(|gpus| gpus.elements())
    }

    /// The processes that ran; `None` where they are not listed. See "Privacy" above.
    pub fn processes(&self) -> Option<impl Iterator<Item = Process<'a>> + Clone + use<'a>> {
        self.get(&["processes"]).map(|list| list.elements().map(Process))
    }

    /// Rate of CPU ticks in Hz, if stated and not 0.
    #[doc(alias = "cpuTimeClockFreq")]
    pub fn cpu_hz(&self) -> Option<u64> {
        self.cpus().next()?.get("cpuTimeClockFreq")?.as_u64().filter(|&hz| hz > 0)
    }

    /// Rate of GPU ticks of the first GPU in Hz, if stated and not 0.
    #[doc(alias = "gpuCounterFreq")]
    pub fn gpu_hz(&self) -> Option<u64> {
        self.gpus().next()?.get("asic")?.get("gpuCounterFreq")?.as_u64().filter(|&hz| hz > 0)
    }
}

/// A process of [`SystemInfo::processes`].
#[derive(Clone, Copy, Debug)]
pub struct Process<'a>(Json<'a>);

impl<'a> Process<'a> {
    /// The number.
    #[doc(alias = "processId")]
    pub fn id(&self) -> Option<u64> {
        self.0.get("processId")?.as_u64()
    }

    /// The name.
    pub fn name(&self) -> Option<JsonString<Text<'a>>> {
        self.0.get("name")?.text()
    }

    /// Path of its executable.
    pub fn path(&self) -> Option<JsonString<Text<'a>>> {
        self.0.get("path")?.text()
    }
}

/// The process that a crash dump is of: chunk `TraceProcessInfo`, version 1.
///
/// # Layout
/// `u32` process, `u32` length of the path with its NUL, path.
#[doc(alias = "TraceProcessInfo")]
#[derive(Clone, Copy, Debug)]
pub struct ProcessInfo<'a> {
    pid: u32,
    length: u32,
    path: &'a [u8],
}

impl<'a> ProcessInfo<'a> {
    pub(super) fn parse(version: u32, data: &'a [u8]) -> Result<Self> {
        supported(version, 1..=1)?;
        let mut bytes = Bytes::new(data);
        let [pid, length] = bytes.view::<[U32; 2]>(element::PROCESS_INFO)?;
        Ok(Self { pid: pid.get(), length: length.get(), path: bytes.as_slice() })
    }

    /// Number of the process.
    pub const fn pid(&self) -> u32 {
        self.pid
    }

    /// Length of the path with its NUL, as stored.
    pub const fn path_length(&self) -> u32 {
        self.length
    }

    /// Path of the executable.
    pub fn path(&self) -> FixedText<'a> {
        let len = usize::try_from(self.length).unwrap_or(usize::MAX);
        FixedText::new(self.path.get(..len).unwrap_or(self.path))
    }

    pub(super) fn check(&self, report: &mut dyn FnMut(Finding)) {
        let (claimed, max) = (u64::from(self.length), to_u64(self.path.len()));
        if claimed > max {
            let kind = ErrorKind::CountTooLarge { claimed, max };
            report(Finding::new(Severity::Error, Error::new(4, element::PROCESS_PATH_LENGTH, kind)));
        } else if !self.path().is_terminated() {
            report(Finding::warning(Error::new(8, element::PROCESS_PATH, ErrorKind::Missing)));
        }
    }
}
