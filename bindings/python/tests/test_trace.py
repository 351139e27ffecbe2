import collections
import datetime
import doctest
import inspect
import json
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import threading
import time

import duckdb
import pandas
import polars
import pyarrow as pa
import pytest

import traceglass as tg
from traceglass import _core, _trace, ros2

ROOT = pathlib.Path(__file__).parents[3]


def records(path):
    """What the command prints of a trace's records."""
    status, stdout, stderr = _core.run(["cat", "--json", str(path)])
    assert status in (0, 3), stderr
    return [json.loads(line) for line in stdout.splitlines()]


def test_info_check_and_tables(samples):
    trace = tg.open(samples / "sample.rfr")
    info = trace.info()
    assert info["format"] == "rfr" and info["verdict"] == "clean" and info["records"] == 246
    assert trace.check()["findings"] == []
    assert trace.tables[:4] == ["events", "tracks", "gaps", "parts"]
    assert sum(trace.pieces) == info["bytes"]
    assert tg.open(samples / "sample.rdf").info()["entries"] == 6
    assert "sample.rfr" in repr(trace) and "events" in repr(trace.events())


@pytest.mark.parametrize("name", ["sample.rfr", "sample.rtc", "sample.ctf"])
def test_events_are_those_of_the_command(samples, name):
    expected = records(samples / name)
    events = pa.table(tg.open(samples / name).events())
    kinds = collections.Counter(events["kind"].to_pylist())
    assert kinds.total() - kinds["discarded"] - kinds["gap"] == len(expected)
    if "time_ns" in expected[0]:
        times = [event["time_ns"] for event in expected if event["time_ns"] is not None]
        found = zip(events["kind"].to_pylist(), events["time_ns"].to_pylist())
        told = [time for kind, time in found if kind not in ("discarded", "gap") and time is not None]
        assert sorted(told) == sorted(times) and len(times) > 0


def test_whoever_takes_arrow_takes_it(samples):
    trace = tg.open(samples / "sample.rfr")
    polls = trace.table("task_poll_start")
    count = sum(record["kind"] == "TaskPollStart" for record in records(trace.path))
    assert count > 0
    assert pa.table(polls).num_rows == count
    assert "iid" in polars.DataFrame(polls).columns and len(polars.from_arrow(polls)) == count
    # Only pandas 3 takes it by itself, which needs Python 3.11.
    frame = getattr(pandas.DataFrame, "from_arrow", lambda table: pa.table(table).to_pandas())
    assert len(frame(polls)) == count
    assert duckdb.sql("select count(*), sum(iid) from polls").fetchall()[0][0] == count
    # Each time it is taken, it is read anew.
    assert pa.RecordBatchReader.from_stream(polls).read_all().num_rows == count
    assert pa.schema(polls).field("iid").type == pa.uint64()


def test_columns_kinds_and_times(samples):
    trace = tg.open(samples / "sample.rfr")
    everything = pa.table(trace.events())
    few = trace.events(columns=["time_ns", "kind"])
    assert few.columns == ["time_ns", "kind"]
    assert trace.events(columns=["kind", "time_ns", "kind"]).columns == ["time_ns", "kind"]
    assert pa.table(few).to_pydict() == everything.select(["time_ns", "kind"]).to_pydict()
    begins = pa.table(trace.events(kinds=["begin"]))
    assert 0 < begins.num_rows == everything["kind"].to_pylist().count("begin")
    times = sorted(everything["time_ns"].to_pylist())
    middle = times[len(times) // 2]
    early, late = pa.table(trace.events(end=middle)), pa.table(trace.events(start=middle))
    assert early.num_rows + late.num_rows == everything.num_rows
    assert 0 < early.num_rows == sum(time < middle for time in times)
    moment = datetime.datetime.fromtimestamp(middle // 1000 / 1e6, datetime.timezone.utc)
    assert abs(pa.table(trace.events(start=moment)).num_rows - late.num_rows) <= 2
    with pytest.raises(ValueError, match="time zone"):
        trace.events(start=moment.replace(tzinfo=None))


def test_times_keep_their_nanoseconds():
    for ns in (1795225314000010123, -1500, 0):
        assert _trace._ns(pandas.Timestamp(ns, tz="UTC")) == ns
        assert _trace._ns(pandas.Series([ns])[0]) == ns
    assert _trace._ns(datetime.datetime(1970, 1, 1, 0, 0, 0, 7, datetime.timezone.utc)) == 7000
    with pytest.raises(TypeError, match="a time is an int of nanoseconds or a datetime, not float"):
        _trace._ns(1.5)


def test_batches_and_pieces_add_up(samples):
    trace = tg.open(samples / "sample.rfr")
    whole = pa.table(trace.events())
    small = pa.RecordBatchReader.from_stream(trace.events(batch_rows=7))
    batches = list(small)
    assert max(len(batch) for batch in batches) == 7
    assert sum(len(batch) for batch in batches) == whole.num_rows
    parts = [pa.table(trace.events(pieces=(at, at + 1))).num_rows for at in range(len(trace.pieces))]
    assert sum(parts) == whole.num_rows
    one = pa.table(tg.open(samples / "sample.rfr", threads=1).events())
    assert one.to_pydict() == whole.to_pydict()


def test_tracks_join_events(samples):
    trace = tg.open(samples / "sample.rfr")
    tracks = pa.table(trace.tracks())
    events = pa.table(trace.events())
    ids = tracks["track"].to_pylist()
    assert len(ids) == len(set(ids))
    assert set(events["track"].to_pylist()) <= set(ids)
    assert "ping" in tracks["name"].to_pylist()


def test_slices_are_those_of_the_command(samples):
    """As `cat --slices` prints them; a range of time has those that touch it, with their true ends."""
    path = samples / "sample.ctf"
    code, printed, _ = tg._core.run(["cat", "--slices", "--json", str(path)])
    expected = [json.loads(line) for line in printed.splitlines()]
    columns = ["track", "name", "time_ns", "end_time_ns", "duration_ns", "depth", "offset", "flags"]
    found = pa.table(tg.open(path).slices(columns=columns)).to_pylist()
    assert code == 0 and len(found) == 12
    assert found == [{column: line[column] for column in columns} for line in expected]
    one = found[2]
    inside = one["time_ns"] + 1
    assert pa.table(tg.open(path).slices(columns=columns, start=inside, end=inside + 1)).to_pylist() == [one]
    named = pa.table(tg.open(path).slices(kinds=[one["name"]], columns=["name"]))
    assert set(named["name"].to_pylist()) == {one["name"]}


def test_parameters_are_told():
    for read in [tg.Trace.table, tg.Trace.events, tg.Trace.tracks, tg.Trace.slices, tg.Trace.gaps, tg.Trace.parts]:
        assert {"columns", "start", "end", "pieces", "batch_rows"} <= set(inspect.signature(read).parameters)


def test_errors_say_where(tmp_path, samples):
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    with pytest.raises(tg.TraceError, match="empty"):
        tg.open(empty)
    with pytest.raises(FileNotFoundError) as missing:
        tg.open(tmp_path / "none")
    assert missing.value.filename == str(tmp_path / "none")
    cut = tmp_path / "cut.rdf"
    cut.write_bytes((samples / "sample.rdf").read_bytes()[:10])
    with pytest.raises(tg.TraceError) as raised:
        tg.open(cut)
    error = raised.value
    assert str(error).startswith(f"{cut}: ")
    assert (error.offset, error.kind) == (0, "unexpected-end") and "header" in error.element
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.offset, again.kind) == (str(error), error.offset, error.kind)
    trace = tg.open(samples / "sample.rfr")
    with pytest.raises(ValueError, match="no table"):
        trace.table("none")
    with pytest.raises(ValueError, match="no column"):
        trace.events(columns=["none"])
    with pytest.raises(ValueError):
        trace.events(batch_rows=0)


def test_a_trace_without_tables_is_opened(samples):
    trace = tg.open(samples / "sample.ctf2")
    assert trace.info()["verdict"] == "clean" and trace.check()["findings"] == []
    for ask in (trace.events, lambda: trace.tables, lambda: trace.pieces):
        with pytest.raises(tg.TraceError, match="sample.ctf2: ctf2 has no events"):
            ask()


def test_a_table_of_what_is_gone_says_where(tmp_path, samples):
    path = tmp_path / "cut.rdf"
    shutil.copy(samples / "sample.rdf", path)
    trace = tg.open(path)
    table = trace.events()
    # Another file has its name.
    path.unlink()
    path.write_bytes((samples / "sample.rdf").read_bytes()[:10])
    for ask in (trace.events, table.__arrow_c_stream__, table.__arrow_c_schema__):
        with pytest.raises(tg.TraceError) as raised:
            ask()
        assert str(raised.value).startswith(f"{path}: ") and raised.value.kind == "unexpected-end"


def test_a_loss_is_in_each_range_that_it_reaches_into(samples):
    trace = tg.open(samples / "sample.ctf")
    (loss,) = (row for row in pa.table(trace.gaps()).to_pylist() if row["what"] == "discarded")
    for around in (dict(end=loss["time_ns"]), dict(start=loss["time_ns"])):
        assert loss in pa.table(trace.gaps(**around)).to_pylist()


def test_questions_that_cannot_be_answered(samples):
    trace = tg.open(samples / "sample.rfr")
    with pytest.raises(TypeError, match=r"kinds are a list of names, such as \['begin'\]"):
        trace.events(kinds="begin")
    with pytest.raises(TypeError, match="columns are a list"):
        trace.events(columns="kind")
    with pytest.raises(ValueError, match="'task_poll_start' has no kinds: only events and slices have"):
        trace.table("task_poll_start", kinds=["begin"])
    with pytest.raises(ValueError, match="standard input"):
        tg.open("-")


def test_errors_while_a_table_is_read(tmp_path, samples):
    path = tmp_path / "cut.rdf"
    shutil.copy(samples / "sample.rdf", path)
    batches = tg.open(path).events().batches()
    arrow = pa.RecordBatchReader.from_stream(tg.open(path).events())
    path.unlink()
    path.write_bytes((samples / "sample.rdf").read_bytes()[:10])
    with pytest.raises(tg.TraceError) as raised:
        list(batches)
    assert str(raised.value).startswith(f"{path}: ") and raised.value.kind == "unexpected-end"
    # Arrow's own interface has Arrow's exceptions.
    with pytest.raises(pa.ArrowInvalid, match="input ends"):
        arrow.read_all()


def test_damage_is_a_row(tmp_path, samples):
    cut = tmp_path / "cut.rfr"
    whole = (samples / "stream.rfr").read_bytes()
    cut.write_bytes(whole[:-3])
    trace = tg.open(cut)
    gaps = pa.table(trace.gaps()).to_pylist()
    assert len(gaps) == 1
    assert gaps[0]["what"] == "unexpected-end" and 0 < gaps[0]["offset"] < len(whole)
    assert pa.table(trace.events(kinds=["begin"])).num_rows > 0
    assert trace.info()["verdict"] == "damaged"


def system_threads():
    """How many threads this process has, those of Rust as well."""
    return len(os.listdir("/proc/self/task"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted on Linux")
def test_what_is_not_taken_is_not_read(samples):
    before = system_threads()
    tables = [tg.open(samples / "sample.rfr").events() for _ in range(100)]
    streams = [table.__arrow_c_stream__() for table in tables]
    # Nothing has been started for them.
    assert system_threads() == before
    del streams
    first = pa.RecordBatchReader.from_stream(tables[0].__class__("%s" % (samples / "sample.rfr"), "events",
        columns=None, start=None, end=None, kinds=None, pieces=None, threads=2, rows=1))
    assert len(first.read_next_batch()) == 1
    # Its threads end when nobody takes more.
    del first
    deadline = time.monotonic() + 10
    while system_threads() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert system_threads() <= before


def test_many_at_a_time(samples):
    """Several threads read at once, and each gets everything."""
    counts = []
    read = lambda: counts.append(pa.table(tg.open(samples / "sample.rtc").events()).num_rows)
    threads = [threading.Thread(target=read) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(counts) == 8 and len(set(counts)) == 1 and counts[0] > 0


def test_the_lock_is_free_while_a_trace_is_read(tmp_path, samples):
    """Another thread of Python goes on during a single call that reads."""
    large = tmp_path / "large.rtc"
    # One session follows the other.
    large.write_bytes((samples / "sample.rtc").read_bytes() * 64)
    done, steps = threading.Event(), [0]

    def count():
        while not done.is_set():
            steps[0] += 1
            # The lock is offered to others.
            time.sleep(0)

    interval = sys.getswitchinterval()
    counting = threading.Thread(target=count)
    try:
        # Nobody has to give the lock away: who does not offer it keeps it.
        sys.setswitchinterval(1000)
        counting.start()
        before = steps[0]
        status, _, _ = _core.run(["check", str(large)])
        after = steps[0]
    finally:
        sys.setswitchinterval(interval)
        done.set()
        counting.join()
    assert status in (0, 3)
    assert after > before + 10


def test_docstrings(monkeypatch):
    monkeypatch.chdir(ROOT)
    tested = [doctest.testmod(module) for module in (tg, _trace, ros2)]
    assert sum(result.attempted for result in tested) > 10
    assert all(result.failed == 0 for result in tested)


def test_import_is_fast_and_the_package_small():
    code = "import time; start = time.process_time(); import traceglass; print(time.process_time() - start)"
    took = min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(3))
    assert took < 0.1, took
    assert (pathlib.Path(tg.__file__).parent / "py.typed").exists()
    assert os.path.getsize(_core.__file__) > 0


def test_vectors(vectors):
    traces = sorted((vectors / "rfr").glob("*.rfr"))
    assert traces
    for path in traces:
        expected = [record for record in records(path) if record["kind"] not in {"Callsite", "Span", "Task", "End"}]
        events = pa.table(tg.open(path).events(columns=["kind", "time_ns"]))
        assert sum(kind not in ("gap", "discarded") for kind in events["kind"].to_pylist()) == len(expected), path
