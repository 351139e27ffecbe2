#!/usr/bin/env bash
# Makes what a release gives away, in `target/artefacts`. The workflow `release.yml` calls it; so does `.ci/fresh.sh`.
#
#     .ci/dist.sh archive [TARGET]   # command, manual pages, completions, licences: .tar.gz, for Windows .zip
#     .ci/dist.sh deb [TARGET]       # the same as a package of Debian's
#     .ci/dist.sh wheel [ARGUMENT…]  # the Python package, for every Python from 3.10 on, and its sources
#     .ci/dist.sh sbom               # what the command consists of, in CycloneDX
#     .ci/dist.sh notes              # what CHANGELOG.md says of this version
#     .ci/dist.sh publish [--dry-run]
#     .ci/dist.sh repository URL     # writes the URL into the manifests: `cargo binstall` needs it
#
# Archive and package have the crates of the command inside, for `cargo audit bin`, where `cargo auditable` is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0
out=target/artefacts
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
mkdir -p "$out"

host() {
    rustc -vV | sed -n 's/^host: //p'
}

checksum() { # FILE
    (cd "$(dirname "$1")" && if command -v sha256sum >/dev/null; then sha256sum "$(basename "$1")"; else shasum -a 256 "$(basename "$1")"; fi) >"$1.sha256"
}

# The command for TARGET, and beside it the pages and completions, which a command that runs here must print.
build() { # TARGET
    local cargo=(cargo) command verb
    # `view --web` puts a trace into the page. On a machine that cannot build it, TRACEGLASS_PAGE is one that is there.
    if [ -z "${TRACEGLASS_PAGE:-}" ]; then
        .ci/web.sh build
        export TRACEGLASS_PAGE=$PWD/bindings/web/dist/traceglass.html
    fi
    if cargo auditable --version >/dev/null 2>&1; then cargo=(cargo auditable); fi
    "${cargo[@]}" build --locked --profile dist -p traceglass-cli --features tables --target "$1"
    command=target/$1/dist/traceglass
    if ! "$command" --version >/dev/null 2>&1; then
        cargo build --locked --profile dist -p traceglass-cli --features tables
        command=target/dist/traceglass
    fi
    rm -rf "$out/man" "$out/completions"
    mkdir -p "$out/man" "$out/completions"
    "$command" man >"$out/man/traceglass.1"
    "$command" man json >"$out/man/traceglass-json.1"
    for verb in $("$command" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
        if [ "$verb" != help ]; then "$command" man "$verb" >"$out/man/traceglass-$verb.1"; fi
    done
    "$command" completions bash >"$out/completions/traceglass.bash"
    "$command" completions zsh >"$out/completions/_traceglass"
    "$command" completions fish >"$out/completions/traceglass.fish"
    "$command" completions powershell >"$out/completions/_traceglass.ps1"
    "$command" completions elvish >"$out/completions/traceglass.elv"
}

archive() { # [TARGET]
    local target=${1:-$(host)} name folder
    name=traceglass-$version-$target
    folder=$out/$name
    build "$target"
    rm -rf "$folder"
    mkdir "$folder"
    cp -R README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT cli/REFERENCE.md cli/VIEW.md "$out/man" "$out/completions" "$folder"
    case $target in
    *windows*)
        cp "target/$target/dist/traceglass.exe" "$folder"
        (cd "$out" && rm -f "$name.zip" && 7z a -bso0 "$name.zip" "$name")
        checksum "$out/$name.zip"
        ;;
    *)
        cp "target/$target/dist/traceglass" "$folder"
        tar -C "$out" -czf "$out/$name.tar.gz" "$name"
        checksum "$out/$name.tar.gz"
        ;;
    esac
    rm -rf "$folder"
    ls -l "$out/$name".*
}

deb() { # [TARGET]
    local target=${1:-$(host)} file
    build "$target"
    cargo deb --package traceglass-cli --target "$target" --profile dist --no-build --output "$out/"
    for file in "$out"/*.deb; do checksum "$file"; done
    ls -l "$out"/*.deb
}

wheel() {
    maturin build --release --locked --manifest-path bindings/python/Cargo.toml --out "$out" "$@"
    maturin sdist --manifest-path bindings/python/Cargo.toml --out "$out"
    ls -l "$out"/*.whl "$out"/traceglass-*.tar.gz
}

sbom() {
    cargo cyclonedx --manifest-path cli/Cargo.toml --all-features --format json --override-filename traceglass
    mv cli/traceglass.json "$out/traceglass-$version.cdx.json"
    # It writes one beside each manifest of the workspace.
    rm -f traceglass.json {open,record,tables}/traceglass.json
    ls -l "$out/traceglass-$version.cdx.json"
}

# The section of this version, or of what is not released.
notes() {
    local section=$version
    grep -q "^## \[\?$version" CHANGELOG.md || section=Unreleased
    awk -v section="$section" '/^## /{on = index($0, section) > 0; next} on' CHANGELOG.md | tee "$out/notes.md"
    grep -q '[a-z]' "$out/notes.md"
}

# Cargo finds the order. The C library is a workspace of its own: before the others are released, it takes them from here.
publish() { # [--dry-run]
    cargo publish --workspace --locked "$@"
    local patch=()
    case " $* " in
    *" --dry-run "*)
        patch=(--config 'patch.crates-io.traceglass.path="../.."' --config 'patch.crates-io.traceglass-record.path="../../record"')
        ;;
    esac
    (cd bindings/c && cargo publish "${patch[@]}" "$@")
}

repository() { # URL
    local manifest
    for manifest in {.,cli,open,record,tables,bindings/c}/Cargo.toml; do
        awk -v url="$1" '{print} /^license(\.workspace)? = / && !done && package {print "repository = \"" url "\""; done = 1} /^\[/{package = $0 == "[package]"}' \
            "$manifest" >"$manifest.new"
        mv "$manifest.new" "$manifest"
        grep -q "^repository = \"$1\"" "$manifest"
    done
}

verb=${1:?archive, deb, wheel, sbom, notes, publish or repository}
shift
case $verb in
archive | deb | wheel | sbom | notes | publish | repository) "$verb" "$@" ;;
*) echo "unknown: $verb" >&2 && exit 2 ;;
esac
