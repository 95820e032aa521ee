#!/bin/bash
# A clean system in a folder (debootstrap; root): build the packages there, install them, run the demo.
#
#   tools/packaging/chroot.sh bookworm [FOLDER [MIRROR]]      Debian 12
#   tools/packaging/chroot.sh noble [FOLDER [MIRROR]]         Ubuntu 24.04
set -euo pipefail
cd "$(dirname "$0")/../.."
suite=${1:?usage: chroot.sh SUITE [FOLDER [MIRROR]]}
folder=${2:-build/chroot-$suite}
make --no-print-directory dist
[ -x "$folder/usr/bin/apt-get" ] || debootstrap --variant=minbase "$suite" "$folder" ${3:+"$3"}
folder=$(cd "$folder" && pwd)
cp /etc/resolv.conf /etc/hosts "$folder/etc/" 2>/dev/null || true
for mount in proc sys dev dev/pts; do
    mountpoint -q "$folder/$mount" || mount --bind "/$mount" "$folder/$mount"
done
trap 'umount "$folder/proc" "$folder/sys" "$folder/dev/pts" "$folder/dev"' EXIT
rm -rf "$folder/root/ergocl" && mkdir -p "$folder/root/ergocl"
tar -C "$folder/root/ergocl" --strip-components=1 -xf build/ergocl-*.tar.gz
cp build/ergocl-*.tar.gz "$folder/root/ergocl/"
# shellcheck disable=SC2016 # for the shell in the chroot
chroot "$folder" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive \
    LC_ALL=C.UTF-8 bash -euc '
    apt-get -qq update
    apt-get -qq install -y --no-install-recommends build-essential debhelper >/dev/null
    cd /root/ergocl
    apt-get -qq install -y --no-install-recommends \
        $(sed -n "/^Build-Depends/,/^Standards/p" tools/packaging/debian/control |
          sed "s/Build-Depends: debhelper-compat (= 13),//; /^Standards/d; s/,/ /g") >/dev/null
    tools/packaging/debian.sh >/dev/null
    apt-get -qq install -y ./build/debian/*.deb >/dev/null
    cd /tmp
    dpkg -L ergocl | head -n 20
    ergocl devices
    time ergocl run /usr/share/ergocl/jobs/quickstart.json -o demo --overwrite
    test -s demo/result.json && test -s demo/report.html
    apt-get -qq remove -y --purge ergocl libergocl-dev libergocl0 >/dev/null'
