#!/bin/bash
# Build the Debian packages of the committed tree: build/debian/*.deb. Needs dpkg-dev, debhelper and what
# tools/packaging/debian/control names; tools/packaging/chroot.sh has all of it in a clean system.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$(sed -n 's/.*ERGO_VERSION "\(.*\)"/\1/p' include/ergocl/ergocl.h)
# of the commit, or the one that lies in an unpacked tree without git
tarball=ergocl-$version.tar.gz
[ -f "$tarball" ] || { make --no-print-directory dist && tarball=build/$tarball; }
rm -rf build/debian
mkdir -p build/debian
cp "$tarball" "build/debian/ergocl_$version.orig.tar.gz"
tar -C build/debian -xf "$tarball"
cp -r tools/packaging/debian "build/debian/ergocl-$version/debian"
cd "build/debian/ergocl-$version"
dpkg-buildpackage -us -uc -b -j"$(nproc)"
