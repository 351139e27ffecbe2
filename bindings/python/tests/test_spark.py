"""The data source on a local cluster of separate worker processes. TRACEGLASS_SPARK=smoke runs the first test alone."""

import collections
import os
import pathlib
import re
import shutil
import struct
import sys

import pyarrow as pa
import pytest

import traceglass as tg

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")

full = pytest.mark.skipif(os.environ.get("TRACEGLASS_SPARK") == "smoke", reason="only a smoke test is wanted")


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    from traceglass.spark import TraceSource

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["SPARK_HOME"] = str(pathlib.Path(pyspark.__file__).parent)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    master = os.environ.get("TRACEGLASS_SPARK_MASTER", "local-cluster[2,1,1024]")
    session = (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.python.filterPushdown.enabled", "true")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    session.dataSource.register(TraceSource)
    yield session
    session.stop()


@pytest.fixture(scope="module")
def fleet(tmp_path_factory, samples):
    """Traces of several formats, among them one that is cut and one that is none."""
    folder = tmp_path_factory.mktemp("fleet")
    for number in range(3):
        shutil.copytree(samples / "sample.rfr", folder / f"device-{number}")
    shutil.copy(samples / "stream.rfr", folder)
    shutil.copy(samples / "sample.rtc", folder)
    # Segments of a service, as they lie in a bucket: one recording.
    service = folder / "service=web" / "boot=abcd-7"
    service.mkdir(parents=True)
    for number in range(2):
        shutil.copy(samples / "trace.0.bin", service / f"179541176{number}-{number}.bin")
    (folder / "cut.rfr").write_bytes((samples / "stream.rfr").read_bytes()[:-3])
    (folder / "none.rfr").write_bytes(b"\x0brfr-c/9.9.9")
    return folder


def load(spark, fleet, **options):
    return spark.read.format("traceglass").options(**options).load(str(fleet))


def rows(path, table="events"):
    return pa.table(tg.open(path).table(table)).to_pylist()


def test_smoke(spark, fleet):
    found = load(spark, fleet, table="events").groupBy("trace").count().collect()
    counts = {row["trace"]: row["count"] for row in found}
    readable = ["device-0", "device-1", "device-2", "stream.rfr", "sample.rtc", "cut.rfr", "service=web/boot=abcd-7"]
    assert counts == {name: len(rows(fleet / name)) for name in readable}
    damage = load(spark, fleet, table="damage").collect()
    assert {row["trace"] for row in damage} == {"cut.rfr", "none.rfr"}


#: Spark's types, as they are called.
TYPES = {
    "bigint": "LongType",
    "string": "StringType",
    "timestamp": "TimestampType",
    "double": "DoubleType",
    "boolean": "BooleanType",
    "binary": "BinaryType",
}


def read(path, filters=(), **options):
    """What the data source reads, in this process and without Java."""
    from pyspark.sql import types

    from traceglass.spark import TraceSource

    source = TraceSource({**options, "path": str(path)})
    made = {name: getattr(types, kind)() for name, kind in TYPES.items()}
    made |= {"decimal(20,0)": types.DecimalType(20, 0), "array<string>": types.ArrayType(types.StringType())}
    columns = re.findall(r"`?([^`\s]+)`? (\S+?)(?:, |$)", source.schema())
    reader = source.reader(types.StructType([types.StructField(name, made[kind]) for name, kind in columns]))
    if filters:
        list(reader.pushFilters(filters))
    return [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("sample.rgp", "events"),
        ("sample.rgp", "queues"),
        ("sample.rgp", "markers"),
        ("sample.rgp", "memory"),
        ("trace.0.bin", "events"),
        ("trace.0.bin", "polls"),
        ("kernel", "sched_switch"),
        ("sample.rfr", "task_poll_start"),
    ],
)
def test_pushed_filters_leave_rows_as_they_are(samples, name, table):
    from pyspark.sql.datasource import GreaterThanOrEqual, LessThan

    whole = read(samples / name, table=table)
    times = sorted({row["time_ns"] for row in whole if row["time_ns"] is not None})
    for at in times[:: -(-len(times) // 8)]:
        for filter, passes in [(LessThan, int.__lt__), (GreaterThanOrEqual, int.__ge__)]:
            pushed = read(samples / name, [filter(("time_ns",), at)], table=table, pushdown="true")
            # Spark applies it again.
            found, expected = (
                [row for row in rows if row["time_ns"] is not None and passes(row["time_ns"], at)] for rows in (pushed, whole)
            )
            assert found == expected


def test_pushed_filters_are_used(samples):
    from pyspark.sql.datasource import LessThan

    times = sorted(row["time_ns"] for row in read(samples / "kernel", table="sched_switch"))
    pushed = read(samples / "kernel", [LessThan(("time_ns",), times[3])], table="sched_switch", pushdown="true")
    assert len(pushed) == sum(time <= times[3] for time in times) < len(times)


def ctf(folder, fields, data):
    """A trace of events `ev` with these fields."""
    folder.mkdir(parents=True)
    (folder / "metadata").write_text(
        "/* CTF 1.8 */ typealias integer { size = 64; align = 8; signed = false; } := u64;"
        "trace { major = 1; minor = 8; byte_order = le; }; stream { };"
        f'event {{ name = "ev"; fields := struct {{ {fields} }}; }};'
    )
    (folder / "stream").write_bytes(data)


def test_kinds_of_a_table_without_kinds(samples):
    assert {row["kind"] for row in read(samples / "sample.rfr", kinds="begin")} == {"begin"}
    for table in ("task_poll_start", "damage"):
        with pytest.raises(ValueError, match="has no kinds"):
            read(samples / "sample.rfr", table=table, kinds="begin")


def test_fields_that_are_called_as_counts_are(tmp_path):
    most = 2**64 - 1
    ctf(tmp_path / "a", "u64 number; u64 bytes; u64 parent;", struct.pack("<QQQ", most, most, most))
    (row,) = read(tmp_path, table="ev")
    assert (row["number"], row["bytes_"], row["parent"], row["bytes"]) == (most, most, most, 24)


def test_fields_of_two_types(tmp_path):
    ctf(tmp_path / "one/a", "u64 x;", struct.pack("<QQ", 7, 8))
    ctf(tmp_path / "one/b", "string x;", b"abc\x009\x00")
    assert [row["x"] for row in read(tmp_path / "one", table="ev")] == [7, 8, None, 9]
    ctf(tmp_path / "two/a", "string x;", b"abc\x00")
    ctf(tmp_path / "two/b", "u64 x;", struct.pack("<Q", 7))
    assert [row["x"] for row in read(tmp_path / "two", table="ev")] == ["abc", "7"]


def test_a_trace_without_tables_is_damage(tmp_path, samples):
    shutil.copy(samples / "sample.ctf2", tmp_path / "a.ctf2")
    shutil.copy(samples / "stream.rfr", tmp_path)
    assert {row["trace"] for row in read(tmp_path)} == {"stream.rfr"}
    (row,) = read(tmp_path, table="damage")
    assert row["trace"] == "a.ctf2" and "has no events" in row["message"]


def test_small_traces_are_packed():
    from traceglass.spark import _COST, _SPLIT, _packed, _Part

    mib = 1 << 20
    small = [_Part(f"{number}.rfr", f"{number}", size=mib) for number in range(200)]
    large = [_Part("large", "large", (piece, piece + 1), size=_SPLIT) for piece in range(3)]
    packed = _packed([*small, *large], _SPLIT, _COST, 2)
    # Each part is in one of them, in its order.
    assert [part for some in packed for part in some.parts] == [*small, *large]
    assert max(len(some.parts) for some in packed) == _SPLIT // (5 * mib)
    assert len(packed) == -(-200 // 12) + 3
    # Few traces are for all cores.
    assert [len(some.parts) for some in _packed(small[:8], _SPLIT, _COST, 4)] == [2, 2, 2, 2]
    # A trace of which nothing is known counts, too, and none are no partition.
    assert len(_packed([_Part("none", "none")], _SPLIT, _COST, 4)) == 1
    assert _packed([], _SPLIT, _COST, 4) == []
    assert len(_packed(small, 1, _COST, 4)) == 200


def test_small_traces_share_partitions(spark, fleet):
    # Of 8 traces.
    assert load(spark, fleet, openCost="0").rdd.getNumPartitions() <= (os.cpu_count() or 1) + 1


def test_segments_are_one_recording(spark, fleet):
    name = "service=web/boot=abcd-7"
    polls = load(spark, fleet, table="polls", splitBytes="1")
    assert dict(polls.dtypes)["duration_ns"] == "bigint" and dict(polls.dtypes)["worker"] == "decimal(20,0)"
    found = [(row["trace"], row["duration_ns"], row["task"], row["spawn_loc"]) for row in polls.collect()]
    expected = [(name, row["duration_ns"], row["task"], row["spawn_loc"]) for row in rows(fleet / name, "polls")]
    assert collections.Counter(found) == collections.Counter(expected) and len(found) == 40
    stacks = load(spark, fleet, table="samples").select("stack").collect()
    assert [row["stack"] for row in stacks] == [row["stack"] for row in rows(fleet / name, "samples")]
    # Each segment is a partition of its own where that is enough.
    assert load(spark, fleet / "service=web", table="events", splitBytes="1").rdd.getNumPartitions() == 2


@full
def test_rows_are_those_of_one_process(spark, fleet):
    # Many partitions, so that both workers read.
    found = load(spark, fleet, table="task_poll_start", splitBytes="1").collect()
    expected = [
        (name, row["iid"], row["time_ns"], row["task"], row["bytes"])
        for name in ["device-0", "device-1", "device-2", "stream.rfr", "cut.rfr"]
        for row in rows(fleet / name, "task_poll_start")
    ]
    got = [(row["trace"], int(row["iid"]), row["time_ns"], row["task"], row["bytes"]) for row in found]
    assert collections.Counter(got) == collections.Counter(expected) and expected


@full
def test_separate_processes_read(spark, fleet):
    from pyspark.sql.functions import udf

    pid = udf(lambda _: os.getpid(), "bigint")
    pids = load(spark, fleet, splitBytes="1").select(pid("offset").alias("pid")).distinct().collect()
    assert os.getpid() not in {row["pid"] for row in pids} and pids


@full
def test_columns_and_filters(spark, fleet):
    everything = load(spark, fleet).filter("trace = 'device-1'")
    times = sorted(row["time_ns"] for row in everything.select("time_ns").collect())
    middle = times[len(times) // 2]
    few = load(spark, fleet, columns="trace,time_ns,kind", pushdown="true")
    assert few.columns == ["trace", "time_ns", "kind"]
    late = few.filter(f"trace = 'device-1' and time_ns >= {middle}")
    assert late.count() == sum(time >= middle for time in times)
    assert late.filter("time_ns < 0").count() == 0
    narrow = spark.read.format("traceglass").schema("kind string, time timestamp").load(str(fleet / "device-1"))
    assert narrow.columns == ["kind", "time"] and narrow.count() == len(times)
    window = load(spark, fleet, start=str(middle), kinds="begin").filter("trace = 'device-1' and kind = 'begin'")
    assert window.count() == everything.filter(f"kind = 'begin' and time_ns >= {middle}").count()


@full
def test_tables_that_are_told_once(spark, fleet):
    tasks = load(spark, fleet, table="tasks", splitBytes="1").filter("trace = 'device-0'").collect()
    assert len(tasks) == len(rows(fleet / "device-0", "tasks"))
    with pytest.raises(Exception, match="no column 'none' in 'events'; there are trace, "):
        load(spark, fleet, columns="kind,none").count()
    with pytest.raises(Exception, match="no trace has a table"):
        load(spark, fleet, table="none").collect()
