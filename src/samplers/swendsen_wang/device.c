/* Swendsen-Wang on a device: parameters, start. */
#include <string.h>

#include "base/portable.h"
#include "samplers/swendsen_wang/sw.h"

_Static_assert(sizeof(struct sw_member) == SW_MEMBER_BYTES, "sw_member has explicit padding only");

bool sw_is_ising(const struct ergo_point *point) {
    return strcmp(ergo_point_text(point, "/system/model"), "potts") == 0 &&
           strcmp(ergo_point_text(point, "/system/hamiltonian"), "ising") == 0;
}

double sw_bond_probability(const struct ergo_point *point) {
    const double t = ergo_point_real(point, "/system/temperature");
    const double j = ergo_point_real(point, "/system/coupling");
    if (!sw_has_temperature(point))
        return 0.5;
    /* -J s s is -2 J (delta - 1) and a constant */
    return 1.0 - ergo_portable_exp(-(sw_is_ising(point) ? 2.0 : 1.0) * j / t);
}

void sw_member_fill(const struct ergo_point *point, struct sw_member *member) {
    const double scaled = sw_bond_probability(point) * 0x1p40 + 0.5;
    memset(member, 0, sizeof *member);
    member->key0 = (uint32_t)point->stream;
    member->key1 = (uint32_t)(point->stream >> 32);
    if (scaled >= 0x1p40) {
        member->always = 1;
        return;
    }
    const uint64_t threshold = (uint64_t)scaled;
    member->high = (uint32_t)(threshold >> 32);
    member->low = (uint32_t)threshold;
}

static enum ergo_status prepare(struct ergo_context *ctx, void *state) {
    struct sw_state *s = state;
    (void)ctx;
    ergo_engine_constant(&s->e, SW_MEMBERS, s->members);
    return ERGO_OK;
}

const struct ergo_engine_model sw_model = {
    .sampler = "swendsen-wang",
    .smaller = "a smaller lattice",
    .state_bytes = sizeof(struct sw_state),
    .configure = sw_configure,
    .prepare = prepare,
    .steps = sw_steps,
    .block = sw_block,
    .rows = sw_rows,
};

enum ergo_status sw_init(struct ergo_context *ctx, void *opaque) {
    struct sw_state *s = opaque;
    const bool random =
        strcmp(ergo_point_text(s->e.batch->points[0], "/system/start"), "random") == 0;
    s->e.step = 0;
    s->started = true;
    ergo_engine_begin(&s->e, ctx);
    ERGO_LAUNCH(&s->e, SW_START,
                ergo_grid_items((size_t)s->shape.words, s->launch.group, s->e.batch->count),
                BUFFER(SW_SPINS), BUFFER(SW_MEMBERS), U32(random));
    ergo_engine_finish(&s->e);
    return ergo_engine_end(&s->e);
}
