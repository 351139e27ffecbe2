#!/usr/bin/env bash
# What `cut`, `recover` and `merge` write is read by the crate that defined the format: dial9's.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/venv.sh
cargo build -q -p traceglass-cli
cargo build -q --manifest-path benches/readers/Cargo.toml
traceglass=target/debug/traceglass
readers=benches/readers/target/debug/readers
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
files=(examples/data/*.bin)
[ -z "${TRACEGLASS_VECTORS:-}" ] || mapfile -t -O "${#files[@]}" files < <(find "$TRACEGLASS_VECTORS/dial9" -type f -name '*.bin')
recovered=0 cut=0
for file in "${files[@]}"; do
    status=0
    $traceglass recover --force --json -o "$folder/out" "$file" >"$folder/report" 2>"$folder/said" || status=$?
    case $status in
        0 | 3) ;;
        1) continue ;;
        *) cat "$folder/said" >&2; exit 1 ;;
    esac
    kept=$(sed 's/.*"units_kept":\([0-9]*\).*/\1/' "$folder/report")
    $readers "$folder/out" >"$folder/events"
    [ "$(wc -l <"$folder/events")" -eq "$kept" ] || { echo "$file: the reader has $(wc -l <"$folder/events") events, not $kept" >&2; exit 1; }
    recovered=$((recovered + 1))
    # What is cut has events of the whole alone.
    $traceglass cut --force --from +1us -o "$folder/cut" "$folder/out" >"$folder/report" 2>"$folder/said" || continue
    $readers "$folder/cut" | sort >"$folder/some"
    sort "$folder/events" >"$folder/all"
    [ -z "$(comm -23 "$folder/some" "$folder/all")" ] || { echo "$file: cut has events that the whole has not" >&2; exit 1; }
    cut=$((cut + 1))
done
echo "$recovered recovered files and $cut cuts are read by dial9-trace-format"
[ "$recovered" -gt 0 ] && [ "$cut" -gt 0 ]
