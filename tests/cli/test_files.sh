#!/usr/bin/env bash
# Files that a job names are read once: a resume and a report need the run folder alone.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

mkdir inputs
cp "$ERGOCL_ROOT/data/reference/fields-16.txt" inputs/fields.txt
cp "$ERGOCL_ROOT/data/reference/glass-4x4.txt" inputs/bonds.txt
cat >inputs/disks.xyz <<'XYZ'
4
Lattice="4 0 0 0 4 0 0 0 1" Properties=species:S:1:pos:R:3
D 0.5 0.5 0
D 2.5 0.6 0
D 0.6 2.5 0
D 2.4 2.6 0
XYZ
sed 's/="4 0 0 0 4 0 0 0 1"/="6 0 0 0 6 0 0 0 6"/' inputs/disks.xyz >inputs/lj.xyz
sed 's/="4 0 0 0 4 0 0 0 1"/="12 0 0 0 12 0 0 0 12"/; s/\([0-9.]*\) \([0-9.]*\) 0$/\14 \24 2/' inputs/disks.xyz >inputs/helium.xyz
$python - <<'PYTHON'
with open("inputs/potential.txt", "w") as out:
    for i in range(40):
        r = 1.5 + 0.2 * i
        print(r, 40.88 * ((2.556 / r) ** 12 - (2.556 / r) ** 6), file=out)
PYTHON
# job NAME SAMPLER SYSTEM RUN
job() {
    cat >"$1.json" <<JSON
{ "sampler": "$2", "seed": "5", "system": { $3 },
  "run": { "sweeps": $4, "measure_every": 100 }, "output": { "snapshots": 0 } }
JSON
}
job fields spin-lattice '"model": "ising", "size": [4, 4], "field_file": "inputs/fields.txt", "temperature": 2' 4000
job bonds spin-lattice '"model": "ising", "size": [4, 4], "disorder_file": "inputs/bonds.txt", "temperature": 2, "dynamics": "heat-bath"' 4000
job disks hard-disks '"n": 4, "box": 4, "start": "inputs/disks.xyz"' 2000
job lj lj-gcmc '"box": [6, 6, 6], "cutoff": 2.5, "temperature": 1.2, "activity": 0.05, "start": "inputs/lj.xyz"' 4000
job helium helium-vmc '"n": 4, "density": 0.0023148148148148147, "potential": "inputs/potential.txt", "start": "inputs/helium.xyz"' 400

# Killed when it has the checkpoint of the start, for which the files are needed most; and stopped on
# the way.
make_faults
for name in fields bonds disks lj helium; do
    expect 0 "$ERGOCL" run $name.json -o whole-$name --quiet
    expect 137 faulty "rename kill 1" "$ERGOCL" run $name.json -o $name --quiet
done
expect 75 "$ERGOCL" run fields.json -o early --set /wall_time=0.1 --set /run/sweeps=400000 --quiet
# gone; then others of these names; then what would be waited for
mv inputs kept
for name in fields bonds disks lj helium; do
    expect 0 env -C / "$ERGOCL" resume "$PWD/$name" --quiet
    same_results whole-$name $name
    expect 0 env -C / "$ERGOCL" report "$PWD/$name"
done
mkdir inputs
mkfifo inputs/fields.txt
expect 0 timeout -s KILL 60 "$ERGOCL" report early
expect 75 timeout -s KILL 60 "$ERGOCL" resume early --quiet
rm inputs/fields.txt
sed '$s/[0-9]$/&1/' kept/fields.txt >inputs/fields.txt
expect 0 "$ERGOCL" report early
