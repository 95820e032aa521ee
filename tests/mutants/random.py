#!/usr/bin/env python3
"""Kernels broken at random: does the audit of a run notice?

    tests/mutants/random.py LIST[:CASE] N [--seed S] [--program build/ergocl]

N times one token or statement in the kernels of a job of tests/mutants/LIST.list (kill.sh --jobs; CASE:
of that job alone) is changed, and the job is run as a user would. Told for each change: `audit` (exit
code 5), `loud` (another error, a crash, a hang), `same` (results as before), `SILENT` (other results,
and nobody said a word): a hole, and exit code 1. Changes that do not compile are not counted.
Not a part of `make test`: some seconds a change. Files that a job does not compile are left alone.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

SWAPS = [("<<", ">>"), (">>", "<<"), ("<=", "<"), (">=", ">"), ("==", "!="), ("!=", "=="), ("&&", "||"),
         ("||", "&&"), ("+=", "-="), ("-=", "+="), ("|=", "&="), ("^=", "|="), (" + ", " - "), (" - ", " + "),
         (" * ", " + "), (" & ", " | "), (" | ", " & "), (" ^ ", " & "), (" < ", " <= "), (" > ", " >= "),
         (" % ", " / "), (" / ", " % "), ("~", ""), ("!", "")]
NUMBER = re.compile(r"(?<![\w.#])(\d+)(u?)(?![\w.])")
REAL = re.compile(r"(?<![\w.])(\d+\.\d+)f\b")
STATEMENT = re.compile(r"^\s*(?!return\b|const\b|uint\b|ulong\b|int\b|float\b|struct\b|#|\}|break|continue)[\w*(].*[^,]\s*;\s*$")
CONDITION = re.compile(r"\b(if|while) \(")


def changes(line):
    """All ways to break a line: (words for it, the broken line)."""
    found = []
    for old, new in SWAPS:
        for at in (m.start() for m in re.finditer(re.escape(old), line)):
            found.append((f"{old.strip()} -> {new.strip() or 'nothing'}", line[:at] + new + line[at + len(old):]))
    for m in NUMBER.finditer(line):
        for other in {int(m[1]) + 1, max(int(m[1]) - 1, 0)} - {int(m[1])}:
            found.append((f"{m[0]} -> {other}{m[2]}", line[:m.start()] + f"{other}{m[2]}" + line[m.end():]))
    for m in REAL.finditer(line):
        found.append((f"{m[0]} * 1.5", line[:m.start()] + f"({m[0]} * 1.5f)" + line[m.end():]))
    if STATEMENT.match(line):
        found.append(("statement gone", re.sub(r"\S.*", ";", line, count=1)))
    for m in CONDITION.finditer(line):
        if m[1] == "if":
            found.append(("if (0 && ...)", line[:m.end()] + "0 && " + line[m.end():]))
    return found


def places(folder):
    """(file, number, words, broken line) of all changes in the kernels of a folder, comments apart."""
    for path in sorted(folder.iterdir()):
        comment = False
        for number, line in enumerate(path.read_text().split("\n")):
            code = line.split("//")[0]
            begins, ends = code.rfind("/*"), code.rfind("*/")
            if comment or begins >= 0 or line.startswith("#if") or line.startswith("#include") or line.startswith("#endif"):
                comment = begins > ends if begins >= 0 or ends >= 0 else comment
                continue
            for words, broken in changes(line):
                yield path.name, number, words, broken


def results(folder):
    """What a run says about physics: no times, no names."""
    result = json.loads((folder / "result.json").read_text())
    return json.dumps([{k: v for k, v in point.items() if k in ("digest", "observables", "curves", "stream", "steps")}
                       for point in result["points"]], sort_keys=True)


def run(program, job, room, kernels):
    folder = room / "run"
    for old in (folder, room / "cache", room / "pocl"):
        shutil.rmtree(old, ignore_errors=True)
    (room / "job.json").write_text(job)
    env = dict(os.environ, ERGOCL_CL_DIR=str(kernels), ERGOCL_CACHE_DIR=str(room / "cache"),
               POCL_CACHE_DIR=str(room / "pocl"), ERGOCL_CONFIG_DIR="")
    env.setdefault("ERGOCL_DEVICE", "Portable Computing Language")
    (room / "pocl").mkdir()
    try:
        p = subprocess.run([program, "run", str(room / "job.json"), "-o", str(folder), "--quiet"], env=env,
                           capture_output=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "loud", "hangs"
    message = p.stderr.decode(errors="replace").strip()
    if p.returncode == 5:
        return "audit", message
    if p.returncode == 3 and "compil" in message:
        return "none", message
    return ("ended", results(folder)) if p.returncode == 0 else ("loud", f"exit code {p.returncode}: {message}")


def compiled(program, job, room, kernels):
    """The files of a folder of kernels that a job compiles: without one of them it cannot run."""
    names = set()
    for path in sorted(pathlib.Path("cl", kernels).iterdir()):
        shutil.rmtree(room / "cl", ignore_errors=True)
        shutil.copytree("cl", room / "cl")
        copy = room / "cl" / kernels / path.name
        copy.write_text("#error\n" + copy.read_text())
        if run(program, job, room, room / "cl")[0] != "ended":
            names.add(path.name)
    return names


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("list")
    p.add_argument("n", type=int)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--program", default="build/ergocl")
    p.add_argument("--verbose", action="store_true", help="each change, not only the silent ones")
    a = p.parse_args()
    name, _, wanted = a.list.partition(":")
    jobs = [line.split(" ", 3) for line in subprocess.run(["tests/mutants/kill.sh", "--jobs"], check=True, text=True,
                                                          capture_output=True).stdout.splitlines()]
    jobs = {case: (kernels, job) for list_, case, kernels, job in jobs if list_ == name and wanted in ("", case)}
    if not jobs:
        sys.exit(f"no job in {a.list}")
    draw = random.Random(a.seed)
    count = dict.fromkeys(("audit", "loud", "same", "SILENT"), 0)
    with tempfile.TemporaryDirectory() as temporary:
        room = pathlib.Path(temporary)
        whole, used = {}, {}
        for case, (kernels, job) in jobs.items():
            kind, whole[case] = run(a.program, job, room, pathlib.Path("cl").resolve())
            if kind != "ended":
                sys.exit(f"the unbroken kernels of {case}: {whole[case]}")
        while sum(count.values()) < a.n:
            case = draw.choice(sorted(jobs))
            kernels, job = jobs[case]
            if case not in used:
                names = compiled(a.program, job, room, kernels)
                used[case] = [p for p in places(pathlib.Path("cl") / kernels) if p[0] in names]
            file, number, words, broken = draw.choice(used[case])
            shutil.rmtree(room / "cl", ignore_errors=True)
            shutil.copytree("cl", room / "cl")
            path = room / "cl" / kernels / file
            lines = path.read_text().split("\n")
            before, lines[number] = lines[number].strip(), broken
            path.write_text("\n".join(lines))
            kind, said = run(a.program, job, room, room / "cl")
            if kind == "ended":
                kind = "same" if said == whole[case] else "SILENT"
            if kind == "none":
                continue
            count[kind] += 1
            if kind == "SILENT" or a.verbose:
                print(f"{kind} {case}: {kernels}/{file}:{number + 1} {words}: {before}", flush=True)
    print(f"{a.list}: " + ", ".join(f"{n} {kind}" for kind, n in count.items()))
    return 1 if count["SILENT"] else 0


if __name__ == "__main__":
    sys.exit(main())
