#!/usr/bin/env bash
# ergocl report: one run and several, stopped ones, hostile names; the page needs no network.
. "$ERGOCL_ROOT/tests/cli/lib.sh"

small_job >job.json
expect 0 "$ERGOCL" run job.json -o ising --quiet
cp ising/report.html own.html
digests ising >before

# The run's own report again: from the checkpoint the same figures come as from the run.
expect 0 "$ERGOCL" report ising
says err "wrote ising/report.html"
# speed and times are not known as finely as while the run went on
grep -v -e '<dt>Speed' -e '<dt>Sampling time' own.html >a
grep -v -e '<dt>Speed' -e '<dt>Sampling time' ising/report.html >b
cmp a b || fail "a report from a folder differs from that of its run"
says ising/report.html "<h2>Results</h2>" "<h2>Autocorrelation</h2>" "<h2>Histograms</h2>" \
    "<h2>Point by point</h2>" "time series of" "<h2>Parameters</h2>" "/system/temperature" "heat capacity" "equilibration"
digests ising | cmp - before || fail "a report changed its run"

# Markup in names is text, and nothing is fetched from anywhere.
hostile='<img src=x onerror=alert(1)>&"'"'"'.json'
cp job.json "$hostile"
expect 0 "$ERGOCL" run "$hostile" -o 'hostile <b> & "x"' --quiet --set /system/temperature=2.5 --set '/scan={"/system/temperature":[2.5]}'
# Three runs, one of them stopped before its end.
expect 75 "$ERGOCL" run job.json -o stopped --quiet --set /wall_time=0.2 --set /run/sweeps=1000000
expect 0 "$ERGOCL" report ising 'hostile <b> & "x"' stopped -o all.html
says all.html "3 runs" "spin-lattice together" "stopped" "&#60;img src=x onerror=alert(1)&#62;" "hostile &#60;b&#62;"
says_not all.html "<img src=x" "hostile <b>" "<script" "http://" "https://" "url(" "@import"
says all.html "default-src 'none'"
$python - all.html <<'PYTHON' || fail "all.html is not well formed"
import sys
from html.parser import HTMLParser

void = {"meta", "link", "img", "br"}
class Check(HTMLParser):
    stack, allowed = [], ("data:", "#")
    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name.startswith("on"):
                sys.exit("event handler in " + tag)
            if name in ("src", "href") and not value.startswith(self.allowed):
                sys.exit("reference to " + value)
        if tag not in void:
            self.stack.append(tag)
    def handle_startendtag(self, tag, attributes):
        pass
    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag:
            sys.exit("unbalanced " + tag)
check = Check()
check.feed(open(sys.argv[1], encoding="utf-8").read())
check.close()
if check.stack:
    sys.exit("not closed: " + " ".join(check.stack))
PYTHON

# A file in the way is not replaced unasked; what is no run is said, all of it.
expect 4 "$ERGOCL" report ising -o all.html
says err "all.html exists already" "--overwrite"
expect 0 "$ERGOCL" report ising -o all.html --overwrite --quiet
# What is no regular file is written to, and stays what it is; a link of the user's leads to the page.
"$ERGOCL" report ising -o /dev/stdout --overwrite --quiet | cat >piped.html
cmp all.html piped.html || fail "another page through a pipe"
expect 0 "$ERGOCL" report ising -o /dev/null --overwrite
expect 0 "$ERGOCL" report ising -o -
cmp out all.html || fail "report -o -: $(head -c 300 out)"
if [ -e - ] || [ -s err ]; then fail "report -o - writes elsewhere: $(cat err)"; fi
code=0
"$ERGOCL" report ising -o - >/dev/full 2>err || code=$?
[ $code -eq 4 ] || fail "report -o - to a full disk: exit code $code"
[ -c /dev/null ] || fail "/dev/null was replaced"
expect 4 "$ERGOCL" report ising -o /dev/full --overwrite
says err "No space left on device"
ln -s /proc/self/fd/1 output
ln -s linked.html link.html
echo old >linked.html
for name in output link.html; do
    "$ERGOCL" report ising -o $name --overwrite --quiet >printed.html || fail "no page by $name"
    [ -L $name ] || fail "the link $name was replaced"
done
cmp all.html linked.html || fail "another page through a link"
"$ERGOCL" report ising -o output --overwrite --quiet >printed.html
cmp all.html printed.html || fail "another page as standard output"
mkdir empty
expect 4 "$ERGOCL" report empty ising nowhere -o new.html
says err "empty has no file checkpoint" "nowhere has no file checkpoint"
[ ! -e new.html ] || fail "a page was written all the same"
mkdir cutrun && head -c 3000 ising/checkpoint >cutrun/checkpoint
expect 4 "$ERGOCL" report cutrun
expect 2 "$ERGOCL" report
expect 4 "$ERGOCL" report ising -o nofolder/x.html

# Curves of more realisations than there are measurements.
cat >ne.json <<'JSON'
{ "sampler": "spin-lattice", "seed": "5",
  "system": { "model": "north-east", "size": [32, 32], "up_density": 0.5, "realisations": 96 },
  "run": { "sweeps": 10, "measure_every": 10 } }
JSON
expect 0 "$ERGOCL" run ne.json -o ne --quiet
cp ne/report.html own.html
expect 0 "$ERGOCL" report ne
says ne/report.html ">phi<"
says own.html ">phi<"

# Figures of a page, as a drawing that stands alone.
$python "$ERGOCL_ROOT/tools/figure.py" ising/report.html "heat capacity" energy >figure.svg || fail "figure.py failed"
$python -c 'import sys, xml.dom.minidom as dom; [dom.parse(name) for name in sys.argv[1:]]' \
    figure.svg "$ERGOCL_ROOT"/data/figures/*.svg || fail "a drawing is no XML"
says figure.svg ">heat capacity<" "T (J/k" "exact"
says_not figure.svg "var(--"
$python "$ERGOCL_ROOT/tools/figure.py" ising/report.html nonsense 2>err && fail "figure.py drew nonsense"
says err "no figure 'nonsense'" "energy"

# A chain that is still on its way to equilibrium is told.
cat >drift.json <<'JSON'
{ "sampler": "spin-lattice", "seed": "5",
  "system": { "model": "ising", "size": [256, 256], "temperature": 2.6, "start": "up" },
  "run": { "equilibration": 0, "sweeps": 1000, "measure_every": 1, "correlation_every": 0 } }
JSON
expect 0 "$ERGOCL" run drift.json -o drift
for said in out drift/report.html drift/result.json; do # one list for all three
    says $said "not equilibrated: energy" "equilibrate longer"
done
says drift/result.json '"untrusted": "drift"'

# So are displacements that nearly always succeed.
cat >timid.json <<'JSON'
{ "sampler": "hard-disks", "seed": "5", "system": { "n": 100, "packing_fraction": 0.5, "max_displacement": 0.001 },
  "run": { "equilibration": 10, "sweeps": 100, "measure_every": 5, "gr_max": 0 } }
JSON
expect 0 "$ERGOCL" run timid.json -o timid
for said in out timid/report.html timid/result.json; do
    says $said "acceptance is 1: displacements should be larger"
done
expect 0 "$ERGOCL" run timid.json -o bold --quiet --set /system/max_displacement=0.16
says_not bold/report.html "displacements should be" "not equilibrated"
