#!/usr/bin/env bash
# Files that a chain depends on: a resume notices that their contents have changed.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

cp "$ERGOCL_ROOT/data/reference/fields-16.txt" fields.txt
cp "$ERGOCL_ROOT/data/reference/glass-4x4.txt" bonds.txt
cat >fields.json <<'JSON'
{ "sampler": "spin-lattice", "seed": "5",
  "system": { "model": "ising", "size": [4, 4], "field_file": "fields.txt", "temperature": 2 },
  "run": { "sweeps": 200000, "measure_every": 100, "correlation_every": 0 },
  "wall_time": 0.1, "output": { "snapshots": 0 } }
JSON
expect 75 "$ERGOCL" run fields.json -o fields --quiet
sed -i '$s/[0-9]$/&1/' fields.txt
expect 4 "$ERGOCL" resume fields --quiet
says err /system/field_file "fields.txt is not the file with which the run"
cp "$ERGOCL_ROOT/data/reference/fields-16.txt" fields.txt
expect 75 "$ERGOCL" resume fields --quiet
cat >bonds.json <<'JSON'
{ "sampler": "spin-lattice", "seed": "5",
  "system": { "model": "ising", "size": [4, 4], "disorder_file": "bonds.txt", "temperature": 2, "dynamics": "heat-bath" },
  "run": { "sweeps": 200000, "measure_every": 100, "correlation_every": 0 },
  "wall_time": 0.1, "output": { "snapshots": 0 } }
JSON
expect 75 "$ERGOCL" run bonds.json -o bonds --quiet
echo "# a comment that changes nothing but the file" >>bonds.txt
expect 4 "$ERGOCL" resume bonds --quiet
says err /system/disorder_file
