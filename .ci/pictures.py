#!/usr/bin/env python3
"""Draws the README's pictures.

    .ci/pictures.py screen PROGRAM   what `PROGRAM info examples/data/sample.rfr` prints, as examples/screen.svg
    .ci/pictures.py view             recorded screens of `traceglass view`, as examples/view.svg and examples/states.svg
    .ci/pictures.py tracks PROGRAM   what Perfetto's trace processor finds in an export, as examples/tracks-{light,dark}.svg;
                                     TRACE_PROCESSOR names its folder, see .ci/perfetto.sh
    .ci/pictures.py chart            rows of the table in benches/README.md, as benches/speed-{light,dark}.svg, and how near
                                     they are to what memory or the format allows, as benches/limits-{light,dark}.svg

With --check, nothing is written, and a picture that is not up to date is a failure.
"""
import html
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Row of the table (its beginning), the peer to compare with, and how the chart names both.
ROWS = [
    ("zstd: geometric mean", "C zstd 1.5.7", "zstd, all sizes and levels", "C zstd"),
    ("zstd: geometric mean", "ruzstd", "zstd, all sizes and levels", "ruzstd"),
    ("RDF: every field of", "from_le_bytes by hand", "RDF index entries", "by hand"),
    ("RDF: look up", "a HashMap by hand, which allocates", "RDF chunk by identifier", "HashMap"),
    ("RTC: all frames of 64 MiB", "a walk that only skips", "RTC frames", "a bare walk"),
    ("RFR: every field of 4000000", "postcard with borrowed structs", "RFR records", "postcard"),
]
# Row of the table, the limit beside it, and how the chart names both.
LIMITS = [
    ("CTF 2: the text, compacted", "copy_within", "CTF text, compacted", "copy_within"),
    ("CTF 2: the text, copied", "memcpy", "CTF text, copied", "memcpy"),
    ("CTF 2: split into fragments", "memchr alone", "CTF fragments", "memchr"),
    ("CTF: class and time of every record", "by hand, for this layout alone", "CTF records, class and time", "by hand"),
    ("CTF: every field of every record", "by hand, for this layout alone", "CTF records, every field", "by hand"),
    ("RDF: every field of", "from_le_bytes by hand", "RDF index entries", "by hand"),
    ("RDF contents: time and kind", "a walk over its bytes", "RDF tokens, time and kind", "its bytes"),
    ("RDF contents: what every", "a walk over its bytes", "RDF tokens, everything", "its bytes"),
    ("RDF contents: driver's events", "a walk over its bytes", "RDF driver's events", "its bytes"),
    ("RTC: all frames of 64 MiB", "a walk that only skips", "RTC frames", "a walk"),
    ("RFR: every field of 4000000", "a bare walk over its integers", "RFR records, every field", "a walk"),
]
THEMES = {
    "light": {"text": "#1f2328", "muted": "#59636e", "bar": "#0969da", "line": "#d1d9e0"},
    "dark": {"text": "#f0f6fc", "muted": "#9198a1", "bar": "#4493f8", "line": "#3d444d"},
}


def screen(program):
    args = ["info", "examples/data/sample.rfr"]
    printed = subprocess.run([program, *args], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return terminal("examples/screen.svg", ["$ traceglass " + " ".join(args), *printed.rstrip("\n").split("\n")])


def view():
    """The screens that `cli/src/view/tests.rs` records with their colours, three records on."""
    pictures = {}
    for picture, sample in [("view", "sample.rfr"), ("states", "sample.ctf")]:
        shown = (ROOT / f"cli/tests/golden/view/color_{sample}.txt").read_text()
        lines = [f"$ traceglass view examples/data/{sample}", *shown.rstrip("\n").split("\n")]
        pictures.update(terminal(f"examples/{picture}.svg", lines))
    return pictures


# The colours of a terminal, by the numbers that select them.
COLORS = {
    "31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "35": "#d2a8ff", "36": "#56d4dd",
    "90": "#8b949e", "92": "#aff5b4", "93": "#f8e3a1", "94": "#a5d6ff", "95": "#e2c5ff", "96": "#b3f0ff",
}


def spans(line):
    """The parts of a line, as SVG."""
    out = []
    line = re.sub(r"\x1b\[0m$", "", line)
    for part in re.findall(r"(?:\x1b\[([0-9;]*)m)?([^\x1b]+)", line):
        codes, text = part[0].split(";"), html.escape(part[1])
        style = "".join(f' fill="{COLORS[code]}"' for code in codes if code in COLORS)
        style += ' font-weight="bold"' if "1" in codes else ""
        style += ' text-decoration="underline"' if "4" in codes else ""
        if "7" in codes:
            # The row of the cursor: text has no background in SVG.
            style = ' fill="#ffffff" font-weight="bold" text-decoration="underline"'
        out.append(f"<tspan{style}>{text}</tspan>" if style else text)
    return "".join(out)


def terminal(path, lines):
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    width, height = 24 + 8.43 * max(map(len, plain)), 56 + 19 * len(lines)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}">',
        f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/>',
        *(f'<circle cx="{20 + 20 * n}" cy="18" r="6" fill="{color}"/>' for n, color in enumerate(("#ff5f56", "#ffbd2e", "#27c93f"))),
        '<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14" fill="#e6edf3" xml:space="preserve">',
    ]
    for n, line in enumerate(lines):
        color = ' fill="#7ee787"' if n == 0 else ""
        out.append(f'<text x="12" y="{52 + 19 * n}"{color}>{spans(line)}</text>')
    return {ROOT / path: "\n".join([*out, "</g>", "</svg>", ""])}


def tracks(program):
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace"
        subprocess.run([program, "export", "--format", "perfetto", "-o", trace, "examples/data/sample.rfr"], cwd=ROOT, check=True)

        def rows(sql):
            command = ["node", "cli/tests/perfetto/sql.mjs", trace, sql]
            said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
            return [line.split("\t") for line in said.splitlines()]

        names = rows("select id, name from track where id in (select track_id from slice) order by id")
        slices = rows("select track_id, ts, dur, name from slice order by ts, id")
        flows = rows(
            "select a.track_id, a.ts, b.track_id, b.ts from flow join slice a on flow.slice_out = a.id "
            "join slice b on flow.slice_in = b.id order by a.ts, b.ts"
        )
    if not names or not slices or not flows:
        sys.exit("the trace processor found nothing")
    place = {track: n for n, (track, _) in enumerate(names)}
    first = min(int(ts) for _, ts, *_ in slices)
    last = max(int(ts) + max(int(dur), 0) for _, ts, dur, _ in slices)
    left, width, row = 150, 560, 26
    height = 60 + row * len(names)
    x = lambda ts: left + width * (int(ts) - first) / max(last - first, 1)
    y = lambda track: 40 + row * place[track]
    pictures = {}
    for theme, color in THEMES.items():
        out = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 730 {height}" width="730" height="{height}" font-family="system-ui,sans-serif" font-size="13">',
            f'<text x="12" y="22" fill="{color["text"]}" font-weight="600">Polls, what happened in them, and who woke whom</text>',
        ]
        for track, name in names:
            out += [
                f'<text x="{left - 10}" y="{y(track) + 15}" text-anchor="end" fill="{color["text"]}">{html.escape(name)}</text>',
                f'<line x1="{left}" y1="{y(track) + row - 3}" x2="{left + width}" y2="{y(track) + row - 3}" stroke="{color["line"]}"/>',
            ]
        for track, ts, dur, name in slices:
            end = last if int(dur) < 0 else int(ts) + int(dur)
            if int(dur) == 0:
                shape = f'<circle cx="{x(ts):.1f}" cy="{y(track) + 10}" r="3" fill="{color["muted"]}">'
                shape += f"<title>{html.escape(name)}</title></circle>"
            else:
                shape = f'<rect x="{x(ts):.1f}" y="{y(track) + 2}" width="{max(x(end) - x(ts), 1.5):.1f}" height="16" rx="2" fill="{color["bar"]}">'
                shape += f"<title>{html.escape(name)}, {(end - int(ts)) / 1000:g} µs</title></rect>"
            out.append(shape)
        for source, begin, target, end in flows:
            out.append(
                f'<path d="M{x(begin):.1f} {y(source) + 10}L{x(end):.1f} {y(target) + 10}" stroke="{color["muted"]}" fill="none" stroke-dasharray="3 2"/>'
            )
        took = f"{(last - first) / 1e6:g} ms"
        out += [
            f'<text x="{left}" y="{height - 6}" fill="{color["muted"]}" font-size="12">0</text>',
            f'<text x="{left + width}" y="{height - 6}" text-anchor="end" fill="{color["muted"]}" font-size="12">{took}</text>',
            "</svg>",
            "",
        ]
        pictures[ROOT / f"examples/tracks-{theme}.svg"] = "\n".join(out)
    return pictures


def multiples(rows):
    """Of each row: its names, our speed, and the multiple."""
    table = (ROOT / "benches/README.md").read_text()
    found = []
    for start, peer, name, beside in rows:
        line = next((line for line in table.split("\n") if line.startswith(f"| {start}")), None)
        match = line and re.search(re.escape(peer) + r"[^·|]*?\*\*([\d.]+)×\*\*", line)
        if not match:
            sys.exit(f"benches/README.md has no row {start!r} with {peer!r}")
        found.append((name, beside, line.split("|")[2].strip(), float(match.group(1))))
    return found


def bars(path, title, rows, mark):
    """Rows of a name, what it is compared with, how long its bar is, and what stands beside that."""
    pictures = {}
    unit = 300 / max(multiple for _, _, multiple, _ in rows)
    height = 62 + 34 * len(rows)
    for theme, color in THEMES.items():
        one = 330 + unit
        out = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 {height}" width="820" height="{height}" font-family="system-ui,sans-serif" font-size="14">',
            f'<text x="12" y="22" fill="{color["text"]}" font-weight="600">{html.escape(title)}</text>',
            f'<line x1="{one:.1f}" y1="34" x2="{one:.1f}" y2="{height - 20}" stroke="{color["line"]}" stroke-dasharray="4 3"/>',
        ]
        for n, (name, beside, multiple, label) in enumerate(rows):
            y = 42 + 34 * n
            out += [
                f'<text x="322" y="{y + 16}" text-anchor="end" fill="{color["text"]}">{html.escape(name)} <tspan fill="{color["muted"]}">vs {html.escape(beside)}</tspan></text>',
                f'<rect x="330" y="{y}" width="{unit * multiple:.1f}" height="22" rx="3" fill="{color["bar"]}"/>',
                f'<text x="{336 + unit * multiple:.1f}" y="{y + 16}" fill="{color["text"]}">{html.escape(label)}</text>',
            ]
        out += [
            f'<text x="{one:.1f}" y="{height - 6}" text-anchor="middle" fill="{color["muted"]}" font-size="12">{mark}</text>',
            "</svg>",
            "",
        ]
        pictures[ROOT / f"{path}-{theme}.svg"] = "\n".join(out)
    return pictures


def chart():
    speed = [(name, beside, multiple, f"{multiple:.2f}×") for name, beside, _, multiple in multiples(ROWS)]
    limits = [(name, beside, multiple, f"{multiple:.2f}: {ours}") for name, beside, ours, multiple in multiples(LIMITS)]
    return {
        **bars("benches/speed", "Speed as a multiple of the other's: longer is faster", speed, "as fast"),
        **bars("benches/limits", "Speed as a share of what memory or the format allows", limits, "the limit"),
    }


def main():
    args = [arg for arg in sys.argv[1:] if arg != "--check"]
    if args[:1] == ["screen"] and len(args) == 2:
        pictures = screen(str(pathlib.Path(args[1]).resolve()))
    elif args == ["view"]:
        pictures = view()
    elif args[:1] == ["tracks"] and len(args) == 2:
        pictures = tracks(str(pathlib.Path(args[1]).resolve()))
    elif args == ["chart"]:
        pictures = chart()
    else:
        sys.exit(__doc__)
    for path, picture in pictures.items():
        if "--check" not in sys.argv:
            path.write_text(picture)
        elif not path.exists() or path.read_text() != picture:
            sys.exit(f"{path.relative_to(ROOT)} is not up to date: .ci/pictures.py {' '.join(args)}")
        print(path.relative_to(ROOT))


main()
