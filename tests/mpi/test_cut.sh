#!/usr/bin/env bash
# One lattice cut over ranks: any number of them, even and uneven shares, both ways of
# merging, devices of two implementations, stops, kills and resumes on another number of ranks leave
# the same result as one process with the whole lattice.
# shellcheck source=tests/mpi/lib.sh
. "${0%/*}/lib.sh"
export POCL_MAX_PTHREAD_COUNT=1 # ranks are threads enough

# Below Tc: clusters that lead around the lattice, through all ranks. 6 words a row, the last with 13
# sites; every sweep measured.
cat >cold.json <<'JOB'
{ "sampler": "swendsen-wang", "seed": "99",
  "system": { "q": 3, "size": [173, 93], "temperature": 0.8, "start": "ordered", "shares": "equal" },
  "run": { "equilibration": 6, "sweeps": 24, "measure_every": 1 }, "output": { "snapshots": 2 } }
JOB
expect 0 "$ERGOCL" run cold.json -o cold --device "$pocl" --quiet
$python - <<'PYTHON' || fail "not what this test is about"
import json
o = json.load(open("cold/result.json"))["points"][0]["observables"]
raise SystemExit(not (o["wrapping"]["mean"] > 0.5 and o["clusters"]["mean"] > 0.01))
PYTHON
# Tiles of one size for all rectangles: by themselves they have other sizes in each, and PoCL compiles for ten seconds
# each time. cold2 and "unlike" leave it to the program.
tiles=(--set /tuning/tile_words=1 --set /tuning/tile_rows=8)
# alone, through the same kernels; then ranks (3, 4 and 6 with what else can differ, below)
expect 0 "$ERGOCL" run cold.json -o cold1 "${tiles[@]}" --device "$pocl" --quiet --set /distribute=lattice
same_points cold cold1
expect 0 ranks 2 run cold.json -o cold2 --device "$pocl" --quiet
same_points cold cold2
# nine ranks in a stack: clusters that lead further than rounds reach, so that pairs are handed on
if [ -n "${ERGOCL_TEST_FULL:-}" ]; then
    tall=(--set "/system/size=[30,180]" --set /run/sweeps=12 --quiet --device "$pocl")
    expect 0 "$ERGOCL" run cold.json -o tall "${tall[@]}"
    expect 0 ranks 9 run cold.json -o tall9 "${tall[@]}" --set /system/merge=rounds
    same_points tall tall9
fi
expect 0 ranks 7 run cold.json -o uneven "${tiles[@]}" --device "$pocl" --quiet --set /system/shares=3,1,2
same_points cold uneven
expect 0 ranks 3 run cold.json -o measured "${tiles[@]}" --device "$pocl" --verbose --set /system/shares=measured
same_points cold measured
says err "% of the lattice"
expect 0 ranks 4 run cold.json -o rounds "${tiles[@]}" --device "$pocl" --quiet --set /system/merge=rounds
same_points cold rounds
expect 0 ranks 6 run cold.json -o both "${tiles[@]}" --device "$pocl" --quiet --set /system/merge=rounds \
    --set /run/measure_every=3 --set /run/correlations=true --set /system/shares=1,4
expect 0 ranks 4 run cold.json -o tiles "${tiles[@]}" --device "$pocl" --quiet --set /run/measure_every=3 \
    --set /tuning/tile_group=4 --set /run/correlations=true
expect 0 "$ERGOCL" run cold.json -o every3 --device "$pocl" --quiet --set /run/measure_every=3 \
    --set /run/correlations=true
same_points every3 tiles
same_points every3 both
# spins alone: the same sweeps as those that are not measured
expect 0 "$ERGOCL" run cold.json -o spins1 --device "$pocl" --quiet --set /run/observables=energy
expect 0 ranks 4 run cold.json -o spins4 "${tiles[@]}" --device "$pocl" --quiet --set /run/observables=energy
same_points spins1 spins4
same_digests cold spins4
expect 0 ranks 7 run cold.json -o gather "${tiles[@]}" --device "$pocl" --quiet --set /run/measure_every=3 \
    --set /run/correlations=true --set /system/shares=3,1,2 --set /system/merge=gather
same_points every3 gather
# 64 ranks, and clusters that none of them finishes alone
if [ -n "${ERGOCL_TEST_FULL:-}" ]; then
    many=(--set "/system/size=[512,256]" --set /run/sweeps=6 --set /system/q=2 --set /system/temperature=1.1346)
    expect 0 "$ERGOCL" run cold.json -o many1 --device "$pocl" --quiet "${many[@]}"
    expect 0 ranks 64 run cold.json -o many64 --device "$pocl" --quiet "${many[@]}" --set /system/merge=rounds
    same_points many1 many64
fi
# a large rectangle and a small one: what an audit does, all do
expect 0 ranks 2 run cold.json -o unlike --device "$pocl" --quiet --set "/system/size=[1024,500]" \
    --set /system/shares=1,3 --set /system/merge=rounds --set /run/sweeps=2 --set /run/equilibration=1
expect 0 ranks 3 run cold.json -o mixed "${tiles[@]}" --device "$pocl,$other" --quiet --set /distribute=lattice
same_points cold mixed
says mixed/result.json '"rank": 1,' "$other_name" "$pocl_name"

# A scan of chains fewer than ranks, one after the other, q = 2 at Tc and above.
cat >scan.json <<'JOB'
{ "sampler": "swendsen-wang", "seed": "5",
  "system": { "q": 2, "size": [96, 64], "temperature": 1, "shares": "2,1" },
  "run": { "equilibration": 4, "sweeps": 41, "measure_every": 3 },
  "scan": { "/system/temperature": [1.1346, 1.3] }, "output": { "snapshots": 0 } }
JOB
expect 0 "$ERGOCL" run scan.json -o scan --device "$pocl" --quiet
expect 0 ranks 3 run scan.json -o scan3 "${tiles[@]}" --device "$pocl" --quiet
same_points scan scan3
# whole chains when the job says so
expect 0 ranks 3 run scan.json -o whole3 --device "$pocl" --quiet --set /distribute=points
same_points scan whole3

# Stopped by a signal to one rank, and by one to mpirun, which passes it on; killed; resumed on other
# numbers of ranks, without mpirun, and as whole chains.
long=(--set '/scan={}' --set /run/sweeps=1200 --set /run/measure_every=12 --quiet
    --set /checkpoint/every_seconds=0.1 --set /distribute=lattice)
expect 0 "$ERGOCL" run scan.json -o whole --device "$pocl" "${long[@]}" --set /distribute=points
stopped 75 TERM rank mpirun -np 2 "$ERGOCL" run scan.json -o stop "${tiles[@]}" --device "$pocl" "${long[@]}"
says stop/result.json '"status": "stopped"'
cp -r stop stop1
expect 0 ranks 3 resume stop --device "$pocl" --quiet
same_points whole stop
if [ -n "${ERGOCL_TEST_FULL:-}" ]; then # (SIGUSR1 gets lost in mpirun 4.1.4)
    stopped 75 USR2 mpirun mpirun -np 3 "$ERGOCL" run scan.json -o usr2 --device "$pocl" "${long[@]}"
    expect 0 ranks 2 resume usr2 --device "$pocl" --quiet
    same_points whole usr2
fi
# one process: the job still wants the lattice cut, which one rank can
expect 0 "$ERGOCL" resume stop1 --device "$pocl" --quiet
same_points whole stop1
# finished: only reported
expect 0 ranks 2 resume stop --device "$pocl" --quiet
same_points whole stop
# kill -9 of a rank in a round of joining ends the others; what was saved goes on on fewer.
make_faults
in_a_round "kill 9001" 3 scan.json -o killed "${tiles[@]}" "${long[@]}" --set /system/merge=rounds
start=$SECONDS
wait $child && fail "a killed rank went unnoticed"
[ $((SECONDS - start)) -le 60 ] || fail "$((SECONDS - start)) s until the others ended"
expect 0 ranks 2 resume killed --device "$pocl" --quiet
same_points whole killed
# a message that comes seconds late, from a rank that stands still meanwhile: the same result
in_a_round "wait 101 1" 4 cold.json -o late "${tiles[@]}" --set /system/merge=rounds
sleep 3
rm mark
wait $child || { cat err; fail "a late message ended the run"; }
same_points cold late
# a message of a round that is lost: an empty one comes instead
in_a_round "drop 114 1" 4 cold.json -o dropped "${tiles[@]}" --set /system/merge=rounds && wait $child && fail "a lost message went unnoticed"
says err "another message than the one that is due"

# A rank that fails ends all, with its message and exit code, within seconds.
start=$SECONDS
expect 3 ranks 3 run cold.json -o failed --device "$pocl,no such device,$pocl" --quiet
[ $((SECONDS - start)) -le 60 ] || fail "$((SECONDS - start)) s until all ended"
says err "no such device"
# (a kernel that is left out is found by rounds, as a part that is lost, before the audit finds it)
faults_end_all cold.json "${tiles[@]}" --set /system/merge=gather

# What cannot be cut is refused.
expect 2 ranks 3 run cold.json -o small --device "$pocl" --quiet --set "/system/size=[20,2]"
says err "cannot be cut over 3 ranks"
expect 2 "$ERGOCL" validate cold.json --set /system/shares=3,0
says err /system/shares
cat >east.json <<'JOB'
{ "sampler": "spin-lattice", "system": { "model": "east", "size": [32], "temperature": 1 }, "run": { "sweeps": 20 },
  "distribute": "lattice" }
JOB
expect 2 "$ERGOCL" validate east.json
says err /distribute "of spin-lattice cannot cut its systems into pieces"

# --overwrite: the earlier run stands until the new one can begin, that is until kernels compile.
mkdir broken
cp -r "$ERGOCL_ROOT/cl" broken/cl
echo "not OpenCL C" >>broken/cl/swendsen_wang/cut.cl
echo "not OpenCL C" >>broken/cl/swendsen_wang/sweep.cl
for how in lattice points; do
    ERGOCL_CL_DIR=$PWD/broken/cl expect 3 ranks 2 run cold.json -o cold2 --overwrite --device "$pocl" \
        --quiet --set /distribute=$how
    same_points cold cold2
done
expect 0 ranks 3 run cold.json -o cold2 --overwrite --device "$pocl" --quiet
same_points cold cold2
exit 0
