#!/usr/bin/env python3
"""The share of mutants that the tests notice, of what `cargo mutants` wrote; fails where it is less than is stated.

    .ci/mutants.py OUTCOMES SHARE     with `outcomes.json`, and the least share in percent
"""
import collections
import json
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
share = 100 * noticed / (noticed + missed)
print(f"{noticed} of {noticed + missed} are noticed: {share:.1f} %, of {least:g} %")
sys.exit(share < least)
