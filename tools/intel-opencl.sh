#!/bin/bash
# Intel's OpenCL for CPUs, from its Python packages (700 MB), as one more implementation to test on:
#
#   eval "$(tools/intel-opencl.sh FOLDER)" && make test-matrix
#
# FOLDER gets the packages; what is printed adds them to the system's implementations in this shell.
set -euo pipefail
folder=$(mkdir -p "${1:?usage: intel-opencl.sh FOLDER}" && cd "$1" && pwd)
if [ ! -e "$folder/packages/lib/libintelocl.so" ]; then
    python3 -m venv "$folder/packages" >&2
    "$folder/packages/bin/pip" install --quiet intel-opencl-rt intel-cmplr-lib-rt >&2
fi
mkdir -p "$folder/lib" "$folder/vendors"
# its libraries, without its own loader in front of the system's
find "$folder/packages/lib" -maxdepth 1 -type f,l ! -name 'libOpenCL*' -exec ln -sft "$folder/lib" {} +
cp -f /etc/OpenCL/vendors/*.icd "$folder/vendors/"
echo "$folder/lib/libintelocl.so" >"$folder/vendors/intel.icd"
echo "export OCL_ICD_VENDORS=\"$folder/vendors\" LD_LIBRARY_PATH=\"$folder/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}\""
