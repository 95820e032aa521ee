/*
 * Spin glasses: from counts to moments, and from moments to curves.
 *
 * Each sample of the run adds the moments of each word's 32 samples, at each temperature, to the
 * hidden curve `groups`, which the run layer keeps (and saves) as the mean over time. At the end
 * the words are the units of errors: their samples are different and they share no random numbers.
 * A single word (a file with one sample, say) has the bins of time as units, whose errors are
 * those of this disorder alone. Quantities that are not means are added as the jackknife's
 * pseudo-values, G f - (G - 1) f without the unit, whose mean has no bias of order 1/G and whose
 * spread is the jackknife's error.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/glass.h"
#include "samplers/spin_lattice/models.h"

static const double wave_unit = 4096; /* glass.c's */

/* ---- one sample ------------------------------------------------------------------------------ */

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

static void add_word(const double line[2], const struct glass_shape *s,
                     const struct glass_record *records, uint32_t lanes, double *moments,
                     double *histogram) {
    struct pair pairs[4];
    const uint32_t n_pairs = pairs_of(s, pairs);
    const double n = (double)s->sites, weight = 1.0 / lanes;
    const double wave = 4 / (wave_unit * wave_unit * n * n);
    for (uint32_t t = 0; t < s->temperatures; t++, moments += GLASS_MOMENTS)
        for (uint32_t bit = 0; bit < lanes; bit++) {
            const struct glass_record *r = records + (size_t)t * s->copies * 32 + bit;
            double e[4] = {0};
            for (uint32_t copy = 0; copy < s->copies; copy++) {
                const double m = 2 * (double)r[copy * 32].up / n - 1, w = weight / s->copies;
                e[copy] = line[0] + line[1] * (double)r[copy * 32].energy;
                moments[GLASS_E] += w * e[copy];
                moments[GLASS_E2] += w * e[copy] * e[copy];
                moments[GLASS_ABS_M] += w * fabs(m);
                moments[GLASS_M2] += w * m * m;
                moments[GLASS_M4] += w * m * m * m * m;
            }
            for (uint32_t k = 0; k < n_pairs; k++) {
                const struct glass_record *p = r + (size_t)pairs[k].record * 32;
                const double q = 1 - 2 * (double)p->unequal / n, w = weight / n_pairs;
                const double c = (double)p->cosine, d = (double)p->sine;
                moments[GLASS_EE] += w * e[pairs[k].a] * e[pairs[k].b];
                moments[GLASS_ABS_Q] += w * fabs(q);
                moments[GLASS_Q2] += w * q * q;
                moments[GLASS_Q4] += w * q * q * q * q;
                moments[GLASS_QK2] += w * wave * (c * c + d * d);
                if (s->rung + t == 0)
                    histogram[glass_q_bins(s) - 1 - glass_q_bin(s, p->unequal)] += w;
            }
        }
}

/* Samples of word-lattice `word` of all. */
static uint32_t lanes_of(const struct glass_shape *s, uint32_t word) {
    return (uint32_t)__builtin_popcount(glass_lanes(s, word));
}

/* Of the words here: moments, then `tail` numbers of the coldest temperature: histogram, up spins.
 */
static void words_here(const struct glass_state *s, const struct glass_record *records, size_t tail,
                       double *rows) {
    const struct glass_shape *h = &s->shape;
    const size_t moments = (size_t)h->temperatures * GLASS_MOMENTS;
    for (size_t m = 0; m < s->batch->count; m++) {
        /* looked up once: keys are found by name */
        double line[2];
        glass_energy_line(s->batch->points[m], h, line);
        for (uint32_t w = 0; w < h->words; w++) {
            const uint32_t lanes = lanes_of(h, h->first + w);
            const struct glass_record *r = records + (m * h->words + w) * 128 * h->quads;
            double *row = rows + (m * h->words + w) * (moments + tail);
            add_word(line, h, r, lanes, row, row + moments);
            for (uint32_t copy = 0; copy < h->copies; copy++)
                for (uint32_t bit = 0; bit < lanes; bit++)
                    row[moments + tail - 1] += r[copy * 32 + bit].up;
        }
    }
}

enum ergo_status glass_collect_sample(struct ergo_context *ctx, const struct glass_state *s,
                                      const struct glass_record *records, double *columns,
                                      double *curve) {
    const struct glass_shape *h = &s->shape;
    const size_t size = glass_curve_size(s->batch->points[0], CURVE_GROUPS), group = size / h->all;
    const size_t members = s->batch->count, width = (group + 1) * sizeof(double);
    const size_t tail = group + 1 - (size_t)h->rungs * GLASS_MOMENTS;
    double *here = calloc(members * h->words, width), *all = calloc(members * h->all, width);
    enum ergo_status status =
        here && all ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a sample");
    if (status == ERGO_OK && !h->idle)
        words_here(s, records, tail, here);
    if (status == ERGO_OK)
        status = glass_words(ctx, s, members, GLASS_MOMENTS * sizeof(double), tail * sizeof(double),
                             here, all);
    for (size_t m = 0; m < members && status == ERGO_OK; m++) {
        double energy = 0, up = 0;
        for (uint32_t w = 0; w < h->all; w++) {
            const double *row = all + (m * h->all + w) * (group + 1);
            memcpy(curve + m * size + w * group, row, group * sizeof *row);
            energy += row[GLASS_E] * lanes_of(h, w) / h->samples;
            up += row[group];
        }
        columns[m * COLUMNS + COLUMN_ENERGY] = energy;
        columns[m * COLUMNS + COLUMN_MAGNETIZATION] =
            2 * up / ((double)h->sites * h->samples * h->copies) - 1;
    }
    free(here);
    free(all);
    return status;
}

/* ---- quantities ------------------------------------------------------------------------------ */

static double heat_of(const struct glass_shape *s, double t, const double *m) {
    return (double)s->sites * (m[GLASS_E2] - m[GLASS_EE]) / (t * t);
}

static double binder_of(const double *m) {
    return 0.5 * (3 - m[GLASS_Q4] / (m[GLASS_Q2] * m[GLASS_Q2]));
}

/* Second moment: 1 / (2 sin(pi / L)) sqrt(chi(0) / chi(k) - 1), 0 where the waves are no smaller.
 */
static double length_of(const struct glass_shape *s, const double *m) {
    const double ratio = m[GLASS_Q2] / m[GLASS_QK2] - 1;
    return ratio > 0 ? sqrt(ratio) / (2 * sin(3.14159265358979323846 / s->layers)) : 0;
}

double glass_moment(const struct ergo_point *point, const char *observable, const double *m) {
    const struct glass_shape s = glass_shape_of(point);
    static const struct {
        const char *name;
        int at;
    } plain[] = {{"overlap_abs", GLASS_ABS_Q},
                 {"overlap2", GLASS_Q2},
                 {"overlap4", GLASS_Q4},
                 {"glass_magnetization2", GLASS_M2},
                 {"swap_acceptance", GLASS_MOMENTS},
                 {"round_trips", GLASS_MOMENTS + 1}};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (strcmp(plain[i].name, observable) == 0)
            return m[plain[i].at];
    if (strcmp(observable, "glass_heat_capacity") == 0)
        return heat_of(&s, ergo_point_real(point, "/system/temperature"), m);
    return strcmp(observable, "overlap_binder") == 0 ? binder_of(m) : length_of(&s, m);
}

/* ---- the end --------------------------------------------------------------------------------- */

struct units {
    size_t count, size; /* size: of a word's moments and histogram */
    double *value;      /* [count][size] */
    double *sum;        /* [size] */
};

static bool units_of(const struct glass_shape *s, const struct ergo_curve *groups,
                     struct units *u) {
    const size_t bins = (size_t)(groups->bin_length ? groups->count / groups->bin_length : 0);
    u->size = groups->size / s->all;
    u->count = s->all > 1 ? s->all : bins;
    u->value = calloc((u->count + 1) * u->size, sizeof *u->value);
    u->sum = calloc(u->size, sizeof *u->sum);
    if (!u->value || !u->sum)
        return false;
    for (size_t b = 0; b < bins; b++)
        for (size_t i = 0; i < groups->size; i++) {
            const double part = groups->bins[b * groups->size + i] / (double)groups->bin_length;
            u->value[s->all > 1 ? i : b * u->size + i] += s->all > 1 ? part / (double)bins : part;
        }
    for (size_t k = 0; k < u->count; k++)
        for (size_t i = 0; i < u->size; i++)
            u->sum[i] += u->value[k * u->size + i];
    return true;
}

typedef double (*quantity)(const struct glass_shape *s, double t, const double *moments);

static double quantity_binder(const struct glass_shape *s, double t, const double *m) {
    (void)s, (void)t;
    return binder_of(m);
}

static double quantity_length(const struct glass_shape *s, double t, const double *m) {
    (void)t;
    return length_of(s, m);
}

/* A unit's pseudo-value of f at temperature i. */
static double pseudo_value(const struct glass_shape *s, const struct units *u, size_t unit,
                           uint32_t i, double t, quantity f) {
    const double n = (double)u->count;
    double all[GLASS_MOMENTS], without[GLASS_MOMENTS];
    for (size_t k = 0; k < GLASS_MOMENTS; k++) {
        const size_t at = (size_t)i * GLASS_MOMENTS + k;
        all[k] = u->sum[at] / n;
        without[k] = n > 1 ? (u->sum[at] - u->value[unit * u->size + at]) / (n - 1) : 0;
    }
    return n > 1 ? n * f(s, t, all) - (n - 1) * f(s, t, without) : f(s, t, all);
}

static void add_unit(const struct glass_state *s, const struct units *u, size_t unit,
                     const double *ladder, struct ergo_curve *curves) {
    const struct glass_shape *h = &s->shape;
    const double *v = u->value + unit * u->size;
    double values[5][GLASS_LADDER_MAX];
    static const quantity f[3] = {heat_of, quantity_binder, quantity_length};
    for (uint32_t i = 0; i < h->rungs; i++) {
        values[0][i] = v[(size_t)i * GLASS_MOMENTS + GLASS_E];
        values[1][i] = v[(size_t)i * GLASS_MOMENTS + GLASS_Q2];
        for (int k = 0; k < 3 && h->copies > 1; k++)
            values[2 + k][i] = pseudo_value(h, u, unit, i, ladder[i], f[k]);
    }
    ergo_curve_add(&curves[CURVE_LADDER_ENERGY], values[0]);
    if (h->copies < 2)
        return;
    ergo_curve_add(&curves[CURVE_LADDER_Q2], values[1]);
    ergo_curve_add(&curves[CURVE_LADDER_HEAT], values[2]);
    ergo_curve_add(&curves[CURVE_LADDER_BINDER], values[3]);
    ergo_curve_add(&curves[CURVE_LADDER_XI], values[4]);

    /* a density: bins differ by one in the overlaps that fall into them, 2/N apart */
    double density[130];
    size_t count[130] = {0};
    const size_t bins = glass_q_bins(h);
    for (uint64_t n = 0; n <= h->sites; n++)
        count[bins - 1 - glass_q_bin(h, n)]++;
    for (size_t i = 0; i < bins; i++)
        density[i] =
            v[(size_t)h->rungs * GLASS_MOMENTS + i] * (double)h->sites / (2 * (double)count[i]);
    ergo_curve_add(&curves[CURVE_OVERLAP], density);
}

/* Exchanges of a pair that were tried: its parity's turns. */
static double tries(const struct glass_state *s, uint32_t pair, uint32_t lanes) {
    const uint64_t n = s->step / s->shape.swap_every;
    return (double)(pair % 2 ? (n + 1) / 2 : n / 2) * lanes * s->shape.copies;
}

/* Acceptance of each pair of a word, their mean, and round trips per replica and million sweeps. */
static void swaps_of(const struct glass_state *s, const uint64_t *accepted, const uint64_t *trips,
                     uint32_t lanes, double *swaps, double summary[2]) {
    const struct glass_shape *h = &s->shape;
    summary[0] = summary[1] = 0;
    for (uint32_t t = 0; t + 1 < h->rungs; t++) {
        double sum = 0;
        for (uint32_t copy = 0; copy < h->copies; copy++)
            sum += (double)accepted[t * h->copies + copy];
        const double n = tries(s, t, lanes);
        swaps[t] = n > 0 ? sum / n : 0;
        summary[0] += swaps[t] / (h->rungs - 1);
    }
    for (uint32_t copy = 0; copy < h->copies && h->rungs > 1; copy++)
        summary[1] += (double)trips[copy] * 1e6 /
                      ((double)lanes * glass_all_slots(h) * (double)(s->step ? s->step : 1));
}

enum ergo_status glass_end_curves(struct ergo_context *ctx, void *opaque, size_t member,
                                  struct ergo_curve *curves) {
    struct glass_state *s = opaque;
    const struct glass_shape *h = &s->shape;
    struct units u = {0};
    double ladder[GLASS_LADDER_MAX], swaps[GLASS_LADDER_MAX] = {0}, row[GLASS_MOMENTS + 2];
    const size_t slots = 8 * (size_t)h->slots, copies = 8 * (size_t)h->copies;
    const size_t all_slots = glass_all_slots(h);
    uint64_t *accepted = malloc(h->words * slots + 8 * h->all * all_slots);
    uint64_t *trips = malloc((h->words + h->all) * copies);
    enum ergo_status status = accepted && trips && units_of(h, &curves[CURVE_GROUPS], &u)
                                  ? ERGO_OK
                                  : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for curves");
    glass_temperatures(s->batch->points[member], ladder);
    const size_t first = member * h->words;
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, s->accepted, first * slots, h->words * slots,
                                  accepted + h->all * all_slots);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, s->trips, first * copies, h->words * copies,
                                  trips + h->all * h->copies);
    if (status == ERGO_OK)
        status = glass_words(ctx, s, 1, copies, 0, accepted + h->all * all_slots, accepted);
    if (status == ERGO_OK)
        status = glass_words(ctx, s, 1, 0, copies, trips + h->all * h->copies, trips);
    for (size_t k = 0; k < u.count && status == ERGO_OK; k++) {
        const size_t w = h->all > 1 ? k : 0;
        const uint32_t lanes = lanes_of(h, (uint32_t)w);
        swaps_of(s, accepted + w * all_slots, trips + w * h->copies, lanes, swaps,
                 row + GLASS_MOMENTS);
        memcpy(row, u.value + k * u.size, GLASS_MOMENTS * sizeof *row);
        ergo_curve_add(&curves[CURVE_MOMENTS], row);
        if (h->rungs > 1)
            ergo_curve_add(&curves[CURVE_LADDER_SWAPS], swaps);
        add_unit(s, &u, k, ladder, curves);
    }
    free(u.value);
    free(u.sum);
    free(accepted);
    free(trips);
    return status;
}
