"""What a result is made of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._errors import MissingError
from ._library import text_of

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """An observable at a point, or over the replicas of one. Unknown numbers are NaN."""

    mean: float
    error: float  #: one standard error; NaN where it cannot be trusted
    untrusted: str | None  #: why: "too-short", "drift", ... (`ergocl help errors`); None: it can
    unit: str
    tau: float  #: integrated autocorrelation time, in steps
    tau_error: float
    samples: int
    exact: float  #: by theory
    z: float  #: (mean - exact) / error
    reference: float  #: published, or of a calibration, with an error of its own
    reference_error: float
    reference_z: float
    error_binning: float  #: by binning, for comparison
    error_chains: float  #: of a mean over replicas: by the chains' own errors,
    error_scatter: float  #: and by their scatter
    chi2: float
    dof: int

    def __str__(self) -> str:
        error = f" ± {self.error:.2g}" if self.error == self.error else f" (no error: {self.untrusted})"
        return f"{self.mean:.8g}{error}{' ' + self.unit if self.unit else ''}"


@dataclass(frozen=True)
class Point:
    """A chain, or the mean over the replicas of a scan point (`replica` None)."""

    index: int
    parameters: Mapping[str, float]  #: of the scan, by JSON pointer
    replica: int | None
    replicas: int  #: chains in it
    measured: int  #: of these with samples
    status: str  #: "complete", "stopped" or "waiting"
    steps: int
    planned: int
    digest: str | None  #: of the state
    observables: Mapping[str, Estimate]

    def __getitem__(self, name: str) -> Estimate:
        try:
            return self.observables[name]
        except KeyError:
            raise MissingError(f"no observable {name!r} here; there are: {', '.join(self.observables)}") from None


@dataclass(frozen=True)
class Curve:
    """A function that was measured, at all points: arrays [points, size], NaN where a point's is shorter."""

    name: str
    axis: str  #: what x is
    unit: str
    x: Array
    mean: Array
    error: Array
    untrusted: tuple[str | None, ...]  #: of each point's errors, as of an Estimate
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Observable:
    """An observable over the rows of a result: arrays."""

    name: str
    unit: str
    mean: Array
    error: Array
    tau: Array
    exact: Array


@dataclass(frozen=True)
class Device:
    """An OpenCL device."""

    id: str
    name: str
    platform: str
    driver: str
    version: str
    type: str
    compute_units: int
    global_memory: int  #: bytes, as are the next two
    local_memory: int
    largest_buffer: int
    fp64: bool
    atomics64: bool
    usable: bool
    verdict: str  #: what it can do, or why it is refused

    @classmethod
    def _of(cls, summary: Any) -> Device:
        fields = {name: getattr(summary, name) for name in cls.__dataclass_fields__}
        return cls(**{k: text_of(v) if isinstance(v, bytes) else v for k, v in fields.items()})


def concise(e: Estimate) -> str:
    """ "-1.41908(12)": two digits of the error."""
    if not e.error > 0:
        return f"{e.mean:.6g}" + ("" if e.error == 0 else " (?)")
    decimals = 1 - math.floor(math.log10(e.error)) if math.isfinite(e.error) else 99
    if decimals > 12:
        return f"{e.mean:.8g} ± {e.error:.2g}"
    if round(e.error * 10.0**decimals) >= 100:  # 0.0996 becomes 0.10, not 0.100
        decimals -= 1
    decimals = max(decimals, 0)
    digits = f"{e.error:.{decimals}f}" if e.error >= 1 else f"{e.error * 10.0**decimals:.0f}"
    return f"{e.mean:.{decimals}f}({digits})"
