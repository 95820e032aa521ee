#!/usr/bin/env bash
# Kernels that tests/offline has to refuse, one for each rule, and the parsers of what compilers say.
set -u
: "${ERGOCL_ROOT:?run me through tests/run-all}"
PYTHONPATH=$ERGOCL_ROOT/tools /usr/bin/python3 -B - <<'PYTHON' || exit 1
import offline

notes = """\
Displaying notes found in: .note
  AMDGPU               0x000001f4       NT_AMDGPU_METADATA (AMDGPU Metadata)
    AMDGPU Metadata:
---
amdhsa.kernels:
  - .agpr_count:     2
    .args:
      - .address_space:  global
        .name:           spins
        .size:           8
      - .name:           sweep
        .vgpr_count:     999
    .group_segment_fixed_size: 4096
    .name:           first_kernel
    .private_segment_fixed_size: 16
    .sgpr_count:     33
    .sgpr_spill_count: 1
    .symbol:         first_kernel.kd
    .vgpr_count:     65
    .vgpr_spill_count: 3
    .wavefront_size: 64
  - .args:           []
    .group_segment_fixed_size: 0
    .name:           'second'
    .private_segment_fixed_size: 0
    .sgpr_count:     6
    .sgpr_spill_count: 0
    .vgpr_count:     2
    .vgpr_spill_count: 0
    .wavefront_size: 32
amdhsa.target:   amdgcn-amd-amdhsa--gfx942
...
"""
first = {"kernel": "first_kernel", "agprs": 2, "local": 4096, "scratch": 16, "scalars": 33, "scalar_spills": 1,
         "registers": 65, "spills": 3, "lanes": 64}
second = {"kernel": "second", "local": 0, "scratch": 0, "scalars": 6, "scalar_spills": 0, "registers": 2, "spills": 0,
          "lanes": 32}
assert offline.amd_kernels(notes) == [first, second], offline.amd_kernels(notes)

info = """\
version:         1.61
kernels:
  - name:            ising_sweep
    execution_env:
      barrier_count:   1
      grf_count:       128
      simd_size:       32
      slm_size:        512
      spill_size:      6208
    payload_arguments:
      - arg_type:        arg_bypointer
        size:            8
    per_thread_memory_buffers:
      - type:            scratch
        usage:           single_space
        size:            8192
      - type:            private
        size:            64
  - name:            plain
    execution_env:
      grf_count:       256
      simd_size:       16
kernels_misc_info:
  - name:            ising_sweep
    args_info:
      - index:           0
"""
one, two = offline.intel_kernels(info)
assert one == {"kernel": "ising_sweep", "lanes": 32, "registers": 128, "local": 512, "spills": 6208, "scratch": 8192}, one
assert two == {"kernel": "plain", "lanes": 16, "registers": 256, "local": 0, "spills": 0, "scratch": 0}, two

# AMD's occupancy: 512 registers in granules of 8, 1536 in granules of 24
assert [offline.waves("gfx942", n) for n in (1, 64, 65, 128, 129, 256, 512)] == [8, 8, 7, 4, 3, 2, 1]
assert [offline.waves("gfx1100", n) for n in (96, 97, 168, 256)] == [16, 12, 9, 5]

results = [{"program": "p.cl", "options": "", "target": "gfx942", "error": None, "kernels": [first, second]}]
again = offline.read_table(offline.table(results, ["said"]))
assert again[("first_kernel", "gfx942")]["scratch"] == 16 and again[("second", "gfx942")]["waves"] == 8, again
PYTHON

for need in "$(command -v clang-19)" "$(command -v ld.lld-19)" "$(command -v llvm-readelf-19)" /usr/lib/clc/amdgcn--amdhsa.bc; do
    if [ ! -e "$need" ]; then
        echo "the parsers are right; no clang-19, lld-19, llvm-19 or libclc to break kernels for"
        exit 77
    fi
done

# broken NAME WORDS BODY [ATTRIBUTES]: the check of a kernel with this body says the words.
mkdir good
kernel() { printf '__kernel %s void f(__global uint *a, uint n) {\n%s\n}\n' "${3-}" "$2" >"$1.cl"; }
kernel good/f 'a[get_global_id(0)] = n;'
echo '{"program": "f.cl", "options": "-cl-std=CL1.2", "kernels": ["f"]}' >good/f.json
check() {
    "$ERGOCL_ROOT/tools/offline.py" compile "$1" --with clang-19 --for gfx942 --json "$1.results" >"$1.log"
    "$ERGOCL_ROOT/tools/offline.py" check "$1.results" ${2:+--against "$2" --version of} >>"$1.log"
}
check good || { cat good.log && echo "FAILED: a kernel without fault" && exit 1; }
"$ERGOCL_ROOT/tools/offline.py" table good.results --said "of the test" --write table
broken() {
    mkdir "$1"
    cp good/f.json "$1"
    kernel "$1/f" "$3" "${4-}"
    if check "$1" table || ! grep -q "$2" "$1.log"; then
        cat "$1.log"
        echo "FAILED: $1: nothing says \"$2\""
        exit 1
    fi
}
broken syntax "undeclared identifier" 'a[0] = m;'
broken undefined "undefined hidden symbol" 'uint other(uint); a[0] = other(n);'
broken local "local memory (80000) exceeds limit" '__local uint l[20000];
    l[n] = n; barrier(CLK_LOCAL_MEM_FENCE); a[0] = l[a[1]];'
broken private "bytes of scratch" 'uint p[500];
    for (uint i = 0; i < 500; i++) p[i] = a[i]; for (uint i = 0; i < n; i++) a[p[i] % 500] = p[(p[i] + i) % 500];'
vectors='    uint16 v[14]; const uint at = get_global_id(0);
    #pragma unroll
    for (uint i = 0; i < 14; i++) v[i] = ((__global uint16 *)a)[64 * at + i];
    barrier(CLK_GLOBAL_MEM_FENCE);
    #pragma unroll
    for (uint i = 0; i < 14; i++) ((__global uint16 *)a)[64 * at + 14 * i + n] = v[i];'
broken waves "leave 2 wavefronts" "$vectors"
broken spill "vector registers are spilled" "$vectors" '__attribute__((reqd_work_group_size(1024, 1, 1)))'
# a hundred masks that a loop keeps
scalars='    uint m[100], sum = 0;
    #pragma unroll
    for (uint i = 0; i < 100; i++) m[i] = a[i] * n;
    for (uint k = 0; k < n; k++) {
        const uint x = a[k + get_global_id(0)];
        #pragma unroll
        for (uint i = 0; i < 100; i++) sum += popcount(x & m[i]);
        a[k + get_global_id(0)] = sum;
    }'
broken scalars "scalar registers are spilled" "$scalars"
for name in syntax undefined local private waves spill scalars; do
    grep -v '^[0-9]' $name.log | grep . | head -n 1
done
echo "all refused"
