//! A CTF trace of packets that tell their processor and their number.

pub const METADATA: &str = "/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le;
    packet.header := struct { integer { size = 32; align = 8; signed = false; } magic; }; };
clock { name = clk; freq = 1000000000; };
stream {
    packet.context := struct {
        integer { size = 64; align = 8; signed = false; map = clock.clk.value; } timestamp_begin;
        integer { size = 64; align = 8; signed = false; map = clock.clk.value; } timestamp_end;
        integer { size = 32; align = 8; signed = false; } content_size;
        integer { size = 32; align = 8; signed = false; } packet_size;
        integer { size = 8; align = 8; signed = false; } cpu_id;
        integer { size = 32; align = 8; signed = false; } packet_seq_num; };
    event.header := struct {
        integer { size = 64; align = 8; signed = false; map = clock.clk.value; } timestamp;
        integer { size = 8; align = 8; signed = false; } id; }; };
event { name = tick; id = 1; fields := struct { integer { size = 32; align = 8; signed = false; } serial; }; };
";

/// A packet of three records, 96 bytes long.
pub fn packet(cpu: u8, number: u32, begin: u64) -> Vec<u8> {
    let mut bytes = 0xc1fc_1fc1_u32.to_le_bytes().to_vec();
    bytes.extend(begin.to_le_bytes());
    bytes.extend((begin + 20).to_le_bytes());
    bytes.extend((72_u32 * 8).to_le_bytes());
    bytes.extend((96_u32 * 8).to_le_bytes());
    bytes.push(cpu);
    bytes.extend(number.to_le_bytes());
    for record in 0..3_u64 {
        bytes.extend((begin + 10 * record).to_le_bytes());
        bytes.push(1);
        bytes.extend((begin as u32 + record as u32).to_le_bytes());
    }
    assert_eq!(bytes.len(), 72);
    bytes.resize(96, 0);
    bytes
}
