#!/usr/bin/env bash
# Launches are short on devices that are far slower than a plan guesses: under masks that lie about the number of units,
# on a clock that each step puts forward (tests/faults/slow.c), no launch lasts 2 s, they settle at a tenth of a second,
# and chains do not change. Steps are counted, so that no real clock has a say.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
"${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O1 -shared -fPIC "$ERGOCL_ROOT/tests/faults/slow.c" -o slow.so -ldl ||
    fail "slow.so cannot be made"

# slow NAME MASK KERNEL SAMPLER SYSTEM RUN [MORE]: a thousand times slower than guessed. KERNEL makes the steps.
slow() {
    local name=$1 kernel=$3 first launches most last
    export ERGOCL_PRETEND=$2
    printf '{"sampler": "%s", "seed": "5", "system": {%s}, "run": {%s}, "output": {"snapshots": 0}%s}\n' "$4" "$5" "$6" \
        "${7:-}" >"$name.json"
    expect 0 "$ERGOCL" run "$name.json" -o "$name" -v
    digests "$name" >fast.digests
    # a hundredth of a tenth of a second, as guessed
    first=$(sed -n 's/.*launches begin with size \([0-9]*\).*/\1/p' err | head -n 1)
    [ "${first:-0}" -ge 1 ] || fail "$name: launches begin somehow"
    SLOW=$(awk "BEGIN { printf \"%.9f\", 1 / $first }")
    export SLOW SLOW_LOG=$PWD/$name.log
    # replays are launches of their own, on a device of their own: they are not counted here
    expect 0 env LD_PRELOAD=./slow.so "$ERGOCL" run "$name.json" -o "$name" -q --overwrite --set /audit/device=none
    digests "$name" | cmp -s - fast.digests || fail "$name: lengths of launches change the chain"
    read -r _ launches most last <<<"$(grep "^$kernel " "$name.log")"
    echo "$name: $launches launches, the longest of $most steps, the last of $last; a step takes $SLOW s"
    awk "BEGIN { exit !($most * $SLOW <= 2) }" || fail "$name: a launch of $most steps lasts $most times $SLOW s"
    awk "BEGIN { exit !($last == 1 || $last * $SLOW <= 0.11) }" || fail "$name: launches of $last steps do not settle"
    [ "$most" -ge $((4 * last)) ] || fail "$name: launches do not shrink: $most, then $last steps"
}

ising='"model": "ising", "size": [128, 128], "temperature": 2.3'
local=', "tuning": {"path": 1}'
run='"equilibration": 2000, "sweeps": 2000, "measure_every": 200'
slow ising "" ising_sweep_local spin-lattice "$ising" "$run" "$local"
# launches begin with 1,220 steps, and are timed where they are shorter than what is to be made
slow ising-arc arc,units=1 ising_sweep_local spin-lattice "$ising" \
    '"equilibration": 2000, "sweeps": 8000, "measure_every": 2000' "$local"
slow potts "" bytes_sweep_local spin-lattice '"model": "potts", "q": 3, "size": [64, 64], "temperature": 1' "$run" "$local"
slow glass "" glass_local spin-lattice '"model": "spin-glass", "size": [8, 8, 8], "temperature": 1' "$run" "$local"
slow north-east "" facilitated_serial spin-lattice '"model": "north-east", "size": [32, 32], "up_density": 0.3' \
    '"sweeps": 400, "measure_every": 200'
slow windows mi300x,units=1 facilitated_window spin-lattice '"model": "north-east", "size": [32, 32], "up_density": 0.3' \
    '"sweeps": 60, "measure_every": 60' "$local"
slow disks "" disks_local hard-disks '"n": 400, "packing_fraction": 0.6' "$run"
slow lj "" lj_run lj-gcmc '"box": [6, 6, 6], "temperature": 2, "activity": 0.1, "particles": 40' \
    '"equilibration": 20000, "sweeps": 20000, "measure_every": 10000'
slow helium "" helium_walk helium-vmc '"n": 32, "walkers": 16' \
    '"equilibration": 200, "sweeps": 400, "measure_every": 100'
slow clusters "" sw_local swendsen-wang '"q": 2, "size": [64, 64], "temperature": 2.3' "$run"

# groups that a device runs, but not each kernel of it
export ERGOCL_PRETEND="gpu,units=1"
for path in 1 3; do
    expect 0 env SLOW=0 GROUP=4 LD_PRELOAD=./slow.so "$ERGOCL" run potts.json -o few -q --overwrite \
        --set /tuning/path=$path --set /tuning/work_group=16
    same_digests few potts
done

# units that run groups, where a driver counts something smaller
unset ERGOCL_PRETEND
expect 0 env SLOW=0 SLICES=8 LD_PRELOAD=./slow.so "$ERGOCL" devices
says out "usable: 32 compute units"
expect 0 env SLOW=0 SLICES=1000 LD_PRELOAD=./slow.so "$ERGOCL" devices
says out "usable: 512 compute units"
