#!/usr/bin/env bash
# The page in bindings/web: builds it, and drives a browser over the samples; `build` only builds, `full` has hostile files
# and large ones as well. Installs what it needs on Debian.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/embedded.sh

TARGET=wasm32-unknown-unknown
WEB=bindings/web
# rustup's target is used where it is installed; else the standard library is built from Debian's sources, for size and
# without the messages of panics, which a page does not show. A module must not become larger, compressed, than the last
# one by more than 3 %; with rustup's library it may be a seventh larger.
if rustup target list --installed 2>/dev/null | grep -q "$TARGET"; then
    COMPRESSED_MAX=${COMPRESSED_MAX:-1085000}
    wasm_cargo() { cargo "$@" --target "$TARGET"; }
else
    COMPRESSED_MAX=${COMPRESSED_MAX:-950000}
    need_packages rustc-web rust-web-src
    lld=$(rustup run stable rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld
    wasm_cargo() {
        env RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$lld" \
            cargo "$@" --target "$TARGET" -Zbuild-std=std,panic_abort -Zbuild-std-features=optimize_for_size \
            -Zpanic-immediate-abort --config 'profile.release.panic="immediate-abort"'
    }
fi

tools() {
    [ -d "$WEB/test/node_modules" ] || (cd "$WEB/test" && npm install --no-audit --no-fund --silent >/dev/null)
}

build() {
    tools
    wasm_cargo build --release --locked --manifest-path "$WEB/Cargo.toml"
    local module=$WEB/target/$TARGET/release/traceglass_wasm.wasm
    "$WEB/test/node_modules/.bin/wasm-opt" -Oz --strip-debug --enable-bulk-memory --enable-sign-ext --enable-mutable-globals \
        --enable-nontrapping-float-to-int --enable-multivalue --enable-reference-types "$module" -o "$module.small"
    python3 "$WEB/build.py" "$module.small" "$WEB/dist"
    node --check "$WEB/dist/page.js"
    node "$WEB/test/units.mjs"
    local compressed
    compressed=$(gzip -9c "$WEB/dist/traceglass.wasm" | wc -c)
    [ "$compressed" -le "$COMPRESSED_MAX" ] || { echo "the module is $compressed bytes compressed" >&2; return 1; }
}

build
[ "${1:-}" != build ] || exit 0
need_packages chromium fonts-dejavu-core
. .ci/command.sh
page=$WEB/dist/traceglass.html
if [ "${1:-}" = full ]; then
    node "$WEB/test/samples.mjs" "$page" target/debug/traceglass
    node "$WEB/test/hostile.mjs" "$page" target/debug/traceglass
    node "$WEB/test/large.mjs" "$page" target/debug/traceglass
else
    node "$WEB/test/samples.mjs" "$page" target/debug/traceglass few
fi
node "$WEB/test/shared.mjs" "$WEB/dist" target/debug/traceglass
