#!/usr/bin/env python3
"""Compares the records of a ring that a program was stopped while writing (examples/firmware/src/ring.rs) with those that it
wrote: how many those are is an argument, lines of JSON come from stdin."""

import json
import sys

PACKET_WORDS, PACKETS, HEADER = 128, 8, 10


def hash32(number):
    mixed = (number ^ number >> 16) * 0x21F0AAAD & 0xFFFFFFFF
    mixed = (mixed ^ mixed >> 15) * 0x735A2D97 & 0xFFFFFFFF
    return mixed ^ mixed >> 15


written = int(sys.argv[1])
records, packets, time, room = [], [], (1 << 32) - 1 - 20_000, 0
# One more: it may be there already, though it is not counted yet.
for serial in range(written + 1):
    value = hash32(serial)
    before, time = time, time + value % 256
    payload, name = ({"serial": serial}, "Pause") if value % 5 == 0 else ({"serial": serial, "hash": value}, "Step")
    records.append((time * 1000, name, payload))
    words = 2 + len(payload)
    # A packet has one upper half of time.
    if words > room or time >> 32 != before >> 32:
        packets.append(serial)
        room = PACKET_WORDS - HEADER
    room -= words

found = [json.loads(line) for line in sys.stdin]
doubtful = [record["payload"]["serial"] for record in found if record["doubtful"]]
serials = [record["payload"]["serial"] for record in found]
for record in found:
    said = (record["time_ns"], record["name"], record["payload"])
    serial = record["payload"]["serial"]
    if record["session"] != 0 or serial >= len(records) or said != records[serial]:
        sys.exit(f"was never written: {record}")
# All packets but the newest one are whole, and all of them are there but the one whose place the newest has.
must = range(packets[max(0, len(packets) - PACKETS)], packets[-1])
missing = sorted(set(must) - set(serials))
if missing:
    sys.exit(f"missing: {missing[0]} of {must}")
if serials != list(range(serials[0], serials[0] + len(serials))) or any(serial in must for serial in doubtful):
    sys.exit(f"out of order or doubtful: {serials}, {doubtful}")
print(f"{written} written, {len(serials)} read of which {len(doubtful)} doubtful, {len(must)} in packets that were closed")
