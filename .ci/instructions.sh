#!/usr/bin/env bash
# Counts the instructions of the hot loops, and compares them with benches/instructions.txt.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/embedded.sh
[ -n "$(command -v valgrind)" ] || need_packages valgrind
cargo bench --bench instructions
