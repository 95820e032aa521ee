/* Mixtures without a device: pairs, tails and activities against the definitions, how particles get
 * their species at the start, that a state has the weight which acceptances leave alone, and what
 * is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "oracle/mixture_serial.h"
#include "samplers/lj_gcmc/tables.h"
#include "samplers/lj_gcmc/lj.h"

#include "context.h"

#define START "/tmp/ergocl-mixture.xyz"

/* Keys of the system and of its species; after a '|' others. */
static enum ergo_status parse(const char *ensemble, const char *keys, const char *species,
                              struct ergo_job **job) {
    char text[900];
    const char *others = strchr(keys, '|');
    snprintf(text, sizeof text,
             "{'sampler': 'lj-fluid', 'system': {'ensemble': '%s', 'box': [6, 6.5, 7], "
             "'temperature': 1.3%.*s, 'species': {%s}}%s%s}",
             ensemble, (int)(others ? (size_t)(others - keys) : strlen(keys)), keys, species,
             others && strstr(others, "'run'") ? "" : ", 'run': {'sweeps': 100}",
             others ? others + 1 : "");
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return ergo_job_parse(ctx, text, strlen(text), "mixture", NULL, 0, job);
}

static struct ergo_job *with(const char *ensemble, const char *keys, const char *species) {
    struct ergo_job *job = NULL;
    if (parse(ensemble, keys, species, &job) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    return job;
}

#define TWO "'names': 'A B', 'epsilon': [1, 0.5], 'sigma': [1, 0.88]"
#define THREE "'names': 'A B C', 'epsilon': [2, 0.5, 1], 'sigma': [1, 0.9, 1.2]"

/* What the job means, written once more. */
static struct ergo_oracle_mixture serial(double cutoff, bool scaled, const double *e,
                                         const double *d, const double *e2, const double *d2) {
    struct ergo_oracle_mixture o = {.temperature = 1.3, .species = 3, .tail = true};
    for (size_t a = 0; a < 3; a++)
        for (size_t b = 0; b < 3; b++) {
            o.epsilon[a][b] = a == b ? e[a] : e2 ? e2[a + b - 1] : sqrt(e[a] * e[b]);
            o.sigma[a][b] = a == b ? d[a] : d2 ? d2[a + b - 1] : (d[a] + d[b]) / 2;
            o.cutoff[a][b] = scaled ? cutoff * o.sigma[a][b] : cutoff;
        }
    return o;
}

/* Energies, virials and reach of all pairs at several distances, with and without a shift. */
static void test_pairs(void **state) {
    (void)state;
    static const double e[3] = {2, 0.5, 1}, d[3] = {1, 0.9, 1.2};
    static const double e2[3] = {1.5, 0, 0.7}, d2[3] = {0.8, 1, 1.1};
    for (int c = 0; c < 8; c++) {
        char keys[200], species[300];
        const bool scaled = c & 1, shifted = c & 2, pairs = c & 4;
        snprintf(keys, sizeof keys, ", 'particles': 9, 'cutoff': 2.5, 'shifted': %s",
                 shifted ? "true" : "false");
        snprintf(species, sizeof species,
                 THREE ", 'fractions': [0.2, 0.3, 0.5], 'cutoff_in_sigma': %s%s",
                 scaled ? "true" : "false",
                 pairs ? ", 'pair_epsilon': [1.5, 0, 0.7], 'pair_sigma': [0.8, 1, 1.1]" : "");
        struct ergo_job *job = with("nvt", keys, species);
        const struct lj_system s = lj_system_of(&job->points[0]);
        const struct ergo_oracle_mixture o =
            serial(2.5, scaled, e, d, pairs ? e2 : NULL, pairs ? d2 : NULL);
        struct lj_member m;
        struct lj_mixture mixture;
        lj_member_fill(&job->points[0], 0, NULL, &m);
        lj_mixture_of(&job->points[0], &s, &m, &mixture);
        for (uint32_t a = 0; a < 3; a++)
            for (uint32_t b = 0; b < 3; b++) {
                const struct lj_rule *rule = &mixture.pairs[4 * a + b];
                double w, edge = o.cutoff[a][b] * (1 - 1e-9);
                const double at_cutoff = ergo_oracle_mixture_pair(&o, a, b, edge * edge, &w);
                assert_true(s.epsilon == 2 && s.sigma == 1 && s.cutoff >= o.cutoff[a][b]);
                if (o.epsilon[a][b] == 0) {
                    assert_true(rule->cutoff2 == 0);
                    continue;
                }
                assert_true(fabs(sqrt((double)rule->cutoff2) - o.cutoff[a][b]) < 1e-6);
                assert_true(fabs(lj_energy_of(&s, rule->shift) - (shifted ? at_cutoff : 0)) < 1e-8);
                assert_true((rule->outer != 0) == !shifted);
                for (double r = 0.85 * d[b]; r < o.cutoff[a][b]; r += 0.1) {
                    const double u = ergo_oracle_mixture_pair(&o, a, b, r * r, &w);
                    const double s6 = pow((double)rule->inverse * r * r, -3);
                    const double strength = (double)rule->strength * 0x1p-30 * 4 * s.epsilon;
                    assert_true(fabs(strength * (s6 * s6 - s6) - u) < 1e-5 * (1 + fabs(u)));
                }
                const double core = ergo_oracle_mixture_pair(&o, a, b, (double)rule->core2, &w);
                assert_true(fabs(core / 130 - 1) < 1e-4);
            }
        const double numbers[4] = {2, 3, 4, 0};
        double tails = 0, usual = 0, columns[LJ_COLUMNS] = {9, 0, 27.3};
        memcpy(columns + LJ_COLUMN_SPECIES, numbers, sizeof numbers);
        for (size_t a = 0; a < 3; a++)
            for (size_t b = 0; b < 3; b++) {
                const double x3 = pow(o.sigma[a][b] / o.cutoff[a][b], 3);
                tails += numbers[a] * numbers[b] * ergo_oracle_mixture_tail(&o, a, b);
                usual += numbers[a] * numbers[b] * 16 * 3.14159265358979323846 / 3 *
                         o.epsilon[a][b] * pow(o.sigma[a][b], 3) * (2. / 3 * x3 * x3 * x3 - x3);
            }
        const double corrected = lj_pressure_corrected(&job->points[0], columns);
        assert_true(fabs(corrected - (9 * 1.3 / 273 + 0.1 / 3 + usual / 273 / 273)) < 1e-12);
        assert_true(fabs(lj_species_tail(&s, numbers) / tails - 1) < 1e-9);
        ergo_job_destroy(job);
    }
}

/* Activities with the number of species, and the tails of muvt. */
static void test_reservoir(void **state) {
    (void)state;
    struct ergo_job *job =
        with("muvt",
             ", 'activity': 0.2, 'tail_correction': true, 'moves': {'insertion': 1, "
             "'deletion': 2}",
             THREE ", 'activity': [1, 0.5, 3], 'identity_changes': 0.25");
    const struct lj_system s = lj_system_of(&job->points[0]);
    struct lj_member m;
    struct lj_mixture mixture;
    lj_member_fill(&job->points[0], 0, NULL, &m);
    lj_mixture_of(&job->points[0], &s, &m, &mixture);
    static const double e[3] = {2, 0.5, 1}, d[3] = {1, 0.9, 1.2}, z[3] = {0.2, 0.1, 0.6};
    const struct ergo_oracle_mixture o = serial(2.5, false, e, d, NULL, NULL);
    for (size_t a = 0; a < 3; a++) {
        assert_true(fabs((double)mixture.zv[a] / (3 * z[a] * 273 * 2) - 1) < 1e-6);
        for (size_t b = 0; b < 3; b++)
            assert_true(fabs((double)mixture.tail[4 * a + b] /
                                 (ergo_oracle_mixture_tail(&o, a, b) / 273 / 1.3) -
                             1) < 1e-6);
    }
    assert_int_equal(mixture.identity, 0x40000000);
    ergo_job_destroy(job);
}

/* Particles on a lattice are of the species in the job's shares, and mixed. */
static void test_start(void **state) {
    (void)state;
    static const struct {
        const char *fractions;
        uint32_t n, numbers[4];
    } cases[] = {
        {"[0.2, 0.3, 0.5]", 10, {2, 3, 5, 0}},
        {"[0.3333333333333, 0.3333333333333, 0.3333333333334]", 10, {3, 4, 3, 0}},
        {"[0, 0.999, 0.001]", 30, {0, 30, 0, 0}},
        {"[0.1, 0.2, 0.7]", 80, {8, 16, 56, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char keys[100], species[300];
        uint32_t *words, n, numbers[4], first[4] = {0};
        snprintf(keys, sizeof keys, ", 'particles': %u", cases[i].n);
        snprintf(species, sizeof species, THREE ", 'fractions': %s", cases[i].fractions);
        struct ergo_job *job = with("nvt", keys, species);
        const struct lj_system s = lj_system_of(&job->points[0]);
        assert_int_equal(lj_start(ctx, &job->points[0], 0, &(struct lj_tables){0}, &words, &n),
                         ERGO_OK);
        assert_true(lj_species_count(&s, words, n, numbers) && n == cases[i].n);
        assert_memory_equal(numbers, cases[i].numbers, sizeof numbers);
        lj_species_count(&s, words, n / 2, first);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(first[k] - 0.5 * numbers[k]) <= 1);
        free(words);
        ergo_job_destroy(job);
    }
}

/* Two boxes each have whole particles of what the job says. */
static void test_boxes(void **state) {
    (void)state;
    static const uint32_t expected[2][4] = {{3, 7, 0, 0}, {50, 150, 0, 0}};
    struct ergo_job *job = with("gibbs",
                                ", 'particles': 10, 'second_particles': 200, 'second_volume': 800, "
                                "'volume_every': 100, 'transfers': 1",
                                TWO ", 'fractions': [0.25, 0.75]");
    for (size_t box = 0; box < 2; box++) {
        const struct lj_system s = lj_box_system(&job->points[0], box);
        uint32_t numbers[4];
        lj_species_split(&s, lj_box_particles(&job->points[0], box), numbers);
        assert_memory_equal(numbers, expected[box], sizeof numbers);
    }
    ergo_job_destroy(job);
}

/* Ideal gases together: sum of the activities. */
static void test_ideal(void **state) {
    (void)state;
    struct ergo_job *job =
        with("muvt", ", 'activity': 0.1",
             "'names': 'A B', 'epsilon': [0, 0], 'sigma': [1, 1.2], 'activity': [2, 3]");
    const struct ergo_point *point = &job->points[0];
    assert_true(fabs(job->model->exact(point, "density") - 0.5) < 1e-12);
    assert_true(fabs(job->model->exact(point, "particles") - 136.5) < 1e-9);
    assert_true(fabs(job->model->exact(point, "pressure") - 0.65) < 1e-12);
    /* N fluctuates with the composition, too */
    for (size_t o = 0; o < job->model->n_observables; o++)
        assert_false(strcmp(job->model->observables[o].name, "compressibility") == 0 &&
                     ergo_observable_shown(&job->model->observables[o], point));
    ergo_job_destroy(job);
}

/* Without test insertions temperatures are low where they have to be. */
static void test_cold(void **state) {
    (void)state;
    ergo_job_destroy(with("nvt", ", 'particles': 9",
                          "'names': 'A B', 'epsilon': [5, 1], 'sigma': [1, 1], 'fractions': [0.5, "
                          "0.5]"));
}

static void write_start(const char *lines) {
    FILE *file = fopen(START, "w");
    assert_non_null(file);
    fprintf(file, "4\nLattice=\"6 0 0 0 6.5 0 0 0 7\" Properties=species:S:1:pos:R:3\n%s", lines);
    assert_int_equal(fclose(file), 0);
}

/* An observable of these columns, as if they were all samples; NAN: the job has none of that name.
 */
static double observed(const struct ergo_point *point, const char *name, const double *columns) {
    const struct ergo_model *model = point->job->model;
    double inputs[4] = {0};
    for (size_t o = 0; o < model->n_observables; o++) {
        const struct ergo_observable *at = &model->observables[o];
        if (strcmp(at->name, name) != 0 || (at->applies && !at->applies(point)))
            continue;
        for (size_t k = 0; at->derive && k < 4 && at->inputs[k]; k++)
            inputs[k] = observed(point, at->inputs[k], columns);
        return at->derive ? at->derive(point, inputs) : ergo_observable_sample(at, point, columns);
    }
    return NAN;
}

/* Test insertions only where the job says so, and what is made of a species' weight. */
static void test_inserted(void **state) {
    (void)state;
    static const char *const keys[] = {
        ", 'particles': 10, 'pressure': 1, 'volume_every': 10",
        ", 'particles': 10, 'pressure': 1, 'volume_every': 10|, 'run': {'sweeps': 100, "
        "'insertions': 7}",
        ", 'particles': 10|, 'run': {'sweeps': 100, 'insertions': 7}",
        ", 'particles': 10, 'second_particles': 9, 'volume_every': 9, 'transfers': 9|, 'run': "
        "{'sweeps': 100, 'insertions': 7}"};
    static const char *const ensembles[] = {"npt", "npt", "nvt", "gibbs"};
    double c[LJ_COLUMNS] = {
        [LJ_COLUMN_PARTICLES] = 10,  [LJ_COLUMN_VOLUME] = 250,    [LJ_COLUMN_SPECIES] = 7,
        [LJ_COLUMN_SPECIES + 1] = 3, [LJ_COLUMN_GHOSTS_OF] = 0.5, [LJ_COLUMN_GHOSTS_OF + 1] = 2};
    const double weights[2] = {0.5, 2}, numbers[2] = {7, 3};
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        struct ergo_job *job = with(ensembles[k], keys[k], TWO ", 'fractions': [0.7, 0.3]");
        const struct ergo_point *point = &job->points[0];
        const double volume = k < 2 ? 250 : 6 * 6.5 * 7;
        assert_int_equal(lj_ghosts_of(point), k ? 7 : 0);
        for (int s = 0; s < 2 && k < 3; s++) {
            char name[60];
            snprintf(name, sizeof name, "excess_chemical_potential_%d", s + 1);
            const double excess = observed(point, name, c), mu = observed(point, name + 7, c);
            if (k == 0)
                assert_true(isnan(excess) && isnan(mu));
            else
                assert_true(fabs(excess + 1.3 * log(weights[s])) < 1e-12 &&
                            fabs(mu - 1.3 * log((numbers[s] + 1) / (volume * weights[s]))) < 1e-12);
        }
        assert_true(isnan(observed(point, "chemical_potential", c)));
        assert_true(isnan(observed(point, "chemical_potential_3", c)));
        if (k < 3)
            assert_int_equal(job->model->has_column(point, LJ_COLUMN_GHOSTS_OF + 1), k > 0);
        ergo_job_destroy(job);
    }
}

static void test_file(void **state) {
    (void)state;
    uint32_t *words, n, numbers[4];
    write_start("B 1 1 1\nA 3 3 3\nB 5 5 5\nA 1 3 5\n");
    struct ergo_job *job = with("nvt", ", 'start': '" START "'", TWO ", 'fractions': [0.5, 0.5]");
    const struct lj_system s = lj_system_of(&job->points[0]);
    assert_int_equal(lj_start(ctx, &job->points[0], 0, &(struct lj_tables){0}, &words, &n),
                     ERGO_OK);
    assert_true(n == 4 && lj_species_count(&s, words, n, numbers));
    for (int i = 0; i < 4; i++)
        assert_int_equal(words[3 * i] & LJ_SPECIES_MASK, i % 2 == 0);
    free(words);
    ergo_job_destroy(job);
}

static void test_refused(void **state) {
    (void)state;
    write_start("B 1 1 1\nA 3 3 3\nC 5 5 5\nA 1 3 5\n");
#define NINE ", 'particles': 9"
#define OPEN ", 'activity': 0.1"
#define CLOSED ", 'moves': {'insertion': 0, 'deletion': 0}"
    static const struct {
        const char *ensemble, *keys, *species, *why;
    } cases[] = {
        {"nvt", NINE, "'epsilon': [1, 1]", "with /system/species/names"},
        {"nvt", NINE, "'names': 'A', 'epsilon': [1, 1], 'sigma': [1, 1]", "1 names"},
        {"nvt", NINE, "'names': 'A B C D E'", "5 names; a mixture has 2 to 4"},
        {"nvt", NINE, "'names': 'A A'", "two species have the name \"A\""},
        {"nvt", NINE, "'names': 'A abcdefghijklmnop'", "more than 15 letters"},
        {"nvt", NINE, "'names': 'A B\\\"C'", "name 2 has a sign"},
        {"nvt", NINE, "'names': 'A B'", "/system/species/epsilon: missing"},
        {"nvt", NINE, "'names': 'A B C', 'epsilon': [1, 1], 'sigma': [1, 1, 1]",
         "/system/species/epsilon: 2 numbers; there are 3 species"},
        {"nvt", NINE, TWO, "/system/species/fractions: missing"},
        {"nvt", NINE, TWO ", 'fractions': [0.5, 0.4]", "their sum is 0.9"},
        {"nvt", NINE, TWO ", 'fractions': [0.5, 0.3, 0.2]", "3 numbers; there are 2 species"},
        {"nvt", NINE, THREE ", 'fractions': [0.5, 0.3, 0.2], 'pair_epsilon': [1, 1]",
         "2 numbers; there are 3 pairs of unlike species"},
        {"nvt", NINE,
         "'names': 'A B C D', 'epsilon': [1, 1, 1, 1], 'sigma': [1, 1, 1, 1], 'fractions': [1, 0, "
         "0, 0], 'pair_sigma': [1]",
         "not with 4 species"},
        {"nvt", NINE, TWO ", 'fractions': [0.5, 0.5], 'activity': [1, 1]", "in ensemble muvt"},
        {"nvt", NINE, TWO ", 'fractions': [0.5, 0.5], 'identity_changes': 0.2", "in ensemble muvt"},
        {"nvt", NINE ", 'epsilon': 2", TWO ", 'fractions': [0.5, 0.5]", "without /system/species"},
        {"nvt", NINE ", 'potential': 'mie'", TWO ", 'fractions': [0.5, 0.5]",
         "Lennard-Jones potentials alone"},
        {"nvt", NINE ", 'slit': {'width': 4, 'epsilon': 1, 'sigma': 1, 'density': 1, 'spacing': 1}",
         TWO ", 'fractions': [0.5, 0.5]", "not with a slit"},
        {"nvt", NINE, "'names': 'A B', 'epsilon': [1, 1e-5], 'sigma': [1, 1], 'fractions': [1, 0]",
         "below a ten-thousandth"},
        {"nvt", NINE, "'names': 'A B', 'epsilon': [1, 1], 'sigma': [0.1, 2.4], 'fractions': [1, 0]",
         "0.1 to 10 of that"},
        {"nvt", NINE "|, 'run': {'sweeps': 100, 'insertions': 7}",
         "'names': 'A B', 'epsilon': [1, 1], 'sigma': [1, 1], 'fractions': [0.5, 0.5], "
         "'pair_epsilon': [3]",
         "/run/insertions: at a temperature of 0.4333333333 epsilon"},
        {"nvt", NINE ", 'cutoff': 3.2", TWO ", 'fractions': [0.5, 0.5]",
         "more than half the shortest side"},
        {"nvt", NINE ", 'cutoff': 2.8",
         "'names': 'A B', 'epsilon': [1, 1], 'sigma': [1, 1.2], 'fractions': [0.5, 0.5], "
         "'cutoff_in_sigma': true",
         "3.36 is more than half"},
        {"gibbs",
         NINE ", 'second_particles': 9, 'volume_every': 9, 'transfers': 9, 'tail_correction': true",
         TWO ", 'fractions': [0.5, 0.5]", "not with /system/species in a Gibbs ensemble"},
        {"gibbs", NINE ", 'second_particles': 9, 'volume_every': 9, 'transfers': 9",
         "'names': 'A B C D', 'epsilon': [1, 1, 1, 1], 'sigma': [1, 1, 1, 1], 'fractions': [1, 0, "
         "0, 0]",
         "a Gibbs ensemble has at most 3"},
        {"muvt", OPEN, TWO, "/system/species/activity: missing"},
        {"muvt", OPEN, TWO ", 'activity': [1, 1, 1]", "3 numbers; there are 2 species"},
        {"muvt", OPEN, TWO ", 'activity': [1, 1], 'fractions': [0.5, 0.5]", "lattice of particles"},
        {"muvt", OPEN, TWO ", 'activity': [1, 1e-14]", "of species 2 is 2.73e-13"},
        {"muvt", CLOSED NINE, TWO ", 'fractions': [0.5, 0.5], 'identity_changes': 0.2",
         "has all three"},
        {"muvt", CLOSED ", 'start': '" START "'", THREE, "/system/species/fractions: missing"},
        {"npt", ", 'start': '" START "', 'pressure': 1, 'volume_every': 4, 'tail_correction': true",
         THREE ", 'fractions': [0.49, 0.26, 0.25]", "with a tail correction it has to be 0.5"},
        {"muvt", OPEN ", 'decomposition': 'checkerboard'", TWO ", 'activity': [1, 1]",
         "not with /system/species"},
        {"muvt", OPEN ", 'max_displacement': 0.1, 'tune_steps': 10",
         TWO ", 'activity': [1, 1], 'identity_changes': 0.1", "count as displacements"},
        {"nvt", ", 'start': '" START "'", TWO ", 'fractions': [0.5, 0.5]",
         "species 3 of /tmp/ergocl-mixture.xyz"},
        {"nvt", ", 'start': '" START "'", THREE ", 'fractions': [0.25, 0.25, 0.5]",
         "of 4 particles 1 are of species A"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ergo_job *job = NULL;
        if (parse(cases[i].ensemble, cases[i].keys, cases[i].species, &job) == ERGO_OK)
            fail_msg("%s, %s was not refused", cases[i].keys, cases[i].species);
        if (!strstr(ergo_error_message(ctx), cases[i].why))
            fail_msg("expected \"%s\": %s", cases[i].why, ergo_error_message(ctx));
        ergo_error_clear(ctx);
    }
    unlink(START);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),  cmocka_unit_test(test_reservoir),
        cmocka_unit_test(test_start),  cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_ideal),  cmocka_unit_test(test_cold),
        cmocka_unit_test(test_file),   cmocka_unit_test(test_inserted),
        cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, context_open, context_close);
}
