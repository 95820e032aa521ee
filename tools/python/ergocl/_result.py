"""The result of a run, as numbers, arrays and tables."""

from __future__ import annotations

import ctypes
import html
import importlib
import json
import os
import shutil
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from . import _abi as abi
from ._errors import MissingError
from ._library import Context, Handle, encoded, lib, text_of
from ._progress import ProgressLike
from ._values import Array, Curve, Device, Estimate, Observable, Point, concise


class Temporary:
    """A folder that goes with the last result that lives in it, at the latest when Python ends."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._finalizer = weakref.finalize(self, shutil.rmtree, path, ignore_errors=True)


@dataclass(frozen=True)
class _Name:
    name: str
    unit: str
    help: str
    axis: str


def _ragged(rows: list[Array]) -> Array:
    """Rows of different lengths as one array, NaN behind the shorter ones."""
    out = np.full((len(rows), max((len(row) for row in rows), default=0)), np.nan)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out


def _copied(pointer: Any, size: int) -> Array:
    if not pointer or not size:
        return np.empty(0)
    return np.array(np.ctypeslib.as_array(pointer, shape=(size,)), dtype=np.float64)


class Result:
    """What a run has measured. `rows` has a row for each scan point, its mean over replicas where there are
    several; `points` has every chain."""

    def __init__(self, handle: Handle, directory: str, temporary: Temporary | None = None) -> None:
        self._handle = handle
        self._temporary = temporary
        self.directory = directory  #: the run folder
        info = abi.ergo_result_info()
        self._call(lib.ergo_result_get_info, ctypes.byref(info))
        self.name = text_of(info.name)
        self.job: dict[str, Any] = json.loads(text_of(info.job))  #: as it was run
        self.sampler = text_of(info.sampler)
        self.model = text_of(info.model) or None
        self.status = text_of(info.status)  #: "complete" or "stopped"
        self.started = text_of(info.started)  #: UTC, ISO 8601
        self.step_unit = text_of(info.step_unit)
        self.kept = text_of(info.series)  #: of the samples: "full", "blocks" or "none"
        self.seed = int(info.seed)
        self.rate = float(info.rate)  #: work per second; 0: not known
        self.rate_unit = text_of(info.rate_unit)
        self.seconds = float(info.seconds)  #: of sampling

    def _call(self, function: Any, *arguments: Any) -> None:
        Context().call(function, self._handle, *arguments)

    def _count(self, part: int) -> int:
        return int(lib.ergo_result_count(self._handle, part))

    def _names(self, part: int) -> list[_Name]:
        names = []
        for i in range(self._count(part)):
            name = abi.ergo_result_name()
            self._call(lib.ergo_result_get_name, part, i, ctypes.byref(name))
            names.append(_Name(text_of(name.name), text_of(name.unit), text_of(name.help), text_of(name.axis)))
        return names

    @cached_property
    def _parameters(self) -> list[_Name]:
        return self._names(abi.ERGO_RESULT_PARAMETERS)

    @cached_property
    def _observables(self) -> list[_Name]:
        return self._names(abi.ERGO_RESULT_OBSERVABLES)

    @cached_property
    def _curves(self) -> list[_Name]:
        return self._names(abi.ERGO_RESULT_CURVES)

    @cached_property
    def _columns(self) -> list[_Name]:
        return self._names(abi.ERGO_RESULT_COLUMNS)

    # ---- points ----

    def _estimates(self, context: Context, part: int, index: int) -> dict[str, Estimate]:
        found = {}
        e = abi.ergo_result_estimate()
        for o, name in enumerate(self._observables):
            context.call(lib.ergo_result_get_estimate, self._handle, part, index, o, ctypes.byref(e))
            if e.present:
                found[name.name] = Estimate(
                    mean=e.mean,
                    error=e.error,
                    untrusted=text_of(e.untrusted) or None,
                    unit=text_of(e.unit),
                    tau=e.tau,
                    tau_error=e.tau_error,
                    samples=e.samples,
                    exact=e.exact,
                    z=e.z,
                    reference=e.reference,
                    reference_error=e.reference_error,
                    reference_z=e.reference_z,
                    error_binning=e.error_binning,
                    error_chains=e.error_chains,
                    error_scatter=e.error_scatter,
                    chi2=e.chi2,
                    dof=e.dof,
                )
        return found

    def _points(self, part: int) -> tuple[Point, ...]:
        context = Context()
        p, v = abi.ergo_result_point(), abi.ergo_result_value()
        found = []
        for i in range(self._count(part)):
            context.call(lib.ergo_result_get_point, self._handle, part, i, ctypes.byref(p))
            parameters = {}
            for name in self._parameters:
                pointer = name.name.encode()
                context.call(lib.ergo_result_get_value, self._handle, part, i, pointer, ctypes.byref(v))
                parameters[name.name] = float(v.number)
            found.append(
                Point(
                    index=i,
                    parameters=parameters,
                    replica=int(p.replica) if part == abi.ERGO_RESULT_POINTS else None,
                    replicas=int(p.replicas),
                    measured=int(p.measured),
                    status=text_of(p.status),
                    steps=int(p.steps),
                    planned=int(p.planned),
                    digest=f"{p.digest:016x}" if p.digest else None,
                    observables=self._estimates(context, part, i),
                )
            )
        return tuple(found)

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """Every chain, in the job's order: scan points, and of each its replicas."""
        return self._points(abi.ERGO_RESULT_POINTS)

    @cached_property
    def means(self) -> tuple[Point, ...]:
        """Scan points over their replicas; empty where there is one replica."""
        return self._points(abi.ERGO_RESULT_MEANS)

    @property
    def scan(self) -> tuple[Point, ...]:
        """One for each scan point: `means`, or `points` where there is one replica."""
        return self.means or self.points

    def value(self, pointer: str, point: int = 0) -> Any:
        """The value of any key of the job at a point, defaults filled in; None where it has none."""
        v = abi.ergo_result_value()
        self._call(lib.ergo_result_get_value, abi.ERGO_RESULT_POINTS, point, pointer.encode(), ctypes.byref(v))
        if v.kind == abi.ERGO_VALUE_NUMBER:
            return float(v.number)
        if v.kind == abi.ERGO_VALUE_SEED:
            return int(v.seed)
        if v.kind == abi.ERGO_VALUE_BOOL:
            return bool(v.number)
        if v.kind == abi.ERGO_VALUE_TEXT:
            return text_of(v.text)
        return [float(v.items[i]) for i in range(v.n_items)] if v.kind == abi.ERGO_VALUE_LIST else None

    # ---- tables ----

    @cached_property
    def parameters(self) -> dict[str, str]:
        """Names of the scanned parameters in tables, with their JSON pointers: {"temperature":
        "/system/temperature", "size[0]": "/system/size/0"}."""
        taken = {o.name for o in self._observables} | {"replica", "replicas", "steps", "status", "digest"}
        names: dict[str, str] = {}
        for parameter in self._parameters:
            words = parameter.name.split("/")
            short = f"{words[-2]}[{words[-1]}]" if words[-1].isdigit() and len(words) > 2 else words[-1]
            names[parameter.name if short in taken or short in names else short] = parameter.name
        return names

    def _rows(self, points: tuple[Point, ...]) -> list[dict[str, Any]]:
        rows = []
        for point in points:
            row: dict[str, Any] = {name: point.parameters[pointer] for name, pointer in self.parameters.items()}
            if point.replica is None:
                row["replicas"] = point.replicas
            else:
                row["replica"] = point.replica
            row["steps"] = point.steps
            for name, e in point.observables.items():
                row[name] = e.mean
                row[f"{name}_error"] = e.error
                row[f"{name}_tau"] = e.tau
                if e.untrusted:
                    row[f"{name}_untrusted"] = e.untrusted
                if e.exact == e.exact:
                    row[f"{name}_exact"] = e.exact
            rows.append(row)
        return rows

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """A dictionary for each scan point: parameters by their short names, and of each observable
        NAME, NAME_error (NaN where it is not trusted, and NAME_untrusted says why), NAME_tau in steps,
        and NAME_exact where theory gives it."""
        return self._rows(self.scan)

    @property
    def chain_rows(self) -> list[dict[str, Any]]:
        """The same for each chain."""
        return self._rows(self.points)

    @property
    def table(self) -> Any:
        """`rows` as pandas' DataFrame."""
        return _data_frame(self.rows)

    @property
    def chains(self) -> Any:
        """`chain_rows` as pandas' DataFrame."""
        return _data_frame(self.chain_rows)

    @cached_property
    def units(self) -> dict[str, str]:
        """Of parameters (by their names in tables), observables, curves and columns."""
        names = {pointer: name for name, pointer in self.parameters.items()}
        found = {names[p.name]: p.unit for p in self._parameters}
        for part in (self._columns, self._curves, self._observables):
            found.update({name.name: name.unit for name in part})
        return found

    def parameter(self, name: str) -> Array:
        """A scanned parameter over `rows`, by its name in tables or its JSON pointer."""
        pointer = self.parameters.get(name, name)
        if pointer not in self.parameters.values():
            raise MissingError(f"{name!r} is not scanned; scanned are: {', '.join(self.parameters) or 'none'}")
        return np.array([point.parameters[pointer] for point in self.scan])

    def __getitem__(self, name: str) -> Observable:
        """An observable over `rows`."""
        rows = self.scan
        if not any(name in row.observables for row in rows):
            known = ", ".join(o.name for o in self._observables)
            raise MissingError(f"no observable {name!r}; there are: {known}")

        def column(field: str) -> Array:
            return np.array(
                [getattr(row.observables[name], field) if name in row.observables else np.nan for row in rows]
            )

        unit = next(row.observables[name].unit for row in rows if name in row.observables)
        return Observable(name, unit, column("mean"), column("error"), column("tau"), column("exact"))

    @property
    def observables(self) -> tuple[str, ...]:
        return tuple(o.name for o in self._observables if any(o.name in p.observables for p in self.scan))

    # ---- arrays ----

    def _index(self, part: int, name: str) -> int:
        index = ctypes.c_size_t()
        self._call(lib.ergo_result_find, part, name.encode(), ctypes.byref(index))
        return index.value

    def series(self, name: str, equilibration: bool = False) -> Array:
        """The samples of a column, [points, samples], every chain; NaN behind a point's last. Without
        `equilibration` the samples from before the measured run are left out."""
        if name not in [column.name for column in self._columns]:
            known = ", ".join(column.name for column in self._columns)
            raise MissingError(f"no column {name!r} in the time series; there are: {known}")
        column, rows, kept = self._index(abi.ERGO_RESULT_COLUMNS, name), [], False
        s = abi.ergo_result_series()
        for i in range(self._count(abi.ERGO_RESULT_POINTS)):
            self._call(lib.ergo_result_get_series, i, column, ctypes.byref(s))
            kept = kept or bool(s.samples)
            values = _copied(s.samples, s.size)
            rows.append(values if equilibration else values[s.equilibration :])
        if not kept:
            raise MissingError(
                f"the samples of {name!r} were not kept (/output/series is {self.kept!r}); "
                'run with "output": {"series": "full"}'
                if self.kept != "full"
                else f"{name!r} was not recorded by this job"
            )
        return _ragged(rows)

    def series_steps(self, equilibration: bool = False) -> Array:
        """The steps after which the samples of `series` were taken, [points, samples]."""
        rows = []
        s = abi.ergo_result_series()
        for i in range(self._count(abi.ERGO_RESULT_POINTS)):
            self._call(lib.ergo_result_get_series, i, 0, ctypes.byref(s))
            steps = s.lead + (np.arange(s.size, dtype=np.float64) + 1) * s.every
            rows.append(steps if equilibration else steps[s.equilibration :])
        return _ragged(rows)

    @property
    def columns(self) -> tuple[str, ...]:
        """Of the time series."""
        return tuple(column.name for column in self._columns)

    @property
    def curves(self) -> tuple[str, ...]:
        """Names of the curves that some point has."""
        return tuple(curve.name for curve in self._curves if self._curve(curve.name) is not None)

    def _curve(self, name: str) -> tuple[list[Array], list[Array], list[Array], list[str | None]] | None:
        curve = self._index(abi.ERGO_RESULT_CURVES, name)
        x, mean, error, untrusted = [], [], [], []
        c = abi.ergo_result_curve()
        for i in range(self._count(abi.ERGO_RESULT_POINTS)):
            self._call(lib.ergo_result_get_curve, i, curve, ctypes.byref(c))
            x.append(_copied(c.x, c.size))
            mean.append(_copied(c.mean, c.size))
            error.append(_copied(c.error, c.size))
            untrusted.append(text_of(c.untrusted) or None)
        return (x, mean, error, untrusted) if any(len(row) for row in x) else None

    def curve(self, name: str) -> Curve:
        """A curve at every chain: "gr", "correlation", ..."""
        found = self._curve(name) if name in [curve.name for curve in self._curves] else None
        if found is None:
            raise MissingError(f"no curve {name!r} was measured; there are: {', '.join(self.curves) or 'none'}")
        about = self._curves[self._index(abi.ERGO_RESULT_CURVES, name)]
        x, mean, error = (_ragged(rows) for rows in found[:3])
        return Curve(name, about.axis, about.unit, x, mean, error, tuple(found[3]), self.points)

    # ---- the run ----

    @property
    def warnings(self) -> tuple[str, ...]:
        n = self._count(abi.ERGO_RESULT_WARNINGS)
        return tuple(text_of(lib.ergo_result_warning(self._handle, i)) for i in range(n))

    @property
    def devices(self) -> tuple[Device, ...]:
        """Of the last session; of several ranks each."""
        found = []
        for i in range(self._count(abi.ERGO_RESULT_DEVICES)):
            summary = abi.ergo_device_summary()
            self._call(lib.ergo_result_get_device, i, ctypes.byref(summary))
            found.append(Device._of(summary))
        return tuple(found)

    def text(self) -> str:
        """The table that a terminal shows, with warnings."""
        return Context().text(lib.ergo_result_table, self._handle)

    def csv(self) -> str:
        """Comma-separated values of all points and means, as of `ergocl table --csv`."""
        results = (ctypes.c_void_p * 1)(self._handle.pointer)
        return Context().text(lib.ergo_result_csv, results, None, 1)

    def json(self) -> str:
        """result.json"""
        return Context().text(lib.ergo_result_json, self._handle)

    def report(self) -> str:
        """Writes report.html and pictures into the run folder, and returns the page's path."""
        self._call(lib.ergo_result_write_page, encoded(self.directory))
        return os.path.join(self.directory, "report.html")

    def hdf5(self) -> Any:
        """series.h5 of the run folder, opened by h5py for reading."""
        path = os.path.join(self.directory, "series.h5")
        if not os.path.exists(path):
            raise MissingError(f'{path} is not there: a run that goes on has none yet, nor one with series "none"')
        return importlib.import_module("h5py").File(path, "r")

    def save(self, directory: str | os.PathLike[str]) -> Result:
        """Copies the run folder (of a dictionary's job it is temporary), and returns the result there."""
        from ._run import save

        return save(self, directory)

    def resume(self, device: str | None = None, progress: ProgressLike = True) -> Result:
        """Go on with a run that was stopped; the result of what it is then."""
        from ._run import resume

        return resume(self.directory, device, progress, self._temporary)

    def extend(
        self,
        sweeps: int | None = None,
        replicas: int | None = None,
        sets: Mapping[str, Any] | None = None,
        device: str | None = None,
        progress: ProgressLike = True,
    ) -> Result:
        """Go on with the run in its folder until it has this many sweeps (in all) or replicas, or what
        `sets` say by JSON pointers; the result of the longer run. This one keeps its numbers."""
        from ._run import extend

        changes = dict(sets or {})
        if sweeps is not None:
            changes["/run/sweeps"] = sweeps
        if replicas is not None:
            changes["/replicas"] = replicas
        return extend(self.directory, changes, device, progress, self._temporary)

    # ---- for people ----

    def plot(self, *names: str, x: str | None = None) -> Any:
        """Draws observables over a scanned parameter with error bars and exact values, or curves; without
        names the first few observables. x: the parameter; the first scanned one. Returns
        matplotlib's Figure."""
        from ._plot import plot

        return plot(self, names, x)

    def __repr__(self) -> str:
        model = f" {self.model}" if self.model else ""
        n = self._count(abi.ERGO_RESULT_POINTS)
        points = "1 point" if n == 1 else f"{n} points"
        return f"<ergocl.Result {self.sampler}{model}: {points}, {self.status}, {self.directory}>"

    def __str__(self) -> str:
        return self.text()

    def _html_rows(self, most: int) -> Iterator[str]:
        names = [name for name in self.observables if not name.startswith("acceptance")][:8]
        heads = [*self.parameters, *names]

        def head(name: str) -> str:
            unit = self.units.get(name, "")
            return f"<th>{html.escape(name)}{'<br><small>' + html.escape(unit) + '</small>' if unit else ''}</th>"

        yield f"<tr>{''.join(head(name) for name in heads)}</tr>"
        for point in self.scan[:most]:
            cells = [f"{point.parameters[pointer]:.10g}" for pointer in self.parameters.values()]
            for name in names:
                e = point.observables.get(name)
                cells.append(concise(e) if e else "")
            yield f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in cells)}</tr>"
        if len(self.scan) > most:
            yield f'<tr><td colspan="{len(heads)}">and {len(self.scan) - most} more</td></tr>'

    def _repr_html_(self) -> str:
        model = f" ({self.model})" if self.model else ""
        title = f"{self.sampler}{model}: {self.status}, {self.devices[0].name}"
        out = [f"<p><b>{html.escape(title)}</b></p><table>", *self._html_rows(40), "</table>"]
        if self.warnings:
            out.append("<ul>" + "".join(f"<li>warning: {html.escape(w)}</li>" for w in self.warnings) + "</ul>")
        return "\n".join(out)


def _data_frame(rows: list[dict[str, Any]]) -> Any:
    try:
        pandas = importlib.import_module("pandas")
    except ImportError as error:
        raise ImportError(
            f"Result.table needs pandas (pip install pandas): {error}; Result.rows has the same without it"
        ) from error
    return pandas.DataFrame(rows)
