#!/usr/bin/env bash
# ergocl compare: devices that agree, one that goes wrong once on the way, one that is not there.
. "$ERGOCL_ROOT/tests/cli/lib.sh"
export RUSTICL_ENABLE=llvmpipe
"$ERGOCL" devices | grep -q -i llvmpipe || {
    echo "no second OpenCL implementation here"
    exit 77
}

cat >job.json <<'JSON'
{
  "sampler": "hard-disks", "seed": "5",
  "system": { "n": 14, "packing_fraction": 0.5 },
  "run": { "equilibration": 10, "sweeps": 30, "measure_every": 5, "gr_max": 0 },
  "scan": { "/system/packing_fraction": [0.5, 0.4] }
}
JSON
pair=(--devices "portable computing,llvmpipe")

expect 0 "$ERGOCL" compare job.json -o agree "${pair[@]}" --quiet
expect 0 "$ERGOCL" compare job.json -o agree "${pair[@]}" --overwrite
says out "reference" "same bits" "llvmpipe"
says agree/compare.json '"agree": true' '"first_difference": null'
same_digests agree/device-0 agree/device-1

# Sweep 23 (from 0) goes wrong on one of the two, and no other: audits do not see it, unless they
# make that very sweep.
cp -r "$ERGOCL_ROOT/cl" cl
{
    printf '#ifdef ERGO_SOFTWARE_FMA\n#define SLIP(s) ((s) == 23UL)\n#else\n#define SLIP(s) 0\n#endif\n'
    sed 's/mine->key1, step + sweep, DISKS_W/mine->key1, step + sweep + SLIP(step + sweep), DISKS_W/' \
        "$ERGOCL_ROOT/cl/hard_disks/disks_local.cl"
} >cl/hard_disks/disks_local.cl
expect 5 env ERGOCL_CL_DIR="$PWD/cl" "$ERGOCL" compare job.json -o slip "${pair[@]}" --quiet --json
says err "do not agree" "slip/compare.json"
says out '"agree": false' '"first_different_step": 24' '"points_that_differ": 2'
cmp out slip/compare.json || fail "--json prints something else than compare.json"

# A device that fails is told, and the others are compared.
expect 5 "$ERGOCL" compare job.json -o absent --devices "portable computing,llvmpipe,voodoo"
says out "same bits" "failed" "voodoo"

expect 3 "$ERGOCL" compare job.json -o none --devices llvmpipe
says err "needs two devices"
expect 2 "$ERGOCL" compare job.json -o none
says err "--devices" "--all"
expect 2 "$ERGOCL" compare job.json -o none --all --devices 0:0
[ ! -e none ] || fail "a comparison that was refused left a folder"
