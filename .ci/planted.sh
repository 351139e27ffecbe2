#!/usr/bin/env bash
# Plants ten faults in a copy of the tree, from a panic to a record that is skipped, and fails unless each is caught by the
# check that is there for it.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
tree=$root/target/planted/tree
planted=()
caught=0
# A fault is as easily caught by what is built in no time. Only what it changes is built again.
export CARGO_PROFILE_TEST_OPT_LEVEL=0 CARGO_PROFILE_TEST_DEBUG=0 CARGO_PROFILE_DEV_OPT_LEVEL=0 CARGO_PROFILE_DEV_DEBUG=0
export CARGO_INCREMENTAL=1

# The copy of the tree; builds are kept from one run to the next.
rm -rf "$tree"
mkdir -p "$tree" "$root/target/planted/firmware"
# With new times, or what was built with a fault in the run before would pass for built without it.
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$tree" 2>/dev/null || true
ln -s "$root/target/planted/firmware" "$tree/examples/firmware/target"

# Begins another fault: the ones before are mended.
fault() {
    local file
    for file in "${planted[@]}"; do
        cp "$root/$file" "$tree/$file"
    done
    planted=()
}

# Replaces one line of a file in the copy; what is to be replaced must be there, once.
plant() { # FILE LINE REPLACEMENT
    planted+=("$1")
    python3 - "$tree/$1" "$2" "$3" <<'END'
import sys
path, line, replacement = sys.argv[1:]
text = open(path).read()
if text.count(line) != 1:
    sys.exit(f"{path} has not once: {line}")
open(path, "w").write(text.replace(line, replacement))
END
}

# Runs a check in the copy, which must fail, and say why.
must_fail() { # WHAT REASON COMMAND…
    local what=$1 reason=$2 log=$root/target/planted/log
    shift 2
    if (cd "$tree" && "$@") >"$log" 2>&1; then
        echo "$what: not caught by $*" >&2
        exit 1
    fi
    grep -E -m1 "$reason" "$log" || { tail -30 "$log"; echo "$what: $* fails for another reason" >&2; exit 1; }
    echo "$what: caught by $*"
    caught=$((caught + 1))
}

lint() {
    CARGO_TARGET_DIR=$root/target/planted/lint cargo clippy --quiet "$@" -- -D warnings
}

no_panic() {
    CARGO_TARGET_DIR=$root/target/planted/no-panic .ci/no-panic.sh
}

tests() {
    CARGO_TARGET_DIR=$root/target/planted/tests cargo test --quiet "$@"
}

(cd "$tree" && lint) || { echo "the lints fail without a fault" >&2; exit 1; }

fault
plant src/rdf/header.rs '        let size = claim(self.index_size(), at!(RawHeader, index_size), INDEX_SIZE)?;' \
    '        let size = claim(self.index_size(), at!(RawHeader, index_size), INDEX_SIZE)?; if size == 77 { panic!("planted") }'
must_fail "panic" "panic. should not be present" lint
must_fail "panic" "^release: rdf_header panics" no_panic

fault
plant src/rfr/read.rs '        reader.advance(text.len());' \
    '        reader.advance(reader.rest()[..text.len() & 0xff].len().max(text.len()));'
must_fail "slice out of bounds" "slicing may panic" lint
must_fail "slice out of bounds" "^release: rfr_[a-z_]* panics" no_panic

fault
plant src/lib.rs 'mod bytes;' \
    'extern crate alloc; #[doc(hidden)] pub fn planted(n: u8) -> alloc::boxed::Box<u8> { alloc::boxed::Box::new(n) } mod bytes;'
must_fail "allocation" "can't find crate for .alloc.|no global memory allocator" env PROGRAM=rfr .ci/firmware.sh

# What Cortex-M4 can do and M0 cannot: words at any address.
fault
plant src/lib.rs '#![forbid(unsafe_code)]' ''
plant src/varint.rs '                let word = u64::from_le_bytes(*chunk);
                let last' \
    '                let (low, high) = unsafe { let p = chunk.as_ptr().cast::<u32>(); (p.read_volatile(), p.add(1).read_volatile()) };
                let word = u64::from(high) << 32 | u64::from(low);
                let last'
must_fail "unaligned access" "rfr failed on M0" env PROGRAM=rfr PROGRAM_SECONDS=10 .ci/firmware.sh full
grep -q "rfr on M4: as expected" "$root/target/planted/log"

# The same bytes, from elsewhere than the input.
fault
plant src/rdf/chunk.rs '        self.entry.locate(ChunkPart::Header, self.input).map(Bytes::as_slice)' \
    '        let header = self.entry.locate(ChunkPart::Header, self.input).map(Bytes::as_slice);
        if header == Ok(&b"before"[..]) { Ok(&b"before"[..]) } else { header }'
must_fail "foreign slice" "parts_are_lent_from_where_they_lie" tests --test rdf parts_are

fault
plant src/rfr/sequence.rs '        self.run.next()
    }

    /// Skips a record' \
    '        let mut next = self.run.next();
        if matches!(&next, Ok(Some(record)) if Record::micros(record) == 10) {
            next = self.run.next();
        }
        next
    }

    /// Skips a record'
must_fail "skipped record" "test .* FAILED|^    [a-z_]+::" tests --test rfr

fault
plant src/rdf/chunk.rs 'decoder.decompress(compression, stored, output).map_err(|error| error.rebased(base))?' \
    'decoder.decompress(compression, stored, output)?'
must_fail "wrong offset" "^    [a-z_:]+$" tests --test rdf

fault
plant src/ctf/metadata/packet.rs '                self.failed = true;
                Err(error)' '                Err(error)'
must_fail "going on after an error" "^    [a-z_:]+$" tests --test ctf packets

fault
plant src/zstd/decoder.rs '                if size > limit {' '                if size > limit && limit == 0 {'
must_fail "block larger than the window" "no_block_holds_more_than_the_window" tests --test zstd faults

fault
plant cli/src/escape.rs "'\\0'..='\\x1f' | '\\x7f'..='\\u{9f}'" "'\\0'..='\\x1f' | '\\x7f'"
must_fail "unescaped control character" "nothing_that_a_terminal_obeys_is_printed" \
    tests -p traceglass-cli --test hostile nothing

echo "all faults were caught, by $caught checks"
[ "$caught" -eq 12 ]
