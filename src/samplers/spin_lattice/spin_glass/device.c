/* Spin glasses on a device: constants, start, the table of operations. */
#include <math.h>
#include <stdlib.h>

#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/two_times.h"
#include "samplers/spin_lattice/spin_glass/glass.h"

enum { WAVE_UNIT = 4096 };

void glass_wave(const struct glass_shape *s, uint32_t layer, int32_t wave[2]) {
    const double phase = 2 * 3.14159265358979323846 * layer / s->layers;
    wave[0] = (int32_t)floor(WAVE_UNIT * cos(phase) + 0.5);
    wave[1] = (int32_t)floor(WAVE_UNIT * sin(phase) + 0.5);
}

/* What members have of their own. */
struct constants {
    uint32_t *plain, *packed, *keys; /* plain: couplings of all words of a member */
    int32_t *waves;
};

static bool constants_allocate(const struct glass_state *s, struct constants *c) {
    const struct ergo_engine_buffer *b = s->e.buffers;
    c->plain = malloc(4 * glass_couplings_length(&s->shape) * s->shape.all);
    c->packed = malloc(b[GLASS_COUPLINGS].bytes);
    c->keys = malloc(b[GLASS_KEYS].bytes);
    c->waves = malloc(b[GLASS_WAVES].bytes);
    return c->plain && c->packed && c->keys && c->waves;
}

static void constants_free(struct constants *c) {
    free(c->plain);
    free(c->packed);
    free(c->keys);
    free(c->waves);
}

void glass_write_ladders(struct glass_state *s) {
    const struct glass_shape *h = &s->shape;
    uint32_t *tables = malloc(s->e.buffers[GLASS_TABLES].bytes);
    float *slopes = malloc(s->e.buffers[GLASS_SLOPES].bytes);
    for (size_t m = 0; m < s->e.batch->count && tables && slopes; m++)
        glass_tables(s->e.batch->points[m], h, s->ladders + m * h->rungs,
                     tables + m * h->quads * (2 * GLASS_CLASSES * 4), slopes + m * h->temperatures);
    if (tables && slopes) {
        ergo_engine_constant(&s->e, GLASS_TABLES, tables);
        ergo_engine_constant(&s->e, GLASS_SLOPES, slopes);
    } else {
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for temperatures");
    }
    glass_border_heat(s);
    free(tables);
    free(slopes);
}

/* Member m: also of its words that are not here, for the hash. */
static enum ergo_status fill_member(struct ergo_context *ctx, struct glass_state *s, size_t m,
                                    struct constants *c) {
    const struct glass_shape *h = &s->shape;
    const struct ergo_point *point = s->e.batch->points[m];
    const size_t plain = glass_couplings_length(h), length = glass_packed_length(h);
    enum ergo_status status = ERGO_OK;
    for (uint32_t w = 0; w < h->all && status == ERGO_OK; w++) {
        status = glass_couplings(ctx, point, h, w, c->plain + w * plain);
        if (status == ERGO_OK && w - h->first < h->words)
            glass_pack_couplings(h, c->plain + w * plain,
                                 c->packed + (m * h->words + w - h->first) * length);
    }
    s->hashes[m] = ergo_hash64(c->plain, 4 * plain * h->all);
    c->keys[2 * m] = (uint32_t)point->stream;
    c->keys[2 * m + 1] = (uint32_t)(point->stream >> 32);
    return status;
}

static enum ergo_status create_constants(struct ergo_context *ctx, struct glass_state *s) {
    struct constants c = {0};
    enum ergo_status status = constants_allocate(s, &c)
                                  ? ERGO_OK
                                  : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for couplings");
    for (size_t m = 0; m < s->e.batch->count && status == ERGO_OK; m++)
        status = fill_member(ctx, s, m, &c);
    for (uint32_t i = 0; i < s->shape.layers && status == ERGO_OK; i++)
        glass_wave(&s->shape, i, c.waves + (size_t)2 * i);
    if (status == ERGO_OK) {
        ergo_engine_constant(&s->e, GLASS_COUPLINGS, c.packed);
        ergo_engine_constant(&s->e, GLASS_KEYS, c.keys);
        ergo_engine_constant(&s->e, GLASS_WAVES, c.waves);
    }
    constants_free(&c);
    return status;
}

enum ergo_status glass_prepare(struct ergo_context *ctx, void *state) {
    struct glass_state *s = state;
    s->launch.group = (uint32_t)ergo_engine_group(&s->e, GLASS_SWEEP, s->launch.group);
    s->hashes = ergo_engine_memory(&s->e, s->e.batch->count, sizeof *s->hashes);
    s->ladders = ergo_engine_memory(&s->e, s->e.batch->count * s->shape.rungs, sizeof *s->ladders);
    s->feedback = ergo_feedback_of(s->e.batch->points[0]);
    glass_sums_create(s);
    enum ergo_status status = ergo_engine_end(&s->e);
    if (status == ERGO_OK) {
        ergo_feedback_begin(s->e.batch, s->ladders);
        glass_write_ladders(s);
        status = create_constants(ctx, s);
    }
    return status == ERGO_OK ? glass_border_create(ctx, s) : status;
}

void glass_release(void *state) {
    struct glass_state *s = state;
    glass_border_destroy(s->border);
    free(s->shares);
}

/* ---- start ----------------------------------------------------------------------------------- */

void glass_clear_walkers(struct glass_state *s) {
    const struct glass_shape *h = &s->shape;
    const bool hot = h->rungs > 1 && h->rung + h->temperatures == h->rungs;
    const size_t lattices = glass_lattices(s), stride = (size_t)4 * h->quads;
    uint32_t *from_hot = calloc(lattices * stride, sizeof *from_hot);
    if (!from_hot) {
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for walkers");
        return;
    }
    for (size_t l = 0; l < lattices && hot; l++)
        for (uint32_t copy = 0; copy < h->copies; copy++)
            from_hot[l * stride + h->slots - h->copies + copy] =
                glass_lanes(h, h->first + (uint32_t)(l % h->words));
    ergo_engine_write(&s->e, GLASS_FROM_HOT, 0, 4 * lattices * stride, from_hot);
    ergo_engine_fill(&s->e, GLASS_ACCEPTED, 0);
    ergo_engine_fill(&s->e, GLASS_ROUND_TRIPS, 0);
    glass_moves_clear(s);
    free(from_hot);
}

void glass_start(void *state) {
    struct glass_state *s = state;
    const struct glass_shape *h = &s->shape;
    const struct ergo_point *first = s->e.batch->points[0];
    const unsigned mode = lattice_start(first);
    if (s->feedback.automatic) {
        ergo_feedback_begin(s->e.batch, s->ladders);
        glass_write_ladders(s);
    }
    glass_clear_walkers(s);
    ERGO_LAUNCH(
        &s->e, GLASS_START,
        ergo_grid_items((size_t)h->sites * h->quads, s->launch.site_group, glass_lattices(s)),
        BUFFER(GLASS_SPINS), BUFFER(GLASS_KEYS), U32(mode), VALUE(s->launch.words),
        U32(s->launch.last));
}

/* ---- one device for all ---------------------------------------------------------------------- */

static enum ergo_status configure(struct ergo_context *ctx, void *state) {
    struct glass_state *s = state;
    s->shape = glass_shape_of(s->e.batch->points[0]);
    return glass_configure(ctx, s);
}

static const struct ergo_engine_model whole;
/* As if there were no waiting time. */
static const struct ergo_sampler_ops untimed = {
    .engine = &whole,
    .init = ergo_engine_init,
    .count = glass_count,
    .end_curves = glass_end_curves,
    .save = ergo_fields_save,
    .load = ergo_fields_load,
    .carry = ergo_fields_carry,
    .view = ergo_fields_view,
};

static const struct ergo_engine_model whole = {GLASS_MODEL, .configure = configure,
                                               .watched = &untimed};

const struct ergo_sampler_ops glass_ops = {
    .engine = &whole, .count = glass_count, .view = ergo_fields_view, ERGO_TIMED};
