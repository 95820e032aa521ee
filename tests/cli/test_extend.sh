#!/usr/bin/env bash
# Runs that go further, and runs in parts, from the command line: resume --set, run into a finished
# folder, kill -9 in the middle of an extension, run --part and merge; messages and exit codes.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
small_job >job.json
more=('--set' '/scan={"/system/temperature": [2.2, 2.25, 2.3]}' '--set' /replicas=2 '--set' /run/sweeps=6005)
expect 0 "$ERGOCL" run job.json -o whole --quiet "${more[@]}"

# one key after the other, and the same by run
expect 0 "$ERGOCL" run job.json -o longer --quiet
cp -r longer by-run
expect 0 "$ERGOCL" resume longer --set /run/sweeps=3003
expect 0 "$ERGOCL" resume longer --quiet --set /replicas=2
expect 0 "$ERGOCL" resume longer --quiet "${more[@]}"
same_results whole longer
expect 0 "$ERGOCL" resume longer
same_results whole longer
expect 0 "$ERGOCL" report longer --overwrite
expect 0 "$ERGOCL" run job.json -o by-run "${more[@]}"
says err "by-run holds a finished run of this job, which is extended: of its 2 points 2 go on, and 4 are new"
same_results whole by-run

# Snapshots are those of the longer run, and no others: (of hard disks, pictures and configurations)
cat >frames.json <<'JOB'
{ "sampler": "hard-disks", "seed": "3", "system": { "n": 16, "packing_fraction": 0.3 }, "scan": { "/system/packing_fraction": [0.2, 0.3] },
  "run": { "equilibration": 20, "sweeps": 200, "measure_every": 10 }, "output": { "snapshots": 4 } }
JOB
expect 0 "$ERGOCL" run frames.json -o short --quiet
expect 0 "$ERGOCL" resume short --quiet --set /run/sweeps=400
expect 0 "$ERGOCL" run frames.json -o long-frames --quiet --set /run/sweeps=400
diff <(ls short/snapshots) <(ls long-frames/snapshots) || fail "snapshots of an extended run"

# refused, with the key and the reason, before anything is touched
find by-run -type f ! -name lock -exec sha256sum {} + | sort >before
expect 2 "$ERGOCL" run job.json -o by-run "${more[@]}"
says err "holds an earlier run, which this job does not extend (it has done all of this job: "
expect 2 "$ERGOCL" run job.json -o by-run "${more[@]}" --set /seed=12
says err "/seed: found 12, but the run has 11"
expect 2 "$ERGOCL" resume by-run --set /run/sweeps=6000
says err "/run/sweeps: found 6000, but the run has done 6005 sweeps"
expect 2 "$ERGOCL" resume by-run --set '/system/size=[32,32]'
says err "/system/size: found 32,32, but the run has 64,64"
expect 2 "$ERGOCL" resume by-run --set '/scan={"/system/temperature": [2.2, 2.3]}'
says err "/system/temperature: the run has a point with 2.25, which is not in the scan"
expect 2 "$ERGOCL" resume by-run --set /system/temprature=3
expect 2 "$ERGOCL" resume by-run --set /replicas=1
find by-run -type f ! -name lock -exec sha256sum {} + | sort >after
cmp before after || fail "a refusal changed the folder"

# killed in the middle: resumed without a word of what it was to become
expect 0 "$ERGOCL" run job.json -o long --quiet --set /run/sweeps=200000
expect 0 "$ERGOCL" run job.json -o killed --quiet
"$ERGOCL" resume killed --quiet --set /run/sweeps=200000 --set /checkpoint/every_seconds=0.02 >out.killed 2>&1 &
child=$!
wait_for killed/checkpoint-0-0
sleep 0.3
kill -s KILL $child
wait $child
expect 0 "$ERGOCL" resume killed --quiet
same_results long killed

# parts
for part in 1 2 3; do
    expect 0 "$ERGOCL" run job.json --part $part/3 -o part$part --quiet "${more[@]}"
done
says part2/result.json '"part": "2/3"'
expect 0 "$ERGOCL" resume part2
expect 0 "$ERGOCL" merge part1 part2 part3 -o merged
says out merged/result.json merged/report.html
same_results whole merged
expect 0 "$ERGOCL" report part1 merged
expect 0 "$ERGOCL" resume merged --quiet --set /replicas=3
expect 2 "$ERGOCL" merge part1 part3 -o other
says err "part 2/3 is missing: 2 of 6 points are in none of the folders"
expect 2 "$ERGOCL" merge part1 part2 long -o other
says err "part1 and long are not parts of one run"
expect 2 "$ERGOCL" merge part1 part2 part3 -o part1 --overwrite
says err "part1 is one of the parts"
expect 2 "$ERGOCL" merge part1 part2 part3 -o merged
says err "merged holds an earlier run"
expect 2 "$ERGOCL" merge part1
expect 4 "$ERGOCL" merge nothing -o other
[ ! -e other ] || fail "a merge that was refused made its folder"
for wrong in 0/3 4/3 2 a/b 1/2/3 -1/2; do
    expect 2 "$ERGOCL" run job.json --part=$wrong -o wrong
    says err "--part: found \"$wrong\""
done
expect 2 "$ERGOCL" run job.json --part 1/3 -o wrong
says err "has 2 points and replicas"
expect 2 "$ERGOCL" run job.json --part 1/2
