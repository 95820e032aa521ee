#!/usr/bin/env bash
# Install what ergocl needs, on Debian 12 and Ubuntu 24.04: only the packages that are missing.
# --test adds the tools of the tests, --look what the results are looked at with (a browser, other
# people's readers, shells), as far as it can be had. Does nothing, quickly, when all is there.
set -euo pipefail

build=(gcc libc6-dev make pkg-config ocl-icd-opencl-dev opencl-headers pocl-opencl-icd
    libcjson-dev libsodium-dev libhdf5-dev libpng-dev zlib1g-dev librandom123-dev)
test=(mesa-opencl-icd oclgrind libcmocka-dev locales python3 python3-h5py
    python3-venv python3-setuptools python3-wheel python3-numpy python3-pandas python3-matplotlib python3-tqdm python3-pytest
    python3-jsonschema clang clang-format clang-tidy cppcheck shellcheck codespell lcov)
# A compiler for GPUs that are not here (tests/offline). Its builtins come with Mesa's rusticl,
# from libclc-15 on Debian 12: libclc-19 would remove rusticl. And what people look at results with.
# Tests say which of these they had to do without.
optional_test=(clang-19 lld-19 llvm-19 chromium python3-ase python3-gsd python3-vtk9 zsh fish)

# MPI is anybody's choice: Open MPI where there is none.
if ! command -v mpicc >/dev/null || ! command -v mpirun >/dev/null; then
    build+=(libopenmpi-dev openmpi-bin)
fi

wanted=("${build[@]}") optional=()
case "${1-}" in
'') ;;
--test) wanted+=("${test[@]}") optional=("${optional_test[@]}") ;;
*)
    echo "usage: tools/install-deps.sh [--test]" >&2
    exit 2
    ;;
esac

list_and_leave() {
    {
        echo "ergocl: $1"
        echo "Please install, under the names your system has for them:"
        echo "  a C11 compiler, GNU make, pkg-config"
        echo "  OpenCL headers and ICD loader, and at least one OpenCL implementation (PoCL, or a GPU driver's)"
        echo "  cJSON, libsodium, HDF5 (C, serial), libpng, zlib, Random123, each with headers; Open MPI or MPICH for jobs over several processes"
        echo "  for the tests: Mesa's rusticl, Oclgrind, cmocka, localedef and the sources of locales,"
        echo "                 python3 with venv, setuptools, wheel, pytest,"
        echo "                 numpy, h5py, jsonschema, pandas, matplotlib, tqdm,"
        echo "                 clang, clang-format, clang-tidy, cppcheck, shellcheck, codespell, lcov"
        echo "Then \"make all\" builds, and \"make test-cli\" and its like test without installing anything."
    } >&2
    exit 1
}

if ! command -v dpkg-query >/dev/null; then
    # Another system, prepared by hand: good.
    pkg-config --exists OpenCL libcjson libsodium libpng zlib hdf5-serial 2>/dev/null && exit 0
    list_and_leave "this is not Debian or Ubuntu."
fi

list_missing() {
    local package
    for package in "$@"; do
        dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || echo "$package"
    done
}
readarray -t missing < <(list_missing "${wanted[@]}")
readarray -t optional < <(list_missing ${optional[@]+"${optional[@]}"})
[ $((${#missing[@]} + ${#optional[@]})) -gt 0 ] || exit 0

# shellcheck source=/dev/null
system=$(. /etc/os-release && echo "${ID-} ${VERSION_ID-}")
case "$system" in
'debian 12'* | 'ubuntu 24.04'*) ;;
*)
    [ ${#missing[@]} -gt 0 ] || exit 0
    list_and_leave "package names are known for Debian 12 and Ubuntu 24.04 only; this is \"$system\". Missing: ${missing[*]}"
    ;;
esac

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || [ ${#missing[@]} -gt 0 ] || exit 0
    command -v sudo >/dev/null || list_and_leave "neither root nor sudo. On this system: apt-get install ${missing[*]}"
    as_root=(sudo)
fi

apt() {
    # A daily unattended upgrade may hold the lock for minutes: wait for it.
    ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" </dev/null
}

# Package lists may be absent (containers) or stale (a 404 at the first try): refresh, then install.
install() {
    echo "ergocl: installing $*"
    if ! apt-cache show "$@" >/dev/null 2>&1 || ! apt install -y --no-install-recommends "$@"; then
        apt update && apt install -y --no-install-recommends "$@"
    fi
}

[ ${#missing[@]} -eq 0 ] || install "${missing[@]}"
for package in ${optional[@]+"${optional[@]}"}; do
    # Ubuntu's chromium is a snap, which containers cannot install
    case "$package $system" in 'chromium ubuntu'*) continue ;; esac
    install "$package" || echo "ergocl: $package was not installed; tests of it are skipped" >&2
done
