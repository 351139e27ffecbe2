#!/usr/bin/env bash
# Runs the library's tests on an emulated PowerPC: 32 bits, big-endian.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/embedded.sh
need_packages rustc-web rust-web-src gcc-powerpc-linux-gnu libc6-dev-powerpc-cross qemu-user

export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1
export CARGO_TARGET_POWERPC_UNKNOWN_LINUX_GNU_LINKER=powerpc-linux-gnu-gcc
export CARGO_TARGET_POWERPC_UNKNOWN_LINUX_GNU_RUNNER="qemu-ppc -L /usr/powerpc-linux-gnu"
export CC_powerpc_unknown_linux_gnu=powerpc-linux-gnu-gcc
# One test tries changes of thousands of bytes: minutes, emulated.
cargo test -Zbuild-std=std,panic_unwind,test --target powerpc-unknown-linux-gnu --target-dir target/big-endian \
    --lib --test rdf --test rtc --test ctf --test rfr --test zstd -- --skip single_bytes_may_be_anything
