/*
 * Has the device an instruction for fma()? Without one, implementations put hundreds of others in
 * line at each use, which are slow, and slower still to compile (Mesa 22.3.6 on llvmpipe: a
 * hard-disk job with 40 uses was 61 to 79 s in LLVM), or have none at all (Mesa 26.2: "nir_shader
 * not fully linked"). cl/common/fma.h makes the same bits from some 50 operations, and that job
 * takes 3 to 4 s. The choice changes no bit, so a clock may make it.
 */
#include <math.h>
#include <time.h>

#include "device/probe.h"
#include "device/program.h"

enum { ITEMS = 64, LEAST_ITERATIONS = 64, MOST_ITERATIONS = 16384, GROWTH = 16 };
enum { LEAST_ROUNDS = 4, MOST_ROUNDS = 16, TRIES = 4 };

/* Chains that take so long, and take it for their length, do not get longer: an interpreter
 * (Oclgrind) would take minutes. */
static const double LONG = 0.005; /* seconds */

/* An instruction takes no longer than a multiplication and an addition: 0.7 on PoCL, and 7 to 9 on
 * llvmpipe. */
static const double SLOW = 2.5;

/* Nor does it take much less. Times that say so are of something else as well, and taken again. */
static const double SOUND = 3;

struct chain {
    const char *name;
    cl_kernel kernel;
    /* of the quickest launch, and of one with iterations / GROWTH: what a launch costs by itself is
     * in both (11 ms on llvmpipe where Mesa's cache is empty, ten times what the chain takes) */
    double seconds[2];
};

static double cost(const struct chain *c) {
    return c->seconds[0] - c->seconds[1];
}

static bool is_sound(const struct chain chains[2]) {
    return cost(&chains[1]) > 0 && cost(&chains[1]) <= SOUND * cost(&chains[0]);
}

/* Of a CPU the time that this process had, because other work on the machine would count (at a load
 * of 20 on two cores llvmpipe's fma() was once taken for quick). */
static double clock_of(const struct ergo_device *device) {
    struct timespec t;
    if (device->type != CL_DEVICE_TYPE_CPU || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0)
        return ergo_clock();
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static enum ergo_status time_chain(struct ergo_context *ctx, struct ergo_device *device,
                                   struct chain *c, int which, cl_uint iterations, cl_mem out) {
    const cl_float a = 0.5f, b = 1.0f;
    const size_t items = ITEMS;
    const struct ergo_arg args[] = {ERGO_ARG(out), ERGO_ARG(a), ERGO_ARG(b), ERGO_ARG(iterations)};
    const double begun = clock_of(device);
    enum ergo_status status =
        ergo_kernel_launch(ctx, device, c->kernel, c->name, args, 4, 1, &items, &items, NULL);
    if (status == ERGO_OK)
        status = ergo_device_finish(ctx, device);
    c->seconds[which] = fmin(c->seconds[which], clock_of(device) - begun);
    return status;
}

/* In turns, because machines have other work. More rounds are needed to call an fma slow. */
static enum ergo_status time_chains(struct ergo_context *ctx, struct ergo_device *device,
                                    cl_program program, struct chain chains[2]) {
    cl_mem out = NULL;
    cl_uint n = LEAST_ITERATIONS;
    enum ergo_status status =
        ergo_buffer_create(ctx, device, "probe chains", ITEMS * sizeof(cl_float), NULL, &out);
    for (int k = 0; k < 2 && status == ERGO_OK; k++)
        status = ergo_kernel_create(ctx, device, program, chains[k].name, &chains[k].kernel);
    for (double shorter = 0; status == ERGO_OK; n *= GROWTH) {
        chains[1].seconds[0] = INFINITY;
        for (int i = 0; i < 2 && status == ERGO_OK; i++) /* the first may compile */
            status = time_chain(ctx, device, &chains[1], 0, n, out);
        const double seconds = chains[1].seconds[0];
        if (n == MOST_ITERATIONS || (seconds > LONG && shorter > 0 && seconds > 2 * shorter))
            break;
        shorter = seconds;
    }
    for (int i = 0; i < TRIES * MOST_ROUNDS && status == ERGO_OK; i++) {
        if (i % MOST_ROUNDS == 0) {
            if (i && is_sound(chains))
                break;
            for (int k = 0; k < 2; k++)
                chains[k].seconds[0] = chains[k].seconds[1] = INFINITY;
        }
        for (int k = 0; k < 4 && status == ERGO_OK; k++)
            status = time_chain(ctx, device, &chains[k / 2], k % 2, k % 2 ? n / GROWTH : n, out);
        if (i % MOST_ROUNDS >= LEAST_ROUNDS && is_sound(chains) &&
            cost(&chains[0]) <= SLOW * cost(&chains[1]))
            break;
    }
    for (int k = 0; k < 2; k++)
        if (chains[k].kernel)
            (void)clReleaseKernel(chains[k].kernel);
    ergo_buffer_release(&out);
    return status;
}

void ergo_probe_fma(struct ergo_context *ctx, struct ergo_device *device) {
    struct chain chains[2] = {{"probe_fma", NULL, {INFINITY, INFINITY}},
                              {"probe_mul_add", NULL, {INFINITY, INFINITY}}};
    struct ergo_context *scratch = ergo_context_create();
    cl_program program = NULL;
    device->software_fma = false; /* in the build of this program */
    if (!scratch)
        return;
    enum ergo_status status =
        ergo_program_build(scratch, device, "common/probe_fma.cl", "", &program);
    if (status == ERGO_OK)
        status = time_chains(scratch, device, program, chains);
    /* an fma that cannot be built or run is none; whether the device is at fault shows later. Ours
     * is right everywhere: it is the choice where no times can be had. */
    const bool slow = !is_sound(chains) || cost(&chains[0]) > SLOW * cost(&chains[1]);
    device->software_fma = status == ERGO_OK ? slow : status == ERGO_E_DEVICE;
    ergo_log(ctx, ERGO_LOG_INFO, "device %s (%s): %s fma(): %.3g s, %.3g s by multiplications%s%s",
             device->summary.id, device->summary.name,
             device->software_fma ? "ergocl's own" : "the device's", cost(&chains[0]),
             cost(&chains[1]), status == ERGO_OK ? "" : ": ",
             status == ERGO_OK ? "" : ergo_error_message(scratch));
    if (program)
        (void)clReleaseProgram(program);
    ergo_context_destroy(scratch);
}
