#!/usr/bin/env bash
# tools/first-contact.sh: what it says of a device that is right, wrong, or refused. The tests that it
# runs are stubs here: they have tests of their own.
. "$ERGOCL_ROOT/tests/cli/lib.sh"
script=$ERGOCL_ROOT/tools/first-contact.sh
export BUILD=$PWD/build

expect 1 "$script" -o none
says err "make all test-programs"
mkdir -p build/tests/contract build/tests/kernel
# no measurement: a test does not depend on how fast a machine is
cat >build/ergocl <<EOF
#!/bin/sh
[ "\$1" != bench ] || { echo "\$2 1.5 moves"; exit 0; }
exec "$ERGOCL" "\$@"
EOF
chmod +x build/ergocl
stub() {
    printf '#!/bin/sh\n%s\n' "$2" >"build/tests/$1"
    chmod +x "build/tests/$1"
}
# shellcheck disable=SC2016 # the stub expands it
stub contract/test_golden 'echo "$HOME/x on $(uname -n) $TEST_SAMPLER"'
stub kernel/test_one 'exit 0'
stub kernel/test_two 'echo no such memory; exit 77'
expect 2 "$script" -t soon
expect 0 "$script" -d "$ERGOCL_DEVICE" -o ok -t 6000
says ok/page.txt "helium-vmc" "right" "not possible: no such memory" " wrong."
says_not ok/page.txt "WRONG"
says ok/page.txt "      disks-256 1.5 moves"
tar -xzf ok.tar.gz -O ok/golden-helium-vmc.txt >golden.txt || fail "no log in the archive"
says golden.txt "HOME/x on HOST helium-vmc"
expect 1 "$script" -o ok
says err "is there already"

# a kernel that is wrong
stub kernel/test_two 'echo "spin 7 differs"; exit 1'
expect 5 "$script" -d "$ERGOCL_DEVICE" -o bad -t 6000
says bad/page.txt "WRONG (exit code 1): kernel-two.txt"
says bad/kernel-two.txt "spin 7 differs"
expect 3 "$script" -d voodoo -o refused
says refused/page.txt 'The device "voodoo" is refused'
