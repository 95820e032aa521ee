"""Figures of a result, by matplotlib."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import MissingError

if TYPE_CHECKING:
    from ._result import Result


def _pyplot() -> Any:
    try:
        return importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        raise ImportError(f"Result.plot needs matplotlib (pip install matplotlib): {error}") from error


def _titled(name: str, unit: str) -> str:
    return f"{name.replace('_', ' ')} [{unit}]" if unit else name.replace("_", " ")


def _draw_observable(axes: Any, result: Result, name: str, x: str) -> None:
    """A line for each combination of the other parameters."""
    observable, across = result[name], result.parameter(x)
    pointer = result.parameters.get(x, x)
    others = {short: result.parameter(short) for short, p in result.parameters.items() if p != pointer}
    groups = np.array(list(others.values())).T if others else np.zeros((len(across), 1))
    exact_told = False
    for group in np.unique(groups, axis=0):
        own = np.all(groups == group, axis=1)
        order = np.argsort(across[own])
        label = ", ".join(f"{short} = {value:g}" for short, value in zip(others, group)) if others else None
        at, mean = across[own][order], observable.mean[own][order]
        error, exact = observable.error[own][order], observable.exact[own][order]
        known = np.isfinite(error)
        bars = axes.errorbar(at[known], mean[known], error[known], fmt="o", ms=3, label=label)
        color = bars[0].get_color()
        # without a trustworthy error: hollow
        axes.plot(at[~known], mean[~known], "o", ms=4, mfc="none", color=color)
        if np.isfinite(exact).any():
            axes.plot(at, exact, "x", ms=6, color="black", label=None if exact_told else "exact")
            exact_told = True
    if others or exact_told:
        axes.legend(fontsize="small")
    axes.set_xlabel(_titled(x, result.units.get(x, "")))
    axes.set_ylabel(_titled(name, observable.unit))


def _draw_curve(axes: Any, result: Result, name: str) -> None:
    curve = result.curve(name)
    for i, point in enumerate(curve.points[:12]):
        words = [f"{n} = {point.parameters[p]:g}" for n, p in result.parameters.items()]
        if len(result.points) > len(result.scan):
            words.append(f"replica {point.replica}")
        errors = None if curve.untrusted[i] else np.nan_to_num(curve.error[i])
        axes.errorbar(curve.x[i], curve.mean[i], errors, fmt=".-", ms=3, lw=1, label=", ".join(words))
    if len(curve.points) > 1:
        axes.legend(fontsize="small")
    axes.set_xlabel(curve.axis)
    axes.set_ylabel(_titled(name, curve.unit))


def _draw_series(axes: Any, result: Result, name: str) -> None:
    steps, samples = result.series_steps(), result.series(name)
    for i in range(min(len(samples), 12)):
        axes.plot(steps[i], samples[i], lw=0.7)
    axes.set_xlabel(result.step_unit)
    axes.set_ylabel(_titled(name, result.units.get(name, "")))


def _default_names(result: Result, scanned: bool) -> tuple[str, ...]:
    if scanned:
        return tuple(n for n in result.observables if not n.startswith("acceptance"))[:4]
    return result.curves[:4] or (result.columns[:2] if result.kept == "full" else ())


def plot(result: Result, names: tuple[str, ...], x: str | None) -> Any:
    pyplot = _pyplot()
    scanned = bool(result.parameters)
    names = names or _default_names(result, scanned)
    if not names:
        raise MissingError("there is nothing to draw: no scan, no curve, and no samples were kept")
    if x is None and scanned:
        varied = [n for n in result.parameters if len(np.unique(result.parameter(n))) > 1]
        x = (varied or list(result.parameters))[0]
    size = (4.2 * len(names), 3.4)
    figure, all_axes = pyplot.subplots(1, len(names), figsize=size, squeeze=False, layout="constrained")
    for axes, name in zip(all_axes[0], names):
        if name in result.curves:
            _draw_curve(axes, result, name)
        elif x is not None and name in result.observables:
            _draw_observable(axes, result, name, x)
        elif name in result.columns:
            _draw_series(axes, result, name)
        else:
            known = ", ".join(dict.fromkeys((*result.observables, *result.curves, *result.columns)))
            pyplot.close(figure)
            raise MissingError(f"no {name!r} to draw; there are: {known}")
    return figure
