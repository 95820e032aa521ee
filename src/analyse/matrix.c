/*
 * Two phases from a transition matrix in N. Runs with a fixed N measure with which probability an
 * insertion, and a deletion, would be accepted: Pi(N + 1)/Pi(N) = p_insertion(N)/p_deletion(N + 1)
 * (J. R. Errington, J. Chem. Phys. 118, 9915 (2003)). ln Pi(N) at another activity is ln Pi(N) + N
 * ln(z'/z). At coexistence the two peaks weigh the same; a phase's density is <N>/V over its peak,
 * and P V = T ln(sum of its Pi(N)/Pi(0)). Runs of one matrix have one box and one potential.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"

enum { ROUNDS = 8, STEPS = 60 };
/* ln of a peak over the valley, at least; and how far ln Pi has to have fallen at the last N. */
static const double valley_least = 1, end_least = 5;
/* The least share of displacements: with fewer accepted a window of so many particles and more
 * keeps its start, and no error shows it. (Fewer particles are placed anew by a few moves.) */
static const double moved_least = 0.01;
static const size_t many = 8;

size_t ergo_analysis_named(const struct ergo_analysis *a, const char *name) {
    for (size_t o = 0; o < a->model->n_observables; o++)
        if (strcmp(a->model->observables[o].name, name) == 0)
            return o;
    return SIZE_MAX;
}

double ergo_analysis_log_activity(const struct ergo_analysis *a, const struct ergo_point *point) {
    const double beta_mu = ergo_analysis_number(a, point, "/system/beta_mu"),
                 mu = ergo_analysis_number(a, point, "/system/mu");
    if (!isnan(beta_mu))
        return beta_mu;
    if (!isnan(mu))
        return mu / ergo_analysis_number(a, point, "/system/temperature") -
               3 * log(ergo_analysis_number(a, point, "/system/lambda"));
    return log(ergo_analysis_number(a, point, "/system/activity"));
}

/* In what the windows of one matrix may differ: in N, in how they move, and in what a place has. */
static const char *const not_of_matrix[] = {"/system/particles",
                                            "/system/start",
                                            "/system/max_displacement",
                                            "/system/tune_steps",
                                            "/system/activity",
                                            "/system/beta_mu",
                                            "/system/mu",
                                            "/system/lambda",
                                            "/system/temperature",
                                            NULL};

/* Where a state belongs: its box and potential, temperature and ln z. Two states may be in one
 * place: runs with other steps. */
struct place {
    const struct ergo_system *system;
    size_t state;
    double volume, temperature, log_activity;
    size_t model; /* of those with equal boxes and potentials the first */
    size_t n;
};

static bool same_matrix(const struct place *a, const struct place *b) {
    return a->model == b->model && a->temperature == b->temperature &&
           a->log_activity == b->log_activity;
}

static int by_place(const void *left, const void *right) {
    const struct place *a = left, *b = right;
    if (a->temperature != b->temperature)
        return a->temperature < b->temperature ? -1 : 1;
    if (a->log_activity != b->log_activity)
        return a->log_activity < b->log_activity ? -1 : 1;
    if (a->volume != b->volume)
        return a->volume < b->volume ? -1 : 1;
    if (a->model != b->model)
        return a->model < b->model ? -1 : 1;
    return (a->n > b->n) - (a->n < b->n);
}

static const struct ergo_point *point_of(const struct place *of) {
    return of->system->states[of->state].point;
}

static double volume_of(const struct ergo_point *point) {
    double sides[3];
    ergo_point_sides(point, sides);
    return sides[0] * sides[1] * sides[2];
}

/* Of a file `start` the job does not say N, but the density does. */
static size_t number_of(const struct ergo_analysis *a, const struct place *of) {
    const struct ergo_point *point = point_of(of);
    const size_t density = ergo_analysis_named(a, "density");
    const struct ergo_chain *chain = &of->system->chains[of->system->states[of->state].first];
    double n = ergo_analysis_number(a, point, "/system/particles");
    if (ergo_point_value(point, "/system/start")->present)
        n = floor(chain->member->observables[density].estimate.mean * of->volume + 0.5);
    return n > 0 ? (size_t)n : 0;
}

static struct place *places(const struct ergo_analysis *a, size_t *count) {
    struct place *list;
    *count = 0;
    for (size_t s = 0; s < a->n_systems; s++)
        *count += a->systems[s].n_states;
    list = calloc(*count + 1, sizeof *list);
    *count = 0;
    for (size_t s = 0; list && s < a->n_systems; s++)
        for (size_t k = 0; k < a->systems[s].n_states; k++) {
            const struct ergo_point *point = a->systems[s].states[k].point;
            struct place *to = &list[*count];
            *to = (struct place){
                .system = &a->systems[s],
                .state = k,
                .volume = volume_of(point),
                .temperature = ergo_analysis_number(a, point, "/system/temperature"),
                .log_activity = ergo_analysis_log_activity(a, point),
                .model = *count,
            };
            to->n = number_of(a, to);
            for (size_t i = 0; i < *count && to->model == *count; i++)
                if (list[i].model == i &&
                    ergo_analysis_alike(a, point_of(&list[i]), point, not_of_matrix))
                    to->model = i;
            ++*count;
        }
    if (list)
        qsort(list, *count, sizeof *list, by_place);
    return list;
}

/* ---- ln Pi(N) ---------------------------------------------------------------------------------
 */

/* Mean over the chains of the states of a place, which have one N. Probabilities decorrelate within
 * a few samples. Where a chain is too short for an error that can be shown, its error by binning
 * still serves in a sum over hundreds of steps, or the scatter of the chains, if that is more;
 * *unresolved (or NULL) is set. Constants are those of no and of one particle. */
static struct ergo_valued mean_of(const struct place *of, size_t states, size_t observable,
                                  bool *unresolved) {
    struct ergo_valued v = {0, 0};
    double n = 0, scatter = 0, errors = 0;
    bool short_of = false;
    for (size_t s = 0; s < states; s++)
        n += (double)of[s].system->states[of[s].state].count;
    for (size_t s = 0; s < states; s++) {
        const struct ergo_state *state = &of[s].system->states[of[s].state];
        for (size_t c = state->first; c < state->first + state->count; c++) {
            const struct ergo_estimate *e =
                &of[s].system->chains[c].member->observables[observable].estimate;
            const double error = isfinite(e->error) ? e->error : e->error_binning;
            v.value += e->mean / n;
            errors += e->constant ? 0 : error * error / (n * n);
            short_of = short_of || (!e->constant && !isfinite(e->error));
        }
    }
    for (size_t s = 0; s < states; s++) {
        const struct ergo_state *state = &of[s].system->states[of[s].state];
        for (size_t c = state->first; c < state->first + state->count; c++) {
            const double x = of[s].system->chains[c].member->observables[observable].estimate.mean;
            scatter += (x - v.value) * (x - v.value) / (n * (n - 1));
        }
    }
    v.error = sqrt(!isfinite(errors)               ? scatter
                   : short_of && isfinite(scatter) ? fmax(errors, scatter)
                                                   : errors);
    if (unresolved)
        *unresolved = *unresolved || short_of;
    return v;
}

/* How many states have the N of the first one. */
static size_t states_of(const struct place *of, size_t left) {
    size_t states = 1;
    while (states < left && of[states].n == of->n)
        states++;
    return states;
}

/* ln Pi up to a constant, and the error of each step from N to N + 1, of so many states. False: no
 * memory. */
static bool fill(const struct ergo_analysis *a, const struct place *of, size_t states,
                 struct ergo_matrix *m) {
    const size_t rise = ergo_analysis_named(a, "insertion_probability"),
                 fall = ergo_analysis_named(a, "deletion_probability"),
                 moved = ergo_analysis_named(a, "acceptance_displacement");
    struct ergo_valued before = {0, 0};
    bool short_before = false;
    m->point = point_of(of);
    m->volume = of->volume;
    m->temperature = of->temperature;
    m->log_activity = of->log_activity;
    m->first = of->n;
    m->count = of[states - 1].n - of->n + 1;
    m->log_pi = calloc(m->count, sizeof(double));
    m->step_error = calloc(m->count, sizeof(double));
    if (!m->log_pi || !m->step_error)
        return false;
    for (size_t k = 0, s = 0, same; k < m->count; k++, s += same) {
        same = states_of(of + s, states - s);
        const struct place *at = of + s;
        m->unmoved += at->n >= many && mean_of(at, same, moved, NULL).value < moved_least;
        if (k) {
            bool unresolved = short_before;
            const struct ergo_valued p = mean_of(at, same, fall, &unresolved);
            m->unresolved += unresolved;
            m->log_pi[k] = m->log_pi[k - 1] + log(before.value / p.value);
            m->step_error[k - 1] = hypot(before.error / before.value, p.error / p.value);
        }
        short_before = false;
        before = mean_of(at, same, rise, &short_before);
    }
    return true;
}

/* ---- two phases -------------------------------------------------------------------------------
 */

/* Sums over the N of one side of `split`, at ln z increased by `shift`: ln of the weight, and
 * <N>. `bent`: from this step on ln Pi is higher by `by`. */
struct side {
    double log_weight, mean;
};

static double at(const struct ergo_matrix *m, size_t k, double shift, size_t bent, double by) {
    return m->log_pi[k] + (double)(m->first + k) * shift + (k > bent ? by : 0);
}

static struct side side_of(const struct ergo_matrix *m, size_t from, size_t to, double shift,
                           size_t bent, double by) {
    double most = -INFINITY, weight = 0, sum = 0;
    for (size_t k = from; k < to; k++)
        most = fmax(most, at(m, k, shift, bent, by));
    for (size_t k = from; k < to; k++) {
        const double w = exp(at(m, k, shift, bent, by) - most);
        weight += w;
        sum += w * (double)(m->first + k);
    }
    return (struct side){weight > 0 ? most + log(weight) : -INFINITY, sum / weight};
}

/* The shift at which both sides weigh the same. */
static double balance(const struct ergo_matrix *m, size_t split, size_t bent, double by) {
    double low = -50, high = 50;
    for (int i = 0; i < STEPS; i++) {
        const double middle = 0.5 * (low + high);
        const double below = side_of(m, 0, split, middle, bent, by).log_weight;
        const double above = side_of(m, split, m->count, middle, bent, by).log_weight;
        *(above > below ? &high : &low) = middle;
    }
    return 0.5 * (low + high);
}

static size_t extreme(const struct ergo_matrix *m, size_t from, size_t to, double shift,
                      double sign) {
    size_t best = from;
    for (size_t k = from; k < to; k++)
        if (sign * at(m, k, shift, SIZE_MAX, 0) > sign * at(m, best, shift, SIZE_MAX, 0))
            best = k;
    return best;
}

/* What is told of a shift: its own value, densities of both phases, pressure. */
enum { SHIFT, VAPOUR, LIQUID, PRESSURE, VALUES };

static void values(const struct ergo_matrix *m, size_t split, size_t bent, double by, double *v) {
    v[SHIFT] = balance(m, split, bent, by);
    const struct side below = side_of(m, 0, split, v[SHIFT], bent, by);
    const struct side above = side_of(m, split, m->count, v[SHIFT], bent, by);
    v[VAPOUR] = below.mean / m->volume;
    v[LIQUID] = above.mean / m->volume;
    v[PRESSURE] =
        m->first ? NAN
                 : m->temperature / m->volume * (below.log_weight - at(m, 0, v[SHIFT], bent, by));
}

/*
 * What a phase's density lacks of the N beyond an end of the range. ln Pi is concave there, so
 * beyond the end Pi falls at least as fast as over the last steps, by a factor q each: of the
 * peak's weight w at most Pi(end) q/(1 - q) is missing, at a distance of 1/(1 - q) from the end on
 * average.
 */
static double missing_at(const struct ergo_matrix *m, bool last, const struct side *of,
                         double shift) {
    enum { LAST_STEPS = 4 }; /* one alone may be noise */
    const size_t end = last ? m->count - 1 : 0, inner = last ? end - LAST_STEPS : LAST_STEPS;
    const double here = at(m, end, shift, SIZE_MAX, 0);
    const double q = exp((here - at(m, inner, shift, SIZE_MAX, 0)) / LAST_STEPS);
    const double weight = exp(here - of->log_weight) * q / (1 - q), sign = last ? 1 : -1;
    return q < 1 ? weight * ((double)(m->first + end) + sign / (1 - q) - of->mean) / m->volume
                 : sign * INFINITY;
}

static void find_missing(struct ergo_matrix *m, size_t split, const double *v) {
    const struct side below = side_of(m, 0, split, v[SHIFT], SIZE_MAX, 0);
    const struct side above = side_of(m, split, m->count, v[SHIFT], SIZE_MAX, 0);
    m->missing[0] = m->first ? missing_at(m, false, &below, v[SHIFT]) : 0;
    m->missing[1] = missing_at(m, true, &above, v[SHIFT]);
}

static void find(struct ergo_matrix *m) {
    double v[VALUES], variance[VALUES] = {0};
    size_t split = m->count / 3 + 1, peaks[2] = {0, 0};
    m->why_not = "ln Pi(N) needs more than eight N, one after the other";
    if (m->count < 8)
        return;
    m->why_not =
        "particles hardly move: fewer than 1% of the displacements of some N are accepted; "
        "give /system/max_displacement, or a smaller one";
    if (m->unmoved)
        return;
    for (int i = 0; i < ROUNDS; i++) {
        const double shift = balance(m, split, SIZE_MAX, 0);
        peaks[0] = extreme(m, 0, split, shift, 1);
        peaks[1] = extreme(m, split, m->count, shift, 1);
        split = extreme(m, peaks[0], peaks[1] + 1, shift, -1);
        split = split < 1 ? 1 : split;
    }
    values(m, split, SIZE_MAX, 0, v);
    const double valley = at(m, split, v[SHIFT], SIZE_MAX, 0);
    m->barrier =
        fmin(at(m, peaks[0], v[SHIFT], SIZE_MAX, 0), at(m, peaks[1], v[SHIFT], SIZE_MAX, 0)) -
        valley;
    m->why_not = "no two phases among these N: ln Pi(N) has no second peak at any activity";
    if (!(m->barrier >= valley_least))
        return;
    m->why_not = "the last N is not beyond the liquid's peak: scan particles further";
    if (at(m, peaks[1], v[SHIFT], SIZE_MAX, 0) - at(m, m->count - 1, v[SHIFT], SIZE_MAX, 0) <
        end_least)
        return;
    m->why_not = "the first N is not before the vapour's peak: scan particles from 0";
    if (m->first &&
        at(m, peaks[0], v[SHIFT], SIZE_MAX, 0) - at(m, 0, v[SHIFT], SIZE_MAX, 0) < end_least)
        return;
    m->why_not = NULL;
    if (m->first)
        m->no_pressure = "none, because it takes Pi(0): scan particles from 0, one after the other";
    find_missing(m, split, v);
    for (size_t k = 0; k + 1 < m->count; k++) {
        double moved[VALUES];
        values(m, split, k, isfinite(m->step_error[k]) ? m->step_error[k] : 0, moved);
        for (int i = 0; i < VALUES; i++)
            variance[i] += isfinite(m->step_error[k]) ? (moved[i] - v[i]) * (moved[i] - v[i]) : NAN;
    }
    m->split = (double)(m->first + split);
    m->log_coexistence = (struct ergo_valued){m->log_activity + v[SHIFT], sqrt(variance[SHIFT])};
    m->density[0] = (struct ergo_valued){v[VAPOUR], sqrt(variance[VAPOUR])};
    m->density[1] = (struct ergo_valued){v[LIQUID], sqrt(variance[LIQUID])};
    m->pressure = (struct ergo_valued){v[PRESSURE], sqrt(variance[PRESSURE])};
}

/* The box and potential of a matrix, where others have another: "box 5 x 5 x 5". */
static bool label(const struct ergo_analysis *a, struct ergo_matrix *m) {
    struct ergo_text text = {0};
    for (size_t k = 0; k < a->job->n_keys; k++) {
        bool differs = false;
        for (size_t i = 0; i < a->n_matrices && !differs; i++)
            differs = ergo_analysis_differs(a, m->point, a->matrices[i].point, k, not_of_matrix);
        if (differs)
            ergo_analysis_append_value(a, &text, m->point, k);
    }
    const bool ok = !text.failed;
    snprintf(m->label, sizeof m->label, "%s", text.data ? text.data : "");
    ergo_text_free(&text);
    return ok;
}

enum ergo_status ergo_analysis_matrix(struct ergo_context *ctx, struct ergo_analysis *a) {
    size_t count = 0;
    struct place *list = NULL;
    bool ok = true;
    const size_t rise = ergo_analysis_named(a, "insertion_probability");
    if (rise == SIZE_MAX || !a->n_systems ||
        !ergo_observable_shown(&a->model->observables[rise], a->systems[0].states[0].point))
        return ERGO_OK;
    list = places(a, &count);
    a->matrices = calloc(count + 1, sizeof *a->matrices);
    ok = list && a->matrices;
    for (size_t k = 0, end; ok && k < count; k = end) {
        for (end = k + 1; end < count && same_matrix(&list[end], &list[k]) &&
                          list[end].n <= list[end - 1].n + 1;)
            end++;
        struct ergo_matrix *m = &a->matrices[a->n_matrices++];
        if (end < count && same_matrix(&list[end], &list[k]))
            m->gap = list[end - 1].n + 1;
        ok = fill(a, list + k, end - k, m);
        if (ok)
            find(m);
    }
    for (size_t i = 0; i < a->n_matrices && ok; i++)
        ok = label(a, &a->matrices[i]);
    free(list);
    return ok ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for ln Pi(N)");
}

void ergo_matrix_free(struct ergo_matrix *m) {
    free(m->log_pi);
    free(m->step_error);
}
