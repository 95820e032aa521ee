"""Jobs: dictionaries with NumPy's numbers in them, or files, to what the library parses."""

from __future__ import annotations

import ctypes
import json
import math
import numbers
import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np

from ._errors import JobError
from ._library import Context, Handle, encoded, lib, text_of, texts

JobLike = Union[Mapping[str, Any], str, "os.PathLike[str]"]

_EXACT = 2**53  # JSON readers keep doubles: a larger whole number is written as text


def _plain(value: Any, pointer: str) -> Any:
    """The value as JSON has it. Whole numbers beyond 2^53 become text, which the library reads exactly."""
    if isinstance(value, np.ndarray) or (isinstance(value, np.generic) and not isinstance(value, np.void)):
        value = value.tolist()
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, numbers.Integral):
        whole = int(value)
        return whole if abs(whole) <= _EXACT else str(whole)
    if isinstance(value, numbers.Real):
        real = float(value)
        if not math.isfinite(real):
            raise JobError(f"{pointer or '/'}: found {real}; allowed: finite numbers")
        return real
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        plain = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise JobError(f"{pointer or '/'}: a key is {key!r}; allowed: texts")
            plain[key] = _plain(item, f"{pointer}/{key}")
        return plain
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [_plain(item, f"{pointer}/{i}") for i, item in enumerate(value)]
    raise JobError(f"{pointer or '/'}: found {type(value).__name__}; allowed: what JSON has, and NumPy's numbers")


def job_text(job: Mapping[str, Any]) -> str:
    return json.dumps(_plain(job, ""))


class Job(Handle):
    """A job that the library has checked."""

    def __init__(self, context: Context, job: JobLike) -> None:
        super().__init__(None, lib.ergo_job_destroy)
        out = ctypes.c_void_p()
        if isinstance(job, Mapping):
            text = job_text(job).encode()
            context.call(lib.ergo_job_parse, text, len(text), b"job", None, 0, ctypes.byref(out))
        elif isinstance(job, (str, os.PathLike)):
            context.call(lib.ergo_job_load, encoded(job), None, 0, ctypes.byref(out))
        else:
            raise JobError(f"a job is a dictionary or the path of a file, not {type(job).__name__}")
        self.pointer = out.value

    @property
    def name(self) -> str:
        return text_of(lib.ergo_job_name(self))

    @property
    def sampler(self) -> str:
        return text_of(lib.ergo_job_sampler(self))

    @property
    def points(self) -> int:
        return int(lib.ergo_job_count_points(self))


def set_texts(sets: Mapping[str, Any]) -> list[str]:
    """ "/run/sweeps=1000" of {"/run/sweeps": 1000}"""
    return [f"{pointer}={json.dumps(_plain(value, pointer))}" for pointer, value in sets.items()]


__all__ = ["Job", "JobLike", "job_text", "set_texts", "texts"]
