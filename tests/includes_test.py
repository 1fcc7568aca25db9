#!/usr/bin/env python3
"""Names every include that points up.

The arrows are those of src/README.md: each folder may include itself and the
folders listed for it, and what those may include. Run with the project's root
as the only argument; exit 1 names the offending lines.
"""
import pathlib
import re
import sys

ALLOWED = {
    "base": [],
    "calendar": ["base"],
    "model": ["base"],
    "topology": ["model"],
    "engine": ["topology"],
    "forecast": ["model"],
    "planner": ["topology"],
    "policies": ["engine", "planner", "forecast"],
    "wire": ["model"],
    "control": ["policies", "wire", "calendar"],
    "devices": ["topology"],
    "accounting": ["engine"],
    "doctor": ["control", "accounting"],
    "simulator": ["doctor", "devices"],
    "backends": ["control", "devices"],
    "stores": ["control"],
    "api": ["doctor"],
    "client": ["wire"],
}
# The decision core takes time, randomness and data as arguments.
PURE = ["topology", "engine", "policies", "forecast", "planner", "control", "accounting", "doctor"]
IMPURE = re.compile(
    r"system_clock|steady_clock|std::thread|random_device|\brand\(|[io]fstream|::socket\(|getenv|"
    r"\bsleep(_for)?\b|\bfork\(|(?<!\w)::open\("
)
# Where the loop meets the machine: the one file that may wait.
EDGES = {"src/control/loop_thread.cpp", "src/control/loop_thread.h"}


def reachable(folder):
    seen, todo = set(), [folder]
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo += ALLOWED.get(at, [])
    return seen


def main():
    root = pathlib.Path(sys.argv[1])
    complaints = []
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        relative = path.relative_to(root).as_posix()
        folder = relative.split("/")[1]
        if folder not in ALLOWED:
            complaints.append(f"{relative}: folder {folder} is not in the layout")
            continue
        is_test = re.search(r"_(test|fuzz)\.cpp$", relative) is not None
        allowed = reachable(folder)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            include = re.match(r'#include "([a-z_]+)/', line)
            if include and include[1] in ALLOWED and include[1] not in allowed and not is_test:
                complaints.append(f"{relative}:{number}: {folder} must not include {include[1]}")
            code = line.split("//")[0]
            if folder in PURE and not is_test and relative not in EDGES and IMPURE.search(code):
                complaints.append(f"{relative}:{number}: not pure: {line.strip()}")
    print("\n".join(complaints) or "includes: all arrows point down")
    return 1 if complaints else 0


sys.exit(main())
