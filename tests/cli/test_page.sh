#!/usr/bin/env bash
# The page of each sampler in a browser (browser.py says what is looked at), of several runs together, and
# the same warnings there as on the terminal.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

pages=()
for sampler in $(samplers); do
    expect 0 "$ERGOCL" run "$ERGOCL_ROOT/tests/contract/jobs/$sampler.json" -o "$sampler"
    sed -n 's/^warning: //p' out | sort >terminal
    $python - "$sampler/report.html" <<'PYTHON' | sort >page
import html, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
box = re.search(r'<div class="warn">(.*?)</div>', page, re.S)
for warning in re.findall(r"<li>(.*?)</li>", box[1], re.S) if box else []:
    print(html.unescape(warning))
PYTHON
    cmp terminal page || fail "warnings of $sampler: $(diff terminal page)"
    pages+=("$sampler/report.html")
done

# local densities have peaks far from 0: over a linear axis, though their bins reach over three decades
$python - <<'PYTHON' || fail "local_density is drawn over a logarithmic axis, or not at all"
import re
page = open("hard-disks/report.html", encoding="utf-8").read()
figure = re.search(r"<b>local density</b>.*?</figure>", page, re.S)[0]
assert "packing fraction" in figure and "10⁻" not in re.sub(r"<[^>]*>", "", figure), figure[:2000]
PYTHON

# What a reader wants comes first, under the signs of papers.
cat >sizes.json <<'JOB'
{ "sampler": "swendsen-wang", "seed": "2", "system": { "size": [8, 8], "temperature": 1.1 },
  "run": { "equilibration": 50, "sweeps": 400 },
  "scan": { "/system/size": [[8, 8], [16, 16]], "/system/temperature": [1.1, 1.13, 1.16] } }
JOB
expect 0 "$ERGOCL" run sizes.json -q -o sizes
expect 0 "$ERGOCL" run sizes.json -q -o L8 --set '/scan={"/system/temperature":[1.1,1.16]}'
expect 0 "$ERGOCL" run sizes.json -q -o L16 --set '/scan={"/system/temperature":[1.1,1.16]}' --set '/system/size=[16,16]'
expect 0 "$ERGOCL" run sizes.json -q -o again --set '/scan={"/system/temperature":[1.1,1.16]}' --set /seed=7
expect 0 "$ERGOCL" report L8 L16 again -o together.html
$python - <<'PYTHON' || fail "figures are not in their order, or not under their names"
import html, re
page = open("sizes/report.html", encoding="utf-8").read()
heads = re.findall(r"<h2>(.*?)</h2>", page)
assert heads.index("Results") < heads.index("Curves") < heads.index("Checks") < heads.index("Moments"), heads
part = dict(zip(heads, re.split(r"<h2>.*?</h2>", page)[1:]))
for name, where in ("moment ratio", "Results"), ("susceptibility", "Results"), ("psi2 plain", "Checks"), ("psi4", "Moments"):
    assert f"<b>{name}</b>" in part[where], (name, where)
assert "<b>susceptibility</b> <i>χ</i>" in page and "⟨m²⟩" in page
legend = re.search(r'<b>susceptibility</b>.*?<p class="legend">(.*?)</p>', page, re.S)[1]
assert re.findall(r"L = (\d+)", legend) == ["8", "16"], legend  # one curve a size, not one a point
assert 'class="g c1"' in part["Results"], "no lines that guide where curves cross"
labels = re.findall(r"<option[^>]*>(.*?)</option>", page)
assert labels[0] == "L = 8, T = 1.1" and len(labels) == 6, labels
together = open("together.html", encoding="utf-8").read()
first = re.search(r"runs of swendsen-wang together</h2>.*?</figure>", together, re.S)[0]
assert re.findall(r"L = (\d+)", first.split('<svg viewBox="0 0 400')[0]) == ["8", "16"], "not by what differs"
assert first.count('<circle class="m c0"') - 1 == 4, "runs of one kind are not one curve"
PYTHON

# helium's energy against b is a curve each point, over its own b
expect 0 "$ERGOCL" report helium-vmc -q 2>/dev/null || true
if [ -e helium-vmc/report.html ]; then
    says helium-vmc/report.html "energy against b" "Points are means over replicas."
    $python - <<'PYTHON' || fail "energy against b: no numbers at its axis, or replicas one by one"
import re
page = open("helium-vmc/report.html", encoding="utf-8").read()
figure = re.search(r"<b>energy against b</b>.*?</figure>", page, re.S)[0]
assert len(re.findall(r">[23]\.\d+</text>", figure)) >= 2, figure[:3000]
energy = re.search(r"<b>energy</b>.*?</svg>", page, re.S)[0]
assert len(re.findall('<circle class="m c0"', energy)) == 2, "replicas one by one" # two values of b, four chains
PYTHON
fi

code=0
$python "${0%/*}/browser.py" "${pages[@]}" sizes/report.html together.html || code=$?
exit $code
