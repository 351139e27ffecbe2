#!/usr/bin/env bash
# The C library: its header is what cbindgen makes of it; programs in C and C++ use it on this machine, under valgrind and
# the sanitizers, by CMake and by pkg-config; programs for the Cortex-M4 run under an emulator, and what they record is
# read by the command and by babeltrace2. Prints the table of flash, RAM, stack and instructions; with --write, puts the
# header and the table where they belong.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/embedded.sh
need_packages gcc g++ cmake make pkg-config valgrind gcc-arm-none-eabi libnewlib-arm-none-eabi babeltrace2
need_bare_metal
need_emulator
write=${1-}
c=$PWD/bindings/c data=$PWD/examples/data
work=$(mktemp -d)
strict=(-Wall -Wextra -Wpedantic -Werror)

# The header.
export PATH=$PWD/target/tools/bin:$PATH
cbindgen --version 2>/dev/null || cargo install --quiet --locked --debug cbindgen --version 0.29.4 --root target/tools
# It says that features are no macros.
(cd "$c" && cbindgen --quiet --config cbindgen.toml --crate traceglass-c --output "$work/traceglass.h" 2>"$work/says") ||
    { cat "$work/says"; exit 1; }
[ "$write" = --write ] && cp "$work/traceglass.h" "$c/include/traceglass.h"
diff -u "$c/include/traceglass.h" "$work/traceglass.h" ||
    { echo "the header is not that of the library: .ci/c.sh --write makes it anew" >&2; exit 1; }

# On this machine, where nothing is weighed: without the optimizations over all crates, which take minutes.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
(cd "$c" && cargo fmt --check && cargo clippy --quiet -- -D warnings && cargo build --quiet --release)
library=$c/target/release/libtraceglass_c.a
for test in read events record; do
    gcc -std=c11 "${strict[@]}" -g -O1 -I"$c/include" "$c/tests/$test.c" "$library" -o "$work/$test"
    gcc -std=c11 "${strict[@]}" -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all \
        -I"$c/include" "$c/tests/$test.c" "$library" -o "$work/$test.sanitized"
done
g++ -std=c++17 "${strict[@]}" -I"$c/include" "$c/tests/header.cpp" "$library" -o "$work/header"
"$work/header"
for runs in "" .sanitized; do
    "$work/read$runs" "$data"
    "$work/events$runs" "$data"
    "$work/record$runs"
done
valgrind -q --error-exitcode=9 "$work/read" "$data" >/dev/null
valgrind -q --error-exitcode=9 "$work/events" "$data" >/dev/null
valgrind -q --error-exitcode=9 "$work/record"
gcc -std=c11 "$c/tests/read.c" -I"$c/include" -L"$c/target/release" -ltraceglass_c -o "$work/shared"
LD_LIBRARY_PATH=$c/target/release "$work/shared" "$data" >/dev/null

# What the README shows.
awk -v work="$work" '/^```c$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print > (work "/readme" n ".c") }' "$c/README.md"
for shown in "$work"/readme{1,2,3}.c; do
    gcc -std=c11 "${strict[@]}" -Wno-unused-variable -I"$c/include" -c "$shown" -o "$work/shown.o"
done

# Installed, and found.
cmake -S "$c" -B "$work/build" -DTRACEGLASS_FOLDER="$c/target" -DTRACEGLASS_EXAMPLES=ON -DCMAKE_INSTALL_LIBDIR=lib >/dev/null
cmake --build "$work/build" >"$work/says" 2>&1 || { cat "$work/says"; exit 1; }
cmake --install "$work/build" --prefix "$work/installed" >/dev/null
cmake -S "$c/tests/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$work/installed" >/dev/null
cmake --build "$work/consumer" >/dev/null
"$work/consumer/consumer" "$data" >/dev/null
cmake -S "$c/tests/consumer" -B "$work/fetched" -DTRACEGLASS_SOURCES="$PWD" -DTRACEGLASS_FOLDER="$c/target" >/dev/null
cmake --build "$work/fetched" >"$work/says" 2>&1 || { cat "$work/says"; exit 1; }
"$work/fetched/consumer" "$data" >/dev/null
# shellcheck disable=SC2046
gcc -std=c11 "$c/tests/read.c" $(PKG_CONFIG_PATH=$work/installed/lib/pkgconfig pkg-config --cflags --libs traceglass) -o "$work/found"
"$work/found" "$data" >/dev/null
# Where libraries lie in a folder for each machine, as those of Debian do.
cmake -S "$c" -B "$work/multiarch" -DTRACEGLASS_LIBRARY="$library" -DCMAKE_INSTALL_LIBDIR=lib/any-linux-gnu >/dev/null
cmake --install "$work/multiarch" --prefix "$work/multi" >/dev/null
# shellcheck disable=SC2046
gcc -std=c11 "$c/tests/read.c" $(PKG_CONFIG_PATH=$work/multi/lib/any-linux-gnu/pkgconfig pkg-config --cflags --libs traceglass) \
    -o "$work/found"
crash=${TRACEGLASS_VECTORS:-../shared/vectors}/rdf-contents/synthetic/hardware_crash.rgd
[ -f "$crash" ] || { echo "no crash dump: $crash" >&2; exit 1; }
"$work/build/rdf_crash" "$crash" | tee "$work/said"
grep "page fault at 0x71399cf94000 in process 4242 SampleGame.exe" "$work/said" >/dev/null
grep "command buffer 3549 in flight" "$work/said" >/dev/null

# As a module of Zephyr: what its build would be told, without Zephyr.
cat >"$work/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.20)
project(zephyr_like LANGUAGES C)
set(CONFIG_TRACEGLASS y)
set(CONFIG_TRACEGLASS_TARGET thumbv7em-none-eabihf)
set(CONFIG_TRACEGLASS_FEATURES record)
function(zephyr_link_libraries)
    message(STATUS "linked: \${ARGN}")
endfunction()
add_subdirectory($c/zephyr zephyr)
END
cmake -S "$work" -B "$work/zephyr" >"$work/said"
grep "linked: traceglass" "$work/said" >/dev/null

# The tests in Rust are for Miri; here they run as they are.
(cd "$c" && cargo test --quiet >"$work/says" 2>&1) || { cat "$work/says"; exit 1; }

unset CARGO_PROFILE_RELEASE_LTO CARGO_PROFILE_RELEASE_CODEGEN_UNITS

# On the Cortex-M4. Without events, as devices have no room for their 0.5 MB of RDF: what is shared with them takes 1 KB more.
(cd "$c" && bare_cargo rustc thumbv7em-none-eabihf --quiet --release --crate-type staticlib --no-default-features \
    --features rdf,crash,rtc,rfr,ctf,dial9,record)
small=$c/target/thumbv7em-none-eabihf/release/libtraceglass_c.a
cmake -S "$c/examples/m4" -B "$work/m4" --toolchain "$c/examples/m4/arm-none-eabi.cmake" \
    -DTRACEGLASS_LIBRARY="$small" -DTRACEGLASS_COSTS=ON >/dev/null
cmake --build "$work/m4" >"$work/says" 2>&1 || { cat "$work/says"; exit 1; }
table="| program | flash, bytes | static RAM, bytes | peak stack, bytes |
|---|---:|---:|---:|"
mkdir "$work/trace"
for program in empty packet rdf zstd rfr rtc json any trace_reader ctf_record cost; do
    # Each instruction takes 8 ns, whatever it does.
    (cd "$work/trace" && timeout 60 qemu-system-arm -machine lm3s6965evb -cpu cortex-m4 -nographic -icount shift=3 \
        -semihosting-config enable=on,target=native -kernel "$work/m4/$program") >"$work/$program.said" 2>&1 ||
        { cat "$work/$program.said"; echo "$program failed" >&2; exit 1; }
    # Neither an allocator nor a panic.
    arm-none-eabi-nm "$work/m4/$program" >"$work/symbols"
    if grep -E "__rust_alloc|__rdl_|_sbrk|malloc|rust_begin_unwind|panicking" "$work/symbols"; then
        echo "$program allocates, or panics" >&2
        exit 1
    fi
    read -r flash ram < <(arm-none-eabi-size "$work/m4/$program" | awk 'NR == 2 { print $1 + $2, $2 + $3 }')
    stack=$(sed -n 's/^peak stack: //p' "$work/$program.said")
    [ "$program" = cost ] || table+=$(printf '\n| %s | %d | %d | %d |' "$program" "$flash" "$ram" "$stack")
    declare "flash_$program=$flash"
done
cat "$work/trace_reader.said"
[ "$(grep -c " at " "$work/trace_reader.said")" = 10 ]
# What they may take: the harness and the samples are no part of it.
[ $((flash_packet - flash_empty)) -le 1536 ] || { echo "the writer takes $((flash_packet - flash_empty)) bytes" >&2; exit 1; }
rdf=$((flash_rdf - flash_empty - $(stat -c %s "$data/sample.rdf")))
[ "$rdf" -le 4096 ] || { echo "RDF takes $rdf bytes" >&2; exit 1; }
recorded=$(sed -n 's/^recorded, three fields: //p' "$work/cost.said")
[ "$recorded" -le 120 ] || { echo "an event of three fields takes $recorded instructions" >&2; exit 1; }

# What was recorded is read: by the command, with a schema that is that of the header, and by babeltrace2.
. .ci/command.sh
target/debug/traceglass compile --c "$work/trace" >"$work/schema.h"
[ "$write" = --write ] && cp "$work/schema.h" "$c/examples/m4/schema.h"
diff -u "$c/examples/m4/schema.h" "$work/schema.h"
target/debug/traceglass cat --json --wire "$work/trace" >"$work/json"
python3 .ci/c_record.py "$work/ctf_record.said" <"$work/json"
target/debug/traceglass export --format files --wire -o "$work/split" "$work/trace"
babeltrace2 "$work/split"/*/ >"$work/listed"
[ "$(wc -l <"$work/listed")" = "$(wc -l <"$work/json")" ] ||
    { echo "babeltrace2 reads $(wc -l <"$work/listed") events" >&2; exit 1; }

costs="| instructions for a record | |
|---|---:|
$(sed -n 's/^\(recorded.*\|read.*\): \([0-9]*\)$/| \1 | \2 |/p' "$work/cost.said")"
printf '%s\n\n%s\n' "$table" "$costs"
if [ "$write" = --write ]; then
    awk -v table="$table" -v costs="$costs" '
        /<!-- c table -->/ { print; print table "\n\n" costs; skip = 1; next }
        /<!-- end of c table -->/ { skip = 0 }
        !skip' docs/firmware.md >docs/firmware.md.new
    mv docs/firmware.md.new docs/firmware.md
fi
rm -r "$work"
