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

# What only the start needs may be gone once the run has begun.
printf '3\n\nX 0.5 0.5 0\nX 2.5 2.5 0\nX 0.5 1.8 0\n' >start.xyz
cat >disks.json <<'JSON'
{ "sampler": "hard-disks", "seed": "5", "system": { "n": 3, "box": 4, "start": "./start.xyz" },
  "run": { "sweeps": 20000000, "measure_every": 1000 }, "wall_time": 0.1, "output": { "snapshots": 0 } }
JSON
expect 75 "$ERGOCL" run disks.json -o disks --quiet
rm start.xyz
expect 0 "$ERGOCL" report disks
expect 75 "$ERGOCL" resume disks --quiet
