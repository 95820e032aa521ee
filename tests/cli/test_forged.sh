#!/usr/bin/env bash
# Checkpoints from a stranger: forged.py. $FORGED_EVERY: 5 takes some 190 of them, 1 (make test-long) all.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
if [ -n "${ASAN_OPTIONS:-}" ]; then # sanitizers cost a factor of three and more; PoCL leaks
    : "${FORGED_EVERY:=29}"
    export FORGED_SECONDS=20 ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
else
    export FORGED_MEMORY=4000000000
fi
cat >job.json <<'JSON'
{ "sampler": "spin-lattice", "seed": "11", "replicas": 2,
  "system": { "model": "ising", "size": [16, 16], "temperature": 2.3 },
  "run": { "equilibration": 10, "sweeps": 200, "measure_every": 2, "correlation_max": 4 },
  "scan": { "/system/temperature": [2.2, 2.3] }, "output": { "snapshots": 1 } }
JSON
cat >curves.json <<'JSON'
{ "sampler": "spin-lattice", "seed": "5",
  "system": { "model": "north-east", "size": [16, 16], "up_density": 0.5, "realisations": 32 },
  "run": { "sweeps": 10, "measure_every": 10 } }
JSON
expect 0 "$ERGOCL" run job.json -o finished --quiet
expect 0 "$ERGOCL" run curves.json -o curves --quiet
expect 75 "$ERGOCL" run job.json -o stopped --quiet --set /run/sweeps=100000000 --set /wall_time=0.2
$python "${0%/*}/forged.py" "${FORGED_EVERY:-5}"
