#!/usr/bin/env python3
"""The JSON schema against an independent validator, and against the program itself.

    check_schema.py ERGOCL JOBS_FOLDER

The schema and the checks of the program come from the same tables by different code: a job that
one of them takes and the other refuses is a mistake in either (except for what a schema cannot
say, which is not tried here). Exit code 77: the package jsonschema is not installed.
"""
import copy
import json
import pathlib
import subprocess
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("SKIPPED: python3-jsonschema with draft 2020-12 is not installed")
    sys.exit(77)

BASE = {
    "sampler": "spin-lattice",
    "system": {"size": [16, 16], "temperature": 2.3},
    "run": {"sweeps": 10},
}
ABSENT = object()

# (pointer, value) changes of BASE that both must take, and that both must refuse
GOOD = [
    [],
    [("/seed", "18446744073709551615")],
    [("/seed", 9007199254740992)],
    [("/seed", 0)],
    [("/replicas", 3.0)],
    [("/run/sweeps", "20")],
    [("/run/equilibration", 1e4)],
    [("/wall_time", "02:00:00")],
    [("/wall_time", 7200)],
    [("/description", "x"), ("/$schema", "y")],
    [("/checkpoint", {"every_seconds": 0})],
    [("/output", {"snapshots": 0, "trajectory_every": 0})],
    [("/audit", {"every_seconds": 1.5})],
    [("/device", "gpu")],
    [("/system/field", -0.5)],
    [("/scan", {})],
    [("/scan", {"/system/temperature": [2.1, 2.2]})],
    [("/scan", {"/system/temperature": {"from": 2.4, "to": 2.1, "step": -0.01}})],
    [("/scan", {"/system/temperature": {"from": 1, "to": 2, "count": 3, "spacing": "log"}})],
    [("/scan", {"/system/temperature": [2], "/system/field": [0, 1], "/run/sweeps": [8, "9"]})],
    [("/scan", {"/system/size/0": [8, 32], "/system/size/1": {"from": 8, "to": 16, "step": 4}})],
    [("/scan", {"/system/size": [[8, 8], [16, 32]]})],
    [("/scan", {"/system/temperature": [1, 2]}), ("/system/temperature", ABSENT)],
    [("/scan", {"/run/sweeps": [1, 2]}), ("/run", ABSENT)],
    [("/system/model", "ising"), ("/system/field", 1)],
    [("/system/model", "potts"), ("/system/q", 5), ("/tuning", {"tile_rows": 2})],
    [("/system/model", "blume-capel"), ("/system/crystal_field", 1.5), ("/system/field", 0.1)],
    [("/system/model", "spin-glass"), ("/system/copies", 4)],
    [("/system/model", "graph"), ("/system/graph", "square"), ("/system/boundary", "open")],
    [("/system/model", "graph"), ("/system/graph", "square"), ("/system/boundary", ["open", "periodic"])],
    [("/system/model", "heisenberg"), ("/system/size", [16, 16, 16]), ("/system/anisotropy", -1)],
    [("/system/model", "sherrington-kirkpatrick"), ("/system/size", ABSENT), ("/system/n", 64)],
    [("/system/model", "east"), ("/system/temperature", ABSENT), ("/system/up_density", 0.4)],
]
BAD = [
    [("/sampler", ABSENT)],
    [("/sampler", "spin-latice")],
    [("/sampler", None)],
    [("/system", ABSENT)],
    [("/system", [])],
    [("/run", ABSENT)],
    [("/run", {})],
    [("/run/sweeps", 0)],
    [("/run/sweeps", 2.5)],
    [("/run/sweeps", True)],
    [("/run/sweep", 5)],
    [("/sweeps", 5)],
    [("/seed", -1)],
    [("/seed", "-1")],
    [("/seed", 1.5)],
    [("/seed", 9007199254740994)],
    [("/seed", "")],
    [("/replicas", 0)],
    [("/replicas", 1048577)],
    [("/wall_time", "2h")],
    [("/wall_time", 0)],
    [("/wall_time", "01:60:00")],
    [("/checkpoint", 600)],
    [("/checkpoint", {"every_seconds": -1})],
    [("/output", {"snapshots": 65})],
    [("/output", {"snapshot": 5})],
    [("/sampler", "swendsen-wang"), ("/system", {"q": 3, "size": [16, 16], "temperature": 1}),
     ("/output", {"trajectory_every": 5})],
    [("/sampler", "swendsen-wang"), ("/system", {"q": 3, "size": [16, 16], "temperature": 1}),
     ("/output", {"trajectory_every": "5"})],
    [("/device", 0)],
    [("/system/temprature", 2)],
    [("/system/temperature", "2.3")],
    [("/system/temperature", 0)],
    [("/system/temperature", -1)],
    [("/system/temperature", None)],
    [("/system/size", ABSENT)],
    [("/system/size", [])],
    [("/system/size", 16)],
    [("/system/size", [16, 16, 16, 16])],
    [("/system/size", [16, 0])],
    [("/system/size", [16, 16, 16, 16, 16])],
    [("/system/model", "isng")],
    [("/system/q", 3)],
    [("/system/model", "potts"), ("/system/anisotropy", 0)],
    [("/system/model", "potts"), ("/scan", {"/system/anisotropy": [0, 1]})],
    [("/system/model", "potts"), ("/tuning", {"halo": 8})],
    [("/system/model", "potts"), ("/system/crystal_field", 1)],
    [("/system/model", "blume-capel"), ("/run/correlation_every", 5)],
    [("/system/model", "potts"), ("/system/temperature", ABSENT)],
    [("/system/model", "spin-glass"), ("/system/size", [16])],
    [("/system/model", "graph"), ("/system/graph", "square"), ("/system/boundary", "opn")],
    [("/system/model", "graph"), ("/system/graph", "square"), ("/system/boundary", ["open", "opn"])],
    [("/system/model", "graph"), ("/system/graph", "square"), ("/system/boundary", [])],
    [("/system/model", "graph"), ("/system/graph", "square"), ("/run/method", "aneal")],
    [("/system/model", "xy"), ("/system/anisotropy", 1)],
    [("/system/model", "random-orthogonal"), ("/system/size", ABSENT), ("/system/n", 64), ("/system/disorder", "gaussian")],
    [("/system/model", "spin-glass"), ("/output", {"trajectory_every": 5})],
    [("/system/model", "east"), ("/system/field", 1), ("/system/facilitation", 1)],
    [("/system/activity_of_another", 1)],
    [("/tuning", {"no_such_tunable": 1})],
    [("/scan", [])],
    [("/scan", {"/seed": [1, 2]})],
    [("/scan", {"/system/model": ["ising"]})],
    [("/scan", {"/system/temprature": [1]})],
    [("/scan", {"/system/temperature": []})],
    [("/scan", {"/system/temperature": 2})],
    [("/scan", {"/system/temperature": [1, 1]})],
    [("/scan", {"/system/temperature": [0]})],
    [("/scan", {"/system/temperature": {"from": 1, "to": 2}})],
    [("/scan", {"/system/temperature": {"from": 1, "to": 2, "step": 0}})],
    [("/scan", {"/system/temperature": {"from": 1, "to": 2, "step": 1, "count": 2}})],
    [("/scan", {"/system/temperature": {"from": 1, "to": 2, "step": 1, "spacing": "log"}})],
    [("/scan", {"/system/temperature": {"from": 1, "to": 2, "count": 0}})],
    [("/scan", {"/system/temperature": {"from": 1, "to": 2, "count": 2, "spacing": "lag"}})],
    [("/scan", {"/system/temperature": {"from": 1, "to": 2, "stop": 2, "count": 2}})],
    [("/scan", {"/system/size/7": [8]})],
    [("/scan", {"/system/size": {"from": 8, "to": 16, "step": 8}})],
    [("/scan", {"/system/temperature": [1], "/system/field": [1], "/run/sweeps": [1],
                "/run/equilibration": [1], "/run/measure_every": [1]})],
]


def changed(changes):
    job = copy.deepcopy(BASE)
    for pointer, value in changes:
        *parents, last = pointer[1:].split("/")
        at = job
        for parent in parents:
            at = at.setdefault(parent, {})
        if value is ABSENT:
            del at[last]
        else:
            at[last] = value
    return job


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    schema = json.loads(subprocess.run([program, "schema"], check=True, capture_output=True).stdout)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    failures = []

    def compare(name, job, wanted):
        by_schema = [e.message[:200] for e in validator.iter_errors(job)]
        run = subprocess.run([program, "validate", "-"], input=json.dumps(job).encode(),
                             capture_output=True, check=False)
        if (not by_schema) != wanted:
            failures.append(f"{name}: the schema says {by_schema or 'valid'}: {json.dumps(job)}")
        if run.returncode != (0 if wanted else 2):
            failures.append(f"{name}: the program says {run.returncode}: {json.dumps(job)}\n"
                            + run.stderr.decode())

    jobs = sorted(folder.glob("*.json"))
    jobs = [path for path in jobs if not path.name.endswith("schema.json")]
    if not jobs:
        failures.append(f"no jobs in {folder}")
    for path in jobs:
        compare(path.name, json.loads(path.read_text(encoding="utf-8")), True)
    for changes in GOOD:
        compare("good", changed(changes), True)
    for changes in BAD:
        compare("bad", changed(changes), False)
    for sampler in schema["properties"]["sampler"]["enum"]:
        # every key must say what it is
        for branch in schema["allOf"]:
            if branch.get("if", {}).get("properties", {}).get("sampler", {}).get("const") != sampler:
                continue
            for name, key in branch["then"]["properties"]["system"]["properties"].items():
                if "description" not in key and "properties" not in key:
                    failures.append(f"{sampler}: /system/{name} has no description")
            break
        else:
            failures.append(f"{sampler}: the schema does not describe its keys")
    for failure in failures:
        print("FAILED:", failure)
    if not failures:
        print(f"{len(jobs)} jobs of the folder, {len(GOOD)} good and {len(BAD)} bad ones: the schema "
              "and the program agree")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
