#!/usr/bin/env bash
# What README.md and data/guide show is what the program prints: each command is run, each number compared.
. "$ERGOCL_ROOT/tests/cli/lib.sh"
mkdir -p path
ln -sf "$ERGOCL" path/ergocl
PATH=$PWD/path:$PATH
# For the page on C: the library of this build, as if it were installed.
library=$(dirname "$(realpath "$ERGOCL")")
printf '%s\n' 'Name: libergocl' 'Description: of this build' 'Version: 0' "Cflags: -I$ERGOCL_ROOT/include" \
    "Libs: -L$library -l:libergocl.so.0" >path/libergocl.pc
export PKG_CONFIG_PATH=$PWD/path LD_LIBRARY_PATH=$library
check() { $python "$ERGOCL_ROOT/tests/cli/guide.py" "$@"; }
check "$ERGOCL_ROOT"/data/guide/*.md >faults || fail "$(cat faults)"

# Another number on the page, a line that is not printed, another exit code: found.
cat >page.md <<'EOF2'
```console
$ printf 'T 2.27 energy -1.4661(8)\nlast\n'
T ... energy -1.4661(8)
...
$ false
[exit 1]
```
EOF2
check page.md >faults || fail "$(cat faults)"
for wrong in 's/4661(8)$/4671(8)/' s/^T/U/ 's/exit 1/exit 2/' '/^\.\.\.$/d' 's/^\$ false/$ true/'; do
    sed "$wrong" page.md >wrong.md
    ! check wrong.md >faults || fail "$wrong is not found"
done
