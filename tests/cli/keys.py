#!/usr/bin/env python3
"""keys.py [SAMPLER...]: is there a key that a job takes and that changes nothing?

With $ERGOCL_TEST_FULL or for samplers that are named (half an hour for all): of each model below, every key of its table gets other
values than the job's. Each such job is refused by `$ERGOCL validate` (exit code 2, at that key or another), or it runs, and something in the result is another than before: the stream of random
numbers, the state, an observable, a curve, or the files. What only changes how a run is done, and by its help not what comes of
it, is in NEUTRAL. A job that validate takes and run refuses as wrong is a fault, too.
Always, without a run: an end of a key's range that is refused where its help names no further condition is a fault.
Exit 0: no fault; 1: they are printed.
"""
import copy
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

PROGRAM, ROOT = os.environ["ERGOCL"], os.environ["ERGOCL_ROOT"]
NEUTRAL = {  # how and when, not what: the help of each says so
    "": {"/distribute", "/checkpoint/every_seconds", "/checkpoint/final_states", "/audit/every_seconds", "/wall_time"},
    "swendsen-wang": {"/system/labelling", "/system/merge", "/system/shares"},
    "helium-dmc": {"/system/shares"},
    "spin-lattice": {"/system/shares", "/system/graph_format"},  # a format is seen from the file, too
    "lj-fluid": {"/system/excess_volume"},  # `ergocl analyse` reads it
}
FURTHER = re.compile(r"at most|at least|up to|below|above|half|less than|more than|as many|multiple|not longer|only|needed|in the place of|anywhere|smallest", re.I)  # of conditions
RUN = {"equilibration": 4, "sweeps": 40, "measure_every": 2}
MODELS = [
    ("spin-lattice", {"size": [8, 8], "temperature": 2.3}, {"correlation_every": 2, "correlation_max": 2}),
    ("spin-lattice", {"size": [4, 4, 4], "temperature": 4, "random_field": 0.5, "disorder": "bimodal"}, {"correlation_max": 1}),
    ("spin-lattice", {"model": "potts", "size": [8, 8], "temperature": 1}, {"correlation_max": 2}),
    ("spin-lattice", {"model": "blume-capel", "size": [8, 8], "temperature": 1}, {}),
    ("spin-lattice", {"model": "spin-glass", "size": [4, 4], "temperature": 1, "samples": 64}, {}),
    ("spin-lattice", {"model": "spin-glass", "size": [4, 4, 4], "temperature": 1, "temperature_max": 2, "ladder": 4}, {}),
    ("spin-lattice", {"model": "sherrington-kirkpatrick", "n": 20, "temperature": 1, "temperature_max": 2, "ladder": 4, "samples": 3}, {}),
    ("spin-lattice", {"model": "random-orthogonal", "n": 20, "temperature": 1, "samples": 3}, {}),
    ("spin-lattice", {"model": "fredrickson-andersen", "size": [8, 8], "up_density": 0.4, "realisations": 64}, {}),
    ("spin-lattice", {"model": "north-east", "size": [64, 64], "up_density": 0.4, "realisations": 32, "method": "lambda"}, {}),
    ("spin-lattice", {"model": "graph", "graph": "kagome", "size": [3, 4], "temperature": 1.5}, {"target_energy": -1000}),
    ("spin-lattice", {"model": "graph", "graph": f"{ROOT}/data/reference/graph-edges.txt"}, {"method": "anneal"}),
    ("spin-lattice", {"model": "graph", "graph": "sherrington-kirkpatrick", "n": 30, "disorder": "gaussian"}, {"method": "anneal"}),
    ("spin-lattice", {"model": "graph", "graph": "square", "size": [4, 3], "field": 1}, {"equilibration": 0, "method": "wang-landau", "check_every": 1}),
    ("spin-lattice", {"model": "clock", "size": [6, 6], "temperature": 0.9, "random_field": 0.5}, {}),
    ("spin-lattice", {"model": "heisenberg", "size": [6, 6], "temperature": 0.9}, {}),
    ("spin-lattice", {"model": "heisenberg", "size": [6, 6], "temperature": 0.5, "temperature_max": 1, "ladder": 3, "swap_every": 2}, {}),
    ("swendsen-wang", {"size": [8, 8], "temperature": 1.1}, {}),
    ("swendsen-wang", {"size": [4, 4, 4], "temperature": 1.9}, {}),
    ("swendsen-wang", {"size": [4, 4, 4], "temperature": 1.5, "field": 0.1, "disorder": "bimodal", "disorder_ratio": 0.4}, {}),
    ("swendsen-wang", {"size": [4, 6], "temperature": 1.1}, {"method": "probability-changing"}),
    ("swendsen-wang", {"model": "xy", "size": [8, 8], "temperature": 1}, {}),
    ("swendsen-wang", {"model": "clock", "size": [8, 8], "temperature": 1}, {}),
    ("swendsen-wang", {"model": "heisenberg", "size": [4, 4, 4], "temperature": 1.5}, {}),
    ("hard-disks", {"n": 16, "packing_fraction": 0.3}, {"contact_range": 0.1, "contact_bin": 0.01, "hexatic_every": 2}),
    ("hard-disks", {"n": 16, "packing_fraction": 0.3, "ensemble": "npt", "pressure": 1}, {"contact_range": 0.1, "contact_bin": 0.01}),
    ("hard-spheres", {"n": 40, "packing_fraction": 0.3}, {"contact_range": 0.1, "contact_bin": 0.01, "order_every": 2}),
    ("hard-spheres", {"n": 40, "packing_fraction": 0.3, "ensemble": "npt", "pressure": 2}, {"order_every": 2}),
    ("hard-spheres", {"n": 40, "box": [4.5, 4.5, 5.5], "walls": ["z"], "gravity": 0.5}, {"contact_range": 0.1, "contact_bin": 0.01}),
    ("helium-vmc", {"n": 20, "walkers": 4}, {"structure_every": 2}),
    ("helium-vmc", {"n": 32, "walkers": 4, "one_body": "fcc", "density": 0.03}, {"structure_every": 2}),
    ("helium-vmc", {"n": 4, "walkers": 4, "one_body": "trap", "density": 1e-5}, {"structure_every": 2}),
    ("helium-vmc", {"n": 30, "walkers": 4, "dimensions": 2, "one_body": "triangular", "aspect": [5, 3], "density": 0.07, "b": 2.8}, {"structure_every": 2, "pair_map_bins": 4}),
    ("helium-vmc", {"n": 4, "walkers": 4, "one_body": "slab", "density": 1e-4, "external": f"{ROOT}/data/reference/helium-film-v.txt", "localisation": 0.2}, {"structure_every": 2}),
    ("helium-vmc", {"n": 20, "walkers": 8, "triplet": {"strength": -1, "centre": 1.5}},
     {"structure_every": 2, "optimise": "all", "optimise_updates": 2, "optimise_every": 1, "equilibration": 20}),
    ("helium-dmc", {"n": 20, "walkers": 4, "forward_steps": 16, "forward_structure": True},
     {"structure_every": 8, "equilibration": 32, "sweeps": 32}),
    ("helium-dmc", {"n": 20, "walkers": 4, "forward_steps": 0, "wave_function": "two-body"}, {"structure_every": 2}),
    ("lj-gcmc", {"box": [6, 6, 6], "temperature": 2, "activity": 0.1}, {"curve_every": 2}),
    ("lj-gcmc", {"box": [11, 11, 11], "temperature": 2, "activity": 0.1, "decomposition": "checkerboard"}, {"curve_every": 2}),
    ("lj-fluid", {"box": [6, 6, 6], "temperature": 2, "particles": 30}, {"curve_every": 2, "insertions": 4}),
    ("lj-fluid", {"ensemble": "npt", "density": 0.13, "temperature": 2, "particles": 30, "pressure": 0.5, "volume_every": 4,
                  "potential": "mie", "repulsive_exponent": 10}, {"insertions": 4}),
    ("lj-fluid", {"ensemble": "gibbs", "box": [6, 6, 6], "temperature": 1.2, "particles": 60, "second_particles": 20, "volume_every": 4,
                  "transfers": 6}, {"insertions": 4}),
    ("lj-fluid", {"ensemble": "muvt", "box": [6, 6, 6], "temperature": 2, "particles": 30, "activity": 0.2},
     {"method": "transition-matrix", "curve_every": 2}),
    ("lj-fluid", {"ensemble": "muvt", "box": [5, 5.5, 6.6], "temperature": 1.3, "particles": 20, "activity": 0.1,
                  "slit": {"width": 3.9, "epsilon": 0.2, "sigma": 0.95, "density": 5, "spacing": 0.9, "bulk_density": 0.06, "excess_width": 3}},
     {"curve_every": 2}),
    ("lj-fluid", {"ensemble": "muvt", "box": [5, 5.5, 6.6], "temperature": 1.3, "particles": 20, "activity": 0.1,
                  "field": f"{ROOT}/data/reference/lj-field.cube", "field_unit": 0.8,
                  "frozen": {"file": f"{ROOT}/data/reference/lj-atoms.xyz", "epsilon": 1.7, "sigma": 1.1}},
     {"curve_every": 2, "profile_axis": "x"}),
    ("lj-fluid", {"ensemble": "muvt", "box": [6, 6, 6], "temperature": 2, "particles": 20, "activity": 0.1,
                  "species": {"names": "A B", "epsilon": [1, 0.5], "sigma": [1, 0.9], "pair_epsilon": [0.8], "pair_sigma": [0.9],
                              "fractions": [0.5, 0.5], "activity": [1, 0.5], "identity_changes": 0.2}}, {"curve_every": 2}),
]

with open(f"{ROOT}/data/job.schema.json", encoding="utf-8") as schema_file:
    SCHEMA = json.load(schema_file)


def keys_of(schema, pointer=""):
    for name, below in schema["properties"].items():
        if "properties" in below:
            yield from keys_of(below, f"{pointer}/{name}")
        else:
            yield f"{pointer}/{name}", below


def model_of(condition):
    system = condition.get("system", {}).get("properties", {})
    return system.get("model", system.get("ensemble", {})).get("const")


# (sampler, model): keys; a sampler of one model has None. Which models there are is said first.
KEYS = {(part["if"]["properties"]["sampler"]["const"], model_of(part["if"]["properties"])): dict(keys_of(part["then"]))
        for part in SCHEMA["allOf"] if "if" in part and "additionalProperties" in part["then"]}


def resolved(schema):
    """A key's schema without references and alternatives: those that say type, range or choices."""
    if "$ref" in schema:
        schema = {**SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]], **{k: v for k, v in schema.items() if k != "$ref"}}
    flat = dict(schema)
    for part in schema.get("anyOf", []) + schema.get("oneOf", []) + schema.get("allOf", []):
        for name, value in resolved(part).items():
            flat.setdefault(name, value)
    return flat


def at(job, pointer, default=None):
    for name in pointer.split("/")[1:]:
        if not isinstance(job, dict) or name not in job:
            return default
        job = job[name]
    return job


def put(job, pointer, value):
    job = copy.deepcopy(job)
    *above, last = pointer.split("/")[1:]
    part = job
    for name in above:
        part = part.setdefault(name, {})
    part[last] = value
    return job


def others(job, pointer, schema):
    """Other values than what the job has, or has by default: two of a number, all of a choice."""
    flat = resolved(schema)
    now = at(job, pointer, flat.get("default"))
    if "enum" in flat:
        return [value for value in flat["enum"] if value != now]
    kind = flat.get("type")
    if kind == "boolean":
        return [not now]
    if kind == "array":
        return [[2 * value for value in now]] if now else [[1] * n for n in (1, 2, 3)]
    if kind in ("number", "integer") or isinstance(now, (int, float)):
        low, high = flat.get("minimum", flat.get("exclusiveMinimum", 0)), flat.get("maximum", 1e9)
        number = float(now) if now is not None and str(now).replace(".", "").isdigit() else max(low, 1)
        values = [number * 2 or 1, number / 2 or 2, number + 1]
        if kind == "integer" or isinstance(now, int) and kind != "number":
            values = [int(value) for value in values]
        return [value for value in dict.fromkeys(values) if low <= value <= high and value != now][:2]
    return []  # texts and files: checked by hand


def call(words, job):
    with open("keys.json", "w", encoding="utf-8") as file:
        json.dump(job, file)
    return subprocess.run([PROGRAM] + words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)


def outcome(job):
    """What a run of the job leaves, as a hash; or why there is none."""
    shutil.rmtree("keys", ignore_errors=True)
    done = call(["run", "keys.json", "-o", "keys", "-q"], job)
    if done.returncode:
        return None, f"run ends with {done.returncode}: {done.stderr.strip()[:300]}"
    with open("keys/result.json", encoding="utf-8") as file:
        result = json.load(file)
    for once in ("rate", "started", "device", "job", "name", "seed", "warnings"):
        result.pop(once, None)
    text = json.dumps(result, sort_keys=True)
    for folder, _, names in sorted(os.walk("keys")):
        for name in sorted(names):
            if name.endswith((".xyz", ".vti", ".txt", ".dat", ".png")):
                with open(os.path.join(folder, name), "rb") as file:
                    text += name + hashlib.sha256(file.read()).hexdigest()
    return hashlib.sha256(text.encode()).hexdigest(), None


def ends_of(schema):
    """The least and the largest number that a key takes by its schema."""
    flat = resolved(schema)
    kind = flat.get("type")
    if kind not in ("number", "integer") or "enum" in flat:
        return []
    ends = []
    if "minimum" in flat:
        ends.append(flat["minimum"])
    if "exclusiveMinimum" in flat:
        least = flat["exclusiveMinimum"]
        ends.append(1e-12 if least == 0 else least + abs(least) * 1e-9)
    if "maximum" in flat:
        ends.append(flat["maximum"])
    return [int(end) if kind == "integer" else end for end in ends]


def wide_ends(job, pointer, schema):
    """Ends of the range that are refused at this very key, though its help names no further condition."""
    for end in ends_of(schema):
        done = call(["validate", "keys.json"], put(job, pointer, end))
        said = re.search(rf"{re.escape(pointer)}: .*", done.stderr)
        if done.returncode == 2 and said and "has no effect" not in said[0] and not FURTHER.search(resolved(schema).get("description", "")):
            yield f"{pointer} = {end}, an end of its range, is refused, and its help names no further condition: {said[0]}"


def keys_tried(first, sampler, system):
    default = {"spin-lattice": "ising", "swendsen-wang": "potts", "hard-disks": "nvt", "hard-spheres": "nvt", "lj-fluid": "nvt"}.get(sampler)
    for pointer, schema in KEYS[sampler, system.get("model", system.get("ensemble", default))].items():
        common = all(pointer in keys for keys in KEYS.values())  # these once, with the first model
        if not pointer.startswith("/tuning/") and pointer not in NEUTRAL[""] | NEUTRAL.get(sampler, set()) and (first or not common):
            yield pointer, schema, common


def ends_faults(first, sampler, system, base):
    for pointer, schema, common in keys_tried(first, sampler, system):
        if not common:
            yield from (f"{sampler} {system}: {fault}" for fault in wide_ends(base, pointer, schema))


def value_faults(first, sampler, system, base):
    before, why = outcome(base)
    if why:
        yield f"{sampler} {system}: {why}"
        return
    tried = 0
    for pointer, schema, _ in keys_tried(first, sampler, system):
        silent = []
        for value in others(base, pointer, schema):
            job = put(base, pointer, value)
            if call(["validate", "keys.json"], job).returncode:
                continue
            tried += 1
            after, why = outcome(job)
            if why and "device" not in why and "energies run away" not in why:  # what no check can foresee
                yield f"{sampler} {system}: validate takes {pointer} = {value}, and {why}"
            if after != before:
                silent = []
                break
            silent.append(value)
        if silent:
            yield f"{sampler} {system}: {pointer} = {silent} is taken and changes nothing"
    print(f"{sampler} {system.get('model', '')}: {tried} jobs with another value", flush=True)


def main():
    wanted = sys.argv[1:]
    faults = []
    for i, (sampler, system, run) in enumerate(MODELS):
        if wanted and sampler not in wanted:
            continue
        base = {"sampler": sampler, "seed": "3", "system": system, "run": {**RUN, **run}}
        faults += ends_faults(i == 0, sampler, system, base)
        if wanted or "ERGOCL_TEST_FULL" in os.environ:
            faults += value_faults(i == 0, sampler, system, base)
    for fault in dict.fromkeys(faults):
        print("FAULT", fault)
    return 1 if faults else 0


sys.exit(main())
