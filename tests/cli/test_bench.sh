#!/usr/bin/env bash
# ergocl bench: finds ergocl-bench beside itself, passes its options on, shows recorded results.
. "$ERGOCL_ROOT/tests/cli/lib.sh"
program=${ERGOCL%/*}/bench/ergocl-bench

# a copy of ergocl without the other program
mkdir -p alone && cp "$ERGOCL" alone/ergocl
expect 4 alone/ergocl bench --list
says err "make bench-program"
expect 2 "$ERGOCL" bench --seconds much

[ -x "$program" ] || {
    echo "$program is not built"
    exit 77
}
expect 0 "$ERGOCL" bench --list --sampler hard-disks
says out "disks-256"
says_not out "spin-lattice"
# the job of every case is one that run takes
mapfile -t cases < <("$program" --list | awk 'NR > 1 { print $2 }')
while read -r line; do
    echo "{${line#*{}" >job.json
    expect 0 "$ERGOCL" validate job.json
done < <("$program" --list --case "${cases[@]}" | grep '{')
# and a line of the list is one of a terminal
expect 0 "$ERGOCL" bench --list
awk 'length($0) > 180 { exit 1 }' out || fail "lines of the list are longer than 180 characters"
says out "size 2048x2048, temperature 2.2691853"
says_not out '{'
expect 0 "$ERGOCL" bench --list disks-256
says out '"sampler": "hard-disks"'
expect 2 "$ERGOCL" bench voodoo
says err 'no case "voodoo"'
# beside recorded results, one of them a stranger's
mkdir -p tree/build/bench tree/bench/results
cp "$ERGOCL" tree/build/ && cp "$program" tree/build/bench/
cp "$ERGOCL_ROOT"/bench/results/*.json tree/bench/results/
echo '{ "date": "\u001b]0;x", "device": { "name": "\u001b[31m", "platform": "\u0007", "driver": 7 },
  "cases": [ 1, { "rate": 2 }, { "name": "512", "rate": { "median": 1e308, "min": "x" } } ] }' >tree/bench/results/s.json
expect 0 tree/build/ergocl bench 512 --seconds 0.05 --device "$ERGOCL_DEVICE" -o now.json
says out "check: ok" "recorded 2026-11-21" "pthread" "recorded ?]0;x" "?[31m, ?"
! grep -q $'[\e\a]' out || fail "bytes that terminals obey"
says now.json '"name": "512"' '"rate"'
