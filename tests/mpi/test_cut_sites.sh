#!/usr/bin/env bash
# A lattice of sites cut over ranks in slabs of layers or rows, of swendsen-wang: the result of one process with the whole lattice, on
# any number of ranks and on devices of two implementations, through stops and resumes on another number of ranks. What is
# not cut is refused.
# shellcheck source=tests/mpi/lib.sh
. "${0%/*}/lib.sh"
export POCL_MAX_PTHREAD_COUNT=1 # ranks are threads enough

# Near order: in some samples clusters lead around the lattice along x and z, in most along y. All that is known of
# clusters, and pairs of sites.
cat >cubic.json <<'JOB'
{ "sampler": "swendsen-wang", "seed": "5", "replicas": 2,
  "system": { "q": 3, "size": [20, 7, 8], "temperature": 1.78 },
  "run": { "equilibration": 5, "sweeps": 24, "measure_every": 3, "correlations": true },
  "output": { "snapshots": 1 } }
JOB
cut=(--set /distribute=lattice --quiet)
expect 0 "$ERGOCL" run cubic.json -o whole --device "$pocl" --quiet
expect 0 "$ERGOCL" run cubic.json -o alone --device "$pocl" "${cut[@]}"
same_points whole alone
expect 0 ranks 4 run cubic.json -o four --device "$pocl,$other" "${cut[@]}"
same_points whole four
# "auto": cut where there are fewer chains than ranks
expect 0 ranks 4 run cubic.json -o auto --device "$pocl" --quiet
same_points whole auto
# stopped, and on another number of ranks; each chain with a bond probability of its own
long=(--set /run/sweeps=900 --set /run/method=probability-changing --set /run/correlations=false
    --set /checkpoint/every_seconds=0.1 "${cut[@]}")
expect 0 "$ERGOCL" run cubic.json -o long --device "$pocl" "${long[@]}" --set /distribute=points
stopped 75 TERM rank mpirun -np 4 "$ERGOCL" run cubic.json -o stop --device "$pocl" "${long[@]}"
expect 0 "$ERGOCL" resume stop --device "$pocl" --quiet
same_points long stop
# a message of a round, a bridge or a layer that is lost: an empty one comes instead, and the run ends
make_faults
lost=(126 134) # names of sites; labels
[ -z "${ERGOCL_TEST_FULL:-}" ] || lost+=(120 121 122 123 124 128 129 130)
for message in "${lost[@]}"; do
    in_a_round "drop $message 1" 4 cubic.json -o dropped --overwrite "${cut[@]}" && wait $child &&
        fail "lost message $message went unnoticed"
    says err "another message than the one that is due"
done
if [ -n "${ERGOCL_TEST_FULL:-}" ]; then
    # one that comes seconds late; a rank that is killed, and what was saved on fewer
    in_a_round "wait 101 1" 4 cubic.json -o late "${cut[@]}"
    sleep 3
    rm mark
    wait $child || { cat err; fail "a late message ended the run"; }
    same_points whole late
    in_a_round "kill 4001" 3 cubic.json -o killed "${long[@]}"
    wait $child && fail "a killed rank went unnoticed"
    expect 0 ranks 2 resume killed --device "$pocl" --quiet
    same_points long killed
    # 64 ranks of two layers, and clusters that go through all
    many=(--set "/system/size=[12,12,128]" --set /system/temperature=1.7 --set /replicas=1 --set /run/sweeps=6)
    expect 0 "$ERGOCL" run cubic.json -o many1 --device "$pocl" --quiet "${many[@]}"
    expect 0 ranks 64 run cubic.json -o many64 --device "$pocl" "${cut[@]}" "${many[@]}"
    same_points many1 many64
fi
# spins of three words; angles and directions
vectors=(heisenberg)
[ -z "${ERGOCL_TEST_FULL:-}" ] || vectors+=(xy clock)
for model in "${vectors[@]}"; do
    sed "s/\"q\": 3/\"model\": \"$model\"/; s/\"replicas\": 2/\"replicas\": 1/" cubic.json >vectors.json
    expect 0 "$ERGOCL" run vectors.json -o "$model" --device "$pocl" --quiet
    expect 0 ranks 4 run vectors.json -o "${model}4" --device "$pocl" "${cut[@]}"
    same_points "$model" "${model}4"
done
if [ -n "${ERGOCL_TEST_FULL:-}" ]; then
    # Wolff's cluster, whose seed one rank has
    for model in '"q": 3' '"model": "xy"'; do
        sed "s/\"q\": 3/$model, \"update\": \"wolff\", \"start\": \"ordered\"/; s/, \"correlations\": true//" cubic.json >wolff.json
        expect 0 "$ERGOCL" run wolff.json -o wolff --device "$pocl" --quiet --overwrite
        expect 0 ranks 3 run wolff.json -o wolff3 --device "$pocl" --overwrite "${cut[@]}"
        same_points wolff wolff3
    done
fi
# sides that the last rank alone has
sides=(--set /system/q=2 --set '/system/boundary=["open","periodic","antiperiodic"]' --set /replicas=1
    --set '/run/observables="energy,clusters,wrapping_y"')
sed 's/, "correlations": true//' cubic.json >plain.json
expect 0 "$ERGOCL" run plain.json -o sides --device "$pocl" --quiet "${sides[@]}"
expect 0 ranks 3 run plain.json -o sides3 --device "$pocl" "${cut[@]}" "${sides[@]}"
same_points sides sides3
if [ -n "${ERGOCL_TEST_FULL:-}" ]; then
    sides=(--set /replicas=1 --set '/system/boundary=["periodic","periodic","open"]'
        --set '/run/observables="energy,psi2,clusters"')
    expect 0 "$ERGOCL" run plain.json -o end --device "$pocl" --quiet "${sides[@]}"
    expect 0 ranks 2 run plain.json -o end2 --device "$pocl" "${cut[@]}" "${sides[@]}"
    same_points end end2
fi
# rows of two dimensions: of a honeycomb lattice in twos
flat=(--set /system/lattice=honeycomb --set "/system/size=[20,14]" --set /system/temperature=0.6 --set /replicas=1
    --set '/run/observables="energy,correlation_half"')
expect 0 "$ERGOCL" run plain.json -o flat --device "$pocl" --quiet "${flat[@]}"
expect 0 ranks 3 run plain.json -o flat3 --device "$pocl" "${cut[@]}" "${flat[@]}"
same_points flat flat3
if [ -n "${ERGOCL_TEST_FULL:-}" ]; then
    sed 's/"q": 3, "size": \[20, 7, 8\]/"model": "xy", "size": [22, 15]/' cubic.json >flat.json
    for more in /run/correlations=true /run/method=probability-changing '/system/boundary=["antiperiodic","open"]'; do
        with=(--set /run/correlations=false --set "$more" --set /system/temperature=0.9)
        expect 0 "$ERGOCL" run flat.json -o xy2 --device "$pocl" --quiet --overwrite "${with[@]}"
        expect 0 ranks 4 run flat.json -o xy24 --device "$pocl" --overwrite "${cut[@]}" "${with[@]}"
        same_points xy2 xy24
    done
fi
expect 2 "$ERGOCL" validate plain.json "${flat[@]}" --set /system/lattice=triangular --set /distribute=lattice
says err "/distribute" "no triangular lattices"
# too few layers for each rank
expect 2 ranks 3 run cubic.json -o few --device "$pocl" "${cut[@]}" --set '/system/size=[8,8,5]'
says err "/distribute" "2 each"
