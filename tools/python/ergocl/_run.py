"""Runs: the library works in a thread of its own, so that this one shows progress and hears Ctrl-C."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from typing import Any

from . import _abi as abi
from ._errors import Interrupted
from ._jobs import Job, JobLike, set_texts, texts
from ._library import Context, Handle, encoded, lib, text_of
from ._progress import Bar, Progress, ProgressLike, bar_for
from ._result import Result, Temporary

_POLL = 0.1  # seconds between looks at the run


class _Call:
    """One call of ergo_run and its like. Everything that the library points to lives as long as its thread."""

    def __init__(
        self, function: Callable[[_Call], int], directory: str | None, device: str | None, overwrite: bool
    ) -> None:
        self.context = Context()
        self.stop = Handle(lib.ergo_stop_create(), lib.ergo_stop_destroy)
        self.out = ctypes.c_void_p()
        self._on_progress = abi.ergo_progress_function(self._note)
        self.options = abi.ergo_run_options(
            directory=encoded(directory),
            device=encoded(device),
            overwrite=overwrite,
            progress=self._on_progress,
            stop=self.stop.pointer,
        )
        self.temporary: Temporary | None = None  # for as long as the thread writes there
        self.latest: Progress | None = None
        self.status = abi.ERGO_E_INTERNAL
        self.ended = threading.Event()
        self._function = function
        # a daemon: after a second Ctrl-C nobody waits for it
        self.thread = threading.Thread(target=self._work, name="ergocl", daemon=True)

    def _note(self, _user: Any, progress: Any) -> None:
        p = progress.contents
        self.latest = Progress(text_of(p.phase), p.done, p.total, p.seconds, p.eta, p.rate, text_of(p.rate_unit))

    def _work(self) -> None:
        try:
            self.status = self._function(self)
        finally:
            self.ended.set()

    def request_stop(self) -> None:
        lib.ergo_stop_request(self.stop)

    def result(self) -> Handle | None:
        """What the call returned, once: it has to be taken."""
        pointer, self.out.value = self.out.value, None
        return Handle(pointer, lib.ergo_result_destroy) if pointer else None


def _wait(call: _Call, bar: Bar) -> None:
    shown = None
    while not call.ended.wait(_POLL):
        if call.latest is not shown and call.latest is not None:
            shown = call.latest
            bar.show(shown)
    if call.latest is not shown and call.latest is not None:
        bar.show(call.latest)


def _drive(call: _Call, progress: ProgressLike) -> bool:
    """Runs the call to its end; True: it was interrupted by Ctrl-C. Whatever this thread raises stops the run."""
    bar = bar_for(progress)
    interrupted = False
    call.thread.start()
    try:
        _wait(call, bar)
    except KeyboardInterrupt:
        interrupted = True
        call.request_stop()
        if not call.ended.is_set() and sys.stderr.isatty():
            sys.stderr.write("\nergocl: stopping with a checkpoint; Ctrl-C again leaves at once\n")
        try:
            call.ended.wait()
        except KeyboardInterrupt:
            raise Interrupted("left at once by a second Ctrl-C; the run stops by itself, with a checkpoint") from None
    except BaseException:  # of the caller's progress function
        call.request_stop()
        call.ended.wait()
        raise
    finally:
        bar.close()
    call.thread.join()
    return interrupted


def _finish(call: _Call, progress: ProgressLike, directory: str, temporary: Temporary | None) -> Result:
    call.temporary = temporary
    interrupted = _drive(call, progress)
    handle = call.result()
    if call.status not in (abi.ERGO_OK, abi.ERGO_STOPPED):
        call.context.check(call.status)
    result = Result(handle, directory, temporary) if handle else None
    if interrupted:
        where = f"; its checkpoint is in {directory}" if result else " before it began"
        kept = ", which goes when Python ends: Result.save keeps it" if result and temporary else ""
        raise Interrupted(f"the run was stopped{where}{kept}", result)
    if result is None:
        call.context.check(abi.ERGO_E_INTERNAL)
        raise AssertionError  # not reached
    return result


def run(
    job: JobLike,
    device: str | None = None,
    progress: ProgressLike = True,
    directory: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> Result:
    """Run a job: a dictionary, or the path of a JSON file.

    device: "gpu", "cpu", an id of `ergocl.devices()`, or part of a name; None: $ERGOCL_DEVICE, then
    the job's, then the best one. progress: False for none, or a function of a `Progress`, which this
    thread calls. directory: the run folder, which holds result.json, series.h5 and the checkpoint;
    None: named after the job's file; of a dictionary a temporary folder that goes when Python ends
    (`Result.save` keeps it). overwrite: replace an earlier run in the folder.

    Raises JobError, DeviceError, FileError, AuditError or OutOfMemoryError. Ctrl-C stops the run with
    a checkpoint and raises `Interrupted`, a KeyboardInterrupt that carries the result so far. A run
    that its /wall_time stopped is returned with the status "stopped".
    """
    context = Context()
    checked = Job(context, job)
    temporary = None
    if directory is None and isinstance(job, Mapping):
        temporary = Temporary(tempfile.mkdtemp(prefix="ergocl-"))
        directory = os.path.join(temporary.path, "run")
    elif directory is None:
        directory = checked.name
    directory = os.path.abspath(directory)

    def start(call: _Call) -> int:
        return int(lib.ergo_run(call.context, checked, ctypes.byref(call.options), ctypes.byref(call.out)))

    return _finish(_Call(start, directory, device, overwrite), progress, directory, temporary)


def resume(
    directory: str | os.PathLike[str],
    device: str | None = None,
    progress: ProgressLike = True,
    _temporary: Temporary | None = None,
) -> Result:
    """Go on with the run in a folder, from its checkpoint. Of a finished run this is its result."""
    path = os.path.abspath(directory)

    def start(call: _Call) -> int:
        return int(lib.ergo_resume(call.context, encoded(path), ctypes.byref(call.options), ctypes.byref(call.out)))

    return _finish(_Call(start, path, device, False), progress, path, _temporary)


def can_extend() -> bool:
    """Has the library ergo_extend?"""
    return "ergo_extend" in abi.FUNCTIONS


def extend(
    directory: str | os.PathLike[str],
    sets: Mapping[str, Any],
    device: str | None = None,
    progress: ProgressLike = True,
    _temporary: Temporary | None = None,
) -> Result:
    """Go on with a finished run, longer or with more replicas or scan points: {"/run/sweeps": 400000}.
    The chain is that of a run which had asked for all of it at once."""
    path = os.path.abspath(directory)
    if not can_extend():
        raise NotImplementedError("this libergocl cannot extend runs")
    words = set_texts(sets)
    array = texts(words)

    def start(call: _Call) -> int:
        return int(
            lib.ergo_extend(
                call.context,
                encoded(path),
                array,
                len(words),
                ctypes.byref(call.options),
                ctypes.byref(call.out),
            )
        )

    return _finish(_Call(start, path, device, False), progress, path, _temporary)


def load(directory: str | os.PathLike[str]) -> Result:
    """The result of a run folder, finished, stopped or running, without a device; the folder is only read."""
    out = ctypes.c_void_p()
    path = os.path.abspath(directory)
    Context().call(lib.ergo_result_load, encoded(path), ctypes.byref(out))
    return Result(Handle(out.value, lib.ergo_result_destroy), path)


def save(result: Result, directory: str | os.PathLike[str]) -> Result:
    """Copies the run folder, and returns the result with the copy as its folder."""
    shutil.copytree(result.directory, directory)
    return load(directory)
