/* The 2D Ising model on a device: parameters, start, table of functions. */
#include "samplers/spin_lattice/ising/ising.h"

#include <string.h>

#include "base/portable.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/two_times.h"
#include "spin_lattice/params.h"

_Static_assert(sizeof(struct ising_member) == ISING_MEMBER_BYTES, "ising_member has no padding");

/* Store round(p 2^39) of class k in two parts, or its `always` bit if p is 1. */
static void set_threshold(struct ising_member *member, int k, double p) {
    const double scaled = p * 0x1p39 + 0.5;
    if (scaled >= 0x1p39) {
        member->always |= 1u << k;
        return;
    }
    const uint64_t t = (uint64_t)scaled;
    member->high[k] = (uint32_t)(t >> 32);
    member->low[k] = (uint32_t)t;
    for (int bit = 0; bit < ISING_PLANES && k < 2; bit++)
        member->planes[k][bit] = 0 - (member->high[k] >> bit & 1);
}

void ising_member_fill(const struct ergo_point *point, bool field, struct ising_member *member) {
    const double t = point->parameters->temperature;
    const double j = of_lattice(point)->coupling.real;
    const double b = of_lattice(point)->field.real;
    const bool heat_bath = ergo_says(of_lattice(point)->dynamics, "heat-bath");
    memset(member, 0, sizeof *member);
    member->key0 = (uint32_t)point->stream;
    member->key1 = (uint32_t)(point->stream >> 32);
    member->anti = j < 0 ? 0xffffffffu : 0;
    if (!field) { /* a flip with 4 or 3 satisfied bonds costs 8|J| or 4|J| */
        const double abs_j = j < 0 ? -j : j;
        set_threshold(member, 0, ergo_portable_exp(-8.0 * abs_j / t));
        set_threshold(member, 1, ergo_portable_exp(-4.0 * abs_j / t));
        return;
    }
    for (int k = 0; k < ISING_CLASSES_MAX; k++) {
        const double spin = k < 5 ? 1.0 : -1.0, neighbours = 2.0 * (k % 5) - 4.0;
        const double cost = 2.0 * spin * (j * neighbours + b); /* energy of the flip */
        if (heat_bath)
            set_threshold(member, k, 1.0 / (1.0 + ergo_portable_exp(cost / t)));
        else
            set_threshold(member, k, cost <= 0 ? 1.0 : ergo_portable_exp(-cost / t));
    }
}

void ising_fill(void *state) {
    struct ising_state *s = state;
    const struct ergo_batch *batch = s->e.batch;
    for (size_t i = 0; i < batch->count; i++) {
        ising_member_fill(batch->points[i], s->launch.field, &s->members[i]);
        s->members[i].first = (uint32_t)s->shape.first;
        s->physics[i] = ising_physics_of(batch->points[i]);
    }
}

enum ergo_status ising_prepare(struct ergo_context *ctx, void *state) {
    struct ising_state *s = state;
    (void)ctx;
    if (s->launch.path == ISING_PATH_GLOBAL)
        s->sweep_group = ergo_engine_group(&s->e, ISING_SWEEP, s->launch.group);
    s->measure_group = ergo_engine_group(&s->e, ISING_MEASURE, s->launch.group);
    /* the sums of a small group take fewer barriers, and there are many groups */
    s->correlate_group =
        ergo_engine_group(&s->e, ISING_CORRELATE, s->launch.group < 64 ? s->launch.group : 64);
    return ERGO_OK;
}

void ising_start(void *state) {
    struct ising_state *s = state;
    const unsigned mode = lattice_start(s->e.batch->points[0]);
    ERGO_LAUNCH(&s->e, ISING_START,
                ergo_grid_items(s->shape.blocks, s->measure_group, s->e.batch->count),
                BUFFER(ISING_SPINS), BUFFER(ISING_MEMBERS), U32(mode));
}

/* E = -2 N J + 2 J unequal + N B - 2 B up */
static uint32_t terms(const void *state, size_t member, struct ergo_ladder_term *terms) {
    const struct ising_state *s = state;
    const uint32_t sums = s->launch.sums, parts = s->launch.measure_groups;
    terms[0] = (struct ergo_ladder_term){
        .first = 0, .stride = sums, .parts = parts, .weight = (float)(-2 * s->physics[member].b)};
    terms[1] = (struct ergo_ladder_term){
        .first = 1, .stride = sums, .parts = parts, .weight = (float)(2 * s->physics[member].j)};
    return 2;
}

static const struct ergo_temper_model temper = {
    .spins = ISING_SPINS, .counts = ISING_SAMPLES, .fill = ising_fill, .terms = terms};

static const struct ergo_engine_model model;
/* As if there were no waiting time. */
static const struct ergo_sampler_ops untimed = {ERGO_TEMPERED(&model)};

static const struct ergo_engine_model model = {ISING_ENGINE, .configure = ising_configure,
                                               .prepare = ising_prepare, .temper = &temper,
                                               .watched = &untimed};

const struct ergo_sampler_ops ising_ops = {.engine = &model, .view = ergo_fields_view, ERGO_TIMED};
