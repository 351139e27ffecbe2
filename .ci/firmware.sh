#!/usr/bin/env bash
# Builds the firmware example, runs it on an emulated Cortex-M4, compares what it says with what is expected, and looks for an
# allocator. With `full`, on the Cortex-M0 as well, and for two processors more it must compile. Prints the table of flash,
# RAM and stack; with --write, which is `full` as well, puts it into examples/firmware/README.md. PROGRAM=rfr builds and runs
# one alone.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/embedded.sh
need_bare_metal
need_emulator

firmware=examples/firmware
declare -A machine=(
    [thumbv7em-none-eabihf]="lm3s6965evb -cpu cortex-m4"
    [thumbv6m-none-eabi]="lm3s6965evb -cpu cortex-m0"
)
declare -A core=([thumbv7em-none-eabihf]=M4 [thumbv6m-none-eabi]=M0)
table="| program | core | flash, bytes | static RAM, bytes | peak stack, bytes |
|---|---|---:|---:|---:|"

sizes() { # ELF: bytes of flash and of RAM
    size -A "$1" | awk '
        /^\.(vector_table|text|rodata|ARM\.)/ { flash += $2 }
        /^\.data/ { flash += $2; ram += $2 }
        /^\.bss/ { ram += $2 }
        END { print flash, ram }'
}

run() { # PROGRAM TARGET
    local elf=$firmware/target/$2/release/$1 said flash ram stack
    # shellcheck disable=SC2086
    said=$(timeout "${PROGRAM_SECONDS:-60}" qemu-system-arm -machine ${machine[$2]} -nographic \
        -semihosting-config enable=on,target=native -kernel "$elf") ||
        { printf '%s\n' "$said"; echo "$1 failed on ${core[$2]}" >&2; return 1; }
    stack=$(sed -n 's/^peak stack: \([0-9]*\) bytes$/\1/p' <<<"$said")
    [ -n "$stack" ]
    diff -u "$firmware/expected/$1.txt" <(grep -v '^peak stack' <<<"$said") ||
        { echo "$1 says something else on ${core[$2]}" >&2; return 1; }
    if nm "$elf" | grep -E '__rust_(alloc|dealloc|realloc)|__rg_|__rdl_'; then
        echo "$1 has an allocator" >&2
        return 1
    fi
    read -r flash ram < <(sizes "$elf")
    table+=$(printf '\n| %s | %s | %d | %d | %d |' "$1" "${core[$2]}" "$flash" "$ram" "$stack")
    echo "$1 on ${core[$2]}: as expected"
}

targets=(thumbv7em-none-eabihf)
[ -z "${1-}" ] || targets+=(thumbv6m-none-eabi)
programs=0
for target in "${targets[@]}"; do
    # All but four with 16 KiB of RAM; zstd's tables and an output take more, and so do RTC's records and CTF's schema.
    if [ -n "${PROGRAM-}" ]; then
        case $PROGRAM in rdf | rtc_strict | ctf_events | ctf1_events) more=(--features ram64) ;; *) more=() ;; esac
        (cd "$firmware" && bare_cargo build "$target" --release "${more[@]}" --bin "$PROGRAM")
    else
        (cd "$firmware" && bare_cargo build "$target" --release --bins)
        (cd "$firmware" && bare_cargo build "$target" --release --features ram64 --bin rdf --bin rtc_strict \
            --bin ctf_events --bin ctf1_events)
    fi
    for source in "$firmware"/src/bin/${PROGRAM:-*}.rs; do
        run "$(basename "$source" .rs)" "$target"
        programs=$((programs + 1))
    done
done
[ "$programs" -gt 0 ]
# With the feature `defmt`: the format strings are in the ELF file, the device sends what goes into them.
(cd "$firmware" && DEFMT_LOG=info bare_cargo build thumbv7em-none-eabihf --release --features defmt --bin defmt)
elf=$firmware/target/thumbv7em-none-eabihf/release/defmt
said=$(mktemp)
# shellcheck disable=SC2086
timeout 60 qemu-system-arm -machine ${machine[thumbv7em-none-eabihf]} -nographic \
    -semihosting-config enable=on,target=native -kernel "$elf" >"$said"
# Text is sent with a byte of encoding after each seven.
for text in cInfo pshot "RDF fi" "peak stack"; do
    grep -aq "$text" "$said" || { echo "defmt: nothing of $text was sent" >&2; exit 1; }
done
strings=$(nm "$elf")
for format in "Header {{ version" "Entry {{ number" "UnexpectedEnd {{ needed"; do
    grep -q "\"package\":\"traceglass\".*$format" <<<"$strings" || { echo "defmt: no string for $format" >&2; exit 1; }
done
echo "defmt on M4: $(wc -c <"$said") bytes sent"
# A ring of CTF packets in memory, in a program that is stopped at a moment that a seed decides: what was recorded is read
# from the dump, by the command and, once split into files, by babeltrace2.
need_packages babeltrace2
(cd "$firmware" && bare_cargo build thumbv7em-none-eabihf --release --features embassy --bin ring --bin record --bin embassy)
. .ci/command.sh
rings=$(mktemp -d)
counted() { # PROGRAM ARGUMENT
    # shellcheck disable=SC2086
    timeout 60 qemu-system-arm -machine ${machine[thumbv7em-none-eabihf]} -nographic -icount shift=3 \
        -semihosting-config "enable=on,target=native,arg=$1,arg=$2" \
        -kernel "$firmware/target/thumbv7em-none-eabihf/release/$1"
}
counted record "" >"$rings/record" # It fails if a record takes more than 120 instructions.
recorded=$(sed -n 's/^recorded, three fields: //p' "$rings/record")
shared=$(sed -n 's/^recorded, shared with interrupts: //p' "$rings/record")
stack_record=$(sed -n 's/^peak stack: \([0-9]*\) bytes$/\1/p' "$rings/record")
stack_ring=0
counted ring 0 >"$rings/metadata"
for seed in $(seq "${RING_SEEDS:-24}"); do
    mkdir "$rings/$seed"
    cp "$rings/metadata" "$rings/$seed/"
    counted ring "$seed" 2>"$rings/aside" >"$rings/$seed/ring.bin"
    written=$(head -n 1 "$rings/aside")
    # The moment decides how deep it was: the deepest of all counts.
    stack=$(sed -n 's/^peak stack: //p' "$rings/aside")
    [ "$stack" -le "$stack_ring" ] || stack_ring=$stack
    # The packet that was being written may be damaged: status 3.
    target/debug/traceglass cat --json --wire "$rings/$seed" >"$rings/json" 2>"$rings/says" || [ $? = 3 ]
    python3 .ci/ring.py "$written" <"$rings/json" | tee -a "$rings/told"
    target/debug/traceglass export --format files --wire -o "$rings/split" "$rings/$seed" 2>"$rings/says" || [ $? = 3 ]
    babeltrace2 "$rings/split"/*/ >"$rings/listed" 2>"$rings/says"
    [ ! -s "$rings/says" ] && [ "$(wc -l <"$rings/listed")" = "$(grep -c '"doubtful":false' "$rings/json")" ] ||
        { cat "$rings/says"; echo "ring $seed: babeltrace2 reads something else" >&2; exit 1; }
    rm -r "$rings/split"
done
# Most of the rings had been filled more than once.
awk '$1 > 300 && / [1-9][0-9]* in packets that were closed$/ { filled++ } END { exit !(filled > NR / 2) }' "$rings/told"
# The tasks of embassy's executor, as its hooks told them.
mkdir "$rings/embassy"
counted embassy metadata >"$rings/embassy/metadata"
counted embassy dump 2>"$rings/aside" >"$rings/embassy/ring.bin"
stack_embassy=$(sed -n 's/^peak stack: //p' "$rings/aside")
target/debug/traceglass cat --slices "$rings/embassy" >"$rings/told"
[ "$(grep -c "executor [0-9]*  task [0-9]*" "$rings/told")" -gt 30 ] ||
    { cat "$rings/told"; echo "embassy: too few slices" >&2; exit 1; }
target/debug/traceglass export --format perfetto -o "$rings/embassy.pftrace" "$rings/embassy"
# Perfetto's trace processor finds the same ones on tracks of the executor.
TRACE_PROCESSOR=$(.ci/perfetto.sh processor)
export TRACE_PROCESSOR
slices=$(target/debug/traceglass cat --slices --json "$rings/embassy" | grep -c '"kind":"slice"')
found=$(node cli/tests/perfetto/sql.mjs "$rings/embassy.pftrace" "select count(*), count(distinct track.name) from slice
    join track on slice.track_id = track.id where track.name like 'executor %'")
echo "embassy: $slices slices, in Perfetto on tracks: $found"
[ "$slices" -gt 30 ] && [ "${found%%[!0-9]*}" = "$slices" ]
rm -r "$rings"
# 32 bits without compressed pointers, and 32 bits of the other byte order: they must compile.
if [ -n "${1-}" ]; then
    for target in riscv32imc-unknown-none-elf armebv7r-none-eabi; do
        bare_cargo build "$target" --release -p traceglass -p traceglass-record
    done
fi
# Atomic words that can be loaded and stored are enough for the recorder.
bare_cargo check thumbv6m-none-eabi -p traceglass-record

recorders="| program | flash, bytes | static RAM, bytes | peak stack, bytes | instructions for an event of three fields |
|---|---:|---:|---:|---:|"
recorder() { # PROGRAM STACK INSTRUCTIONS WHAT
    local flash ram
    read -r flash ram < <(sizes "$firmware/target/thumbv7em-none-eabihf/release/$1")
    [ "$2" -gt 0 ]
    recorders+=$(printf '\n| [`%s`](../examples/firmware/src/%s.rs): %s | %d | %d | %d | %s |' "$1" "$1" "$4" "$flash" "$ram" "$2" "$3")
}
recorder record "$stack_record" "$recorded" "\`Recorder\`"
recorders+=$'\n'"| the same: \`Shared\`, with the time and the critical section | | | | $shared |"
recorder ring "$stack_ring" "" "two events, 4 KiB of pages, its metadata"
recorder embassy "$stack_embassy" "" "two tasks, the hooks of the executor"

put() { # NAME TABLE FILE
    awk -v name="$1" -v table="$2" '
        $0 == "<!-- " name " table -->" { print; print table; skip = 1; next }
        $0 == "<!-- end of " name " table -->" { skip = 0 }
        !skip' "$3" >"$3.new"
    mv "$3.new" "$3"
}
printf '%s\n\n%s\n' "$table" "$recorders"
if [ "${1-}" = --write ]; then
    put firmware "$table" examples/firmware/README.md
    put recorder "$recorders" docs/firmware.md
fi
