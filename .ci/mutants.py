#!/usr/bin/env python3
"""The share of mutants that the tests notice, of what `cargo mutants` wrote; fails where it is less than is stated.

    .ci/mutants.py OUTCOMES SHARE     with `outcomes.json`, and the least share in percent

A sample of few tells little: it fails where tests that notice the share of all would notice so few in one sample of
forty.
"""
import collections
import json
import math
import pathlib
import sys

outcomes, least = json.loads(pathlib.Path(sys.argv[1]).read_text())["outcomes"], float(sys.argv[2])
found = collections.Counter(one["summary"] for one in outcomes if one["scenario"] != "Baseline")
# Mutants that do not compile say nothing of the tests.
noticed, missed = found["CaughtMutant"] + found["Timeout"], found["MissedMutant"]
if noticed + missed == 0:
    sys.exit("no mutant was tried")
for one in outcomes:
    if one["summary"] == "MissedMutant":
        print("  missed:", one["scenario"]["Mutant"]["name"])
tried, share = noticed + missed, least / 100
chance = sum(math.comb(tried, few) * share**few * (1 - share) ** (tried - few) for few in range(noticed + 1))
print(f"{noticed} of {tried} are noticed: {100 * noticed / tried:.1f} %, of {least:g} %; so few by chance: {100 * chance:.1f} %")
sys.exit(chance < 1 / 40)
