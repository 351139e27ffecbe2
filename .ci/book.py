#!/usr/bin/env python3
"""A preprocessor of mdbook: links of pages out of docs/ lead where they do in the repository.

A page that is included in one of the book leads there. A picture becomes part of the page. Any other file is looked up in the
repository that `git-repository-url` of docs/book.toml names; without one, its name is text.
"""

import base64
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
INCLUDE = re.compile(r"^\{\{#include ([^}:]+?)(?::[^}]*)?\}\}$", re.M)


def included():
    """The files that pages of the book include, with those pages."""
    found = {}
    for page in DOCS.rglob("*.md"):
        for name in INCLUDE.findall(page.read_text()):
            found[(page.parent / name).resolve()] = page
    return found


def up(page, target):
    """The path from one page of the book to another one."""
    return "../" * (len(page.relative_to(DOCS).parts) - 1) + str(target.relative_to(DOCS))


def rewrite(text, page, base, pages, repository):
    """The text of a page; its links count from the folder `base`."""

    def link(found):
        mark, label, path, anchor = found[1], found[2], found[3], found[4] or ""
        target = (base / path).resolve()
        if target in pages:
            return f"{mark}[{label}]({up(page, pages[target])}{anchor})"
        if target.is_relative_to(DOCS):
            return f"{mark}[{label}]({up(page, target)}{anchor})"
        if mark:
            data = base64.b64encode(target.read_bytes()).decode()
            kind = "svg+xml" if target.suffix == ".svg" else target.suffix[1:]
            return f"![{label}](data:image/{kind};base64,{data})"
        where = target.relative_to(ROOT)
        return f"[{label}]({repository}/blob/main/{where}{anchor})" if repository else label

    out, inside = [], False
    for line in text.splitlines():
        inside ^= line.lstrip().startswith("```")
        if not inside:
            line = re.sub(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)]*)?\)", link, line)
        out.append(line)
    return "\n".join(out)


def whole(text, page, pages, repository):
    """A page with what it includes, whose links count from where that lies."""
    parts, at = [], 0
    for found in INCLUDE.finditer(text):
        parts.append(rewrite(text[at : found.start()], page, page.parent, pages, repository))
        path = (page.parent / found[1]).resolve()
        content = path.read_text()
        if path.suffix == ".md":
            # The page has a heading of its own.
            content = re.sub(r"\A(<!--.*?-->\s*)?# .*\n", "", content)
        parts.append(rewrite(content, page, path.parent, pages, repository))
        at = found.end()
    parts.append(rewrite(text[at:], page, page.parent, pages, repository))
    return "\n".join(parts)


def walk(items, pages, repository):
    for item in items:
        if isinstance(item, dict) and (chapter := item.get("Chapter")):
            if chapter.get("path"):
                chapter["content"] = whole(chapter["content"], DOCS / chapter["path"], pages, repository)
            walk(chapter["sub_items"], pages, repository)


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    context, book = json.load(sys.stdin)
    repository = context["config"].get("output", {}).get("html", {}).get("git-repository-url", "").rstrip("/")
    # Books of mdbook before 0.5 have `sections`.
    walk(book.get("items") or book.get("sections"), included(), repository)
    json.dump(book, sys.stdout)


main()
