/* Facilitated dynamics: programs and kernels of a mode, and attempts as launches of them. */
#include <stdlib.h>
#include <string.h>

#include "device/program.h"
#include "samplers/spin_lattice/facilitated.h"

/* ---- programs -------------------------------------------------------------------------------- */

static enum ergo_status build(struct ergo_context *ctx, struct fac_state *s) {
    const enum fac_mode mode = s->launch.mode;
    const struct fac_tiles *t = &s->launch.tiles;
    struct ergo_text o = {0}, more = {0};
    ergo_text_append(&o,
                     "-DFAC_LX=%uu -DFAC_LY=%uu -DFAC_DIRECTIONS=%u -DFAC_NEEDED=%u "
                     "-DFAC_COUPLED=%d -DFAC_LANES=%uu",
                     s->shape.lx, s->shape.ly, s->shape.directions, s->shape.needed,
                     s->shape.coupled, s->shape.lanes == 32 ? 0xffffffffu : 1u);
    if (!o.failed)
        ergo_text_append(&more, "%s", o.data);
    if (mode == FAC_MODE_TILES)
        ergo_text_append(&more,
                         " -DFAC_NX=%uu -DFAC_NY=%uu -DFAC_HALO=%uu -DFAC_WIDE=%uu -DFAC_HIGH=%uu "
                         "-DFAC_ROOM=%uu -DFAC_GROUP=%uu",
                         t->nx, t->ny, t->halo, t->wide, t->high, t->room, t->group);
    if (mode == FAC_MODE_LAMBDA)
        ergo_text_append(&more, " -DFAC_LAMBDA=%uu -DFAC_DIVISION=%d -DFAC_GROUP=%uu",
                         s->shape.lambda, (int)s->shape.division, s->launch.window);
    else if (s->launch.window)
        ergo_text_append(&o, " -DFAC_WINDOW=%uu%s", s->launch.window,
                         mode == FAC_MODE_TILES ? " -DFAC_REDO" : "");
    enum ergo_status status =
        o.failed || more.failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options")
                                : ergo_program_build(ctx, s->device, "spin_lattice/facilitated.cl",
                                                     o.data, &s->program);
    if (status == ERGO_OK && mode >= FAC_MODE_TILES)
        status = ergo_program_build(ctx, s->device,
                                    mode == FAC_MODE_TILES ? "spin_lattice/facilitated_tiles.cl"
                                                           : "spin_lattice/facilitated_lambda.cl",
                                    more.data, &s->tile_program);
    ergo_text_free(&o);
    ergo_text_free(&more);
    return status;
}

/* The group a kernel was compiled for has to be one that the device then gives it. */
static enum ergo_status check_group(struct ergo_context *ctx, struct fac_state *s, cl_kernel kernel,
                                    const char *name, uint32_t group) {
    size_t largest = 0;
    enum ergo_status status = ergo_kernel_largest_group(ctx, s->device, kernel, name, &largest);
    if (status == ERGO_OK && largest < group)
        status = ERGO_FAIL(ctx, ERGO_E_DEVICE,
                           "%s runs %s in groups of up to %zu, not of %u: set /tuning/work_group",
                           s->device->summary.name, name, largest, group);
    return status;
}

static enum ergo_status create_kernels(struct ergo_context *ctx, struct fac_state *s) {
    const struct {
        cl_kernel *kernel;
        cl_program program;
        const char *name;
        uint32_t group; /* compiled for, or 0 */
    } kernels[] = {{&s->start, s->program, "facilitated_start", 0},
                   {&s->reference, s->program, "facilitated_reference", 0},
                   {&s->measure, s->program, "facilitated_measure", 0},
                   {&s->sweep, s->program, "facilitated_serial", 0},
                   {&s->sweep, s->program, "facilitated_window", s->launch.window},
                   {&s->bin, s->tile_program, "facilitated_bin", 0},
                   {&s->tile, s->tile_program, "facilitated_tiles", s->launch.tiles.group},
                   {&s->tile, s->tile_program, "facilitated_lambda", s->launch.window}};
    static const unsigned wanted[] = {[FAC_MODE_SERIAL] = 0x0f,
                                      [FAC_MODE_WINDOWS] = 0x17,
                                      [FAC_MODE_TILES] = 0x77,
                                      [FAC_MODE_LAMBDA] = 0x87};
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0] && status == ERGO_OK; i++) {
        if (!(wanted[s->launch.mode] >> i & 1))
            continue;
        status = ergo_kernel_create(ctx, s->device, kernels[i].program, kernels[i].name,
                                    kernels[i].kernel);
        if (status == ERGO_OK && kernels[i].group)
            status = check_group(ctx, s, *kernels[i].kernel, kernels[i].name, kernels[i].group);
    }
    return status;
}

enum ergo_status fac_launch_create(struct ergo_context *ctx, struct fac_state *s) {
    const struct fac_tiles *t = &s->launch.tiles;
    const size_t lattices = fac_lattices(s), tiles = lattices * t->nx * t->ny;
    const size_t counts = 4 * FAC_COUNTER_STRIDE * tiles, flags = 4 * FAC_FLAGS * lattices;
    const bool tiled = s->launch.mode == FAC_MODE_TILES;
    enum ergo_status status = build(ctx, s);
    if (status == ERGO_OK)
        status = create_kernels(ctx, s);
    if (s->launch.mode < FAC_MODE_TILES || status != ERGO_OK)
        return status;
    void *zeros = calloc(counts > flags ? counts : flags, 1);
    const struct {
        cl_mem *mem;
        const char *name;
        size_t bytes;
        void *data;
    } buffers[] = {{&s->other_spins, "spins", 4 * s->shape.sites * lattices, NULL},
                   {&s->other_flipped, "flipped since t = 0", 4 * s->shape.sites * lattices, NULL},
                   {&s->bins, "attempts by tile", 4 * tiles * t->room, NULL},
                   {&s->bin_counts, "numbers of attempts", counts, zeros},
                   {&s->flags, "flags", flags, zeros}};
    if (!zeros)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for counters of %zu tiles", tiles);
    for (size_t i = 0; i < (tiled ? 5 : 1) && status == ERGO_OK; i++)
        status = ergo_buffer_create(ctx, s->device, buffers[i].name, buffers[i].bytes,
                                    buffers[i].data, buffers[i].mem);
    free(zeros);
    return status;
}

void fac_launch_destroy(struct fac_state *s) {
    const cl_kernel kernels[] = {s->sweep, s->start, s->reference, s->measure, s->bin, s->tile};
    const cl_program programs[] = {s->program, s->tile_program};
    cl_mem *const buffers[] = {&s->other_spins, &s->other_flipped, &s->bins, &s->bin_counts,
                               &s->flags};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (kernels[i])
            clReleaseKernel(kernels[i]);
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (programs[i])
            clReleaseProgram(programs[i]);
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        ergo_buffer_release(buffers[i]);
}

/* ---- launches -------------------------------------------------------------------------------- */

static void swap(cl_mem *a, cl_mem *b) {
    cl_mem t = *a;
    *a = *b;
    *b = t;
}

/* From spins and flipped to the others, and what was given up once more in windows. */
static enum ergo_status launch_segment(struct ergo_context *ctx, struct fac_state *s,
                                       cl_ulong sweep, cl_uint from, cl_uint count) {
    const struct fac_tiles *t = &s->launch.tiles;
    const cl_uint words = s->shape.words;
    const cl_ulong count_long = count;
    const size_t lattices = fac_lattices(s), places = (size_t)t->wide * t->high;
    const size_t bin_local[2] = {t->group, 1}, tile_local[2] = {t->group, 1};
    const size_t bin_global[2] = {ergo_round_up(count, t->group), lattices};
    const size_t tile_global[2] = {(size_t)t->nx * t->ny * t->group, lattices};
    const uint32_t window = s->launch.window;
    const size_t redo_global[2] = {(size_t)words * window, s->batch->count};
    const size_t redo_local[2] = {window, 1};
    const struct ergo_arg bin[] = {
        ERGO_ARG(s->bins), ERGO_ARG(s->bin_counts), ERGO_ARG(s->member_buffer),
        ERGO_ARG(sweep),   ERGO_ARG(from),          ERGO_ARG(count),
        ERGO_ARG(words)};
    const struct ergo_arg tile[] = {ERGO_ARG(s->spins),
                                    ERGO_ARG(s->other_spins),
                                    ERGO_ARG(s->flipped),
                                    ERGO_ARG(s->other_flipped),
                                    ERGO_ARG(s->bins),
                                    ERGO_ARG(s->bin_counts),
                                    ERGO_ARG(s->flags),
                                    ERGO_ARG(s->member_buffer),
                                    ERGO_ARG(sweep),
                                    ERGO_ARG(from),
                                    ERGO_ARG(words),
                                    ERGO_ARG_LOCAL(places * sizeof(cl_uint)),
                                    ERGO_ARG_LOCAL(places * sizeof(cl_uint)),
                                    ERGO_ARG_LOCAL(t->room * sizeof(cl_uint)),
                                    ERGO_ARG_LOCAL(2 * sizeof(cl_uint))};
    const struct ergo_arg redo[] = {ERGO_ARG(s->other_spins),
                                    ERGO_ARG(s->other_flipped),
                                    ERGO_ARG(s->member_buffer),
                                    ERGO_ARG(sweep),
                                    ERGO_ARG(from),
                                    ERGO_ARG(count_long),
                                    ERGO_ARG_LOCAL(16 * window * sizeof(cl_uint)),
                                    ERGO_ARG_LOCAL(2 * sizeof(cl_uint)),
                                    ERGO_ARG(s->spins),
                                    ERGO_ARG(s->flipped),
                                    ERGO_ARG(s->flags)};
    enum ergo_status status = ergo_kernel_launch(ctx, s->device, s->bin, "facilitated_bin", bin, 7,
                                                 2, bin_global, bin_local, NULL);
    if (status == ERGO_OK)
        status = ergo_kernel_launch(ctx, s->device, s->tile, "facilitated_tiles", tile, 15, 2,
                                    tile_global, tile_local, NULL);
    if (status == ERGO_OK)
        status = ergo_kernel_launch(ctx, s->device, s->sweep, "facilitated_window", redo, 11, 2,
                                    redo_global, redo_local, NULL);
    swap(&s->spins, &s->other_spins);
    swap(&s->flipped, &s->other_flipped);
    s->segments++;
    return status;
}

static enum ergo_status launch_sweep(struct ergo_context *ctx, struct fac_state *s, cl_ulong sweep,
                                     cl_uint from, cl_ulong count) {
    const uint32_t window = s->launch.window;
    const size_t global[2] = {(size_t)s->shape.words * (window ? window : 1), s->batch->count};
    const size_t local[2] = {window ? window : 1, 1};
    const struct ergo_arg args[] = {ERGO_ARG(s->spins),
                                    ERGO_ARG(s->flipped),
                                    ERGO_ARG(s->member_buffer),
                                    ERGO_ARG(sweep),
                                    ERGO_ARG(from),
                                    ERGO_ARG(count),
                                    ERGO_ARG_LOCAL(16 * window * sizeof(cl_uint)),
                                    ERGO_ARG_LOCAL(2 * sizeof(cl_uint))};
    return ergo_kernel_launch(ctx, s->device, s->sweep, "facilitated sweep", args, window ? 8 : 6,
                              2, global, local, NULL);
}

/* Half a sweep of method lambda. Of four classes none that changes is next to another, so that it
 * can be done in place. */
static enum ergo_status launch_half(struct ergo_context *ctx, struct fac_state *s, cl_ulong sweep,
                                    cl_uint half) {
    const bool coloured = s->shape.division == FAC_COLOURED;
    const cl_uint words = s->shape.words;
    const size_t sublattices = s->shape.sites / 1024 / (coloured ? 4 : 1);
    const size_t global[2] = {sublattices * s->launch.window, fac_lattices(s)};
    const size_t local[2] = {s->launch.window, 1};
    enum ergo_status status = ERGO_OK;
    for (cl_uint turn = 0; turn < (coloured ? 4 : 1) && status == ERGO_OK; turn++) {
        const struct ergo_arg args[] = {
            ERGO_ARG(s->spins),
            *(coloured ? &ERGO_ARG(s->spins) : &ERGO_ARG(s->other_spins)),
            ERGO_ARG(s->flipped),
            ERGO_ARG(s->member_buffer),
            ERGO_ARG(sweep),
            ERGO_ARG(half),
            ERGO_ARG(turn),
            ERGO_ARG(words),
            ERGO_ARG_LOCAL(34 * 34 * sizeof(cl_uint)),
            ERGO_ARG_LOCAL(2 * 1024 * sizeof(cl_uint))};
        status = ergo_kernel_launch(ctx, s->device, s->tile, "facilitated_lambda", args, 10, 2,
                                    global, local, NULL);
    }
    if (!coloured)
        swap(&s->spins, &s->other_spins);
    return status;
}

enum ergo_status fac_launch_attempts(struct ergo_context *ctx, struct fac_state *s, uint64_t step,
                                     uint32_t attempt, uint64_t count) {
    enum ergo_status status = ERGO_OK;
    while (count && status == ERGO_OK) {
        const uint64_t now = count < s->launch.attempts ? count : s->launch.attempts;
        status = s->launch.mode == FAC_MODE_TILES
                     ? launch_segment(ctx, s, step, attempt, (cl_uint)now)
                 : s->launch.mode == FAC_MODE_LAMBDA ? launch_half(ctx, s, step, attempt != 0)
                                                     : launch_sweep(ctx, s, step, attempt, now);
        const uint64_t end = attempt + now;
        step += end / s->shape.sites;
        attempt = (uint32_t)(end % s->shape.sites);
        count -= now;
    }
    return status;
}

enum ergo_status fac_launch_check(struct ergo_context *ctx, struct fac_state *s, bool *done) {
    const size_t lattices = fac_lattices(s), bytes = 4 * FAC_FLAGS * lattices;
    uint64_t again = 0;
    *done = true;
    if (s->launch.mode != FAC_MODE_TILES)
        return ERGO_OK;
    uint32_t *flags = malloc(bytes);
    enum ergo_status status = flags ? ergo_buffer_read(ctx, s->device, s->flags, 0, bytes, flags)
                                    : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to audit");
    for (size_t l = 0; l < lattices && status == ERGO_OK; l++) {
        *done = *done && flags[FAC_FLAGS * l] == 0 && flags[FAC_FLAGS * l + 1] == s->segments;
        again += flags[FAC_FLAGS * l + 2];
    }
    if (status == ERGO_OK)
        ergo_log(ctx, ERGO_LOG_INFO, "%.3g of %.3g segments were done again: halos of %u",
                 (double)again, (double)s->segments * (double)lattices, s->launch.tiles.halo);
    free(flags);
    return status;
}
