//! Samples, decimals and times, and the names of what can be found.

use traceglass::ByteOrder;
use traceglass::rtc::recover::GapReason;
use traceglass::rtc::{CrcStatus, Decimal, Format, Meta, Sample, Samples, Time};

/// The gain of a stream whose Meta writes it so.
fn decimal(json: &str) -> Option<Decimal> {
    read(json).ok().flatten()
}

fn read(json: &str) -> Result<Option<Decimal>, traceglass::Error> {
    let text = format!(r#"[{{"id":9,"name":"x","gain":{json}}},10]"#);
    let stream = Meta::new(text.as_bytes(), 0).next_stream().unwrap().unwrap();
    stream.gain()
}

fn samples<'a>(format: &str, payload: &'a [u8], order: ByteOrder) -> Vec<Sample<'a>> {
    Samples::new(payload, 0, Format::from_name(format), order).map(Result::unwrap).collect()
}

#[test]
fn decimals_are_exact() {
    for (json, digits, exponent, value) in [
        ("1", 1, 0, 1.0),
        ("-0.001", -1, -3, -0.001),
        ("12.50", 125, -1, 12.5),
        ("1e-6", 1, -6, 1e-6),
        ("2E+3", 2, 3, 2000.0),
        ("-7.5e12", -75, 11, -7.5e12),
    ] {
        let found = decimal(json).unwrap();
        assert_eq!((found.digits(), found.exponent(), found.to_f64()), (digits, exponent, value), "{json}");
    }
    // As `%.20f` prints it; and more digits than any time has.
    let found = decimal("0.00000010000000000000").unwrap();
    assert_eq!((found.digits(), found.exponent(), found.to_f64()), (1, -7, 1e-7));
    let found = decimal("0.10000000000000000555").unwrap();
    assert_eq!((found.digits(), found.exponent(), found.to_f64()), (10_000_000_000_000_000_555, -20, 0.1));
    let pi = "3.14159265358979323846264338327950288419716939937510582";
    assert_eq!(decimal(pi).unwrap().to_f64(), std::f64::consts::PI);
    assert_eq!(Time::from_raw(1, decimal(pi).unwrap(), Decimal::ZERO).to_string(), "3.141592653589793238");
    let large = decimal("123456789012345678901234567890123456789012345").unwrap();
    assert_eq!(
        (large.to_f64(), large.exponent()),
        ("123456789012345678901234567890123456789012345".parse().unwrap(), 11)
    );
    // What cannot be read is distinguished from what is not there.
    assert_eq!(read("null"), Ok(None));
    for (json, place) in [("\"1\"", 27), ("1e999", 27), ("[1]", 27)] {
        let error = read(json).unwrap_err();
        assert_eq!((error.kind().code(), error.offset()), ("unexpected", place), "{json}");
    }
}

#[test]
fn times_are_exact_where_they_can_be() {
    let micros = decimal("1e-6").unwrap();
    let offset = decimal("-0.5").unwrap();
    let time = Time::from_raw(1_500_001, micros, offset);
    assert_eq!((time.seconds(), time.nanoseconds(), time.to_string()), (1, 1_000, "1.000001".into()));
    assert_eq!(time.attoseconds(), 1_000_001_000_000_000_000);
    assert_eq!(time.to_f64(), 1.000001);
    // Before the start of the clock, the seconds are rounded down.
    let before = Time::from_raw(-1_250_000, micros, Decimal::ZERO);
    assert_eq!(
        (before.seconds(), before.nanoseconds(), before.to_string()),
        (-2, 750_000_000, "-1.25".into())
    );
    // Finer than 10^-18 s, yet whole in the end; and what is not is the nearest.
    assert_eq!(Time::from_raw(1_000, decimal("1e-21").unwrap(), Decimal::ZERO).attoseconds(), 1);
    assert_eq!(Time::from_raw(0, decimal("1e-30").unwrap(), Decimal::ZERO), Time::ZERO);
    assert_eq!(Time::from_raw(3, decimal("0.5e-18").unwrap(), Decimal::ZERO).attoseconds(), 2);
    assert_eq!(Time::from_raw(i128::MAX, decimal("1e3").unwrap(), Decimal::ZERO).attoseconds(), i128::MAX);
    assert_eq!(Time::from_f64(1.5).to_string(), "1.5");
    assert_eq!(Time::from_f64(f64::NAN), Time::ZERO);
    assert_eq!(Time::from_f64(f64::MAX).seconds(), i64::MAX);
    assert_eq!(Time::from_f64(f64::MIN).seconds(), i64::MIN);
    assert_eq!((Time::new(1, 1_500_000_000) + Time::new(1, 0)).to_string(), "3.5");
    assert_eq!((Time::from_f64(f64::MAX) + Time::new(1, 0)).attoseconds(), i128::MAX);
    // As many places as there are, and none more; whole seconds beyond 64 bits.
    let shown =
        |attoseconds| Time::from_raw(attoseconds, decimal("1e-18").unwrap(), Decimal::ZERO).to_string();
    assert_eq!(shown(0), "0");
    assert_eq!(shown(1), "0.000000000000000001");
    assert_eq!(shown(-1_000_000_000_000_000_010), "-1.00000000000000001");
    assert_eq!(shown(10_100_000_000_000_000_000), "10.1");
    assert_eq!(shown(i128::MAX), "170141183460469231731.687303715884105727");
    assert_eq!(shown(i128::MIN), "-170141183460469231731.687303715884105728");
}

#[test]
fn samples_are_read_in_their_order() {
    let (little, big) = (ByteOrder::Little, ByteOrder::Big);
    assert_eq!(samples("uint16", &[1, 2, 3, 4], little), [Sample::Unsigned(0x201), Sample::Unsigned(0x403)]);
    assert_eq!(samples("uint16", &[1, 2], big), [Sample::Unsigned(0x102)]);
    assert_eq!(samples("uint32le", &[1, 2, 3, 4], big), [Sample::Unsigned(0x0403_0201)]);
    assert_eq!(samples("uint64be", &[0, 0, 0, 0, 0, 0, 1, 2], little), [Sample::Unsigned(0x102)]);
    assert_eq!(samples("int16be", &[0xff, 0xfe], little), [Sample::Signed(-2)]);
    assert_eq!(samples("int64le", &[0xff; 8], big), [Sample::Signed(-1)]);
    assert_eq!(samples("float32le", &1.5_f32.to_le_bytes(), big), [Sample::Float32(1.5)]);
    assert_eq!(samples("float64be", &(-2.5_f64).to_be_bytes(), little), [Sample::Float64(-2.5)]);
    assert_eq!(samples("platform", &[4, 3, 2, 1], little), [Sample::Unsigned(0x0102_0304)]);
    let stamp = [&7_u64.to_le_bytes()[..], &9_u32.to_le_bytes()].concat();
    assert_eq!(samples("timespec", &stamp, little), [Sample::Timespec(7, 9)]);
    assert_eq!(samples("utf-8", b"hi", little), [Sample::Text("hi")]);
    assert_eq!(samples("json", b"{}", little), [Sample::Json("{}")]);
    assert_eq!(samples("raw", b"\0\x01", little), [Sample::Bytes(b"\0\x01")]);

    let said: Vec<String> = [
        Sample::Unsigned(1),
        Sample::Signed(-1),
        Sample::Float32(0.5),
        Sample::Float64(0.25),
        Sample::Timespec(7, 9),
        Sample::Text("secret"),
        Sample::Json("{\"a\":1}"),
        Sample::Bytes(b"secret"),
    ]
    .iter()
    .map(|sample| format!("{sample:?}"))
    .collect();
    // Numbers are shown; of a payload only how long it is.
    let expected = ["1", "-1", "0.5", "0.25", "7 s + 9 ns", "6 bytes of text", "7 bytes of JSON", "6 bytes"];
    assert_eq!(said, expected);
}

#[test]
fn samples_are_scaled() {
    let (gain, offset) = (decimal("0.5"), decimal("10"));
    assert_eq!(Sample::Unsigned(3).scaled(gain, offset), Some(11.5));
    assert_eq!(Sample::Signed(-3).scaled(gain, None), Some(-1.5));
    assert_eq!(Sample::Float32(3.0).scaled(None, offset), Some(13.0));
    assert_eq!(Sample::Float64(3.0).scaled(None, None), Some(3.0));
    assert_eq!(Sample::Timespec(3, 500_000_000).scaled(gain, None), Some(1.75));
    assert_eq!(Sample::Text("3").scaled(gain, offset), None);

    let time = |sample: Sample<'_>, gain, offset| sample.as_time(gain, offset).map(|time| time.to_string());
    assert_eq!(time(Sample::Unsigned(3), gain, offset).as_deref(), Some("11.5"));
    assert_eq!(time(Sample::Signed(-3), gain, None).as_deref(), Some("-1.5"));
    assert_eq!(time(Sample::Timespec(3, 1), None, offset).as_deref(), Some("13.000000001"));
    assert_eq!(time(Sample::Timespec(3, 0), gain, None).as_deref(), Some("1.5"));
    // However a gain of 1 is written, a stamp stays exact.
    for one in ["1", "1.0", "10e-1"] {
        let stamp = Sample::Timespec(1_700_000_000, 89_123);
        assert_eq!(time(stamp, decimal(one), None).as_deref(), Some("1700000000.000089123"), "{one}");
    }
    assert_eq!(time(Sample::Float32(3.0), gain, None).as_deref(), Some("1.5"));
    assert_eq!(time(Sample::Float64(2.0), gain, None).as_deref(), Some("1"));
    assert_eq!(time(Sample::Float64(f64::INFINITY), gain, None), None);
    assert_eq!(time(Sample::Bytes(b"3"), gain, None), None);
}

/// The command prints them, and other programs rely on them.
#[test]
fn names_are_stable() {
    let reasons = [
        GapReason::HeadCut,
        GapReason::Truncated,
        GapReason::Marker,
        GapReason::Frames,
        GapReason::Units,
        GapReason::Capacity,
    ];
    let expected =
        ["head-cut", "truncated", "marker-damaged", "frames-damaged", "units-missing", "capacity-exceeded"];
    assert_eq!(reasons.map(GapReason::name), expected);
    let mismatch = CrcStatus::Mismatch { stored: 1, computed: 2 };
    let verdicts = [CrcStatus::Ieee, CrcStatus::Writer, CrcStatus::Stale, mismatch, CrcStatus::Missing];
    assert_eq!(verdicts.map(|verdict| verdict.name()), ["ieee", "writer", "stale", "mismatch", "missing"]);
}

/// A double is the nearest one: no other lies closer to the exact time.
#[test]
fn times_as_doubles_are_the_nearest() {
    assert_eq!(Time::new(9, 137).to_f64(), "9.000000137".parse().unwrap());
    let mut random = 1_u64;
    for n in 0..50_000_u32 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let attoseconds = i128::from(random) << (n % 64) >> (n % 61);
        for time in [Time::from_attoseconds(attoseconds), -Time::from_attoseconds(attoseconds)] {
            assert_eq!(time.to_f64(), time.to_string().parse::<f64>().unwrap(), "{time}");
        }
    }
    for edge in [0, 1, i128::MAX, i128::MIN] {
        let time = Time::from_attoseconds(edge);
        assert_eq!(time.to_f64(), time.to_string().parse::<f64>().unwrap());
    }
}
