/* Volumes that change: rules of volume moves, lists of cells for the volumes that they reach, and
 * their launches, with the transfers of a Gibbs ensemble. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/lj_gcmc/lj.h"

/* Sides may shrink to half of those at the start, unless two cutoffs are more. */
static const double SMALLEST = 0.5;

double lj_volume_of(const struct lj_system *s, int64_t size) {
    const struct ergo_scaled e = ergo_volume_exp(size);
    const double cube = s->sigma * s->sigma * s->sigma;
    return ldexp((double)e.mantissa, (int)e.exponent - 62) * cube;
}

void lj_box_of(const struct lj_system *s, const struct lj_chain *chain, double box[3]) {
    for (int k = 0; k < 3; k++)
        box[k] = s->ensemble == LJ_NPT || s->ensemble == LJ_GIBBS
                     ? (double)ergo_as_float(chain->scale[k]) * 0x1p32 * s->sigma
                     : s->box[k];
}

struct lj_volume_rules lj_rules_of(const struct ergo_point *point, size_t box) {
    const struct lj_system s = lj_box_system(point, box);
    const bool gibbs = s.ensemble == LJ_GIBBS;
    const double cube = s.sigma * s.sigma * s.sigma, volume = s.volume / cube;
    const double other = gibbs ? lj_box_system(point, 1 - box).volume / cube : volume;
    const double both = volume + other;
    /* cells are those of the smaller box */
    const double small = fmin(volume, other);
    const double shortest = fmin(s.box[0], fmin(s.box[1], s.box[2])) * lj_cube_root(small / volume);
    const double least = fmax(SMALLEST, 2 * s.cutoff / shortest);
    const double smallest = small * least * least * least;
    const double tail = s.tail ? lj_tail_energy(&s, 1) * volume / s.temperature : 0;
    const double step = of_particle(point)->max_volume_change;
    const double first = step > 0 ? step : gibbs ? 0.05 : 0.02;
    const bool tuned = ergo_isobaric_tuned(point);
    const double unit = tuned ? ERGO_VOLUME_UNIT << LJ_VOLUME_STEP_BITS : 1;
    struct lj_volume_rules r = {
        .move = {.step = (uint64_t)(unit * floor(first * 0x1p36 / unit)),
                 .tuned = tuned ? (uint64_t)point->parameters->equilibration : 0,
                 .most = (uint64_t)1 << (ERGO_VOLUME_BITS - 1 - LJ_VOLUME_STEP_BITS)},
        .turns = 1 + (gibbs ? (uint32_t)of_lj(point)->transfers : 0),
        .start = ergo_volume_log(volume),
        .list = (int64_t)1 << 33, /* an eighth: sides 4% apart */
        .has_tail = tail < 0   ? 1
                    : tail > 0 ? 2
                               : 0,
    };
    for (int k = 0; k < 3; k++)
        r.side[k] = ergo_volume_log(s.box[k] / s.sigma) - r.start / 3;
    r.limits[0] = ergo_volume_log(smallest);
    r.limits[1] = r.start + ((int64_t)4 << ERGO_VOLUME_BITS);
    r.largest = r.start;
    if (gibbs) {
        r.total = ergo_volume_log(both);
        r.largest = ergo_volume_log(fmax(both - smallest, smallest));
        r.limits[1] = r.total;
        /* the start is within the limits, whatever the rounding */
        const int64_t x = ergo_volume_log(other) - r.start;
        for (uint32_t b = 0; b < 2; b++) {
            const int64_t size = lj_gibbs_size(&r, box ? x : -x, b);
            r.limits[0] = size < r.limits[0] ? size : r.limits[0];
        }
    } else {
        r.move.pressure = ergo_volume_log(s.pressure * cube / s.temperature);
    }
    r.tail = tail != 0 ? ergo_volume_log(fabs(tail)) : 0;
    return r;
}

bool lj_volume_right(const struct lj_volume_rules *rules, uint32_t moved) {
    const uint32_t step = moved >> 2;
    return (moved & 3) < 3 && (step == 0 || (rules->move.tuned && step <= rules->move.most &&
                                             step % ERGO_VOLUME_UNIT == 0));
}

int64_t lj_volume_start(const struct lj_volume_rules *rules, size_t boxes, size_t box) {
    return boxes == 1 ? rules->start
                      : lj_gibbs_size(rules, rules[0].start - rules[1].start, (uint32_t)box);
}

uint64_t lj_volumes_before(const struct lj_launch *l, uint64_t step) {
    const uint64_t every = l->volume_every;
    return every ? (step / every + (step % every != 0)) * l->turns : 0;
}

/* ---- lists of cells ---------------------------------------------------------------------------
 * First a head for each list; of cells in planes, for each part of a cell in each list
 * (cl/lj_gcmc/planes.h). A head has the place of the first offset, their number, and that of the
 * nearest ones. */

struct lists {
    uint32_t *words;
    size_t heads, end, room; /* in units of 16 bytes; slotted offsets take 4 bytes */
};

static bool append(struct lists *l, const uint32_t *words, size_t entries) {
    if (l->end + entries > l->room) {
        const size_t room = 2 * (l->end + entries);
        uint32_t *more = realloc(l->words, 16 * room);
        if (!more)
            return false;
        l->words = more;
        l->room = room;
    }
    memcpy(l->words + 4 * l->end, words, 16 * entries);
    l->end += entries;
    return true;
}

static bool add_planes(struct lists *l, const struct lj_grid *grid, const double *box,
                       double cutoff, double core, size_t head) {
    const size_t parts = (size_t)grid->parts * grid->parts * grid->parts;
    size_t count = 0;
    uint32_t *words = lj_grid_lists(grid, box, cutoff, core, &count);
    const size_t shift = l->end - parts;
    for (size_t p = 0; words && p < parts; p++)
        words[4 * p] += (uint32_t)shift;
    const bool added = words && append(l, words + 4 * parts, count - parts);
    if (added)
        memcpy(l->words + 4 * parts * head, words, 16 * parts);
    free(words);
    return added;
}

static bool add_slotted(struct lists *l, const struct lj_grid *grid, size_t head) {
    const size_t entries = (grid->n_offsets + (size_t)3) / 4;
    uint32_t *padded = calloc(entries, 16);
    const uint32_t first[4] = {(uint32_t)(4 * l->end), grid->n_offsets, grid->near, 0};
    if (padded)
        memcpy(padded, grid->offsets, 4 * (size_t)grid->n_offsets);
    const bool added = padded && append(l, padded, entries);
    if (added)
        memcpy(l->words + 4 * head, first, sizeof first);
    free(padded);
    return added;
}

bool lj_volume_lists(struct lj_state *s, double core) {
    const struct lj_volume_rules *r = s->rules;
    const double sigma = s->system.sigma, cutoff = s->system.cutoff / sigma;
    const size_t levels = (size_t)((r->largest - r->limits[0] + r->list - 1) / r->list) + 1;
    const double volume = s->system.volume / (sigma * sigma * sigma);
    const double largest = cbrt(lj_volume_of(&(struct lj_system){.sigma = 1}, r->largest) / volume);
    const size_t parts =
        s->launch.slotted ? 1 : (size_t)s->grid.parts * s->grid.parts * s->grid.parts;
    struct lists l = {.heads = levels * parts};
    l.words = calloc(l.heads, 16);
    l.end = l.room = l.heads;
    bool done = l.words != NULL;
    for (size_t level = 0; done && level < levels; level++) {
        struct lj_grid grid;
        double box[3];
        /* a little smaller, because sides of chains are rounded */
        for (int k = 0; k < 3; k++)
            box[k] = s->system.box[k] / sigma * largest * exp(-(double)level / 24) * (1 - 1e-6);
        done = lj_grid_scale(&grid, &s->grid, box, cutoff);
        done = done && (s->launch.slotted ? add_slotted(&l, &grid, level)
                                          : add_planes(&l, &grid, box, cutoff, core, level));
        s->grid.cull = s->grid.cull && grid.cull;
        free(grid.offsets);
    }
    s->lists = l.words;
    s->list_bytes = 16 * l.end;
    return done;
}

/* ---- launches ---------------------------------------------------------------------------------
 */

static void sums(struct lj_state *s, uint64_t step, uint64_t turn, bool keep) {
    ERGO_LAUNCH(&s->e, LJ_VOLUME_SUMS,
                ergo_grid_groups(s->launch.total_parts, s->launch.total_group, lj_chains(s)),
                BUFFER(LJ_MEMBERS), BUFFER(LJ_RULES), BUFFER(LJ_CHAINS), BUFFER(LJ_PARTICLES),
                BUFFER(LJ_CELLS), BUFFER(LJ_OFFSETS), BUFFER(LJ_TRIALS), U64(step), U64(turn),
                U32(s->capacity), U32(s->slots), BUFFER(LJ_PAIR_ENERGIES), U32(keep),
                BUFFER(LJ_TABLES), VALUE(s->shape));
}

/* A launch of all trials; several where a device ends loops. */
static void transfers(struct lj_state *s, uint64_t step, uint64_t turn) {
    const struct lj_launch *l = &s->launch;
    /* a trial is two moves */
    const uint64_t most = (lj_launch_steps(s->e.device, &s->grid, l, s->slots) + 1) / 2;
    const uint64_t end = turn + l->transfers;
    for (uint64_t to = turn; to < end && most;) {
        to = end - to < most ? end : to + most;
        ERGO_LAUNCH(&s->e, LJ_TRANSFER, ergo_grid_groups(s->e.batch->count, l->group, 1),
                    BUFFER(LJ_MEMBERS), BUFFER(LJ_CHAINS), BUFFER(LJ_PARTICLES), BUFFER(LJ_CELLS),
                    BUFFER(LJ_OFFSETS), U64(step), U64(turn), U64(to), U32(s->capacity),
                    U32(s->slots), BUFFER(LJ_PAIR_ENERGIES), BUFFER(LJ_TABLES), VALUE(s->shape));
    }
}

void lj_volume_launch(struct lj_state *s, uint64_t step) {
    const struct lj_launch *l = &s->launch;
    if (!l->volume_every || step % l->volume_every)
        return;
    const uint64_t turn = step / l->volume_every * l->turns;
    const uint32_t count = (uint32_t)s->e.batch->count;
    sums(s, step, turn, false);
    ERGO_LAUNCH(&s->e, LJ_VOLUME_MOVE, ergo_grid_items(count, l->total_group, 1),
                BUFFER(LJ_MEMBERS), BUFFER(LJ_RULES), BUFFER(LJ_CHAINS), BUFFER(LJ_TRIALS),
                U64(step), U64(turn), U32(l->total_parts), U32(count));
    if (l->energies)
        sums(s, step, turn, true);
    if (l->transfers)
        transfers(s, step, turn + 1);
}
