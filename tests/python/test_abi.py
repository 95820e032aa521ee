"""The structs, constants and functions that ctypes uses are those of the C compiler."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ergocl import _abi as abi

ROOT = Path(os.environ.get("ERGOCL_ROOT", Path(__file__).resolve().parents[2]))
C_TYPES = {
    None: "void",
    ctypes.c_bool: "bool",
    ctypes.c_int: "int",
    ctypes.c_uint: "unsigned",
    ctypes.c_double: "double",
    ctypes.c_size_t: "size_t",
    ctypes.c_uint32: "uint32_t",
    ctypes.c_char_p: "char *",
    ctypes.c_void_p: "void *",
}


def compiled(tmp_path: Path, body: str, *flags: str) -> str:
    source = tmp_path / "abi.c"
    source.write_text(f"#include <stdio.h>\n#include <ergocl/ergocl.h>\n{body}")
    program = tmp_path / "abi"
    command = ["cc", "-std=c11", f"-I{ROOT / 'include'}", *flags, str(source), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return "" if "-c" in flags else subprocess.run([program], capture_output=True, text=True, check=True).stdout


def test_structs_and_constants(tmp_path: Path) -> None:
    lines, expected = [], []
    for name, struct in abi.STRUCTS.items():
        lines.append(f'printf("{name} %zu\\n", sizeof(struct {name}));')
        expected.append(f"{name} {ctypes.sizeof(struct)}")
        for field, kind in struct._fields_:
            at = getattr(struct, field)
            lines.append(
                f'printf("{name}.{field} %zu %zu\\n", offsetof(struct {name}, {field}), '
                f"sizeof(((struct {name} *)0)->{field}));"
            )
            expected.append(f"{name}.{field} {at.offset} {ctypes.sizeof(kind)}")
    for name, value in abi.CONSTANTS.items():
        lines.append(f'printf("{name} %d\\n", (int){name});')
        expected.append(f"{name} {value}")
    assert len(abi.STRUCTS) >= 10 and len(abi.CONSTANTS) >= 25
    out = compiled(tmp_path, "int main(void) {\n" + "\n".join(lines) + "\n}\n")
    assert out.splitlines() == expected


def c_type(kind: Any) -> str:
    if kind in C_TYPES:
        return C_TYPES[kind]
    if kind is abi.ergo_log_function:
        return "ergo_log_function"
    pointed = kind._type_
    if pointed.__name__ in abi.STRUCTS:
        return f"struct {pointed.__name__} *"
    if pointed in (ctypes.c_void_p, ctypes.c_char_p):  # of any kind
        return "void *"
    return f"{c_type(pointed)} *"


def test_functions(tmp_path: Path) -> None:
    """Each is called with arguments of ctypes' types: a wrong number, width, sign or pointer does not compile."""
    body = []
    for name, (returned, arguments) in abi.FUNCTIONS.items():
        kinds = [c_type(kind) for kind in arguments]
        given = ", ".join(f"{kind} a{i}" for i, kind in enumerate(kinds)) or "void"
        passed = ", ".join(f"a{i}" for i in range(len(kinds)))
        kind = {"char *": "const char *"}.get(c_type(returned), c_type(returned))
        back = "" if returned is None else "return "
        body.append(f"{kind} call_{name}({given});\n{kind} call_{name}({given}) {{ {back}{name}({passed}); }}")
    assert len(abi.FUNCTIONS) >= 50
    flags = ["-c", "-Werror", "-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wno-enum-conversion"]
    compiled(tmp_path, "\n".join(body), *flags)


def test_a_field_that_is_missing_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Shorter(ctypes.Structure):
        _fields_ = abi.ergo_result_estimate._fields_[:-1]

    monkeypatch.setitem(abi.STRUCTS, "ergo_result_estimate", Shorter)
    with pytest.raises(AssertionError):
        test_structs_and_constants(tmp_path)
