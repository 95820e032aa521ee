#!/usr/bin/env python3
"""Dependencies between the folders of src point one way (CONTRIBUTING.md, Layout).

rooms.py [BUILD]: nobody below src/job looks a key's value up by its name; every #include of src, and where BUILD has objects every call between them, goes
to the file's own room or to one below it. rooms.py --self-test: an include and a call that go up
are found.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

BELOW = {  # what a room may use directly; what those use, too
    "base": [],
    "job": ["base"],
    "stats": ["base"],
    "dist": ["base"],
    "device": ["base"],
    "engine": ["device", "job", "stats", "dist"],
    "samplers": ["engine"],
    "result": ["job", "stats"],
    "page": ["result"],
    "run": ["samplers", "result"],
    "compare": ["run", "page"],
    "analyse": ["page"],
    "cli": ["compare", "analyse"],
}

# Tables that a room above gives to one below, which declares them.
GIVEN = {"ergo_samplers", "ergo_n_samplers"}  # job/model.h, samplers/registry.c


# What asks for a value by a key's name; everybody else has it in a parameter struct.
LOOKS_UP = re.compile(r"\bergo_point_(?:value|real|int|bool|text)\(")
BY_NAME = {"job", "analyse"}  # analyse: keys that are wanted; job: files and their names
# What a room hands in and another does not reach for itself.
NOT_IN = [
    (
        "samplers",
        re.compile(r"\bergo_clock\(|\bclock_gettime\("),
        "reads a clock: ergo_engine_lap has seconds",
    ),
    (
        "run",
        re.compile(r"\((?:const )?struct ergo_engine \*\)"),
        "casts: a sampler's state is not run's",
    ),
]


def closure(room):
    return {room}.union(*(closure(below) for below in BELOW[room]))


ALLOWED = {room: closure(room) for room in BELOW}


def room_of(path, root):
    return os.path.relpath(path, root).split(os.sep)[0]


def includes(src):
    """(file, room, file it includes, its room)"""
    for path in sorted(glob.glob(f"{src}/**/*.[ch]", recursive=True)):
        text = open(path, encoding="utf-8").read()
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M):
            if os.path.exists(f"{src}/{name}"):
                yield path, room_of(path, src), name, name.split("/")[0]
        if re.search(r"#\s*include\s*<CL/", text) and "device" not in ALLOWED[room_of(path, src)]:
            yield path, room_of(path, src), "CL/cl.h", "device"


def calls(src, objects):
    """(object, room, symbol, room that defines it)"""
    defined, used = {}, []
    # not of a file that is gone
    paths = [path for path in sorted(glob.glob(f"{objects}/**/*.o", recursive=True))
             if os.path.exists(f"{src}/{os.path.relpath(path, objects)[:-1]}c")]
    listed = subprocess.run(["nm", "-A", "-P", *paths], capture_output=True, text=True, check=True).stdout if paths else ""
    for line in listed.splitlines():
        path, symbol = line.split(": ", 1)
        name, kind = symbol.split()[:2]
        if kind == "U":
            used.append((path, name))
        elif kind.isupper():
            defined[name] = room_of(path, objects)
    for path, name in used:
        if name in defined and name not in GIVEN:
            yield path, room_of(path, objects), name, defined[name]


def reaches(src):
    by_name = "looks a value up by its name: it lives in the point's parameters"
    for path in sorted(glob.glob(f"{src}/**/*.[ch]", recursive=True)):
        room = room_of(path, src)
        rules = [(what, why) for where, what, why in NOT_IN if where == room]
        rules += [] if room in BY_NAME else [(LOOKS_UP, by_name)]
        for line, text in enumerate(open(path, encoding="utf-8"), 1):
            for what, why in rules:
                if what.search(text):
                    yield path, line, why


def check(src, objects):
    up = 0
    for path, line, why in reaches(src):
        print(f"{path}:{line}: {why}")
        up += 1
    for path, room, name, other in [*includes(src), *calls(src, objects)]:
        if other not in ALLOWED.get(room, ()):
            print(f"{path}: {name} is in {other}, which {room} may not use")
            up += 1
    return up


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        texts = {
            "base/up.c": '#include "job/job.h"\nint ergo_up(void) { return ergo_job(); }\n',
            "job/job.h": "int ergo_job(void);\n",
            "job/job.c": '#include "job/job.h"\nint ergo_job(void) { return 1; }\n',
            "run/down.c": '#include "job/job.h"\nint ergo_down(void) { return ergo_job(); }\n',
            "result/cl.c": "#include <CL/cl.h>\n",
            "samplers/look.c": 'double x(void) { return ergo_point_real(0, "/system/x"); }\n',
            "samplers/late.c": "double y(void) { return ergo_clock(); }\n",
            "run/cast.c": "int z(void *s) { return ((struct ergo_engine *)s)->step; }\n",
        }
        for name, text in texts.items():
            path = f"{folder}/{name}"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        for name in ("base/up.c", "job/job.c", "run/down.c"):
            path = f"{folder}/{name}"
            subprocess.run(["cc", "-I", folder, "-c", path, "-o", path[:-1] + "o"], check=True)
        # an include up, a call up, OpenCL in a room without, a look-up, a clock, a cast
        return check(folder, folder) == 6


if sys.argv[1:] == ["--self-test"]:
    sys.exit(0 if self_test() else "rooms.py: what goes up is not found")
build = sys.argv[1] if sys.argv[1:] else "build"
if check("src", f"{build}/src"):
    sys.exit(1)
print("every room uses its own files and those of rooms below it")
