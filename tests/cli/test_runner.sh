#!/usr/bin/env bash
# "make test" has the same tests every time, whatever the commit, and "make test-long" those that it leaves out.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

# shellcheck disable=SC2016 # of make
suites=$(sed -n 's|^\t$(RUN_ALL) \(golden .*\)|\1|p' "$ERGOCL_ROOT/Makefile")
[ -n "$suites" ] || fail "the Makefile's target test has no suites"
# listed COPY SUITE...: what tests/run-all would run there
listed() {
    # shellcheck disable=SC2086 # words
    env -u TEST_ONLY -u TEST_CASE -u TEST_ON -u TEST_SAMPLER -u MATRIX TEST_LIST=1 TEST_JOBS=4 BUILD="$PWD/build" \
        "$1/tests/run-all" "${@:2}" | sort
}
cp -r "$ERGOCL_ROOT/tests" copy-tests
mkdir copy build && mv copy-tests copy/tests && ln -s "$ERGOCL_ROOT"/{cl,src,Makefile} copy/
mkdir build/sanitize && touch build/ergocl
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git -C copy init -q && git -C copy commit -q --allow-empty -m "another commit"

# shellcheck disable=SC2086 # words
listed "$ERGOCL_ROOT" $suites >here
# shellcheck disable=SC2086 # words
listed copy $suites >there
cmp here there || fail "another commit has other tests"
[ "$(sort -u here | wc -l)" -eq "$(wc -l <here)" ] || fail "a test runs twice"

listed "$ERGOCL_ROOT" long >hours
# Each file is in one of both.
for file in "$ERGOCL_ROOT"/tests/{unit,kernel,contract,physics}/test_*.c "$ERGOCL_ROOT"/tests/{cli,mpi,offline}/test_*.sh; do
    name=$(basename "${file%.*}")
    grep -qE " $name(@.*)?$" here hours || fail "$name is run by nobody"
done
