#!/usr/bin/env python3
"""Inputs that fuzzing begins with, a file for each target: for each input its length as four bytes, and the input.

    fuzz/seeds.py unpack            writes each as a file of `corpus`, beside those of `write_samples --seeds`
    fuzz/seeds.py add TARGET FILE…  adds inputs, such as what was found; those that are there are not added again
    fuzz/seeds.py pack TARGET DIR   makes a target's anew of a folder that `cargo fuzz cmin` or `-merge=1` wrote: the smallest
                                    ones, up to 110 kB
"""
import hashlib
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent
# Of each target, and of all together.
MOST, ALL = 112_000, 2_000_000


def read(target):
    data, inputs = (ROOT / f"seeds/{target}.seeds").read_bytes(), []
    while data:
        end = 4 + int.from_bytes(data[:4], "little")
        if len(data) < end:
            sys.exit(f"{target}.seeds is cut")
        inputs.append(data[4:end])
        data = data[end:]
    return inputs


def write(target, inputs):
    packed = b"".join(len(data).to_bytes(4, "little") + data for data in inputs)
    (ROOT / f"seeds/{target}.seeds").write_bytes(packed)
    size = sum(path.stat().st_size for path in (ROOT / "seeds").iterdir())
    if size > ALL:
        sys.exit(f"the seeds have {size} bytes, of {ALL}")


def main(verb, target=None, *paths):
    if verb == "unpack" and target is None:
        count = 0
        for path in sorted((ROOT / "seeds").glob("*.seeds")):
            folder = ROOT / "corpus" / path.stem
            folder.mkdir(parents=True, exist_ok=True)
            for data in read(path.stem):
                (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)
                count += 1
        print(f"{count} inputs")
    elif verb == "add" and paths:
        known = read(target) if (ROOT / f"seeds/{target}.seeds").exists() else []
        new = [pathlib.Path(path).read_bytes() for path in paths]
        write(target, known + [data for data in new if data not in known])
    elif verb == "pack" and len(paths) == 1:
        inputs, used = [], 0
        for data in sorted((path.read_bytes() for path in pathlib.Path(paths[0]).iterdir()), key=lambda data: (len(data), data)):
            used += 4 + len(data)
            if used > MOST:
                break
            inputs.append(data)
        write(target, inputs)
    else:
        sys.exit(__doc__)


if len(sys.argv) < 2:
    sys.exit(__doc__)
main(*sys.argv[1:])
