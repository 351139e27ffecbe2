#!/usr/bin/env bash
# Reads files of 1, 2 and 4 times a size with the command, and prints CPU time, throughput and memory.
#
#     .ci/scale.sh          # 64, 128, 256 MiB of each format
#     .ci/scale.sh 512 rtc  # 512, 1024, 2048 MiB of one
#     TIMES=1 .ci/scale.sh 2048
#
# It fails where memory is not flat or time not linear. Memory is what the process has for itself (RssAnon); pages of the
# mapped file count as resident, too, but the system takes them back when it needs them.
set -euo pipefail
cd "$(dirname "$0")/.."
mib=${1:-64}
formats=${2:-rdf rtc ctf ctf-metadata rfr dial9}
cargo build --quiet --release --workspace --features traceglass-cli/tables --bin traceglass --example write_large
folder=$(mktemp -d "${TMPDIR:-/tmp}/traceglass-scale.XXXXXX")
trap 'rm -rf "$folder"' EXIT
target=$(cargo metadata --no-deps --format-version 1 | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
python3 - "$target/release" "$folder" "$mib" $formats <<'PYTHON'
import os, subprocess, shutil, sys, time

release, folder, mib, *formats = sys.argv[1:]
EVENTS = [["export", "--format", "perfetto", "-o", "-"], ["export", "--format", "arrow", "--table", "events", "-o", "-"],
          ["stats"]]
VERBS = {
    "rdf": [["info"], ["ls"], ["ls", "--sha256"], ["cat", "--entry", "2"], ["check"], *EVENTS],
    "rtc": [["info"], ["ls"], ["ls", "--sha256"], ["cat", "--raw", "--stream", "stdout"], ["cat", "--json"], ["check"], *EVENTS],
    "ctf": [["info"], ["info", "--full"], ["ls", "--packets"], ["cat"], ["cat", "--json"], ["check"], *EVENTS],
    "ctf-metadata": [["info"], ["ls"], ["cat"], ["cat", "--json"], ["check"]],
    "rfr": [["info"], ["ls"], ["cat", "--json"], ["cat", "--json", "--merge"], ["check"], *EVENTS],
    "dial9": [["info"], ["ls"], ["cat"], ["cat", "--json"], ["check"], *EVENTS],
}

def run(arguments):
    """CPU seconds, wall seconds, peak of RssAnon and of all resident memory in KiB."""
    start, anonymous = time.monotonic(), 0
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
    while True:
        try:
            with open(f"/proc/{process.pid}/status") as status:
                lines = [line for line in status if line.startswith("RssAnon")]
                anonymous = max([anonymous, *[int(line.split()[1]) for line in lines]])
        except OSError:
            pass
        pid, state, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        time.sleep(0.005)
    if state:
        sys.exit(f"{arguments}: ended with {state}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - start, anonymous, usage.ru_maxrss

failed = False
print("| command | MiB | CPU s | GB/s | own memory, MiB | resident, MiB |\n|---|---:|---:|---:|---:|---:|", flush=True)
for name in formats:
    results = {}
    for times in map(int, os.environ.get("TIMES", "1 2 4").split()):
        bytes = int(mib) * times << 20
        path = os.path.join(folder, f"large.{name}")
        subprocess.run([f"{release}/examples/write_large", name, str(bytes), path], check=True)
        for verb in VERBS[name]:
            cpu, wall, anonymous, resident = run([f"{release}/traceglass", *verb, path])
            results.setdefault(" ".join(verb), []).append((cpu, anonymous))
            print(f"| {name} {' '.join(verb)} | {bytes >> 20} | {cpu:.2f} | {bytes / max(cpu, 1e-3) / 1e9:.2f} "
                  f"| {anonymous / 1024:.1f} | {resident / 1024:.0f} |", flush=True)
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    for verb, [(first, small), *_, (last, large)] in [item for item in results.items() if len(item[1]) > 2]:
        if large > small * 1.25 + 2048:
            print(f"{name} {verb}: memory is not flat: {small} KiB, then {large} KiB")
            failed = True
        if last > first * 4 * 1.5 + 0.5:
            print(f"{name} {verb}: time is not linear: {first:.2f} s, then {last:.2f} s")
            failed = True

# More files than a process may have maps of, which all overlap in time: small ones, which are read, and larger ones,
# which are mapped. Names for the same files take no room.
sample = "examples/data/sample.rfr"
chunk = f"{sample}/2026-11/21-01/chunk-41-54.rfr"
for size in (0, 40_000) if "rfr" in formats else ():
    root = os.path.join(folder, f"many-{size}")
    os.makedirs(f"{root}/2026-11/21-01")
    for name in ("meta.rfr", "callsites.rfr"):
        shutil.copy(f"{sample}/{name}", root)
    with open(chunk, "rb") as file:
        data = file.read()
    for number in range(70_000):
        path = f"{root}/2026-11/21-01/chunk-{number}.rfr"
        if number % 30_000 == 0:
            source = path
            with open(path, "wb") as file:
                # What follows a chunk's end is a warning.
                file.write(data.ljust(size, b"\0"))
        else:
            os.link(source, path)
    for verb in (["info"], ["check"], ["cat", "--json", "--merge"]):
        start = time.monotonic()
        done = subprocess.run([f"{release}/traceglass", *verb, root], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        lines = done.stdout.count(b"\n")
        print(f"70,000 chunks, {verb}: status {done.returncode}, {lines} lines, {time.monotonic() - start:.1f} s", flush=True)
        if done.returncode != 0 or lines < (70_000 if "cat" in verb else 1):
            print(done.stderr[-500:].decode())
            failed = True
    shutil.rmtree(root)
sys.exit(failed)
PYTHON
