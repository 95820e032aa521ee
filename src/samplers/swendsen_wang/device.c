/* Swendsen-Wang on a device: parameters, start. */
#include <string.h>

#include "base/portable.h"
#include "samplers/swendsen_wang/sw.h"

_Static_assert(sizeof(struct sw_member) == SW_MEMBER_BYTES, "sw_member has explicit padding only");

bool sw_is_ising(const struct ergo_point *point) {
    return sw_is_potts(point) && ergo_says(of_sw(point)->hamiltonian, "ising");
}

double sw_bond_probability(const struct ergo_point *point) {
    const double t = point->parameters->temperature;
    const double j = of_lattice(point)->coupling.real;
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

static void start(void *state) {
    struct sw_state *s = state;
    const bool random = ergo_says(of_lattice(s->e.batch->points[0])->start, "random");
    s->started = true;
    ERGO_LAUNCH(&s->e, SW_START,
                ergo_grid_items((size_t)s->shape.words, s->launch.group, s->e.batch->count),
                BUFFER(SW_SPINS), BUFFER(SW_MEMBERS), U32(random));
}

const struct ergo_engine_model sw_model = {
    .sampler = "swendsen-wang",
    .smaller = "a smaller lattice",
    .state_bytes = sizeof(struct sw_state),
    .fields = &sw_fields,
    .configure = sw_configure,
    .start = start,
    .steps = sw_steps,
    .block = sw_block,
    .row = sw_row,
};
