#!/usr/bin/env bash
# A run and what it leaves: files, table, folders, and where programs are started from.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
small_job >job.json

expect 0 "$ERGOCL" run job.json -o first
says out energy first/result.json first/series.h5 first/report.html
says_not err $'\r' ETA # no bar without a terminal
for file in result.json series.h5 report.html; do
    [ -s "first/$file" ] || fail "no first/$file"
done
$python - <<'PYTHON' || fail "result.json or series.h5 is not as documented"
import json, math
import h5py

result = json.load(open("first/result.json"))
assert result["sampler"] == "spin-lattice" and result["seed"] == "11"
assert result["status"] == "complete" and result["ergocl"]
assert {"rank", "id", "name", "driver"} <= result["device"][0].keys()
assert {"value", "unit", "seconds"} <= result["rate"].keys()
assert [p["parameters"]["/system/temperature"] for p in result["points"]] == [2.2, 2.3]
for point in result["points"]:
    assert point["replica"] == 0 and len(point["digest"]) == 16
    assert point["steps"] == 2100, point["steps"]
    for name in ("energy", "magnetization", "abs_magnetization", "heat_capacity", "binder"):
        o = point["observables"][name]
        assert {"mean", "error", "tau", "samples", "unit"} <= o.keys(), o
        assert math.isfinite(o["mean"]) and o["samples"] == 200, o
    assert -2 < point["observables"]["energy"]["mean"] < -0.5
a, b = result["points"]
assert a["digest"] != b["digest"]
with h5py.File("first/series.h5") as file:
    energy, skip = file["samples/energy"], file["points/equilibration_samples"]
    for i, point in enumerate(result["points"]):
        mean = energy[i, skip[i]:].mean()
        assert abs(mean - point["observables"]["energy"]["mean"]) < 1e-9
    assert len(file["samples/step"]) == energy.shape[1]
PYTHON

# what is not asked for is in no file; of clusters nothing is measured where nothing of them is
cat >spins.json <<'JOB'
{ "sampler": "swendsen-wang", "system": { "size": [40, 30], "temperature": 1.2 },
  "run": { "sweeps": 40, "observables": "energy,susceptibility" }, "output": { "blocks": 4 } }
JOB
expect 0 "$ERGOCL" run spins.json -o spins
says out energy susceptibility
says_not out psi2 clusters
says_not spins/report.html moment_ratio binder '>wrapping'
expect 0 "$ERGOCL" run spins.json -o whole --set /run/observables=all
[ "$(digests spins)" = "$(digests whole)" ] || fail "the chain depends on what is asked for"
$python - <<'PYTHON' || fail "not what was asked for"
import json
import h5py
import numpy

a, b = (json.load(open(f"{f}/result.json"))["points"][0] for f in ("spins", "whole"))
assert set(a["observables"]) == {"energy", "susceptibility"}, a["observables"].keys()
assert all(b["observables"][name] == o for name, o in a["observables"].items())
assert "cluster_sizes" in b["curves"] and not a.get("curves")
with h5py.File("spins/series.h5") as some, h5py.File("whole/series.h5") as full:
    assert set(some["observables"]) == {"energy", "susceptibility"}, list(some["observables"])
    assert set(some["blocks"]) == {"energy"}, list(some["blocks"])
    some, full = some["samples"], full["samples"]
    columns = set(full)
    assert columns - set(some) == {"psi2", "psi4", "clusters", "largest_cluster", "wrapping"}, set(some)
    for name in columns & set(some):
        assert numpy.array_equal(some[name], full[name]), name
PYTHON

# the folder is not written over by accident
expect 2 "$ERGOCL" run job.json -o first
says err first --overwrite resume
expect 0 "$ERGOCL" run job.json -o first --overwrite --set /seed=12
cp -r first other-seed
expect 0 "$ERGOCL" run job.json -o first --overwrite
expect 0 "$ERGOCL" run job.json -o again --quiet
[ -z "$(cat out err)" ] || fail "--quiet is not quiet: $(cat out err)"
same_results first again
[ "$(digests first)" != "$(digests other-seed)" ] || fail "the seed does not matter"

# a finished run is only reported
expect 0 "$ERGOCL" resume first
says out energy
same_results first again
expect 4 "$ERGOCL" resume nothing-here
says err nothing-here

# the default folder; other working directories; names with spaces and other letters
expect 0 "$ERGOCL" run job.json
same_results first job
mkdir -p "jobs here" "elsewhere/deep"
cp job.json "jobs here/a job, größer.json"
(cd elsewhere/deep && expect 0 "$ERGOCL" run "../../jobs here/a job, größer.json" -o "../../out put/é 1/" &&
    says out "../../out put/é 1/result.json") || exit 1
same_results first "out put/é 1"
(cd elsewhere && expect 0 "$ERGOCL" run "../jobs here/a job, größer.json") || exit 1
same_results first "elsewhere/a job, größer"
"$ERGOCL" run - -o from-stdin <job.json >/dev/null || fail "a job on standard input"
same_results first from-stdin

# a scan is not more than its points
expect 0 "$ERGOCL" run job.json -o single --set '/scan={}' --set /system/temperature=2.3
[ "$(digests single)" = "$(digests first | tail -n 1)" ] || fail "a point depends on its scan"

# progress on a terminal, and only there
if has_terminal; then
    TERM=xterm script -qec "stty cols 60; \"$ERGOCL\" run job.json -o bar --set /run/sweeps=100000" /dev/null >out </dev/null
    says out ETA "updates" $'\r'
    tr '\r' '\n' <out | sed -n 's/\x1b\[K//g; /ETA/p' | awk 'length > 60 { exit 1 }' || fail "the bar is wider than the terminal"
fi

# Warnings about errors: what is slow by its physics is told from what is only too short.
slow=(--set '/system/size=[16,16]' --set /system/start=up --set '/scan={}' --set /system/temperature=2.1)
expect 0 "$ERGOCL" run job.json -o slow "${slow[@]}" --set /run/sweeps=100000
says out "the error of magnetization cannot be trusted: " "changes sign only as a whole"
[ "$(grep -c warning: out)" -eq 1 ] || fail "one point, one warning: $(grep warning: out)"
says slow/result.json "the error of magnetization cannot be trusted"
expect 0 "$ERGOCL" run job.json -o short "${slow[@]}" --set /run/sweeps=200
says out "the run is too short" "of energy, abs_magnetization" ", magnetization, " "run longer"
[ "$(grep -c warning: out)" -eq 1 ] || fail "one point, one warning: $(grep warning: out)"
expect 0 "$ERGOCL" run job.json -o field "${slow[@]}" --set /run/sweeps=100000 --set /system/field=1e-4
says out "of magnetization: run longer" # m has a mean here, which a longer run finds
says_not out "cannot be trusted"
