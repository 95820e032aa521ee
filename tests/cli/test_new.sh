#!/usr/bin/env bash
# First steps: ergocl new writes a job of every sampler and model that validates and runs; examples lists
# those of data/jobs; names that were meant are told; help is searched.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

models() { # of a sampler: its models, or an empty line
    "$ERGOCL" help "$1" | sed -n '/^Models/,/^The key/s/^  \([a-z-]*\)$/\1/p' | grep . || echo
}
for sampler in $(samplers); do
    for model in "" $(models "$sampler"); do
        name=$sampler${model:+-$model}
        # shellcheck disable=SC2086 # no model is no word
        expect 0 "$ERGOCL" new "$sampler" $model -o "$name.json"
        says err "ergocl run $name.json"
        expect 0 "$ERGOCL" validate "$name.json"
        # a hundredth of it: that it runs is the point
        $python - "$name.json" <<'PYTHON' || fail "$name.json is not what it was to be"
import json, sys
job = json.load(open(sys.argv[1]))
run = job["run"]
assert job["sampler"] and job["system"] and run["sweeps"] >= 500, job
# samples of helium-dmc that look back need so long an equilibration
run["equilibration"] = max(run.get("equilibration", 0) // 20, job["system"].get("forward_steps", 0))
run["sweeps"] = max(run["sweeps"] // 100, 4 * run.get("measure_every", 1))
json.dump(job, open("short.json", "w"))
PYTHON
        expect 0 "$ERGOCL" run short.json -q --overwrite -o short
        says short/result.json '"complete"'
    done
done
expect 0 "$ERGOCL" new
says out '"model": "ising"' '"size": [32, 32]'
expect 0 "$ERGOCL" new potts # a model alone
says out '"sampler": "spin-lattice"' '"model": "potts"'
expect 4 "$ERGOCL" new potts -o spin-lattice-potts.json
says err "spin-lattice-potts.json" "--overwrite"
expect 0 "$ERGOCL" new potts -o spin-lattice-potts.json --overwrite
expect 0 "$ERGOCL" new potts -o -
cmp out spin-lattice-potts.json || fail "new -o - prints another job"
if [ -e - ] || [ -s err ]; then fail "new -o - writes elsewhere: $(cat err)"; fi
for command in "run spin-lattice-potts.json" "tune spin-lattice-potts.json" bench; do
    # shellcheck disable=SC2086 # words
    expect 2 "$ERGOCL" $command -o -
    says err 'standard output' '"./-"'
    [ ! -e - ] || fail "ergocl $command -o - wrote something"
done
expect 2 "$ERGOCL" new isng
says err '"isng"' 'did you mean "ising"?' "hard-disks"
expect 2 "$ERGOCL" new spin-lattice temperature
says err "no sampler or model"

# A model's name where a sampler's belongs.
echo '{ "sampler": "ising", "run": { "sweeps": 10 } }' >ising.json
expect 2 "$ERGOCL" validate ising.json
says err '"sampler": "spin-lattice"' '"model": "ising"'
echo '{ "sampler": "isinh", "run": { "sweeps": 10 } }' >isinh.json
expect 2 "$ERGOCL" validate isinh.json
says_not err "is a model of"

# The examples: each with a sentence and, last, a time.
expect 0 "$ERGOCL" examples
cp out list
for job in "$ERGOCL_ROOT"/data/jobs/*.json; do
    grep -q "^$(basename "$job" .json)  (" list || fail "examples lacks $job"
done
$python - "$ERGOCL_ROOT"/data/jobs/*.json <<'PYTHON' || fail "an example does not say how long it takes"
import json, re, sys
for path in sys.argv[1:]:
    text = json.load(open(path)).get("description", "")
    if not re.search(r"[Ss]econd|[Mm]inute|[Hh]our|a GPU", text) and "for mpirun" not in text:
        sys.exit(f"{path}: {text!r}")
PYTHON
expect 0 "$ERGOCL" examples quickstart
cmp out "$ERGOCL_ROOT/data/jobs/quickstart.json" || fail "another quickstart"
expect 2 "$ERGOCL" examples quikstart
says err 'did you mean "quickstart"?'
mkdir -p alone && cp "$ERGOCL" alone/ergocl
expect 4 alone/ergocl examples
says err "make install"

# Search: what is called so before what mentions it; every word counts, in any case.
expect 0 "$ERGOCL" help --search temperature
says out "/system/temperature" "spin-lattice ising"
[ "$(grep -n '^key /system/temperature' out | head -n 1 | cut -d: -f1)" -lt \
    "$(grep -n '^observable heat_capacity' out | head -n 1 | cut -d: -f1 || echo 99999)" ] 2>/dev/null ||
    grep -q '^observable heat_capacity' out && fail "heat capacities before temperatures"
expect 0 "$ERGOCL" help --search "HEAT capacity"
says out "observable heat_capacity [k_B per site]" "swendsen-wang"
says_not out "key /system/size"
expect 2 "$ERGOCL" help --search fliegenpilz
says err "fliegenpilz"
expect 2 "$ERGOCL" help --search " "
expect 2 "$ERGOCL" help gsd # no name, but a word of a text
says err 'ergocl help --search "gsd"'
expect 2 "$ERGOCL" help fliegenpilz
says_not err "--search"
expect 0 "$ERGOCL" new nvt # a name of several samplers' models
says out "other samplers have one, too: hard-spheres, lj-fluid"
expect 0 "$ERGOCL" help nvt
says out "Other samplers have one, too: hard-spheres nvt, lj-fluid nvt"
