/* Hard disks on a device: constants, start, save, load. */
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
    const size_t count = s->e.batch->count;
    if (!s->shapes[0].npt) {
        ergo_engine_constant(&s->e, DISKS_MEMBERS, s->members);
        return s->shapes[0].confined.is
                   ? ergo_confined_create(ctx, &s->e, DISKS_WALLS, DISKS_FIELDS,
                                          &s->shapes[0].confined, sizeof s->shapes[0])
                   : create_limits(ctx, s);
    }
    struct disks_rules *rules = calloc(count, sizeof *rules);
    if (!rules)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu systems", count);
    for (size_t i = 0; i < count; i++)
        rules[i] = s->shapes[i].rules;
    ergo_engine_constant(&s->e, DISKS_RULES, rules);
    free(rules);
    return create_limits(ctx, s);
}

static void release(void *state) {
    disks_random_destroy(state);
}

const struct ergo_engine_model disks_model = {
    .sampler = "hard-disks",
    .smaller = "fewer disks",
    .state_bytes = sizeof(struct disks_state),
    .configure = disks_configure,
    .prepare = prepare,
    .steps = disks_steps,
    .measure = disks_measure,
    .measure_curves = disks_measure_curves,
    .row = disks_row,
    .curve_row = disks_curve_row,
    .refuse = disks_refuse,
    .release = release,
};

/* ---- configurations ---------------------------------------------------------------------------
 */

void disks_planes_read(struct ergo_engine *e, unsigned buffer, const struct disks_shape *shape,
                       size_t first, size_t all, unsigned char *raw) {
    const size_t bytes = disks_cells(shape) * DISKS_PLANE_BYTES;
    for (size_t p = 0; p < disks_planes(shape); p++)
        ergo_engine_read(e, buffer, (p * all + first) * DISKS_PLANE_BYTES, bytes, raw + p * bytes);
}

static unsigned char *new_planes(const struct disks_shape *shape) {
    return malloc(disks_cells(shape) * DISKS_PLANE_BYTES * disks_planes(shape));
}

struct disks_member disks_member_at(const struct disks_state *s, size_t member,
                                    const struct disks_config *config) {
    const struct disks_shape *shape = &s->shapes[member];
    return shape->npt ? disks_resized(s->members[member], shape->rules, config->size)
                      : s->members[member];
}

enum ergo_status disks_fetch(struct ergo_context *ctx, struct disks_state *s, size_t member,
                             struct disks_config *config) {
    const struct disks_shape *shape = &s->shapes[member];
    unsigned char *raw = new_planes(shape);
    if (!raw || !disks_config_init(config, shape->cells)) {
        free(raw);
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to read back %llu disks",
                         (unsigned long long)shape->n);
    }
    ergo_engine_begin(&s->e, ctx);
    disks_planes_read(&s->e, DISKS_CELLS, shape, s->members[member].first,
                      (size_t)s->launch.all_cells, raw);
    ergo_engine_read(&s->e, DISKS_GRIDS, 16 * member, 16, config->grid);
    if (shape->npt)
        ergo_engine_read(&s->e, DISKS_SIZES, sizeof config->size * member, sizeof config->size,
                         &config->size);
    if (ergo_engine_end(&s->e) == ERGO_OK)
        disks_config_from_raw(config, shape, raw, 0, disks_cells(shape));
    else
        disks_config_free(config);
    free(raw);
    return ergo_engine_end(&s->e);
}

enum ergo_status disks_store(struct ergo_context *ctx, struct disks_state *s, size_t member,
                             const struct disks_config *config) {
    const struct disks_shape *shape = &s->shapes[member];
    const size_t cells = disks_cells(shape), bytes = cells * DISKS_PLANE_BYTES;
    unsigned char *raw = new_planes(shape);
    if (!raw)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load %llu disks",
                         (unsigned long long)shape->n);
    disks_config_to_raw(config, shape, raw, 0, cells);
    ergo_engine_begin(&s->e, ctx);
    for (size_t p = 0; p < disks_planes(shape); p++)
        ergo_engine_write(&s->e, DISKS_CELLS,
                          (p * (size_t)s->launch.all_cells + s->members[member].first) *
                              DISKS_PLANE_BYTES,
                          bytes, raw + p * bytes);
    ergo_engine_write(&s->e, DISKS_GRIDS, 16 * member, 16, config->grid);
    if (shape->npt) {
        const struct disks_member now = disks_member_at(s, member, config);
        ergo_engine_write(&s->e, DISKS_SIZES, sizeof config->size * member, sizeof config->size,
                          &config->size);
        ergo_engine_write(&s->e, DISKS_MEMBERS, sizeof now * member, sizeof now, &now);
    }
    free(raw);
    return ergo_engine_end(&s->e);
}

/* In one piece, because Oclgrind's memory check loses track of buffers that are written in parts.
 */
enum ergo_status disks_store_all(struct ergo_context *ctx, struct disks_state *s,
                                 const struct disks_config *configs) {
    const size_t bytes = (size_t)s->e.buffers[DISKS_CELLS].bytes, count = s->e.batch->count;
    unsigned char *raw = malloc(bytes);
    uint64_t *grids = malloc(16 * count);
    struct disks_size *sizes = malloc(count * sizeof *sizes);
    if (!raw || !grids || !sizes) {
        free(raw);
        free(grids);
        free(sizes);
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to store %zu systems", count);
    }
    for (size_t i = 0; i < count; i++) {
        disks_config_to_raw(&configs[i], &s->shapes[i], raw, s->members[i].first,
                            (size_t)s->launch.all_cells);
        memcpy(grids + 2 * i, configs[i].grid, 16);
        sizes[i] = s->shapes[i].size;
    }
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_write(&s->e, DISKS_CELLS, 0, bytes, raw);
    ergo_engine_write(&s->e, DISKS_GRIDS, 0, 16 * count, grids);
    if (s->shapes[0].npt) {
        ergo_engine_write(&s->e, DISKS_SIZES, 0, count * sizeof *sizes, sizes);
        ergo_engine_write(&s->e, DISKS_MEMBERS, 0, count * sizeof *s->members, s->members);
    }
    free(raw);
    free(grids);
    free(sizes);
    return ergo_engine_end(&s->e);
}

enum ergo_status disks_init(struct ergo_context *ctx, void *opaque) {
    struct disks_state *s = opaque;
    const size_t count = s->e.batch->count;
    struct disks_config *configs = calloc(count, sizeof *configs);
    enum ergo_status status =
        configs ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu systems", count);
    s->e.step = 0;
    /* a shape key, so it holds for all members or none */
    if (disks_start_is_random(s->e.batch->points[0])) {
        free(configs);
        return disks_random_begin(ctx, s);
    }
    for (size_t i = 0; i < count && status == ERGO_OK; i++) {
        if (!disks_config_init(&configs[i], s->shapes[i].cells))
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to start %llu disks",
                               (unsigned long long)s->shapes[i].n);
        else
            status = disks_start(ctx, s->e.batch->points[i], &s->shapes[i], &configs[i]);
    }
    if (status == ERGO_OK)
        status = disks_store_all(ctx, s, configs);
    for (size_t i = 0; configs && i < count; i++)
        disks_config_free(&configs[i]);
    free(configs);
    return status;
}

enum ergo_status disks_save(struct ergo_context *ctx, void *opaque, size_t member,
                            struct ergo_text *text) {
    const struct disks_state *s = opaque;
    struct disks_config config;
    enum ergo_status status = disks_fetch(ctx, opaque, member, &config);
    if (status != ERGO_OK)
        return status;
    disks_config_write(&config, &s->shapes[member], text);
    disks_config_free(&config);
    return text->failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a saved state") : ERGO_OK;
}

enum ergo_status disks_load(struct ergo_context *ctx, void *opaque, size_t member, uint64_t step,
                            const void *bytes, size_t length) {
    struct disks_state *s = opaque;
    struct disks_config config;
    const char *reason = "";
    enum ergo_status status = ERGO_OK;
    if (!disks_config_init(&config, s->shapes[member].cells))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load %llu disks",
                         (unsigned long long)s->shapes[member].n);
    if (!disks_config_read(&config, &s->shapes[member], bytes, length, &reason))
        status = ERGO_FAIL(ctx, ERGO_E_IO, "the saved state of member %zu is damaged: %s", member,
                           reason);
    if (status == ERGO_OK)
        status = disks_store(ctx, s, member, &config);
    s->e.step = step;
    disks_config_free(&config);
    return status;
}

enum ergo_status disks_carry(struct ergo_context *ctx, void *opaque, size_t member,
                             const void *bytes, size_t length) {
    const struct disks_state *s = opaque;
    const struct disks_shape *shape = &s->shapes[member];
    struct ergo_text own = {0};
    ergo_isobaric_carried(&own, &shape->rules.volume, 2, shape->per_axis, bytes, length,
                          16 + disks_cells(shape) + 8 * shape->n);
    const enum ergo_status status = own.failed
                                        ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a start")
                                        : disks_load(ctx, opaque, member, 0, own.data, own.length);
    ergo_text_free(&own);
    return status;
}
