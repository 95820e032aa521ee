/* Configurations of disks, as hard.h wants to know of them. */
#include <math.h>
#include <stdlib.h>

#include "hard_disks/core.h"
#include "samplers/hard_disks/disks.h"

static const struct ergo_hard *shape_of(const void *state, size_t member, size_t *first,
                                        size_t *plane) {
    const struct disks_state *s = state;
    *first = s->members[member].first;
    *plane = (size_t)s->launch.all_cells;
    return &s->shapes[member].hard;
}

static uint64_t distance2(const int64_t d[3], const uint64_t metric[2]) {
    return disks_r2(d[0], d[1], metric[0]);
}

static void resize(struct ergo_hard_cells *c, uint64_t allowed[2]) {
    const struct disks_shape *s = (const struct disks_shape *)c->shape;
    c->metric[0] = s->npt ? disks_size_at(s->rules, c->volume).ratio : s->ratio;
    const struct ergo_volume_rules rules = disks_rules_at(s->isobaric, s->width[0], c->metric[0]);
    allowed[0] = rules.contact[0];
    allowed[1] = rules.contact[1];
}

static void box_at(const struct ergo_hard *shape, const struct ergo_volume *volume, double box[3]) {
    const struct disks_shape *s = (const struct disks_shape *)shape;
    const double area = ergo_isobaric_volume(volume->size);
    const double grown = sqrt(area / (s->box[0] * s->box[1]));
    const double stretch = s->per_axis ? exp(ldexp((double)volume->stretch[0], -37)) : 1;
    for (int k = 0; k < 2; k++)
        box[k] = s->rectangular ? s->box[k] * grown * (k ? stretch : 1 / stretch) : sqrt(area);
}

struct disks_member disks_member_at(const struct disks_state *s, size_t member,
                                    const struct ergo_volume *volume) {
    const struct disks_rules rules = s->shapes[member].rules;
    return s->shapes[member].npt
               ? disks_resized(s->members[member], rules, disks_size_at(rules, *volume))
               : s->members[member];
}

static void read_size(void *state, size_t member, struct ergo_hard_cells *c) {
    struct disks_state *s = state;
    struct disks_size size = {0};
    ergo_engine_read(&s->e, DISKS_SIZES, sizeof size * member, sizeof size, &size);
    c->volume = size.volume;
}

static void write_size(void *state, size_t member, const struct ergo_hard_cells *c) {
    struct disks_state *s = state;
    const struct disks_size size = disks_size_at(s->shapes[member].rules, c->volume);
    const struct disks_member now = disks_member_at(s, member, &c->volume);
    ergo_engine_write(&s->e, DISKS_SIZES, sizeof size * member, sizeof size, &size);
    ergo_engine_write(&s->e, DISKS_MEMBERS, sizeof now * member, sizeof now, &now);
}

static void start_sizes(void *state) {
    struct disks_state *s = state;
    const size_t count = s->e.batch->count;
    struct disks_size *sizes = calloc(count, sizeof *sizes);
    if (!sizes)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for volumes");
    for (size_t i = 0; i < count && sizes; i++)
        sizes[i] = disks_size_at(s->shapes[i].rules, s->shapes[i].volume);
    ergo_engine_write(&s->e, DISKS_SIZES, 0, count * sizeof *sizes, sizes);
    ergo_engine_write(&s->e, DISKS_MEMBERS, 0, count * sizeof *s->members, s->members);
    free(sizes);
}

/* ---- the device's layout: one plane if packed, else two -------------------------------------- */

static void to_raw(const struct ergo_hard_cells *c, void *raw, size_t first, size_t second) {
    const bool is_packed = c->shape->planes == 1;
    for (size_t cell = 0; cell < c->shape->all; cell++) {
        const size_t at = first + ergo_hard_raw_place(c->shape, cell);
        uint32_t *packed = (uint32_t *)raw + 4 * at;
        for (size_t k = 0; k < DISKS_SLOTS; k++) {
            const bool empty = k >= c->count[cell];
            const uint32_t *p = ergo_hard_local(c, cell, k);
            float *wide = (float *)raw + 4 * (k < 2 ? at : at + second) + k % 2;
            if (is_packed) {
                packed[k] = empty ? DISKS_W_PACKED : p[0] | p[1] << 16;
                continue;
            }
            wide[0] = empty ? DISKS_FAR : (float)p[0];
            wide[2] =
                empty ? 0.0f : (float)p[1] + (k == 1 && c->count[cell] > 2 ? DISKS_MORE : 0.0f);
        }
    }
}

static void from_raw(struct ergo_hard_cells *c, const void *raw, size_t first, size_t second) {
    const bool is_packed = c->shape->planes == 1;
    for (size_t cell = 0; cell < c->shape->all; cell++) {
        const size_t at = first + ergo_hard_raw_place(c->shape, cell);
        const float *one = (const float *)raw + 4 * at, *two = one + 4 * second;
        const uint32_t *packed = (const uint32_t *)raw + 4 * at;
        const bool more = !is_packed && one[3] > 0.5f * DISKS_MORE;
        c->count[cell] = 0;
        for (size_t k = 0; k < (more || is_packed ? DISKS_SLOTS : 2); k++) {
            const float *wide = (k < 2 ? one : two) + k % 2;
            const bool empty =
                is_packed ? (packed[k] & 0xffff) == DISKS_W_PACKED : !(wide[0] < 0.5f * DISKS_FAR);
            if (empty)
                continue;
            uint32_t *p = ergo_hard_local(c, cell, c->count[cell]++);
            p[0] = is_packed ? packed[k] & 0xffff : (uint32_t)wide[0];
            p[1] = is_packed ? packed[k] >> 16
                             : (uint32_t)(k == 1 && more ? wide[2] - DISKS_MORE : wide[2]);
        }
    }
}

/* clang-format off */
const struct ergo_hard_kind disks_kind = {
    2, DISKS_SLOTS, "disk", "disks", DISKS_CELLS, DISKS_GRIDS, shape_of, distance2,
    resize, box_at, to_raw, from_raw, read_size, write_size, start_sizes, disks_start,
    disks_random_sweep, disks_random_take, disks_random_end, "hexagonal",
    DISKS_START_MELT + DISKS_START_GROW, 1e-6, 0, 2, 0};
/* clang-format on */
