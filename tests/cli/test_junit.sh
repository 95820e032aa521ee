#!/usr/bin/env bash
# What tests/run-all leaves for machines is XML, whatever a test printed.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

mkdir -p log/unit log/cli
printf 'a "quoted" <b> & ]]> \033[31mred\033[0m \001\377\xe2\x80 \xef\xbf\xbe caf\xc3\xa9\n' >log/unit/test_a.log
printf 'not here: no "terminal" <&>\n' >log/cli/test_b.log
printf '%s\n' 'FAILED unit test_a 3' 'ok unit test_c@pocl 4' 'skipped cli test_b 0' 'unfinished cli test_d 9' >verdicts
expect 0 $python "$ERGOCL_ROOT/tests/junit.py" .
$python - <<'PYTHON' || fail "junit.py"
import xml.etree.ElementTree as tree

root = tree.parse("out").getroot()
unit, cli = root.findall("testsuite")
assert (unit.get("name"), unit.get("tests"), unit.get("failures"), unit.get("time")) == ("unit", "2", "1", "7")
assert (cli.get("tests"), cli.get("failures"), cli.get("skipped")) == ("2", "1", "1")
text = unit.find("testcase[@name='test_a']/failure").text
assert text.startswith('a "quoted" <b> & ]]> ?[31mred') and text.endswith("caf\u00e9\n"), text
assert unit.find("testcase[@name='test_c@pocl']").find("failure") is None
assert cli.find("testcase/skipped").get("message") == 'not here: no "terminal" <&>'
PYTHON
