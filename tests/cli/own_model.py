#!/usr/bin/env python3
"""own_model.py PAGE TREE: writes the files that a page shows into a tree, and the commands that it shows to the file
`commands`. A block belongs to the file that is named above it; blocks of one file follow each other. Prints each file's lines."""
import pathlib
import re
import sys

text, tree, files = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"), pathlib.Path(sys.argv[2]), {}
for path, block in re.findall(r"^`([^`\n]+)`\n\n```\w+\n(.*?)^```$", text, re.M | re.S):
    files.setdefault(path, []).append(block)
for path, blocks in files.items():
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    whole = "\n".join(blocks)
    (tree / path).write_text(whole, encoding="utf-8")
    print(path, whole.count("\n"))
commands = "".join(re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S))
pathlib.Path("commands").write_text(commands, encoding="utf-8")
