#!/usr/bin/env bash
# Each key of each model does something, or is refused where it does not.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

$python "$ERGOCL_ROOT/tests/cli/keys.py" || fail "keys without effect, see above"

# refused RUN-OR-SYSTEM TEXT: the small job of a model with one more key, which acts elsewhere only
job() { echo "{\"sampler\": \"$1\", \"system\": {$2}, \"run\": {\"sweeps\": 100 $3}, \"output\": {$4}}" >job.json; }
without_effect() {
    expect 2 "$ERGOCL" validate job.json
    says err "$1: has no effect in this job" "it acts only"
}
unknown() {
    expect 2 "$ERGOCL" validate job.json
    says err "$1: unknown key for model" "of spin-lattice (it is a key of model"
}
ising='"size": [8, 8], "temperature": 2'
for model in ising potts; do
    for key in '"method": "exact"' '"lambda": 4' '"sublattices": "fixed"' '"realisations": 32'; do
        job spin-lattice "\"model\": \"$model\", $ising, $key" '' ''
        pointer=${key#\"}
        unknown "/system/${pointer%%\"*}"
        says err "for model \"$model\"" '"north-east", "north-or-east", "east", "fredrickson-andersen"'
    done
done
glass="\"model\": \"spin-glass\", $ising"
job spin-lattice "$glass, \"swap_every\": 5" '' '' && without_effect /system/swap_every
job spin-lattice "$glass, \"ladder_spacing\": \"linear\"" '' '' && without_effect /system/ladder_spacing
for moves in '"cluster_every": 1' '"ladder": 2, "temperature_max": 3'; do
    job spin-lattice "$glass, \"copies\": 2, $moves, \"waiting_time\": 3" '' ''
    without_effect /system/waiting_time
    says err "without a ladder and without cluster moves"
done
job spin-lattice "$glass" ', "correlation_every": 5' '' && unknown /run/correlation_every
job spin-lattice "$glass" ', "correlation_max": 5' '' && unknown /run/correlation_max
job spin-lattice "$glass" '' '"trajectory_every": 10'
expect 2 "$ERGOCL" validate job.json
says err '/output/trajectory_every: found 10, but model "spin-glass" of spin-lattice writes no trajectory'
job spin-lattice '"size": [4096, 2048], "temperature": 2' '' '"trajectory_every": 10'
without_effect /output/trajectory_every
job spin-lattice '"model": "north-east", "size": [8, 8], "up_density": 0.4' ', "correlation_every": 5' ''
unknown /run/correlation_every
job helium-vmc '"n": 20, "epsilon": 10' '' '' && without_effect /system/epsilon
job helium-vmc '"n": 20, "sigma": 2' '' '' && without_effect /system/sigma
awk 'BEGIN { for (r = 1.2; r < 12; r += 0.01) printf "%.6f %.14g\n", r, -0.5 * (2.9 / r) ^ 5 }' >sv.txt
job helium-vmc '"n": 20, "wave_function": "./sv.txt", "b": 3' '' '' && without_effect /system/b

# A curve that another model has.
job spin-lattice '"model": "north-east", "size": [8, 8], "up_density": 0.4' ', "observables": "correlation"' ''
expect 2 "$ERGOCL" validate job.json
says err '/run/observables: model "north-east" of spin-lattice has nothing called "correlation" here'

# What run refuses for want of memory, validate does; a job that does not say how often to measure fits.
job lj-gcmc '"box": [8, 8, 8], "temperature": 2, "activity": 0.1' '' ''
expect 0 "$ERGOCL" validate job.json --set /run/sweeps=1000000000
expect 3 "$ERGOCL" validate job.json --set /run/sweeps=100000000000 --set /run/measure_every=1 --set /output/series=full
says err "/run/measure_every: found 1" "GiB to be kept" "and more would fit, or /output/series \"blocks\""
for replicas in 1 4; do
    expect 3 "$ERGOCL" run job.json -o never --set /run/sweeps=100000000000 --set /run/measure_every=1 --set /output/series=full \
        --set /replicas=$replicas
done
[ ! -e never ] || fail "a folder of a run that was refused"

# "auto" leaves samples of a short run, whatever timings say.
job helium-vmc '"n": 20, "walkers": 4' ', "equilibration": 32, "measure_every": "auto"' ''
expect 0 "$ERGOCL" run job.json -o auto --set /run/sweeps=20 -q
grep -q '"samples": 20,' auto/result.json || fail "not every sweep of so few is measured"
