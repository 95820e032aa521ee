#!/usr/bin/env bash
# Man page, completion and help have every command, option, sampler and topic; the man page is clean
# roff; links and commands of all pages are right.
. "$ERGOCL_ROOT/tests/cli/lib.sh"
man=$ERGOCL_ROOT/src/cli/ergocl.1

expect 0 "$ERGOCL" --help
commands=$(sed -n 's/^  \([a-z]*\) .*/\1/p' out)
[ "$(wc -w <<<"$commands")" -ge 11 ] || fail "too few commands in --help: $commands"
expect 0 "$ERGOCL" help
samplers=$(samplers)
topics=$(sed -n '/^Topics/,$s/^  \([a-z-]*\) .*/\1/p' out)
if [ "$(wc -w <<<"$samplers")" -lt 5 ] || [ "$(wc -w <<<"$topics")" -lt 5 ]; then
    fail "help: $samplers; $topics"
fi
for word in $commands $samplers $topics; do
    expect 0 "$ERGOCL" help "$word" >/dev/null
    [ -s out ] || fail "no help on $word"
done

# complete WORDS... CURRENT: what completion offers, one a line.
# shellcheck disable=SC1091
. "$ERGOCL_ROOT/src/cli/completion.bash"
ergocl() { "$ERGOCL" "$@"; } # which completion asks for the samplers
compopt() { :; } # outside of a completion there are no options to set
complete_words() {
    COMP_WORDS=(ergocl "$@") COMP_CWORD=$#
    COMPREPLY=()
    _ergocl
    printf '%s\n' "${COMPREPLY[@]}"
}
complete_words "" >offered
for word in $commands; do grep -qx -e "$word" offered || fail "completion lacks the command $word"; done
complete_words help "" >offered
for word in $commands $samplers $topics; do
    grep -qx -e "$word" offered || fail "completion of help lacks $word"
done
grep -qx spin-glass offered || fail "completion of help lacks the model spin-glass"
complete_words help spin-lattice "" >offered
[ "$(sort offered | xargs)" = "blume-capel clock east fredrickson-andersen graph heisenberg ising north-east north-or-east potts random-orthogonal sherrington-kirkpatrick spin-glass xy" ] ||
    fail "completion of help spin-lattice: $(xargs <offered)"
for before in "kernels" "bench --sampler"; do
    # shellcheck disable=SC2086
    complete_words $before "" >offered
    for word in $samplers; do grep -qx -e "$word" offered || fail "completion of $before lacks $word"; done
done

sed 's/\\//g' "$man" >plain
for command in $commands; do
    says plain "B ergocl $command"
    "$ERGOCL" "$command" --help >out || fail "$command --help"
    complete_words "$command" -- >offered
    sed -n '/^options:/,$p' out | grep -o -e '--[a-z-]*' | sort -u >options
    while read -r option; do
        grep -qF -e "$option" plain || fail "the man page lacks $option of $command"
        grep -qx -e "$option" offered || fail "completion lacks $option of $command"
    done <options
done
for variable in $("$ERGOCL" help environment | grep -o '^  [A-Z_]*'); do says plain "$variable"; done
if command -v groff >/dev/null; then
    groff -man -Tascii -ww -rLL=100n "$man" 2>warnings >page || fail "groff failed"
    [ ! -s warnings ] || fail "the man page: $(head -n 5 warnings)"
    says page "ERGOCL(1)" "report" "tune"
fi

version=$("$ERGOCL" --version | sed -n 's/^ergocl //p')
says "$ERGOCL_ROOT/CITATION.cff" "version: $version"

# Pages: every link leads to a file and a heading that are there, and every command that a page shows has
# that name and those options.
python=$(command -v /usr/bin/python3 || command -v python3 || true)
[ -n "$python" ] || exit 0
for command in $commands; do
    "$ERGOCL" "$command" --help | grep -o -e '--[a-z-]*' | sed "s/^/$command /"
done >known
$python - known <<'PYTHON' >faults || fail "$(cat faults)"
import os, pathlib, re, sys

root = pathlib.Path(os.environ["ERGOCL_ROOT"])
known = {tuple(line.split()) for line in open(sys.argv[1])}
commands = {command for command, _ in known}
# (build may have a whole system in it: tools/offline-matrix.sh)
pages = [p for top in sorted(root.iterdir()) if not top.name.startswith(("build", "."))
         for p in ([top] if top.suffix == ".md" else top.rglob("*.md"))]


def outside_code(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def anchors(page):
    """The names that a forge gives to the headings of a page."""
    titles = re.findall(r"^#+ +(.*)$", outside_code(page.read_text()), re.M)
    return {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles}


faults, links, shown = [], 0, 0
for page in pages:
    text = page.read_text()
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", outside_code(text))):
        if target.startswith("http"):
            continue
        links += 1
        path, _, anchor = target.partition("#")
        to = page.parent / path if path else page
        if not to.exists():
            faults.append(f"{page}: no such file: {target}")
        elif anchor and anchor not in anchors(to):
            faults.append(f"{page}: no such heading: {target}")
    for line in re.findall(r"(?:^|`|^    .* )(?:build/)?ergocl ([a-z]+[^`\n#]*)", text, re.M):
        command, *words = line.split()
        if command not in commands:
            continue # prose, or a topic
        shown += 1
        for option in re.findall(r"(?<= )(--[a-z][a-z-]*)", line):
            if (command, option) not in known:
                faults.append(f"{page}: ergocl {command} has no {option}")
if len(pages) < 15 or links < 50 or shown < 30:
    faults.append(f"only {len(pages)} pages with {links} links and {shown} commands")
print("\n".join(faults))
sys.exit(bool(faults))
PYTHON

# Commands that pages print and the guide's test does not run: each names a job that is there, or was made by
# `ergocl new` before, and all that it sets is valid.
mkdir shown && cp "$ERGOCL_ROOT"/data/guide/* shown && ln -s "$ERGOCL_ROOT/data" "$ERGOCL_ROOT/bench" shown
$python - <<'PYTHON' >faults || fail "$(cat faults)"
import os, pathlib, re, shlex, subprocess, sys

root = pathlib.Path(os.environ["ERGOCL_ROOT"])
faults, checked = [], 0


def ergocl(*words):
    return subprocess.run([os.environ["ERGOCL"], *words], cwd="shown", capture_output=True, text=True, check=False)


def lines(page):
    """Lines of code that no other test runs; one may go on behind a backslash."""
    text = re.sub(r"^```console\n.*?^```$", "", page.read_text(), flags=re.M | re.S).replace("\\\n", " ")
    for block in re.findall(r"^```(?:sh)?\n(.*?)^```$", text, re.M | re.S):
        yield from block.splitlines()
    for line in re.findall(r"^    (.*)$", text, re.M):
        yield line


for page in [root / "README.md", *sorted(root.glob("data/guide/*.md")), *sorted(root.glob("src/samplers/*/README.md"))]:
    made = set()
    for line in lines(page):
        for command in re.split(r"&&|;|\|\|", line.partition(" #")[0]):
            words = shlex.split(command) if re.search(r"\bergocl (run|validate|new|tune|examples)\b", command) else []
            words = words[words.index("ergocl") + 1:] if "ergocl" in words else []
            if len(words) < 2:
                continue
            if words[0] in ("new", "examples"):
                to = words.index(">") if ">" in words else words.index("-o") if "-o" in words else len(words)
                done = ergocl(*words[:to])
                if to < len(words):
                    pathlib.Path("shown", words[to + 1]).write_text(done.stdout)
                    made.add(words[to + 1])
            else:
                sets = [w for k, w in enumerate(words) if w in ("--set", "-s") or words[k - 1] in ("--set", "-s")]
                if not pathlib.Path("shown", words[1]).exists() and re.match("job|JOB", words[1]):
                    continue # any job of the reader's
                if "/" not in words[1] and words[1] not in made and not (root / "data/guide" / words[1]).exists():
                    faults.append(f"{page}: {command.strip()}: no {words[1]}")
                    continue
                done = ergocl("validate", words[1], *sets)
            checked += 1
            if done.returncode:
                faults.append(f"{page}: {command.strip()}: {done.stderr.strip()}")
if checked < 20:
    faults.append(f"only {checked} commands")
print("\n".join(faults))
sys.exit(bool(faults))
PYTHON

# Speeds of README are those of bench/README.md, whose table a bench run makes.
$python - "$ERGOCL_ROOT" <<'PYTHON' || fail "README's speeds are not those of bench/README.md"
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
CASES = {"the job above": "quickstart", "256 Ising": "run-256x256", "256 Potts": "run-sw-256x64", "4,096 spin-glass": "glass-8-pt",
         "1024^2 hard disks": "disks-1024", "helium, 512": "helium-512"}
measured = {}
for name, seconds, rate in re.findall(r"^\| ([\w-]+) \|[^|]*\| [\d.,]+ \(([\d.]+) s\); [\d.,]+; ([\d.,]+) \|", (root / "bench/README.md").read_text(), re.M):
    measured.setdefault(name, (float(seconds), float(rate.replace(",", ""))))
shown = re.findall(r"^\| ([^|]+) \| ([\d.]+) s \| ([\d,.]+) [a-z -]+/ns \|$", (root / "README.md").read_text(), re.M)
faults = [row for row in shown for name in [next(case for start, case in CASES.items() if row[0].startswith(start))]
          if abs(float(row[1]) / measured[name][0] - 1) > 0.05 or abs(float(row[2].replace(",", "")) / measured[name][1] - 1) > 0.02]
print(faults)
sys.exit(bool(faults) or len(shown) != len(CASES))
PYTHON
