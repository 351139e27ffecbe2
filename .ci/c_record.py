#!/usr/bin/env python3
"""Checks what `ctf_record` left in its ring: lines of JSON come from stdin, what the program said is in the file that the
argument names. The newest records of both tasks and the interrupt are there, all of them, in order."""

import json
import sys

said = dict(line.rsplit(": ", 1) for line in open(sys.argv[1]) if ": " in line)
counts = {0: int(said["steps of task 0"]), 1: int(said["steps of task 1"])}
assert int(said["lost"]) == 0
records = [json.loads(line) for line in sys.stdin]
times = [record["time_ns"] for record in records]
assert times == sorted(times), "times go back"
assert len(records) > 150, len(records)
for task, count in counts.items():
    serials = [r["payload"]["serial"] for r in records if r["name"] == "step" and r["payload"]["task"] == task]
    assert serials == list(range(count - len(serials), count)), (task, serials[-5:], count)
    assert len(serials) > 30
ticks = [r["payload"]["count"] for r in records if r["name"] == "tick"]
assert ticks and ticks == list(range(int(said["ticks"]) + 1 - len(ticks), int(said["ticks"]) + 1)), ticks
assert all(r["payload"]["queue"] == r["payload"]["serial"] % 7 for r in records if r["name"] == "step")
print(f"{len(records)} records read: {len(ticks)} of the interrupt")
