#!/usr/bin/env bash
# Job files made to break the program: hostile.py, and files that are none. $HOSTILE_EVERY: 53 takes
# about 330 of thousands of files, 1 (make test-long) all of them.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
export OCL_ICD_VENDORS=/nonexistent # no device is touched
memory=4000000 # KiB
if [ -n "${ASAN_OPTIONS:-}" ]; then # sanitizers map terabytes
    memory=unlimited
fi

# validate FILE: within ten seconds, of which a machine with other work may need some
validate() {
    timeout -s KILL 10 "$ERGOCL" validate "$@"
}
mkdir folder
: >empty
ln -s loop loop
while read -r code file said; do
    expect "$code" validate "$file"
    says err "$said"
done <<'CASES'
4 folder Is a directory
4 missing No such file or directory
4 loop Too many levels
4 empty/file Not a directory
4 /proc/self/mem Input/output error
2 empty empty
2 /dev/null empty
2 /dev/zero larger than 16 MiB
CASES
for input in /dev/zero empty; do
    code=0
    (ulimit -v "$memory" && validate -) <$input 2>err || code=$?
    [ $code -eq 2 ] || fail "standard input from $input: exit code $code instead of 2"
    says err stdin:
done

# a file's name that a terminal would obey (found by `make fuzz`)
sed 's|"data/reference/[^"]*"|"no\\u001b[31m\\u0007\\u007f"|' "$ERGOCL_ROOT/tests/contract/jobs/spin-lattice-glass-file.json" >obeyed.json
expect 4 validate obeyed.json
says err '/system/disorder_file: cannot read' 'no\u001B[31m\u0007\u007F'
! grep -q $'[\e\a\x7f]' err || fail "bytes in a message that terminals obey"

$python "${0%/*}/hostile.py" "${HOSTILE_EVERY:-53}" || exit $?
