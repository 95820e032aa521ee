#!/usr/bin/env bash
# helium-vmc and helium-dmc for their users: pair functions from files, walkers from files, block averages,
# how often to measure.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

# Lennard-Jones and Schiff-Verlet as files: the named forms' physics (another stream, as the job is
# another one).
awk 'BEGIN { print "# r V"; for (r = 1.5; r < 12; r += 0.01) { y = (2.556 / r) ^ 6;
    printf "%.6f %.14g\n", r, 4 * 10.22 * (y * y - y) } }' >lj.txt
awk 'BEGIN { print "# r f"; for (r = 1.2; r < 12; r += 0.01) printf "%.6f %.14g\n", r,
    -0.5 * (2.9 / r) ^ 5 }' >sv.txt
job() { # job SYSTEM
    cat <<JSON
{ "sampler": "helium-vmc", "seed": "7", "system": { "n": 32, "b": 2.9, "walkers": 8, "potential": "lennard-jones" $1 },
  "run": { "equilibration": 100, "sweeps": 1200, "measure_every": 4, "structure_every": 0, "frame_walkers": 3 },
  "output": { "blocks": 5 } }
JSON
}
job '' >named.json
job ', "wave_function": "./sv.txt"' | sed 's/lennard-jones/lj.txt/; s/"b": 2.9, //' >files.json
expect 0 "$ERGOCL" run named.json -o short --set /run/sweeps=20 # too few samples for an optimum
says_not out b_optimum
says out 'also measured' ln_psi
expect 0 "$ERGOCL" run named.json
expect 0 "$ERGOCL" run files.json
$python - <<'PYTHON' || fail "files and named forms differ"
import json, sys
a, b = (json.load(open(x + "/result.json"))["points"][0]["observables"] for x in ("named", "files"))
worst = 0
for name in ("energy", "potential", "kinetic", "pressure", "acceptance"):
    z = (a[name]["mean"] - b[name]["mean"]) / (a[name]["error"] ** 2 + b[name]["error"] ** 2) ** 0.5
    print(name, a[name]["mean"], b[name]["mean"], "z = %.2f" % z)
    worst = max(worst, abs(z))
sys.exit(worst > 4)
PYTHON

# the blocks' averages are those of the series
$python - <<'PYTHON' || fail "blocks"
import sys
import h5py
rows = [[float(x) for x in line.split()] for line in open("named/blocks/p000000.dat") if line[0] != "#"]
with h5py.File("named/series.h5") as f:
    skip = f["points/equilibration_samples"][0]
    energy = (f["samples/potential"][0] + f["samples/kinetic_laplacian"][0])[skip:]
    stored = f["blocks/energy"][0]
if len(rows) != 5 or len(energy) != 300:
    sys.exit("%d blocks, %d samples" % (len(rows), len(energy)))
for k, row in enumerate(rows):
    mean = energy[60 * k:60 * k + 60].mean()
    if row[0] != k + 1 or abs(row[1] - mean) > 1e-7 or abs(stored[k] - mean) > 1e-9:
        sys.exit("block %d: %s, %s, expected %s" % (k + 1, row[1], stored[k], mean))
PYTHON
says named/blocks/p000000.dat '# block  energy/K per atom  potential'

# what files are refused for
expect 4 "$ERGOCL" run files.json -o x --set /system/potential='"no/such.txt"'
says err 'no/such.txt'
printf '1 2\n2 3\n2 4\n5 6\n' >bad.txt
expect 4 "$ERGOCL" run files.json -o x --set /system/potential='"bad.txt"'
says err 'bad.txt, line 3: the distance does not follow'
printf '1 2\n2 3\n3 4\n4 6\n' >short.txt
expect 2 "$ERGOCL" run files.json -o x --set /system/potential='"short.txt"'
says err '/system/potential: short.txt ends at 4 A; up to half the shortest side'
expect 2 "$ERGOCL" run files.json -o x --set /system/wave_function='"short.txt"'
says err '/system/wave_function: short.txt ends at 4 A' '/system/symmetrised false'
awk 'BEGIN { for (r = 1; r < 15; r += 0.1) print r, -0.5 * (2.9 / r) ^ 5 }' >slope.txt
expect 2 "$ERGOCL" validate files.json --set /system/wave_function='"./slope.txt"' --set /system/symmetrised=false
says err '/system/symmetrised: false: f of ./slope.txt has the slope' 'Let f become flat'
expect 2 "$ERGOCL" run named.json -o x --set /system/potential='"aziz"'
says err 'allowed: "aziz-hfd-b-he", "aziz-hfdhe2", "aziz-hfd-b3-fci1", "lennard-jones", or the name of a file'
for density in 1e-17 5e-324; do # (the smallest number was a segmentation fault)
    expect 2 "$ERGOCL" run named.json -o x --set /system/density=$density
    says err '/system/density: ' 'at most 1e6 A'
done
expect 2 "$ERGOCL" run files.json -o x --set /run/optimise='"b"'
says err '/run/optimise'
expect 2 "$ERGOCL" validate named.json --set /run/optimise='"b"'
says err '/run/optimise: takes every /run/structure_every-th measurement, and that is 0'

# what no sum of energies can hold, or what V would be cut for
expect 2 "$ERGOCL" validate named.json --set /system/b=0.8
says err '/system/b: 0.8 A lets pairs come closer than 0.5 A' 'At least 0.91'
expect 2 "$ERGOCL" validate named.json --set /system/b=0
says err '/system/b: 0: the mean of the lennard-jones potential' 'infinite'
expect 2 "$ERGOCL" validate named.json --set /system/sigma=100 --set /system/epsilon=1e6
says err '/system/potential: the potential energy of an atom can come to'
expect 2 "$ERGOCL" validate named.json --set /system/mass=1e-25
says err '/system/mass: the kinetic energy of an atom can come to' 'Use a larger mass'
expect 2 "$ERGOCL" validate files.json --set /system/tail_correction=true
says err '/system/tail_correction: has no effect' 'on named potentials'

# 200 atoms almost in one place, which no chain comes to: not a sample with it, nor a device that is wrong
awk 'BEGIN { side = (200 / 0.02186) ^ (1 / 3); for (f = 0; f < 2; f++) {
    printf "200\nLattice=\"%.9f 0 0 0 %.9f 0 0 0 %.9f\" Properties=species:S:1:pos:R:3\n", side, side, side
    for (i = 0; i < 200; i++) if (f == 0) printf "He %.7f 1 1\n", 1 + i * 1e-7; else
        printf "He %.6f %.6f %.6f\n", i % 6 * side / 6.1, int(i / 6) % 6 * side / 6.1, int(i / 36) * side / 6.1 } }' \
    >heap.xyz
for walkers in 1 2; do # the last one is audited, all are measured
    expect 2 "$ERGOCL" run named.json -o heap --overwrite --set /system/n=200 --set /system/walkers=$walkers --set /system/epsilon=1e6 --set /system/b=2 --set /system/displacement=1e-9 --set /system/start='"heap.xyz"'
    says err '/system/potential: at macroupdate' 'of an atom is beyond' 'No mean would be right'
done

# tails: the same chain, more of the energy
expect 0 "$ERGOCL" run named.json -o tail --set /system/tail_correction=true
same_digests named tail
$python - <<'PYTHON' || fail "tails"
import json, math, sys
a, b = (json.load(open(x + "/result.json"))["points"][0]["observables"] for x in ("named", "tail"))
n, density, epsilon, sigma = 32, 0.02186, 10.22, 2.556
h = (n / density) ** (1 / 3) / 2
y3, y9 = sigma ** 6 / h ** 3, sigma ** 12 / h ** 9
v = 8 * math.pi * density * epsilon * (y9 / 9 - y3 / 3)
p = -138.0649 * 8 * math.pi / 3 * density ** 2 * epsilon * (-12 / 9 * y9 + 6 / 3 * y3)
for name, more in (("potential", v), ("energy", v), ("kinetic", 0), ("pressure", p), ("pressure_fixed_b", p), ("energy_sigma", 0)):
    found = b[name]["mean"] - a[name]["mean"]
    print(name, found, more)
    if abs(found - more) > 1e-6 * (1 + abs(more)):
        sys.exit(name)
PYTHON

# walkers from an earlier run's snapshot; a job that does not fit them
frames=$(echo named/snapshots/*.xyz)
[ "$(grep -c walker= "$frames")" -eq 3 ] || fail "frames in $frames"
expect 0 "$ERGOCL" run named.json -o again --set /system/start="\"$frames\"" --set /run/equilibration=1 --set /run/sweeps=4
expect 2 "$ERGOCL" run named.json -o x --set /system/start="\"$frames\"" --set /system/n=31
says err '/system/n: 31, but' '(frame 1) has 32 atoms'
expect 2 "$ERGOCL" run named.json -o x --set /system/start="\"$frames\"" --set /system/density=0.02
says err '/system/start: the job'
expect 4 "$ERGOCL" run named.json -o x --set /system/start='"none.xyz"'

# how often to measure: chosen, said, kept; the chain is the same
expect 0 "$ERGOCL" run named.json -o auto --set /run/measure_every='"auto"'
says err 'chosen from timings' 'to get the same samples again'
same_digests named auto
$python - <<'PYTHON' || fail "measure_every"
import json, sys
r = json.load(open("auto/result.json"))
every = r["job"]["run"]["measure_every"]
sys.exit(not isinstance(every, int) or every < 1)
PYTHON
expect 2 "$ERGOCL" validate named.json --set /run/measure_every='"often"'
says err 'an integer from 1' 'or "auto"'
expect 2 "$ERGOCL" validate "$ERGOCL_ROOT/data/jobs/quickstart.json" --set /run/measure_every='"auto"'
says err 'which model "ising" of spin-lattice does not offer'
expect 0 "$ERGOCL" validate --plan named.json
says out 'would be best'
says named/result.json '"host_seconds"' '"host_hidden_seconds"'

# helium-dmc: walkers of helium-vmc as a start; a step that is too long ends the run and keeps its checkpoint
expect 0 "$ERGOCL" run named.json -o first --set /run/sweeps=100 --set /output/blocks=0
cat >dmc.json <<'JSON'
{ "sampler": "helium-dmc", "seed": "7", "system": { "n": 32, "walkers": 40, "potential": "lennard-jones", "b": 2.9, "forward_steps": 16 },
  "run": { "equilibration": 20, "sweeps": 60, "measure_every": 4 }, "output": { "snapshots": 0 } }
JSON
start=$(find first/snapshots -name '*.xyz' | sort | tail -n 1)
expect 0 "$ERGOCL" run dmc.json -o started --set /system/start="\"$start\""
expect 2 "$ERGOCL" run dmc.json -o started2 --set /system/start="\"$start\"" --set /system/n=33
says err '/system/n: 33, but'
expect 2 "$ERGOCL" run dmc.json -o long --set /system/time_step=0.05
says err 'energies run away. Try'
[ -e long/checkpoint ] || fail "the checkpoint is gone"
# most weights nothing, few the most there is: that ran to -670 K once
expect 2 "$ERGOCL" run dmc.json -o lost --set '/system={"n": 16, "walkers": 32, "b": 3.07, "forward_steps": 0, "time_step": 0.05}' --set /run/sweeps=20
says err 'of 32 walkers have weights at a limit'
expect 2 "$ERGOCL" validate dmc.json --set '/system={"n": 2, "one_body": "trap", "density": 1e-5, "localisation": 1, "time_step": 0.2}'
says err '/system/time_step: 0.2/K' 'try 0.017/K'
expect 0 "$ERGOCL" run dmc.json -o corrected --set /system/correction_steps=19 # the number to quote comes first
grep -q '^ *energy_corrected  *energy  *potential_pure_corrected' out || fail "what leads the table"
for look_back in correction forward; do # on the start: two observables agreed, because nothing was corrected
    expect 2 "$ERGOCL" validate dmc.json --set "/system/${look_back}_steps=1024" --set /run/equilibration=1000
    says err "/system/${look_back}_steps: 1024: samples look back"
done
expect 2 "$ERGOCL" validate dmc.json --set /system/forward_steps=20
says err '20 is no multiple of 16, the records of a window: 32'
# pure curves: a sample for each window, none of the start
pure=(--set /system/forward_structure=true --set /run/equilibration=32 --set /run/structure_every=4)
expect 0 "$ERGOCL" validate dmc.json "${pure[@]}"
expect 2 "$ERGOCL" validate dmc.json "${pure[@]}" --set /run/structure_every=6
says err '/run/structure_every: 6 x' 'use 8'
expect 2 "$ERGOCL" validate dmc.json "${pure[@]}" --set /run/structure_every=0
says err '/system/forward_structure: true'
expect 2 "$ERGOCL" validate dmc.json "${pure[@]}" --set /run/equilibration=31
says err '/run/equilibration: 31' 'at least 32'

# the triplet factor and the optimisation of all parameters: what cannot be is refused, with the key
cat >all.json <<'JSON'
{ "sampler": "helium-vmc", "seed": "7", "system": { "n": 20, "b": 2.6, "walkers": 8, "triplet": { "strength": -2, "centre": 1.5, "width": 1.5 } },
  "run": { "equilibration": 40, "sweeps": 40, "measure_every": 2, "structure_every": 2, "optimise": "all", "optimise_updates": 8, "optimise_every": 2 } }
JSON
for what in \
    "/system/triplet/range=4.9|/system/triplet/range: 4.9 A; at most half the shortest side of the box, 4.85" \
    "/system/triplet/width=0|/system/triplet/width" \
    "/system/n=4000|/system/n: 4000 atoms; at most 2048 with a triplet factor" \
    "/run/equilibration=27|/run/equilibration: 27 macroupdates; 8 updates of the wave function" \
    "/system/walkers=7|/run/optimise: all: 7 walkers are too few" \
    "/system/triplet/centre=4.9|/system/triplet/centre: 4.9 A is beyond /system/triplet/range" \
    "/run/structure_every=0|/run/optimise: takes every /run/structure_every-th measurement" \
    "/run/optimise=\"b\"|/run/optimise: b: only of wave_function schiff-verlet" \
    "/system/triplet/strength=0|/system/triplet/centre: has no effect in this job"; do
    expect 2 "$ERGOCL" validate all.json --set "${what%%|*}"
    says err "${what#*|}"
done
# energies before and after, and parameters that changed; u as a file is a wave function, here of
# diffusion Monte Carlo with the same triplets
expect 0 "$ERGOCL" run all.json -o whole
$python - <<'PYTHON' || fail "the optimisation's results"
import json, sys
a = json.load(open("whole/result.json"))["points"][0]
o, curve = a["observables"], a["curves"]["wave_function"]
for name in ("energy_before", "energy_before_error", "energy_before_sigma", "energy", "optimised_b", "optimised_width"):
    print(name, o[name]["mean"])
if o["optimised_strength"]["mean"] == -2 or len(a["curves"]["optimisation"]["mean"]) != 10:
    sys.exit("nothing was optimised")
with open("u.txt", "w", encoding="ascii") as file:
    file.writelines("%.17g %.17g\n" % line for line in zip(curve["x"], curve["mean"]))
job = {"sampler": "helium-dmc", "system": {"n": 20, "walkers": 20, "wave_function": "./u.txt", "symmetrised": False, "forward_steps": 0,
       "triplet": {key: o["optimised_" + key]["mean"] for key in ("strength", "centre", "width")}},
       "run": {"equilibration": 4, "sweeps": 20, "measure_every": 4, "structure_every": 0}}
json.dump(job, open("guided.json", "w", encoding="ascii"))
PYTHON
expect 0 "$ERGOCL" run guided.json

# many members
expect 0 "$ERGOCL" run all.json -o many --set /replicas=20 --set /system/n=16 --set /system/b=2.5 --set /system/triplet/range=4 --set /run/sweeps=4
