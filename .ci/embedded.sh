# What bare metal needs: sourced by the scripts that build for it.
#
# rustup's targets are used where they are installed (`rustup target add thumbv7em-none-eabihf thumbv6m-none-eabi`);
# else core is built from Debian's compiler and its sources, which must be of one version.

# Steps beside each other take turns.
get_packages() {
    flock "${TMPDIR:-/tmp}/traceglass-packages" bash -c \
        'apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@" >/dev/null' - "$@"
}

# Installs Debian packages that are not there; fails when they cannot be had.
need_packages() {
    local missing=()
    for package in "$@"; do
        [[ $(dpkg -s "$package" 2>/dev/null) == *"Status: install ok installed"* ]] || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    get_packages "${missing[@]}"
}

# Debian's stable suite has an emulator that would replace newer tools; the one of its backports does not.
need_emulator() {
    command -v qemu-system-arm >/dev/null && return
    local list=/etc/apt/sources.list.d/traceglass-backports.sources lock
    # The list is there for one step at a time; what the other one has installed is there for both.
    exec {lock}>"${TMPDIR:-/tmp}/traceglass-emulator"
    flock "$lock"
    command -v qemu-system-arm >/dev/null && { exec {lock}>&-; return; }
    awk 'BEGIN { RS = ""; ORS = "\n\n" } /Suites: bookworm bookworm-updates/' /etc/apt/sources.list.d/debian.sources |
        sed 's/^Suites:.*/Suites: bookworm-backports/' >"$list"
    get_packages -t bookworm-backports qemu-system-arm qemu-utils
    rm -f "$list"
    exec {lock}>&-
    command -v qemu-system-arm >/dev/null
}

# Sets up `bare_cargo SUBCOMMAND TARGET ARGS…`.
need_bare_metal() {
    if rustup target list --installed 2>/dev/null | grep -q thumbv6m-none-eabi; then
        bare_cargo() { local verb=$1 target=$2; shift 2; cargo "$verb" --target "$target" "$@"; }
        return
    fi
    need_packages rustc-web rust-web-src
    local lld
    lld=$(rustup run stable rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld
    [ -x "$lld" ] || { echo "no rust-lld" >&2; return 1; }
    export BARE_LINKER=$lld
    bare_cargo() {
        local verb=$1 target=$2 name
        shift 2
        name=$(tr 'a-z-' 'A-Z_' <<<"$target")
        env RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 "CARGO_TARGET_${name}_LINKER=$BARE_LINKER" \
            cargo "$verb" -Zbuild-std=core --target "$target" "$@"
    }
}
