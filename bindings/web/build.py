#!/usr/bin/env python3
"""Puts the page together: `build.py MODULE.wasm OUT`.

OUT gets the files for a host (index.html, page.js, worker.js, page.css, traceglass.wasm), and all of them in one,
traceglass.html, which works from a disk.
"""

import base64
import gzip
import hashlib
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).parent / "page"
# Each one after those that it imports from.
MODULES = ["parts", "columns", "files", "reader", "overview", "records", "bytes", "take", "timeline", "app"]


def script():
    """All modules as one: their imports are left out."""
    texts = []
    for name in MODULES:
        text = (PAGE / f"{name}.js").read_text()
        text = re.sub(r"^import .*?;\n", "", text, flags=re.M | re.S)
        texts.append(re.sub(r"^export ", "", text, flags=re.M))
    return '(() => {\n"use strict";\n' + "\n".join(texts) + "})();\n"


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def page(csp, style, scripts):
    text = (PAGE / "index.html").read_text()
    for mark, value in (("%CSP%", csp), ("%STYLE%", style), ("%SCRIPT%", scripts)):
        text = text.replace(mark, value)
    return text


def main():
    module, out = pathlib.Path(sys.argv[1]).read_bytes(), pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    code, worker, style = script(), (PAGE / "worker.js").read_text(), (PAGE / "page.css").read_text()

    # Nothing is allowed but what the page needs: its own code, the module, a worker, and pictures that it draws.
    common = "default-src 'none'; img-src blob: data:; form-action 'none'; base-uri 'none'; "
    split = common + "script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; worker-src 'self'; connect-src 'self'"
    for name, data in (("page.js", code), ("worker.js", worker), ("page.css", style)):
        (out / name).write_text(data)
    (out / "traceglass.wasm").write_bytes(module)
    index = page(split, '<link rel="stylesheet" href="page.css">', '<script src="page.js" defer></script>')
    (out / "index.html").write_text(index)

    # The worker's code is a text that becomes a blob; a browser checks its hash as it does the page's own.
    whole = common + (
        f"script-src {digest(code)} {digest(worker)} 'wasm-unsafe-eval'; style-src {digest(style)}; worker-src blob:"
    )
    packed = gzip.compress(module, 9, mtime=0)
    data = base64.b64encode(packed).decode()
    scripts = (
        f'<script type="application/octet-stream" id="module">{data}</script>\n'
        f'<script type="text/plain" id="worker">{worker}</script>\n'
        "<!-- traces -->\n"
        f"<script>{code}</script>"
    )
    (out / "traceglass.html").write_text(page(whole, f"<style>{style}</style>", scripts))
    print(f"module {len(module):,} bytes, {len(packed):,} compressed; page {(out / 'traceglass.html').stat().st_size:,}")


main()
