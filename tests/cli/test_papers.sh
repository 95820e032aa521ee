#!/usr/bin/env bash
# bench/papers/figure.py: published and measured values of a short run; every figure's job is valid.
. "$ERGOCL_ROOT/tests/cli/lib.sh"
figure=$ERGOCL_ROOT/bench/papers/figure.py

expect 0 $python "$figure" --list
names=$(cut -d' ' -f1 out)
ln -s "$ERGOCL_ROOT/data" data # files that jobs name
[ "$(wc -w <<<"$names")" -ge 5 ] || fail "too few figures: $names"
for name in $names; do
    $python -c "import json, sys; job = json.load(open(sys.argv[1]))['job']
print(open(sys.argv[2] + '/' + job).read() if isinstance(job, str) else json.dumps(job))" \
        "${figure%/*}/$name.json" "$ERGOCL_ROOT" >job.json || fail "$name.json"
    expect 0 "$ERGOCL" validate job.json
done
expect 1 $python "$figure" voodoo
expect 1 $python "$figure" helium-sample --ergocl "$ERGOCL" --set /system/voodoo=1
says err "/system/voodoo"

expect 0 $python "$figure" north-east-figure7c --ergocl "$ERGOCL" --device "$ERGOCL_DEVICE" --keep kept \
    --set '/system/size=[64,64]' --set /run/sweeps=100 --set /run/measure_every=50
says out "| phi(10) | 0.68985(86) | 0.69" "| phi(200) | 0.4313(16) | not in this run | - |" "with /system/size=[64,64]"
[ -s kept/north-east-figure7c/run/result.json ] || fail "--keep kept nothing"
# the eight published times up to t = 50 are of a system four times as large: |z| < 4
$python - out <<'PYTHON' || fail "far from the published values"
import sys
z = [float(line.split("|")[4]) for line in open(sys.argv[1]) if line.startswith("| phi") and line.split("|")[4].strip() != "-"]
sys.exit(len(z) < 8 or max(map(abs, z)) >= 4)
PYTHON

# other programs' checkerboards, as short as it goes
schemes=${ERGOCL%/*}/bench/disks-schemes
if [ -x "$schemes" ]; then
    expect 0 $python "${figure%/*}/disks-schemes.py" --rows 8 --seconds 0 --seeds 2 --program "$schemes" --lines raw \
        --only ergocl SoftDisks
    says out "| ergocl | 1.061 | 4, 1 |" "| SoftDisks | 2.122 | 16, 1 |"
    cp out first
    expect 0 $python "${figure%/*}/disks-schemes.py" --rows 8 --read raw
    diff -u first out || fail "the table of the lines kept is another"
    expect 1 "$schemes" 7 0 1 8 4 1 0 0 0 0.16 0
fi
# a figure in pieces: stopped by the clock, and gone on with, to the digest of one piece
piece=(north-east-figure7b --ergocl "$ERGOCL" --device "$ERGOCL_DEVICE" --set '/system/size=[64,64]'
    --set /run/sweeps=3000 --set /run/measure_every=20)
expect 0 $python "$figure" "${piece[@]}" --keep whole
expect 0 $python "$figure" "${piece[@]}" --keep pieces --wall 0.05
says out "of 3000 sweeps" "not in this run"
for ((i = 0; i < 30; i++)); do # longer ones in the end, for slow machines
    expect 0 $python "$figure" "${piece[@]}" --keep pieces --wall $((i < 9 ? 0 : i - 8)).2
    grep -q "of 3000 sweeps" out || break
done
same_digests whole/north-east-figure7b/run pieces/north-east-figure7b/run
expect 2 $python "$figure" "${piece[@]}" --wall 1

# every job and program of the folder, and every paper, is in its table, which README links
table=${figure%/*}/README.md
for name in $names helium-equation-of-state.py disks-table1.py disks-decorrelation.py scaling.py; do
    says "$table" "$name"
done
says "$table" "Anderson et al. 2013" "Schwiebert et al. 2014" "Levy et al. 2010" "Lutsyshyn 2015" "Komura and Okabe 2012"
says "$ERGOCL_ROOT/README.md" "(bench/papers/README.md)"

# the programs of more than one job, short
here=(--device "$ERGOCL_DEVICE" --ergocl "$ERGOCL")
expect 0 $python "${figure%/*}/disks-decorrelation.py" "${here[@]}" --n 64 --replicas 4 --sweeps 3000 \
    --measure-every 2 --rounds 1 --displacements 0.16 --moves 4
says out "| 8 | 1.061 | 0.16 | 4 |"
for row in "" "--rows disks-in-order"; do # goes on in the folder, and alone
    # shellcheck disable=SC2086 # two words
    expect 0 $python "${figure%/*}/disks-table1.py" table1 "${here[@]}" --n 256 --cells 12 --replicas 4 \
        --equilibration 20 --sweeps 400 --measure-every 20 $row
    says out "disks-in-order | 4 x 400"
done
[ -n "${ERGOCL_TEST_FULL:-}" ] || exit 0

# test-long: all the others, short too
for short in "helium-sample 0 /run/sweeps=80 /run/equilibration=20" "disks-table2 0 /scan/~1system~1n=[1024] /run/equilibration=10 /run/sweeps=400" \
    "ising-figure6 31 /system/size=[32,32] /run/sweeps=20000 /run/equilibration=500 /run/measure_every=20" \
    "north-east-figure7a 0 /system/size=[32,32] /run/sweeps=1000 /run/measure_every=100"; do
    read -r name points rest <<<"$short"
    sets=()
    for set in $rest; do
        sets+=(--set "$set")
    done
    expect 0 $python "$figure" "$name" "${here[@]}" "${sets[@]}"
    says out "| quantity | published | measured | z |"
    [ "$points" -eq 0 ] || says out "energy, $points points"
done
if command -v mpirun >/dev/null; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    expect 0 $python "$ERGOCL_ROOT/bench/scaling.py" run --ranks 1,2 --sides 128 --check 100,77 --sweeps 20 "${here[@]}"
    says out '"ranks": 2'
fi
