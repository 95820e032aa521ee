#!/usr/bin/env bash
# Facilitated dynamics in results: what is undefined has no number, curves begin after equilibration,
# and a temperature that has no effect is refused.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

job() { # SYSTEM RUN
    cat <<JOB
{ "sampler": "spin-lattice", "seed": "3", "output": { "snapshots": 0 },
  "system": { "model": "fredrickson-andersen", "size": [16, 16], "realisations": 1024, $1 },
  "run": { "measure_every": 10, $2 } }
JOB
}

# Spins that are all up at t = 0: no phi, and nothing made of it.
job '"up_density": 0.3, "start": "up"' '"sweeps": 100' >up.json
expect 0 "$ERGOCL" run up.json -o up
says_not out phi_mean relaxation_time
expect 2 "$ERGOCL" validate up.json --set '/run/observables="phi"'
says err "/run/observables: phi is undefined where all spins are alike at t = 0"
expect 2 "$ERGOCL" validate up.json --set '/run/observables="phi_mean"'
# Nor later, where none can move.
expect 0 "$ERGOCL" run up.json -o down --set '/system/start="down"' --set /system/waiting_time=2

# Ageing: phi is connected, and goes to 0.
job '"up_density": 0.1, "start": "up", "waiting_time": 1' '"sweeps": 401' >ageing.json
expect 0 "$ERGOCL" run ageing.json -o ageing

# A coupling: the density of the curves is that of the end of equilibration.
job '"temperature": 1.3, "field": 0.25, "coupling": -0.3' '"equilibration": 400, "sweeps": 100' >coupled.json
expect 0 "$ERGOCL" run coupled.json -o coupled

$python - <<'PYTHON' || fail "results do not say so"
import json

up, down, ageing, coupled = (json.load(open(f"{name}/result.json"))["points"][0]
                             for name in ("up", "down", "ageing", "coupled"))
assert "phi" not in up["curves"] and not {"phi_mean", "relaxation_time"} & set(up["observables"]), up["observables"]
assert up["curves"]["autocorrelation"]["mean"][0] == 1
assert "phi" not in down["curves"] and down["observables"]["phi_mean"]["mean"] is None

phi, plain, density = (ageing["curves"][c] for c in ("phi", "autocorrelation", "up_density"))
assert phi["x"][-1] == 400 and phi["mean"][0] == 1
assert abs(phi["mean"][-1]) < 5 * phi["error"][-1] < 0.01, phi
first, last = (2 * density["mean"][i] - 1 for i in (0, -1))
assert abs(plain["mean"][-1] - first * last) < 0.005 and abs(first * last) > 0.1, (plain, first, last)

density = coupled["curves"]["up_density"]
assert density["x"][-1] == 100
# 0.2267(3) on 32 x 32, from 400 sweeps after 400; 0.255 with those before the end of equilibration
assert all(abs(mean - 0.2267) < 0.006 for mean in density["mean"]), density["mean"]
assert abs(coupled["observables"]["up_density"]["mean"] - 0.2267) < 0.003
PYTHON

# c = 1/2 at every temperature is not what a job without a field means.
job '"temperature": 1.3' '"sweeps": 100' >alone.json
expect 2 "$ERGOCL" validate alone.json
says err "/system/temperature: alone it says nothing" "c is 1/2" "/system/field" "/system/up_density"
expect 0 "$ERGOCL" validate alone.json --set /system/field=0
expect 0 "$ERGOCL" validate alone.json --set /system/coupling=-0.3
expect 0 "$ERGOCL" validate alone.json --set '/scan={"/system/field": [0, 1]}'
# waiting is part of the run's sweeps
expect 2 "$ERGOCL" validate ageing.json --set /system/waiting_time=401 --set /run/equilibration=900
says err "/system/waiting_time: 401 sweeps from the end of equilibration" 401
