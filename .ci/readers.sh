#!/usr/bin/env bash
# What `cut`, `recover` and `merge` write is read by the crate that defined the format: dial9's.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/venv.sh
. .ci/command.sh
cargo build -q --manifest-path benches/readers/Cargo.toml
traceglass=target/debug/traceglass
readers=benches/readers/target/debug/readers
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
files=(examples/data/*.bin)
[ -z "${TRACEGLASS_VECTORS:-}" ] || mapfile -t -O "${#files[@]}" files < <(find "$TRACEGLASS_VECTORS/dial9" -type f -name '*.bin')
recovered=0 mended=0 cut=0
for file in "${files[@]}"; do
    status=0
    $traceglass recover --force --json -o "$folder/out" "$file" >"$folder/report" 2>"$folder/said" || status=$?
    case $status in
        # It is the same file. There are some that the crate does not read.
        0)
            cmp "$folder/out" "$file"
            $readers "$folder/out" >"$folder/events" 2>"$folder/said" || continue
            recovered=$((recovered + 1))
            ;;
        3)
            kept=$(sed 's/.*"units_kept":\([0-9]*\).*/\1/' "$folder/report")
            $readers "$folder/out" >"$folder/events"
            count=$(wc -l <"$folder/events")
            [ "$count" -eq "$kept" ] || { echo "$file: the reader has $count events, not $kept" >&2; exit 1; }
            mended=$((mended + 1))
            ;;
        1) continue ;;
        *) cat "$folder/said" >&2; exit 1 ;;
    esac
    # What is cut has events of the whole alone.
    status=0
    $traceglass cut --force --from +1us -o "$folder/cut" "$folder/out" >"$folder/report" 2>"$folder/said" || status=$?
    # Without times there is no range of them.
    grep -q "no record from which time" "$folder/said" && continue
    [ "$status" -eq 0 ] || { cat "$folder/said" >&2; exit 1; }
    $readers "$folder/cut" | sort >"$folder/some"
    [ -z "$(comm -23 "$folder/some" <(sort "$folder/events"))" ] ||
        { echo "$file: cut has events that the whole has not" >&2; exit 1; }
    cut=$((cut + 1))
done
echo "read by dial9-trace-format: $recovered sound files, $mended that were damaged, $cut cuts"
[ "$recovered" -gt 0 ] && [ "$cut" -gt 0 ]
