/* Spin glasses: what can be said of a job without a device. */
#include <math.h>
#include <string.h>

#include "base/portable.h"
#include "samplers/spin_lattice/exact.h"
#include "samplers/spin_lattice/ergodic.h"
#include "samplers/spin_lattice/spin_glass/glass.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/two_times.h"

_Static_assert(sizeof(struct glass_record) == GLASS_RECORD_BYTES, "glass_record has no padding");

static bool from_file(const struct ergo_point *point) {
    return of_lattice(point)->disorder_file.present;
}

struct glass_shape glass_shape_of(const struct ergo_point *point) {
    const struct ergo_value *size = &of_lattice(point)->size;
    const char *disorder = of_lattice(point)->disorder.text;
    struct glass_shape s = {.d = (uint32_t)size->items, .lz = 1};
    s.lx = (uint32_t)size->size[0];
    s.ly = (uint32_t)size->size[1];
    if (s.d == 3)
        s.lz = (uint32_t)size->size[2];
    s.sites = (uint64_t)s.lx * s.ly * s.lz;
    s.half = s.sites / 2;
    s.layers = s.d == 3 ? s.lz : s.ly;
    s.samples = model_samples(point);
    s.all = s.words = (s.samples + 31) / 32;
    s.last = s.samples % 32 ? (1u << (s.samples % 32)) - 1 : 0xffffffffu;
    s.temperatures = s.rungs = ergo_ladder_rungs(point);
    s.automatic = ergo_feedback_of(point).automatic;
    s.copies = (uint32_t)of_lattice(point)->copies;
    s.slots = s.temperatures * s.copies;
    s.quads = (s.slots + 3) / 4;
    s.swap_every = ergo_ladder_every(point);
    s.cluster_every = (uint32_t)of_lattice(point)->cluster_every.integer;
    s.signs = strcmp(disorder, "bimodal") == 0;
    /* a field of 0 that is given may be one of a scan */
    s.field = of_lattice(point)->field.given || of_lattice(point)->random_field.present ||
              of_lattice(point)->field_file.present;
    s.real = !s.signs || s.field;
    s.heat = ergo_says(of_lattice(point)->dynamics, "heat-bath");
    return s;
}

uint32_t glass_lanes(const struct glass_shape *s, uint32_t word) {
    return word + 1 == s->all ? s->last : 0xffffffffu;
}

uint32_t glass_all_slots(const struct glass_shape *s) {
    return s->rungs * s->copies;
}

/* hi and lo: the 64-bit integer next to p 2^64. */
static void split(double p, uint32_t *hi, uint32_t *lo) {
    const double upper = p * 0x1p32;
    if (!(upper < 0x1p32)) {
        *hi = *lo = 0xffffffffu;
        return;
    }
    *hi = (uint32_t)upper;
    *lo = (uint32_t)((upper - (double)*hi) * 0x1p32); /* exact: a difference of near numbers */
}

/* The energy that a count of 1 stands for; without real couplings a count is of unsatisfied bonds.
 */
static double unit_of_energy(const struct ergo_point *point, const struct glass_shape *s) {
    return fabs(of_lattice(point)->coupling.real) * (s->real ? 0x1p-24 : 2);
}

float glass_slope(const struct ergo_point *point, const struct glass_shape *s, const double *all,
                  uint32_t t) {
    return ergo_ladder_slope(all, s->rungs, t, unit_of_energy(point, s));
}

void glass_tables(const struct ergo_point *point, const struct glass_shape *s, const double *all,
                  uint32_t *tables, float *slopes) {
    const double j = fabs(of_lattice(point)->coupling.real);
    memset(tables, 0, s->quads * 2 * GLASS_CLASSES * 4 * sizeof *tables);
    for (uint32_t slot = 0; slot < s->slots; slot++) {
        const double kelvin = all[s->rung + slot / s->copies] / j; /* in units of the coupling */
        uint32_t *own = tables + (size_t)(slot / 4) * 2 * GLASS_CLASSES * 4 + slot % 4;
        if (s->real) {
            const float scale = (float)(kelvin * 0x1p23); /* T / 2 in units of 2^-24 */
            memcpy(own, &scale, sizeof scale);
            continue;
        }
        for (uint32_t m = 0; m <= 2 * s->d; m++) {
            /* with m of z bonds unsatisfied a flip costs 2 (z - 2m) */
            const double cost = 2 * (2 * (double)s->d - 2 * (double)m);
            const double weight = ergo_portable_exp(-cost / kelvin);
            split(s->heat ? weight / (1 + weight) : fmin(1, weight), own + (size_t)(2 * m) * 4,
                  own + (size_t)(2 * m + 1) * 4);
        }
    }
    for (uint32_t i = 0; i < s->temperatures; i++)
        slopes[i] = glass_slope(point, s, all, s->rung + i);
}

/* A measurement's numbers are at most `most` in size: sums over the copies of all of them are whole
 * numbers below 2^53 of a unit that is as small as may be. */
static double unit_of(double most, double measurements, uint32_t copies) {
    const int bits = (int)ceil(log2(most * measurements * copies)) + 1;
    return bits > 53 ? ldexp(1, bits - 53) : 1;
}

/* Runs of fewer measurements share their units, so that each of them can become longer. */
static const double units_least = 0x1p16;

void glass_units_of(const struct ergo_point *point, const struct glass_shape *s,
                    struct glass_units *u) {
    const struct ergo_value *every = &point->parameters->measure_every;
    const double j = fabs(of_lattice(point)->coupling.real), n = (double)s->sites;
    const double step = every->automatic || every->integer < 1 ? 1 : (double)every->integer;
    const double measurements = fmax(units_least, (double)point->parameters->sweeps / step + 1);
    const double e = s->real ? j * 0x1p-24 / n : j / n; /* of a unit of energy */
    const double most = n * (s->field ? 0x1p30 : s->d * (s->real ? 0x1p27 : 1)), wave = 4096 * n;
    const uint32_t pairs = s->copies == 4 ? 4 : 1;
    const struct {
        double most, value;
        int at;
        uint32_t copies;
    } rows[GLASS_MOMENTS] = {{most, e, GLASS_E, s->copies},
                             {most * most, e * e, GLASS_E2, s->copies},
                             {most * most, e * e, GLASS_EE, pairs},
                             {n, 1 / n, GLASS_ABS_Q, pairs},
                             {n * n, 1 / (n * n), GLASS_Q2, pairs},
                             {n * n * n * n, 1 / (n * n * n * n), GLASS_Q4, pairs},
                             {2 * wave * wave, 4 / (wave * wave), GLASS_QK2, pairs},
                             {n, 1 / n, GLASS_ABS_M, s->copies},
                             {n * n, 1 / (n * n), GLASS_M2, s->copies},
                             {n * n * n * n, 1 / (n * n * n * n), GLASS_M4, s->copies},
                             {n, 1 / n, GLASS_M, s->copies},
                             {n * n, 1 / (n * n), GLASS_QQ, s->copies == 4 ? 2 : 1}};
    u->energy[0] = s->real ? 0 : -(double)s->d * n;
    u->energy[1] = s->real ? 1 : 2;
    for (int k = 0; k < GLASS_MOMENTS; k++) {
        const double unit = unit_of(rows[k].most, measurements, rows[k].copies);
        u->inverse[rows[k].at] = 1 / unit;
        u->value[rows[k].at] = rows[k].value * unit / rows[k].copies;
    }
}

enum ergo_status glass_extends(struct ergo_context *ctx, const struct ergo_point *from,
                               const struct ergo_point *to) {
    const struct glass_shape s = glass_shape_of(from);
    struct glass_units was, is;
    glass_units_of(from, &s, &was);
    glass_units_of(to, &s, &is);
    bool same = true;
    for (size_t k = 0; k < sizeof was.inverse / sizeof was.inverse[0]; k++)
        same = same && was.inverse[k] - is.inverse[k] == 0;
    return same ? ERGO_OK
                : ergo_job_error(ctx, "/run/sweeps",
                                 "found %lld, but the run of %lld has summed moments of %llu sites "
                                 "in units that are too fine for so many measurements; up to %.0f "
                                 "all lengths are possible",
                                 (long long)to->parameters->sweeps,
                                 (long long)from->parameters->sweeps, (unsigned long long)s.sites,
                                 units_least);
}

/* ---- check ----------------------------------------------------------------------------------- */

static bool metropolis_samples(const struct ergo_point *point) {
    const struct glass_shape s = glass_shape_of(point);
    const struct ergo_value *h = &of_lattice(point)->random_field;
    const double j = fabs(of_lattice(point)->coupling.real);
    const struct ergo_value *b = &of_lattice(point)->field;
    struct ergodic_lattice lattice = {
        .d = s.d, .l = {s.lx, s.ly, s.lz}, .j = {j, j, j}, .signs = true};
    if (from_file(point) && s.real)
        return glass_file_samples(point, &s);
    if (!s.signs)
        return true;
    if (h->present && h->real != 0 &&
        ergo_says(of_lattice(point)->field_distribution.text, "gaussian"))
        return true;
    lattice.b = b->present ? b->real : 0;
    lattice.h = h->present && !of_lattice(point)->field_file.present ? h->real : 0;
    return ergodic_lattice(&lattice);
}

const char *glass_instead(const struct ergo_point *point) {
    return metropolis_samples(point) ? NULL : "heat-bath";
}

static enum ergo_status check_disorder(struct ergo_context *ctx, const struct ergo_point *point,
                                       const struct glass_shape *s) {
    enum ergo_status status = ERGO_OK;
    if (from_file(point))
        status = glass_file_check(ctx, point, s);
    if (s->field && status == ERGO_OK)
        status = glass_field_check(ctx, point, s);
    if (!from_file(point) && s->samples % 32)
        status = ergo_job_error(ctx, "/system/samples",
                                "%u is not a multiple of 32: as many share a word", s->samples);
    return status;
}

enum ergo_status glass_check(struct ergo_context *ctx, const struct ergo_point *point) {
    static const char *const side[] = {"/system/size/0", "/system/size/1", "/system/size/2"};
    const struct ergo_value *size = &of_lattice(point)->size;
    const struct glass_shape s = glass_shape_of(point);
    enum ergo_status status = ERGO_OK;
    for (int i = 0; i < size->items && i < 3; i++)
        if (size->size[i] % 2)
            status = ergo_job_error(ctx, side[i],
                                    "%lld is odd; the checkerboard update needs even sides",
                                    (long long)size->size[i]);
    if ((double)size->size[0] * (double)size->size[1] *
            (size->items == 3 ? (double)size->size[2] : 1) >
        0x1p28)
        status = ergo_job_error(ctx, "/system/size", "more than 2^28 sites");
    else if (s.sites / s.layers > 8160)
        status = ergo_job_error(ctx, "/system/size",
                                "more than 8160 sites in a layer (all but the last direction)");
    else if (s.real && s.sites * s.d > UINT64_C(1) << 27)
        status = ergo_job_error(ctx, "/system/size",
                                "more than 2^27 bonds with couplings that are numbers, which are "
                                "counted by 32 bits for 32 samples");
    if (status == ERGO_OK && (double)s.all * fmax(4.0 * (double)glass_packed_length(&s),
                                                  (double)glass_lattice_bytes(&s)) >
                                 0x1p40)
        status = ergo_job_error(ctx, "/system/samples",
                                "%u samples of this lattice need more than 1 TiB in one buffer",
                                s.samples);
    if (s.copies != 1 && s.copies != 2 && s.copies != 4)
        status = ergo_job_error(ctx, "/system/copies", "%u; 1, 2 and 4 are allowed", s.copies);
    if (s.copies == 1 && s.cluster_every)
        status =
            ergo_job_error(ctx, "/system/cluster_every",
                           "cluster moves are of two copies at one temperature; /system/copies "
                           "is 1, use 2 or 4");
    if (s.all > GLASS_WORDS_MAX || s.quads > GLASS_QUADS_MAX)
        status = ergo_job_error(ctx, "/system/samples", "%u: at most %u", s.samples,
                                32 * GLASS_WORDS_MAX);
    if (model_dynamics_check(ctx, point, metropolis_samples(point)) != ERGO_OK)
        status = ERGO_E_JOB;
    const double j = fabs(of_lattice(point)->coupling.real);
    const double t = point->parameters->temperature;
    if (!(j > 0))
        status = ergo_job_error(ctx, "/system/coupling", "0: nothing would be coupled");
    else if (!s.heat && j * (double)(4 * s.d) < 1e-3 * t)
        status = ergo_job_error(ctx, "/system/temperature",
                                "%g is more than 1000 bonds of a spin: Metropolis would accept "
                                "every flip; use dynamics \"heat-bath\"",
                                t);
    enum ergo_status other = ergo_shares_check(ctx, point);
    status = other != ERGO_OK ? other : status;
    other = ergo_ladder_check(ctx, point);
    status = other != ERGO_OK ? other : status;
    if (status == ERGO_OK)
        status = ergo_feedback_check(ctx, point);
    other = timed_check(ctx, point);
    status = other != ERGO_OK ? other : status;
    if (of_lattice(point)->chi4 && s.all < 3)
        status = ergo_job_error(ctx, "/run/chi4",
                                "needs three words of 32 samples at least, which are independent: "
                                "/system/samples is %u",
                                s.samples);
    if (status == ERGO_OK)
        status = check_disorder(ctx, point, &s);
    return status;
}

/* ---- curves ---------------------------------------------------------------------------------- */

/* P(q) as finely as q goes, on small lattices. */
size_t glass_q_bins(const struct glass_shape *s) {
    return s->sites <= 128 ? (size_t)s->sites + 1 : 65;
}

size_t glass_q_bin(const struct glass_shape *s, uint64_t unequal) {
    return (size_t)(unequal * glass_q_bins(s) / (s->sites + 1));
}

size_t glass_curve_size(const struct ergo_point *point, size_t c) {
    const struct glass_shape s = glass_shape_of(point);
    const bool pairs = s.copies > 1;
    const size_t bins = pairs ? glass_q_bins(&s) : 0;
    switch (c) {
    case CURVE_LADDER_ENERGY:
        return s.temperatures;
    case CURVE_LADDER_HEAT:
    case CURVE_LADDER_Q2:
    case CURVE_LADDER_BINDER:
    case CURVE_LADDER_XI:
        return pairs ? s.temperatures : 0;
    case CURVE_LADDER_SWAPS:
        return s.temperatures - 1;
    case CURVE_OVERLAP:
        return bins;
    case CURVE_MOMENTS:
        return GLASS_RESULTS;
    case CURVE_HALVES:
        return 2 * (s.temperatures * (size_t)GLASS_MOMENTS + bins) + ergo_ladder_counts(s.rungs);
    case CURVE_SAMPLES:
        return s.samples * (s.temperatures * (size_t)GLASS_MOMENTS + bins);
    case CURVE_EXCHANGES:
        return s.temperatures > 1 ? s.samples * (size_t)s.temperatures : 0;
    case CURVE_ROUND_TRIPS:
        return s.temperatures > 1;
    case CURVE_LADDER_TEMPERATURES:
        return s.automatic ? s.rungs : 0;
    case CURVE_GLASS_TWO_TIMES:
        return timed_size(point);
    case CURVE_GLASS_CHI4:
        return of_lattice(point)->chi4 ? timed_size(point) : 0;
    default:
        return 0;
    }
}

void glass_curve_x(const struct ergo_point *point, size_t c, double *x) {
    const struct glass_shape s = glass_shape_of(point);
    const size_t size = glass_curve_size(point, c);
    double t[ERGO_LADDER_MAX];
    if ((c == CURVE_GLASS_TWO_TIMES || c == CURVE_GLASS_CHI4) && timed_x(point, x))
        return;
    ergo_ladder_temperatures(point, t);
    for (size_t i = 0; i < size; i++)
        x[i] = c <= CURVE_LADDER_SWAPS ? t[i] : (double)i;
    if (c == CURVE_OVERLAP) {
        /* the mean of the overlaps that fall into a bin; unequal sites from many to few */
        size_t count[130] = {0};
        for (size_t i = 0; i < size; i++)
            x[i] = 0;
        for (uint64_t n = 0; n <= s.sites; n++) {
            const size_t bin = size - 1 - glass_q_bin(&s, n);
            x[bin] += 1 - 2 * (double)n / (double)s.sites;
            count[bin]++;
        }
        for (size_t i = 0; i < size; i++)
            x[i] /= (double)count[i];
    }
}

/* Without negative couplings: the Ising model. */
double glass_exact(const struct ergo_point *point, const char *observable) {
    const struct ergo_value *fraction = &of_lattice(point)->negative_fraction;
    const struct glass_shape s = glass_shape_of(point);
    struct ergo_ising_exact e;
    if (s.d != 2 || !s.signs || s.field || !fraction->present || fraction->real != 0 ||
        strcmp(observable, "energy") != 0 ||
        !ergo_ising_exact_torus(s.lx, s.ly, point->parameters->temperature,
                                of_lattice(point)->coupling.real, &e))
        return NAN;
    return e.energy;
}
