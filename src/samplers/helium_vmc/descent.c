#include "samplers/helium_vmc/descent.h"

#include <math.h>
#include <string.h>

#include "helium/params.h"
#include "samplers/helium/liquid.h"
#include "samplers/helium_vmc/parameters.h"
#include "stats/stats.h"

/* ---- schedule -------------------------------------------------------------------------------- */

struct helium_schedule helium_schedule_of(const struct ergo_point *point) {
    const uint64_t updates = (uint64_t)of_vmc(point)->optimise_updates;
    return (struct helium_schedule){
        .all = ergo_says(of_vmc(point)->optimise, "all"),
        .start = (uint64_t)of_vmc(point)->start_steps,
        .every = (uint64_t)of_vmc(point)->optimise_every,
        .quarter = (updates + 3) / 4,
        .updates = updates,
    };
}

/* A quarter more at the end, for walkers to forget the changes. */
uint64_t helium_schedule_length(const struct helium_schedule *s) {
    return s->start + (3 * s->quarter + s->updates) * s->every;
}

uint64_t helium_event_at(const struct helium_schedule *s, uint64_t step) {
    const uint64_t before = s->start + s->quarter * s->every;
    if (!s->all || step <= before || (step - before) % s->every)
        return 0;
    const uint64_t k = (step - before) / s->every;
    return k <= s->quarter + s->updates ? k : 0;
}

uint64_t helium_event_next(const struct helium_schedule *s, uint64_t step) {
    const uint64_t before = s->start + s->quarter * s->every;
    const uint64_t k = step < before ? 1 : (step - before) / s->every + 1;
    return s->all && k <= s->quarter + s->updates ? before + k * s->every : UINT64_MAX;
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* From where the spline acts: nearer, |psi|^2 of a pair is below exp(-8), and samples would hardly
 * say what it should be. */
static double begin_of(const struct helium_model *m) {
    enum { PARTS = 1024 };
    const double width = (m->half - m->core) / PARTS;
    double u[3];
    int k = PARTS;
    do
        helium_model_pair_u(m, m->core + width * --k, u);
    while (k > 0 && u[0] > -4);
    return m->core + width * k;
}

struct helium_parameters helium_parameters_of(const struct ergo_point *point,
                                              struct helium_model *model) {
    struct helium_parameters which = {
        .b = helium_is_schiff_verlet(point) && model->b > 0,
        .triplet = model->triplet.strength != 0,
        .knots = (unsigned)of_vmc(point)->optimise_knots,
        .core = model->core,
    };
    helium_spline_place(&model->spline, which.knots, begin_of(model), model->half);
    which.count = which.b + which.knots + 3 * which.triplet;
    return which;
}

void helium_parameters_get(const struct helium_parameters *which, const struct helium_model *m,
                           double *p) {
    if (which->b)
        *p++ = m->b;
    for (unsigned k = 0; k < which->knots; k++)
        *p++ = m->spline.c[k];
    if (which->triplet) {
        p[0] = m->triplet.strength;
        p[1] = m->triplet.centre;
        p[2] = m->triplet.width;
    }
}

static double within(double *x, double a, double b) {
    const double low = a < b ? a : b, high = a < b ? b : a;
    *x = *x > low ? *x : low; /* also if it is no number */
    *x = *x < high ? *x : high;
    return *x;
}

/* The limits keep the tables in their range: |u| below 40, functions that pieces of the tables can
 * follow. Nothing sensible comes to them. */
void helium_parameters_set(const struct helium_parameters *which, const double *first, double *p,
                           struct helium_model *m) {
    if (which->b) {
        m->b = within(p++, 0.7 * first[0], 1.3 * first[0]);
        first++;
    }
    for (unsigned k = 0; k < which->knots; k++)
        m->spline.c[k] = within(p + k, -8, 8);
    p += which->knots;
    first += which->knots;
    if (which->triplet) {
        const struct helium_triplet_model before = m->triplet;
        m->triplet.strength = within(p, 1e-6 * first[0], 10 * first[0]);
        m->triplet.centre = within(p + 1, 0, m->triplet.range);
        m->triplet.width = within(p + 2, 0.25 * first[2], 4 * first[2]);
        if (!helium_triplet_bits(&m->triplet, m->n)) { /* G would not fit */
            m->triplet = before;
            p[0] = before.strength;
            p[1] = before.centre;
            p[2] = before.width;
        }
    }
    m->core = which->core; /* whatever the parameters were before */
    helium_model_core(m);
}

/* ---- d ln psi / dp --------------------------------------------------------------------------- */

static double apart(const struct helium_model *m, const int32_t *place, uint32_t i, uint32_t j,
                    double d[3]) {
    double r2 = 0;
    for (uint32_t k = 0; k < 3; k++) {
        const uint32_t a = (uint32_t)place[k * m->n + i], b = (uint32_t)place[k * m->n + j];
        d[k] = (int32_t)(a - b) * (m->side[k] * 0x1p-32);
        r2 += d[k] * d[k];
    }
    return sqrt(r2);
}

/* Pairs: u is proportional to b^5 and to each coefficient. */
static void add_pair(const struct helium_parameters *which, const struct helium_model *m, double r,
                     double *o) {
    double u[3], basis[4][3];
    if (which->b) {
        helium_model_pair_u(m, r, u);
        *o++ += 5 / m->b * u[0];
    }
    if (!which->knots || r <= m->spline.begin)
        return;
    const int first = helium_spline_basis(&m->spline, r, basis);
    for (int i = 0; i < 4; i++)
        if (first + i >= 0 && first + i < (int)which->knots)
            o[first + i] += basis[i][0];
}

/*
 * ln psi = -strength (1/4 sum G^2 - 1/2 sum_{i<j} xi^2 r^2), and of a change dxi of xi
 *     -strength sum_{i<j} dxi (1/2 (G_i - G_j) d_ij - xi r^2).
 * field: [n][3] of memory.
 */
static void add_triplets(const struct helium_model *m, const int32_t *place, double *field,
                         double o[3]) {
    const struct helium_triplet_model *t = &m->triplet;
    double d[3], x[3], squares = 0, pairs = 0;
    memset(field, 0, 3 * m->n * sizeof *field);
    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t j = 0; j < i; j++) {
            const double r = apart(m, place, i, j, d);
            if (r >= t->range)
                continue;
            helium_triplet_xi(t, r, x);
            pairs += x[0] * x[0] * r * r;
            for (uint32_t k = 0; k < 3; k++) {
                field[3 * i + k] += x[0] * d[k];
                field[3 * j + k] -= x[0] * d[k];
            }
        }
    for (uint32_t i = 0; i < 3 * m->n; i++)
        squares += field[i] * field[i];
    o[0] = 0.5 * pairs - 0.25 * squares;
    o[1] = o[2] = 0;
    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t j = 0; j < i; j++) {
            const double r = apart(m, place, i, j, d), z = (r - t->centre) / t->width;
            double along = 0;
            if (r >= t->range)
                continue;
            helium_triplet_xi(t, r, x);
            for (uint32_t k = 0; k < 3; k++)
                along += (field[3 * i + k] - field[3 * j + k]) * d[k];
            const double change = -t->strength * (0.5 * along - x[0] * r * r) * x[0];
            o[1] += change * 2 * z / t->width;
            o[2] += change * 2 * z * z / t->width;
        }
}

void helium_slopes(const struct helium_parameters *which, const struct helium_model *m,
                   const int32_t *place, double *slopes) {
    double d[3], field[3 * HELIUM_TRIPLET_ATOMS];
    memset(slopes, 0, which->count * sizeof *slopes);
    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t j = 0; j < i; j++) {
            const double r = apart(m, place, i, j, d);
            if (r < m->half)
                add_pair(which, m, r < m->core ? m->core : r, slopes);
        }
    if (which->triplet)
        add_triplets(m, place, field, slopes + which->count - 3);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* S is a mean over some ten events. Its diagonal gets this part more, for parameters that do nearly
 * the same. A step's change of ln psi has at most this root mean square. */
static const double memory = 0.1, shift = 1e-2, longest = 0.3;
/* Energies more than so many mean deviations from the mean count as if they were that far off: a
 * walker with two atoms in each other's wall would decide alone. */
static const double farthest = 4;

static uint64_t events_of(const struct helium_schedule *s) {
    return s->quarter + s->updates;
}

size_t helium_descent_size(const struct helium_schedule *s, const struct helium_parameters *which) {
    const size_t count = which->count;
    return s->all ? 3 * count + count * count + 2 * (size_t)events_of(s) : 0;
}

struct helium_descent helium_descent_view(const struct helium_schedule *s,
                                          const struct helium_parameters *which, double *numbers) {
    const size_t count = which->count;
    struct helium_descent d;
    d.first = numbers;
    d.now = d.first + count;
    d.sum = d.now + count;
    d.metric = d.sum + count;
    d.energy = d.metric + count * count;
    d.square = d.energy + events_of(s);
    return d;
}

/* Limit energies. What is far off moves the mean, so once is not enough. */
static void limit(double *energies, uint32_t walkers) {
    for (int pass = 0; pass < 4; pass++) {
        double mean = 0, deviation = 0;
        for (uint32_t w = 0; w < walkers; w++)
            mean += energies[w] / walkers;
        for (uint32_t w = 0; w < walkers; w++)
            deviation += fabs(energies[w] - mean) / walkers;
        const double low = mean - farthest * deviation, high = mean + farthest * deviation;
        for (uint32_t w = 0; w < walkers; w++)
            energies[w] = energies[w] < low ? low : energies[w] < high ? energies[w] : high;
    }
}

/* Means and covariances of the walkers' O with each other and with the energy of all atoms. */
static void covariances(unsigned count, const double *slopes, const double *energies,
                        uint32_t walkers, double n, double *s, double *f) {
    double mean[HELIUM_MOST_PARAMETERS] = {0}, energy = 0;
    for (uint32_t w = 0; w < walkers; w++) {
        energy += energies[w];
        for (unsigned k = 0; k < count; k++)
            mean[k] += slopes[w * count + k];
    }
    energy /= walkers;
    memset(s, 0, (size_t)count * count * sizeof *s);
    memset(f, 0, count * sizeof *f);
    for (unsigned k = 0; k < count; k++)
        mean[k] /= walkers;
    for (uint32_t w = 0; w < walkers; w++)
        for (unsigned k = 0; k < count; k++) {
            const double o = slopes[w * count + k] - mean[k];
            f[k] += o * (energies[w] - energy) * n / walkers;
            for (unsigned l = 0; l <= k; l++)
                s[k * count + l] += o * (slopes[w * count + l] - mean[l]) / walkers;
        }
}

/* x := (S + shift diag S)^-1 x by Cholesky's decomposition of the lower triangle, in units where
 * the diagonal is 1. A parameter without any effect stays. */
static void solve(unsigned count, const double *s, double *x) {
    double a[HELIUM_MOST_PARAMETERS * HELIUM_MOST_PARAMETERS] = {0}, unit[HELIUM_MOST_PARAMETERS];
    for (unsigned k = 0; k < count; k++)
        unit[k] = s[k * count + k] > 0 ? 1 / sqrt(s[k * count + k]) : 0;
    for (unsigned k = 0; k < count; k++) {
        x[k] *= unit[k];
        for (unsigned l = 0; l <= k; l++) {
            double sum = k == l ? 1 + shift : s[k * count + l] * unit[k] * unit[l];
            for (unsigned i = 0; i < l; i++)
                sum -= a[k * count + i] * a[l * count + i];
            a[k * count + l] =
                k == l ? sqrt(sum > shift * shift ? sum : shift * shift) : sum / a[l * count + l];
        }
        for (unsigned i = 0; i < k; i++)
            x[k] -= a[k * count + i] * x[i];
        x[k] /= a[k * count + k];
    }
    for (unsigned k = count; k-- > 0;) {
        for (unsigned i = k + 1; i < count; i++)
            x[k] -= a[i * count + k] * x[i];
        x[k] /= a[k * count + k];
    }
    for (unsigned k = 0; k < count; k++)
        x[k] *= unit[k];
}

/* A step of so much at once would leave the range where ln psi changes as its derivatives say. */
static double largest_of(const struct helium_parameters *which, const double *now, unsigned k) {
    const unsigned triplet = which->b + which->knots;
    if (which->b && k == 0)
        return 0.01 * now[k];
    if (k < triplet)
        return 0.2;
    if (k == triplet)
        return 0.1 * fabs(now[k]);
    return 0.05 * now[triplet + 2]; /* centre and width, of the width */
}

/* The mean square of sum x_k O_k. */
static double square_of(unsigned count, const double *s, const double *x) {
    double sum = 0;
    for (unsigned k = 0; k < count; k++)
        for (unsigned l = 0; l <= k; l++)
            sum += (k == l ? 1 : 2) * x[k] * x[l] * s[k * count + l];
    return sum;
}

bool helium_descend(const struct helium_schedule *schedule, const struct helium_parameters *which,
                    const struct helium_descent *d, uint32_t n, double rate, uint64_t k,
                    const double *slopes, double *energies, uint32_t walkers) {
    const unsigned count = which->count;
    const uint64_t late = schedule->updates - schedule->updates / 2; /* updates before the mean */
    double s[HELIUM_MOST_PARAMETERS * HELIUM_MOST_PARAMETERS], x[HELIUM_MOST_PARAMETERS];
    double energy = 0, square = 0;
    for (uint32_t w = 0; w < walkers; w++) {
        energy += energies[w];
        square += energies[w] * energies[w];
    }
    d->energy[k - 1] = energy / walkers;
    d->square[k - 1] = square / walkers;
    limit(energies, walkers);
    covariances(count, slopes, energies, walkers, n, s, x);
    for (unsigned i = 0; i < count * count; i++)
        d->metric[i] += (k == 1 ? 1 : memory) * (s[i] - d->metric[i]);
    if (k <= schedule->quarter)
        return false;

    solve(count, d->metric, x);
    const double length = rate * sqrt(square_of(count, d->metric, x));
    double factor = length > longest ? longest / length : 1;
    for (unsigned i = 0; i < count; i++) {
        const double largest = largest_of(which, d->now, i);
        if (fabs(factor * rate * x[i]) > largest)
            factor = largest / fabs(rate * x[i]);
    }
    const uint64_t update = k - schedule->quarter;
    for (unsigned i = 0; i < count; i++) {
        d->now[i] -= rate * factor * x[i];
        if (update > late)
            d->sum[i] += d->now[i];
        if (update == schedule->updates && update > late)
            d->now[i] = d->sum[i] / (double)(update - late);
    }
    return true;
}

void helium_descent_before(const struct helium_schedule *s, const struct helium_descent *d,
                           uint32_t walkers, double out[3]) {
    const double events = (double)s->quarter, all = events * walkers;
    double energy = 0, square = 0;
    for (uint64_t k = 0; k < s->quarter; k++) {
        energy += d->energy[k] / events;
        square += d->square[k] / events;
    }
    const double spread = square > energy * energy ? square - energy * energy : 0;
    struct ergo_estimate series;
    ergo_stats_estimate(d->energy, (size_t)s->quarter, &series);
    out[0] = energy;
    /* walkers are independent, events are not; few of them do not tell tau */
    out[1] = sqrt(spread / all * (series.tau > 0.5 ? 2 * series.tau : 1));
    out[2] = sqrt(spread);
}
