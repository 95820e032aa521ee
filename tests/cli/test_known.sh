#!/usr/bin/env bash
# Known answers: a device that no other implementation checks is asked once, and a kernel that it
# always gets wrong in the same way ends the run.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

cat >job.json <<'JSON'
{
  "sampler": "hard-disks", "seed": "5",
  "system": { "n": 14, "packing_fraction": 0.45 },
  "run": { "equilibration": 10, "sweeps": 30, "measure_every": 5, "gr_max": 0 }
}
JSON
export ERGOCL_CACHE_DIR=$PWD/cache
run=("$ERGOCL" run job.json --overwrite --quiet)
alone=(--set "/audit/device=\"$ERGOCL_DEVICE\"")
known() { $python -c 'import json, sys; print(json.load(open(sys.argv[1]))["audits"].get("known_answer"))' "$1/result.json"; }

for answer in asked remembered; do
    expect 0 "${run[@]}" -o right "${alone[@]}"
    [ "$(known right)" = $answer ] || fail "the answer was not $answer: $(known right)"
done
expect 0 "${run[@]}" -o unasked --set '/audit/device="none"'
[ "$(known unasked)" = None ] || fail "asked, and no audit was wanted"
other=$(RUSTICL_ENABLE=llvmpipe "$ERGOCL" devices | grep -o -i -m1 llvmpipe)
if [ -n "$other" ] && [[ $ERGOCL_DEVICE != *"$other"* ]]; then
    expect 0 env RUSTICL_ENABLE=llvmpipe "${run[@]}" -o other --set '/audit/device="llvmpipe"'
    [ "$(known other)" = None ] || fail "asked, beside another implementation"
fi

# Always the same wrong bits: a replay by the same device finds nothing.
cp -r "$ERGOCL_ROOT/cl" cl
sed -i 's/mine->key1, step + sweep, DISKS_W/mine->key1, step + sweep + (step + sweep == 3UL), DISKS_W/' cl/hard_disks/disks_local.cl
! cmp -s cl/hard_disks/disks_local.cl "$ERGOCL_ROOT/cl/hard_disks/disks_local.cl" || fail "nothing was broken"
for turn in first second; do # what is wrong is not remembered, nor what a folder's kernels gave
    ERGOCL_CL_DIR=$PWD/cl expect 5 "${run[@]}" -o wrong "${alone[@]}"
    says err "audit of hard-disks failed on" "the known answer" "of hard-disks-tiny ends in the digest" \
        "should in f0acdb09a8b6067c" "The kernels are those of \$ERGOCL_CL_DIR" ||
        fail "$turn"
    [ ! -e wrong/result.json ] || says wrong/result.json '"status": "audit-failed"'
done
ERGOCL_CL_DIR=$PWD/cl expect 0 "${run[@]}" -o wrong --set '/audit/device="none"'
ERGOCL_CL_DIR=$ERGOCL_ROOT/cl expect 0 "${run[@]}" -o folder "${alone[@]}"
[ "$(known folder)" = asked ] || fail "kernels of a folder are asked each time: $(known folder)"
