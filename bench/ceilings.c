/*
 * What the device can do, measured in the same run: blocks of Philox4x32-10, the sampler's own
 * decisions on spins that stay in registers (no loads, no stores, no neighbours: the price of
 * random numbers and comparison alone), and copies.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "core/program.h"
#include "spin_lattice/params.h"

/* Behind the flattened cl/spin_lattice/core.h. Counters as in the sampler: the entity differs from
 * item to item, the rest is the same for all. Results are stored so that nothing is optimised away.
 */
static const char source[] =
    "#ifdef ISING_LANES\n"
    "#define BENCH_LANES 8u\n"
    "#define BENCH_PARTS 2\n"
    "#define ising_quad ising_draw\n"
    "#else\n"
    "#define BENCH_LANES 1u\n"
    "#define BENCH_PARTS 4\n"
    "#endif\n"
    "__kernel void bench_philox(__global uint *out, __global const struct ising_member *members,\n"
    "                           uint rounds) {\n"
    "    const uint id = (uint)get_global_id(0), key0 = members->key0, key1 = members->key1;\n"
    "    ising_vec sum = ISING_VEC(0u);\n"
    "    for (uint i = 0; i < rounds; i++) {\n"
    "        const struct ising_quad r = ising_random(BENCH_LANES * id, i, 1, 0, key0, key1);\n"
    "        for (int l = 0; l < BENCH_PARTS; l++)\n"
    "            sum ^= r.w[l];\n"
    "    }\n"
    "    out[id] = ISING_ANY(sum) ? 1u : 0u;\n"
    "}\n"
    "__kernel void bench_decide(__global uint *out, __global const struct ising_member *members,\n"
    "                           uint rounds) {\n"
    "    const uint id = (uint)get_global_id(0);\n"
    "    const struct ising_member member = *members;\n"
    "    ising_vec spins[BENCH_PARTS];\n"
    "    for (int l = 0; l < BENCH_PARTS; l++)\n"
    "        spins[l] = ~ISING_VEC(0u);\n"
    "    for (uint i = 0; i < rounds; i++) {\n"
    "        struct ising_word s[BENCH_PARTS];\n"
    "        for (int l = 0; l < BENCH_PARTS; l++) {\n"
    "            struct ising_bonds_vec n;\n"
    "            n.up = n.down = n.same = spins[l];\n"
    "            n.side = spins[l] ^ ISING_VEC(0x000f000fu);\n"
    "            s[l] = ising_open(spins[l], n, ~ISING_VEC(0u), &member);\n"
    "        }\n"
    "        ising_decide(s, BENCH_LANES * id, i, i & 1, &member);\n"
    "        for (int l = 0; l < BENCH_PARTS; l++)\n"
    "            spins[l] ^= s[l].flip;\n"
    "    }\n"
    "    out[id] = ISING_ANY(spins[0] | spins[BENCH_PARTS - 1]) ? 1u : 0u;\n"
    "}\n"
    "__kernel void bench_copy(__global const uint16 *from, __global uint16 *to) {\n"
    "    const size_t i = get_global_id(0);\n"
    "    to[i] = from[i];\n"
    "}\n"
    "__kernel void bench_copy4(__global const uint4 *from, __global uint4 *to) {\n"
    "    const size_t i = get_global_id(0);\n"
    "    to[i] = from[i];\n"
    "}\n";

struct ceiling {
    cl_program program;
    cl_mem out, members, from, to;
};

/* Options as the sampler's: one temperature, compiled in. */
static enum ergo_status build(struct ergo_bench *bench, bool lanes,
                              const struct ising_member *member, struct ceiling *c) {
    char *core = NULL, log[2048] = "";
    struct ergo_text text = {0}, options = {0};
    enum ergo_status status = ergo_program_flatten(
        bench->ctx, lanes ? "spin_lattice/lanes.h" : "spin_lattice/core.h", &core);
    if (status != ERGO_OK)
        return status;
    ergo_text_append(&text, "%s%s\n%s", lanes ? "#define ISING_LANES\n" : "", core, source);
    ergo_text_append(&options,
                     "%s -DISING_SPACE=__global -DISING_LX=2048u -DISING_LY=2048u "
                     "-DISING_CLASSES=2 -DISING_FULL -DISING_FIXED -DISING_HIGH0=%uu "
                     "-DISING_LOW0=%uu -DISING_HIGH1=%uu -DISING_LOW1=%uu",
                     bench->device->options, member->high[0], member->low[0], member->high[1],
                     member->low[1]);
    free(core);
    if (text.failed || options.failed) {
        status = ERGO_FAIL(bench->ctx, ERGO_E_MEMORY, "no memory for a program");
        goto out;
    }
    cl_int code = CL_SUCCESS;
    const char *strings[] = {text.data};
    c->program = clCreateProgramWithSource(bench->device->context, 1, strings, NULL, &code);
    if (code == CL_SUCCESS)
        code = clBuildProgram(c->program, 1, &bench->device->device, options.data, NULL, NULL);
    if (code != CL_SUCCESS) {
        if (c->program)
            clGetProgramBuildInfo(c->program, bench->device->device, CL_PROGRAM_BUILD_LOG,
                                  sizeof log - 1, log, NULL);
        status = ERGO_FAIL_CL(bench->ctx, code, "building the benchmark's kernels failed: %s", log);
    }
out:
    ergo_text_free(&text);
    ergo_text_free(&options);
    return status;
}

/* Best of several launches, per ns of device or wall time, and of processor time. */
static enum ergo_status best_rate(struct ergo_bench *bench, struct ceiling *c, const char *name,
                                  const struct ergo_arg *args, size_t n_args, size_t items,
                                  size_t group, double work, double *rate, double *rate_cpu) {
    cl_kernel kernel = NULL;
    const size_t global[2] = {items, 1}, local[2] = {group, 1};
    enum ergo_status status =
        ergo_kernel_create(bench->ctx, bench->device, c->program, name, &kernel);
    *rate = 0;
    for (int i = 0; i < 6 && status == ERGO_OK; i++) {
        cl_event event = NULL;
        double seconds = -1;
        const double cpu = ergo_bench_cpu(), wall = ergo_bench_wall();
        status = ergo_kernel_launch(bench->ctx, bench->device, kernel, name, args, n_args, 1,
                                    global, local, &event);
        if (status == ERGO_OK)
            status = ergo_event_wait(bench->ctx, bench->device, &event, &seconds);
        const double used = ergo_bench_cpu() - cpu;
        if (seconds <= 0)
            seconds = ergo_bench_wall() - wall;
        if (i == 0) /* compilation, first touch */
            continue;
        if (work / seconds * 1e-9 > *rate)
            *rate = work / seconds * 1e-9;
        if (rate_cpu && work / used * 1e-9 > *rate_cpu)
            *rate_cpu = work / used * 1e-9;
    }
    if (kernel)
        clReleaseKernel(kernel);
    return status;
}

/* Does the sampler take its kernels for CPUs here? Ask it. */
static enum ergo_status ask_lanes(struct ergo_bench *bench, bool *lanes,
                                  struct ising_member *member) {
    const struct ergo_bench_case what = {"ceilings", 0, 512, 512, 1, false};
    const struct ergo_bench_shape shape = {0};
    struct ergo_bench_run run;
    enum ergo_status status = ergo_bench_open(bench->ctx, bench->device, &what, &shape, 1, &run);
    if (status != ERGO_OK)
        return status;
    const struct ising_state *state = run.state;
    *lanes = state->launch.lanes;
    *member = state->members[0];
    ergo_bench_close(&run);
    return ERGO_OK;
}

enum ergo_status ergo_bench_ceilings_measure(struct ergo_bench *bench) {
    struct ceiling c = {0};
    struct ising_member member;
    struct ergo_bench_ceilings *out = &bench->ceilings;
    bool lanes = false;
    /* 128 bytes a work-item and buffer in flight per launch: larger than any cache */
    uint64_t bytes = bench->gpu ? (uint64_t)1 << 30 : (uint64_t)1 << 28;
    while (bytes > bench->device->summary.largest_buffer / 2)
        bytes /= 2;
    const size_t items = bench->gpu ? (size_t)1 << 20 : 4096, group = bench->gpu ? 256 : 16;
    enum ergo_status status = ask_lanes(bench, &lanes, &member);
    if (status == ERGO_OK)
        status = build(bench, lanes, &member, &c);
    if (status == ERGO_OK)
        status = ergo_buffer_create(bench->ctx, bench->device, "results", items * 4, NULL, &c.out);
    if (status == ERGO_OK)
        status = ergo_buffer_create(bench->ctx, bench->device, "member", sizeof member, &member,
                                    &c.members);
    if (status == ERGO_OK)
        status = ergo_buffer_create(bench->ctx, bench->device, "copy from", bytes, NULL, &c.from);
    if (status == ERGO_OK)
        status = ergo_buffer_create(bench->ctx, bench->device, "copy to", bytes, NULL, &c.to);
    const double width = lanes ? 8 : 1;
    cl_uint rounds = bench->gpu ? 4000 : 800;
    const struct ergo_arg compute[] = {ERGO_ARG(c.out), ERGO_ARG(c.members), ERGO_ARG(rounds)};
    if (status == ERGO_OK)
        status = best_rate(bench, &c, "bench_philox", compute, 3, items, group,
                           (double)rounds * (double)items * width, &out->philox, &out->philox_cpu);
    rounds = bench->gpu ? 400 : 80;
    if (status == ERGO_OK)
        status = best_rate(bench, &c, "bench_decide", compute, 3, items, group,
                           128.0 * (double)rounds * (double)items * width, &out->decide,
                           &out->decide_cpu);
    const struct ergo_arg copy[] = {ERGO_ARG(c.from), ERGO_ARG(c.to)};
    for (int wide = 0; wide < 2 && status == ERGO_OK; wide++) {
        double rate = 0;
        status = best_rate(bench, &c, wide ? "bench_copy" : "bench_copy4", copy, 2,
                           bytes / (wide ? 64 : 16), group, 2.0 * (double)bytes, &rate, NULL);
        out->copy = rate > out->copy ? rate : out->copy;
    }
    if (c.program)
        clReleaseProgram(c.program);
    ergo_buffer_release(&c.out);
    ergo_buffer_release(&c.members);
    ergo_buffer_release(&c.from);
    ergo_buffer_release(&c.to);
    return status;
}
