"""Several runs together, as `ergocl analyse`: reweighting, crossings, scaling, coexistence."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

from . import _abi as abi
from ._library import Context, Handle, encoded, lib, texts
from ._result import Result

RunLike = Union[Result, str, "os.PathLike[str]"]


def analyse(
    *runs: RunLike,
    reweight: Mapping[str, str | Sequence[float]] | None = None,
    observables: Sequence[str] = (),
    crossing: str | None = None,
    fit: str | None = None,
    window: tuple[float, float] | None = None,
    correction: float = 0.0,
    coexistence: str | None = None,
    critical: bool = False,
    page: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
) -> dict[str, Any]:
    """What `ergocl analyse --json` says of runs (results, or their folders), as a dictionary.

    reweight: values of keys, {"temperature": [2.25, 2.27]} or {"temperature": "2.2:2.35:0.01"}.
    crossing, fit: NAME or NAME/L^POWER; window: the points that a fit takes; correction: its exponent.
    coexistence: the key whose value is looked for at which two phases weigh the same.
    critical: a fluid's critical point in each box, and in an infinite one.
    page: an HTML file with figures, besides."""
    if not runs:
        raise TypeError("analyse() takes a result or a run folder, or several")
    options = abi.ergo_analyse_options(correction=correction, critical=critical)
    told = {
        "crossing": crossing,
        "fit": fit,
        "window": None if window is None else f"{float(window[0])!r}:{float(window[1])!r}",
        "coexistence": coexistence,
    }
    for name, value in told.items():
        setattr(options, name, encoded(value))
    asked = [
        f"{key}={values if isinstance(values, str) else ','.join(repr(float(v)) for v in values)}"
        for key, values in (reweight or {}).items()
    ]
    if asked:
        options.reweight, options.n_reweight = texts(asked), len(asked)
    if observables:
        options.observables, options.n_observables = texts(observables), len(observables)
    folders = [os.fsdecode(run.directory if isinstance(run, Result) else run) for run in runs]
    context, out = Context(), ctypes.c_void_p()
    context.call(lib.ergo_analyse, texts(folders), len(folders), ctypes.byref(options), ctypes.byref(out))
    analysis = Handle(out.value, lib.ergo_analysis_destroy)
    if page is not None:
        context.call(lib.ergo_analysis_write_page, analysis, encoded(page), overwrite)
    said: dict[str, Any] = json.loads(context.text(lib.ergo_analysis_json, analysis))
    return said
