#!/usr/bin/env python3
"""forged.py EVERY: checkpoints that no run wrote, with right checksums, from three that runs wrote:
the folders `finished`, `curves` (a finished run with curves over its time) and `stopped`.

`$ERGOCL report` and `$ERGOCL resume` are given each. Either they refuse it: exit code 4 (2: for the
job in it), with a reason that names the folder; or all they write is sane: result.json is JSON, no
numbers in pages that are none, nothing of a checkpoint's text is HTML. No signal, no complaint of a
sanitizer, nothing that a terminal would obey, and no more than $FORGED_SECONDS (2) of processor time.
EVERY 7: of those with other numbers every seventh.
"""
import hashlib
import json
import os
import re
import resource
import shutil
import struct
import subprocess
import sys

PROGRAM, EVERY = os.environ["ERGOCL"], int(sys.argv[1])
SECONDS = float(os.environ.get("FORGED_SECONDS", "2"))
MEMORY = int(os.environ.get("FORGED_MEMORY", "0"))  # bytes that a process may map; 0: any
REFUSED, TAKEN, EITHER = (4,), (0,), (0, 2, 4)
NUMBERS = [float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 5e-324, 0.0]
EVIL = b"<script>alert(1)</script>\"'&\x1b[31m\n\xff\xc2\x9b31m\xe2\x82"
COUNTS = [0, 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
SPARSE = 40 << 30


# ---- the format (src/result/checkpoint.c) ---------------------------------------------------------------

def checksum(body):
    pieces = [hashlib.sha256(body[i:i + (1 << 20)]).digest() for i in range(0, len(body), 1 << 20)]
    return hashlib.sha256(b"".join(pieces) if len(pieces) > 1 else body).digest()


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    magic, version, count = struct.unpack_from("<8sII", data)
    assert (magic, version) == (b"ERGOCKPT", 3)
    records, at = {}, 16 + 72 * count + 32
    assert hashlib.sha256(data[:at - 32]).digest() == data[at - 32:at]
    for i in range(count):
        name, length, sha = struct.unpack_from("<32sQ32s", data, 16 + 72 * i)
        body = data[at:at + length]
        assert checksum(body) == sha
        records[name.rstrip(b"\0").decode()] = body
        at += length
    assert at == len(data)
    return records


def write(path, records):
    """records: pairs of a name and bytes, or a number: so many zeros, which take no room."""
    head = struct.pack("<8sII", b"ERGOCKPT", 3, len(records))
    for name, body in records:
        holes = isinstance(body, int)
        sha = bytes(32) if holes else checksum(body)
        head += struct.pack("<32sQ32s", name.encode(), body if holes else len(body), sha)
    with open(path, "wb") as file:
        file.write(head + hashlib.sha256(head).digest())
        for _, body in records:
            if isinstance(body, int):
                file.truncate(file.tell() + body)
                file.seek(0, 2)
            else:
                file.write(body)


# ---- families: each yields (what, records, exit codes) ----------------------------------------------

def put(body, offset, kind, value):
    packed = struct.pack("<" + kind, value)
    return body[:offset] + packed + body[offset + len(packed):]


def doubles(values):
    return struct.pack(f"<{len(values)}d", *values)


def changed(base, **records):
    return [(name, records.get(name, body)) for name, body in base.items() if records.get(name, body) is not None]


LATE = ("states",)  # read when a device goes on from them
SECONDS_AT, WORK_AT, DEVICE_AT = 40, 48, 56  # in the head, behind five counts
POINT = 56  # bytes of a point's own head: index, stream, steps, digest, step, samples, pictures


def words(body, at, count=1):
    return struct.unpack_from(f"<{count}Q", body, at)


def is_curve(body, at):
    """A count of samples and a bin's length: no two numbers of a series are so small."""
    count, length = words(body, at, 2)
    return count < 1 << 20 and 0 < length < 1 << 20


def is_picture(body, at):
    _, width, height = words(body, at, 3)
    return 0 < width <= 2048 and 0 < height <= 2048 and at + 24 + 3 * width * height == len(body)


def parts(base):
    """Of each point, all of which are as long: head, series, curves, pictures."""
    count = words(base["head"], 32)[0]
    size = len(base["points"]) // count
    for at in range(0, count * size, size):
        one = base["points"][at:at + size]
        first = next(k for k in range(POINT, size, 8) if is_curve(one, k))
        last = next((k for k in range(first, size - 23, 8) if is_picture(one, k)), size)
        yield one[:POINT], one[POINT:first], one[first:last], one[last:]


def points(base, head=lambda x: x, series_of=lambda x: x, curves_of=lambda x: x, pictures_of=lambda x: x):
    return changed(base, points=b"".join(head(a) + series_of(b) + curves_of(c) + pictures_of(d)
                                         for a, b, c, d in parts(base)))


def containers(base):
    whole = list(base.items())
    yield "as it was", whole, TAKEN
    yield "in another order", whole[::-1], TAKEN
    yield "an unknown record", whole + [("more", b"x")], REFUSED
    yield "nothing", [], REFUSED
    for name, body in whole:
        needed = name not in ("files", *LATE)
        yield f"two {name}", whole + [(name, body)], REFUSED
        if needed and body:
            yield f"no {name}", changed(base, **{name: None}), REFUSED
            yield f"{name}: empty", changed(base, **{name: b""}), (2, 4) if name == "job" else \
                TAKEN if name == "name" else REFUSED
            yield f"{name}: a byte less", changed(base, **{name: body[:-1]}), (2, 4) if name == "job" else \
                TAKEN if name == "name" else REFUSED
            yield f"{name}: a byte more", changed(base, **{name: body + b"x"}), (2, 4) if name == "job" else \
                TAKEN if name == "name" else REFUSED
        yield f"{name}: 40 GiB of nothing", changed(base, **{name: SPARSE}), \
            REFUSED if name not in LATE else EITHER


def texts(base):
    for name in (b"", EVIL, EVIL * 9, b"x" * 4096, b"a\0b", b"../../x", b"%s%n"):
        yield f"name {name[:20]}", changed(base, name=name), TAKEN
    yield "a long name", changed(base, name=b"x" * 4097), REFUSED
    for started in (b"", EVIL[:31], b"2026-11-23", b"2026-11-23T09:00:00Z\0", b"2026-11-23T09:00:00\xff",
                    b"2026-11-23 09:00:00Z", b"x" * 32):
        yield f"started {started}", changed(base, started=started), REFUSED
    evil = (EVIL * 9)[:127]
    for text in (evil, b"\xff" * 128, b""):
        fields = b"".join(text[:size].ljust(size, b"\0") for size in (24, 128, 128, 128))
        yield f"device {text[:20]}", changed(base, head=base["head"][:DEVICE_AT] + fields), TAKEN


def numbers(base):
    head = base["head"]
    for value in NUMBERS + [-1.0]:
        good = TAKEN if 0 <= value < 1e12 else REFUSED
        yield f"{value} s", changed(base, head=put(head, SECONDS_AT, "d", value)), good
        yield f"work {value}", changed(base, head=put(head, WORK_AT, "d", value)), good
        yield f"{value} s, work 1e299", changed(
            base, head=put(put(head, SECONDS_AT, "d", value), WORK_AT, "d", 1e299)), good
    for at, value in ((at, value) for at in range(5) for value in COUNTS):
        if words(head, 8 * at)[0] != value:  # the generation is of ranks
            yield f"head[{at}] = {value}", changed(base, head=put(head, 8 * at, "Q", value)), \
                TAKEN if at == 1 else REFUSED
    for at, value in ((at, value) for at in range(7) for value in COUNTS):
        if words(base["points"], 8 * at)[0] != value:
            yield f"point[{at}] = {value}", changed(base, points=put(base["points"], 8 * at, "Q", value)), \
                TAKEN if at == 3 else REFUSED  # digest


def series(base):
    for value in NUMBERS:
        yield f"series {value}", points(base, series_of=lambda x, v=value: doubles([v] * (len(x) // 8))), TAKEN
        yield f"series {value} at times", points(base, series_of=lambda x, v=value: b"".join(
            doubles([v]) if i % 56 == 0 else x[i:i + 8] for i in range(0, len(x), 8))), TAKEN
        yield f"series {value} and {-value}", points(base, series_of=lambda x, v=value: doubles(
            [v if i % 2 else -v for i in range(len(x) // 8)])), TAKEN


def curves(base):
    def all_but_heads(body, value):
        body = bytearray(body)
        for at in range(16, len(body) - 8, 24):
            body[at:at + 8] = doubles([value])
        return bytes(body)

    for value in NUMBERS:
        yield f"curves {value}", points(  # a head may be hit
            base, curves_of=lambda x, v=value: all_but_heads(x, v)), EITHER
    first = next(parts(base))[2]
    for count, length in ((count, length) for count in COUNTS for length in COUNTS):
        if (count, length) != words(first, 0, 2):
            yield f"curve of {count} in {length}", points(
                base, curves_of=lambda x, head=(count, length): struct.pack("<2Q", *head) + x[16:]), EITHER


def pictures(base):
    for step, width, height, codes in (
            (0, 0, 0, REFUSED), (0, 0, 5, REFUSED), (0, 5, 0, REFUSED), (0, 1, 1, TAKEN), (0, 1, 2048, TAKEN),
            (0, 2048, 1, TAKEN), (0, 2048, 2048, TAKEN), (0, 2049, 1, REFUSED), (0, 65536, 1, REFUSED),
            (2**63, 1, 1, REFUSED), (0, 2**32, 2**32, REFUSED), (0, 2**62, 4, REFUSED),
            (0, 0x5555555555555556, 1, REFUSED), (0, 2**64 - 1, 2**64 - 1, REFUSED)):
        body = struct.pack("<3Q", step, width, height) + bytes(3 * min(width * height, 2048 * 2048))
        yield f"{width} x {height} at {step}", points(base, pictures_of=lambda _, body=body: body), codes


def jobs(base):
    job = json.loads(base["job"])
    for what, key, value in (("many sweeps", "run", {"sweeps": 10**15, "measure_every": 1}),
                             ("many points", "scan", {"/system/temperature": {"from": 1, "to": 9, "step": 1e-5}}),
                             ("another system", "system", {"model": "ising", "size": [8, 8], "temperature": 2}),
                             ("another sampler", "sampler", "swendsen-wang"), ("a key", "\x1b[31m<b>", 1)):
        yield what, changed(base, job=json.dumps({**job, key: value}).encode()), (2, 3, 4)  # 3: no memory for it
    yield "a deep job", changed(base, job=b"[" * 10**6), (2, 4)
    yield "a job of zeros", changed(base, job=bytes(1000)), (2, 4)
    yield "17 MiB of blanks", changed(base, job=b" " * (17 << 20)), REFUSED


def states(base):
    """of a run that stopped: only what goes on needs them"""
    for at, value in ((at, value) for at in range(3) for value in COUNTS):  # index, step, length
        if words(base["states"], 8 * at)[0] != value:
            yield f"state[{at}] = {value}", changed(base, states=put(base["states"], 8 * at, "Q", value)), REFUSED
    yield "no states", changed(base, states=None), REFUSED
    yield "a byte less", changed(base, states=base["states"][:-1]), REFUSED
    yield "a byte more", changed(base, states=base["states"] + b"x"), REFUSED
    yield "40 GiB of states", changed(base, states=SPARSE), REFUSED


def indices(base):
    """of points spread over ranks, whose files are not there"""
    head = base["head"]
    version, n_points = words(head, 0)[0], words(head, 24)[0]
    small = [(name, base[name]) for name in ("job", "name", "started", "files")]
    for counts in ((version, 0, 1, n_points, 0), (version, 2**64 - 1, 999999, n_points, 0),
                   (version, 0, 0, n_points, 0), (version, 0, 2**63, n_points, 0), (version, 0, 1, 2**63, 0),
                   (version + 1, 0, 1, n_points, 0)):
        yield f"index {counts}", small + [("head", struct.pack("<5Q", *counts) + head[40:])], REFUSED
    yield "a short index", small + [("head", b"x")], REFUSED


# ---- what has to come out ---------------------------------------------------------------------------

def no_number(text):
    raise ValueError(f"{text} is no number of JSON")


def complaints(command, codes, folder):
    def limit():
        if MEMORY:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    for name in ("result.json", "report.html"):
        if os.path.exists(f"{folder}/{name}"):
            os.remove(f"{folder}/{name}")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([PROGRAM, command, folder], capture_output=True, timeout=120, preexec_fn=limit, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = done.stdout + done.stderr
    if done.returncode not in codes:
        yield f"exit code {done.returncode}, not {codes}"
    if done.returncode == 4 and folder.encode() not in done.stderr:
        yield "the message does not name the folder"
    if done.returncode and not done.stderr:
        yield "no message"
    found = re.search(rb".*(Sanitizer|runtime error).*", said)
    if found:
        yield found.group().decode(errors="replace")
    if re.search(rb"[\0-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", said):
        yield "the message holds what a terminal obeys"
    seconds = after.ru_utime - before.ru_utime
    if seconds > SECONDS and command == "report":
        yield f"{seconds:.1f} s of processor time"
    if done.returncode:
        if os.path.exists(f"{folder}/result.json") or os.path.exists(f"{folder}/report.html"):
            yield "files were written all the same"
        return
    if command == "resume":
        try:
            with open(f"{folder}/result.json", encoding="utf-8") as file:
                text = file.read()
            json.loads(text, parse_constant=no_number)
            if re.search("[\0-\x09\x0b-\x1f\x7f-\x9f]", text):
                yield "control characters in result.json"
        except (ValueError, OSError) as reason:
            yield f"result.json: {reason}"
    try:
        with open(f"{folder}/report.html", encoding="utf-8") as file:
            page = file.read()
        if re.search("<script>alert|[\0-\x08\x0b-\x1f\x7f]", page):
            yield "text of the checkpoint is HTML in report.html"
        found = re.search(r'="[^"]*\b(nan|inf)\b[^"]*"', page)
        if found:
            yield f"report.html: {found.group()[:80]}"
    except (ValueError, OSError) as reason:
        yield f"report.html: {reason}"


def main():
    finished, over_time, stopped = (read(f"{name}/checkpoint") for name in ("finished", "curves", "stopped"))
    every = [(family, base, 1) for family in (containers, texts, pictures, jobs, indices) for base in (finished,)]
    every += [(family, base, EVERY) for family in (numbers, series, curves) for base in (finished,)]
    every += [(curves, over_time, 1)]
    cases = [(case, f"finished: {family.__name__}")
             for family, base, stride in every for case in list(family(base))[::stride]]
    cases += [(case, "stopped") for case in states(stopped)]
    bad = 0
    for number, ((what, records, codes), family) in enumerate(cases):
        folder = "forged-folder"
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        write(f"{folder}/checkpoint", records)
        commands = ["report", "resume"]
        if family == "stopped":
            commands = ["resume"]
        elif 0 not in codes and number % EVERY:  # what both refuse, one function refuses
            commands = ["report"]
        for command in commands:
            for complaint in complaints(command, codes, folder):
                bad += 1
                print(f"{family}: {what}: {command}: {complaint}")
    print(f"{len(cases)} checkpoints, {bad} complaints")
    sys.exit(1 if bad else 0)


main()
