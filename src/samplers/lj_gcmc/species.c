/*
 * Mixtures: species with a pair potential each, and the rules of Lorentz and Berthelot, or other
 * values, between them. A particle's species is in the last bits of its x: cl/lj_gcmc/params.h.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "job/xyz.h"
#include "samplers/lj_gcmc/lj.h"

bool lj_has_species(const struct ergo_point *point) {
    return of_lj(point)->species_names.present;
}

uint32_t lj_species_names(const struct ergo_point *point,
                          char names[LJ_MOST_SPECIES][ERGO_XYZ_NAME]) {
    const char *text = of_lj(point)->species_names.text;
    uint32_t n = 0;
    memset(names, 0, LJ_MOST_SPECIES * sizeof *names);
    while (*(text += strspn(text, " "))) {
        const size_t length = strcspn(text, " ");
        if (n < LJ_MOST_SPECIES && length < ERGO_XYZ_NAME)
            memcpy(names[n], text, length);
        n++;
        text += length;
    }
    return n;
}

uint32_t lj_species_number(const struct ergo_point *point) {
    char names[LJ_MOST_SPECIES][ERGO_XYZ_NAME];
    const uint32_t n = lj_has_species(point) ? lj_species_names(point, names) : 0;
    return n < LJ_MOST_SPECIES ? n : LJ_MOST_SPECIES; /* more are refused */
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* The place of a pair of unlike species in a list: 1-2, 1-3, ..., 2-3, ... */
static int place_of(uint32_t n, uint32_t a, uint32_t b) {
    int place = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++, place++)
            if ((i == a && j == b) || (i == b && j == a))
                return place;
    return -1;
}

void lj_species_of(const struct ergo_point *point, struct lj_system *s) {
    if (!lj_has_species(point))
        return;
    struct lj_species *of = &s->species;
    const struct ergo_value *epsilon = &of_lj(point)->species_epsilon,
                            *sigma = &of_lj(point)->species_sigma,
                            *share = &of_lj(point)->species_fractions,
                            *activity = &of_lj(point)->species_activity,
                            *epsilons = &of_lj(point)->species_pair_epsilon,
                            *sigmas = &of_lj(point)->species_pair_sigma;
    const bool scaled = of_lj(point)->species_cutoff_in_sigma;
    const double cutoff = of_lj(point)->cutoff.real;
    of->n = lj_species_number(point);
    of->n += of->n == 0; /* refused, too */
    s->epsilon = s->cutoff = 0;
    for (uint32_t a = 0; a < of->n; a++) {
        of->share[a] = share->present ? share->reals[a] : 0;
        of->activity[a] = activity->present ? activity->reals[a] : 0;
        for (uint32_t b = 0; b < of->n; b++) {
            const int at = place_of(of->n, a, b);
            double *e = &of->epsilon[a][b], *d = &of->sigma[a][b];
            *e = a == b              ? epsilon->reals[a]
                 : epsilons->present ? epsilons->reals[at]
                                     : sqrt(epsilon->reals[a] * epsilon->reals[b]);
            *d = a == b            ? sigma->reals[a]
                 : sigmas->present ? sigmas->reals[at]
                                   : (sigma->reals[a] + sigma->reals[b]) / 2;
            of->cutoff[a][b] = scaled ? cutoff * *d : cutoff;
            s->epsilon = fmax(s->epsilon, *e);
            s->cutoff = fmax(s->cutoff, of->cutoff[a][b]);
        }
    }
    s->sigma = of->sigma[0][0];
    const uint32_t particles = lj_box_particles(point, 0);
    /* as they are, in whole particles; two boxes each round the given ones */
    if (particles && share->present && lj_boxes_of(point) == 1) {
        uint32_t numbers[LJ_MOST_SPECIES];
        lj_species_split(s, particles, numbers);
        for (uint32_t a = 0; a < of->n; a++)
            of->share[a] = (double)numbers[a] / particles;
    }
}

struct lj_system lj_species_pair(const struct lj_system *s, uint32_t a, uint32_t b) {
    struct lj_system pair = *s;
    pair.species.n = 0;
    pair.epsilon = s->species.epsilon[a][b];
    pair.sigma = s->species.sigma[a][b];
    pair.cutoff = s->species.cutoff[a][b];
    pair.unit = 4 * pair.epsilon;
    return pair;
}

static void rule_of(const struct lj_system *s, uint32_t a, uint32_t b, struct lj_rule *rule) {
    const struct lj_system pair = lj_species_pair(s, a, b);
    const double ratio = pair.sigma / s->sigma, cutoff = pair.cutoff / s->sigma;
    const double shell = lj_contact_width(&pair) / s->sigma;
    if (pair.epsilon == 0)
        return;
    const double strength = pair.unit / s->unit;
    const struct lj_jump jump = lj_jump_of(&pair);
    rule->inverse = (float)(1 / (ratio * ratio));
    rule->strength = (float)(strength * 0x1p30);
    rule->core2 = (float)(lj_core2(&pair) * ratio * ratio);
    rule->cutoff2 = (float)(cutoff * cutoff);
    for (int k = 0; k < 2; k++)
        rule->contact2[k] = (float)((cutoff - (k + 1) * shell) * (cutoff - (k + 1) * shell));
    rule->outer = (int64_t)floor(jump.outer / lj_virial_of(s, 1) + 0.5);
    rule->inner = (int64_t)floor(jump.inner / lj_virial_of(s, 1) + 0.5);
    if (s->shifted)
        rule->shift = (int64_t)floor(lj_pair_at_cutoff(&pair) * strength * 0x1p30 + 0.5);
}

void lj_mixture_of(const struct ergo_point *point, const struct lj_system *s,
                   const struct lj_member *m, struct lj_mixture *mixture) {
    const uint32_t n = s->species.n;
    memset(mixture, 0, sizeof *mixture);
    for (uint32_t a = 0; a < n; a++) {
        for (uint32_t b = 0; b < n; b++) {
            const struct lj_system pair = lj_species_pair(s, a, b);
            rule_of(s, a, b, &mixture->pairs[LJ_MOST_SPECIES * a + b]);
            if (s->tail)
                mixture->tail[LJ_MOST_SPECIES * a + b] =
                    (float)(lj_tail_coefficient(&pair) / s->volume / s->temperature);
        }
        mixture->zv[a] = (float)((double)m->zv * s->species.activity[a] * n);
    }
    if (s->ensemble == LJ_MUVT)
        mixture->identity =
            (uint32_t)fmin(0xffffffff, of_lj(point)->species_identity_changes * 0x1p32);
}

double lj_species_core2(const struct lj_system *s) {
    double core2 = 0;
    for (uint32_t a = 0; a < s->species.n; a++)
        for (uint32_t b = 0; b < s->species.n; b++) {
            const struct lj_system pair = lj_species_pair(s, a, b);
            const double ratio = pair.sigma / s->sigma;
            core2 = fmax(core2, lj_core2(&pair) * ratio * ratio);
        }
    return core2;
}

bool lj_jumps_beyond_sigma(const struct lj_system *s) {
    bool beyond = s->species.n > 0 || s->cutoff >= s->sigma;
    for (uint32_t a = 0; a < s->species.n; a++)
        for (uint32_t b = 0; b < s->species.n; b++)
            beyond = beyond && s->species.cutoff[a][b] >= s->species.sigma[a][b];
    return beyond;
}

/* ---- tails ----------------------------------------------------------------------------------- */

double lj_species_tail(const struct lj_system *s, const double *numbers) {
    double sum = 0;
    for (uint32_t a = 0; a < s->species.n; a++)
        for (uint32_t b = 0; b < s->species.n; b++) {
            const struct lj_system pair = lj_species_pair(s, a, b);
            sum += numbers[a] * numbers[b] * lj_tail_coefficient(&pair);
        }
    return sum;
}

double lj_tail_of(const struct lj_system *s, uint32_t n, const uint32_t *numbers) {
    double real[LJ_MOST_SPECIES];
    if (!s->species.n || !s->tail)
        return lj_tail_energy(s, n);
    for (int k = 0; k < LJ_MOST_SPECIES; k++)
        real[k] = numbers[k];
    return lj_species_tail(s, real) / s->volume;
}

/* ---- particles ------------------------------------------------------------------------------- */

void lj_species_split(const struct lj_system *s, uint32_t n, uint32_t numbers[LJ_MOST_SPECIES]) {
    double before = 0, sum = 0;
    memset(numbers, 0, LJ_MOST_SPECIES * sizeof *numbers);
    for (uint32_t k = 0; k < s->species.n; k++) {
        sum = k + 1 == s->species.n ? 1 : sum + s->species.share[k];
        const double end = fmax(before, floor(fmin(sum, 1) * n + 0.5 + 1e-9));
        numbers[k] = (uint32_t)(fmin(end, n) - before);
        before = fmin(end, n);
    }
}

static void set_species(uint32_t *word, uint32_t species) {
    *word = (*word & ~LJ_SPECIES_MASK) | species;
}

/* Each next particle is of the species that lacks most, so that they are spread over a lattice. */
void lj_species_assign(const struct lj_system *s, uint32_t n, uint32_t *words) {
    uint32_t numbers[LJ_MOST_SPECIES], placed[LJ_MOST_SPECIES] = {0};
    lj_species_split(s, n, numbers);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t next = 0;
        double most = -INFINITY;
        for (uint32_t k = 0; k < s->species.n; k++) {
            const double lack = (double)numbers[k] * (i + 1.0) / n - placed[k];
            if (placed[k] < numbers[k] && lack > most) {
                most = lack;
                next = k;
            }
        }
        placed[next]++;
        set_species(&words[3 * (size_t)i], next);
    }
}

bool lj_species_count(const struct lj_system *s, const uint32_t *words, uint32_t n,
                      uint32_t numbers[LJ_MOST_SPECIES]) {
    bool known = true;
    memset(numbers, 0, LJ_MOST_SPECIES * sizeof *numbers);
    for (uint32_t i = 0; i < n && s->species.n; i++) {
        const uint32_t species = words[3 * (size_t)i] & LJ_SPECIES_MASK;
        known = known && species < s->species.n;
        numbers[species]++;
    }
    return known;
}

/* Of a file: where N is fixed, the job says how many there are of each. */
static enum ergo_status check_numbers(struct ergo_context *ctx, const struct ergo_point *point,
                                      const struct lj_system *s, const uint32_t *words,
                                      uint32_t n) {
    char names[LJ_MOST_SPECIES][ERGO_XYZ_NAME];
    uint32_t found[LJ_MOST_SPECIES], wanted[LJ_MOST_SPECIES];
    lj_species_names(point, names);
    lj_species_count(s, words, n, found);
    lj_species_split(s, n, wanted);
    for (uint32_t k = 0; k < s->species.n && !lj_is_open(point); k++) {
        if (found[k] != wanted[k])
            return ERGO_FAIL(ctx, ERGO_E_JOB,
                             "/system/species/fractions: of %u particles %u are of species %s, but "
                             "%s has %u, and N is fixed",
                             n, wanted[k], names[k], of_particle(point)->start.text, found[k]);
        /* volume moves weigh the tails of these fractions */
        if (s->ensemble == LJ_NPT && s->tail && fabs(s->species.share[k] * n - found[k]) > 1e-6)
            return ERGO_FAIL(ctx, ERGO_E_JOB,
                             "/system/species/fractions: %.10g of species %s, but %s has %u of %u "
                             "particles: with a tail correction it has to be %.10g",
                             s->species.share[k], names[k], of_particle(point)->start.text,
                             found[k], n, (double)found[k] / n);
    }
    return ERGO_OK;
}

enum ergo_status lj_species_read(struct ergo_context *ctx, const struct ergo_point *point,
                                 const struct lj_system *s, const struct ergo_xyz *frame,
                                 uint32_t *words) {
    char names[LJ_MOST_SPECIES][ERGO_XYZ_NAME];
    uint32_t number[ERGO_XYZ_SPECIES + 1];
    lj_species_names(point, names);
    for (size_t k = 0; k < frame->n_species; k++) {
        number[k] = 0;
        while (k < ERGO_XYZ_SPECIES && number[k] < s->species.n &&
               strcmp(names[number[k]], frame->names[k]) != 0)
            number[k]++;
        if (k == ERGO_XYZ_SPECIES || number[k] == s->species.n)
            return ERGO_FAIL(ctx, ERGO_E_JOB,
                             "/system/start: species %zu of %s, in the order in which they come "
                             "first, has no interactions: /system/species/names are \"%s\"",
                             k + 1, of_particle(point)->start.text,
                             of_lj(point)->species_names.text);
    }
    for (size_t i = 0; i < frame->n; i++)
        set_species(&words[3 * i], number[frame->species[i]]);
    return check_numbers(ctx, point, s, words, (uint32_t)frame->n);
}

/* ---- of a batch ------------------------------------------------------------------------------ */

void lj_species_fill(struct lj_state *s) {
    for (size_t i = 0; s->system.species.n && i < lj_chains(s); i++) {
        const struct ergo_point *point = s->e.batch->points[i / s->boxes];
        const struct lj_system system = lj_box_system(point, i % s->boxes);
        const size_t at = s->tables.rows_at + i * (LJ_MIXTURE_BYTES / 16);
        struct lj_mixture mixture;
        lj_mixture_of(point, &system, &s->members[i], &mixture);
        memcpy(s->tables.words + 4 * at, &mixture, sizeof mixture);
        s->members[i].mixture = (uint32_t)at;
    }
}

/* ---- checks -----------------------------------------------------------------------------------
 */

static enum ergo_status check_names(struct ergo_context *ctx, const struct ergo_point *point,
                                    uint32_t *n) {
    static const char key[] = "/system/species/names";
    char names[LJ_MOST_SPECIES][ERGO_XYZ_NAME];
    *n = lj_species_names(point, names);
    if (*n < 2 || *n > LJ_MOST_SPECIES)
        return ergo_job_error(ctx, key,
                              "%u names; a mixture has 2 to %d species, whose names are words with "
                              "blanks between them: \"A B\"",
                              *n, LJ_MOST_SPECIES);
    for (uint32_t a = 0; a < *n; a++) {
        if (!names[a][0])
            return ergo_job_error(ctx, key, "a name has more than %d letters", ERGO_XYZ_NAME - 1);
        for (const char *c = names[a]; *c; c++)
            if (!isgraph((unsigned char)*c) || *c == '"')
                return ergo_job_error(ctx, key,
                                      "name %u has a sign that files of configurations cannot have "
                                      "in a name",
                                      a + 1);
        for (uint32_t b = 0; b < a; b++)
            if (strcmp(names[a], names[b]) == 0)
                return ergo_job_error(ctx, key, "two species have the name \"%s\"", names[a]);
    }
    return ERGO_OK;
}

/* A list with one number for each species, or for each pair of unlike ones. */
static enum ergo_status check_list(struct ergo_context *ctx, const struct ergo_value *value,
                                   const char *key, bool wanted, int n, const char *what) {
    if (!value->present && !wanted)
        return ERGO_OK;
    if (!value->present)
        return ergo_job_error(ctx, key, "missing: it has a number for each of the %d species", n);
    if (n == 6)
        return ergo_job_error(ctx, key,
                              "not with 4 species, whose pairs follow from their own "
                              "values: leave it out");
    return value->items == n
               ? ERGO_OK
               : ergo_job_error(ctx, key, "%d numbers; there are %d %s", value->items, n, what);
}

static enum ergo_status check_fractions(struct ergo_context *ctx, const struct ergo_point *point,
                                        int n) {
    static const char key[] = "/system/species/fractions";
    const struct ergo_value *value = &of_lj(point)->species_fractions;
    double sum = 0;
    if (check_list(ctx, value, key, lj_species_needs_fractions(point), n, "species") != ERGO_OK)
        return ERGO_E_JOB;
    for (int k = 0; k < value->items; k++)
        sum += value->reals[k];
    return !value->present || fabs(sum - 1) < 1e-9
               ? ERGO_OK
               : ergo_job_error(ctx, key, "their sum is %.10g, and has to be 1", sum);
}

bool lj_species_needs_fractions(const struct ergo_point *point) {
    return lj_has_species(point) &&
           (!lj_is_open(point) || (lj_particles_of(point) > 0 && !lj_start_file(point)));
}

/* What mixtures are not built for. */
static enum ergo_status check_others(struct ergo_context *ctx, const struct ergo_point *point,
                                     const struct lj_system *s) {
    enum ergo_status status = ERGO_OK;
    if (s->mie || lj_is_table(point))
        status = ergo_job_error(ctx, "/system/potential",
                                "species have Lennard-Jones potentials alone: leave it out");
    if (s->period)
        status =
            ergo_job_error(ctx, "/system/decomposition", "not with /system/species: leave it out");
    if (lj_is_matrix(point))
        status = ergo_job_error(ctx, "/run/method",
                                "\"transition-matrix\" is of one species: leave it out");
    if (s->field)
        status = ergo_job_error(ctx, "/system/species/names",
                                "not with a slit, a field or frozen atoms: their energies are of "
                                "one species");
    if (lj_ensemble_of(point) == LJ_MUVT && of_lj(point)->tune_steps &&
        of_lj(point)->species_identity_changes > 0)
        status = ergo_job_error(ctx, "/system/tune_steps",
                                "not with /system/species/identity_changes, which count as "
                                "displacements: give max_displacement as it is");
    if (lj_boxes_of(point) == 2 && s->tail)
        status = ergo_job_error(ctx, "/system/tail_correction",
                                "not with /system/species in a Gibbs ensemble, whose boxes have "
                                "compositions that change");
    if (lj_boxes_of(point) == 2 && s->species.n > LJ_GIBBS_SPECIES)
        status = ergo_job_error(ctx, "/system/species/names",
                                "%u species; a Gibbs ensemble has at most %d", s->species.n,
                                LJ_GIBBS_SPECIES);
    return status;
}

/* As that of one species, so that the arithmetic of fp32 has them. */
static enum ergo_status check_activities(struct ergo_context *ctx, const struct ergo_point *point,
                                         const struct lj_system *s) {
    for (uint32_t k = 0; k < s->species.n && lj_is_open(point) && s->activity > 0; k++) {
        const double zv = s->activity * s->species.activity[k] * s->volume;
        if (!(zv >= 1e-12 && zv <= 1e12))
            return ergo_job_error(ctx, "/system/species/activity",
                                  "activity times volume of species %u is %.4g; allowed: 1e-12 to "
                                  "1e12",
                                  k + 1, zv);
    }
    return ERGO_OK;
}

/* The sum and the range of interactions, so that energies stay in the range of the arithmetic. */
static enum ergo_status check_pairs(struct ergo_context *ctx, const struct lj_system *s) {
    enum ergo_status status = ERGO_OK;
    for (uint32_t a = 0; a < s->species.n; a++)
        for (uint32_t b = a; b < s->species.n; b++) {
            const double epsilon = s->species.epsilon[a][b], sigma = s->species.sigma[a][b];
            if (epsilon > 0 && epsilon < 1e-4 * s->epsilon)
                status = ergo_job_error(ctx, "/system/species/epsilon",
                                        "%.10g of species %u and %u is below a ten-thousandth of "
                                        "the largest, %.10g: give 0 for no interaction",
                                        epsilon, a + 1, b + 1, s->epsilon);
            if (sigma < 0.1 * s->sigma || sigma > 10 * s->sigma)
                status = ergo_job_error(ctx, "/system/species/sigma",
                                        "%.10g of species %u and %u; allowed are 0.1 to 10 of that "
                                        "of the first species, %.10g",
                                        sigma, a + 1, b + 1, s->sigma);
            if (s->species.cutoff[a][b] < 0.2 * sigma)
                status = ergo_job_error(ctx, "/system/cutoff",
                                        "%.10g is below 0.2 sigma of species %u and %u",
                                        s->species.cutoff[a][b], a + 1, b + 1);
        }
    return status;
}

enum ergo_status lj_check_species(struct ergo_context *ctx, const struct ergo_point *point,
                                  const struct lj_system *s) {
    uint32_t n = 0;
    if (!lj_has_species(point))
        return ERGO_OK;
    enum ergo_status status = check_names(ctx, point, &n);
    if (status != ERGO_OK)
        return status;
    const int pairs = (int)(n * (n - 1) / 2);
    const struct lj_parameters *p = of_lj(point);
    const struct {
        const struct ergo_value *value;
        const char *key;
        bool wanted;
        int n;
        const char *what;
    } lists[] = {
        {&p->species_epsilon, "/system/species/epsilon", true, (int)n, "species"},
        {&p->species_sigma, "/system/species/sigma", true, (int)n, "species"},
        {&p->species_activity, "/system/species/activity", lj_is_open(point), (int)n, "species"},
        {&p->species_pair_epsilon, "/system/species/pair_epsilon", false, pairs,
         "pairs of unlike species"},
        {&p->species_pair_sigma, "/system/species/pair_sigma", false, pairs,
         "pairs of unlike species"},
    };
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++)
        if (check_list(ctx, lists[k].value, lists[k].key, lists[k].wanted, lists[k].n,
                       lists[k].what) != ERGO_OK)
            status = ERGO_E_JOB;
    if (check_fractions(ctx, point, (int)n) != ERGO_OK || check_others(ctx, point, s) != ERGO_OK)
        status = ERGO_E_JOB;
    if (status == ERGO_OK)
        status = check_activities(ctx, point, s);
    return status == ERGO_OK ? check_pairs(ctx, s) : status;
}
