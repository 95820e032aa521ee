#!/usr/bin/env bash
# shellcheck disable=SC2016 # backquotes are of Markdown
# Example jobs run, shortened, and every command of README.md does what it says there. Per push one of
# each sampler, with $ERGOCL_TEST_FULL every one (test_validate.sh validates them all).
. "$ERGOCL_ROOT/tests/cli/lib.sh"

# The job with a few measurements, of a system small enough for seconds.
shorten() {
    $python - "$1" <<'PYTHON'
import json, pathlib, sys
SMALLER = {
    "disks-large": {"n": 16384, "cells": 122}, "disks-table2": {"n": 4096}, "helium-512-gpu": {"walkers": 16, "start_walkers": 4, "start_steps": 16},
    "helium-paper": {"walkers": 2}, "ising-large": {"size": [512, 512]}, "lj-checkerboard": {"box": [27.6] * 3, "particles": 12000},
    "north-east": {"realisations": 64}, "north-east-lambda": {"realisations": 64, "size": [64, 64]},
    "north-east-large": {"realisations": 64, "size": [128, 128]}, "fredrickson-andersen": {"realisations": 64}, "ageing": {"realisations": 96},
    "potts-cut": {"size": [256, 256]}, "ising-cut": {"size": [256, 256]}, "spin-glass": {"samples": 64},
    "sherrington-kirkpatrick": {"samples": 8}, "random-orthogonal": {"samples": 8}, "east": {"realisations": 64, "size": [512]},
}
path = pathlib.Path(sys.argv[1])
job = json.loads(path.read_text())
run = job["run"]
every = run["measure_every"] = min(run.get("measure_every", 1), 1000 if job["sampler"] == "lj-gcmc" else 20)
run["sweeps"] = min(run["sweeps"], max(8, 8 * every))
if "equilibration" in run:
    run["equilibration"] = min(run["equilibration"], max(32, 2 * every))
if "optimise_updates" in run:
    run["optimise_updates"], run["optimise_every"] = 4, 1
job["replicas"] = min(job.get("replicas", 1), 2)
for values in job.get("scan", {}).values():
    if isinstance(values, list):
        del values[3:]
job["system"].update(SMALLER.get(path.stem, {}))
print(json.dumps(job))
PYTHON
}
ran=0 ERGOCL_TEST_FULL=${ERGOCL_TEST_FULL:-}
for job in "$ERGOCL_ROOT"/data/jobs/*.json; do
    name=$(basename "$job" .json)
    case $name in
    quickstart | disks-equation-of-state | helium-64 | lj-isotherm | potts-q3) ;;
    *) [ -n "${ERGOCL_TEST_FULL:-}" ] || continue ;;
    esac
    shorten "$job" >"$name.json"
    expect 0 "$ERGOCL" run "$name.json" --quiet
    says "$name/result.json" '"complete"'
    says "$name/report.html" "<h2>Values</h2>"
    ran=$((ran + 1))
done
[ $ran -ge $((${#ERGOCL_TEST_FULL} > 0 ? 27 : 5)) ] || fail "only $ran example jobs"

# README: its job, its commands, in their order.
mkdir readme
sed -n '/^```json$/,/^```$/p' "$ERGOCL_ROOT/README.md" | sed '/^```/d' >whole.json
$python - whole.json >readme/job.json <<'PYTHON' || fail "README's job is not the quickstart"
import json, os, sys
job = json.load(open(sys.argv[1]))
same = json.load(open(os.environ["ERGOCL_ROOT"] + "/data/jobs/quickstart.json"))
if any(job[key] != same[key] for key in job):
    sys.exit(1)
job["run"]["sweeps"] = 2000
print(json.dumps(job))
PYTHON
commands=0
while read -r line; do
    line=${line%%#*}
    read -r -a words <<<"${line/--device gpu/}"
    [ "${words[1]}" != tune ] || words+=(--seconds 2 -o profile.json)
    words=("${words[@]/sweeps=600000/sweeps=4000}") # twice as long, as on the page
    expect 0 env -C readme POCL_DEVICES=pthread "$ERGOCL" "${words[@]:1}" # a machine of one device
    commands=$((commands + 1))
done < <(grep '^ergocl ' "$ERGOCL_ROOT/README.md")
[ $commands -ge 10 ] || fail "only $commands commands in README.md"
[ -s readme/page.html ] || fail "no page.html"
