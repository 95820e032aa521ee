/* The checkerboard: its active cells, and the launches of an activation. */
#include <math.h>
#include <stdlib.h>

#include "lj_gcmc/core.h"
#include "samplers/lj_gcmc/cut.h"

/* Gaps are wider than the cutoff by more than the rounding of fp32 distances. */
static const double MARGIN = 1 + 1e-6;

double lj_board_smallest(const struct lj_system *s) {
    return 2 * s->cutoff * MARGIN * s->period / (s->period - LJ_ACTIVE);
}

double lj_board_cells(const struct lj_system *s) {
    uint32_t blocks[3];
    lj_board_blocks(s, blocks);
    return (double)blocks[0] * blocks[1] * blocks[2] * s->period * s->period * s->period;
}

uint64_t lj_board_blocks(const struct lj_system *s, uint32_t blocks[3]) {
    uint64_t all = 1;
    for (int k = 0; k < 3; k++) {
        blocks[k] = (uint32_t)fmin(floor(s->box[k] / (lj_board_smallest(s) / 2)), 1 << 20);
        all *= blocks[k];
    }
    return all;
}

/* Volume of an active cell and of all within the cutoff of it, in sigma^3. */
static double tile_volume(const struct lj_system *s) {
    static const double PI = 3.14159265358979323846;
    uint32_t blocks[3];
    double a[3];
    lj_board_blocks(s, blocks);
    for (int k = 0; k < 3; k++)
        a[k] = s->box[k] / blocks[k] * LJ_ACTIVE / s->period / s->sigma;
    const double r = s->cutoff / s->sigma;
    return a[0] * a[1] * a[2] + 2 * r * (a[0] * a[1] + a[1] * a[2] + a[2] * a[0]) +
           PI * r * r * (a[0] + a[1] + a[2]) + 4 * PI / 3 * r * r * r;
}

uint32_t lj_board_tile(const struct lj_system *s, int64_t wish) {
    const double tile = wish ? (double)wish : fmax(1.0 * tile_volume(s), 32);
    return (uint32_t)ceil(fmin(tile, 1 << 20) / 32) * 32;
}

uint64_t lj_board_local_bytes(const struct lj_system *s, const struct lj_launch *l, uint32_t tile) {
    return 12ull * tile + 32ull * s->trials + 8ull * l->group + 128;
}

/* The most loop iterations of a work-item in one activation. */
uint64_t lj_board_visits(const struct lj_system *s, const struct lj_launch *l, uint32_t slots,
                         uint32_t tile) {
    const uint64_t span = 2 * s->period - LJ_ACTIVE;
    return (span * span * span / l->group + 1) * (1 + slots) + 2ull * s->trials / l->group +
           s->trials * (4ull * (tile / l->group + 32) + l->group) + 4ull * tile + 64;
}

void lj_board_options(const struct lj_state *s, struct ergo_text *options) {
    ergo_text_append(options, "-DLJ_PARTS=1u -DLJ_GROUP=%u -DLJ_TRIALS=%uu -DLJ_TILE=%uu%s%s",
                     s->launch.group, s->system.trials, s->tile,
                     s->launch.vector ? " -DLJ_VECTOR=8" : "", s->cut ? " -DLJ_CUT=1" : "");
    lj_potential_options(s, options);
}

uint32_t *lj_board_bounds(const struct lj_grid *grid) {
    const uint32_t *n = grid->n;
    uint32_t *low = malloc(4 * ((size_t)n[0] + n[1] + n[2])), *at = low;
    for (int k = 0; k < 3 && low; k++)
        for (uint64_t c = 0; c < n[k]; c++)
            *at++ = (uint32_t)(((c << 32) + n[k] - 1) / n[k]);
    return low;
}

void lj_board_activate(struct lj_state *s, uint64_t from, uint64_t end, uint64_t to) {
    const struct lj_launch *l = &s->launch;
    ERGO_LAUNCH(&s->e, LJ_BOARD,
                ergo_grid_groups((size_t)(end - from), l->group, s->e.batch->count),
                BUFFER(LJ_MEMBERS), BUFFER(LJ_CHAINS), BUFFER(LJ_CELLS), BUFFER(LJ_BOUNDS),
                BUFFER(LJ_ACTIVE_CELLS), BUFFER(LJ_FULL), U64(to), U32(s->slots), BUFFER(LJ_TABLES),
                U32(from), VALUE(s->shape));
}

void lj_board_launch(struct lj_state *s, const struct ergo_engine_slot *slot, uint64_t to) {
    const struct lj_launch *l = &s->launch;
    const size_t members = s->e.batch->count;
    if (lj_cut_shares(s)) {
        lj_cut_launch(s, slot, to);
        return;
    }
    lj_board_activate(s, 0, l->board_blocks, to);
    ERGO_LAUNCH(&s->e, LJ_BOARD_SUM, ergo_grid_groups(l->shares, l->sum_group, members),
                BUFFER(LJ_CHAINS), BUFFER(LJ_ACTIVE_CELLS), BUFFER(LJ_FULL), BUFFER(LJ_TURNS),
                U64(to), VALUE(s->shape));
    ERGO_LAUNCH(&s->e, LJ_BOARD_END, ergo_grid_groups(members, 1, 1), BUFFER(LJ_MEMBERS),
                BUFFER(LJ_CHAINS), BUFFER(LJ_TURNS), BUFFER(LJ_SAMPLES), U64(slot->step), U64(to),
                U64(slot->every ? slot->every : 1), U32(slot->samples),
                U32(s->cut ? UINT32_MAX : s->capacity), U32(l->shares), VALUE(s->shape));
}

void lj_board_list(struct lj_state *s) {
    if (s->cut) {
        lj_cut_list(s);
        return;
    }
    ERGO_LAUNCH(&s->e, LJ_BOARD_LIST, ergo_grid_groups(s->e.batch->count, s->launch.end_group, 1),
                BUFFER(LJ_CELLS), BUFFER(LJ_PARTICLES), U32(s->capacity), VALUE(s->shape));
}
