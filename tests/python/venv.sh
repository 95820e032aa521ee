#!/usr/bin/env bash
# The Python package in an environment of its own, $1: as a wheel, with the system's packages (those of
# tools/install-deps.sh --test), and without a network.
set -euo pipefail
cd "$(dirname "$0")/../.."
venv=$1 python=/usr/bin/python3
[ -x $python ] || python=python3
$python -c 'import venv, ensurepip, numpy, h5py, pytest, setuptools, wheel' || {
    echo "needs Python's venv, numpy, h5py, pytest, setuptools, wheel: tools/install-deps.sh --test"
    exit 77
}
rm -rf "$venv"
$python -m venv --system-site-packages "$venv"
# what a user says, but for what needs a network
"$venv/bin/python" -m pip install --no-build-isolation --no-deps --no-index ./tools/python
