#!/bin/sh
# Links every entry in tests/no_panic alone, for speed and for size. The panic handler there calls a function that does
# not exist: the linker names it if an entry can panic. `control` can, and must fail.
set -eu
cd "$(dirname "$0")/../tests/no_panic"
target="${CARGO_TARGET_DIR:-target}"
failed=0
entries=0
for profile in release size; do
    cargo build --quiet --profile "$profile"
    library="$target/$profile/libtraceglass_no_panic.a"
    for entry in $(nm --defined-only --extern-only "$library" 2>/dev/null |
        sed -n 's/^[0-9a-f]* T \([a-z][a-z0-9_]*\)$/\1/p' |
        grep -E "^(control|rdf_|rtc_|ctf_|rfr_|zstd_|dial9_|detect_|dump_|event_|record_)" | sort -u); do
        # Only what core does not bring itself may be missing: memory functions and the handler's.
        if message=$(ld -e "$entry" -u "$entry" --gc-sections -o /dev/null "$library" \
            --defsym=memcpy=0 --defsym=memmove=0 --defsym=memset=0 --defsym=memcmp=0 --defsym=bcmp=0 \
            --defsym=rust_eh_personality=0 2>&1); then
            result=links
        elif echo "$message" | grep -q a_panic_is_reachable; then
            result=panics
        else
            echo "$message"
            result="does not link"
        fi
        entries=$((entries + 1))
        expected=links
        [ "$entry" = control ] && expected=panics
        [ "$result" = "$expected" ] || failed=1
        echo "$profile: $entry $result"
    done
done
# Two builds of a few dozen entries: fewer, and the list above was not read as it should.
[ "$entries" -ge 60 ] || { echo "only $entries entries were linked" >&2; exit 1; }
exit $failed
