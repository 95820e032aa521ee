"""What goes wrong, by the library's status (`enum ergo_status`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._result import Result


class ErgoclError(Exception):
    """Base of all errors of the library. `message` is what the program would print, a line for each
    finding; `exit_code` is the code with which it would end."""

    exit_code = 70

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message


class JobError(ErgoclError, ValueError):
    """The job or an argument is wrong; every finding has its JSON pointer."""

    exit_code = 2


class DeviceError(ErgoclError, RuntimeError):
    """There is no usable device, or it failed."""

    exit_code = 3


class FileError(ErgoclError, OSError):
    """A file or folder could not be read or written, or holds no run."""

    exit_code = 4


class AuditError(ErgoclError, RuntimeError):
    """An audit failed: the device computes wrongly. Never continue such a run."""

    exit_code = 5


class OutOfMemoryError(ErgoclError, MemoryError):
    """The host's memory ran out, or would."""

    exit_code = 3


class InternalError(ErgoclError, RuntimeError):
    """A bug in ergocl."""


class MissingError(ErgoclError, LookupError):
    """What was asked for is not in the result: not measured, or not kept."""

    exit_code = 2


class Interrupted(KeyboardInterrupt):  # noqa: N818
    """Ctrl-C during a run. The run was stopped with a checkpoint: `result` is the result so far,
    `ergocl.resume(result.directory)` goes on. Being a KeyboardInterrupt, it ends a script as Ctrl-C
    does. `result` is None after a second Ctrl-C, which leaves at once, and where nothing had begun."""

    def __init__(self, message: str, result: Result | None = None) -> None:
        super().__init__(message)
        self.result = result
