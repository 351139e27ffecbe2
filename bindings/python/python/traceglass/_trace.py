"""Traces and their tables."""

from __future__ import annotations

import json
import operator
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from . import _core
from ._errors import TraceError

if TYPE_CHECKING:
    import pyarrow

#: The tables that ``kinds`` choose from.
WITH_KINDS = ("events", "slices")

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def _ns(time: int | datetime | None) -> int | None:
    """Nanoseconds since the Unix epoch, or since the origin of the trace's clock."""
    if time is None:
        return None
    if isinstance(time, datetime):
        if time.tzinfo is None:
            raise ValueError("a time without a time zone may be any: give it one, such as timezone.utc")
        since = time - _EPOCH
        # A pandas.Timestamp is a datetime that has nanoseconds, too.
        return (since // timedelta(microseconds=1)) * 1000 + getattr(time, "nanosecond", 0)
    try:
        # NumPy's integers as well.
        return operator.index(time)
    except TypeError:
        raise TypeError(f"a time is an int of nanoseconds or a datetime, not {type(time).__name__}") from None


def _names(what: str, names: Iterable[str] | None) -> list[str] | None:
    # Each letter of a text would be a name.
    if isinstance(names, str):
        raise TypeError(f"{what} are a list of names, such as [{names!r}], not a text")
    return None if names is None else list(names)


def _at(path: str, error: TraceError) -> TraceError:
    """The same error, with the path."""
    return TraceError(f"{path}: {error}", offset=error.offset, element=error.element, kind=error.kind)


class Table:
    """A table of a trace: a stream of Arrow record batches for whoever asks for it.

    It has ``__arrow_c_stream__``, and so is taken by polars, pyarrow, duckdb, pandas, nanoarrow …; each time it is, the
    trace is read anew, a few batches at a time. What goes wrong meanwhile is an exception of the library that took it, such
    as ``pyarrow.ArrowInvalid``, as Arrow's streams have no others; :meth:`batches` raises :class:`TraceError`.

    >>> import traceglass as tg
    >>> tg.open("examples/data/sample.rfr").events(columns=["time_ns", "kind"]).columns
    ['time_ns', 'kind']
    """

    def __init__(self, path: str, name: str, **query: Any) -> None:
        self._path = path
        self._query = query
        #: The name of the table.
        self.name = name
        # A wrong name fails here, not where the table is used.
        self._schema = self._capsule(schema_only=True)

    def _capsule(self, schema_only: bool) -> object:
        try:
            return _core.stream(self._path, self.name, schema_only=schema_only, **self._query)
        except TraceError as error:
            raise _at(self._path, error) from None

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The batches. A schema that is asked for may be ignored, as Arrow's document says."""
        return self._capsule(schema_only=False)

    def __arrow_c_schema__(self) -> object:
        return self._capsule(schema_only=True)

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        """The batches, one after the other; needs pyarrow.

        >>> import traceglass as tg
        >>> sum(batch.num_rows for batch in tg.open("examples/data/sample.rfr").events(batch_rows=100).batches())
        246
        """
        import pyarrow

        try:
            yield from pyarrow.RecordBatchReader.from_stream(self)
        except pyarrow.ArrowException as error:
            # Arrow passes on the text alone: if the trace cannot be opened any more, this says where.
            with suppress(ValueError):
                self._capsule(schema_only=True)
            raise TraceError(f"{self._path}: {error}") from None

    @property
    def columns(self) -> list[str]:
        """The columns that it has, in their order; needs pyarrow."""
        import pyarrow

        return pyarrow.schema(self).names

    def __repr__(self) -> str:
        return f"<traceglass.Table {self.name!r} of {self._path!r}>"


class Trace:
    """A trace: a file, or the directory of a recording."""

    def __init__(self, path: str | os.PathLike[str], *, threads: int | None = None) -> None:
        self._path = os.fspath(path)
        _refuse_unreadable(self._path)
        # 0 stands for all processors, as None does.
        self._threads = max(1, threads or len(_cores()))
        self._tables: list[str] = []
        self._pieces: list[int] = []
        self._no_tables: TraceError | None = None
        try:
            self._tables, self._pieces = _core.describe(self._path)
        except TraceError as error:
            # Metadata of CTF alone has no tables, but can be read.
            if _core.run(["info", "--json", "--", self._path])[0] not in (0, 3):
                raise _at(self._path, error) from None
            self._no_tables = error

    def _refuse_without_tables(self) -> None:
        if self._no_tables is not None:
            raise _at(self._path, self._no_tables)

    @property
    def path(self) -> str:
        """The path that was opened."""
        return self._path

    @property
    def tables(self) -> list[str]:
        """The names of its tables, including empty ones."""
        self._refuse_without_tables()
        return list(self._tables)

    @property
    def pieces(self) -> list[int]:
        """The sizes in bytes of the pieces that are read independently of each other."""
        self._refuse_without_tables()
        return list(self._pieces)

    def _json(self, verb: str) -> dict[str, Any]:
        status, stdout, stderr = _core.run([verb, "--json", "--", self._path])
        try:
            return json.loads(stdout)
        except json.JSONDecodeError:
            raise TraceError(stderr.strip() or f"traceglass {verb} ended with {status}") from None

    def info(self) -> dict[str, Any]:
        """What it is, and whether all of it can be read: what ``traceglass info --json`` says.

        >>> import traceglass as tg
        >>> info = tg.open("examples/data/sample.rtc").info()
        >>> info["format"], info["verdict"]
        ('rtc', 'clean')
        """
        return self._json("info")

    def check(self) -> dict[str, Any]:
        """Reads and verifies everything: what ``traceglass check --json`` says.

        >>> import traceglass as tg
        >>> tg.open("examples/data/sample.rfr").check()["findings"]
        []
        """
        return self._json("check")

    def table(
        self,
        name: str,
        *,
        columns: Sequence[str] | None = None,
        start: int | datetime | None = None,
        end: int | datetime | None = None,
        kinds: Iterable[str] | None = None,
        pieces: tuple[int, int] | None = None,
        batch_rows: int = 65536,
    ) -> Table:
        """A table by its name.

        ``columns``: those that are wanted, in the table's order; the others are not made. ``kinds``: only ``events`` and
        ``slices`` have them. ``start``, ``end``: a range of time, its end not included, in nanoseconds (of the Unix epoch, or
        of the trace's clock) or as datetimes; chunks and packets outside of it are not read. A loss is told if it reaches into the range, also if it began before: one at a bound is in the
        ranges on both sides. ``pieces``: the first and the one after the last, see :attr:`pieces`.

        >>> import traceglass as tg
        >>> tg.open("examples/data/sample.rfr").table("task_poll_start")
        <traceglass.Table 'task_poll_start' of 'examples/data/sample.rfr'>
        """
        if batch_rows < 1:
            raise ValueError("a batch has a row at least")
        if kinds is not None and name not in WITH_KINDS:
            raise ValueError(f"the table {name!r} has no kinds: only {' and '.join(WITH_KINDS)} have")
        return Table(
            self._path,
            name,
            columns=_names("columns", columns),
            start=_ns(start),
            end=_ns(end),
            kinds=_names("kinds", kinds),
            pieces=pieces,
            threads=self._threads,
            rows=batch_rows,
        )

    def events(
        self,
        *,
        columns: Sequence[str] | None = None,
        start: int | datetime | None = None,
        end: int | datetime | None = None,
        kinds: Iterable[str] | None = None,
        pieces: tuple[int, int] | None = None,
        batch_rows: int = 65536,
    ) -> Table:
        """The events: ``file, offset, bytes, track, time_ns, time, kind, name, value, fields``.

        ``kinds`` are kinds (``begin``, ``end``, ``instant``, ``counter``, ``gap``, ``discarded``) or names of events; all
        else is as for :meth:`table`.

        >>> import pyarrow, traceglass as tg
        >>> begins = tg.open("examples/data/sample.rfr").events(kinds=["begin"], columns=["name"])
        >>> set(pyarrow.table(begins)["name"].to_pylist()) <= {"poll", "enter"}
        True
        """
        return self.table(
            "events",
            columns=columns,
            start=start,
            end=end,
            kinds=kinds,
            pieces=pieces,
            batch_rows=batch_rows,
        )

    def tracks(
        self,
        *,
        columns: Sequence[str] | None = None,
        start: int | datetime | None = None,
        end: int | datetime | None = None,
        pieces: tuple[int, int] | None = None,
        batch_rows: int = 65536,
    ) -> Table:
        """The tracks on which events happen: tasks, threads, streams, processors."""
        return self.table(
            "tracks", columns=columns, start=start, end=end, pieces=pieces, batch_rows=batch_rows
        )

    def slices(
        self,
        *,
        columns: Sequence[str] | None = None,
        start: int | datetime | None = None,
        end: int | datetime | None = None,
        kinds: Iterable[str] | None = None,
        pieces: tuple[int, int] | None = None,
        batch_rows: int = 65536,
    ) -> Table:
        """What lasted: polls, spans, and states that a table of pairs finds in events, as ``traceglass cat --slices``
        prints them.

        ``kinds`` are names of slices. Those that have a part in the range of time are there, with their true begins and
        ends. They are read from the whole trace, with the first piece: others have none.

        >>> import pyarrow, traceglass as tg
        >>> slices = pyarrow.table(tg.open("examples/data/sample.ctf").slices(columns=["track", "flags"]))
        >>> slices.slice(0, 1).to_pylist()
        [{'track': 'CPU 0', 'flags': []}]
        """
        return self.table(
            "slices",
            columns=columns,
            start=start,
            end=end,
            kinds=kinds,
            pieces=pieces,
            batch_rows=batch_rows,
        )

    def gaps(
        self,
        *,
        columns: Sequence[str] | None = None,
        start: int | datetime | None = None,
        end: int | datetime | None = None,
        pieces: tuple[int, int] | None = None,
        batch_rows: int = 65536,
    ) -> Table:
        """What cannot be read, and what the recorder discarded."""
        return self.table(
            "gaps", columns=columns, start=start, end=end, pieces=pieces, batch_rows=batch_rows
        )

    def parts(
        self,
        *,
        columns: Sequence[str] | None = None,
        start: int | datetime | None = None,
        end: int | datetime | None = None,
        pieces: tuple[int, int] | None = None,
        batch_rows: int = 65536,
    ) -> Table:
        """What its files consist of: chunks, packets, units."""
        return self.table(
            "parts", columns=columns, start=start, end=end, pieces=pieces, batch_rows=batch_rows
        )

    def __repr__(self) -> str:
        return f"<traceglass.Trace {self._path!r}>"


def _cores() -> set[int]:
    """The processors that this process may use."""
    try:
        return os.sched_getaffinity(0)
    except AttributeError:
        return set(range(os.cpu_count() or 1))


def _refuse_unreadable(path: str) -> None:
    """Raises what Python's own ``open`` raises: FileNotFoundError, PermissionError …, with the path."""
    if path == "-":
        # The command takes it for the standard input.
        raise ValueError("a trace is read more than once, which standard input cannot be: save it to a file")
    if stat.S_ISREG(os.stat(path).st_mode):
        os.close(os.open(path, os.O_RDONLY))


def open(path: str | os.PathLike[str], *, threads: int | None = None) -> Trace:
    """Opens a trace: a file or a directory, as the command does; not standard input, which can be read once only.

    Raises :class:`OSError` if there is no such file or it may not be read, and :class:`TraceError` if it is no trace or
    nothing can be read of it. Of a trace that has no tables, such as metadata of CTF alone, ``info`` and ``check`` can be
    asked; its tables raise :class:`TraceError`. ``threads``: how many read a table; all processors if None.

    >>> import traceglass as tg
    >>> tg.open("examples/data/sample.rfr")
    <traceglass.Trace 'examples/data/sample.rfr'>
    """
    return Trace(path, threads=threads)
