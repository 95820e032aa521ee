"""A bar while a run goes on: tqdm's where it is installed, else one line of text."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Union


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    phase: str  #: "start", "equilibration", "sampling" or "writing"
    done: float  #: work in the rate's unit
    total: float
    seconds: float  #: of sampling so far
    eta: float  #: seconds that it will still take
    rate: float  #: work per second
    rate_unit: str  #: "spin updates per second"

    @property
    def fraction(self) -> float:
        return min(self.done / self.total, 1.0) if self.total > 0 else 0.0


ProgressLike = Union[bool, Callable[[Progress], Any]]


class Bar(Protocol):
    def show(self, progress: Progress) -> None: ...

    def close(self) -> None: ...


class _None:
    def show(self, progress: Progress) -> None:
        pass

    def close(self) -> None:
        pass


class _Function:
    def __init__(self, function: Callable[[Progress], Any]) -> None:
        self._function = function

    def show(self, progress: Progress) -> None:
        self._function(progress)

    def close(self) -> None:
        pass


def _speed(progress: Progress) -> str:
    return f"{progress.rate:.3g} {progress.rate_unit}" if progress.rate > 0 else ""


class _Tqdm:
    def __init__(self, tqdm: Any) -> None:
        self._bar = tqdm(
            total=100,
            bar_format="{desc:<13} {percentage:3.0f}%|{bar}| {elapsed}, {postfix}",
            leave=False,
        )

    def show(self, progress: Progress) -> None:
        self._bar.n = round(100 * progress.fraction, 1)
        self._bar.set_description_str(progress.phase, refresh=False)
        minutes, seconds = divmod(round(max(progress.eta, 0)), 60)
        self._bar.set_postfix_str(f"ETA {minutes}:{seconds:02d}, {_speed(progress)}", refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


class _Text:
    def __init__(self) -> None:
        self._drawn = 0

    def show(self, progress: Progress) -> None:
        cells = int(30 * progress.fraction)
        line = f"{progress.phase:<13} [{'#' * cells}{'.' * (30 - cells)}] {100 * progress.fraction:3.0f}%"
        line += f"  {_speed(progress)}  ETA {max(progress.eta, 0):.0f} s"
        sys.stderr.write("\r" + line.ljust(self._drawn))
        sys.stderr.flush()
        self._drawn = len(line)

    def close(self) -> None:
        if self._drawn:
            sys.stderr.write("\r" + " " * self._drawn + "\r")
            sys.stderr.flush()


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def bar_for(progress: ProgressLike) -> Bar:
    if callable(progress):
        return _Function(progress)
    if not progress or not (_in_notebook() or sys.stderr.isatty()):
        return _None()
    try:
        return _Tqdm(importlib.import_module("tqdm.auto").tqdm)
    except ImportError:
        return _Text()
