/* Spins that are unit vectors on a device: constants, start, sweeps, measurements. */
#include <stdlib.h>

#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/vector/vector.h"

/* Couplings and fields of all members, and what has their units. */
static enum ergo_status create_terms(struct ergo_context *ctx, struct vector_state *s) {
    const size_t length = vector_terms_length(&s->shape), n = s->e.batch->count;
    float *packed = malloc(n * length * sizeof *packed);
    enum ergo_status status =
        packed ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for couplings and fields");
    for (size_t m = 0; m < n && status == ERGO_OK; m++) {
        struct vector_terms d = {.of = {s->first, s->shape.sites}};
        status = vector_terms_make(ctx, s->e.batch->points[m], s->cut, &d);
        if (status != ERGO_OK)
            break;
        s->physics[m].bond_unit = d.bond_unit;
        s->physics[m].field_unit = d.field_unit;
        s->members[m].coupling = (float)(s->physics[m].j * d.bond_unit);
        s->members[m].random = (float)(s->physics[m].random * d.field_unit);
        vector_terms_pack(&s->shape, &d, packed + length * m);
        vector_terms_free(&d);
    }
    if (status == ERGO_OK)
        ergo_engine_constant(&s->e, VECTOR_NUMBERS_OF_SITES, packed);
    free(packed);
    return status;
}

enum ergo_status vector_constants(struct ergo_context *ctx, void *state) {
    struct vector_state *s = state;
    if (s->waves.n)
        ergo_engine_constant(&s->e, VECTOR_WAVES, s->waves.k);
    return vector_terms_length(&s->shape) ? create_terms(ctx, s) : ERGO_OK;
}

void vector_begin(void *state) {
    struct vector_state *s = state;
    ERGO_LAUNCH(&s->e, VECTOR_START,
                ergo_grid_items((size_t)s->shape.sites, s->e.group, s->e.batch->count),
                BUFFER(VECTOR_SPINS), BUFFER(VECTOR_MEMBERS),
                U32(lattice_start(s->e.batch->points[0]) == 2));
}

/* A box of columns of one colour for a group, so that neighbours are read from a cache near by: of
 * the group's 2^k work-items up to 32 along x, the others along y, or along layers where they are
 * rows. Small lattices have several columns behind each other in it. */
static struct ergo_grid layers_grid(const struct vector_state *s, uint32_t layers, uint32_t depth,
                                    uint32_t wide) {
    const struct vector_shape *h = &s->shape;
    const size_t all = wide > 1 && s->e.group > s->wide_group ? s->wide_group : s->e.group;
    const size_t row = h->l[0] / h->colours / wide, members = s->e.batch->count;
    const size_t columns = (layers + depth - 1) / depth;
    const size_t across = h->d == 3 ? h->l[1] : columns, behind = h->d == 3 ? columns : 1;
    const size_t most = h->d > 1 && all > 32 ? 32 : all;
    size_t group[3] = {1, 1, 1};
    while (group[0] < row && group[0] < most)
        group[0] *= 2;
    while (group[0] * group[1] < all && group[1] < across)
        group[1] *= 2;
    /* a third side of 64 is the most that NVIDIA has */
    while (group[0] * group[1] * group[2] < all && behind % (2 * group[2]) == 0 && group[2] < 64)
        group[2] *= 2;
    return (struct ergo_grid){
        3,
        {ergo_round_up(row, group[0]), ergo_round_up(across, group[1]), behind * members},
        {group[0], group[1], group[2]}};
}

/* Kernels get couplings and fields, where there are any, behind their other `n` arguments. */
static void launch(struct vector_state *s, unsigned kernel, struct ergo_grid grid,
                   struct ergo_arg *args, size_t n) {
    const struct ergo_arg terms = BUFFER(VECTOR_NUMBERS_OF_SITES);
    if (vector_terms_length(&s->shape))
        args[n++] = terms;
    ergo_engine_launch(&s->e, kernel, grid, args, n);
}

static void sweep_layers(void *state, unsigned colour, uint64_t from, uint64_t to) {
    struct vector_state *s = state;
    struct ergo_arg args[8] = {
        BUFFER(VECTOR_SPINS), BUFFER(VECTOR_MEMBERS), U32(colour), U32(from), U32(to),
        U32(s->depth),        U64(s->e.step)};
    launch(s, VECTOR_SWEEP, layers_grid(s, (uint32_t)(to - from), s->depth, 1), args, 7);
}

static void relax_layers(void *state, unsigned colour, uint64_t from, uint64_t to) {
    struct vector_state *s = state;
    struct ergo_arg args[7] = {
        BUFFER(VECTOR_SPINS), BUFFER(VECTOR_MEMBERS), U32(colour), U32(from), U32(to),
        U32(s->relax_depth)};
    launch(s, VECTOR_RELAX, layers_grid(s, (uint32_t)(to - from), s->relax_depth, s->wide), args,
           6);
}

void vector_relax(struct vector_state *s, uint32_t colour) {
    relax_layers(s, colour, 0, vector_layers(&s->shape));
}

void vector_steps(void *state, uint64_t sweeps) {
    struct vector_state *s = state;
    const uint32_t layers = vector_layers(&s->shape), colours = s->shape.colours;
    for (uint64_t i = 0; i < sweeps && s->e.status == ERGO_OK; i++, s->e.step++)
        for (uint32_t c = 0; c < colours * (1 + s->shape.relax); c++) {
            const ergo_slab_update update = c < colours ? sweep_layers : relax_layers;
            if (s->cut)
                ergo_slab_half_sweep(&s->e, &s->slab, 1, update, c % colours);
            else
                update(s, c % colours, 0, layers);
        }
}

void vector_measure(void *state, size_t sample) {
    struct vector_state *s = state;
    struct ergo_arg args[8] = {BUFFER(VECTOR_SPINS),
                               BUFFER(VECTOR_MEMBERS),
                               BUFFER(VECTOR_COUNTS),
                               U32(sample),
                               U32(s->from),
                               U32(s->to),
                               LOCAL(2 * s->shape.numbers * sizeof(cl_uint))};
    launch(s, VECTOR_MEASURE, ergo_grid_groups(s->measure_groups, s->e.group, s->e.batch->count),
           args, 7);
}

void vector_measure_curves(void *state, size_t curve) {
    struct vector_state *s = state;
    if (s->waves.n)
        ERGO_LAUNCH(&s->e, VECTOR_COUNT_WAVES,
                    ergo_grid_groups(s->measure_groups, s->e.group, s->waves.n * s->e.batch->count),
                    BUFFER(VECTOR_SPINS), BUFFER(VECTOR_MEMBERS), BUFFER(VECTOR_WAVES),
                    BUFFER(VECTOR_WAVE_COUNTS), U32(curve), U32(s->waves.n), U32(s->from),
                    U32(s->to), LOCAL(2 * VECTOR_WAVE_NUMBERS * sizeof(cl_uint)));
}

bool vector_curve_row(const void *state, unsigned slot, const struct ergo_row *row) {
    const struct vector_state *s = state;
    const size_t n = s->waves.n;
    const uint32_t *halves =
        n ? ergo_engine_host(&s->e, VECTOR_WAVE_COUNTS, slot, row->sample) : NULL;
    for (size_t w = 0; w < n; w++) {
        const size_t at = VECTOR_WAVE_NUMBERS * (n * row->member + w);
        int64_t sums[VECTOR_WAVE_NUMBERS];
        for (size_t i = 0; i < VECTOR_WAVE_NUMBERS; i++)
            sums[i] = s->cut ? s->joined_waves[VECTOR_WAVE_NUMBERS * (n * row->number + w) + i]
                             : vector_sum(halves + 2 * (at + i));
        row->curves[VECTOR_CURVE_STRUCTURE][n * row->number + w] =
            vector_structure(&s->whole, sums);
    }
    return true;
}

static struct ergo_ladder_term term_of(uint32_t number, double weight) {
    return (struct ergo_ladder_term){.first = 2 * number,
                                     .parts = 1,
                                     .kind = ERGO_LADDER_LONG,
                                     .weight = (float)(-0x1p-30 * weight)};
}

/* The energy as in vector_columns. */
static uint32_t terms(const void *state, size_t member, struct ergo_ladder_term *terms) {
    const struct vector_state *s = state;
    const struct vector_physics *p = &s->physics[member];
    terms[0] = term_of(VECTOR_BONDS, p->j * p->bond_unit);
    terms[1] = term_of(VECTOR_TOTAL + (s->shape.space ? 2 : 0), p->b);
    terms[2] = term_of(VECTOR_ALONG, p->random * p->field_unit);
    terms[3] = term_of(VECTOR_SQUARES, s->shape.space ? p->anisotropy : 0);
    return 4;
}

static const struct ergo_temper_model temper = {
    .spins = VECTOR_SPINS, .counts = VECTOR_COUNTS, .fill = vector_fill, .terms = terms};

static const struct ergo_engine_model model = {VECTOR_ENGINE, .configure = vector_configure,
                                               .prepare = vector_constants, .temper = &temper};

const struct ergo_sampler_ops vector_ops = {ERGO_TEMPERED(&model)};
