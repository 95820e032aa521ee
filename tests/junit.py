#!/usr/bin/env python3
"""JUnit XML of a run of tests/run-all: tests/junit.py FOLDER reads its verdicts (STATUS SUITE NAME
SECONDS, one a line) and the logs of what failed."""
import os
import re
import sys
from xml.sax.saxutils import escape, quoteattr

LOG_BYTES = 20000  # of the end of a log


def text_of(path):
    """The end of a log as XML may have it: no control characters but tab and newline."""
    try:
        with open(path, "rb") as file:
            text = file.read()[-LOG_BYTES:].decode("utf-8", "replace")
    except OSError:
        return ""
    return re.sub("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text)


def main(folder):
    suites = {}
    with open(os.path.join(folder, "verdicts"), encoding="utf-8") as file:
        for line in file:
            status, suite, name, seconds = line.split()
            suites.setdefault(suite, []).append((status, name, int(seconds)))
    print('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="ergocl">')
    for suite, tests in suites.items():
        bad = sum(status in ("FAILED", "unfinished") for status, _, _ in tests)
        skipped = sum(status == "skipped" for status, _, _ in tests)
        print(f'<testsuite name={quoteattr(suite)} tests="{len(tests)}" failures="{bad}" errors="0" '
              f'skipped="{skipped}" time="{sum(test[2] for test in tests)}">')
        for status, name, seconds in tests:
            log = text_of(os.path.join(folder, "log", suite, name + ".log"))
            print(f'<testcase classname={quoteattr(suite)} name={quoteattr(name)} time="{seconds}">', end="")
            if status == "skipped":
                print(f"<skipped message={quoteattr(log.strip().splitlines()[-1] if log.strip() else status)}/>", end="")
            elif status != "ok":
                print(f"<failure message={quoteattr(status)}>{escape(log)}</failure>", end="")
            print("</testcase>")
        print("</testsuite>")
    print("</testsuites>")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    main(sys.argv[1])
