"""`traceglass.ros2` against babeltrace's Python bindings where they are installed, else against what is known of a sample."""

import json
import pathlib
import shutil
import subprocess

import pytest

import traceglass
from traceglass import ros2

#: Prints what `tracetools_read` makes of babeltrace's messages: the fields of all scopes of an event, in one dictionary.
BABELTRACE = """
import json, sys
import bt2

def plain(field):
    if isinstance(field, bt2._StringFieldConst):
        return str(field)
    if isinstance(field, bt2._ArrayFieldConst):
        return [plain(one) for one in field]
    return int(field)

ignored = set(json.loads(sys.argv[2]))
for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if type(message) is bt2._EventMessageConst:
        event = message.event
        found = {"_name": event.name, "_timestamp": message.default_clock_snapshot.ns_from_origin}
        scopes = event.payload_field, event.specific_context_field, event.common_context_field, event.packet.context_field
        for fields in scopes:
            for name in fields or {}:
                if name not in ignored:
                    found.setdefault(name, plain(fields[name]))
        print(json.dumps(found))
"""


def by_babeltrace(trace):
    """The events as babeltrace reads them; its bindings are those of the system's Python."""
    command = ["/usr/bin/python3", "-c", BABELTRACE, str(trace), json.dumps(sorted(ros2.IGNORED_FIELDS))]
    if subprocess.run(["/usr/bin/python3", "-c", "import bt2"], capture_output=True).returncode != 0:
        pytest.skip("babeltrace's Python bindings are not installed")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_events_are_dictionaries(samples):
    events = ros2.get_trace_events(samples / "ros2")
    assert len(events) == 57
    assert events[1] == {
        "_name": "ros2:rcl_subscription_init",
        "_timestamp": 1795225314000020000,
        "subscription_handle": 0x55D000001200,
        "node_handle": 0x55D000004200,
        "rmw_subscription_handle": 0x55D000001210,
        "topic_name": "/scan",
        "queue_depth": 10,
        "vpid": 900,
        "vtid": 901,
        "procname": "robot",
    }
    longest = {}
    for event in events:
        if event["_name"] == "ros2:callback_start":
            longest[event["callback"]] = event["_timestamp"]
    assert set(longest) == {0x55D000001400, 0x55D000002400}


def test_windows_have_all_events_once(samples, monkeypatch):
    whole = ros2.get_trace_events(samples / "ros2")
    for size in (100, 777, 3000):
        monkeypatch.setattr(ros2, "_WINDOW", size)
        assert len(list(ros2._windows(str(samples / "ros2")))) > 1
        assert ros2.get_trace_events(samples / "ros2") == whole


def test_traces_in_folders_are_merged(samples, tmp_path):
    shutil.copytree(samples / "ros2", tmp_path / "session/ust/uid/1000/64-bit")
    shutil.copytree(samples / "kernel", tmp_path / "session/kernel")
    events = list(ros2.get_trace_ctf_events(tmp_path / "session"))
    assert len(events) == 57 + 59
    times = [event["_timestamp"] for event in events]
    assert times == sorted(times)
    assert ros2.is_trace_directory(tmp_path)


def test_a_trace_without_streams_has_no_events(samples, tmp_path):
    (tmp_path / "a").mkdir()
    shutil.copy(samples / "ros2/metadata", tmp_path / "a")
    assert ros2.get_trace_events(tmp_path / "a") == []
    shutil.copytree(samples / "ros2", tmp_path / "b")
    assert ros2.get_trace_events(tmp_path) == ros2.get_trace_events(samples / "ros2")


#: Without a clock.
METADATA = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
trace { major = 1; minor = 8; byte_order = le; };
stream { };
event { name = "untimed"; fields := struct { u8 x; }; };
"""


def test_events_without_a_time_are_in_the_order_of_folders(samples, tmp_path):
    for name, data in [("a", b"\x01\x02"), ("c", b"\x03")]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "metadata").write_text(METADATA)
        (tmp_path / name / "stream").write_bytes(data)
    shutil.copytree(samples / "ros2", tmp_path / "b")
    events = ros2.get_trace_events(tmp_path)
    assert [event["x"] for event in events[:3]] == [1, 2, 3]
    assert events[3:] == ros2.get_trace_events(samples / "ros2")


def test_what_is_no_trace(tmp_path):
    assert not ros2.is_trace_directory(tmp_path)
    with pytest.raises(FileNotFoundError):
        ros2.get_trace_ctf_events(tmp_path)
    (tmp_path / "metadata").write_text("nothing")
    with pytest.raises(traceglass.TraceError):
        list(ros2.get_trace_ctf_events(tmp_path))


def test_damage_is_a_warning(samples, tmp_path):
    shutil.copytree(samples / "kernel", tmp_path / "trace")
    file = tmp_path / "trace/channel0_0"
    file.write_bytes(file.read_bytes()[:-300])
    with pytest.warns(UserWarning):
        events = ros2.get_trace_events(tmp_path / "trace")
    assert 40 < len(events) < 59


def test_a_field_that_is_named_as_labels_are():
    payload = {"n": 1, "n_labels": 2, "state": 3, "state_labels": ["idle"]}
    event = ros2._event({"name": "ev", "time_ns": 5, "payload": payload})
    assert event == {"_name": "ev", "_timestamp": 5, "n": 1, "n_labels": 2, "state": 3}


@pytest.mark.parametrize("name", ["ros2", "kernel"])
def test_samples_as_babeltrace_reads_them(samples, name):
    expected = by_babeltrace(samples / name)
    assert expected and ros2.get_trace_events(samples / name) == expected


def test_vectors_as_babeltrace_reads_them(vectors):
    checked = 0
    for trace in sorted(pathlib.Path(vectors, "states").glob("*/trace")):
        # Babeltrace 2.0 reads CTF 1.8 alone.
        if trace.parent.name in ("ros2", "lttng-ust", "lttng-kernel"):
            expected = by_babeltrace(trace)
            assert expected and ros2.get_trace_events(trace) == expected
            checked += 1
    assert checked == 3
