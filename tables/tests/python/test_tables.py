"""Reads back what `traceglass export` writes, and holds it against `cat --json` and `ls --json`.

TRACEGLASS names the command; with TRACEGLASS_VECTORS, the traces of the vectors are read, too.
"""

import collections
import csv
import io
import json
import os
import pathlib
import re
import shutil
import subprocess

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet
import pytest

ROOT = pathlib.Path(__file__).parents[3]
SAMPLES = ROOT / "examples/data"
COMMAND = os.environ["TRACEGLASS"]
VECTORS = os.environ.get("TRACEGLASS_VECTORS")

#: What `cat --json` of a stream prints besides records.
OBJECTS = {"Callsite", "Span", "Task", "End"}


def command(*arguments, ok=(0, 3)):
    """What the command prints; 3 is that of a damaged input."""
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True)
    assert done.returncode in ok, done.stderr.decode()
    return done.stdout


def lines(*arguments):
    return [json.loads(line) for line in command(*arguments).splitlines()]


def snake(kind):
    return re.sub("(?<!^)(?=[A-Z])", "_", kind).lower()


class Exported:
    """The tables of a trace, in DuckDB and in polars."""

    def __init__(self, path, folder):
        command("export", "--format", "parquet", "-o", folder, path)
        self.folder = folder

    def files(self, table):
        # As the command writes names that are none in every file system.
        name = "".join(c if re.match("[A-Za-z0-9_.-]", c) else "".join(f"%{b:02X}" for b in c.encode()) for c in table)
        return sorted(str(path) for path in (self.folder / name).rglob("*.parquet"))

    def sql(self, select, table, rest=""):
        """The row that both engines find; None of a table that is empty."""
        files = self.files(table)
        if not files:
            return None
        found = duckdb.sql(f"select {select} from read_parquet({files!r}) {rest}").fetchall()[0]
        other = polars.SQLContext(t=polars.concat([polars.scan_parquet(file) for file in files], how="vertical"))
        assert other.execute(f"select {select} from t {rest}", eager=True).row(0) == found
        return found

    def count(self, table, rest=""):
        found = self.sql("count(*)", table, rest)
        return found[0] if found else 0

    def sums(self, table, *columns):
        """The sums of columns, of whole numbers of any size."""
        files = self.files(table)
        if not files:
            return [0] * len(columns)
        select = ", ".join(f'coalesce(sum("{column}"::hugeint), 0)' for column in columns)
        found = duckdb.sql(f"select {select} from read_parquet({files!r})").fetchall()[0]
        frame = polars.concat([polars.read_parquet(file) for file in files])
        for column, total in zip(columns, found):
            assert sum(value for value in frame[column].to_list() if value is not None) == total
        return list(found)


def total(records, key):
    return sum(record[key] for record in records if record.get(key) is not None)


def hold_rfr(path, folder):
    tables = Exported(path, folder)
    records = [record for record in lines("cat", "--json", path) if record["kind"] not in OBJECTS]
    kinds = collections.defaultdict(list)
    for record in records:
        kinds[record["kind"]].append(record)
    for kind, found in kinds.items():
        table = snake(kind)
        assert tables.count(table) == len(found), kind
        identity = "task_iid" if "task_iid" in found[0] else "callsite_id" if kind == "Event" else "iid"
        columns = [identity, "time_ns", "offset"]
        assert tables.sums(table, *columns) == [total(found, column) for column in columns], kind
        names = {record["task"] for record in found if record.get("task")}
        if names:
            frame = polars.concat([polars.read_parquet(file) for file in tables.files(table)])
            assert {name for name in frame["task"].cast(polars.String).to_list() if name} == names
    assert tables.count("events", "where kind not in ('gap', 'discarded')") == len(records)
    assert tables.sums("events", "time_ns")[0] >= total(records, "time_ns")
    polls = kinds["TaskPollStart"]
    assert tables.count("events", "where kind = 'begin' and name = 'poll'") == len(polls)
    return len(records)


def hold_ctf(path, folder):
    tables = Exported(path, folder)
    records = lines("cat", "--json", path)
    events = [record for record in records if record["kind"] == "event"]
    names = collections.defaultdict(list)
    for event in events:
        names[event["name"] if event["name"] is not None else f"event {event['id']}"].append(event)
    for name, found in names.items():
        assert tables.count(name) == len(found), name
        assert tables.sums(name, "time_ns", "offset") == [total(found, "time_ns"), total(found, "offset")], name
        payloads = [event["payload"] or {} for event in found]
        for member in payloads[0]:
            values = [payload.get(member) for payload in payloads]
            taken = {"file", "offset", "bytes", "track", "time_ns", "time"}
            is_whole = all(type(value) is int and abs(value) < 1 << 64 for value in values)
            if is_whole and member not in taken:
                schema = polars.read_parquet_schema(tables.files(name)[0])
                if schema[member] in (polars.UInt64, polars.Int64):
                    assert tables.sums(name, member) == [sum(values)], (name, member)
    assert tables.count("events", "where kind = 'instant'") == len(events)
    assert tables.count("parts", "where kind = 'packet'") >= (1 if events else 0)
    return len(events)


def hold_rtc(path, folder):
    tables = Exported(path, folder)
    records = lines("cat", "--json", path)
    # What is not what its stream's format says is a gap.
    sound = [record for record in records if "value_hex" not in record]
    of_records = "where kind in ('counter', 'instant')"
    assert tables.count("events", of_records) == len(sound)
    (offsets,) = tables.sql("sum(\"offset\")", "events", of_records)
    assert (offsets or 0) == total(sound, "offset")
    assert tables.count("parts") == sum(line["kind"] == "unit" for line in lines("ls", "--json", path))
    return len(records)


def hold_rdf(path, folder):
    tables = Exported(path, folder)
    entries = [line for line in lines("ls", "--json", path) if line["kind"] == "entry"]
    assert tables.count("parts") == len(entries)
    assert tables.sums("parts", "bytes", "offset") == [total(entries, "stored_size"), total(entries, "data_offset")]
    return len(entries)


def hold_dial9(path, folder, facts=None):
    """The tables of dial9's own hold what `info` says, and the truth of the vectors."""
    tables = Exported(path, folder)
    info = json.loads(command("info", "--json", path))
    events = lines("cat", "--json", path)
    kinds = collections.Counter(event["kind"] for event in events)
    assert tables.count("polls") == kinds["PollStartEvent"]
    assert tables.count("wakes") == kinds["WakeEventEvent"]
    assert tables.count("samples") == sum("callchain" in event for event in events)
    assert tables.count("spans") <= sum(kind.startswith("SpanEnter:") for kind in kinds.elements())
    assert tables.sql("count(time_ns)", "tasks") == (kinds["TaskSpawnEvent"],)
    polls = info.get("polls", {"count": 0, "ns": 0, "over_1ms": 0, "longest": []})
    summed = tables.sql("count(duration_ns), coalesce(sum(duration_ns), 0)", "polls")
    assert summed == (polls["count"], polls["ns"])
    assert tables.count("polls", "where duration_ns > 1000000") == polls["over_1ms"]
    files = tables.files("polls")
    columns = "duration_ns, task, worker, coalesce(spawn_loc::varchar, ''), time_ns"
    order = "where duration_ns is not null order by duration_ns desc, time_ns limit 10"
    found = duckdb.sql(f"select {columns} from read_parquet({files!r}) {order}").fetchall()
    keys = ["ns", "task", "worker", "spawn_loc", "start_ns"]
    assert found == [tuple(poll[key] for key in keys) for poll in polls["longest"]]
    if polls["count"]:
        waited = duckdb.sql(f"select wake_to_poll_ns from read_parquet({files!r}) where wake_to_poll_ns is not null order by 1")
        waited = [ns for (ns,) in waited.fetchall()]
        told = info["wake_to_poll"]
        assert len(waited) == told["count"]
        # The command counts waits by size: its percentiles are off by 1/1024 at most.
        assert not waited or waited[-(-(len(waited) - 1) * 99 // 100)] == pytest.approx(told["p99_ns"], rel=1 / 1024)
        again = tables.count("tasks", "where waits_since_ns is not null and polls > 0")
        assert again == info["tasks"]["never_polled_again"]
    if facts:
        assert (kinds.total(), summed) == (facts["events"], (facts["polls_paired"], facts["poll_ns_total"]))
        truth = [(poll["ns"], poll["task"], poll["worker"], poll["spawn_loc"], poll["start"]) for poll in facts["longest_polls"]]
        assert found[: len(truth)] == truth
        if kinds["SymbolTableEntry"]:
            stacks = duckdb.sql(f"select unnest(stack) from read_parquet({tables.files('samples')!r})").fetchall()
            assert any("tokio::runtime" in frame for (frame,) in stacks)
    return len(events)


@pytest.mark.parametrize(
    "name, hold",
    [
        ("sample.rfr", hold_rfr),
        ("stream.rfr", hold_rfr),
        ("sample.ctf", hold_ctf),
        ("sample.rtc", hold_rtc),
        ("sample.rdf", hold_rdf),
        ("trace.0.bin", hold_dial9),
    ],
)
def test_samples(name, hold, tmp_path):
    assert hold(SAMPLES / name, tmp_path / "tables") > 0


def by_value(slice):
    """What a slice is, so that many can be compared whatever their order."""
    return json.dumps(slice, sort_keys=True)


def hold_slices(path, folder):
    """The table has the slices that `cat` prints, with the same members."""
    expected = [line for line in lines("cat", "--slices", "--json", path) if line["kind"] == "slice"]
    command("export", "--format", "parquet", "-o", folder, path)
    frame = polars.concat([polars.read_parquet(file) for file in sorted((folder / "slices").rglob("*.parquet"))])
    stream = pa.ipc.open_stream(command("export", "--format", "arrow", "--table", "slices", path)).read_all()
    files = [str(file) for file in (folder / "slices").rglob("*.parquet")]
    ((count, spans),) = duckdb.sql(f"select count(*), sum(duration_ns::hugeint) from read_parquet({files!r})").fetchall()
    assert (count, spans or 0) == (len(expected), total(expected, "duration_ns"))
    for rows in [frame.to_dicts(), polars.from_arrow(stream).to_dicts()]:
        for row in rows:
            row["args"] = json.loads(row["args"] or "{}")
            # Moments are the same times, where they are absolute.
            for moment, ns in [("time", "time_ns"), ("end_time", "end_time_ns")]:
                is_absolute = row.pop(moment) is not None
                assert not is_absolute or row[ns] is not None
        columns = rows[0].keys() if rows else set()
        found = collections.Counter(by_value(row) for row in rows)
        wanted = collections.Counter(by_value({column: slice[column] for column in columns}) for slice in expected)
        assert found == wanted, path
        assert not rows or expected[0].keys() - columns == {"time", "end_time"}
    return len(expected)


@pytest.mark.parametrize("name", ["sample.rfr", "stream.rfr", "sample.ctf", "trace.0.bin", "sample.rgp"])
def test_slices(name, tmp_path):
    assert hold_slices(SAMPLES / name, tmp_path / "tables") > 0


def test_pairs_are_those_of_the_user(tmp_path):
    """A table of one's own makes slices of events that the built-in one leaves alone; without one there are none."""
    table = tmp_path / "mine.toml"
    table.write_text('state = [ { on = "battery", track = "battery", value = "{millivolts}" } ]\n')
    for options, has in [([], False), (["--states", table], True), (["--no-states"], None)]:
        out = tmp_path / f"slices{len(options)}{has}"
        command("export", "--format", "arrow", "--table", "slices", *options, "-o", out, SAMPLES / "sample.ctf", ok=(0,))
        tracks = set(pa.ipc.open_stream(out.read_bytes()).read_all()["track"].to_pylist())
        assert ("battery" in tracks) == bool(has) and (tracks == set()) == (has is None)


def test_ids_are_unsigned_and_times_typed(tmp_path):
    tables = Exported(SAMPLES / "sample.rfr", tmp_path / "tables")
    (file,) = tables.files("task_poll_start")[:1]
    schema = pyarrow.parquet.read_schema(file)
    assert schema.field("iid").type == pa.uint64()
    assert schema.field("time").type == pa.timestamp("ns", tz="UTC")
    assert schema.field("task").type == pa.dictionary(pa.int32(), pa.string())
    metadata = pyarrow.parquet.ParquetFile(file).metadata
    group = metadata.row_group(0)
    columns = {group.column(at).path_in_schema: group.column(at) for at in range(group.num_columns)}
    assert columns["time_ns"].statistics.min <= columns["time_ns"].statistics.max
    assert "RLE_DICTIONARY" in columns["task"].encodings
    assert "trace=sample.rfr" in file


@pytest.mark.parametrize("sample", ["sample.rfr", "sample.ctf", "trace.0.bin", "sample.rgp"])
@pytest.mark.parametrize(
    "table", ["events", "tracks", "parts", "slices", "polls", "tasks", "wakes", "samples", "markers", "queues", "memory", "resources"]
)
def test_csv(sample, table):
    """CSV has what an Arrow stream has; nothing stands for null, and for text without characters."""
    if table in ("polls", "tasks", "wakes", "samples") and sample != "trace.0.bin":
        pytest.skip("a table of dial9's own")
    if table in ("markers", "queues", "memory", "resources") and sample != "sample.rgp":
        pytest.skip("a table of RDF's own")
    exported = [command("export", "--format", form, "--table", table, SAMPLES / sample) for form in ("csv", "arrow")]
    rows = list(csv.DictReader(io.StringIO(exported[0].decode(), newline="")))
    arrow = pa.ipc.open_stream(exported[1]).read_all()
    assert list(rows[0]) == arrow.schema.names
    if table == "tracks":
        # Which piece tells of a track first differs from run to run.
        rows.sort(key=lambda row: int(row["track"]))
        arrow = arrow.sort_by("track")
    assert len(rows) == arrow.num_rows > 0
    for by_csv, by_arrow in zip(rows, arrow.drop_columns([n for n in ("time", "end_time") if n in rows[0]]).to_pylist()):
        for name, value in by_arrow.items():
            if isinstance(value, list):
                assert json.loads(by_csv[name]) == value, name
                continue
            text = "" if value is None else by_csv[name] if isinstance(value, float) else str(value)
            text = text.lower() if isinstance(value, bool) else text
            assert by_csv[name] == text, name
            if isinstance(value, float):
                assert float(text) == value


def test_arrow_stream():
    for table in ["events", "tracks", "task_poll_start"]:
        stream = command("export", "--format", "arrow", "--table", table, SAMPLES / "sample.rfr", ok=(0,))
        by_arrow = pa.ipc.open_stream(stream).read_all()
        by_polars = polars.read_ipc_stream(io.BytesIO(stream))
        assert by_arrow.num_rows == len(by_polars) > 0
        assert by_arrow.schema.names == by_polars.columns
    kinds = collections.Counter(line["kind"] for line in lines("cat", "--json", SAMPLES / "sample.rfr"))
    assert by_arrow.num_rows == kinds["TaskPollStart"]


def test_damage_is_told(tmp_path):
    whole = (SAMPLES / "stream.rfr").read_bytes()
    cut = tmp_path / "cut.rfr"
    cut.write_bytes(whole[: len(whole) - 3])
    done = subprocess.run(
        [COMMAND, "export", "--format", "parquet", "-o", tmp_path / "tables", cut], capture_output=True, text=True
    )
    assert done.returncode == 3 and "input ends" in done.stderr
    tables = Exported.__new__(Exported)
    tables.folder = tmp_path / "tables"
    assert tables.count("gaps") == 1 and tables.count("events") > 1
    # Nothing is overwritten.
    again = subprocess.run([COMMAND, "export", "--format", "parquet", "-o", tmp_path / "tables", cut], capture_output=True)
    assert again.returncode == 2


def queries():
    text = (ROOT / "docs/queries.md").read_text()
    found = re.findall(r"^## (.*?)\n+```sql\n(.*?)```", text, re.M | re.S)
    assert len(found) >= 5
    return found


@pytest.fixture(scope="module")
def all_tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("all") / "tables"
    # With a packet before which something was discarded.
    command("export", "--format", "parquet", "-o", folder, *(SAMPLES / name for name in ["sample.rfr", "sample.ctf", "sample.rtc", "trace.0.bin", "sample.rgp"]))
    cut = folder.parent / "cut.rfr"
    cut.write_bytes((SAMPLES / "stream.rfr").read_bytes()[:-3])
    command("export", "--format", "parquet", "-o", folder.parent / "more", cut, ok=(3,))
    for file in (folder.parent / "more").rglob("*.parquet"):
        to = folder / file.relative_to(folder.parent / "more")
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(file, to)
    return folder


@pytest.mark.parametrize("question, query", queries())
def test_queries_of_the_documentation(question, query, all_tables):
    rows = duckdb.sql(query.replace("'tables/", f"'{all_tables}/")).fetchall()
    assert rows, question
    print(question, rows[0])


def recipes():
    text = (ROOT / "docs/queries.md").read_text()
    found = re.findall(r"^```python\n(.*?)```", text, re.M | re.S)
    assert len(found) >= 3
    return found


@pytest.mark.parametrize("recipe", recipes())
def test_recipes_of_the_documentation_in_polars(recipe, all_tables):
    names = {"pl": polars}
    exec(recipe.replace('"tables/', f'"{all_tables}/'), names)
    assert names["result"].height > 0, recipe
    print(names["result"].row(0))


@pytest.fixture(scope="module")
def clean_tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clean") / "tables"
    command("export", "--format", "parquet", "-o", folder, SAMPLES / "sample.rfr", SAMPLES / "trace.0.bin", SAMPLES / "sample.rgp", ok=(0,))
    return folder


@pytest.mark.parametrize("question, query", queries())
def test_queries_run_where_nothing_is_wrong(question, query, clean_tables):
    # Tables without a row are there as well.
    duckdb.sql(query.replace("'tables/", f"'{clean_tables}/")).fetchall()


def hold_vectors(paths, hold, tmp_path):
    paths = list(paths)
    records = 0
    for number, path in enumerate(paths):
        if path.is_dir() and hold is hold_ctf:
            # Without what is expected of it.
            trace = tmp_path / f"trace-{number}"
            shutil.copytree(path, trace, ignore=lambda _, names: [n for n in names if n.endswith((".ndjson", ".json", ".md"))])
            path = trace
        if subprocess.run([COMMAND, "info", path], capture_output=True).returncode == 1:
            # Nothing of it can be read.
            exported = subprocess.run([COMMAND, "export", "--format", "parquet", "-o", tmp_path / "none", path])
            assert exported.returncode == 1, path
            continue
        records += hold(path, tmp_path / f"tables-{number}")
    assert paths and records > 0
    print(f"{len(paths)} traces, {records} records agree")


needs_vectors = pytest.mark.skipif(not VECTORS, reason="TRACEGLASS_VECTORS is not set")


@needs_vectors
def test_rfr_vectors(tmp_path):
    hold_vectors(sorted(pathlib.Path(VECTORS, "rfr").glob("*.rfr")), hold_rfr, tmp_path)


@needs_vectors
@pytest.mark.parametrize("folder", ["lttng", "babeltrace"])
def test_ctf_vectors(folder, tmp_path):
    traces = sorted(path.parent for path in pathlib.Path(VECTORS, "ctf2-streams", folder).rglob("metadata"))
    hold_vectors(traces, hold_ctf, tmp_path)


@needs_vectors
def test_dial9_vectors(tmp_path):
    folder = pathlib.Path(VECTORS, "dial9", "real")
    facts = [json.loads(line) for line in (folder / "facts.ndjson").read_text().splitlines()]
    held = 0
    for fact in facts:
        (path,) = [path for path in folder.glob(fact["file"] + ".bin*")]
        # Two processes in one file share ids: they are polled and woken as if they were one.
        held += hold_dial9(path, tmp_path / fact["file"], fact if "processes" not in fact["file"] else None)
    assert held > 10_000
    print(f"{len(facts)} recordings, {held} events agree")


@needs_vectors
def test_states_vectors(tmp_path):
    traces = sorted(path.parent for path in pathlib.Path(VECTORS, "states").glob("*/trace"))
    held = [hold_slices(folder / "trace", tmp_path / folder.name) for folder in traces]
    assert held and min(held) > 0
    print(f"{len(held)} traces, {sum(held)} slices agree")


@needs_vectors
def test_rtc_vectors(tmp_path):
    hold_vectors(sorted(pathlib.Path(VECTORS, "rtc").glob("*.rtc")), hold_rtc, tmp_path)


@needs_vectors
def test_rdf_vectors(tmp_path):
    hold_vectors(sorted(pathlib.Path(VECTORS, "rdf").glob("*.r??")), hold_rdf, tmp_path)
