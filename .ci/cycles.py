#!/usr/bin/env python3
"""Fails where source files use each other in a circle.

    .ci/cycles.py src cli/src

An edge leads from a file to each file whose items it names by a path (`use super::x`, `crate::x::Y`). Re-exports lead to
where an item is defined. Comments, strings and unit tests are left out, and so are the files' `pub use` lines themselves.
"""
import pathlib
import re
import sys


def code_of(path):
    text = path.read_text()
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', re.sub(r"//[^\n]*", "", text))
    return re.split(r"#\[cfg\((?:all\()?test[^\]]*\]\s*mod tests", text)[0]


def expand(tree):
    """The paths of a use tree: `a::{b, c::d}` is `a::b` and `a::c::d`."""
    tree = tree.strip()
    at = tree.find("{")
    if at < 0:
        return [re.sub(r"\s+as\s+\w+$", "", tree)]
    prefix, inner, depth, part, parts = tree[:at], tree[at + 1 : tree.rindex("}")], 0, "", []
    for char in inner:
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += char
    return [prefix + path for part in [*parts, part] if part.strip() for path in expand(part)]


def main(root):
    root = pathlib.Path(root)
    modules = {}
    for path in sorted(root.rglob("*.rs")):
        parts = list(path.relative_to(root).with_suffix("").parts)
        if parts[-1] in ("mod", "lib", "main"):
            parts.pop()
        if path.name != "main.rs" or "" not in modules:
            modules["::".join(parts)] = path
    code = {name: code_of(path) for name, path in modules.items()}
    uses = re.compile(r"^\s*(pub(?:\([^)]*\))?\s+)?use\s+([\w{][^;]*);", re.M)
    exports = {}
    for name, text in code.items():
        for public, tree in uses.findall(text):
            if public:
                for path in expand(tree):
                    exports.setdefault(name, {})[path.split("::")[-1].strip()] = path

    def absolute(name, path):
        parts, here = [part.strip() for part in path.split("::")], name.split("::") if name else []
        if parts[0] == "crate":
            return parts[1:]
        if parts[0] in ("self", "super"):
            if parts[0] == "self":
                parts = parts[1:]
            while parts and parts[0] == "super":
                here, parts = here[:-1], parts[1:]
            return here + parts
        if "::".join(here + parts[:1]) in modules:
            return here + parts
        return None

    def owner(parts, depth=0):
        """The module that defines what a path names."""
        at = len(parts)
        while "::".join(parts[:at]) not in modules:
            at -= 1
        name = "::".join(parts[:at])
        if at < len(parts) and depth < 8 and parts[at] in exports.get(name, {}):
            further = absolute(name, exports[name][parts[at]])
            if further:
                return owner(further, depth + 1)
        return name

    edges = {name: set() for name in modules}
    for name, text in code.items():
        paths = [path for public, tree in uses.findall(text) if not public for path in expand(tree)]
        rest = uses.sub("", text)
        paths += re.findall(r"\b(?:crate|super|self)(?:::\w+)+", rest)
        for path in paths:
            parts = absolute(name, path)
            if parts:
                to = owner(parts)
                if to != name:
                    edges[name].add(to)

    # Strongly connected components, by Kosaraju.
    order, seen = [], set()

    def visit(graph, start, out):
        stack = [(start, iter(sorted(graph[start])))]
        seen.add(start)
        while stack:
            node, following = stack[-1]
            for to in following:
                if to not in seen:
                    seen.add(to)
                    stack.append((to, iter(sorted(graph[to]))))
                    break
            else:
                stack.pop()
                out.append(node)

    for name in sorted(edges):
        if name not in seen:
            visit(edges, name, order)
    back = {name: set() for name in edges}
    for name, targets in edges.items():
        for to in targets:
            back[to].add(name)
    seen.clear()
    cycles = []
    for name in reversed(order):
        if name not in seen:
            found = []
            visit(back, name, found)
            if len(found) > 1:
                cycles.append(sorted(found))
    for cycle in cycles:
        inner = [f"{a or 'lib'} -> {b or 'lib'}" for a in cycle for b in sorted(edges[a]) if b in cycle]
        print(f"{root}: a cycle of {len(cycle)} files: {', '.join(inner)}", file=sys.stderr)
    print(f"{root}: {len(modules)} files, {sum(map(len, edges.values()))} uses, {len(cycles)} cycles")
    return len(cycles)


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit("usage: cycles.py FOLDER...")
    sys.exit(1 if sum([main(root) for root in sys.argv[1:]]) else 0)
