/*
 * The critical point of a fluid by mixed-field finite-size scaling. Its order parameter is
 *
 *     M = N - s E,
 *
 * E the energy, and in a cubic box at the critical point M is distributed as the magnetization of
 * the three-dimensional Ising model (A. D. Bruce, N. B. Wilding, Phys. Rev. Lett. 68, 193 (1992);
 * N. B. Wilding, Phys. Rev. E 52, 602 (1995)). Three moments of that distribution say where it is:
 * the third and the fifth vanish, and <m^4>/<m^2>^2 is 3 (1 - 0.46548) (A. M. Ferrenberg, J. Xu, D.
 * P. Landau, Phys. Rev. E 97, 043301 (2018)), m = M - <M>. They determine ln z, s and 1/T.
 *
 * T of larger and larger boxes goes as T_c + a L^-(theta + 1)/nu, and the density there as
 * rho_c + b L^-(3 - 1/nu).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"
#include "stats/fit.h"

enum { UNKNOWNS = 3, ROUNDS = 60 };
enum { LOG_Z, BETA, MIXING };

static const double kurtosis = 3 * (1 - 0.46548), inverse_nu = 1 / 0.62997, omega = 0.83;

struct search {
    const struct ergo_part *part;
    size_t energy, particles; /* rows of the part's values */
    double *weight;
    double step[UNKNOWNS]; /* what moves M's distribution by some hundredth of its width */
};

static void rows_of(const struct search *s, const double *x, double rows[2]) {
    rows[s->energy] = -x[BETA];
    rows[s->particles] = x[LOG_Z];
}

/* What a critical point makes zero, of all samples but a block's; and <N> there. */
static void conditions(const struct search *s, const double *x, size_t without, double *zero,
                       double *particles) {
    const struct ergo_part *part = s->part;
    const struct ergo_mbar *m = &part->mbar;
    double rows[2], sum[6] = {0}, mean = 0, n = 0, all = 0;
    rows_of(s, x, rows);
    (void)ergo_mbar_weights(
        m, without < part->n_blocks ? part->block_log_sum + without * m->n_values : part->log_sum,
        rows, s->weight);
    for (int round = 0; round < 2; round++)
        for (size_t e = 0; e < part->n_entries; e++) {
            const size_t u = part->value_of[e];
            if (part->block_of[e] == without)
                continue;
            const double w = s->weight[u] * part->entry_count[e];
            const double number = m->x[u * m->n_rows + s->particles];
            const double off = number - x[MIXING] * m->x[u * m->n_rows + s->energy];
            if (round == 0) {
                all += w;
                n += w * number;
                mean += w * off;
                continue;
            }
            double power = w / all;
            for (int k = 1; k < 6; k++)
                sum[k] += power *= off - mean / all;
        }
    zero[0] = sum[3] / pow(sum[2], 1.5);
    zero[1] = sum[4] / (sum[2] * sum[2]) - kurtosis;
    zero[2] = sum[5] / pow(sum[2], 2.5);
    *particles = n / all;
}

/* Solves matrix x = right by elimination; false: it is singular. */
static bool eliminate(double matrix[UNKNOWNS][UNKNOWNS], double *right, size_t n) {
    for (size_t c = 0; c < n; c++) {
        size_t best = c;
        for (size_t r = c; r < n; r++)
            best = fabs(matrix[r][c]) > fabs(matrix[best][c]) ? r : best;
        if (!(fabs(matrix[best][c]) > 0))
            return false;
        for (size_t k = 0; k < n; k++) {
            const double swap = matrix[c][k];
            matrix[c][k] = matrix[best][k];
            matrix[best][k] = swap;
        }
        const double swap = right[c];
        right[c] = right[best];
        right[best] = swap;
        for (size_t r = 0; r < n; r++) {
            const double factor = matrix[r][c] / matrix[c][c];
            for (size_t k = c; k < n && r != c; k++)
                matrix[r][k] -= factor * matrix[c][k];
            right[r] -= r != c ? factor * right[c] : 0;
        }
    }
    for (size_t c = 0; c < n; c++)
        right[c] /= matrix[c][c];
    return true;
}

/* The first n conditions by the first n unknowns, by Newton's method in short steps. */
static bool solve(const struct search *s, double *x, size_t n, size_t without, double *particles) {
    for (int round = 0; round < ROUNDS; round++) {
        double zero[UNKNOWNS], now[UNKNOWNS], other, matrix[UNKNOWNS][UNKNOWNS], longest = 0;
        conditions(s, x, without, zero, particles);
        for (size_t c = 0; c < n; c++) {
            const double old = x[c];
            x[c] += s->step[c];
            conditions(s, x, without, now, &other);
            x[c] = old;
            for (size_t r = 0; r < n; r++)
                matrix[r][c] = now[r] - zero[r];
        }
        if (!eliminate(matrix, zero, n))
            return false;
        for (size_t c = 0; c < n; c++)
            longest = fmax(longest, fabs(zero[c]));
        if (!isfinite(longest))
            return false;
        for (size_t c = 0; c < n; c++)
            x[c] -= zero[c] * s->step[c] * fmin(1, 30 / longest);
        if (longest < 1e-4)
            return true;
    }
    return false;
}

/* Steps of the unknowns, from the fluctuations of N and E in all samples. */
static void find_steps(struct search *s) {
    const struct ergo_mbar *m = &s->part->mbar;
    double sum[2] = {0}, squares[2] = {0}, all = 0;
    for (size_t u = 0; u < m->n_values; u++)
        for (int k = 0; k < 2; k++) {
            const double x = m->x[u * m->n_rows + (k ? s->energy : s->particles)];
            sum[k] += m->count[u] * x;
            squares[k] += m->count[u] * x * x;
            all += k ? 0 : m->count[u];
        }
    const double n = sqrt(squares[0] / all - pow(sum[0] / all, 2));
    const double e = sqrt(squares[1] / all - pow(sum[1] / all, 2));
    s->step[LOG_Z] = 0.01 / n;
    s->step[BETA] = 0.01 / e;
    s->step[MIXING] = 0.01 * n / e;
}

static void find(const struct search *s, double volume, struct ergo_critical *c) {
    const struct ergo_part *part = s->part;
    double x[UNKNOWNS] = {0}, value[4 * (ERGO_ANALYSE_BLOCKS + 1)] = {0};
    const double n_states = (double)part->n_states;
    for (size_t k = 0; k < part->n_states; k++) {
        x[LOG_Z] += part->mbar.a[k * part->n_rows + s->particles] / n_states;
        x[BETA] -= part->mbar.a[k * part->n_rows + s->energy] / n_states;
    }
    c->why_not = NULL;
    bool found = true;
    double particles = NAN;
    for (size_t n = 1; n <= UNKNOWNS && found; n++)
        found = solve(s, x, n, SIZE_MAX, &particles);
    double rows[2];
    rows_of(s, x, rows);
    if (!found || !(x[BETA] > 0) ||
        ergo_part_independent(part, rows, s->weight) < ERGO_ANALYSE_INDEPENDENT) {
        c->why_not = "the samples do not reach it: a temperature and an activity where N goes all "
                     "the way from vapour to liquid and back, or a longer run";
        return;
    }
    for (size_t b = 0; b <= part->n_blocks; b++) {
        double at[UNKNOWNS], *to = value + 4 * b;
        memcpy(at, x, sizeof at);
        if (b && !solve(s, at, UNKNOWNS, b - 1, &particles)) {
            c->why_not = "without one block of its samples it is not there: a longer run";
            return;
        }
        to[0] = 1 / at[BETA];
        to[1] = at[LOG_Z];
        to[2] = particles / volume;
        to[3] = at[MIXING];
    }
    c->temperature = ergo_jackknife(value[0], value + 4, part->n_blocks, 4, NULL);
    c->log_activity = ergo_jackknife(value[1], value + 5, part->n_blocks, 4, NULL);
    c->density = ergo_jackknife(value[2], value + 6, part->n_blocks, 4, NULL);
    c->mixing = ergo_jackknife(value[3], value + 7, part->n_blocks, 4, NULL);
}

/* The conjugate of N; the energy's is the first. n_conjugates: there is none. */
static size_t particles_of(const struct ergo_model *model) {
    size_t c = 1;
    while (c < model->n_conjugates &&
           strcmp(model->columns[model->conjugates[c].column].name, "particles") != 0)
        c++;
    return c < model->n_conjugates ? c : model->n_conjugates;
}

static bool find_in(const struct ergo_analysis *a, struct ergo_critical *c) {
    const struct ergo_system *system = &a->systems[c->system];
    const size_t particles = particles_of(a->model);
    c->why_not = "none of its points is long enough";
    for (size_t p = 0; p < system->n_parts && c->why_not; p++) {
        struct search s = {.part = system->parts[p]};
        for (size_t r = 0; r < s.part->n_rows; r++) {
            s.energy = s.part->rows[r] == 0 ? r : s.energy;
            s.particles = s.part->rows[r] == particles ? r : s.particles;
        }
        if (s.part->n_rows != 2 || !s.part->n_blocks)
            continue;
        s.weight = malloc((s.part->mbar.n_values + 1) * sizeof *s.weight);
        if (!s.weight)
            return false;
        find_steps(&s);
        find(&s, pow(c->side, 3), c);
        free(s.weight);
    }
    return true;
}

struct line {
    size_t n;
    const double *x; /* L^-power */
};

static void predict(const double *p, double *predicted, void *user) {
    const struct line *l = user;
    for (size_t i = 0; i < l->n; i++)
        predicted[i] = p[0] + p[1] * l->x[i];
}

/* y in y(L) = y + b L^-power of boxes above a side. False: no memory, or sides do not differ. */
static bool fit_above(const struct ergo_analysis *a, double above, double power, bool density,
                      struct ergo_valued *to, double *chi2) {
    double *room = calloc(3 * a->n_criticals, sizeof *room);
    struct line l = {0, room};
    struct ergo_fit fit = {0};
    double *y = room + a->n_criticals, *error = y + a->n_criticals;
    for (size_t i = 0; room && i < a->n_criticals; i++) {
        const struct ergo_critical *c = &a->criticals[i];
        const struct ergo_valued *v = density ? &c->density : &c->temperature;
        if (c->why_not || !(c->side > above))
            continue;
        room[l.n] = pow(c->side, -power);
        y[l.n] = v->value;
        error[l.n++] = v->error;
    }
    const bool ok = room && ergo_fit_least_squares(predict, &l, y, error, NULL, l.n, 2, &fit);
    *to = (struct ergo_valued){fit.value[0], fit.error[0]};
    *chi2 = fit.chi2;
    free(room);
    return ok;
}

/* Of three boxes and more without the smallest, with what that moves in the error: further
 * corrections hide in a line. chi^2 is that of all. */
static bool extrapolate(const struct ergo_analysis *a, double power, bool density,
                        struct ergo_valued *to, double *chi2) {
    double smallest = INFINITY, none;
    struct ergo_valued without;
    for (size_t i = 0; i < a->n_criticals; i++)
        if (!a->criticals[i].why_not)
            smallest = fmin(smallest, a->criticals[i].side);
    if (!fit_above(a, 0, power, density, to, chi2))
        return false;
    if (fit_above(a, smallest, power, density, &without, &none))
        *to = (struct ergo_valued){without.value, hypot(without.error, without.value - to->value)};
    return true;
}

enum ergo_status ergo_analysis_find_critical(struct ergo_context *ctx, struct ergo_analysis *a) {
    static const char *const species = "/system/species/names";
    size_t n = 0;
    if (particles_of(a->model) == a->model->n_conjugates)
        return ERGO_FAIL(ctx, ERGO_E_JOB,
                         "--critical: samples of %s%s%s have no number of particles that changes; "
                         "it is for lj-fluid with \"ensemble\": \"muvt\", and lj-gcmc",
                         a->job->sampler->name, a->model->name ? " " : "",
                         a->model->name ? a->model->name : "");
    a->criticals = calloc(a->n_systems + 1, sizeof *a->criticals);
    bool ok = a->criticals != NULL;
    for (size_t s = 0; s < a->n_systems && ok; s++) {
        const struct ergo_point *point = a->systems[s].states[0].point;
        double sides[3];
        ergo_point_sides(point, sides);
        const size_t key = ergo_analysis_key(a, species);
        const char *other = key != SIZE_MAX && point->values[key].present
                                ? species
                                : ergo_analysis_confined_by(a, point);
        if (other)
            return ERGO_FAIL(ctx, ERGO_E_JOB,
                             "--critical: it is for one species without walls and fields, and "
                             "%s has %s",
                             a->names[a->systems[s].chains[0].run], other);
        if (sides[0] != sides[1] || sides[0] != sides[2])
            return ERGO_FAIL(ctx, ERGO_E_JOB,
                             "--critical: the box of %s is no cube, and the distribution that is "
                             "looked for is a cube's",
                             a->names[a->systems[s].chains[0].run]);
        a->criticals[s] = (struct ergo_critical){.system = s, .side = sides[0]};
        ok = find_in(a, &a->criticals[a->n_criticals++]);
        n += ok && !a->criticals[s].why_not;
    }
    if (!ok)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a critical point");
    if (n < 2 || (extrapolate(a, omega + inverse_nu, false, &a->critical_temperature,
                              &a->critical_chi2[0]) &&
                  extrapolate(a, 3 - inverse_nu, true, &a->critical_density, &a->critical_chi2[1])))
        a->critical_sizes = n;
    return n == 2 ? ergo_analysis_note(ctx, a,
                                       "the infinite box is a line through two boxes: its errors "
                                       "are of the noise alone; a third box shows what further "
                                       "corrections move")
                  : ERGO_OK;
}
