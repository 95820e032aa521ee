#!/usr/bin/env python3
# %% [markdown]
# Where is the critical temperature of the two-dimensional Ising model?
#
# Binder's parameter U = 1 - <m^4> / (3 <m^2>^2) of lattices of different sizes crosses at T_c: there it
# does not depend on the size, below it goes to 2/3 and above to 0 as lattices grow. We run two sizes
# over a few temperatures, look at the curves, and read off where they cross. Onsager's answer is
# T_c = 2 / ln(1 + sqrt(2)) = 2.269185...
#
#     python3 where_is_tc.py [FOLDER]     figures and runs go to FOLDER, "tc" by default
#
# The lines "# %%" are cells for Jupyter (jupytext), VS Code and Spyder.

# %%
import math
import sys
from pathlib import Path

import ergocl
import matplotlib.pyplot as plt
import numpy as np

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "tc")
folder.mkdir(parents=True, exist_ok=True)

# %% [markdown]
# One job holds both sizes and all temperatures: a scan over two keys is a grid. Four replicas of each
# show whether chains agree. `validate` finds mistakes before a device is touched.

# %%
job = {
    "sampler": "spin-lattice",
    "seed": 2026,
    "replicas": 4,
    "system": {"model": "ising"},
    "scan": {
        "/system/size": [[8, 8], [16, 16]],
        "/system/temperature": np.linspace(2.15, 2.4, 6),
    },
    "run": {"equilibration": 1000, "sweeps": 40000, "measure_every": 5},
}
print(ergocl.validate(job))
result = ergocl.run(job, directory=folder / "run", overwrite=True)
print(result)

# %% [markdown]
# First the checks. Energies are known exactly (Kaufman 1949): the distances in standard errors should
# look like random numbers of variance 1.

# %%
energy = result["energy"]
z = (energy.mean - energy.exact) / energy.error
print("z of the energies:", np.round(z, 1))
figure = result.plot("energy", "binder", x="temperature")
figure.savefig(folder / "checks.png", dpi=150)

# %% [markdown]
# The samples themselves: has the magnetisation of the smaller lattice changed sign, so that the chain
# saw both phases? `series` gives every sample, one row for each chain.

# %%
magnetization = result.series("magnetization")
steps = result.series_steps()
figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
axes.plot(steps[0][:1000], magnetization[0][:1000], lw=0.6)
axes.set_xlabel("sweep")
axes.set_ylabel("magnetization per site")
figure.savefig(folder / "series.png", dpi=150)

# %% [markdown]
# The crossing: a parabola through the differences of the two sizes, and where it vanishes. The error
# comes from 2,000 draws of all points within their errors.

# %%
size, temperature = result.parameter("size[0]"), result.parameter("temperature")
binder = result["binder"]
small, large = size == 8, size == 16
random = np.random.default_rng(1)


def crossing(difference: np.ndarray) -> float:
    """The root, within the scan, of a parabola through the differences."""
    roots = np.roots(np.polyfit(temperature[small] - 2.275, difference, 2)) + 2.275
    return float(roots[np.argmin(np.abs(roots - 2.275))].real)


difference = binder.mean[large] - binder.mean[small]
error = np.hypot(binder.error[large], binder.error[small])
draws = [crossing(random.normal(difference, error)) for _ in range(2000)]
t_c, t_c_error = crossing(difference), float(np.std(draws))
exact = 2 / math.log(1 + math.sqrt(2))
print(f"T_c = {t_c:.4f} +- {t_c_error:.4f}, exact {exact:.4f}")

# %%
figure, axes = plt.subplots(figsize=(5, 3.4), layout="constrained")
for own, label in ((small, "L = 8"), (large, "L = 16")):
    axes.errorbar(temperature[own], binder.mean[own], binder.error[own], fmt="o-", ms=3, lw=1, label=label)
axes.axvline(exact, color="black", lw=0.8, ls=":", label="exact")
axes.axvspan(t_c - t_c_error, t_c + t_c_error, alpha=0.2, label="crossing")
axes.set_xlabel("temperature [J/k_B]")
axes.set_ylabel("U")
axes.legend()
figure.savefig(folder / "binder.png", dpi=150)
