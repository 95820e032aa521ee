#!/usr/bin/env python3
"""guide.py PAGE...: runs what the pages show and compares what comes out with what they show.

A block that is fenced as ```console has lines "$ COMMAND" and below each what it prints. Blocks of a page run one after the
other, in a folder with a copy of data/guide. Blanks are not compared. A line "..." stands for any lines, "..." in a line for
any text. What goes to stderr (progress) is left out, unless the command fails. A number that is printed with an error, 1.234(5), or with four digits and more after the point may differ by
one in its last digit: means are computed by the host, whose C library rounds its functions. "[exit 2]" as the last line is the exit code. With --write
the pages get what was printed, except where they have a "...".
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

FENCE = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
NUMBER = re.compile(r"-?\d+\.\d+(?:\(\d+(?:\.\d+)?\))?")


def same_word(shown, printed):
    """Equal, or numbers that differ by no more than one in the last digit."""
    if shown == printed:
        return True
    if "..." in shown:
        return re.fullmatch(".*".join(map(re.escape, shown.split("..."))), printed) is not None
    if NUMBER.sub("#", shown) != NUMBER.sub("#", printed):
        return False
    for one, other in zip(NUMBER.findall(shown), NUMBER.findall(printed)):
        for a, b in zip(re.findall(r"[\d.]+", one), re.findall(r"[\d.]+", other)):
            places = len(a.partition(".")[2])
            careful = "(" in one or places >= 4
            if a != b and (not careful or abs(float(a) - float(b)) > 1.001 * 10.0**-places):
                return False
    return True


def same_line(shown, printed):
    if "..." in shown.split():  # any words, in the middle or at the end
        pattern = r"\s+".join(r".*" if w == "..." else re.escape(w) for w in shown.split())
        return re.fullmatch(pattern.replace(r"\s+.*", r"(?:\s+.*)?").replace(r".*\s+", r"(?:.*\s+)?"), " ".join(printed.split())) is not None
    a, b = shown.split(), printed.split()
    return len(a) == len(b) and all(map(same_word, a, b))


def same(shown, printed):
    """shown matches printed, line by line; "..." alone stands for any number of lines."""
    if not shown:
        return not printed
    if shown[0].strip() == "...":
        return any(same(shown[1:], printed[k:]) for k in range(len(printed) + 1))
    return bool(printed) and same_line(shown[0], printed[0]) and same(shown[1:], printed[1:])


def commands(block):
    """(command, lines below it) of a block; a command goes on behind a backslash."""
    found = []
    for line in block.splitlines():
        if found and found[-1][0].endswith("\\") and not found[-1][1]:
            found[-1][0] += "\n" + line
        elif line.startswith("$ "):
            found.append([line[2:], []])
        elif found:
            found[-1][1].append(line)
    return found


def run(command, folder):
    done = subprocess.run(["bash", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=600, check=False)
    if not done.returncode:
        return done.stdout.splitlines()
    return (done.stdout + done.stderr).splitlines() + [f"[exit {done.returncode}]"]


def main():
    pages = [a for a in sys.argv[1:] if a != "--write"]
    root = pathlib.Path(os.environ["ERGOCL_ROOT"])
    faults, count = [], 0
    for name in pages:
        page = pathlib.Path(name)
        folder = pathlib.Path(page.stem)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(root / "data/guide", folder)
        text = page.read_text()
        out = text
        for block in FENCE.findall(text):
            filled = ""
            for command, shown in commands(block):
                count += 1
                printed = run(command, folder)
                filled += f"$ {command}\n"
                if same([s for s in shown if s.strip()], [p for p in printed if p.strip()]):
                    filled += "".join(s + "\n" for s in shown)
                    continue
                filled += "".join(p + "\n" for p in printed)
                faults.append(f"{page}: $ {command}\nthe page shows\n" + "\n".join(shown) + "\nand it printed\n" + "\n".join(printed))
            out = out.replace(block, filled, 1)
        if "--write" in sys.argv and out != text:
            page.write_text(out)
    print("\n\n".join(faults) if faults else f"{count} commands of {len(pages)} pages")
    sys.exit(bool(faults) or count < 2 * len(pages))


if __name__ == "__main__":
    main()
