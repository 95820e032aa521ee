/* Hard disks on a device: constants, start. */
#include <stdlib.h>
#include <string.h>

#include "hard_disks/core.h"
#include "samplers/hard_disks/disks.h"

_Static_assert(sizeof(struct disks_member) == DISKS_MEMBER_BYTES, "disks_member has no padding");
_Static_assert(sizeof(struct disks_size) == DISKS_SIZE_BYTES, "disks_size has no padding");
_Static_assert(sizeof(struct disks_rules) == DISKS_RULES_BYTES, "disks_rules has no padding");
_Static_assert(sizeof(struct disks_sum) == DISKS_SUM_BYTES, "disks_sum has no padding");

/* Edges of the bins of the pair histograms, for every member. */
static enum ergo_status create_limits(struct ergo_context *ctx, struct disks_state *s) {
    const size_t members = s->e.batch->count;
    for (unsigned c = 0; c < 2; c++) {
        const size_t bins = s->launch.bins[c], each = bins + 1;
        if (!bins)
            continue;
        uint64_t *limits = malloc(members * each * sizeof *limits);
        s->areas[c] = ergo_engine_memory(&s->e, members * bins, sizeof *s->areas[c]);
        if (!limits || !s->areas[c]) {
            free(limits);
            return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for histogram bins");
        }
        for (size_t i = 0; i < members; i++) {
            double *areas = s->areas[c] + i * bins;
            disks_limits(s->e.batch->points[i], &s->shapes[i], c, limits + i * each);
            /* replicas share the areas, because counting takes milliseconds */
            if (i && s->shapes[i].box[0] == s->shapes[i - 1].box[0] &&
                s->shapes[i].box[1] == s->shapes[i - 1].box[1] &&
                s->shapes[i].side[0] == s->shapes[i - 1].side[0])
                memcpy(areas, areas - bins, bins * sizeof *areas);
            else
                disks_areas(s->e.batch->points[i], &s->shapes[i], c, limits + i * each, areas);
        }
        ergo_engine_constant(&s->e, DISKS_LIMITS + c, limits);
        free(limits);
    }
    return ERGO_OK;
}

static enum ergo_status prepare(struct ergo_context *ctx, void *state) {
    struct disks_state *s = state;
    const struct ergo_confinement *confined = &s->shapes[0].confined;
    if (!s->shapes[0].npt)
        ergo_engine_constant(&s->e, DISKS_MEMBERS, s->members);
    return confined->is ? ergo_confined_create(ctx, &s->e, DISKS_WALLS, DISKS_FIELDS, confined,
                                               sizeof s->shapes[0])
                        : create_limits(ctx, s);
}

const struct ergo_engine_model disks_model = {
    .sampler = "hard-disks",
    .smaller = "fewer disks",
    .state_bytes = sizeof(struct disks_state),
    .configure = disks_configure,
    .prepare = prepare,
    ERGO_ENGINE_ROWS(disks),
    .release = ergo_hard_grow_end,
};

enum ergo_status disks_init(struct ergo_context *ctx, void *opaque) {
    struct disks_state *s = opaque;
    /* a shape key, so it holds for all members or none */
    if (!disks_start_is_random(s->e.batch->points[0]))
        return ergo_hard_begin(ctx, s, NULL);
    s->e.step = 0;
    return disks_random_begin(ctx, s);
}
