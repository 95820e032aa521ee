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
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
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

/* Of the 32 samples of a word: loops over them are vectors. */
typedef double lanes_vector[32];

/* Sums over copies and pairs, at one temperature; r: its records. */
static void measure(const struct glass_units *u, const struct glass_shape *s,
                    const struct pair *pairs, uint32_t n_pairs, const struct glass_record *r,
                    lanes_vector v[GLASS_MOMENTS]) {
    const double n = (double)s->sites;
    lanes_vector e[4];
    memset(v, 0, GLASS_MOMENTS * sizeof *v);
    for (uint32_t copy = 0; copy < s->copies; copy++) {
        const struct glass_record *of = r + (size_t)copy * 32;
        for (uint32_t bit = 0; bit < 32; bit++) {
            const double m = 2 * (double)of[bit].up - n;
            e[copy][bit] = u->energy[0] + u->energy[1] * (double)of[bit].energy;
            v[GLASS_E][bit] += e[copy][bit];
            v[GLASS_E2][bit] += e[copy][bit] * e[copy][bit];
            v[GLASS_M][bit] += m;
            v[GLASS_ABS_M][bit] += fabs(m);
            v[GLASS_M2][bit] += m * m;
            v[GLASS_M4][bit] += m * m * m * m;
        }
    }
    for (uint32_t k = 0; k < n_pairs; k++) {
        const struct glass_record *of = r + (size_t)pairs[k].record * 32;
        const double *a = e[pairs[k].a], *b = e[pairs[k].b];
        for (uint32_t bit = 0; bit < 32; bit++) {
            const double q = n - 2 * (double)of[bit].unequal;
            const double c = (double)of[bit].cosine, d = (double)of[bit].sine;
            v[GLASS_EE][bit] += a[bit] * b[bit];
            v[GLASS_ABS_Q][bit] += fabs(q);
            v[GLASS_Q2][bit] += q * q;
            v[GLASS_Q4][bit] += q * q * q * q;
            v[GLASS_QK2][bit] += c * c + d * d;
        }
    }
    for (uint32_t k = 0; n_pairs == 4 && k < 4; k += 2) /* pairs 01 and 23, then 02 and 13 */
        for (uint32_t bit = 0; bit < 32; bit++)
            v[GLASS_QQ][bit] += (n - 2 * (double)r[pairs[k].record * (size_t)32 + bit].unequal) *
                                (n - 2 * (double)r[pairs[k + 1].record * (size_t)32 + bit].unequal);
    for (int k = 0; k < GLASS_MOMENTS; k++)
        for (uint32_t bit = 0; bit < 32; bit++)
            v[k][bit] = whole(v[k][bit] * u->inverse[k]);
}

/* sums: [temperature][moment][32], [32][bin]; halves, of the lanes: [temperature][ROW], [2][bin].
 */
static void add_word(const struct glass_units *u, const struct glass_shape *s,
                     const struct glass_record *records, uint32_t lanes, double *sums,
                     double *halves) {
    struct pair pairs[4];
    const uint32_t n_pairs = pairs_of(s, pairs);
    const size_t bins = bins_of(s), moments = s->temperatures * (size_t)GLASS_MOMENTS;
    for (uint32_t t = 0; t < s->temperatures; t++) {
        lanes_vector v[GLASS_MOMENTS];
        measure(u, s, pairs, n_pairs, records + (size_t)t * s->copies * 32, v);
        for (int k = 0; k < GLASS_MOMENTS; k++) {
            double *sum = sums + ((size_t)t * GLASS_MOMENTS + (size_t)k) * 32;
            double half[2] = {0, 0};
            for (uint32_t bit = 0; bit < lanes; bit++)
                sum[bit] += v[k][bit];
            for (uint32_t bit = 0; bit < lanes; bit++)
                half[bit % 2] += v[k][bit];
            halves[(size_t)t * ROW + (size_t)k] += half[0];
            halves[(size_t)t * ROW + GLASS_MOMENTS + (size_t)k] += half[1];
        }
    }
    for (uint32_t k = 0; k < n_pairs && s->rung == 0; k++)
        for (uint32_t bit = 0; bit < lanes; bit++) {
            const size_t bin =
                bins - 1 - glass_q_bin(s, records[(size_t)pairs[k].record * 32 + bit].unequal);
            sums[32 * moments + bit * bins + bin]++;
            halves[s->temperatures * (size_t)ROW + bit % 2 * bins + bin]++;
        }
}

/* Samples of word-lattice `word` of all. */
static uint32_t lanes_of(const struct glass_shape *s, uint32_t word) {
    return (uint32_t)__builtin_popcount(glass_lanes(s, word));
}

/* Counts of a device that are none would lead beyond P(q). */
static bool possible(const struct glass_shape *s, const struct glass_record *records) {
    bool right = true;
    for (size_t i = 0; i < 128 * (size_t)s->quads; i++)
        right = right && records[i].up <= s->sites && records[i].unequal <= s->sites;
    return right;
}

static enum ergo_status refuse(struct ergo_context *ctx, const struct glass_state *s) {
    return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                     "audit of spin-lattice failed on %s (%s): of %llu sites it counts more as up "
                     "or unequal. The device's compiler or hardware is wrong for these kernels: "
                     "try another device",
                     s->e.device->summary.name, s->e.device->summary.driver,
                     (unsigned long long)s->shape.sites);
}

/* Measurements of a slot, `count` from number `first` on, that are converted together. */
struct stretch {
    struct glass_state *s;
    unsigned slot;
    size_t first, count;
    double *mine, *all; /* [count][lattice], [count][member][word of all]: rows */
    struct ergo_samples *samples;
    atomic_bool wrong;
};

/* Most memory of a stretch's rows, in bytes. */
static const size_t most_rows = 1 << 25;

static void add_lattices(size_t begin, size_t end, void *user) {
    struct stretch *a = user;
    struct glass_state *s = a->s;
    const struct glass_shape *h = &s->shape;
    const size_t length = glass_sums_length(h), row = row_length(h, h->temperatures);
    const size_t lattices = glass_lattices(s);
    for (size_t i = 0; i < a->count; i++) {
        const struct glass_record *records =
            ergo_engine_host(&s->e, GLASS_RECORDS, a->slot, a->first + i);
        const uint64_t *counts =
            h->rungs > 1 ? ergo_engine_host(&s->e, GLASS_NUMBERS, a->slot, a->first + i) : NULL;
        for (size_t l = begin; l < end; l++) {
            double *to = a->mine + (i * lattices + l) * row;
            if (!possible(h, records + l * 128 * h->quads)) {
                a->wrong = true;
                return;
            }
            add_word(&s->units[l / h->words], h, records + l * 128 * h->quads,
                     lanes_of(h, h->first + (uint32_t)(l % h->words)), s->sums + l * length, to);
            for (uint32_t slot = 0; slot < h->slots && counts; slot++)
                to[slot / h->copies * (size_t)ROW + ROW - 1] += (double)counts[l * h->slots + slot];
            for (uint32_t copy = 0; copy < h->copies && counts; copy++)
                to[row - 1] += (double)counts[lattices * h->slots + l * h->copies + copy];
        }
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
        for (size_t half = 0; half < 2; half++) {
            const double *at = rows + half * GLASS_MOMENTS;
            const double *counted = rows + s->rungs * (size_t)ROW + half * bins;
            double *to = curve + half * size;
            for (size_t t = 0; t < s->rungs; t++)
                for (size_t k = 0; k < GLASS_MOMENTS; k++)
                    to[t * GLASS_MOMENTS + k] += at[t * ROW + k];
            for (size_t b = 0; b < bins; b++)
                to[moments + b] += counted[b];
        }
        for (size_t t = 0; t < s->rungs && s->rungs > 1; t++)
            counts[t] += t + 1 < s->rungs ? rows[t * ROW + ROW - 1] : rows[row - 1];
    }
    for (size_t i = 0; i < 2 * size; i++)
        curve[i] *=
            (i % size < moments ? u->value[i % size % GLASS_MOMENTS] : 1 / pairs) / lanes[i / size];
}

/* Columns and the curve `halves` of measurement i / members of a stretch, of member i % members. */
static void make_row(size_t i, void *user) {
    const struct stretch *a = user;
    const struct glass_state *s = a->s;
    const struct glass_shape *h = &s->shape;
    const size_t members = s->e.batch->count, bins = bins_of(h), m = i % members;
    const size_t size = h->rungs * (size_t)GLASS_MOMENTS + bins;
    const size_t at = a->first + i / members;
    const struct ergo_engine_slot *slot = &s->e.slots[a->slot];
    const uint32_t odd = h->samples / 2, even = h->samples - odd;
    double *columns = a->samples->columns + (at * members + m) * COLUMNS;
    double *own = a->samples->curves[CURVE_HALVES] +
                  (at * members + m) * (2 * size + ergo_ladder_counts(h->rungs));
    halves_of(h, &s->units[m], slot->step + (at + 1) * slot->every,
              a->all + i * h->all * row_length(h, h->rungs), own);
    columns[COLUMN_ENERGY] = (even * own[GLASS_E] + odd * own[size + GLASS_E]) / h->samples;
    columns[COLUMN_MAGNETIZATION] = (even * own[GLASS_M] + odd * own[size + GLASS_M]) / h->samples;
}

static enum ergo_status convert_stretch(struct ergo_context *ctx, struct stretch *a) {
    struct glass_state *s = a->s;
    const struct glass_shape *h = &s->shape;
    const size_t members = s->e.batch->count, bins = bins_of(h);
    const size_t mine = glass_lattices(s) * row_length(h, h->temperatures);
    const size_t all = members * h->all * row_length(h, h->rungs);
    enum ergo_status status = ERGO_OK;
    memset(a->mine, 0, a->count * mine * sizeof *a->mine);
    memset(a->all, 0, a->count * all * sizeof *a->all);
    if (!h->idle)
        ergo_parallel_ranges(glass_lattices(s), 1, add_lattices, a);
    if (a->wrong)
        status = refuse(ctx, s);
    for (size_t i = 0; i < a->count && status == ERGO_OK; i++)
        status = glass_words(ctx, s, members, ROW * sizeof *a->all, (2 * bins + 1) * sizeof *a->all,
                             a->mine + i * mine, a->all + i * all);
    if (status == ERGO_OK)
        ergo_parallel(a->count * members, SIZE_MAX, make_row, a);
    return status;
}

/* The measurements of a slot: into s->sums, columns and the curve `halves`. */
static enum ergo_status convert_samples(struct ergo_context *ctx, struct glass_state *s,
                                        unsigned slot, struct ergo_samples *samples) {
    const struct glass_shape *h = &s->shape;
    const size_t mine = glass_lattices(s) * row_length(h, h->temperatures);
    const size_t all = s->e.batch->count * h->all * row_length(h, h->rungs);
    const size_t fit = most_rows / ((mine + all) * sizeof(double)) + 1;
    const size_t most = fit < samples->count ? fit : samples->count;
    struct stretch a = {.s = s, .slot = slot, .samples = samples};
    enum ergo_status status = ERGO_OK;
    a.mine = malloc(most * mine * sizeof *a.mine + 1);
    a.all = malloc(most * all * sizeof *a.all + 1);
    if (!a.mine || !a.all)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a sample");
    for (; a.first < samples->count && status == ERGO_OK; a.first += a.count) {
        const size_t rest = samples->count - a.first;
        a.count = rest < most ? rest : most;
        status = convert_stretch(ctx, &a);
    }
    free(a.mine);
    free(a.all);
    return status;
}

/* Sums of word-lattices on their way to the curve `samples`. */
struct handing {
    const struct glass_shape *shape;
    const double *sums; /* [member][word of all][temperature][moment][32], [32][bin] */
    double *curve;      /* [member][sample][temperature][moment], P(q) */
};

static void hand_over_word(size_t lattice, void *user) {
    const struct handing *a = user;
    const struct glass_shape *h = a->shape;
    const size_t bins = bins_of(h), moments = h->rungs * (size_t)GLASS_MOMENTS;
    const size_t size = moments + bins, member = lattice / h->all, word = lattice % h->all;
    const double *from = a->sums + lattice * 32 * size;
    double *to = a->curve + (member * h->samples + 32 * word) * size;
    for (size_t bit = 0; bit < 32 && 32 * word + bit < h->samples; bit++, to += size) {
        for (size_t k = 0; k < moments; k++)
            to[k] = from[k * 32 + bit];
        memcpy(to + moments, from + 32 * moments + bit * bins, bins * sizeof *to);
    }
}

/* s->sums of all ranks to the curve `samples`; anew. */
static enum ergo_status hand_over(struct ergo_context *ctx, struct glass_state *s, double *curve) {
    const struct glass_shape *h = &s->shape;
    const size_t members = s->e.batch->count, bins = bins_of(h);
    const size_t words = members * h->all, length = 32 * (h->rungs * (size_t)GLASS_MOMENTS + bins);
    double *all = s->shares ? malloc(words * length * sizeof *all) : s->sums;
    enum ergo_status status =
        all ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the sums of samples");
    if (status == ERGO_OK && s->shares)
        status = glass_words(ctx, s, members, 32 * GLASS_MOMENTS * sizeof *all,
                             32 * bins * sizeof *all, s->sums, all);
    struct handing a = {.shape = h, .sums = all};
    a.curve = curve;
    if (status == ERGO_OK)
        ergo_parallel(words, SIZE_MAX, hand_over_word, &a);
    if (s->shares)
        free(all);
    memset(s->sums, 0, glass_lattices(s) * glass_sums_length(h) * sizeof *s->sums);
    return status;
}

enum ergo_status glass_convert(struct ergo_context *ctx, void *state, unsigned slot,
                               struct ergo_samples *samples) {
    struct glass_state *s = state;
    const enum ergo_status status = convert_samples(ctx, s, slot, samples);
    /* the other curves come at the end */
    return status == ERGO_OK ? hand_over(ctx, s, samples->curves[CURVE_SAMPLES]) : status;
}

/* ---- exchanges ------------------------------------------------------------------------------- */

size_t glass_move_rows(const struct glass_shape *s) {
    return (size_t)s->slots + s->copies;
}

static uint64_t glass_moves_of(const uint32_t planes[32], uint32_t bit) {
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
    /* nothing that was before the last feedback is told */
    const bool tells = s->e.step >= ergo_feedback_since(&s->feedback, UINT64_MAX) && !h->idle;
    for (size_t i = 0; i < h->words * rows * 32 && status == ERGO_OK && tells; i++)
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
