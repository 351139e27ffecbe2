#!/bin/bash -eu
# Builds the fuzz targets into $OUT, with their dictionaries and seeds. ClusterFuzzLite runs it in its container; elsewhere:
#
#     OUT=/tmp/out .clusterfuzzlite/build.sh
cd "$(dirname "$0")"
# The container keeps this file apart from the sources.
[ -d ../fuzz ] || cd "$SRC/traceglass/.clusterfuzzlite"
cd ..

cargo build --quiet --example write_samples --all-features
"$(cargo metadata --no-deps --format-version 1 | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')/debug/examples/write_samples" --seeds

# The reference zstd has a decoder that accepts some damaged streams; see fuzz/README.md.
export CFLAGS="${CFLAGS:-} -DHUF_DISABLE_FAST_DECODE"
# Arithmetic that wraps is a bug, so debug assertions stay on.
cargo +nightly fuzz build -O --debug-assertions
release=fuzz/target/$(rustc -vV | sed -n 's/^host: //p')/release
for target in $(cargo +nightly fuzz list); do
    cp "$release/$target" "$OUT/"
    dictionary=fuzz/dictionaries/${target%%_*}.dict
    if [ -f "$dictionary" ]; then cp "$dictionary" "$OUT/$target.dict"; fi
    if [ -n "$(ls "fuzz/corpus/$target" 2>/dev/null)" ]; then
        (cd "fuzz/corpus/$target" && zip -q -r "$OUT/${target}_seed_corpus.zip" .)
    fi
done
