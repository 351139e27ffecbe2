#!/usr/bin/env python3
"""Checks the documents: their commands, their links, and the book that is made of them.

    .ci/docs.py commands TRACEGLASS [PAGE…]   runs the blocks `sh` and `console` of docs/
    .ci/docs.py write TRACEGLASS PAGE…        writes into these pages what their commands print now
    .ci/docs.py links                         looks up the links of all documents, and the codes of errors
    .ci/docs.py codes                         writes the codes of errors into docs/reference/errors.md
    .ci/docs.py book FOLDER                   looks up the links of the book that mdbook has made

Each page has a folder of its own, in which `examples/data` is a copy, and one shell, in which its blocks run in order. All of
a block `sh` must end with 0. In a block `console`, `$ ` begins a command and `> ` goes on with it; what it prints, to stdout
and stderr, must be what follows. A line `…` stands for any lines, `…` in a line for any text. A command that ends with
another status than 0 is followed by `$ echo $?`. What cannot be run here is a block `text`.
"""

import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Between what commands print.
MARK = "\x1e"


def blocks(text):
    """The fenced blocks of a page: language, first line, lines."""
    language, begin, lines = None, 0, []
    for number, line in enumerate(text.splitlines()):
        if language is None:
            if found := re.match(r"```(\w*)", line):
                language, begin, lines = found[1], number + 1, []
        elif line.rstrip() == "```":
            yield language, begin, lines
            language = None
        else:
            lines.append(line)
    if language is not None:
        raise SystemExit(f"the block that begins in line {begin} has no end")


def commands(lines):
    """The commands of a block `console`, each with what it prints."""
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif not found:
            raise SystemExit(f"no command prints this: {line}")
        elif line.startswith("> ") and not found[-1][1]:
            found[-1] = (found[-1][0] + "\n" + line[2:], [])
        else:
            found[-1][1].append(line)
    return found


def matches(wanted, printed):
    """True if lines are as they are wanted, where `…` stands for any."""
    pattern = "".join(
        r"(?:.*\n)*" if line.strip() == "…" else ".*".join(map(re.escape, line.rstrip().split("…"))) + "\n" for line in wanted
    )
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in printed)) is not None


def shell(folder, binary, script):
    """What commands print in one shell: for each its lines, and its status."""
    with tempfile.TemporaryDirectory() as tools:
        os.symlink(binary, os.path.join(tools, "traceglass"))
        environment = {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "HOME": folder,
            "TMPDIR": tools,
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "COLUMNS": "100",
        }
        text = "set -o pipefail\n"
        for command in script:
            # The status of the one before is there for `echo $?`.
            text += f"(exit ${{__status:-0}})\n{command}\n__status=$?\nprintf '\\n\\x1e%d\\x1e\\n' $__status\n"
        done = subprocess.run(
            ["bash", "-c", text], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300
        )
        pieces = re.split(rf"\n{MARK}(\d+){MARK}\n", done.stdout.decode())
        return [(pieces[at].splitlines(), int(pieces[at + 1])) for at in range(0, len(pieces) - 1, 2)]


def run(page, binary, write=False):
    """Runs the commands of a page; returns how many there are, and what is wrong."""
    text = page.read_text()
    script, where = [], []
    for language, begin, lines in blocks(text):
        if language == "sh":
            script.append("(set -e\n" + "\n".join(lines) + "\n)")
            where.append((begin, None))
        elif language == "console":
            for command, wanted in commands(lines):
                script.append(command)
                where.append((begin, wanted))
    if not script:
        return 0, []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples/data", pathlib.Path(folder, "examples/data"))
        printed = shell(folder, binary, script)
    name = page.relative_to(ROOT)
    wrong = []
    if len(printed) != len(script):
        wrong.append(f"{name}: the shell ended at `{script[len(printed)]}`")
    for at, ((begin, wanted), command, (lines, status)) in enumerate(zip(where, script, printed)):
        said = "\n".join(lines)
        asked = at + 1 < len(script) and script[at + 1].startswith("echo $?")
        if status != 0 and not asked:
            wrong.append(f"{name}:{begin}: `{command}` ended with {status}:\n{said}")
        elif wanted is not None and not matches(wanted, lines):
            wrong.append(f"{name}:{begin}: `{command}` does not print what the page says, but:\n{said}")
    if write:
        page.write_text(rewritten(text, iter(printed)))
    return len(script), wrong


def rewritten(text, printed):
    """A page with what its commands print; where lines are left out, the page stays as it is."""
    lines = text.splitlines()
    for language, begin, inside in reversed([*blocks(text)]):
        if language == "console":
            lines[begin : begin + len(inside)] = [None, begin, inside]
    out, at = [], 0
    while at < len(lines):
        if lines[at] is not None:
            if lines[at] == "```sh":
                next(printed, None)
            out.append(lines[at])
            at += 1
            continue
        for command, wanted in commands(lines[at + 2]):
            got = [line.rstrip() for line in next(printed, ([], 0))[0]]
            out.extend(f"{mark} {line}" for mark, line in zip("$" + ">" * command.count("\n"), command.split("\n")))
            out.extend(wanted if any("…" in line for line in wanted) and matches(wanted, got) else got)
        at += 3
    return "\n".join(out) + "\n"


def pages():
    return sorted(page for page in (ROOT / "docs").rglob("*.md"))


def check_commands(binary, chosen, write=False):
    total, wrong = 0, []
    binary = os.path.realpath(binary)
    for page in chosen or pages():
        count, found = run(page.resolve(), binary, write)
        if count:
            print(f"{page.resolve().relative_to(ROOT)}: {count} commands")
        total += count
        wrong += found
    if not chosen and total < 40:
        wrong.append(f"only {total} commands in the documents")
    return wrong


def slug(heading):
    """The anchor of a heading, as GitHub and mdbook make it."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def without_code(text):
    """A page without what is code, in which nothing is a link."""
    out, inside = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = not inside
        elif not inside:
            out.append(re.sub(r"`[^`]*`", "", line))
    return "\n".join(out)


def anchors(page, known={}):
    if page not in known:
        found, inside = [], False
        for line in page.read_text().splitlines():
            inside ^= line.startswith("```")
            if not inside and (heading := re.match(r"#+ (.*)", line)):
                one = slug(heading[1])
                count = sum(1 for other, _ in found if other == one)
                found.append((one, f"{one}-{count}" if count else one))
        known[page] = {anchor for _, anchor in found}
    return known[page]


def check_links():
    tracked = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    wrong, count = [], 0
    for name in tracked.stdout.split():
        page = ROOT / name
        if not page.exists():
            continue
        text = without_code(page.read_text())
        links = re.findall(r"\]\(<?([^)\s>]+)>?\)", text) + re.findall(r'(?:src|srcset|href)="([^"]+)"', text)
        for link in links:
            if re.match(r"[a-z]+:", link):
                continue
            count += 1
            path, _, anchor = link.partition("#")
            target = (page.parent / urllib.parse.unquote(path)).resolve() if path else page
            if not target.exists():
                wrong.append(f"{name}: there is no {link}")
            elif not target.is_relative_to(ROOT):
                wrong.append(f"{name}: {link} is outside of the repository")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                wrong.append(f"{name}: there is no heading for {link}")
    print(f"{count} links in {len(tracked.stdout.split())} documents")
    if count < 50:
        wrong.append(f"only {count} links")
    return wrong + check_summary() + check_codes()


def check_summary():
    """The book's table of contents has all pages, each once."""
    listed = re.findall(r"\]\(([^)]+\.md)\)", (ROOT / "docs/SUMMARY.md").read_text())
    there = {str(page.relative_to(ROOT / "docs")) for page in pages()} - {"SUMMARY.md"}
    return [f"docs/SUMMARY.md has no {page}" for page in sorted(there - set(listed))] + [
        f"docs/SUMMARY.md has {page} twice" for page in sorted(set(listed)) if listed.count(page) > 1
    ]


def codes():
    """The table of the codes of errors, with what the library's documentation says of each."""
    source = (ROOT / "src/error/kind.rs").read_text()
    listed = re.findall(r'Self::(\w+)(?: \{ \.\. \})? => "([a-z0-9-]+)",', source)
    rows = []
    for variant, code in listed:
        said = re.search(rf"((?:    ///.*\n)+)(?:    #\[.*\n)*    {variant}\b", source)
        text = re.sub(r"\[(`[^`]*`)\](?:\([^)]*\))?", r"\1", " ".join(line.strip()[3:].strip() for line in said[1].splitlines()))
        rows.append(f"| `{code}` | {text.split('. ')[0].rstrip('.')} |\n")
    assert len(rows) > 40, "no codes in src/error/kind.rs"
    return "| code | |\n|---|---|\n" + "".join(rows)


def page_with_codes():
    page = ROOT / "docs/reference/errors.md"
    text = page.read_text()
    begin, end = "<!-- codes -->\n", "<!-- end of codes -->"
    before, _, rest = text.partition(begin)
    return page, text, before + begin + codes() + end + rest.partition(end)[2]


def check_codes():
    page, text, wanted = page_with_codes()
    return [] if text == wanted else [f"{page.relative_to(ROOT)} has other codes: `.ci/docs.py codes` writes them"]


class Page(html.parser.HTMLParser):
    """What a page of the book leads to, and its anchors."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src", "srcset") and value:
                self.links.append(value)
            elif name == "id":
                self.anchors.add(value)


def check_book(folder):
    folder = pathlib.Path(folder).resolve()
    # All pages in one, and the one for addresses that are none, have links of other places.
    files = [page for page in folder.rglob("*.html") if page.name not in ("print.html", "404.html", "toc.html")]
    found = {page: Page(page.read_text()) for page in files}
    wrong, count = [], 0
    for page, content in found.items():
        for link in content.links:
            if re.match(r"[a-z]+:", link):
                continue
            count += 1
            path, _, anchor = urllib.parse.unquote(link).partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists() or not target.is_relative_to(folder):
                wrong.append(f"{page.relative_to(folder)}: there is no {link}")
            elif anchor and target in found and anchor not in found[target].anchors:
                wrong.append(f"{page.relative_to(folder)}: there is no place {link}")
    print(f"{count} links in {len(files)} pages of the book")
    if len(files) < 15:
        wrong.append(f"only {len(files)} pages in {folder}")
    return wrong


def main():
    match sys.argv[1:]:
        case ["commands", binary, *chosen]:
            wrong = check_commands(binary, [pathlib.Path(page) for page in chosen])
        case ["write", binary, *chosen]:
            check_commands(binary, [pathlib.Path(page) for page in chosen], write=True)
            wrong = []
        case ["links"]:
            wrong = check_links()
        case ["codes"]:
            page, _, wanted = page_with_codes()
            page.write_text(wanted)
            wrong = []
        case ["book", folder]:
            wrong = check_book(folder)
        case _:
            raise SystemExit(__doc__)
    if wrong:
        raise SystemExit("\n".join(wrong))


main()
