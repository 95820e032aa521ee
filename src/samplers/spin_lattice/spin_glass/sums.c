/*
 * Spin glasses: what is measured of each sample, and how often it exchanged.
 *
 * A measurement adds the moments of each sample, at each temperature, to sums over the run: the
 * curve `samples`. They are whole numbers (glass_units), so that neither the order nor a division
 * into blocks or ranks matters. Errors of averages over the disorder come from their spread. The
 * means over the samples of the even lanes of all words, and of the odd ones, go to the curve
 * `halves`, which has bins of time: samples of a word share random numbers, and what both halves
 * have in common over time is the part of the thermal error that their spread does not show.
 *
 * Exchanges and round trips of samples are counted by the device in bit planes (glass_ladder.h),
 * which are taken wherever a state is saved, and at the end: the curve `exchanges`. What all
 * samples together have made since the start is part of `halves`: its growth has the noise in
 * common.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/spin_glass/glass.h"
#include "samplers/spin_lattice/models.h"

/* ---- moments --------------------------------------------------------------------------------- */

/* The pairs of copies of one temperature: their records' slots, and the copies. */
struct pair {
    uint32_t record, a, b;
};

static uint32_t pairs_of(const struct glass_shape *s, struct pair pairs[4]) {
    static const struct pair two[1] = {{0, 0, 1}};
    static const struct pair four[4] = {{0, 0, 1}, {1, 2, 3}, {2, 0, 2}, {3, 1, 3}};
    const uint32_t n = s->copies == 4 ? 4 : s->copies == 2 ? 1 : 0;
    memcpy(pairs, n == 4 ? four : two, (n ? n : 1) * sizeof *pairs);
    return n;
}

static size_t bins_of(const struct glass_shape *s) {
    return s->copies > 1 ? glass_q_bins(s) : 0;
}

size_t glass_sums_length(const struct glass_shape *s) {
    return 32 * (s->temperatures * (size_t)GLASS_MOMENTS + bins_of(s));
}

/* What a word-lattice adds to halves: of each temperature two lines of moments and its exchanges
 * with the next; of the coldest one two lines of P(q), and round trips. */
enum { ROW = 2 * GLASS_MOMENTS + 1 };

static size_t row_length(const struct glass_shape *s, uint32_t temperatures) {
    return temperatures * (size_t)ROW + 2 * bins_of(s) + 1;
}

void glass_sums_create(struct glass_state *s) {
    const struct glass_shape *h = &s->shape;
    const size_t members = s->e.batch->count, lattices = glass_lattices(s);
    s->units = ergo_engine_memory(&s->e, members, sizeof *s->units);
    s->sums = ergo_engine_memory(&s->e, lattices * glass_sums_length(h), sizeof *s->sums);
    s->moved = ergo_engine_memory(&s->e, lattices * glass_move_rows(h) * 32, sizeof *s->moved);
    for (size_t m = 0; m < members && s->units; m++)
        glass_units_of(s->e.batch->points[m], h, &s->units[m]);
}

/* The nearest whole number, of less than 2^51. */
static double whole(double x) {
    return (x + 0x1.8p52) - 0x1.8p52;
}

/* Sums over copies and pairs, of one sample at one temperature; r: its first record. */
static void measure(const struct glass_units *u, const struct glass_shape *s,
                    const struct pair *pairs, uint32_t n_pairs, const struct glass_record *r,
                    double v[GLASS_MOMENTS]) {
    const double n = (double)s->sites;
    double e[4] = {0};
    memset(v, 0, GLASS_MOMENTS * sizeof *v);
    for (uint32_t copy = 0; copy < s->copies; copy++) {
        const double m = 2 * (double)r[copy * 32].up - n;
        e[copy] = u->energy[0] + u->energy[1] * (double)r[copy * 32].energy;
        v[GLASS_E] += e[copy];
        v[GLASS_E2] += e[copy] * e[copy];
        v[GLASS_M] += m;
        v[GLASS_ABS_M] += fabs(m);
        v[GLASS_M2] += m * m;
        v[GLASS_M4] += m * m * m * m;
    }
    for (uint32_t k = 0; k < n_pairs; k++) {
        const struct glass_record *p = r + (size_t)pairs[k].record * 32;
        const double q = n - 2 * (double)p->unequal;
        const double c = (double)p->cosine, d = (double)p->sine;
        v[GLASS_EE] += e[pairs[k].a] * e[pairs[k].b];
        v[GLASS_ABS_Q] += fabs(q);
        v[GLASS_Q2] += q * q;
        v[GLASS_Q4] += q * q * q * q;
        v[GLASS_QK2] += c * c + d * d;
    }
    for (int k = 0; k < GLASS_MOMENTS; k++)
        v[k] = whole(v[k] * u->inverse[k]);
}

/* sums: [temperature][32][moment], [32][bin]; halves, of the lanes: [temperature][ROW], [2][bin].
 */
static void add_word(const struct glass_units *u, const struct glass_shape *s,
                     const struct glass_record *records, uint32_t lanes, double *sums,
                     double *halves) {
    struct pair pairs[4];
    const uint32_t n_pairs = pairs_of(s, pairs);
    const size_t bins = bins_of(s), moments = s->temperatures * (size_t)GLASS_MOMENTS;
    for (uint32_t t = 0; t < s->temperatures; t++)
        for (uint32_t bit = 0; bit < lanes; bit++) {
            const struct glass_record *r = records + (size_t)t * s->copies * 32 + bit;
            double *sum = sums + ((size_t)t * 32 + bit) * GLASS_MOMENTS;
            double *half = halves + (size_t)t * ROW + bit % 2 * (size_t)GLASS_MOMENTS;
            double v[GLASS_MOMENTS];
            measure(u, s, pairs, n_pairs, r, v);
            for (int k = 0; k < GLASS_MOMENTS; k++) {
                sum[k] += v[k];
                half[k] += v[k];
            }
            for (uint32_t k = 0; k < n_pairs && s->rung + t == 0; k++) {
                const size_t bin =
                    bins - 1 - glass_q_bin(s, r[(size_t)pairs[k].record * 32].unequal);
                sums[32 * moments + bit * bins + bin]++;
                halves[s->temperatures * (size_t)ROW + bit % 2 * bins + bin]++;
            }
        }
}

/* Samples of word-lattice `word` of all. */
static uint32_t lanes_of(const struct glass_shape *s, uint32_t word) {
    return (uint32_t)__builtin_popcount(glass_lanes(s, word));
}

static void add_words(struct glass_state *s, const struct glass_record *records,
                      const uint64_t *counts, double *rows) {
    const struct glass_shape *h = &s->shape;
    const size_t length = glass_sums_length(h), row = row_length(h, h->temperatures);
    const size_t lattices = glass_lattices(s);
    for (size_t l = 0; l < lattices; l++, rows += row) {
        add_word(&s->units[l / h->words], h, records + l * 128 * h->quads,
                 lanes_of(h, h->first + (uint32_t)(l % h->words)), s->sums + l * length, rows);
        for (uint32_t slot = 0; slot < h->slots && counts; slot++)
            rows[slot / h->copies * (size_t)ROW + ROW - 1] += (double)counts[l * h->slots + slot];
        for (uint32_t copy = 0; copy < h->copies && counts; copy++)
            rows[row - 1] += (double)counts[lattices * h->slots + l * h->copies + copy];
    }
}

/* Means over the even and the odd lanes of all words: [2][temperature][moment], P(q); and what has
 * been counted of all words up to `step` (ergo_ladder_counts). */
static void halves_of(const struct glass_shape *s, const struct glass_units *u, uint64_t step,
                      const double *rows, double *curve) {
    const size_t bins = bins_of(s), moments = s->rungs * (size_t)GLASS_MOMENTS;
    const size_t size = moments + bins, row = row_length(s, s->rungs);
    const double pairs = s->copies == 4 ? 4 : 1;
    const uint32_t odd = s->samples / 2, even = s->samples - odd;
    const double lanes[2] = {even, odd ? odd : 1};
    double *counts = curve + 2 * size;
    memset(curve, 0, (2 * size + ergo_ladder_counts(s->rungs)) * sizeof *curve);
    ergo_ladder_count_tries(s->rungs, step, s->swap_every, counts);
    for (uint32_t w = 0; w < s->all; w++, rows += row) {
        for (size_t t = 0; t < s->rungs; t++)
            for (size_t i = 0; i < 2 * GLASS_MOMENTS; i++)
                curve[i / GLASS_MOMENTS * size + t * GLASS_MOMENTS + i % GLASS_MOMENTS] +=
                    rows[t * ROW + i];
        for (size_t i = 0; i < 2 * bins; i++)
            curve[i / bins * size + moments + i % bins] += rows[s->rungs * (size_t)ROW + i];
        for (size_t t = 0; t < s->rungs && s->rungs > 1; t++)
            counts[t] += t + 1 < s->rungs ? rows[t * ROW + ROW - 1] : rows[row - 1];
    }
    for (size_t i = 0; i < 2 * size; i++)
        curve[i] *=
            (i % size < moments ? u->value[i % size % GLASS_MOMENTS] : 1 / pairs) / lanes[i / size];
}

/* Counts of a device that are none would lead beyond P(q). */
static enum ergo_status check_records(struct ergo_context *ctx, const struct glass_state *s,
                                      const struct glass_record *records) {
    for (size_t i = 0; i < s->launch.records; i++)
        if (records[i].up > s->shape.sites || records[i].unequal > s->shape.sites)
            return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                             "audit of spin-lattice failed on %s (%s): of %llu sites it counts "
                             "more as up or unequal. The device's compiler or hardware is wrong "
                             "for these kernels: try another device",
                             s->e.device->summary.name, s->e.device->summary.driver,
                             (unsigned long long)s->shape.sites);
    return ERGO_OK;
}

/* Measurement i of a slot: into s->sums, columns and the curve `halves`. */
static enum ergo_status convert_sample(struct ergo_context *ctx, struct glass_state *s,
                                       unsigned slot, size_t i, double *columns, double *curve) {
    const struct glass_shape *h = &s->shape;
    const size_t members = s->e.batch->count, bins = bins_of(h), row = row_length(h, h->rungs);
    const size_t size = h->rungs * (size_t)GLASS_MOMENTS + bins;
    const size_t length = 2 * size + ergo_ladder_counts(h->rungs);
    const struct glass_record *records = ergo_engine_host(&s->e, GLASS_RECORDS, slot, i);
    const uint64_t *counts = h->rungs > 1 ? ergo_engine_host(&s->e, GLASS_NUMBERS, slot, i) : NULL;
    const uint64_t step = s->e.slots[slot].step + (i + 1) * s->e.slots[slot].every;
    double *mine = calloc(glass_lattices(s), row_length(h, h->temperatures) * sizeof *mine);
    double *all = calloc(members * h->all, row * sizeof *all);
    enum ergo_status status =
        mine && all ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a sample");
    if (status == ERGO_OK && !h->idle)
        status = check_records(ctx, s, records);
    if (status == ERGO_OK && !h->idle)
        add_words(s, records, counts, mine);
    if (status == ERGO_OK)
        status = glass_words(ctx, s, members, ROW * sizeof *all, (2 * bins + 1) * sizeof *all, mine,
                             all);
    for (size_t m = 0; m < members && status == ERGO_OK; m++) {
        double *own = curve + m * length;
        const uint32_t odd = h->samples / 2, even = h->samples - odd;
        halves_of(h, &s->units[m], step, all + m * h->all * row, own);
        columns[m * COLUMNS + COLUMN_ENERGY] =
            (even * own[GLASS_E] + odd * own[size + GLASS_E]) / h->samples;
        columns[m * COLUMNS + COLUMN_MAGNETIZATION] =
            (even * own[GLASS_M] + odd * own[size + GLASS_M]) / h->samples;
    }
    free(mine);
    free(all);
    return status;
}

/* s->sums of all ranks to the curve `samples`, [member][sample][temperature][moment], P(q); anew.
 */
static enum ergo_status hand_over(struct ergo_context *ctx, struct glass_state *s, double *curve) {
    const struct glass_shape *h = &s->shape;
    const size_t members = s->e.batch->count, bins = bins_of(h);
    const size_t moments = h->rungs * (size_t)GLASS_MOMENTS, size = moments + bins;
    double *all = malloc(members * h->all * 32 * size * sizeof *all);
    enum ergo_status status =
        all ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the sums of samples");
    if (status == ERGO_OK)
        status = glass_words(ctx, s, members, 32 * GLASS_MOMENTS * sizeof *all,
                             32 * bins * sizeof *all, s->sums, all);
    for (size_t i = 0; i < members * h->samples && status == ERGO_OK; i++) {
        const size_t sample = i % h->samples, bit = sample % 32;
        const double *from = all + (i / h->samples * h->all + sample / 32) * 32 * size;
        double *to = curve + i * size;
        for (size_t t = 0; t < h->rungs; t++)
            memcpy(to + t * GLASS_MOMENTS, from + (t * 32 + bit) * GLASS_MOMENTS,
                   GLASS_MOMENTS * sizeof *to);
        memcpy(to + moments, from + 32 * moments + bit * bins, bins * sizeof *to);
    }
    memset(s->sums, 0, glass_lattices(s) * glass_sums_length(h) * sizeof *s->sums);
    free(all);
    return status;
}

enum ergo_status glass_convert(struct ergo_context *ctx, void *state, unsigned slot,
                               struct ergo_samples *samples) {
    struct glass_state *s = state;
    const size_t members = s->e.batch->count;
    const size_t curve = glass_curve_size(s->e.batch->points[0], CURVE_HALVES);
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < samples->count && status == ERGO_OK; i++)
        status = convert_sample(ctx, s, slot, i, samples->columns + i * members * COLUMNS,
                                samples->curves[CURVE_HALVES] + i * members * curve);
    /* the other curves come at the end */
    return status == ERGO_OK ? hand_over(ctx, s, samples->curves[CURVE_SAMPLES]) : status;
}

/* ---- exchanges ------------------------------------------------------------------------------- */

size_t glass_move_rows(const struct glass_shape *s) {
    return (size_t)s->slots + s->copies;
}

uint64_t glass_moves_of(const uint32_t planes[32], uint32_t bit) {
    uint64_t n = 0;
    for (uint32_t k = 0; k < 32; k++)
        n |= (uint64_t)(planes[k] >> bit & 1) << k;
    return n;
}

void glass_moves_clear(struct glass_state *s) {
    const size_t rows = glass_lattices(s) * glass_move_rows(&s->shape);
    memset(s->moved, 0, rows * 32 * sizeof *s->moved);
    s->untaken = 0;
    ergo_engine_fill(&s->e, GLASS_MOVED, 0);
}

/* What the device has counted is counted on here, and there anew. */
void glass_moves_take(struct glass_state *s) {
    const size_t rows = glass_lattices(s) * glass_move_rows(&s->shape);
    uint32_t *planes = calloc(rows, 128);
    if (!planes) {
        ergo_engine_note(
            &s->e, ERGO_FAIL(s->e.ctx, ERGO_E_MEMORY, "no memory for the exchanges of samples"));
        return;
    }
    ergo_engine_read(&s->e, GLASS_MOVED, 0, 128 * rows, planes);
    for (size_t i = 0; i < 32 * rows; i++)
        s->moved[i] += glass_moves_of(planes + i / 32 * 32, i % 32);
    ergo_engine_fill(&s->e, GLASS_MOVED, 0);
    s->untaken = 0;
    free(planes);
}

/* To the curve `exchanges`: of each sample those of each temperature with the next, of all copies
 * together, then its round trips. */
enum ergo_status glass_count(struct ergo_context *ctx, void *opaque, size_t member,
                             struct ergo_curve *curves) {
    struct glass_state *s = opaque;
    const struct glass_shape *h = &s->shape;
    struct ergo_curve *curve = &curves[CURVE_EXCHANGES];
    const size_t rows = glass_move_rows(h), wide = 32 * ((size_t)h->temperatures + 1);
    if (h->rungs < 2)
        return ERGO_OK;
    double *mine = calloc(h->words, wide * sizeof *mine);
    double *all = calloc(h->all, 32 * ((size_t)h->rungs + 1) * sizeof *all);
    double *sum = malloc(curve->size * sizeof *sum);
    enum ergo_status status =
        mine && all && sum ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for exchanges");
    ergo_engine_begin(&s->e, ctx);
    if (status == ERGO_OK && s->untaken && !h->idle) {
        glass_moves_take(s);
        status = ergo_engine_end(&s->e);
    }
    uint64_t *own = s->moved + member * h->words * rows * 32;
    for (size_t i = 0; i < h->words * rows * 32 && status == ERGO_OK && !h->idle; i++)
        mine[i / 32 / rows * wide + i / 32 % rows / h->copies * 32 + i % 32] += (double)own[i];
    if (status == ERGO_OK) {
        memset(own, 0, h->words * rows * 32 * sizeof *own);
        status = glass_words(ctx, s, 1, 32 * sizeof *all, 32 * sizeof *all, mine, all);
    }
    for (size_t i = 0; i < curve->size && status == ERGO_OK; i++) {
        const size_t sample = i / h->rungs, t = i % h->rungs;
        /* nothing is above the hottest one: there are the round trips, behind it */
        sum[i] = all[(sample / 32 * (h->rungs + 1) + (t + 1 < h->rungs ? t : h->rungs)) * 32 +
                     sample % 32];
    }
    if (status == ERGO_OK)
        ergo_curve_add_sum(curve, sum, curve->count ? 0 : 1);
    free(mine);
    free(all);
    free(sum);
    return status;
}
