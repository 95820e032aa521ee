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

# Dilute boxes: memory for the particles and not for the box, and the same chain with other cells.
for name in wide micro open; do
    system='"particles": 50' box=1e6
    [ $name = open ] && system='"ensemble": "muvt", "activity": 5e-11' box=1e4
    printf '{"sampler": "lj-fluid", "system": {"temperature": 1.5, "box": %s, %s}, "run": {"sweeps": 2000, "curve_every": 0}, "tuning": {%s}}\n' \
        "$box" "$system" "$([ $name = micro ] && echo '"all_pairs": 2, "work_group": 16')" >dilute.json
    expect 0 "$ERGOCL" run dilute.json -q -o dilute-$name
done
grep -q '"digest"' dilute-wide/result.json
[ "$(grep '"digest"' dilute-wide/result.json)" = "$(grep '"digest"' dilute-micro/result.json)" ] || fail "other cells, another chain"
refuse_dilute() { # pointer and reason, sampler, system
    printf '{"sampler": "%s", "system": {%s}, "run": {"sweeps": 1}}\n' "$2" "$3" >dilute.json
    expect 2 "$ERGOCL" validate dilute.json
    says err "$1"
}
refuse_dilute "/system/box: a box of 455111517888 cells; at most 268435455" hard-spheres '"n": 50, "box": [1e4, 1e4, 1e4]'
refuse_dilute "/system/box: a box of 1e+06 x 1e+06 sigma has 500001723664 cells" hard-disks '"n": 50, "box": [1e6, 1e6]'
refuse_dilute "or leave /system/decomposition out" lj-gcmc '"temperature": 2, "activity": 1e-10, "box": 1e4, "decomposition": "checkerboard"'

# Boxes of other sizes take the same programs: numbers of cells and bins are values. On a checkerboard local memory has
# as many places as a neighbourhood needs, unless the job says how many.
options_of() { # device, job, box, tuning
    expect 0 env ERGOCL_PRETEND="$1" "$ERGOCL" kernels --programs programs "$2.json" --device portable \
        --set /run/curve_every=1 --set "/system/box=$3" --set "/tuning/${4:-slots=8}"
    grep -h '"options"' programs/*.json >"$2.options"
    rm -r programs
}
for device in "" mi300x; do
    for name in open fixed board; do
        tuning=$([ $name = board ] && echo tile=256)
        options_of "$device" $name "[6, 7, 6.5]" "$tuning"
        mv $name.options first.options
        options_of "$device" $name "[14, 40, 29]" "$tuning"
        [ -s $name.options ] || fail "$name: no options"
        cmp $name.options first.options || fail "$name: another size of the box is another program"
    done
done

# Bins of four species that a device has no local memory for.
printf '{"sampler": "lj-fluid", "system": {"box": [6, 6, 6], "temperature": 1.5, "cutoff": 1.4, "particles": 40, %s}, "run": {"sweeps": 400, "gr_bins": 1000}}\n' \
    '"species": {"names": "A B C D", "epsilon": [1, 1, 1, 1], "sigma": [1, 1, 1, 1], "fractions": [0.25, 0.25, 0.25, 0.25]}' >bins.json
expect 3 env ERGOCL_PRETEND=mali "$ERGOCL" run bins.json -o bins --device portable
says err "the bins of g(r) need 81024 bytes of local memory, the device has 32768"

# Starts in the last state of another point (/anneal, /start/run) where the potential is another:
# the audit compares sums over pairs. What does not fit is refused with the reason.
fluid() { # system, other keys
    printf '{"sampler": "lj-fluid", "seed": "5", "system": {"temperature": 1.5, "box": [7, 7, 7], %s}, "run": {"equilibration": 0, "sweeps": 2000, "measure_every": 100, "insertions": 0%s}, "output": {"snapshots": 0}, %s}\n' \
        "$1" "${3-, \"curve_every\": 0}" "$2"
}
along() { # pointer, values
    printf '"anneal": "%s", "scan": {"%s": [%s]}' "$1" "$1" "$2"
}
nvt='"ensemble": "nvt", "particles": 120'
gibbs='"ensemble": "gibbs", "particles": 100, "second_particles": 20, "volume_every": 50, "transfers": 20'
fluid "$nvt" "$(along /system/cutoff '2.2, 3.2')" >cutoff.json
fluid "$nvt" "$(along /system/sigma '1, 1.4')" >overlap.json
fluid "$nvt" "$(along /system/particles '100, 120')" >number.json
fluid "$gibbs" "$(along /system/cutoff '2.5, 3.45')" '' >limits.json
fluid "$gibbs" "$(along /system/sigma '1, 0.98')" '' >sigma.json
fluid "$nvt" '"replicas": 1' >first.json
fluid "${nvt/120/100}" '"start": {"run": "first"}' >other.json
fluid "${gibbs/100/90}" '"start": {"run": "sigma", "point": 0}' '' >boxes.json
fluid "$gibbs, \"second_volume\": 300" '"start": {"run": "sigma", "point": 0}' '' >second.json
expect 0 "$ERGOCL" run cutoff.json -o cutoff
expect 0 "$ERGOCL" run sigma.json -o sigma
expect 0 "$ERGOCL" run first.json -o first
expect 2 "$ERGOCL" run overlap.json -o overlap
says err "/anneal: of the 120 particles that point 1 would start with"
expect 2 "$ERGOCL" validate number.json
says err 'found "/system/particles", but N is fixed'
expect 2 "$ERGOCL" run limits.json -o limits
says err "box of the state in which point 1 would start has the volume"
expect 2 "$ERGOCL" run other.json -o other
says err "/system/particles: the job says 100"
dense=(--set /system/box=null --set /system/density=0.35)
expect 0 "$ERGOCL" run first.json -o dense "${dense[@]}"
expect 2 "$ERGOCL" run first.json -o denser "${dense[@]}" --set /system/particles=121 --set '/start={"run": "dense"}'
says err "/system/particles: the job says 121"
expect 2 "$ERGOCL" validate boxes.json
says err "/system/particles = 100, and this job 90"
expect 2 "$ERGOCL" validate second.json
says err "/system/second_volume"

# All pairs in local memory are for numbers that the job says, which a start file does not: that is told.
$python - >start.xyz <<'PYTHON'
print('64\nLattice="6 0 0 0 6 0 0 0 6" Properties=species:S:1:pos:R:3 pbc="T T T"')
for i in range(64):
    print("Ar", 1.5 * (i % 4) + 0.1, 1.5 * (i // 4 % 4) + 0.1, 1.5 * (i // 16) + 0.1)
PYTHON
fluid '"start": "start.xyz", "max_displacement": 0.2' '"replicas": 1' | sed 's/\[7, 7, 7\]/[6, 6, 6]/' >file.json
expect 0 "$ERGOCL" run file.json -o pairs --set /tuning/all_pairs=1
says err "/tuning/all_pairs: 1 is not possible here"
expect 0 "$ERGOCL" run first.json -o whole --set /tuning/all_pairs=1
says_not err "/tuning/all_pairs"
same_digests first whole

# Excess adsorption: a pore and the bulk fluid at the same activities; other activities are told.
cat >pore.json <<'JSON'
{"sampler": "lj-fluid", "seed": "8", "replicas": 2, "system": {"ensemble": "muvt", "box": [6, 6, 6], "temperature": 2, "activity": 0.1, "particles": 20,
 "frozen": {"file": "one.xyz", "epsilon": 1.5, "sigma": 1.1}, "excess_volume": 200}, "run": {"equilibration": 2000, "sweeps": 40000, "measure_every": 40, "curve_every": 0},
 "scan": {"/system/activity": [0.02, 0.05, 0.1]}, "output": {"snapshots": 0}}
JSON
printf '1\n\nC 1 2 3\n' >one.xyz
$python - <<'PYTHON'
import json
job = json.load(open("pore.json"))
del job["system"]["frozen"], job["system"]["excess_volume"]
job["scan"]["/system/activity"] = [0.05, 0.1]
json.dump(job, open("bulk.json", "w"))
PYTHON
expect 0 "$ERGOCL" run pore.json -q -o pore
expect 0 "$ERGOCL" run bulk.json -q -o bulk
expect 0 "$ERGOCL" analyse pore bulk
says out "Excess adsorption; the bulk fluid in a volume of 200" "1 point has no excess adsorption: no run of the bulk fluid"
expect 0 "$ERGOCL" analyse pore bulk --json
$python - <<'PYTHON' || fail "the excess is not what was adsorbed less the bulk"
import json, math

rows = json.load(open("out"))["excess_adsorption"]
assert [round(math.exp(r["log_activity"]), 9) for r in rows] == [0.05, 0.1], rows
points = {name: {p["parameters"]["/system/activity"]: [] for p in json.load(open(f"{name}/result.json"))["points"]} for name in ("pore", "bulk")}
for name, of in points.items():
    for p in json.load(open(f"{name}/result.json"))["points"]:
        of[p["parameters"]["/system/activity"]].append(p["observables"])
for r in rows:
    z = round(math.exp(r["log_activity"]), 9)
    n = sum(o["particles"]["mean"] for o in points["pore"][z]) / 2
    rho = sum(o["density"]["mean"] for o in points["bulk"][z]) / 2
    assert math.isclose(r["excess"]["mean"], n - 200 * rho, abs_tol=1e-9), r
    assert math.isclose(r["excess"]["error"], math.hypot(r["particles"]["error"], 200 * r["bulk_density"]["error"]), rel_tol=1e-9), r
PYTHON

# What is not the fluid of the pore's reservoir: N fixed as in a window of a transition matrix, or a tail correction.
$python - <<'PYTHON'
import json
job = json.load(open("bulk.json"))
del job["scan"]
job["run"] = {"equilibration": 200, "sweeps": 2000, "measure_every": 40, "curve_every": 0}
json.dump({**job, "run": {**job["run"], "method": "transition-matrix"}}, open("matrix.json", "w"))
json.dump({**job, "system": {**job["system"], "tail_correction": True}}, open("tailed.json", "w"))
PYTHON
for name in matrix tailed; do
    expect 0 "$ERGOCL" run $name.json -q -o $name
    expect 0 "$ERGOCL" analyse pore $name
    says out "3 points have no excess adsorption: no run of the bulk fluid with method sample"
    says_not out "Excess adsorption;"
done

# What newcomers write: each word is told what it is called here, each unit where it matters.
"$ERGOCL" new lj-fluid nvt >new.json
while IFS='|' read -r set said; do
    expect 2 "$ERGOCL" validate new.json --set "$set"
    says err "$said"
done <<'WRONG'
/system/Temp=1|/system/Temp: unknown key; did you mean "temperature"
/system/r_cut=3|/system/r_cut: unknown key; did you mean "cutoff"
/system/LRC=true|did you mean "tail_correction"
/system/N=100|did you mean "particles"
/system/ensemble=GCMC|did you mean "muvt"
/system/ensemble=gemc|did you mean "gibbs"
/sampler=lj|did you mean "lj-fluid"
/system/temperature=120|/system/epsilon, here 1, is in K, too
temperature=2|e.g. /system/temperature=2
sweeps=2|e.g. /run/sweeps=2
seed=2|e.g. /seed=2
run/sweeps=2|e.g. /run/sweeps=2
WRONG
expect 2 "$ERGOCL" validate new.json --set /system/sigma=3.4 --set "/system/box=[40,40,40]" --set /system/cutoff=null
says err "/system/cutoff: absent, and its default of 2.5 is below sigma, 3.4" "8.5 is 2.5 sigma"
expect 0 "$ERGOCL" validate new.json --set /system/sigma=3.4 --set "/system/box=[40,40,40]" --set /system/cutoff=3
expect 2 "$ERGOCL" validate new.json --temperature=2
says err "keys of the job: --set /system/NAME=VALUE"

# Where an analysis has nothing to say it says so.
"$ERGOCL" new lj-fluid gibbs >gibbs.json
expect 0 "$ERGOCL" run gibbs.json -q -o gibbs --set /run/sweeps=2000 --set /run/equilibration=0 --set '/scan={"/system/temperature": [1, 1.1]}'
expect 0 "$ERGOCL" analyse gibbs
says out "note: nothing to add to what \`ergocl table\` prints: no point has several chains, and samples of this model are not weighted"
