/* Hard spheres on a device: constants, start, save, load, frames. */
#include <stdlib.h>
#include <string.h>

#include "hard_spheres/core.h"
#include "samplers/hard_spheres/spheres.h"

_Static_assert(sizeof(struct spheres_member) == SPHERES_MEMBER_BYTES, "no padding");
_Static_assert(sizeof(struct spheres_sum) == SPHERES_SUM_BYTES, "no padding");

/* Edges of the bins of the pair histograms, for every member. */
static enum ergo_status create_limits(struct ergo_context *ctx, struct spheres_state *s) {
    const size_t members = s->e.batch->count;
    for (unsigned c = 0; c < SPHERES_PAIR_CURVES; c++) {
        const size_t each = s->launch.bins[c] + (size_t)1;
        if (each == 1)
            continue;
        uint64_t *limits = malloc(members * each * sizeof *limits);
        if (!limits)
            return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for histogram bins");
        for (size_t i = 0; i < members; i++)
            spheres_limits(s->e.batch->points[i], &s->shapes[i], c, limits + i * each);
        ergo_engine_constant(&s->e, SPHERES_LIMITS + c, limits);
        free(limits);
    }
    return ERGO_OK;
}

void spheres_contact_put(const struct spheres_state *s, uint64_t *contacts, size_t member,
                         uint64_t contact) {
    const uint64_t words[3] = {contact, ERGO_VOLUME_ONE, ERGO_VOLUME_ONE};
    memcpy(contacts + s->contact_words * member, words, 8 * s->contact_words);
}

static enum ergo_status prepare(struct ergo_context *ctx, void *state) {
    struct spheres_state *s = state;
    if (!s->shapes[0].npt) {
        ergo_engine_constant(&s->e, SPHERES_CONTACTS, s->contacts);
        return s->shapes[0].confined.is
                   ? ergo_confined_create(ctx, &s->e, SPHERES_WALLS, SPHERES_FIELDS,
                                          &s->shapes[0].confined, sizeof s->shapes[0])
                   : create_limits(ctx, s);
    }
    struct ergo_volume_rules *rules = calloc(s->e.batch->count, sizeof *rules);
    if (!rules)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for volumes");
    for (size_t i = 0; i < s->e.batch->count; i++)
        rules[i] = s->shapes[i].rules;
    ergo_engine_constant(&s->e, SPHERES_RULES, rules);
    free(rules);
    return create_limits(ctx, s);
}

static void release(void *state) {
    spheres_random_destroy(state);
}

const struct ergo_engine_model spheres_model = {
    .sampler = "hard-spheres",
    .smaller = "fewer spheres",
    .state_bytes = sizeof(struct spheres_state),
    .configure = spheres_configure,
    .prepare = prepare,
    .steps = spheres_steps,
    .measure = spheres_measure,
    .measure_curves = spheres_measure_curves,
    .row = spheres_row,
    .curve_row = spheres_curve_row,
    .refuse = spheres_refuse,
    .release = release,
};

/* ---- configurations -------------------------------------------------------------------------- */

static enum ergo_status no_memory(struct ergo_context *ctx, const struct spheres_shape *shape) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a configuration of %llu spheres",
                     (unsigned long long)shape->n);
}

enum ergo_status spheres_fetch(struct ergo_context *ctx, struct spheres_state *s, size_t member,
                               struct spheres_config *config) {
    const struct spheres_shape *shape = &s->shapes[member];
    const size_t planes = s->launch.slots / 2, all = (size_t)shape->all;
    const size_t bytes = all * SPHERES_PLANE_BYTES;
    unsigned char *raw = malloc(bytes * planes);
    if (!raw || !spheres_config_init(config, shape->cells)) {
        free(raw);
        return no_memory(ctx, shape);
    }
    ergo_engine_begin(&s->e, ctx);
    for (size_t p = 0; p < planes; p++)
        ergo_engine_read(&s->e, SPHERES_CELLS,
                         (p * (size_t)s->launch.all_cells + s->members[member].first) *
                             SPHERES_PLANE_BYTES,
                         bytes, raw + p * bytes);
    ergo_engine_read(&s->e, SPHERES_GRIDS, 24 * member, 24, config->grid);
    config->contact = shape->contact;
    if (shape->npt) {
        const size_t one = sizeof config->volume;
        ergo_engine_read(&s->e, SPHERES_CONTACTS, 8 * s->contact_words * member, 8,
                         &config->contact);
        ergo_engine_read(&s->e, SPHERES_VOLUMES, one * member, one, &config->volume);
    }
    if (ergo_engine_end(&s->e) == ERGO_OK)
        spheres_config_from_raw(config, s->launch.slots, raw, 0, all);
    else
        spheres_config_free(config);
    free(raw);
    return ergo_engine_end(&s->e);
}

enum ergo_status spheres_store(struct ergo_context *ctx, struct spheres_state *s, size_t member,
                               const struct spheres_config *config) {
    const struct spheres_shape *shape = &s->shapes[member];
    const size_t planes = s->launch.slots / 2, all = (size_t)shape->all;
    const size_t bytes = all * SPHERES_PLANE_BYTES;
    unsigned char *raw = malloc(bytes * planes);
    if (!raw)
        return no_memory(ctx, shape);
    spheres_config_to_raw(config, s->launch.slots, raw, 0, all);
    ergo_engine_begin(&s->e, ctx);
    for (size_t p = 0; p < planes; p++)
        ergo_engine_write(&s->e, SPHERES_CELLS,
                          (p * (size_t)s->launch.all_cells + s->members[member].first) *
                              SPHERES_PLANE_BYTES,
                          bytes, raw + p * bytes);
    ergo_engine_write(&s->e, SPHERES_GRIDS, 24 * member, 24, config->grid);
    if (shape->npt) {
        const size_t one = sizeof config->volume;
        const struct spheres_metric metric = spheres_metric_at(config->volume);
        const uint64_t words[3] = {config->contact, metric.y, metric.z};
        ergo_engine_write(&s->e, SPHERES_CONTACTS, 8 * s->contact_words * member,
                          8 * s->contact_words, words);
        ergo_engine_write(&s->e, SPHERES_VOLUMES, one * member, one, &config->volume);
    }
    free(raw);
    return ergo_engine_end(&s->e);
}

static enum ergo_status write_volumes(struct ergo_context *ctx, struct spheres_state *s) {
    const size_t count = s->e.batch->count;
    struct ergo_volume *volumes = calloc(count, sizeof *volumes);
    if (!volumes)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for volumes");
    for (size_t i = 0; i < count; i++)
        volumes[i] =
            (struct ergo_volume){.size = s->shapes[i].volume, .step = s->shapes[i].rules.step};
    ergo_engine_write(&s->e, SPHERES_CONTACTS, 0, 8 * s->contact_words * count, s->contacts);
    ergo_engine_write(&s->e, SPHERES_VOLUMES, 0, count * sizeof *volumes, volumes);
    free(volumes);
    return ERGO_OK;
}

enum ergo_status spheres_init(struct ergo_context *ctx, void *opaque) {
    struct spheres_state *s = opaque;
    const size_t count = s->e.batch->count;
    /* in one piece, because Oclgrind's memory check loses track of buffers that are written in
     * parts
     */
    const size_t bytes = (size_t)s->e.buffers[SPHERES_CELLS].bytes;
    unsigned char *raw = malloc(bytes);
    uint64_t *grids = calloc(count, 24);
    enum ergo_status status =
        raw && grids ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu systems", count);
    s->e.step = 0;
    for (size_t i = 0; i < count && status == ERGO_OK; i++) {
        struct spheres_config config;
        if (!spheres_config_init(&config, s->shapes[i].cells))
            status = no_memory(ctx, &s->shapes[i]);
        if (status == ERGO_OK)
            status = spheres_start(ctx, s->e.batch->points[i], &s->shapes[i], &config);
        if (status == ERGO_OK)
            spheres_config_to_raw(&config, s->launch.slots, raw, s->members[i].first,
                                  (size_t)s->launch.all_cells);
        spheres_config_free(&config);
    }
    ergo_engine_begin(&s->e, ctx);
    if (status == ERGO_OK) {
        ergo_engine_write(&s->e, SPHERES_CELLS, 0, bytes, raw);
        ergo_engine_write(&s->e, SPHERES_GRIDS, 0, 24 * count, grids);
    }
    free(raw);
    free(grids);
    if (status == ERGO_OK && s->shapes[0].npt)
        status = write_volumes(ctx, s);
    if (status == ERGO_OK)
        status = ergo_engine_end(&s->e);
    if (status == ERGO_OK && spheres_start_is_random(s->e.batch->points[0]))
        status = spheres_random_begin(ctx, s);
    return status;
}

enum ergo_status spheres_save(struct ergo_context *ctx, void *opaque, size_t member,
                              struct ergo_text *text) {
    const struct spheres_state *s = opaque;
    struct spheres_config config;
    const enum ergo_status status = spheres_fetch(ctx, opaque, member, &config);
    if (status != ERGO_OK)
        return status;
    spheres_config_write(&config, &s->shapes[member], text);
    spheres_config_free(&config);
    return text->failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a saved state") : ERGO_OK;
}

enum ergo_status spheres_load(struct ergo_context *ctx, void *opaque, size_t member, uint64_t step,
                              const void *bytes, size_t length) {
    struct spheres_state *s = opaque;
    struct spheres_config config;
    const char *reason = "";
    enum ergo_status status = ERGO_OK;
    if (!spheres_config_init(&config, s->shapes[member].cells))
        return no_memory(ctx, &s->shapes[member]);
    if (!spheres_config_read(&config, &s->shapes[member], bytes, length, &reason))
        status = ERGO_FAIL(ctx, ERGO_E_IO, "the saved state of member %zu is damaged: %s", member,
                           reason);
    if (status == ERGO_OK)
        status = spheres_store(ctx, s, member, &config);
    s->e.step = step;
    spheres_config_free(&config);
    return status;
}

enum ergo_status spheres_carry(struct ergo_context *ctx, void *opaque, size_t member,
                               const void *bytes, size_t length) {
    const struct spheres_state *s = opaque;
    const struct spheres_shape *shape = &s->shapes[member];
    const size_t cells = (size_t)shape->cells[0] * shape->cells[1] * shape->cells[2];
    struct ergo_text own = {0};
    ergo_isobaric_carried(&own, &shape->rules, 3, shape->per_axis, bytes, length,
                          24 + cells + 12 * shape->n);
    const enum ergo_status status =
        own.failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a start")
                   : spheres_load(ctx, opaque, member, 0, own.data, own.length);
    ergo_text_free(&own);
    return status;
}

static void append_sphere(struct ergo_text *text, size_t i, const void *user) {
    const double *at = ((const double(*)[3])user)[i];
    ergo_text_append(text, "X %.9f %.9f %.9f\n", at[0], at[1], at[2]);
}

enum ergo_status spheres_frame(struct ergo_context *ctx, void *opaque, size_t member,
                               struct ergo_text *text) {
    struct spheres_state *s = opaque;
    const struct spheres_shape *shape = &s->shapes[member];
    struct spheres_config config;
    enum ergo_status status = spheres_fetch(ctx, s, member, &config);
    if (status != ERGO_OK)
        return status;
    double(*at)[3] = malloc(shape->n * sizeof *at);
    if (at) {
        double box[3] = {shape->box[0], shape->box[1], shape->box[2]};
        if (shape->npt)
            spheres_box_at(shape, &config.volume, box);
        const double density =
            shape->npt ? (double)shape->n / (box[0] * box[1] * box[2]) : shape->density;
        spheres_config_positions(&config, shape, at);
        ergo_text_append(
            text,
            "%llu\nLattice=\"%.12f 0 0 0 %.12f 0 0 0 %.12f\" Properties=species:S:1:pos:R:3 "
            "pbc=\"%c %c %c\" diameter=1 step=%llu packing_fraction=%.15g\n",
            (unsigned long long)shape->n, box[0], box[1], box[2],
            shape->confined.walls.low[0] ? 'F' : 'T', shape->confined.walls.low[1] ? 'F' : 'T',
            shape->confined.walls.low[2] ? 'F' : 'T', (unsigned long long)s->e.step,
            density * SPHERES_PI / 6.0);
        ergo_text_append_rows(text, (size_t)shape->n, append_sphere, at);
    } else {
        status = no_memory(ctx, shape);
    }
    free(at);
    spheres_config_free(&config);
    return status;
}
