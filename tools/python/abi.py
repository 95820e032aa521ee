"""Makes ergocl/_abi.py from the C header: its constants, structs and functions for ctypes.

    python3 abi.py include/ergocl/ergocl.h > _abi.py

A field that is added to a struct of the header is in the next wheel. tests/python/test_abi.py compares
sizes and offsets with what the C compiler says.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field

NUMBERS = {
    "char": "c_char",
    "bool": "c_bool",
    "int": "c_int",
    "unsigned": "c_uint",
    "double": "c_double",
    "size_t": "c_size_t",
    "uint32_t": "c_uint32",
    "uint64_t": "c_uint64",
    "int64_t": "c_int64",
}


@dataclass
class Header:
    constants: dict[str, int] = field(default_factory=dict)
    version: str = ""
    order: list[str] = field(default_factory=list)  # of callbacks and structs
    callbacks: dict[str, str] = field(default_factory=dict)  # name: arguments
    structs: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # name: (field, ctypes type)
    functions: dict[str, tuple[str, list[str]]] = field(default_factory=dict)  # name: result, arguments


def plain(text: str) -> str:
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    return re.sub(r"\s+", " ", text.replace('extern "C" {', ""))


def type_of(header: Header, base: str, stars: int) -> str:
    """The ctypes type of a C type without const, "struct ergo_job" with so many stars."""
    words = base.split()
    if words[0] == "enum":
        name = "c_int"
    elif words[0] == "struct":
        if words[1] in header.structs:
            name = words[1]
        else:  # opaque
            name, stars = "c_void_p", stars - 1
    elif base in header.callbacks:
        name = base
    elif base == "void":
        if not stars:
            return "None"
        name, stars = "c_void_p", stars - 1
    elif base == "char" and stars:
        name, stars = "c_char_p", stars - 1
    else:
        name = NUMBERS[base]
    for _ in range(stars):
        name = f"POINTER({name})"
    return name


def split_declaration(text: str) -> tuple[str, str]:
    """ "const char *name" -> "char", "*name" """
    words = re.sub(r"\bconst\b", " ", text).split()
    n = 2 if words[0] in ("enum", "struct") else 1
    rest = " ".join(words[n:])
    base = " ".join(words[:n])
    while base.endswith("*"):
        base, rest = base[:-1], "*" + rest
    return base, rest.replace(" ", "")


def parse(text: str) -> Header:
    header = Header(version=re.search(r'ERGO_VERSION "(.*)"', text)[1])
    text = plain(text)
    for body in re.findall(r"\benum \w+ \{(.*?)\}", text):
        value = 0
        for item in filter(None, (i.strip() for i in body.split(","))):
            name, _, given = (part.strip() for part in item.partition("="))
            value = int(given, 0) if given else value
            header.constants[name] = value
            value += 1
    found = re.findall(r"typedef void \(\*(\w+)\)\((.*?)\);|\bstruct (\w+) \{(.*?)\};", text)
    for callback, arguments, struct, body in found:
        header.order.append(callback or struct)
        if struct:
            fields: list[tuple[str, str]] = []
            header.structs[struct] = fields
            for declaration in filter(None, (d.strip() for d in body.split(";"))):
                base, rest = split_declaration(declaration)
                for declarator in rest.split(","):
                    match = re.fullmatch(r"(\**)(\w+)(?:\[(\d+)\])?", declarator)
                    if not match:
                        raise SystemExit(f"abi.py: struct {struct}: {declaration}?")
                    kind = type_of(header, base, len(match[1]))
                    fields.append((match[2], f"{kind} * {match[3]}" if match[3] else kind))
        else:
            header.callbacks[callback] = ", ".join(["None", *arguments_of(header, arguments)])
    text = re.sub(r"typedef .*?;|\b(enum|struct) \w+ \{.*?\};", " ", text)
    for result, name, arguments in re.findall(r"([\w ]+?[ *]+)(ergo_\w+)\(([^()]*)\)[^;]*;", text):
        base, rest = split_declaration(result)
        kind = type_of(header, base, rest.count("*"))
        header.functions[name] = (kind, arguments_of(header, arguments))
    return header


def arguments_of(header: Header, text: str) -> list[str]:
    kinds = []
    for argument in (a.strip() for a in text.split(",")):
        if argument == "void":
            continue
        base, rest = split_declaration(argument)
        stars = rest.count("*")
        if base == "char" and stars == 2 and "const" not in argument:  # to be freed by the caller
            kinds.append("POINTER(c_void_p)")
        else:
            kinds.append(type_of(header, base, stars))
    return kinds


def generate(header: Header) -> str:
    out = ['"""The C API for ctypes. Made by abi.py from ergocl.h."""', "", "# ruff: noqa", "from ctypes import *", ""]
    out += [f'VERSION = "{header.version}"', ""]
    out += [f"{name} = {value}" for name, value in header.constants.items()]
    for name in header.order:
        if name in header.callbacks:
            out += ["", f"{name} = CFUNCTYPE({header.callbacks[name]})"]
            continue
        out += ["", "", f"class {name}(Structure):", "    _fields_ = ["]
        out += [f'        ("{field}", {kind}),' for field, kind in header.structs[name]]
        out += ["    ]", ""]
    out += ["", "STRUCTS = {"]
    out += [f'    "{name}": {name},' for name in header.structs]
    out += ["}", "", "CONSTANTS = {"]
    out += [f'    "{name}": {value},' for name, value in header.constants.items()]
    out += ["}", "", "FUNCTIONS = {"]
    for name, (result, arguments) in header.functions.items():
        out += [f'    "{name}": ({result}, [{", ".join(arguments)}]),']
    out += ["}", ""]
    return "\n".join(out)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as source:
        print(generate(parse(source.read())), end="")
