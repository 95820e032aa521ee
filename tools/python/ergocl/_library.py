"""libergocl by ctypes: calls with a context, whose messages become exceptions."""

from __future__ import annotations

import ctypes
import logging
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import _abi as abi
from ._errors import (
    AuditError,
    DeviceError,
    ErgoclError,
    FileError,
    InternalError,
    JobError,
    OutOfMemoryError,
)

log = logging.getLogger("ergocl")

_ERRORS: dict[int, type[ErgoclError]] = {
    abi.ERGO_E_JOB: JobError,
    abi.ERGO_E_DEVICE: DeviceError,
    abi.ERGO_E_IO: FileError,
    abi.ERGO_E_AUDIT: AuditError,
    abi.ERGO_E_MEMORY: OutOfMemoryError,
}
_LEVELS = {
    abi.ERGO_LOG_ERROR: logging.ERROR,
    abi.ERGO_LOG_WARNING: logging.WARNING,
    abi.ERGO_LOG_INFO: logging.INFO,
    abi.ERGO_LOG_DEBUG: logging.DEBUG,
}


def _load() -> ctypes.CDLL:
    own = os.environ.get("ERGOCL_LIBRARY")
    found = [Path(own)] if own else sorted(Path(__file__).parent.glob("libergocl.so*"))
    if not found:
        raise ImportError("ergocl: the package has no libergocl.so: install it by `pip install ./tools/python`")
    try:
        library = ctypes.CDLL(str(found[0]))
    except OSError as error:
        raise ImportError(
            f"ergocl: {found[0]} cannot be loaded: {error}; tools/install-deps.sh installs what it needs"
        ) from error
    for name, (result, arguments) in abi.FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


lib = _load()
_c = ctypes.CDLL(None)
_c.free.argtypes = [ctypes.c_void_p]
_c.free.restype = None


def text_of(value: bytes | None) -> str:
    return value.decode("utf-8", "replace") if value else ""


def encoded(value: str | os.PathLike[str] | None) -> bytes | None:
    return None if value is None else os.fsencode(value)


class Handle:
    """A pointer of the library that is destroyed with it. Calls are given the handle itself, so that it
    lives as long as they take."""

    def __init__(self, pointer: int | None, destroy: Callable[[int | None], None]) -> None:
        self.pointer = pointer
        self._destroy = destroy

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.pointer)

    def __del__(self) -> None:
        if self.pointer:
            self._destroy(self.pointer)
        self.pointer = None


def _on_log(_user: Any, level: int, message: bytes) -> None:
    log.log(_LEVELS.get(level, logging.INFO), "%s", text_of(message))


_log_function = abi.ergo_log_function(_on_log)  # for as long as any context


class Context(Handle):
    """For one thread at a time. Warnings go to the logger "ergocl"."""

    def __init__(self) -> None:
        super().__init__(lib.ergo_context_create(), lib.ergo_context_destroy)
        if not self.pointer:
            raise OutOfMemoryError("no memory for a context")
        level = abi.ERGO_LOG_INFO if log.isEnabledFor(logging.INFO) else abi.ERGO_LOG_WARNING
        level = abi.ERGO_LOG_DEBUG if log.isEnabledFor(logging.DEBUG) else level
        lib.ergo_context_set_log(self, level, _log_function, None)

    @property
    def message(self) -> str:
        return text_of(lib.ergo_error_message(self))

    def check(self, status: int) -> None:
        """Raises what the status says."""
        if status == abi.ERGO_OK:
            return
        message = self.message
        lib.ergo_error_clear(self)
        raise _ERRORS.get(status, InternalError)(message or f"the library returned status {status} without a message")

    def call(self, function: Any, *arguments: Any) -> None:
        self.check(function(self, *arguments))

    def text(self, function: Any, *arguments: Any) -> str:
        """Of a function whose last argument is `char **`."""
        out = ctypes.c_void_p()
        self.call(function, *arguments, ctypes.byref(out))
        try:
            return text_of(ctypes.string_at(out.value)) if out.value else ""
        finally:
            _c.free(out)


def free(pointer: Any) -> None:
    _c.free(ctypes.cast(pointer, ctypes.c_void_p))


def texts(values: Sequence[str]) -> Any:
    """`const char *const *`"""
    return (ctypes.c_char_p * len(values))(*[value.encode() for value in values])
