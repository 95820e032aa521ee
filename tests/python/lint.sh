#!/usr/bin/env bash
# mypy --strict of the installed package in the environment $1, ruff of all its Python files. Both come
# from PyPI, in versions that do not change under our feet.
set -euo pipefail
cd "$(dirname "$0")/../.."
venv=$1 tools=$1-lint
[ -x "$venv/bin/python" ] || { echo "the package is not installed" && exit 77; }
if ! "$tools/bin/ruff" --version >/dev/null 2>&1 || ! "$tools/bin/mypy" --version >/dev/null 2>&1; then
    python=/usr/bin/python3
    [ -x $python ] || python=python3
    $python -m venv "$tools"
    "$tools/bin/python" -m pip install -q mypy==1.11.2 ruff==0.6.9 || {
        echo "neither mypy and ruff nor a way to PyPI" && exit 77
    }
fi
files=(tools/python tests/python)
"$tools/bin/ruff" check --config tools/python/pyproject.toml --cache-dir "$tools/ruff" "${files[@]}"
"$tools/bin/ruff" format --check --config tools/python/pyproject.toml --cache-dir "$tools/ruff" "${files[@]}"
"$tools/bin/mypy" --config-file tools/python/pyproject.toml --cache-dir "$tools/mypy" \
    --python-executable "$venv/bin/python" -p ergocl
