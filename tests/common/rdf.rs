//! Builds RDF files.

/// A chunk to be written.
#[derive(Clone, Default)]
pub struct Chunk {
    pub identifier: Vec<u8>,
    pub header: Vec<u8>,
    /// As it is to stand in the file.
    pub stored: Vec<u8>,
    pub compression: u8,
    pub uncompressed_size: i64,
    pub version: u32,
}

impl Chunk {
    /// A raw chunk without a header.
    pub fn raw(identifier: &str, data: &[u8]) -> Self {
        Self { identifier: identifier.into(), stored: data.to_vec(), version: 1, ..Self::default() }
    }

    /// A chunk that is stored as one zstd frame of raw blocks.
    pub fn zstd(identifier: &str, data: &[u8]) -> Self {
        Self {
            stored: zstd_frame(data),
            compression: 1,
            uncompressed_size: data.len() as i64,
            ..Self::raw(identifier, data)
        }
    }

    pub fn header(self, header: &[u8]) -> Self {
        Self { header: header.to_vec(), ..self }
    }

    pub fn version(self, version: u32) -> Self {
        Self { version, ..self }
    }
}

/// A file: header, chunks, index.
pub fn file(chunks: &[Chunk]) -> Vec<u8> {
    let mut file = vec![0; 32];
    let mut index = Vec::new();
    for chunk in chunks {
        let header_offset = file.len();
        file.extend(&chunk.header);
        let data_offset = file.len();
        file.extend(&chunk.stored);
        index.extend(entry(chunk, header_offset as i64, data_offset as i64));
    }
    let offset = file.len() as i64;
    file[..32].copy_from_slice(&header(offset, index.len() as i64));
    file.extend(index);
    file
}

/// The file header.
pub fn header(index_offset: i64, index_size: i64) -> [u8; 32] {
    let mut bytes = Vec::from(*b"AMD_RDF "); // identifier
    bytes.extend(3_u32.to_le_bytes()); //       version
    bytes.extend(0_u32.to_le_bytes()); //       reserved
    bytes.extend(index_offset.to_le_bytes()); // indexOffset
    bytes.extend(index_size.to_le_bytes()); //  indexSize
    bytes.try_into().unwrap()
}

/// An index entry.
pub fn entry(chunk: &Chunk, header_offset: i64, data_offset: i64) -> [u8; 64] {
    let mut bytes = chunk.identifier.clone(); //                 chunkIdentifier
    bytes.resize(16, 0);
    bytes.push(chunk.compression); //                            compression
    bytes.extend([0; 3]); //                                     reserved
    bytes.extend(chunk.version.to_le_bytes()); //                version
    bytes.extend(header_offset.to_le_bytes()); //                chunkHeaderOffset
    bytes.extend((chunk.header.len() as i64).to_le_bytes()); //  chunkHeaderSize
    bytes.extend(data_offset.to_le_bytes()); //                  chunkDataOffset
    bytes.extend((chunk.stored.len() as i64).to_le_bytes()); //  chunkDataSize
    bytes.extend(chunk.uncompressed_size.to_le_bytes()); //      uncompressedChunkSize
    bytes.try_into().unwrap()
}

/// A zstd frame that holds `data` in raw and RLE blocks: no compressor is needed to write one.
pub fn zstd_frame(data: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd]; // magic
    frame.push(0xa0); //                             single segment, content size of 4 bytes, no checksum
    frame.extend((data.len() as u32).to_le_bytes());
    let mut blocks = data.chunks(1 << 16).peekable();
    if data.is_empty() {
        frame.extend(1_u32.to_le_bytes()[..3].iter()); // a last raw block of no bytes
    }
    while let Some(block) = blocks.next() {
        let last = u32::from(blocks.peek().is_none());
        let rle = block.len() > 1 && block.iter().all(|byte| *byte == block[0]);
        let block_header = last | u32::from(rle) << 1 | (block.len() as u32) << 3;
        frame.extend(&block_header.to_le_bytes()[..3]);
        frame.extend(if rle { &block[..1] } else { block });
    }
    frame
}

/// A small file of every kind of chunk: what the tests damage, and the sample in `examples/data`.
pub fn sample() -> Vec<u8> {
    file(&[
        Chunk::raw("AsicInfo", b"gfx1100 Navi 31").header(&[1, 0, 0, 0]),
        Chunk::zstd("DDEvent", &b"draw indexed ".repeat(12)).version(2),
        Chunk::raw("TraceProcessInfo", b"game.exe"), // 16 bytes, without a NUL
        Chunk::zstd("Snapshot", &[0; 70_000]).header(b"before"),
        Chunk::zstd("Snapshot", &[0x5a; 300]).header(b"after"),
        Chunk::raw("", b""),
    ])
}
