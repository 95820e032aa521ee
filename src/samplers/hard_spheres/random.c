/*
 * Random starts on a device, for all members at once. A lattice of small spheres melts, the spheres
 * grow (params.h), and a member is finished when none of its spheres overlap. The work is done in
 * pieces, so that a run can be stopped. The start of a member does not depend on the rest of the
 * batch, because it is taken at its own sweep; later sweeps do not matter. Sweeps are those of the
 * chain, with purposes and a count of their own.
 */
#include <stdlib.h>
#include <string.h>

#include "hard_spheres/core.h"
#include "samplers/hard_spheres/spheres.h"

void spheres_random_destroy(struct spheres_state *s) {
    struct spheres_growing *g = s->growing;
    for (size_t i = 0; g && g->configs && i < s->e.batch->count; i++)
        ergo_hard_free(&g->configs[i]);
    if (g) {
        free(g->configs);
        free(g->first);
        free(g->contacts);
        free(g->least);
    }
    free(g);
    s->growing = NULL;
}

enum ergo_status spheres_random_begin(struct ergo_context *ctx, struct spheres_state *s) {
    const size_t count = s->e.batch->count;
    spheres_random_destroy(s);
    struct spheres_growing *g = s->growing = calloc(1, sizeof *g);
    if (g) {
        g->configs = calloc(count, sizeof *g->configs);
        g->first = calloc(count, sizeof *g->first);
        g->contacts = calloc(count, s->contact_words * sizeof *g->contacts);
        g->least = calloc(count * s->launch.sums, sizeof *g->least);
    }
    if (!g || !g->configs || !g->first || !g->contacts || !g->least)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to start spheres at random");
    for (size_t i = 0; i < count; i++)
        g->first[i] = spheres_start_contact(&s->shapes[i]);
    g->left = count;
    return ERGO_OK;
}

static enum ergo_status sweep(struct ergo_context *ctx, struct spheres_state *s) {
    struct spheres_growing *g = s->growing;
    const size_t count = s->e.batch->count;
    const uint32_t k = g->sweep % SPHERES_START_ASK;
    ergo_engine_begin(&s->e, ctx);
    for (size_t i = 0; i < count; i++)
        spheres_contact_put(s, g->contacts, i,
                            spheres_growth(g->first[i], s->shapes[i].contact, g->sweep));
    ergo_engine_write(&s->e, SPHERES_GROWTH, 0, 8 * s->contact_words * count, g->contacts);
    if (k == 0)
        spheres_plan_sweeps(s, g->sweep, SPHERES_START_ASK, SPHERES_PURPOSE_START);
    spheres_sweep(s, g->sweep, k, false, SPHERES_GROWTH, SPHERES_PURPOSE_START);
    g->sweep++;
    return ergo_engine_end(&s->e);
}

/* What a device without faults never does. */
static enum ergo_status overlap(struct ergo_context *ctx, const struct spheres_state *s) {
    return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                     "audit of hard-spheres failed on %s (%s): spheres overlap that a random start "
                     "has found apart after %u sweeps. The device's compiler or hardware is wrong "
                     "for these kernels: try another device",
                     s->e.device->summary.name, s->e.device->summary.driver, s->growing->sweep);
}

/* Take the members that have finished. */
static enum ergo_status ask(struct ergo_context *ctx, struct spheres_state *s) {
    struct spheres_growing *g = s->growing;
    const size_t count = s->e.batch->count, sums = s->launch.sums;
    ergo_engine_begin(&s->e, ctx);
    spheres_closest_pairs(s, false);
    ergo_engine_read(&s->e, SPHERES_LEAST, 0, 8 * count * sums, g->least);
    enum ergo_status status = ergo_engine_end(&s->e);
    for (size_t i = 0; i < count && status == ERGO_OK; i++) {
        struct ergo_hard_cells config;
        uint64_t least = UINT64_MAX;
        for (size_t k = 0; k < sums; k++)
            least = g->least[i * sums + k] < least ? g->least[i * sums + k] : least;
        if (g->configs[i].count || least < s->shapes[i].contact)
            continue;
        status = ergo_hard_fetch(ctx, s, i, &config);
        if (status != ERGO_OK)
            continue;
        /* what the device missed the host does not */
        if (ergo_hard_closest(&config, NULL, NULL) < s->shapes[i].contact) {
            ergo_hard_free(&config);
            status = overlap(ctx, s);
            continue;
        }
        if (!s->shapes[i].confined.is) /* walls are where they are */
            memset(config.grid, 0, sizeof config.grid);
        g->configs[i] = config;
        g->left--;
    }
    if (status == ERGO_OK && g->left && g->sweep >= SPHERES_START_MOST)
        status = ERGO_FAIL(ctx, ERGO_E_JOB,
                           "/system/start: %zu of %zu systems of random spheres still overlap "
                           "after %u sweeps; start from \"fcc\" or from a file, or take a lower "
                           "packing fraction",
                           g->left, count, g->sweep);
    return status;
}

enum ergo_status spheres_random_piece(struct ergo_context *ctx, void *opaque, bool *done) {
    struct spheres_state *s = opaque;
    struct spheres_growing *g = s->growing;
    enum ergo_status status = ERGO_OK;
    *done = g == NULL;
    if (!g)
        return ERGO_OK;
    for (uint32_t i = 0; i < s->launch.start_sweeps && g->left && status == ERGO_OK; i++) {
        status = sweep(ctx, s);
        if (status == ERGO_OK && g->sweep >= SPHERES_START_MELT + SPHERES_START_GROW &&
            g->sweep % SPHERES_START_ASK == 0)
            status = ask(ctx, s);
    }
    if (status == ERGO_OK)
        status = ergo_device_finish(ctx, s->e.device);
    if (status != ERGO_OK || g->left)
        return status;
    status = ergo_hard_begin(ctx, s, g->configs);
    spheres_random_destroy(s);
    *done = true;
    return status;
}
