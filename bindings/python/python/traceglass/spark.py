"""Thousands of traces as one table of Spark.

::

    from traceglass.spark import TraceSource

    spark.dataSource.register(TraceSource)
    events = spark.read.format("traceglass").option("table", "events").load("traces/")

A partition is a part of a large trace, or many small ones: they are packed by their bytes, as Spark's own sources do it
(``spark.sql.files.maxPartitionBytes``, ``openCostInBytes``). Each row says in `trace` which one it is of. A trace that cannot be read
fails nothing: it is a row of the table ``damage``, as is each range that is damaged in one that can.

=============== ========================================================================================
option          meaning
=============== ========================================================================================
``table``       a table of a trace, such as ``events``, ``tasks``, ``task_poll_start``; or ``damage``
``columns``     those that are wanted, with commas; also ``.schema(…)`` with fewer columns does that
``start, end``  a range of time in nanoseconds, its end not included
``kinds``       kinds or names of events, with commas; for ``events`` and ``slices``
``splitBytes``  about how many bytes a partition has (67108864)
``openCost``    as how many bytes a trace counts in addition to its own: opening it takes time, too (4194304)
``pushdown``    ``true``: filters on the trace reach the reader, and those on time for tables of a CTF event or of a
                kind of RFR's records, and for ``memory``: rows of others may depend on what was before or after.
                Spark must allow that, too: ``spark.sql.python.filterPushdown.enabled``
=============== ========================================================================================

Types are Spark's: unsigned integers are ``decimal(20,0)``, but for those that are places or numbers of rows, which are
``bigint``; ``time`` has microseconds, ``time_ns`` all there is. A column has the type that the first trace with such a table
gives it: a value of another trace that does not fit it is null.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    InputPartition,
    LessThan,
    LessThanOrEqual,
)
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from . import TraceError
from . import open as open_trace
from ._trace import WITH_KINDS, _ns

#: What fits in 63 bits: places and counts.
_PLACES = {"offset", "bytes", "track"}
_SMALL = _PLACES | {"number", "discarded", "seq_id", "level", "source_line", "wakes", "polls"}

#: What the table of a CTF event begins with: its other columns are named as the trace says.
_CTF = ["file", "offset", "bytes", "track", "time_ns", "time"]

#: Tables that are read from the whole of a trace: traces are not split for them.
_WHOLE = {"tracks", "slices", "tasks", "callsites", "polls", "wakes", "samples", "spans"}

#: Tables of which a row may be another one in a range of time: its begin or its end may be outside.
_PAIRED = _WHOLE | {"events", "gaps", "parts", "damage", "markers", "queues", "resources"}

#: A segment of dial9, as it is called on disk and in a bucket.
_SEGMENT = re.compile(r".*[.-]\d+\.bin(\.gz|\.zst|\.active)?|\d+\.bin(\.gz|\.zst|\.active)?")

_SPLIT = 64 << 20
_COST = 4 << 20

_DAMAGE = (
    "trace string, file string, offset bigint, bytes bigint, what string, element string, message string"
)


@dataclass(frozen=True)
class _Part:
    """Some pieces of a trace."""

    path: str
    trace: str
    #: None: all of them.
    pieces: tuple[int, int] | None = None
    #: Why it cannot be read: told in ``damage``.
    error: tuple[str, int | None, str | None, str | None] | None = None
    #: The number of its bytes.
    size: int = 0


@dataclass(frozen=True)
class _Parts(InputPartition):
    """Parts of traces that are read one after the other."""

    parts: tuple[_Part, ...]


@dataclass(frozen=True)
class _Query:
    table: str
    start: int | None
    end: int | None
    kinds: tuple[str, ...] | None
    split: int
    cost: int


def _is_trace(folder: str, names: Iterable[str]) -> bool:
    """True if a folder is itself a trace: RFR and CTF have files by which to tell, dial9 has segments with numbers."""
    return bool({"metadata", "meta.rfr", "callsites.rfr"} & set(names)) or any(map(_SEGMENT.fullmatch, names))


def traces(path: str) -> list[tuple[str, str]]:
    """The traces at a path, or below a folder, each with its name: the path from there."""
    found: list[tuple[str, str]] = []
    for root in sorted(glob.glob(path)) if glob.has_magic(path) else [path]:
        root = root.removeprefix("file:")
        if not os.path.isdir(root):
            found.append((root, os.path.basename(root)))
            continue
        for folder, folders, files in os.walk(root):
            folders.sort()
            if _is_trace(folder, files):
                name = os.path.relpath(folder, root)
                found.append((folder, os.path.basename(os.path.abspath(root)) if name == "." else name))
                folders.clear()
                continue
            for file in sorted(file for file in files if not file.startswith((".", "_"))):
                whole = os.path.join(folder, file)
                found.append((whole, os.path.relpath(whole, root)))
    return found


def _parts(path: str, name: str, table: str, split: int) -> list[_Part]:
    try:
        sizes = open_trace(path).pieces
    except (TraceError, OSError) as error:
        about = tuple(getattr(error, key, None) for key in ("offset", "element", "kind"))
        return [_Part(path, name, None, (str(error), *about))]
    if table in _WHOLE:
        return [_Part(path, name, size=sum(sizes))]
    parts, begin, size = [], 0, 0
    for piece, more in enumerate(sizes):
        size += more
        if size >= split:
            parts.append(_Part(path, name, (begin, piece + 1), size=size))
            begin, size = piece + 1, 0
    if begin < len(sizes):
        parts.append(_Part(path, name, (begin, len(sizes)), size=size))
    return parts


def _packed(parts: Iterable[_Part], split: int, cost: int, most: int) -> list[_Parts]:
    """As few partitions as hold the parts, each with about `split` bytes; more, and smaller ones, up to `most` of them, if
    otherwise some of the cores had nothing to do. Parts stay in their order."""
    parts = list(parts)
    total = sum(part.size + cost for part in parts)
    split = min(split, max(cost, -(-total // most)))
    packed, some, size = [], [], 0
    for part in parts:
        if some and size + part.size + cost > split:
            packed.append(_Parts(tuple(some)))
            some, size = [], 0
        some.append(part)
        size += part.size + cost
    return [*packed, _Parts(tuple(some))] if some else packed


def _small(table: str, names: list[str]) -> set[str]:
    """The columns of a table that fit in 63 bits."""
    if names[:6] == _CTF and table not in ("events", "gaps"):
        return _PLACES
    # Elsewhere, a parent is the id of a span.
    return _SMALL | {"parent"} if table == "tracks" else _SMALL


def _spark_type(field: pa.Field, small: set[str]) -> str:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if pa.types.is_uint64(kind):
        return "bigint" if field.name in small else "decimal(20,0)"
    if pa.types.is_int64(kind):
        return "bigint"
    if pa.types.is_timestamp(kind):
        return "timestamp"
    if pa.types.is_floating(kind):
        return "double"
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_list(kind):
        return "array<string>"
    return "binary" if pa.types.is_binary(kind) else "string"


def _column(batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
    """A column as Spark wants it; nulls if this trace has none of that name."""
    at = batch.schema.get_field_index(field.name)
    if at < 0:
        return pa.nulls(len(batch), field.type)
    column = batch.column(at)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.type == field.type:
        return column
    try:
        # Spark keeps microseconds only, so nanoseconds may be cut off.
        return column.cast(field.type, safe=not pa.types.is_timestamp(field.type))
    except pa.ArrowException:
        return pa.array([_fitting(value, field.type) for value in column], field.type)


def _fitting(value: pa.Scalar, kind: pa.DataType) -> pa.Scalar | None:
    """A value in another type; None if it does not fit."""
    try:
        return value.cast(kind)
    except pa.ArrowException:
        return None


class TraceSource(DataSource):
    """The data source ``traceglass``."""

    @classmethod
    def name(cls) -> str:
        return "traceglass"

    def _query(self) -> _Query:
        options = self.options
        number = lambda key: int(options[key]) if key in options else None  # noqa: E731
        kinds = options.get("kinds")
        table = options.get("table", "events")
        if kinds and table not in WITH_KINDS:
            raise ValueError(f"the table {table!r} has no kinds: only {' and '.join(WITH_KINDS)} have")
        return _Query(
            table=table,
            start=number("start"),
            end=number("end"),
            kinds=tuple(kinds.split(",")) if kinds else None,
            split=number("splitBytes") or _SPLIT,
            cost=_COST if number("openCost") is None else number("openCost"),
        )

    def _traces(self) -> list[tuple[str, str]]:
        path = self.options.get("path")
        if not path:
            raise ValueError("no path: .load(PATH) names a trace or a folder of them")
        return traces(path)

    def schema(self) -> str:
        query = self._query()
        if query.table == "damage":
            return _DAMAGE
        for path, _ in self._traces():
            try:
                trace = open_trace(path)
                tables = trace.tables
            except (TraceError, OSError):
                continue
            if query.table in tables:
                fields = pa.schema(trace.table(query.table))
                columns = self.options.get("columns")
                wanted = columns.split(",") if columns else ["trace", *fields.names]
                small = _small(query.table, fields.names)
                types = {"trace": "string", **{field.name: _spark_type(field, small) for field in fields}}
                unknown = [name for name in wanted if name not in types]
                if unknown:
                    raise ValueError(f"no column {unknown[0]!r} in {query.table!r}; there are {', '.join(types)}")
                return ", ".join(f"`{name.replace('`', '``')}` {types[name]}" for name in wanted)
        raise ValueError(f"no trace has a table {query.table!r}")

    def reader(self, schema: StructType) -> DataSourceReader:
        pushes = self.options.get("pushdown", "false").lower() == "true"
        reader = _PushingReader if pushes else _Reader
        return reader(self._query(), self._traces(), schema)


class _Reader(DataSourceReader):
    def __init__(self, query: _Query, found: list[tuple[str, str]], schema: StructType) -> None:
        self.query = query
        self.found = found
        self.schema = schema

    def partitions(self) -> Sequence[InputPartition]:
        table = self.query.table
        with ThreadPoolExecutor() as pool:
            of = lambda trace: _parts(*trace, table, self.query.split)  # noqa: E731
            parts = [part for parts in pool.map(of, self.found) for part in parts]
        # This runs in a process of its own, which does not know the cluster.
        return _packed(parts, self.query.split, self.query.cost, os.cpu_count() or 1) or [_Parts(())]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _Parts)
        for part in partition.parts:
            yield from self._read(part)

    def _read(self, partition: _Part) -> Iterator[pa.RecordBatch]:
        schema = to_arrow_schema(self.schema, timezone="UTC")
        is_damage = self.query.table == "damage"
        if partition.error:
            if is_damage:
                message, offset, element, kind = partition.error
                row = {"trace": partition.trace, "offset": offset, "element": element, "message": message}
                row["what"] = kind or "unreadable"
                yield pa.RecordBatch.from_pylist([row], schema=schema)
            return
        trace = open_trace(partition.path, threads=1)
        name = "gaps" if is_damage else self.query.table
        if name not in trace.tables:
            return
        # Only makes the columns that are wanted.
        have = set(pa.schema(trace.table(name)).names)
        table = trace.table(
            name,
            columns=[column for column in schema.names if column in have],
            start=self.query.start,
            end=self.query.end,
            kinds=self.query.kinds,
            pieces=partition.pieces,
        )
        for batch in table.batches():
            columns = [
                pa.repeat(pa.scalar(partition.trace, field.type), len(batch))
                if field.name == "trace"
                else _column(batch, field)
                for field in schema
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


class _PushingReader(_Reader):
    """Uses filters on time and trace. Spark applies all of them again: an event without a time passes here."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        for filter in filters:
            self._push(filter)
            yield filter

    def _push(self, filter: Filter) -> None:
        if len(getattr(filter, "attribute", ())) != 1:
            return
        (column,) = filter.attribute
        # Filters on null have none.
        value: Any = getattr(filter, "value", None)
        if value is None:
            return
        if column == "trace" and isinstance(filter, EqualTo):
            self.found = [trace for trace in self.found if trace[1] == value]
        if column not in ("time", "time_ns") or self.query.table in _PAIRED:
            return
        if isinstance(value, datetime):
            # `time` has microseconds here: events within the last one must not be lost.
            value = _ns(value.astimezone())
        after = 1000 if column == "time" else 1
        start, end = self.query.start, self.query.end
        if isinstance(filter, (GreaterThan, GreaterThanOrEqual, EqualTo)):
            start = value if start is None else max(start, value)
        if isinstance(filter, (LessThan, LessThanOrEqual, EqualTo)):
            end = value + after if end is None else min(end, value + after)
        self.query = replace(self.query, start=start, end=end)
