/*
 * The device's ceilings, measured in the same run: Philox4x32-10, arithmetic and copies. Each is
 * measured by kernels that suit GPUs and by kernels that suit CPUs, and the better rate counts.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "device/program.h"

/* One kernel per program, because some compilers are slow. Counters as in samplers: the entity
 * differs from item to item, the rest is the same for all. */
static const char philox[] =
    "__kernel void bench_philox(__global uint *out, uint rounds, uint key) {\n"
    "    const uint id = (uint)get_global_id(0);\n"
    "    uint sum = 0;\n"
    "    for (uint i = 0; i < rounds; i++) {\n"
    "        const struct ergo_words r =\n"
    "            ergo_philox_words(id, i, 0, ERGO_DRAW(1, 0), key, key);\n"
    "        sum ^= r.x ^ r.y ^ r.z ^ r.w;\n"
    "    }\n"
    "    out[id] = sum;\n"
    "}\n";
static const char philox_lanes[] =
    "__kernel void bench_philox(__global uint *out, uint rounds, uint key) {\n"
    "    const uint id = (uint)get_global_id(0);\n"
    "    const ulong8 entities = (ulong8)(8UL * id) + (ulong8)(0, 1, 2, 3, 4, 5, 6, 7);\n"
    "    ulong8 sum = (ulong8)(0UL);\n"
    "    for (uint i = 0; i < rounds; i++) {\n"
    "        ulong8 r[ERGO_PHILOX_SIDES][2];\n"
    "        ergo_philox_lanes(entities, i, ERGO_DRAW(1, 0), key, key, r);\n"
    "        for (int d = 0; d < ERGO_PHILOX_SIDES; d++)\n"
    "            sum ^= r[d][0] ^ r[d][1];\n"
    "    }\n"
    "    out[id] = any(sum != (ulong8)(0UL)) ? 1u : 0u;\n"
    "}\n";
/* Eight independent chains; in each, a result is the next input. */
static const char chains[] =
    "#define EIGHT STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)\n"
    "__kernel void bench_chains(__global uint *out, uint rounds, uint key) {\n"
    "    const uint id = (uint)get_global_id(0);\n"
    "    const TYPE a = (TYPE)(FIRST), b = (TYPE)((SCALAR)(id + key));\n"
    "    TYPE v[8];\n"
    "    for (int k = 0; k < 8; k++)\n"
    "        v[k] = (TYPE)((SCALAR)(id + (uint)k));\n"
    "    for (uint i = 0; i < rounds; i++) {\n"
    "        ALL\n"
    "    }\n"
    "    const TYPE sum = v[0] + v[1] + v[2] + v[3] + v[4] + v[5] + v[6] + v[7];\n"
    "    out[id] = LAST;\n"
    "}\n";
#define FMA "#define SCALAR float\n#define FIRST 0.5f\n#define STEP(k) v[k] = fma(v[k], a, b);\n"
#define INTEGER                                                                                    \
    "#define SCALAR uint\n#define FIRST rounds\n#define STEP(k) v[k] = (v[k] ^ a) + b;\n"
static const char copies[] =
    "__kernel void bench_copy(__global const uint16 *from, __global uint16 *to) {\n"
    "    const size_t i = get_global_id(0);\n"
    "    to[i] = from[i];\n"
    "}\n"
    "__kernel void bench_copy4(__global const uint4 *from, __global uint4 *to) {\n"
    "    const size_t i = get_global_id(0);\n"
    "    to[i] = from[i];\n"
    "}\n";

static enum ergo_status build(struct ergo_bench *bench, const struct ergo_bench_probe *probe,
                              cl_program *program) {
    char *core = NULL, log[2048] = "";
    struct ergo_text text = {0}, options = {0};
    enum ergo_status status = ergo_program_flatten(bench->ctx, probe->path, &core);
    if (status != ERGO_OK)
        return status;
    ergo_text_append(&text, "%s%s\n%s", probe->before, core, probe->source);
    ergo_text_append(&options, "%s %s", bench->device->options, probe->options);
    free(core);
    if (text.failed || options.failed) {
        status = ERGO_FAIL(bench->ctx, ERGO_E_MEMORY, "no memory for a program");
        goto out;
    }
    cl_int code = CL_SUCCESS;
    const char *strings[] = {text.data};
    *program = clCreateProgramWithSource(bench->device->context, 1, strings, NULL, &code);
    if (code == CL_SUCCESS)
        code = clBuildProgram(*program, 1, &bench->device->device, options.data, NULL, NULL);
    if (code != CL_SUCCESS) {
        if (*program)
            clGetProgramBuildInfo(*program, bench->device->device, CL_PROGRAM_BUILD_LOG,
                                  sizeof log - 1, log, NULL);
        status = ERGO_FAIL_CL(bench->ctx, code, "building the benchmark's kernels failed: %s", log);
    }
out:
    ergo_text_free(&text);
    ergo_text_free(&options);
    return status;
}

struct launch {
    cl_kernel kernel;
    const char *name;
    const struct ergo_arg *args;
    size_t n_args, items, group;
};

/* One launch; keeps the better rates. *seconds: what it took. */
static enum ergo_status time_launch(struct ergo_bench *bench, const struct launch *l, double work,
                                    struct ergo_bench_ceiling *out, double *seconds) {
    const size_t global[2] = {l->items, 1}, local[2] = {l->group, 1};
    cl_event event = NULL;
    const double cpu = ergo_bench_cpu(), wall = ergo_bench_wall();
    enum ergo_status status = ergo_kernel_launch(bench->ctx, bench->device, l->kernel, l->name,
                                                 l->args, l->n_args, 1, global, local, &event);
    *seconds = -1;
    if (status == ERGO_OK)
        status = ergo_event_wait(bench->ctx, bench->device, &event, seconds);
    const double used = ergo_bench_cpu() - cpu;
    if (*seconds <= 0)
        *seconds = ergo_bench_wall() - wall;
    if (status == ERGO_OK && out) {
        const double rate = work / *seconds * 1e-9, per_core = work / used * 1e-9;
        out->rate = rate > out->rate ? rate : out->rate;
        out->per_core = per_core > out->per_core ? per_core : out->per_core;
    }
    return status;
}

enum ergo_status ergo_bench_probe(struct ergo_bench *bench, const struct ergo_bench_probe *probe,
                                  struct ergo_bench_ceiling *out) {
    cl_program program = NULL;
    cl_mem results = NULL;
    const cl_uint key = 0x9E3779B9u;
    cl_uint rounds = 4;
    const struct ergo_arg args[] = {ERGO_ARG(results), ERGO_ARG(rounds), ERGO_ARG(key)};
    struct launch l = {.name = probe->kernel,
                       .args = args,
                       .n_args = 3,
                       .items = bench->gpu ? (size_t)1 << 20 : 4096,
                       .group = bench->gpu ? 256 : 16};
    double seconds = 0;
    enum ergo_status status = build(bench, probe, &program);
    if (status == ERGO_OK)
        status =
            ergo_buffer_create(bench->ctx, bench->device, "results", l.items * 4, NULL, &results);
    if (status == ERGO_OK)
        status = ergo_kernel_create(bench->ctx, bench->device, program, l.name, &l.kernel);
    /* the first launch compiles; then rounds grow until a launch takes 10 ms, and five launches
     * count */
    for (int i = 0; i < 20 && seconds < 0.01 && status == ERGO_OK; i++) {
        status = time_launch(bench, &l, 0, NULL, &seconds);
        if (i == 0)
            seconds = 0;
        else if (seconds < 0.01)
            rounds *= 2;
    }
    for (int i = 0; i < 5 && status == ERGO_OK; i++)
        status =
            time_launch(bench, &l, probe->work * (double)rounds * (double)l.items, out, &seconds);
    if (l.kernel)
        clReleaseKernel(l.kernel);
    if (program)
        clReleaseProgram(program);
    ergo_buffer_release(&results);
    return status;
}

static enum ergo_status measure_copy(struct ergo_bench *bench, bool wide,
                                     struct ergo_bench_ceiling *out) {
    const struct ergo_bench_probe probe = {"", "common/rng.h", copies, "", NULL, 0};
    cl_program program = NULL;
    cl_mem from = NULL, to = NULL;
    /* larger than any cache */
    uint64_t bytes = bench->gpu ? (uint64_t)1 << 30 : (uint64_t)1 << 28;
    while (bytes > bench->device->summary.largest_buffer / 2)
        bytes /= 2;
    const struct ergo_arg args[] = {ERGO_ARG(from), ERGO_ARG(to)};
    struct launch l = {.name = wide ? "bench_copy" : "bench_copy4",
                       .args = args,
                       .n_args = 2,
                       .items = bytes / (wide ? 64 : 16),
                       .group = bench->gpu ? 256 : 16};
    double seconds = 0;
    enum ergo_status status = build(bench, &probe, &program);
    if (status == ERGO_OK)
        status = ergo_buffer_create(bench->ctx, bench->device, "copy from", bytes, NULL, &from);
    if (status == ERGO_OK)
        status = ergo_buffer_create(bench->ctx, bench->device, "copy to", bytes, NULL, &to);
    if (status == ERGO_OK)
        status = ergo_kernel_create(bench->ctx, bench->device, program, l.name, &l.kernel);
    for (int i = 0; i < 6 && status == ERGO_OK; i++) /* the first: compilation, first touch */
        status = time_launch(bench, &l, 2.0 * (double)bytes, i ? out : NULL, &seconds);
    if (l.kernel)
        clReleaseKernel(l.kernel);
    if (program)
        clReleaseProgram(program);
    ergo_buffer_release(&from);
    ergo_buffer_release(&to);
    return status;
}

enum ergo_status ergo_bench_ceilings_measure(struct ergo_bench *bench) {
    static const struct ergo_bench_ceiling names[ERGO_BENCH_RESOURCES] = {
        [ERGO_BENCH_PHILOX] = {.key = "philox_blocks", .label = "Philox"},
        [ERGO_BENCH_FMA] = {.key = "multiply_adds", .label = "multiply-adds"},
        [ERGO_BENCH_INTEGER] = {.key = "integer_operations", .label = "integer operations"},
        [ERGO_BENCH_COPY] = {.key = "copy_bytes", .label = "memory"},
    };
#define ONE(type)                                                                                  \
    "#define TYPE " type "\n#define ALL EIGHT EIGHT EIGHT EIGHT\n#define LAST (uint)sum\n"
#define WIDE(type)                                                                                 \
    "#define TYPE " type                                                                           \
    "\n#define ALL EIGHT\n#define LAST (uint)(sum.s0 + sum.s5 + sum.sa + sum.sf)\n"
    static const struct {
        enum ergo_bench_resource resource;
        bool cpu; /* on CPUs only */
        const char *before, *source, *kernel;
        double work;
    } probes[] = {
        {ERGO_BENCH_PHILOX, false, "", philox, "bench_philox", 1},
        {ERGO_BENCH_PHILOX, true, "", philox_lanes, "bench_philox", 32},
        {ERGO_BENCH_FMA, false, FMA ONE("float"), chains, "bench_chains", 32},
        {ERGO_BENCH_FMA, true, FMA WIDE("float16"), chains, "bench_chains", 128},
        {ERGO_BENCH_INTEGER, false, INTEGER ONE("uint"), chains, "bench_chains", 64},
        {ERGO_BENCH_INTEGER, true, INTEGER WIDE("uint16"), chains, "bench_chains", 256},
    };
    enum ergo_status status = ERGO_OK;
    memcpy(bench->ceilings, names, sizeof names);
    bench->n_ceilings = ERGO_BENCH_RESOURCES;
    for (size_t i = 0; i < sizeof probes / sizeof probes[0] && status == ERGO_OK; i++) {
        const struct ergo_bench_probe probe = {
            .before = probes[i].before,
            .path = "common/rng.h",
            .source = probes[i].source,
            .options = "",
            .kernel = probes[i].kernel,
            .work = probes[i].work,
        };
        if (!probes[i].cpu || !bench->gpu)
            status = ergo_bench_probe(bench, &probe, &bench->ceilings[probes[i].resource]);
    }
    for (int wide = 0; wide < 2 && status == ERGO_OK; wide++)
        status = measure_copy(bench, wide != 0, &bench->ceilings[ERGO_BENCH_COPY]);
    return status;
}
