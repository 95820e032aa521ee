#!/usr/bin/env bash
# data/guide/own-model.md, followed literally in a copy of the tree: its files, its one line, its commands. The model is
# right by its own enumeration, which notices when it is broken; and it is as small as promised.
. "$ERGOCL_ROOT/tests/cli/lib.sh"
objects=$(dirname "$(realpath "$ERGOCL")")
[ "$objects" = "$(realpath "$ERGOCL_ROOT")/build" ] || { # with other flags nothing fits together
    echo "skipped: $ERGOCL is not of the tree's own build"
    exit 77
}
mkdir -p tree/build tree/tests/contract
cp -a "$ERGOCL_ROOT"/{Makefile,src,cl,include,tools,data,.clang-format} tree
cp -a "$ERGOCL_ROOT/tests/contract/jobs" tree/tests/contract
cp -a "$objects"/{.libraries,.mpi-*,src,*.o,*.c,*.d,known-answers,libergocl.map} tree/build
find tree -type f | sort >before

$python "$ERGOCL_ROOT/tests/cli/own_model.py" "$ERGOCL_ROOT/data/guide/own-model.md" tree >sizes || fail "$(cat sizes)"
cat sizes
sed -i '/^check.py /d' sizes
[ "$(wc -l <sizes)" -le 4 ] || fail "the model has more than 4 files"
[ "$(awk '{ n += $2 } END { print n }' sizes)" -le 150 ] || fail "the model has more than 150 lines"
if command -v clang-format >/dev/null; then
    (cd tree && clang-format --dry-run -Werror cl/j1j2/* src/samplers/spin_lattice/j1j2/*) || fail "not as clang-format writes it"
fi

# Each command of the page, in order.
[ ! -d /usr/lib/ccache ] || export PATH=/usr/lib/ccache:$PATH CCACHE_NOHASHDIR=1
cd tree || exit 1
while IFS= read -r line; do
    expect 0 bash -c "$line"
    cat out >>../printed
    case $line in *check.py*) cat out ;; esac
done <../commands
cd .. || exit 1
expect 2 tree/build/ergocl validate tree/j1j2.json --set "/system/size=[4,4,4]"
says err /system/size
says printed "32 points" "/system/second_coupling" "stripe_order"
diff <(cd "$ERGOCL_ROOT" && cat src/samplers/spin_lattice/list.h) tree/src/samplers/spin_lattice/list.h >line
[ "$(grep -c '^[<>]' line)" = 1 ] || fail "more than one line: $(cat line)"

# Broken on purpose.
break_it() {
    rm -rf broken && cp -r tree/cl broken
    sed -i "$1" broken/j1j2/j1j2.cl
    ! diff -q broken/j1j2/j1j2.cl tree/cl/j1j2/j1j2.cl >/dev/null || fail "$1 changes nothing"
    ERGOCL_CL_DIR=broken expect 0 tree/build/ergocl run tree/j1j2.json -o broken-run --overwrite
    expect 1 $python tree/check.py broken-run/result.json
}
break_it 's/chance\[near\]\[far\]/chance[near][4 - far]/'
break_it 's|if (item >= LX \* LY / 4)|if (item >= LX * LY / 4 \|\| colour == 3)|'
