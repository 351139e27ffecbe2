//! The graphics API.

use super::element;
use super::layout::{layout, values};
use crate::bytes::Bytes;
use crate::error::{Error, ErrorKind, Result};

values! {
    /// A graphics or compute API.
    pub enum Api: u32 {
        Generic = 0 "Generic",
        Dx9 = 1 "DirectX9",
        Dx11 = 2 "DirectX11",
        Dx12 = 3 "DirectX12",
        Vulkan = 4 "Vulkan",
        OpenGl = 5 "OpenGL",
        OpenCl = 6 "OpenCL",
        Mantle = 7 "Mantle",
        Hip = 8 "HIP",
        Metal = 9 "Metal",
    }
}

layout! {
    /// The structure of an `ApiInfo` chunk, the same in both versions.
    pub struct ApiFields, RawApi: 8 {
        /// The API, numbered by the chunk's version.
        api: u32,
        /// Major version.
        major: u16,
        /// Minor version.
        minor: u16,
    }
}

/// The API that a workload used: chunk `ApiInfo`, versions 1 and 2.
///
/// # Layout
/// 8 bytes: [`ApiFields`]. Version 1, which Mesa's RADV still writes, numbers the APIs otherwise.
#[derive(Clone, Copy, Debug)]
pub struct ApiInfo<'a> {
    fields: ApiFields<'a>,
    version: u32,
}

impl<'a> ApiInfo<'a> {
    pub(super) fn parse(version: u32, data: &'a [u8]) -> Result<Self> {
        supported(version, 1..=2)?;
        let fields = ApiFields::new(Bytes::new(data).view(element::API_INFO)?);
        Ok(Self { fields, version })
    }

    /// The structure as stored.
    pub const fn fields(&self) -> ApiFields<'a> {
        self.fields
    }

    /// The API.
    pub fn api(&self) -> Api {
        let number = self.fields.api();
        if self.version != 1 {
            return Api::from_stored(number);
        }
        match number {
            0 => Api::Dx9,
            1 => Api::Dx11,
            2 => Api::Dx12,
            3 => Api::Vulkan,
            4 => Api::OpenGl,
            5 => Api::OpenCl,
            6 => Api::Mantle,
            7 => Api::Generic,
            other => Api::Other(other),
        }
    }

    /// Major and minor version; `None` where both are 0, as in real DirectX 12 captures.
    pub fn version(&self) -> Option<(u16, u16)> {
        let version = (self.fields.major(), self.fields.minor());
        (version != (0, 0)).then_some(version)
    }
}

/// Refuses versions of a chunk that are not known.
pub(super) fn supported(version: u32, known: core::ops::RangeInclusive<u32>) -> Result<()> {
    if known.contains(&version) {
        return Ok(());
    }
    let kind = ErrorKind::UnsupportedVersion { found: version.into(), supported: u64::from(*known.end()) };
    Err(Error::new(0, element::CHUNK_VERSION, kind))
}
