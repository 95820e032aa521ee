#!/usr/bin/env bash
# Installed below a prefix with spaces: the program, the library for others, and away again.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
# Only the build that is tested is installed: the program lies in its build folder.
build=$(realpath --relative-to="$ERGOCL_ROOT" "${ERGOCL%/*}")
stage="$PWD/a stage" prefix="/opt/ergo cl"
installing() {
    make -C "$ERGOCL_ROOT" --no-print-directory BUILD="$build" DESTDIR="$stage" PREFIX="$prefix" "$@"
}
expect 0 installing install
root="$stage$prefix"
for file in bin/ergocl lib/libergocl.a lib/libergocl.so lib/pkgconfig/libergocl.pc include/ergocl/ergocl.h \
    share/man/man1/ergocl.1 share/bash-completion/completions/ergocl share/zsh/site-functions/_ergocl share/fish/vendor_completions.d/ergocl.fish share/ergocl/jobs/quickstart.json \
    share/ergocl/job.schema.json libexec/ergocl/ergocl-bench; do
    [ -s "$root/$file" ] || fail "$file was not installed"
done
expect 0 "$root/bin/ergocl" --version
expect 0 "$root/bin/ergocl" bench --list
expect 0 "$root/bin/ergocl" validate "$root/share/ergocl/jobs/quickstart.json"
says_not "$root/lib/pkgconfig/libergocl.pc" @
says_not "$root/share/man/man1/ergocl.1" @

cat >user.c <<'C'
#include <ergocl/ergocl.h>
#include <stdio.h>
#include <string.h>
int main(void) {
    static const char job_text[] =
        "{\"sampler\": \"spin-lattice\", \"system\": {\"size\": [16, 16], \"temperature\": 2.5},"
        " \"run\": {\"sweeps\": 10}}";
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_job *job = NULL;
    struct ergo_result *result = NULL;
    struct ergo_run_options options = {.directory = "from-c"};
    enum ergo_status status =
        ergo_job_parse(ctx, job_text, strlen(job_text), "mine", NULL, 0, &job);
    if (status == ERGO_OK)
        status = ergo_run(ctx, job, &options, &result);
    if (status == ERGO_OK)
        printf("%s %s %zu\n", ergo_job_name(job), ergo_job_sampler(job), ergo_job_count_points(job));
    else
        fprintf(stderr, "%s\n", ergo_error_message(ctx));
    ergo_result_destroy(result);
    ergo_job_destroy(job);
    ergo_context_destroy(ctx);
    return ergo_status_exit_code(status);
}
C
export PKG_CONFIG_PATH="$root/lib/pkgconfig"
expect 0 pkg-config --modversion libergocl
# pkg-config escapes the spaces for a shell: let one read them
eval "flags=($(pkg-config --cflags --libs libergocl))"
# shellcheck disable=SC2154 # flags: set by eval
expect 0 "${CC:-gcc}" -std=c11 -Wall -Wextra -Werror user.c -o user "${flags[@]}"
expect 0 env LD_LIBRARY_PATH="$root/lib" ./user
says out "mine spin-lattice 1"
[ -s from-c/result.json ] || fail "the library wrote no result"
expect 0 readelf -d user
says out "libergocl.so.0"
# the static library with everything it needs
rm -rf from-c
eval "flags=($(pkg-config --static --cflags --libs libergocl))"
expect 0 "${CC:-gcc}" -std=c11 user.c -o user-static -Wl,-Bstatic -L"$root/lib" -lergocl -Wl,-Bdynamic \
    "${flags[@]}"
expect 0 ./user-static
# by CMake, where it is there
if command -v cmake >/dev/null; then
    mkdir cmake-user
    cp user.c cmake-user/
    cat >cmake-user/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.13)
project(user C)
find_package(ergocl 0.1 REQUIRED)
add_executable(user user.c)
target_link_libraries(user ergocl::ergocl)
CMAKE
    expect 0 cmake -S cmake-user -B cmake-user/build -DCMAKE_PREFIX_PATH="$root"
    expect 0 cmake --build cmake-user/build
    rm -rf from-c
    expect 0 cmake-user/build/user
    sed -i 's/ergocl 0.1/ergocl 0.2/' cmake-user/CMakeLists.txt
    expect 1 cmake -S cmake-user -B cmake-user/other -DCMAKE_PREFIX_PATH="$root"
fi
# nothing but the API is visible
expect 0 nm -D --defined-only "$root/lib/libergocl.so"
says_not out ergo_sha256 ising_
# C++ can read the header
if command -v clang++ >/dev/null; then
    echo '#include <ergocl/ergocl.h>' >user.cpp
    expect 0 clang++ -Wall -Wextra -Werror -I"$root/include" -fsyntax-only user.cpp
fi

# From there, in another folder with spaces, by a user without a home (nobody, where that may be): run,
# killed, resumed, the same bits.
elsewhere="$PWD/another folder" nobody=()
mkdir -m 777 "$elsewhere"
small_job >"$elsewhere/my job.json"
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$root/bin/ergocl" 2>/dev/null; then
    nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
there=(env -u HOME -u XDG_CACHE_HOME -u ERGOCL_CACHE_DIR -C "$elsewhere" POCL_CACHE_DIR="$elsewhere/pocl"
    "${nobody[@]}" "$root/bin/ergocl")
long=(--set /run/sweeps=200000 --set /checkpoint/every_seconds=0.05 --quiet)
expect 0 "${there[@]}" run "my job.json" -o whole "${long[@]}"
"${there[@]}" run "my job.json" -o "a run" "${long[@]}" >out 2>err &
child=$!
wait_for "$elsewhere/a run/checkpoint"
kill -s KILL $child
code=0
wait $child || code=$?
[ $code -eq 137 ] || { cat err; fail "killed: exit code $code"; }
expect 0 "${there[@]}" resume "a run" --quiet
same_results "$elsewhere/whole" "$elsewhere/a run"
expect 0 "${there[@]}" report "a run"

expect 0 installing uninstall
left=$(find "$stage" -type f -o -type l)
[ -z "$left" ] || fail "left behind: $left"

# The tarball of a commit is always the same.
if git -C "$ERGOCL_ROOT" rev-parse HEAD >commit 2>/dev/null; then
    for copy in one two; do
        expect 0 make -C "$ERGOCL_ROOT" --no-print-directory BUILD="$PWD/$copy" dist
        sleep 1
    done
    cmp one/*.tar.gz two/*.tar.gz || fail "two tarballs of a commit differ"
    tar -tf one/ergocl-*.tar.gz >out
    says out /Makefile /LICENSE /tools/packaging/debian/control
fi
