#!/usr/bin/env bash
# Which errors are given, which are refused, and why; comparison of replicas. Terminal, result.json
# and page show the same list.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

# everywhere FOLDER TEXT...: the last command's output, result.json and the page say it.
everywhere() {
    local folder=$1
    shift
    says out "$@"
    says "$folder/result.json" "$@"
    says "$folder/report.html" "$@"
}

# check NAME <<PYTHON: `points`, `means`, `warnings` of NAME/result.json.
check() {
    { echo "import json, math, sys
result = json.load(open('$1/result.json'))
points, means, warnings = result['points'], result.get('means', []), result['warnings']"; cat; } >check.py
    $python check.py || fail "$1"
}

# Never changed in four samples: its error is unknown. (It was 0, with tau 0.5.)
cat >few.json <<'JSON'
{ "sampler": "swendsen-wang", "seed": "5", "system": { "size": [16, 16], "q": 2, "temperature": 0.8 },
  "run": { "equilibration": 20, "sweeps": 4, "measure_every": 1 }, "output": { "snapshots": 0 } }
JSON
expect 0 "$ERGOCL" run few.json -o few
check few <<'PYTHON'
o = points[0]["observables"]["wrapping"]
assert o["mean"] == 1 and o["samples"] == 4, o
assert o["error"] is None and o["tau"] is None and o["untrusted"] == "constant", o
PYTHON
everywhere few "wrapping: not one change in so few samples; run longer"

# Where theory knows that there is nothing else, 0 is an error: the ground state, to 9 digits.
cat >ising.json <<'JSON'
{ "sampler": "spin-lattice", "seed": "5", "system": { "size": [32, 32], "temperature": 0.1, "start": "up" },
  "run": { "equilibration": 100, "sweeps": 4000, "measure_every": 4, "correlation_every": 0 }, "output": { "snapshots": 0 } }
JSON
expect 0 "$ERGOCL" run ising.json -o cold
check cold <<'PYTHON'
o = points[0]["observables"]
assert o["energy"]["error"] == 0 and "untrusted" not in o["energy"] and o["energy"]["z"] == 0, o
assert o["abs_magnetization"]["error"] is None and o["abs_magnetization"]["untrusted"] == "constant", o
assert not means
PYTHON
says_not out warning

# Too short: the mean, no error, the reason; and nothing that is compared by such an error.
expect 0 "$ERGOCL" run ising.json -o short --set /system/temperature=2.27 --set /run/sweeps=400
check short <<'PYTHON'
o = points[0]["observables"]["energy"]
assert o["error"] is None and o["too_short"] is True and o["untrusted"] == "too-short", o
assert o["error_binning"] > 0 and o["tau"] > 0 and o["z"] is None and math.isfinite(o["exact"]), o
PYTHON
everywhere short "too short, or too correlated, for trustworthy errors of energy" "run longer"
says out "(?)"

# Stopped before the first sample: that is said, and neither dashes nor "too short".
expect 75 "$ERGOCL" run ising.json -o stopped --set /wall_time=0.1 --set /run/equilibration=1000000000
everywhere stopped "nothing is measured yet: stopped after " " of 1000000000 equilibration sweeps; ergocl resume continues"
says_not out "too short" "energy" " - "
says_not stopped/result.json too_short
says_not stopped/report.html "too short" "<h2>Values"
check stopped <<'PYTHON'
o = points[0]["observables"]["energy"]
assert o["mean"] is None and o["error"] is None and o["untrusted"] == "not-measured" and o["samples"] == 0, o
assert points[0]["steps"] > 0 and len(warnings) == 1
PYTHON

# Replicas that agree: a mean at every point, always, with both errors; no warning.
expect 0 "$ERGOCL" run ising.json -o agree --set /replicas=6 --set /system/size='[16,16]' \
    --set '/scan={"/system/temperature":[2.2,2.6]}' --set /run/sweeps=20000 --set /run/equilibration=1000 \
    --set '/run/observables="energy,heat_capacity,abs_magnetization"'
says_not out warning
says out "mean: over the replicas of a point"
says agree/report.html "<td>mean</td>"
check agree <<'PYTHON'
assert [m["parameters"]["/system/temperature"] for m in means] == [2.2, 2.6] and not warnings
for k, mean in enumerate(means):
    assert mean["replicas"] == mean["measured"] == 6 and "apart" not in mean
    for name, o in mean["observables"].items():
        chains = [p["observables"][name] for p in points[6 * k:6 * k + 6]]
        m = sum(c["mean"] for c in chains) / 6
        variance = sum((c["mean"] - m)**2 for c in chains) / 5
        squares = sum(c["error"]**2 for c in chains)
        near = lambda a, b: abs(a - b) <= 1e-9 * abs(b)
        assert near(o["mean"], m) and near(o["error_scatter"], (variance / 6)**0.5), (name, o)
        assert near(o["error_chains"], squares**0.5 / 6) and o["error"] == o["error_chains"], (name, o)
        assert near(o["chi2"], 5 * variance / (squares / 6)) and o["dof"] == 5 and o["samples"] == 30000
        if "exact" in o:
            assert near(o["z"], (o["mean"] - o["exact"]) / o["error"]) and abs(o["z"]) < 4, o
PYTHON

# Stuck chains: in a field some stay in the state of the wrong sign. Their own errors are small.
expect 0 "$ERGOCL" run ising.json -o stuck --set /replicas=32 --set /system/size='[4,4]' --set /system/temperature=1.5 \
    --set /system/field=0.3 --set /system/start='"random"' --set /run/equilibration=20 --set /run/sweeps=300 \
    --set /run/measure_every=1
everywhere stuck "replicas disagree, and their mean has no trustworthy error: " "apart from the others: replicas "
check stuck <<'PYTHON'
mean, = means
o = mean["observables"]["magnetization"]
assert o["error"] is None and o["untrusted"] == "replicas-disagree" and o["chi2"] > 1e4, o
assert o["error_scatter"] > 0.01 and 0 < o["mean"] < 1
down = [p["replica"] for p in points if p["observables"]["magnetization"]["mean"] < 0]
assert len(down) >= 3 and set(down) <= set(mean["apart"]) and len(mean["apart"]) < 16, (down, mean["apart"])
PYTHON

# Stripes of a random start below Tc: energy far from the others, named; none from "up".
stripes=(--set /replicas=64 --set /system/size='[64,64]' --set /system/temperature=1.8 --set /run/equilibration=400)
expect 0 "$ERGOCL" run ising.json -o stripes "${stripes[@]}" --set /system/start='"random"'
everywhere stripes "replicas disagree, and their mean has no trustworthy error: energy from " " of 64"
check stripes <<'PYTHON'
mean, = means
energy = mean["observables"]["energy"]
assert energy["error"] is None and energy["untrusted"] == "replicas-disagree" and energy["z"] is None, energy
spread = [(p["observables"]["energy"]["mean"], p["replica"]) for p in points]
middle = sorted(spread)[32][0]
far = {r for e, r in spread if e > middle + 0.03}
assert far and far <= set(mean["apart"]) and len(mean["apart"]) < 32, (far, mean["apart"])
# what such a mean would have been worth
off = (energy["mean"] - energy["exact"]) / energy["error_scatter"]
print("off by %.1f of the scatter" % off)
PYTHON
expect 0 "$ERGOCL" run ising.json -o up "${stripes[@]}"
says_not out warning
check up <<'PYTHON'
o = means[0]["observables"]["energy"]
assert abs(o["z"]) < 4 and 30 < o["chi2"] < 110 and o["dof"] == 63, o
PYTHON

# A transition of first order: some have found the ordered phase, each chain for itself looks fine.
cat >potts.json <<'JSON'
{ "sampler": "swendsen-wang", "seed": "5", "replicas": 12, "system": { "size": [24, 24], "q": 20, "temperature": 0.582 },
  "run": { "equilibration": 2000, "sweeps": 2000, "observables": "energy,order_parameter" }, "output": { "snapshots": 0 } }
JSON
expect 0 "$ERGOCL" run potts.json -o potts
everywhere potts "replicas disagree" "energy from 0.2" "apart from the others: replicas 1, 3 of 12. Also order_parameter"
