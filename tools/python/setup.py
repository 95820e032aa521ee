"""The wheel: the Python files, _abi.py made from the C header, and libergocl as `make` builds it.

It has to be built in the source tree (`pip install ./tools/python`): the library comes from there.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HEADER = ROOT / "include" / "ergocl" / "ergocl.h"

if not HEADER.exists() or not (ROOT / "Makefile").exists():
    sys.exit(
        "ergocl: the package is built in its source tree: pip install ./tools/python, with pip 21.3 or later "
        "(earlier ones copy the folder away)"
    )

BUILD = ROOT / os.environ.get("BUILD", "build")
SCRATCH = BUILD / "python"
SCRATCH.mkdir(parents=True, exist_ok=True)


class Build(build_py):
    def run(self) -> None:
        super().run()
        package = Path(self.build_lib) / "ergocl"
        for old in package.glob("libergocl.so*"):
            old.unlink()
        make = ["make", "-C", str(ROOT), "--no-print-directory", f"-j{os.cpu_count() or 1}"]
        if subprocess.call([*make, f"BUILD={BUILD}", "library"]) != 0:
            sys.exit("ergocl: the library could not be built; tools/install-deps.sh installs what it needs")
        [library] = BUILD.glob("libergocl.so.*")
        shutil.copy2(library, package / library.name)
        with open(package / "_abi.py", "w", encoding="utf-8") as out:
            subprocess.check_call([sys.executable, str(HERE / "abi.py"), str(HEADER)], stdout=out)


class Wheel(bdist_wheel):
    """For any Python 3, and this kind of machine alone."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> "tuple[str, str, str]":
        return "py3", "none", super().get_tag()[2]


class Binary(Distribution):
    def has_ext_modules(self) -> bool:
        return True


setup(
    name="ergocl",
    version=re.search(r'ERGO_VERSION "(.*)"', HEADER.read_text(encoding="utf-8"))[1],
    description="Monte Carlo on any OpenCL device, the same bits on each of them",
    license="MIT",
    packages=["ergocl"],
    package_data={"ergocl": ["py.typed"]},
    python_requires=">=3.9",
    install_requires=["numpy", "h5py"],
    extras_require={"all": ["pandas", "matplotlib", "tqdm"]},
    cmdclass={"build_py": Build, "bdist_wheel": Wheel},
    distclass=Binary,
    options={"build": {"build_base": str(SCRATCH)}, "egg_info": {"egg_base": str(SCRATCH)}},
    zip_safe=False,
)
