#!/usr/bin/env bash
# lj-gcmc: what a result holds, and what not, where N changes and where it is fixed; the parts of the
# pressure; P(N) of every sample.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

job() { # system, run
    printf '{"sampler": "lj-gcmc", "seed": "5", "system": {"temperature": 2, %s}, "run": {%s}, "output": {"snapshots": 0}}\n' "$1" "$2"
}
fixed='"particles": 60, "moves": {"displacement": 1, "insertion": 0, "deletion": 0}'
every='"equilibration": 1000, "sweeps": 20000, "measure_every": 50'
job '"box": [6, 6, 6], "activity": 0.1, "particles": 40' "$every, \"curve_every\": 100" >open.json
job "\"box\": [6, 6, 6], $fixed" "$every, \"curve_every\": 0" >fixed.json
job '"box": [6, 6, 6], "activity": 0.1, "particles": 40, "shifted": true' "$every, \"curve_every\": 0" >shifted.json
job '"box": [6, 6, 6], "activity": 0.1, "particles": 40, "tail_correction": true' "$every, \"curve_every\": 0" >tail.json
job '"box": [6, 6, 6], "cutoff": 1.4, "activity": 0.1, "particles": 40, "decomposition": "checkerboard"' \
    '"equilibration": 50, "sweeps": 400, "measure_every": 1, "curve_every": 0' >board.json
for name in open fixed shifted tail board; do
    expect 0 "$ERGOCL" run $name.json -o $name
done
$python - <<'PYTHON' || fail "results are not what they should be"
import json, math

results = {name: json.load(open(f"{name}/result.json")) for name in ("open", "fixed", "shifted", "tail", "board")}
seen = {name: r["points"][0]["observables"] for name, r in results.items()}

# pressure is the sum of its parts
for name, o in seen.items():
    parts = {p for p in ("pressure_virial", "pressure_impulsive", "pressure_tail") if p in o}
    wanted = {"pressure_virial"} | ({"pressure_impulsive"} if name != "shifted" else set()) | (
        {"pressure_tail"} if name == "tail" else set())
    assert parts == wanted, (name, parts)
    total = o["density"]["mean"] * 2 + sum(o[p]["mean"] for p in parts)
    assert math.isclose(total, o["pressure"]["mean"], rel_tol=1e-9), (name, total, o["pressure"])
    assert "shifted" == name or o["pressure_impulsive"]["mean"] < 0

# fluctuations of N where it fluctuates, of the energy alone where it does not
of_n = {"particles", "compressibility", "particles_variance", "particles_energy_covariance", "isosteric_heat",
        "acceptance_insertion", "acceptance_deletion", "particles2", "particles_energy"}
for name, o in seen.items():
    assert of_n & set(o) == (set() if name == "fixed" else of_n), (name, sorted(o))
    assert ("heat_capacity" in o) == (name == "fixed"), name
fixed = seen["fixed"]
variance = fixed["total_energy2"]["mean"] - fixed["total_energy"]["mean"] ** 2
assert math.isclose(fixed["heat_capacity"]["mean"], variance / (60 * 4), rel_tol=0.05), fixed["heat_capacity"]
assert not [w for w in results["fixed"]["warnings"] if "changed" in w or "stuck" in w], results["fixed"]["warnings"]

# P(N) has every sample, g(r) every hundredth
histogram = results["open"]["points"][0]["curves"]["particles_histogram"]
assert math.isclose(sum(histogram["mean"]), 1, rel_tol=1e-12)
mean = sum(n * p for n, p in zip(histogram["x"], histogram["mean"]))
assert math.isclose(mean, seen["open"]["particles"]["mean"], rel_tol=1e-12), (mean, seen["open"]["particles"])
assert "curves" not in results["fixed"]["points"][0] or not results["fixed"]["points"][0]["curves"]
PYTHON
