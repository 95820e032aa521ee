#!/usr/bin/env bash
# How much of the sum of their rates do unequal devices keep in one mpirun? The goal is 0.9.
#
#     bench/mixed.sh points  DEVICE DEVICE...    points and replicas spread over ranks
#     bench/mixed.sh lattice DEVICE DEVICE...    one lattice cut over ranks
#
# A rank for each device ("nvidia", "Portable Computing Language", "rusticl"). The first one, the fastest,
# runs the job alone, then all do together: digests and samples have to be the same. BENCH_SECONDS (20):
# about how long the first takes; the others run a shorter job alone, for their rates. BENCH_SIDE (2048): of
# the lattice. ERGOCL: the program; JOB: another job. BENCH_WITH_0="taskset -c 1", BENCH_WITH_1, ...: what starts a rank, alone too.
# BENCH_AT_ONCE=1: the devices run their jobs alone, but all at the same time, as devices that share memory
# and cores do in the mix. The clock of the mix begins when a run alone would have begun to sample.
set -euo pipefail

ergocl=${ERGOCL:-build/ergocl} seconds=${BENCH_SECONDS:-20} how=${1:?points or lattice}
shift
devices=("$@")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
job=${JOB:-$room/job.json}
case $how in
points) system='"size": [512, 512], "temperature": 1' replicas=24 ;;
lattice) system="\"size\": [${BENCH_SIDE:-2048}, ${BENCH_SIDE:-2048}], \"temperature\": 1" replicas=1 ;;
*) echo "points or lattice?" >&2 && exit 2 ;;
esac
[ -n "${JOB:-}" ] || cat >"$job" <<JOB
{ "sampler": "swendsen-wang", "seed": "21", "replicas": $replicas, "system": { "q": 3, $system },
  "run": { "equilibration": 0, "sweeps": 100, "measure_every": 10, "observables": "energy" },
  "output": { "snapshots": 0 } }
JOB

now() { date +%s.%N; }
# alone RANK SWEEPS: run folder RANK
alone() {
    local -a with=()
    local name=BENCH_WITH_$1
    read -ra with <<<"${!name:-}"
    "${with[@]}" "$ergocl" run "$job" -o "$room/$1" --overwrite --quiet --device "${devices[$1]}" --set "/run/sweeps=$2"
}
# number DIR NAME: of the result's rate; for NAME "per-sweep" seconds
number() {
    python3 - "$room/$1/result.json" "$2" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
print(r["rate"]["seconds"] / r["points"][0]["steps"] if sys.argv[2] == "per-sweep" else r["rate"][sys.argv[2]])
END
}
# sweeps RANK SECONDS: how many that device makes, a multiple of ten
sweeps() {
    python3 -c 'import sys; s, t = map(float, sys.argv[1:]); print(10 * max(1, round(t / s / 10)))' \
        "$(number "$1" per-sweep)" "$2"
}

# together SWEEPS: all ranks in one mpirun; run folder mix
together() {
    local -a parts=() with=()
    local k name
    for ((k = 0; k < ${#devices[@]}; k++)); do
        name=BENCH_WITH_$k
        read -ra with <<<"${!name:-}"
        [ "$k" -eq 0 ] || parts+=(:)
        parts+=(-np 1 "${with[@]}" "$ergocl" run "$job" -o "$room/mix" --overwrite --quiet --set "/run/sweeps=$1"
            --set "/distribute=$how" --device "$(IFS=,; echo "${devices[*]}")")
    done
    mpirun --bind-to none "${parts[@]}"
}

started=0
declare -a n=() begun=()
for ((k = 0; k < ${#devices[@]}; k++)); do
    alone "$k" 20 # compiles, and tells about how fast it is
    n[k]=$(sweeps "$k" "$((k == 0 || ${BENCH_AT_ONCE:-0} ? seconds : (seconds + 2) / 3))")
done
for ((k = 0; k < ${#devices[@]}; k++)); do
    begun[k]=$(now)
    { alone "$k" "${n[k]}" && now >"$room/ended-$k"; } &
    [ "${BENCH_AT_ONCE:-0}" = 1 ] || wait
done
wait
for ((k = 0; k < ${#devices[@]}; k++)); do
    started=$(python3 -c "print(max($started, $(cat "$room/ended-$k") - ${begun[k]} - $(number "$k" seconds)))")
    echo "rank $k, ${devices[k]}: $(number "$k" value) per second"
done
whole=${n[0]}
together 20 # compiles
from=$(now)
together "$whole"
ended=$(now)
python3 - "$room" "$from" "$ended" "$started" "${#devices[@]}" <<'END'
import json, sys
room, begun, ended, started, n = sys.argv[1], *map(float, sys.argv[2:])
results = [json.load(open(f"{room}/{k}/result.json")) for k in [*range(int(n)), "mix"]]
first, mix = results[0], results[-1]
if first["points"] != mix["points"]:
    sys.exit("the results differ: the figures mean nothing")
rate = first["rate"]["value"] * first["rate"]["seconds"] / (ended - begun - started)
print(f"together: {rate:.4g} per second, in {ended - begun:.3g} s, {started:.2g} s of them to start; digests are the same")
alone = sum(r["rate"]["value"] for r in results[:-1])
print(f"{rate / alone:.3f} of the sum of the rates; {mix['rate']['value'] / alone:.3f} by the busiest rank's sampling time alone")
END
