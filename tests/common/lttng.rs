//! Builds small traces with the names and fields that LTTng's tracers use: of a kernel, and of ROS 2.

const UUID: [u8; 16] = *b"traceglasssample";
const HEADER: usize = 24;
const CONTEXT: usize = 52;

/// The event records of one packet.
struct Packet {
    cpu: u32,
    number: u64,
    begin: u64,
    end: u64,
    content: Vec<u8>,
}

impl Packet {
    /// A packet from and to a time in nanoseconds; its number is that within its stream.
    fn new(cpu: u32, number: u64, begin: u64, end: u64) -> Self {
        Self { cpu, number, begin, end, content: Vec::new() }
    }

    /// An event record: its id, its time in nanoseconds, and its fields as they lie in the file.
    fn event(&mut self, id: u16, time: u64, fields: &[Field<'_>]) {
        assert!((self.begin..=self.end).contains(&time), "{time} is outside of its packet");
        self.content.extend(id.to_le_bytes());
        self.content.extend(time.to_le_bytes());
        for field in fields {
            match *field {
                Field::Int(value) => self.content.extend(value.to_le_bytes()),
                Field::Long(value) => self.content.extend(value.to_le_bytes()),
                Field::Text(text) => self.content.extend(text.bytes().chain([0])),
            }
        }
    }

    fn write(&self) -> Vec<u8> {
        let content = HEADER + CONTEXT + self.content.len();
        let size = content.next_multiple_of(256);
        let mut data = 0xc1fc_1fc1_u32.to_le_bytes().to_vec();
        data.extend(UUID);
        data.extend(0u32.to_le_bytes()); // stream_id
        data.extend(self.begin.to_le_bytes());
        data.extend(self.end.to_le_bytes());
        data.extend((content as u64 * 8).to_le_bytes());
        data.extend((size as u64 * 8).to_le_bytes());
        data.extend(self.number.to_le_bytes());
        data.extend(0u64.to_le_bytes()); // events_discarded
        data.extend(self.cpu.to_le_bytes());
        assert_eq!(data.len(), HEADER + CONTEXT);
        data.extend(&self.content);
        data.resize(size, 0);
        data
    }
}

enum Field<'a> {
    Int(i32),
    Long(u64),
    Text(&'a str),
}

use Field::{Int, Long, Text};

/// Metadata with these lines in its environment, this context of events, and these events: names with fields.
fn metadata(environment: &str, context: &str, events: &[(&str, &str)]) -> Vec<u8> {
    let uuid = UUID.iter().enumerate().map(|(at, byte)| {
        let dash = if [4, 6, 8, 10].contains(&at) { "-" } else { "" };
        format!("{dash}{byte:02x}")
    });
    let mut text = format!(
        "/* CTF 1.8 */

typealias integer {{ size = 8; align = 8; signed = false; }} := uint8_t;
typealias integer {{ size = 16; align = 8; signed = false; }} := uint16_t;
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 32; align = 8; signed = true; }} := int32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;
typealias integer {{ size = 64; align = 8; signed = true; }} := int64_t;
typealias integer {{ size = 64; align = 8; signed = false; base = 16; }} := pointer_t;

trace {{
    major = 1;
    minor = 8;
    uuid = \"{}\";
    byte_order = le;
    packet.header := struct {{
        uint32_t magic;
        uint8_t uuid[16];
        uint32_t stream_id;
    }};
}};

env {{
{environment}}};

clock {{
    name = monotonic;
    freq = 1000000000;
    offset_s = 1795225314;
    absolute = true;
}};

typealias integer {{ size = 64; align = 8; signed = false; map = clock.monotonic.value; }} := time_t;

stream {{
    id = 0;
    packet.context := struct {{
        time_t timestamp_begin;
        time_t timestamp_end;
        uint64_t content_size;
        uint64_t packet_size;
        uint64_t packet_seq_num;
        uint64_t events_discarded;
        uint32_t cpu_id;
    }};
    event.header := struct {{
        uint16_t id;
        time_t timestamp;
    }};
{context}}};
",
        uuid.collect::<String>()
    );
    for (id, (name, fields)) in events.iter().enumerate() {
        text += &format!(
            "\nevent {{ name = \"{name}\"; id = {id}; stream_id = 0; fields := struct {{ {fields} }}; }};\n"
        );
    }
    text.into_bytes()
}

const SCHED_SWITCH: u16 = 0;
const SCHED_WAKEUP: u16 = 1;
const IRQ_ENTRY: u16 = 2;
const IRQ_EXIT: u16 = 3;
const WRITE_ENTRY: u16 = 4;
const WRITE_EXIT: u16 = 5;

/// A thread of the kernel's sample.
type Thread = (&'static str, i32, i32);

const IDLE: Thread = ("swapper", 0, 20);
const CONTROL: Thread = ("control", 301, 10);
const KWORKER: Thread = ("kworker/0:1H", 57, 0);
const BACKUP: Thread = ("backup", 412, 20);
const SLEEPING: u64 = 1;
const BLOCKED: u64 = 2;

fn switch(packet: &mut Packet, time: u64, from: Thread, state: u64, to: Thread) {
    let fields = [Text(from.0), Int(from.1), Int(from.2), Long(state), Text(to.0), Int(to.1), Int(to.2)];
    packet.event(SCHED_SWITCH, time, &fields);
}

fn wakeup(packet: &mut Packet, time: u64, thread: Thread, cpu: i32) {
    packet.event(SCHED_WAKEUP, time, &[Text(thread.0), Int(thread.1), Int(thread.2), Int(cpu)]);
}

fn interrupt(packet: &mut Packet, time: u64, irq: i32, name: &str, length: u64) {
    packet.event(IRQ_ENTRY, time, &[Int(irq), Text(name)]);
    packet.event(IRQ_EXIT, time + length, &[Int(irq), Int(1)]);
}

/// A trace of two processors of a Linux kernel, 60 ms long. Each 10 ms `control` wakes and runs for 1 ms. The fourth time, a
/// worker of the kernel with a higher priority has the processor, which a backup on the other one has given work.
pub fn kernel() -> Vec<(&'static str, Vec<u8>)> {
    const US: u64 = 1_000;
    const MS: u64 = 1_000_000;
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for cycle in 0..6 {
        let start = cycle * 10 * MS;
        let end = start + 10 * MS - 1;

        let mut cpu = Packet::new(0, cycle, start, end);
        let late = cycle == 3;
        if late {
            // The work of the backup's writes has come just before.
            wakeup(&mut cpu, start + 100 * US, KWORKER, 0);
            switch(&mut cpu, start + 110 * US, IDLE, 0, KWORKER);
        }
        interrupt(&mut cpu, start + 500 * US, 16, "timer", 5 * US);
        wakeup(&mut cpu, start + 506 * US, CONTROL, 0);
        let begun = if late { start + 6_800 * US } else { start + (520 + cycle) * US };
        if late {
            switch(&mut cpu, begun, KWORKER, SLEEPING, CONTROL);
        } else {
            switch(&mut cpu, begun, IDLE, 0, CONTROL);
        }
        switch(&mut cpu, begun + (990 + 5 * cycle) * US, CONTROL, SLEEPING, IDLE);
        first.extend(cpu.write());

        let mut cpu = Packet::new(1, cycle, start, end);
        if (2..5).contains(&cycle) {
            switch(&mut cpu, start + 50 * US, IDLE, 0, BACKUP);
            cpu.event(WRITE_ENTRY, start + 60 * US, &[Int(7), Long(65_536)]);
            switch(&mut cpu, start + 90 * US, BACKUP, BLOCKED, IDLE);
            interrupt(&mut cpu, start + 7_000 * US, 19, "ahci", 12 * US);
            wakeup(&mut cpu, start + 7_013 * US, BACKUP, 1);
            switch(&mut cpu, start + 7_020 * US, IDLE, 0, BACKUP);
            cpu.event(WRITE_EXIT, start + 7_040 * US, &[Long(65_536)]);
            switch(&mut cpu, start + 9_950 * US, BACKUP, 0, IDLE);
        }
        second.extend(cpu.write());
    }
    let environment = "    hostname = \"robot\";
    domain = \"kernel\";
    sysname = \"Linux\";
    kernel_release = \"6.12.0\";
    tracer_name = \"sample\";
";
    let metadata = metadata(
        environment,
        "",
        &[
            (
                "sched_switch",
                "string prev_comm; int32_t prev_tid; int32_t prev_prio; int64_t prev_state; string next_comm; int32_t next_tid; int32_t next_prio;",
            ),
            ("sched_wakeup", "string comm; int32_t tid; int32_t prio; int32_t target_cpu;"),
            ("irq_handler_entry", "int32_t irq; string name;"),
            ("irq_handler_exit", "int32_t irq; int32_t ret;"),
            ("syscall_entry_write", "int32_t fd; uint64_t count;"),
            ("syscall_exit_write", "int64_t ret;"),
        ],
    );
    vec![("kernel/metadata", metadata), ("kernel/channel0_0", first), ("kernel/channel0_1", second)]
}

/// A trace of two nodes of ROS 2 in one process, 400 ms long. Each 50 ms a timer publishes a scan, which the callback of a
/// subscription handles on another thread. The sixth scan takes it 38 ms.
pub fn ros2() -> Vec<(&'static str, Vec<u8>)> {
    const US: u64 = 1_000;
    const MS: u64 = 1_000_000;
    const PID: i32 = 900;
    const SUBSCRIPTION: u64 = 0x55d0_0000_1200;
    const OBJECT: u64 = 0x55d0_0000_1300;
    const SCAN: u64 = 0x55d0_0000_1400;
    const TIMER: u64 = 0x55d0_0000_2200;
    const TICK: u64 = 0x55d0_0000_2400;
    const PUBLISHER: u64 = 0x55d0_0000_3200;
    const NODE: u64 = 0x55d0_0000_4200;

    let mut packet = Packet::new(0, 0, 0, 400 * MS);
    let mut event = |id, time, thread: i32, fields: &[Field<'_>]| {
        let context = [Int(PID), Int(thread), Text("robot")];
        let all = context.iter().chain(fields).map(|field| match *field {
            Int(value) => Int(value),
            Long(value) => Long(value),
            Text(text) => Text(text),
        });
        packet.event(id, time, &all.collect::<Vec<_>>());
    };
    event(0, 10 * US, 901, &[Long(NODE), Long(NODE + 16), Text("scanner"), Text("/")]);
    event(
        1,
        20 * US,
        901,
        &[Long(SUBSCRIPTION), Long(NODE), Long(SUBSCRIPTION + 16), Text("/scan"), Long(10)],
    );
    event(2, 30 * US, 901, &[Long(SUBSCRIPTION), Long(OBJECT)]);
    event(3, 40 * US, 901, &[Long(OBJECT), Long(SCAN)]);
    event(4, 50 * US, 901, &[Long(SCAN), Text("Detector::on_scan(LaserScan)")]);
    event(5, 60 * US, 901, &[Long(TIMER), Long(50 * MS)]);
    event(6, 70 * US, 901, &[Long(TIMER), Long(TICK)]);
    event(4, 80 * US, 901, &[Long(TICK), Text("Scanner::tick()")]);
    for cycle in 0..7 {
        let start = (cycle + 1) * 50 * MS;
        let message = 0x7f00_0000_0000 + cycle * 64;
        event(7, start, 901, &[Long(TICK), Int(0)]);
        event(9, start + 300 * US, 901, &[Long(message)]);
        event(10, start + 304 * US, 901, &[Long(PUBLISHER), Long(message)]);
        event(
            11,
            start + 309 * US,
            901,
            &[Long(PUBLISHER + 16), Long(message), Long(1_795_225_314_000_000_000 + start)],
        );
        event(8, start + 340 * US, 901, &[Long(TICK)]);
        let begun = start + (420 + 7 * cycle) * US;
        let length = if cycle == 5 { 38_000 } else { 4_000 + 130 * cycle };
        event(7, begun, 902, &[Long(SCAN), Int(0)]);
        event(8, begun + length * US, 902, &[Long(SCAN)]);
    }
    let context = "    event.context := struct {
        int32_t vpid;
        int32_t vtid;
        string procname;
    };
";
    let environment = "    hostname = \"robot\";
    domain = \"ust\";
    tracer_name = \"sample\";
";
    let metadata = metadata(
        environment,
        context,
        &[
            (
                "ros2:rcl_node_init",
                "pointer_t node_handle; pointer_t rmw_handle; string node_name; string namespace;",
            ),
            (
                "ros2:rcl_subscription_init",
                "pointer_t subscription_handle; pointer_t node_handle; pointer_t rmw_subscription_handle; string topic_name; uint64_t queue_depth;",
            ),
            ("ros2:rclcpp_subscription_init", "pointer_t subscription_handle; pointer_t subscription;"),
            ("ros2:rclcpp_subscription_callback_added", "pointer_t subscription; pointer_t callback;"),
            ("ros2:rclcpp_callback_register", "pointer_t callback; string symbol;"),
            ("ros2:rcl_timer_init", "pointer_t timer_handle; int64_t period;"),
            ("ros2:rclcpp_timer_callback_added", "pointer_t timer_handle; pointer_t callback;"),
            ("ros2:callback_start", "pointer_t callback; int32_t is_intra_process;"),
            ("ros2:callback_end", "pointer_t callback;"),
            ("ros2:rclcpp_publish", "pointer_t message;"),
            ("ros2:rcl_publish", "pointer_t publisher_handle; pointer_t message;"),
            ("ros2:rmw_publish", "pointer_t rmw_publisher_handle; pointer_t message; int64_t timestamp;"),
        ],
    );
    vec![("ros2/metadata", metadata), ("ros2/robot_0", packet.write())]
}
