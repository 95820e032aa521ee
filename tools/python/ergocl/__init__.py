"""ergocl: Monte Carlo on any OpenCL device, the same bits on each of them.

import ergocl

result = ergocl.run({
    "sampler": "spin-lattice", "seed": 42,
    "system": {"model": "ising", "size": [32, 32]},
    "scan": {"/system/temperature": {"from": 2.1, "to": 2.5, "step": 0.05}},
    "run": {"equilibration": 1000, "sweeps": 20000, "measure_every": 5},
})
result.table                # means, errors, parameters (pandas)
result["energy"].mean       # an array over the scan
result.series("energy")     # every sample, [points, samples]
result.plot("energy", "binder")
"""

from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass
from typing import Any

from . import _abi as abi
from ._analyse import analyse
from ._configurations import Configurations, TwoTimes, configurations
from ._errors import (
    AuditError,
    DeviceError,
    ErgoclError,
    FileError,
    InternalError,
    Interrupted,
    JobError,
    MissingError,
    OutOfMemoryError,
)
from ._jobs import Job, JobLike
from ._library import Context, encoded, free, lib
from ._progress import Progress
from ._result import Result
from ._run import extend, load, resume, run
from ._values import Curve, Device, Estimate, Observable, Point

__version__ = abi.VERSION

__all__ = [
    "AuditError",
    "Configurations",
    "Curve",
    "Device",
    "DeviceError",
    "ErgoclError",
    "Estimate",
    "FileError",
    "InternalError",
    "Interrupted",
    "JobError",
    "JobInfo",
    "MissingError",
    "Observable",
    "OutOfMemoryError",
    "Point",
    "Progress",
    "Result",
    "TwoTimes",
    "__version__",
    "analyse",
    "configurations",
    "devices",
    "explain",
    "extend",
    "load",
    "plan",
    "resume",
    "run",
    "schema",
    "validate",
]


@dataclass(frozen=True)
class JobInfo:
    """What `validate` says of a job that is right."""

    sampler: str
    points: int  #: scan points times replicas


def validate(job: JobLike) -> JobInfo:
    """Check a job whole, without a device: JobError with every finding, or what the job is."""
    context = Context()
    checked = Job(context, job)
    context.call(lib.ergo_validate, checked)
    return JobInfo(checked.sampler, checked.points)


def plan(job: JobLike, device: str | None = None) -> str:
    """Memory, launches and expected time of a job on a device, as text."""
    context = Context()
    return context.text(lib.ergo_plan_text, Job(context, job), encoded(device))


def devices(check: bool = False) -> list[Device]:
    """Every OpenCL device of this machine. check: probe the arithmetic of each, which may take seconds."""
    found, count = ctypes.POINTER(abi.ergo_device_summary)(), ctypes.c_size_t()
    Context().call(lib.ergo_device_list, check, ctypes.byref(found), ctypes.byref(count))
    try:
        return [Device._of(found[i]) for i in range(count.value)]
    finally:
        free(found)


def schema() -> dict[str, Any]:
    """The JSON schema of jobs."""
    text: dict[str, Any] = json.loads(Context().text(lib.ergo_schema_text))
    return text


def explain(topic: str | None = None) -> str:
    """What `ergocl help` says: of a sampler, a model, a key, an observable; None: an overview."""
    return Context().text(lib.ergo_help_text, encoded(topic))
