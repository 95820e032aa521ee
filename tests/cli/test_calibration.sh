#!/usr/bin/env bash
# A scan over a key whose 0 is the reference (lambda of spin-lattice): table, result.json and report
# say which points agree with it, with the numbers.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

cat >job.json <<'JOB'
{
  "sampler": "spin-lattice", "seed": "3",
  "system": { "model": "north-east", "size": [64, 64], "up_density": 0.42, "method": "lambda", "realisations": 640 },
  "run": { "sweeps": 4, "measure_every": 1 },
  "scan": { "/system/lambda": [0, 4, 512] }, "output": { "snapshots": 0 }
}
JOB
expect 0 "$ERGOCL" run job.json -o run
sentence="/system/lambda against 0: within error, that is |z| < 4 in every curve: 4; not: 512 ("
says out "z(ref)" "$sentence"
says run/result.json "$sentence"
says run/report.html "/system/lambda against 0" "from the reference"
$python - <<'PYTHON' || fail "the numbers do not say so"
import json, math

reference, few, many = json.load(open("run/result.json"))["points"]
assert "reference" not in reference["observables"]["phi_mean"]
for point in few, many:
    ours, theirs = (p["observables"]["phi_mean"] for p in (point, reference))
    assert ours["reference"] == theirs["mean"] and ours["reference_error"] == theirs["error"]
    z = (ours["mean"] - theirs["mean"]) / math.hypot(ours["error"], theirs["error"])
    assert abs(z - ours["reference_z"]) < 1e-9 * abs(z), (z, ours)
worst = {name: max(abs(z) for c in p["curves"].values() for z in c["reference_z"] if z is not None)
         for name, p in (("few", few), ("many", many))}
assert worst["few"] < 4 < worst["many"], worst
PYTHON

# one group of realisations has no error, and nothing is claimed
expect 0 "$ERGOCL" run job.json -o alone --set /system/realisations=32
says out "without errors, so they cannot be compared: 4, 512"

# Steps by factors have a logarithmic axis, the 0 behind a break in it (two strokes of "l3 -9"), on a
# run's page and on one of several runs.
scan=(--set /system/realisations=32 --set '/scan={"/system/lambda":[0,1,2,4,8,16]}' --quiet)
expect 0 "$ERGOCL" run job.json -o factors "${scan[@]}"
expect 0 "$ERGOCL" run job.json -o again "${scan[@]}" --set /seed=4
expect 0 "$ERGOCL" report factors again -o both.html
$python - run/report.html factors/report.html both.html <<'PYTHON' || fail "the axes are not as they should be"
import re, sys

def axis(page, name):
    """Labels under the first figure of the name, and the strokes of its break."""
    figure = open(page, encoding="utf-8").read().split(f"<figcaption><b>{name}</b>")[1].split("</figure>")[0]
    return re.findall(r'text-anchor="middle" x="[^"]*" y="[^"]*">(\d+)<', figure), figure.count("l3 -9")

steps, factors, several = (axis(page, "phi mean") for page in sys.argv[1:])
assert steps == (["0", "100", "200", "300", "400", "500"], 0), steps
assert factors == several and factors[0] == ["0", "1", "10"] and factors[1] == 2, (factors, several)
PYTHON
