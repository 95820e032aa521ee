#!/bin/bash
# Build the Debian packages of the committed tree: build/debian/*.deb. Needs dpkg-dev, debhelper and what
# tools/packaging/debian/control names; tools/packaging/chroot.sh has all of it in a clean system.
set -euo pipefail
cd "$(dirname "$0")/../.."
make --no-print-directory dist
version=$(sed -n 's/.*ERGO_VERSION "\(.*\)"/\1/p' include/ergocl/ergocl.h)
rm -rf build/debian
mkdir -p build/debian
cp "build/ergocl-$version.tar.gz" "build/debian/ergocl_$version.orig.tar.gz"
tar -C build/debian -xf "build/ergocl-$version.tar.gz"
cp -r tools/packaging/debian "build/debian/ergocl-$version/debian"
cd "build/debian/ergocl-$version"
dpkg-buildpackage -us -uc -b -j"$(nproc)"
