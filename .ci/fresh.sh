#!/usr/bin/env bash
# Installs what a release gives away on a fresh machine each, a minimal Debian that knows no compiler, and uses it there:
# the archive, the package, the wheel. Needs root, for `chroot`; installs debootstrap.
#
#     .ci/fresh.sh           # builds them first, by `.ci/dist.sh`
#     .ci/fresh.sh --built   # takes what lies in `target/artefacts`
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/venv.sh
. .ci/embedded.sh
out=$PWD/target/artefacts
base=$PWD/target/fresh/base

if [ "${1:-}" != --built ]; then
    rm -rf "$out"
    cargo deb --version 2>/dev/null || cargo install --locked cargo-deb
    cargo cyclonedx --version 2>/dev/null || cargo install --locked cargo-cyclonedx
    cargo auditable --version 2>/dev/null || cargo install --locked cargo-auditable
    make_venv target/venv-maturin maturin==1.16.0
    .ci/web.sh build
    export TRACEGLASS_PAGE=$PWD/bindings/web/dist/traceglass.html
    .ci/dist.sh archive
    .ci/dist.sh deb
    .ci/dist.sh sbom
    .ci/dist.sh notes
    PATH=$PWD/target/venv-maturin/bin:$PATH .ci/dist.sh wheel
fi

one() { # PATTERN
    local found
    found=$(compgen -G "$out/$1") || { echo "no $1 in $out" >&2; return 1; }
    [ "$(wc -l <<<"$found")" = 1 ] || { echo "more than one $1" >&2; return 1; }
    echo "$found"
}

if [ ! -e "$base/complete" ]; then
    command -v debootstrap >/dev/null || get_packages debootstrap
    rm -rf "$base"
    mkdir -p "$base"
    # From where this machine has its packages.
    debootstrap --variant=minbase --include=ca-certificates,man-db,python3-venv \
        "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$base" \
        "$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v security | head -1)" >"$out/debootstrap.log"
    touch "$base/complete"
fi

# A root of its own for each, with the samples in the home of its user.
machine() { # NAME
    root=$PWD/target/fresh/$1
    rm -rf "$root"
    cp -a "$base" "$root"
    mkdir "$root/root/samples"
    cp -r examples/data/. "$root/root/samples"
}

inside() { # COMMAND
    chroot "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LC_ALL=C.UTF-8 bash -euo pipefail -c "cd /root; $1"
}

# What a newcomer tries first; each line must say what is after the arrow.
tried() {
    inside 'traceglass info samples/sample.rdf' | grep 'Radeon Data File' >/dev/null
    inside 'traceglass cat --slices samples/sample.ctf' | grep . >/dev/null
    inside 'traceglass stats samples/sample.rfr' | grep . >/dev/null
    inside 'traceglass check samples/sample.rtc' | grep -i clean >/dev/null
    inside 'traceglass export --format parquet -o tables samples/sample.rfr && find tables -type f' | grep '[.]parquet' >/dev/null
    inside 'traceglass view --web page.html samples/sample.rfr && wc -c <page.html' | grep '[0-9]\{7\}' >/dev/null
    inside 'traceglass --version' | grep "^traceglass $version\$" >/dev/null
}

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)

echo "-- the archive"
machine archive
archive=$(one 'traceglass-*-linux-*.tar.gz')
(cd "$out" && sha256sum --quiet --check "$(basename "$archive").sha256")
tar -xzf "$archive" -C "$root/usr/local/lib"
inside 'ln -s /usr/local/lib/traceglass-*/traceglass /usr/local/bin/traceglass; mkdir -p /usr/local/share/man/man1; cp /usr/local/lib/traceglass-*/man/*.1 /usr/local/share/man/man1'
tried
inside 'man -w traceglass-info && man traceglass-info | cat' | grep 'Show what a file is' >/dev/null
inside 'ls /usr/local/lib/traceglass-*/{LICENSE-MIT,LICENSE-APACHE,completions/_traceglass}' >/dev/null
size=$(stat -c %s "$root"/usr/local/lib/traceglass-*/traceglass)
echo "the command has $((size / 1024)) KiB"

echo "-- the package of Debian's"
machine deb
deb=$(one '*.deb')
cp "$deb" "$root/root"
inside 'find / -xdev -path /proc -prune -o -path /root -prune -o -path /var -prune -o -type f -print | sort' >"$out/before"
inside 'apt-get install -y ./*.deb' >"$out/install.log" 2>&1 || { cat "$out/install.log"; false; }
tried
inside 'man -w traceglass-cut' | grep /usr/share/man/man1/traceglass-cut >/dev/null
inside 'test -f /usr/share/bash-completion/completions/traceglass && test -f /usr/share/doc/traceglass/copyright'
inside 'dpkg --verify traceglass'
inside 'apt-get purge -y traceglass' >"$out/purge.log" 2>&1
inside 'find / -xdev -path /proc -prune -o -path /root -prune -o -path /var -prune -o -type f -print | sort' >"$out/after"
diff "$out/before" "$out/after"

echo "-- the wheel"
machine wheel
wheel=$(one '*-abi3-*.whl')
cp "$wheel" "$root/root"
inside 'python3 -m venv v; v/bin/pip install --quiet --no-index ./*.whl; v/bin/python -c "
import traceglass
trace = traceglass.open(\"samples/sample.rfr\")
print(trace.info()[\"verdict\"], trace.tables, trace.events().__arrow_c_stream__() is not None)
"' | tee "$out/wheel.log"
grep -q "^clean .*'events'.* True" "$out/wheel.log"

if [ -e "$out/traceglass-$version.cdx.json" ]; then
    python3 - "$out/traceglass-$version.cdx.json" <<'PYTHON'
import json, sys

names = {part["name"] for part in json.load(open(sys.argv[1]))["components"]}
assert {"traceglass", "nom", "zerocopy", "clap"} <= names, names
print(len(names), "parts are listed")
PYTHON
fi
echo "archive, package and wheel work on a fresh machine"
