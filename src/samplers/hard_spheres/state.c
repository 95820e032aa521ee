/* Configurations of spheres, as hard.h wants to know of them. */
#include <stdlib.h>
#include <string.h>

#include "hard_spheres/core.h"
#include "samplers/hard_spheres/spheres.h"

static const struct ergo_hard *shape_of(const void *state, size_t member, size_t *first,
                                        size_t *plane) {
    const struct spheres_state *s = state;
    *first = s->members[member].first;
    *plane = (size_t)s->launch.all_cells;
    return &s->shapes[member].hard;
}

static uint64_t distance2(const int64_t d[3], const uint64_t metric[2]) {
    return spheres_r2(d[0], d[1], d[2], (struct spheres_metric){0, metric[0], metric[1]});
}

static void resize(struct ergo_hard_cells *c, uint64_t allowed[2]) {
    const struct ergo_hard *s = c->shape;
    const struct spheres_metric metric = spheres_metric_at(c->volume);
    const struct ergo_volume_rules rules =
        spheres_rules_at(s->isobaric, s->width[0], s->width[1], s->width[2], metric);
    c->metric[0] = metric.y;
    c->metric[1] = metric.z;
    allowed[0] = rules.contact[0];
    allowed[1] = rules.contact[1];
}

static void read_size(void *state, size_t member, struct ergo_hard_cells *c) {
    struct spheres_state *s = state;
    const size_t one = sizeof c->volume;
    ergo_engine_read(&s->e, SPHERES_VOLUMES, one * member, one, &c->volume);
}

static void write_size(void *state, size_t member, const struct ergo_hard_cells *c) {
    struct spheres_state *s = state;
    const size_t one = sizeof c->volume, words = 8 * s->contact_words;
    const uint64_t contact[3] = {c->contact, c->metric[0], c->metric[1]};
    ergo_engine_write(&s->e, SPHERES_CONTACTS, words * member, words, contact);
    ergo_engine_write(&s->e, SPHERES_VOLUMES, one * member, one, &c->volume);
}

static void start_sizes(void *state) {
    struct spheres_state *s = state;
    const size_t count = s->e.batch->count;
    struct ergo_volume *volumes = calloc(count, sizeof *volumes);
    if (!volumes)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for volumes");
    for (size_t i = 0; i < count && volumes; i++)
        volumes[i] = s->shapes[i].volume;
    ergo_engine_write(&s->e, SPHERES_CONTACTS, 0, 8 * s->contact_words * count, s->contacts);
    ergo_engine_write(&s->e, SPHERES_VOLUMES, 0, count * sizeof *volumes, volumes);
    free(volumes);
}

/* ---- the device's layout --------------------------------------------------------------------- */

static void to_raw(const struct ergo_hard_cells *c, void *raw, size_t first, size_t plane) {
    uint64_t *words = raw;
    for (size_t cell = 0; cell < c->shape->all; cell++) {
        const size_t at = first + ergo_hard_raw_place(c->shape, cell);
        for (unsigned i = 0; i < 2 * c->shape->planes; i++) {
            const uint32_t *p = ergo_hard_local(c, cell, i);
            words[2 * (i / 2 * plane + at) + i % 2] =
                i >= c->count[cell] ? SPHERES_EMPTY
                                    : p[0] | (uint64_t)p[1] << 21 | (uint64_t)p[2] << 42 |
                                          (i + 1U < c->count[cell] ? SPHERES_NEXT : 0);
        }
    }
}

static void from_raw(struct ergo_hard_cells *c, const void *raw, size_t first, size_t plane) {
    const uint64_t *words = raw;
    for (size_t cell = 0; cell < c->shape->all; cell++) {
        const size_t at = first + ergo_hard_raw_place(c->shape, cell);
        uint64_t word = words[2 * at];
        c->count[cell] = 0;
        if (word == SPHERES_EMPTY)
            continue;
        for (unsigned i = 0; i < 2 * c->shape->planes; i++) {
            word = words[2 * (i / 2 * plane + at) + i % 2];
            uint32_t *p = ergo_hard_local(c, cell, c->count[cell]++);
            for (int k = 0; k < 3; k++)
                p[k] = (uint32_t)(word >> 21 * k) & SPHERES_AXIS;
            if (!(word & SPHERES_NEXT))
                break;
        }
    }
}

/* clang-format off */
const struct ergo_hard_kind spheres_kind = {
    3, SPHERES_MANY, "sphere", "spheres", SPHERES_CELLS, SPHERES_GRIDS, shape_of, distance2,
    resize, spheres_box_at, to_raw, from_raw, read_size, write_size, start_sizes, spheres_start,
    spheres_random_sweep, spheres_random_take, NULL, "fcc",
    SPHERES_START_MELT + SPHERES_START_GROW, 1e-9, 1e-6, 0, 1};
/* clang-format on */
