#!/usr/bin/env python3
"""hostile.py EVERY: job files that no program should take, made from good ones and from the schema.

Each is given to `$ERGOCL validate`. It has to be refused: exit code 2, the place (a JSON pointer, or line and column) in a message that
holds nothing a terminal would obey, nothing on stdout, within a second of processor time, or on slow machines five times what Python's json takes
for a million keys: what grows as the square of 16 MB takes hours. Numbers at the ends of what their keys allow may be taken, as well.
EVERY 7: of the families with thousands of cases every seventh. Exit 0: all were; 1: those that were not are printed; 77: jsonschema is not
installed.
"""
import copy
import json
import math
import os
import re
import signal
import sys
import time

try:
    import jsonschema
except ImportError as reason:
    print(f"skipped: {reason}")
    sys.exit(77)

PROGRAM, ROOT = os.environ["ERGOCL"], os.environ["ERGOCL_ROOT"]
FILE = "job.json"
MILLION_KEYS = b"{" + b"".join(b'"k%d":1,' % i for i in range(10**6)) + b'"sampler":"x"}'
SYNTAX = re.compile(FILE + r":\d+:\d+: ")  # where the message has to say line and column
WRONG = [None, True, -1, 2.5, 1e308, 10**40, "", "x", "-5", [], [None], [[1]], [1e308] * 9, {}, {"from": 1}]
NEVER_UTF8 = [b"\0", b"\x80", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82"]
NO_JSON = [b"NaN", b"-Infinity", b"0x10", b"01", b"+1", b".5", b"5.", b"1e", b"--1", b"1_000", b"1,5", b"'x'", b"True",
           b"nul", b'"\\x41"', b'"\\ud800"', b'"\\u0000"', b'"\t"', b"/* 1 */ 1", b"// 1", b"\xef\xbb\xbf1"]


def text_of(job):
    return json.dumps(job).encode()


def seed_of(sampler):
    """The contract job of a sampler, or of "SAMPLER MODEL"."""
    name = sampler.split(" ")[0] if sampler not in SEEDS else SEEDS[sampler]
    with open(f"{ROOT}/tests/contract/jobs/{name}.json", encoding="utf-8") as file:
        return json.load(file)


def keys_of(schema, pointer=""):
    """(pointer, schema) of every key below an object's schema."""
    for name, below in schema["properties"].items():
        if "properties" in below:
            yield from keys_of(below, f"{pointer}/{name}")
        else:
            yield f"{pointer}/{name}", below


with open(f"{ROOT}/data/job.schema.json", encoding="utf-8") as schema_file:
    SCHEMA = json.load(schema_file)


MODEL_KEYS = ("model", "ensemble")  # of which a sampler has one


def title_of(condition):
    of_system = condition.get("system", {}).get("properties", {})
    model = next((of_system[key]["const"] for key in MODEL_KEYS if "const" in of_system.get(key, {})), None)
    return condition["sampler"]["const"] + (f" {model}" if model else "")


KEYS = {title_of(part["if"]["properties"]): dict(keys_of(part["then"]))
        for part in SCHEMA["allOf"] if "if" in part and "additionalProperties" in part["then"]}
SEEDS = {"hard-disks npt": "hard-disks+npt", "hard-spheres npt": "hard-spheres+npt", "lj-fluid npt": "lj-fluid+npt",
         "lj-fluid muvt": "lj-fluid-matrix", "lj-fluid gibbs": "lj-fluid+gibbs",
         "swendsen-wang xy": "swendsen-wang-xy",
         "swendsen-wang heisenberg": "swendsen-wang+heisenberg", "swendsen-wang clock": "swendsen-wang-clock",
         "spin-lattice potts": "spin-lattice+potts", "spin-lattice blume-capel": "spin-lattice-blume-capel",
         "spin-lattice spin-glass": "spin-lattice+spin-glass", "spin-lattice graph": "spin-lattice+graph",
         "spin-lattice xy": "spin-lattice-xy", "spin-lattice clock": "spin-lattice-clock",
         "spin-lattice heisenberg": "spin-lattice+heisenberg",
         "spin-lattice sherrington-kirkpatrick": "spin-lattice+sherrington-kirkpatrick",
         "spin-lattice random-orthogonal": "spin-lattice-random-orthogonal",
         "spin-lattice north-east": "spin-lattice+north-east", "spin-lattice east": "spin-lattice-east",
         "spin-lattice fredrickson-andersen": "spin-lattice-facilitated",
         "spin-lattice north-or-east": "spin-lattice-facilitated"}
SAMPLERS = sorted(KEYS)


def refuses(schema, value):
    return not jsonschema.Draft202012Validator({**schema, "$defs": SCHEMA["$defs"]}).is_valid(value)


def put(job, pointer, value):
    *above, last = pointer[1:].split("/")
    for name in above:
        job = job.setdefault(name, {})
    job[last] = value


def objects_of(job, pointer=""):
    yield pointer, job
    for name, below in job.items():
        if isinstance(below, dict) and name != "scan":
            yield from objects_of(below, f"{pointer}/{name}")


def place_of(pointer):
    return re.compile(re.escape(f"{FILE}: {pointer}"))


# ---- families: each yields (name, bytes of a file, what the message has to match...) ----------------


def truncated():
    for sampler in SAMPLERS:
        text = text_of(seed_of(sampler))
        for length in range(len(text)):
            yield f"{sampler} cut at {length}", text[:length], SYNTAX


def not_utf8():
    for sampler in SAMPLERS:
        text = text_of(seed_of(sampler))
        for at in range(len(text)):
            wrong = NEVER_UTF8[at % len(NEVER_UTF8)]
            yield f"{sampler} with {wrong!r} at {at}", text[:at] + wrong + text[at:], SYNTAX


def no_json():
    for sampler in SAMPLERS:
        for pointer in KEYS[sampler]:
            for wrong in NO_JSON:
                job = seed_of(sampler)
                put(job, pointer, "@")
                yield f"{sampler} {pointer}: {wrong!r}", text_of(job).replace(b'"@"', wrong), SYNTAX


def wrong_values():
    for sampler in SAMPLERS:
        for pointer, schema in KEYS[sampler].items():
            for value in WRONG:
                if refuses(schema, value):
                    job = seed_of(sampler)
                    put(job, pointer, value)
                    yield f"{sampler} {pointer}: {value!r:.40}", text_of(job), place_of(pointer)


def all_wrong():
    """Every key that a value is wrong for has it, and all of them are said."""
    for sampler in SAMPLERS:
        for value in WRONG:
            job = seed_of(sampler)
            wrong = [pointer for pointer, schema in KEYS[sampler].items()
                     if pointer not in ("/sampler", *(f"/system/{key}" for key in MODEL_KEYS)) and refuses(schema, value)]
            for pointer in wrong:
                put(job, pointer, value)
            yield f"{sampler}, everything {value!r:.40}", text_of(job), *map(place_of, wrong)


def objects():
    """Keys nobody knows, in the wrong case, twice; something else in an object's place."""
    for sampler in SAMPLERS:
        seed = seed_of(sampler)
        for pointer, inside in objects_of(seed):
            for name in ["unknown", "", "\x1b[31m", "a/b~c", "x" * 100000]:
                job = copy.deepcopy(seed)
                put(job, f"{pointer}/@", 1)
                text = text_of(job).replace(b"@", json.dumps(name)[1:-1].encode())
                shown = name.split("\x1b")[0].replace("~", "~0").replace("/", "~1")[:9]
                yield f"{sampler} {pointer}: {name!r:.40}", text, place_of(f"{pointer}/{shown}")
            for name, value in inside.items():
                job = copy.deepcopy(seed)
                put(job, f"{pointer}/{name.title()}", value)
                yield f"{sampler} {pointer}/{name.title()}", text_of(job), place_of(f"{pointer}/{name.title()}")
                job = copy.deepcopy(seed)
                put(job, f"{pointer}/@{name}", value)
                yield f"{sampler} {pointer}/{name} twice", text_of(job).replace(b"@", b""), SYNTAX
            for value in WRONG if pointer else []:
                if not isinstance(value, dict):
                    job = copy.deepcopy(seed)
                    put(job, pointer, value)
                    yield f"{sampler} {pointer}: {value!r:.40}", text_of(job), place_of(pointer)


def nested():
    for sampler in SAMPLERS:
        for name in list(seed_of(sampler)):
            for opening in b"[", b'{"a":':
                for depth in 30, 300, 3000, 300000:
                    job = {**seed_of(sampler), name: "@"}
                    text = text_of(job).replace(b'"@"', opening * depth)
                    yield f"{sampler} {name}: {depth} times {opening!r}", text, re.compile(FILE)


def huge():
    job = text_of(seed_of("spin-lattice"))
    large = re.compile("larger than 16 MiB")
    for name, text, *said in [
            ("100 MB of spaces", b" " * 10**8, large),
            ("100 MB of spaces, then a job", b" " * 10**8 + job, large),
            ("a job, then 100 MB of spaces", job + b" " * 10**8, large),
            ("16 MB of spaces", b" " * 16 * 10**6, SYNTAX),
            ("16 MB of zero bytes", b"\0" * 16 * 10**6, SYNTAX),
            ("a number of 16 MB", job[:-1] + b', "x": ' + b"2" * 16 * 10**6 + b"}", SYNTAX),
            ("a text of 16 MB", b'{"sampler": "' + b"\\u001b" * 2500000 + b'"}', place_of("/sampler")),
            ("an array of 16 MB", b"[" + b"1," * 8 * 10**6 + b"1]", re.compile(FILE)),
            ("16 MB of keys", MILLION_KEYS, place_of("/k0")),
            ("16 MB of one key", b"{" + b'"k":1,' * 2500000 + b'"k":1}', SYNTAX),
            ("16 MB of nonsense", bytes(i * i // 7 % 256 for i in range(16 * 10**6)), SYNTAX)]:
        yield name, text, *said


def ends_of(schema):
    """The least and the most that a key's schema allows, and small numbers where 0 is not allowed."""
    if "items" in schema:
        return [[end] * schema["minItems"] for end in ends_of(schema["items"])]
    ends = {schema[name] for name in ("minimum", "maximum") if name in schema}
    if "exclusiveMinimum" in schema:
        ends |= {math.nextafter(schema["exclusiveMinimum"], math.inf), schema["exclusiveMinimum"] + 1e-30}
    lists = [end for either in schema.get("anyOf", []) for end in ends_of(either)]
    return sorted(ends | {end for end in lists if not isinstance(end, list)}) + [end for end in lists if isinstance(end, list)]


def extreme():
    for sampler in SAMPLERS:
        for pointer, schema in KEYS[sampler].items():
            for value in ends_of(schema):
                job = seed_of(sampler)
                job.get("scan", {}).pop(pointer, None)
                put(job, pointer, value)
                yield f"{sampler} {pointer}: {value!r:.40}", text_of(job)


# ---- the program's answer ----------------------------------------------------------------------------


def answer_to(text):
    """Exit code (or -signal), stdout, stderr, seconds of processor time of `validate` on a file."""
    with open(FILE, "wb") as file:
        file.write(text)
    write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    pid = os.posix_spawn(PROGRAM, [PROGRAM, "validate", FILE], os.environ,
                         file_actions=[(os.POSIX_SPAWN_OPEN, number, name, write, 0o666)
                                       for number, name in ((1, "out"), (2, "err"))])
    signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
    signal.alarm(60)
    _, status, usage = os.wait4(pid, 0)
    signal.alarm(0)
    with open("out", "rb") as out, open("err", "rb") as err:
        return os.waitstatus_to_exitcode(status), out.read(), err.read(), usage.ru_utime + usage.ru_stime


def seconds_allowed():
    start = time.process_time()
    json.loads(MILLION_KEYS)
    return max(1, 5 * (time.process_time() - start))


def complaints(text, said, taken, allowed):
    """said: patterns of the message. taken: the job may be a good one."""
    code, out, err, seconds = answer_to(text)
    message = err.decode(errors="replace")
    too_large = code == 3 and "GiB" in message # a good job, but not for this machine
    if code != 2 and not (taken and (code == 0 and (not err or b"so they are not kept" in err) or too_large)):
        yield f"exit code {code} instead of 2: {message[:400]}"
    if out and code != 0:
        yield f"stdout: {out[:80]!r}"
    if seconds > allowed:
        yield f"{seconds:.1f} s"
    if "\ufffd" in message or re.search(r"[\x00-\x09\x0b-\x1f\x7f]", message):
        yield "bytes in the message that are not for terminals"
    for pattern in said:
        if not pattern.search(message):
            yield f"the message does not match {pattern.pattern}: {message[:400]}"


def main():
    every = int(sys.argv[1])
    failed = total = 0
    allowed = seconds_allowed()
    for family, stride in [(truncated, every), (not_utf8, every), (no_json, every), (wrong_values, every), (nested, every),
                           (objects, every), (extreme, every), (all_wrong, 1), (huge, 1)]:
        count = 0
        for number, (name, text, *said) in enumerate(family()):
            if number % stride:
                continue
            count += 1
            for complaint in complaints(text, said, family is extreme, allowed):
                failed += 1
                print(f"{family.__name__}: {name}: {complaint}")
        print(f"{family.__name__}: {count} files")
        total += count
    print(f"{total} files, {failed} complaints")
    sys.exit(failed > 0 or total < 300)  # the least that was promised


main()
