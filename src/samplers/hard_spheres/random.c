/*
 * Random starts on a device, for all members at once. A lattice of small spheres melts, the spheres
 * grow (params.h), and a member is finished when none of its spheres overlap. The work is done in
 * pieces, so that a run can be stopped. The start of a member does not depend on the rest of the
 * batch, because it is taken at its own sweep; later sweeps do not matter. Sweeps are those of the
 * chain, with purposes and a count of their own.
 */
#include <string.h>

#include "hard_spheres/core.h"
#include "samplers/hard_spheres/spheres.h"

enum ergo_status spheres_random_sweep(struct ergo_context *ctx, void *state) {
    struct spheres_state *s = state;
    const size_t count = s->e.batch->count;
    const uint32_t sweep = s->growth.sweep, k = sweep % ERGO_HARD_ASK;
    ergo_engine_begin(&s->e, ctx);
    for (size_t i = 0; i < count; i++)
        spheres_contact_put(
            s, s->growing, i,
            spheres_growth(spheres_start_contact(&s->shapes[i]), s->shapes[i].contact, sweep));
    ergo_engine_write(&s->e, SPHERES_GROWTH, 0, 8 * s->contact_words * count, s->growing);
    if (k == 0)
        spheres_plan_sweeps(s, sweep, ERGO_HARD_ASK, SPHERES_PURPOSE_START);
    spheres_sweep(s, sweep, k, false, SPHERES_GROWTH, SPHERES_PURPOSE_START);
    return ergo_engine_end(&s->e);
}

/* What a device without faults never does. */
static enum ergo_status overlap(struct ergo_context *ctx, const struct spheres_state *s) {
    return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                     "audit of hard-spheres failed on %s (%s): spheres overlap that a random start "
                     "has found apart after %u sweeps. The device's compiler or hardware is wrong "
                     "for these kernels: try another device",
                     s->e.device->summary.name, s->e.device->summary.driver, s->growth.sweep);
}

enum ergo_status spheres_random_take(struct ergo_context *ctx, void *state) {
    struct spheres_state *s = state;
    struct ergo_hard_growth *g = &s->growth;
    const size_t count = s->e.batch->count, sums = s->launch.sums;
    ergo_engine_begin(&s->e, ctx);
    spheres_closest_pairs(s, false);
    ergo_engine_read(&s->e, SPHERES_LEAST, 0, 8 * count * sums, s->least);
    enum ergo_status status = ergo_engine_end(&s->e);
    for (size_t i = 0; i < count && status == ERGO_OK; i++) {
        struct ergo_hard_cells config;
        uint64_t least = UINT64_MAX;
        for (size_t k = 0; k < sums; k++)
            least = s->least[i * sums + k] < least ? s->least[i * sums + k] : least;
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
    return status;
}
