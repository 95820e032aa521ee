#!/usr/bin/env bash
# ergocl compare --merge: results of several machines on one page, whoever wrote them.
. "$ERGOCL_ROOT/tests/cli/lib.sh"

# FILE DEVICE RATE DIGEST
comparison() {
    cat >"$1" <<JSON
{ "ergocl": "0.1.0", "agree": true, "rate_unit": "spin updates per second",
  "devices": [{ "selector": "gpu", "name": "$2", "platform": "P", "driver": "7", "rate": $3,
                "joules": 3, "work_of_these_joules": 1e9, "digests": ["$4"] }],
  "job": { "sampler": "spin-lattice", "name": "ising", "seed": "42" } }
JSON
}
comparison a.json "Card A" 2e9 00000000000000aa
comparison b.json "Card <B>" 4e9 00000000000000aa
cat >bench.json <<'JSON'
{ "device": { "name": "Card C", "platform": "Q", "driver": "8" },
  "cases": [{ "name": "2048", "unit": "spin updates per ns", "job": "{}", "rate": { "median": 1330.8 },
              "share": 0.19, "limited_by": "Philox", "ok": true }] }
JSON
expect 0 "$ERGOCL" compare --merge a.json b.json bench.json -o page.html
says out "ising, rates in spin updates per second" "reference" "same bits" "  0.5  " "3 nJ" "0.19 of Philox" "1331" "checked"
says page.html "Card &#60;B&#62;" "nothing differs" "0.19 of Philox" "default-src 'none'"
says_not page.html "<script" "Card <B>"
expect 4 "$ERGOCL" compare --merge a.json -o page.html
says err "exists already"
expect 0 "$ERGOCL" compare --merge a.json -o page.html --overwrite --quiet
[ ! -s out ] || fail "--quiet prints"
expect 0 "$ERGOCL" compare --merge a.json -o -
cmp -s out page.html || fail "-o - prints another page"
if [ -s err ] || [ -e - ]; then fail "-o - says more than the page, or makes a file"; fi

# other bits of the same job; another job is another table
comparison b.json "Card B" 4e9 00000000000000ab
expect 5 "$ERGOCL" compare --merge a.json b.json -o differ.html
says out "DIFFERS"
says differ.html "no agreement" "DIFFERS"
sed -i 's/"42"/"43"/' b.json
expect 0 "$ERGOCL" compare --merge a.json b.json -o two.html
says_not out "DIFFERS" "same bits"
# a device that failed, a case whose check failed
sed 's/"digests": .*/"error": "no \\u001b[31m memory" }],/' a.json >failed.json
expect 5 "$ERGOCL" compare --merge failed.json -o failed.html
says out "failed" "no "
says_not out $'\033'
sed 's/"ok": true/"ok": false/' bench.json >wrong.json
expect 5 "$ERGOCL" compare --merge wrong.json -o wrong.html
says out "its check failed"

# files that are something else
echo '{ "devices": 1 }' >other.json
expect 2 "$ERGOCL" compare --merge a.json other.json -o none.html
says err "other.json: neither a compare.json" "ergocl bench -o"
sed 's/"digests": .*/"rate": 1 }],/; s/"rate": 2e9,//' a.json >short.json
expect 2 "$ERGOCL" compare --merge short.json -o none.html
says err "short.json: /devices/0/digests is missing"
sed 's/"median"/"mean"/' bench.json >mean.json
expect 2 "$ERGOCL" compare --merge mean.json -o none.html
says err "mean.json: /cases/0/rate/median is missing"
expect 2 "$ERGOCL" compare --merge a.json --all -o none.html
says err "runs nothing"
expect 2 "$ERGOCL" compare a.json b.json --all
says err "takes one job" "--merge"
[ ! -e none.html ] || fail "a page of nothing"
expect 4 "$ERGOCL" compare --merge absent.json -o none.html
# what is recorded in the repository
expect 0 "$ERGOCL" compare --merge "$ERGOCL_ROOT"/bench/results/*.json -o recorded.html --quiet
