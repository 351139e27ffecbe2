"""Events of ROS 2 traces as dictionaries, in place of ``tracetools_read``.

Scripts that read traces of ``ros2 trace`` need one other line::

    from traceglass.ros2 import get_trace_ctf_events

Neither babeltrace nor its Python bindings are needed, and a trace that is damaged is read up to its damage.
"""

from __future__ import annotations

import heapq
import json
import math
import os
import warnings
from collections.abc import Iterator
from typing import Any

from . import _core
from ._errors import TraceError

#: An event: ``_name``, ``_timestamp`` in nanoseconds, and its fields by name.
DictEvent = dict[str, Any]

#: Fields that say where an event lies and how it was recorded, not what happened: they are left out.
IGNORED_FIELDS = frozenset(
    {
        "content_size",
        "cpu_id",
        "events_discarded",
        "id",
        "magic",
        "packet_seq_num",
        "packet_size",
        "stream_id",
        "stream_instance_id",
        "timestamp_begin",
        "timestamp_end",
        "uuid",
        "v",
    }
)

# As much of a trace is read at once: its text takes some ten times as much.
_WINDOW = 8 << 20


def is_trace_directory(path: str | os.PathLike[str]) -> bool:
    """True if a trace lies in a directory, or in a folder somewhere in it.

    >>> from traceglass import ros2
    >>> ros2.is_trace_directory("examples/data/ros2"), ros2.is_trace_directory("docs")
    (True, False)
    """
    return any(True for _ in _traces(os.fspath(path)))


def get_trace_ctf_events(trace_directory: str | os.PathLike[str]) -> Iterator[DictEvent]:
    """The events of all traces in a directory, in the order of time. Those of traces without a clock come first, in the
    order of their folders' names; a trace without streams has no events.

    Each is a dictionary with ``_name``, ``_timestamp`` (nanoseconds, since the Unix epoch if the clock knows it), the fields
    of its payload and of its contexts. Raises :class:`FileNotFoundError` if no trace is there, and
    :class:`traceglass.TraceError` if one cannot be read at all. What is damaged is told by a warning.

    >>> from traceglass.ros2 import get_trace_ctf_events
    >>> event = next(get_trace_ctf_events("examples/data/ros2"))
    >>> event["_name"], event["_timestamp"], event["node_name"], event["procname"]
    ('ros2:rcl_node_init', 1795225314000010000, 'scanner', 'robot')
    """
    folder = os.fspath(trace_directory)
    traces = sorted(_traces(folder))
    if not traces:
        raise FileNotFoundError(f"no CTF trace in {folder}")
    return heapq.merge(*map(_events, traces), key=_time)


def _time(event: DictEvent) -> float:
    time = event["_timestamp"]
    return -math.inf if time is None else time


def get_trace_events(trace_directory: str | os.PathLike[str]) -> list[DictEvent]:
    """The events of :func:`get_trace_ctf_events`, as a list."""
    return list(get_trace_ctf_events(trace_directory))


def _traces(folder: str) -> Iterator[str]:
    """The folders with metadata."""
    for path, folders, files in os.walk(folder):
        if "metadata" in files:
            yield path
            folders.clear()


def _run(verb: str, path: str, *options: str) -> str:
    """The lines of JSON that the command prints of a trace."""
    status, stdout, stderr = _core.run([verb, "--json", *options, "--", path])
    if status not in (0, 3):
        raise TraceError(stderr.strip() or f"traceglass {verb} ended with {status}")
    if status == 3 and verb == "cat":
        warnings.warn(stderr.strip() or f"{path} is damaged", stacklevel=3)
    return stdout


def _events(path: str) -> Iterator[DictEvent]:
    for options in _windows(path):
        for line in _run("cat", path, "--context", *options).splitlines():
            record = json.loads(line)
            if record.get("kind") == "event":
                yield _event(record)


def _windows(path: str) -> Iterator[list[str]]:
    """Ranges of time, one after the other, each with a part of the trace that fits in memory."""
    info = json.loads(_run("info", path, "--full"))
    # Metadata alone: there are no events to have times.
    if "time_ns" not in info:
        return
    begin, end = info["time_ns"], info["end_time_ns"]
    count = -(-info["bytes"] // _WINDOW)
    if begin is None or end is None or count <= 1 or end - begin < count:
        yield []
        return
    step = -(-(end - begin) // count)
    for number in range(count):
        first = [] if number == 0 else [f"--from=+{number * step}ns"]
        last = [] if number == count - 1 else [f"--to=+{(number + 1) * step}ns"]
        yield first + last


def _event(record: dict[str, Any]) -> DictEvent:
    event: DictEvent = {"_name": record["name"], "_timestamp": record["time_ns"]}
    for scope in ("payload", "specific_context", "common_context", "packet_context"):
        fields = record.get(scope) or {}
        for name, value in fields.items():
            # The labels of an enumeration stand beside its number.
            labelled = name.endswith("_labels") and isinstance(fields.get(name[: -len("_labels")]), int)
            # A field of the event may be named so, too: labels are a list.
            if name not in IGNORED_FIELDS and not (labelled and isinstance(value, list)):
                event.setdefault(name, value)
    return event
