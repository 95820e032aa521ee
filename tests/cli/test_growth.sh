#!/usr/bin/env bash
# Cost of growth: ten times the points, samples or particles allocate, write and enqueue at most eleven times as much,
# and ten times the points take hardly more commands. Counts (tests/faults/counts.c), so that no clock has a say.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
export ERGOCL_CACHE_DIR=${ERGOCL_CACHE_DIR:-$PWD/warm}
jobs=$ERGOCL_ROOT/tests/contract/jobs
"${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O1 -shared -fPIC "$ERGOCL_ROOT/tests/faults/counts.c" -o counts.so -ldl ||
    fail "counts.so cannot be made"

# cost NAME WARM JOB OPTION...: bytes allocated, bytes written, commands. WARM: programs are compiled first, and the probe
# passes; without it they have to be the same as before, or the compiler's memory counts.
cost() {
    local name=$1 warm=$2 job=$3
    shift 3
    [ "$warm" = no ] || expect 0 "$ERGOCL" run "$job" -o "$name" -q --set '/scan={}' "$@"
    expect 0 env COUNTS="$PWD/$name.counts" LD_PRELOAD=./counts.so "$ERGOCL" run "$job" -o "$name" -q --overwrite \
        --set '/scan={}' "$@"
    [ -s "$name.counts" ] || fail "nothing was counted"
    rm -r "$name"
}

# grows WHAT JOB FROM TO OPTION...: FROM and TO are options for one and for ten times as much.
grows() {
    local what=$1 job=$2 from=$3 to=$4 other=no
    shift 4
    [[ $what != *particles ]] || other=yes
    # shellcheck disable=SC2086
    cost one yes "$job" $from "$@"
    # shellcheck disable=SC2086
    cost ten $other "$job" $to "$@"
    echo "$what: $(cat one.counts) -> $(cat ten.counts)"
    paste -d' ' one.counts ten.counts | awk '{ exit !($4 <= 11 * $1 && $5 <= 11 * $2 && $6 <= 11 * $3) }' ||
        fail "$what: bytes allocated, written, commands: $(cat one.counts) -> $(cat ten.counts)"
}

# how much another device makes again depends on the time it has
more="--set /output/snapshots=0 --set /audit/device=none"
for sampler in $(samplers); do
    job=$jobs/$sampler-tiny.json
    # shellcheck disable=SC2086
    grows "$sampler, points" "$job" "--set /replicas=100" "--set /replicas=1000" $more
    # the device works on all points together; helium reads places of atoms, and lj-* write those of a start,
    # member by member
    case $sampler in
    helium-* | lj-*) ;;
    *)
        paste -d' ' one.counts ten.counts | awk '{ exit !($6 <= 2 * $3) }' ||
            fail "$sampler: more commands for more points: $(cat one.counts) -> $(cat ten.counts)"
        ;;
    esac
    # shellcheck disable=SC2086
    grows "$sampler, samples" "$job" "--set /run/sweeps=1600" "--set /run/sweeps=16000" $more
    case $sampler in
    hard-disks | hard-spheres) one='--set /system/n=100' ten='--set /system/n=1000' ;;
    helium-*) one='--set /system/n=10' ten='--set /system/n=100' ;;
    lj-*)
        one='--set /system/box=[5,5,5] --set /system/particles=20'
        ten='--set /system/box=[5,5,50] --set /system/particles=200'
        ;;
    *) one='--set /system/size=[64,64]' ten='--set /system/size=[64,640]' ;;
    esac
    # shellcheck disable=SC2086
    grows "$sampler, particles" "$job" "$one" "$ten" $more
done

# a scan: its points are read, named and warned of one by one
{
    echo '{ "sampler": "spin-lattice", "system": { "size": [8, 8], "temperature": 2 },'
    echo '  "run": { "sweeps": 40, "measure_every": 10 }, "output": { "snapshots": 0 }, "audit": { "device": "none" } }'
} >scan.json
for n in 200 2000; do
    cp scan.json scan$n.json
    sed -i "s|\"run\"|\"scan\": { \"/system/temperature\": { \"from\": 1, \"to\": $((n + 1)), \"step\": 1 } }, \"run\"|" \
        scan$n.json
done
scan() {
    expect 0 "$ERGOCL" run "scan$1.json" -o scan -q --overwrite
    expect 0 env COUNTS="$PWD/$2.counts" LD_PRELOAD=./counts.so "$ERGOCL" run "scan$1.json" -o scan -q --overwrite
}
scan 200 one
scan 2000 ten
echo "scan: $(cat one.counts) -> $(cat ten.counts)"
paste -d' ' one.counts ten.counts | awk '{ exit !($4 <= 11 * $1 && $5 <= 11 * $2 && $6 <= 2 * $3) }' ||
    fail "a scan: $(cat one.counts) -> $(cat ten.counts)"
