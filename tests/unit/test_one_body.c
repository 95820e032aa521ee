/*
 * One-body factors: lattices by the shells of neighbours that each is known for, the chain's
 * energies against the serial program in double precision, whose gradient and Laplacian are
 * compared with differences of ln psi; what does not fit is refused, with what does.
 */
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

#include "helium_vmc/core.h"
#include "oracle/helium_chain.h"
#include "oracle/helium_serial.h"
#include "samplers/helium_vmc/helium.h"

static struct ergo_context *ctx;

static enum ergo_status parse(const char *system, struct ergo_job **job) {
    char json[700];
    snprintf(json, sizeof json,
             "{\"sampler\": \"helium-vmc\", \"system\": {%s}, \"run\": {\"sweeps\": 9}}", system);
    return ergo_job_parse(ctx, json, strlen(json), "test", NULL, 0, job);
}

static struct ergo_job *job_of(const char *system) {
    struct ergo_job *job = NULL;
    if (parse(system, &job) != ERGO_OK)
        fail_msg("%s: %s", system, ergo_error_message(ctx));
    return job;
}

/* ---- lattices -------------------------------------------------------------------------------- */

/* Numbers of sites at the two nearest distances, in units of the nearest; distances that differ by
 * a thousandth are one. */
static void shells_of(const struct helium_model *m, const int32_t *sites, uint32_t i,
                      double distance[2], int count[2]) {
    distance[0] = distance[1] = INFINITY;
    count[0] = count[1] = 0;
    for (int shell = 0; shell < 2; shell++)
        for (uint32_t j = 0; j < m->n; j++) {
            double r2 = 0;
            for (uint32_t k = 0; k < 3; k++) {
                const double d =
                    m->side[k] * 0x1p-32 *
                    (int32_t)((uint32_t)sites[k * m->n + i] - (uint32_t)sites[k * m->n + j]);
                r2 += d * d;
            }
            const double r = sqrt(r2);
            if (j == i || (shell && r < 1.001 * distance[0]) || r > 1.001 * distance[shell])
                continue;
            count[shell] = r < 0.999 * distance[shell] ? 1 : count[shell] + 1;
            distance[shell] = fmin(distance[shell], r);
        }
}

static void lattices_have_their_shells(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint32_t n;
        const char *aspect;
        int first, second;
        double ratio; /* of the distances */
    } rows[] = {{"hcp", 96, "[4, 2, 3]", 12, 6, 1.41421356},
                {"fcc", 108, "[1, 1, 1]", 12, 6, 1.41421356},
                {"bcc", 128, "[2, 2, 2]", 8, 6, 1.15470054},
                {"triangular", 30, "[5, 3]", 6, 6, 1.73205081}};
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        char system[200];
        struct helium_model m;
        int32_t sites[3 * 128];
        snprintf(system, sizeof system,
                 "\"n\": %u, \"one_body\": \"%s\", \"aspect\": %s, \"density\": 0.03, "
                 "\"dimensions\": %d",
                 rows[row].n, rows[row].name, rows[row].aspect, rows[row].first == 6 ? 2 : 3);
        struct ergo_job *job = job_of(system);
        helium_model_of(&job->points[0], &m);
        helium_sites(&m, sites);
        const double across = m.dimensions == 2 ? 1 : m.side[2];
        assert_true(fabs(m.n / (m.side[0] * m.side[1] * across) - 0.03) < 1e-12);
        for (uint32_t i = 0; i < m.n; i++) {
            double distance[2];
            int count[2];
            shells_of(&m, sites, i, distance, count);
            if (count[0] != rows[row].first || count[1] != rows[row].second ||
                fabs(distance[1] / distance[0] - rows[row].ratio) > 1e-6 ||
                fabs(distance[0] - helium_nearest_sites(&m)) > 1e-6)
                fail_msg("%s, site %u: %d at %.9g A, %d at %.9g A", rows[row].name, i, count[0],
                         distance[0], count[1], distance[1]);
        }
        ergo_job_destroy(job);
    }
}

/* A crystal without motion scatters with S(k) = n at all vectors of the reciprocal lattice. */
static void a_crystal_scatters(void **state) {
    (void)state;
    static const struct {
        const char *system;
        double k, s; /* of the shortest vector, in units of 2 pi over the nearest distance */
    } rows[] = {{"\"n\": 96, \"one_body\": \"hcp\", \"aspect\": [4, 2, 3], \"density\": 0.03",
                 1.15470054, 24},
                {"\"n\": 108, \"one_body\": \"fcc\", \"density\": 0.03", 1.22474487, 108},
                {"\"n\": 54, \"one_body\": \"bcc\", \"density\": 0.03", 1.22474487, 54},
                {"\"n\": 30, \"one_body\": \"triangular\", \"dimensions\": 2, \"aspect\": [5, 3], "
                 "\"density\": 0.07",
                 1.15470054, 30},
                {"\"n\": 30, \"one_body\": \"triangular\", \"dimensions\": 2, \"aspect\": [5, 3], "
                 "\"density\": 0.07",
                 2, 30}};
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        struct ergo_job *job = job_of(rows[row].system);
        struct helium_model m;
        int32_t sites[3 * 128];
        double k[400], s[400];
        bool found = false;
        helium_model_of(&job->points[0], &m);
        helium_sites(&m, sites);
        const size_t size = helium_sk_size(&job->points[0]);
        assert_true(size < 400);
        helium_sk_x(&job->points[0], k);
        helium_sk(&job->points[0], &m, sites, 1, s);
        for (size_t i = 0; i < size; i++) {
            const double is = k[i] * helium_nearest_sites(&m) / 6.283185307179586;
            found = found || (fabs(is / rows[row].k - 1) < 1e-6 && fabs(s[i] - rows[row].s) < 1e-3);
        }
        assert_true(found);
        ergo_job_destroy(job);
    }
}

/* ---- energies -------------------------------------------------------------------------------- */

enum { MOST = 48 };
struct scene {
    struct ergo_job *job;
    struct helium_model m;
    struct helium_member member;
    int32_t place[3 * MOST], sites[3 * MOST];
    double position[3 * MOST], site[3 * MOST];
    struct ergo_oracle_helium h;
    struct helium_cubic_host *u, *e;
    unsigned binades;
};

/* Atoms up to `away` A from their sites along each axis. */
static void begin(struct scene *s, const char *system, double away) {
    memset(s, 0, sizeof *s);
    s->job = job_of(system);
    assert_int_equal(helium_model_load(ctx, &s->job->points[0], 0, &s->m), ERGO_OK);
    const uint32_t n = s->m.n;
    assert_true(n <= MOST);
    helium_member_of(&s->job->points[0], &s->m, &s->member);
    helium_sites(&s->m, s->sites);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < s->m.dimensions; k++) {
            const double side = s->m.side[k];
            const double d = away * sin(k + 1 + (3 + 2 * k) * (double)i);
            s->place[k * n + i] =
                (int32_t)((uint32_t)s->sites[k * n + i] + (uint32_t)llround(d / side * 0x1p32));
            s->position[3 * i + k] = side * 0x1p-32 * (double)(uint32_t)s->place[k * n + i];
            s->site[3 * i + k] = side * 0x1p-32 * (double)(uint32_t)s->sites[k * n + i];
        }
    s->h = (struct ergo_oracle_helium){.n = (int)n,
                                       .b = s->m.b,
                                       .lambda = s->m.lambda,
                                       .position = s->position,
                                       .site = s->site,
                                       .c = s->m.one.c,
                                       .free = s->m.one.kind == HELIUM_SLAB ? 2 : 0,
                                       .plane = s->m.dimensions == 2,
                                       .spring = s->m.one.spring};
    memcpy(s->h.side, s->m.side, sizeof s->h.side);
    s->binades = helium_model_binades(&s->m);
    s->u = malloc(((size_t)s->binades << HELIUM_U_PIECES) * sizeof *s->u);
    s->e = malloc(2 * (size_t)helium_energy_pieces(s->binades) * sizeof *s->e);
    assert_true(s->u && s->e);
    helium_table_u(&s->m, s->binades, s->u);
    helium_table_energy(&s->m, s->binades, s->e);
}

static void end(struct scene *s) {
    free(s->u);
    free(s->e);
    helium_model_free(&s->m);
    ergo_job_destroy(s->job);
}

static const char *const systems[] = {
    "\"n\": 40, \"dimensions\": 2, \"aspect\": [5, 4], \"one_body\": \"triangular\", "
    "\"localisation\": 0.7, \"b\": 2.6, \"density\": 0.07",
    "\"n\": 48, \"aspect\": [3, 2, 2], \"one_body\": \"hcp\", \"localisation\": 0.7, \"b\": 2.6, "
    "\"density\": 0.03",
    "\"n\": 16, \"one_body\": \"bcc\", \"density\": 0.03, \"b\": 2, \"localisation\": 2",
    "\"n\": 7, \"one_body\": \"trap\", \"density\": 2e-5, \"trap_length\": 4, \"localisation\": "
    "0.05, \"b\": 2.5",
    "\"n\": 6, \"one_body\": \"slab\", \"aspect\": [1, 1, 8], \"density\": 0.001, "
    "\"trap_length\": 6, \"localisation\": 0.04, \"b\": 2.5",
    "\"n\": 6, \"dimensions\": 2, \"one_body\": \"trap\", \"density\": 1e-4, "
    "\"trap_length\": 5, \"localisation\": 0.05, \"b\": 2.5"};

/* Per atom: relative to a Kelvin or the value, whichever is larger. */
static void close_to(const char *what, double found, double expected, double tolerance) {
    if (!(fabs(found - expected) <= tolerance * fmax(1, fabs(expected))))
        fail_msg("%s: %.12g, expected %.12g", what, found, expected);
}

static void the_chain_has_the_serial_programs_energies(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        struct scene s;
        struct ergo_oracle_helium_energy e;
        begin(&s, systems[i], i >= 3 ? 4.5 : 0.5);
        ergo_oracle_helium_energies(&s.h, &e);
        struct helium_oracle chain = {.member = &s.member,
                                      .u_table = s.u,
                                      .e_table = s.e,
                                      .binades = s.binades,
                                      .n = s.m.n,
                                      .place = s.place,
                                      .sites = s.sites};
        chain.ln_psi = helium_oracle_ln_psi(&chain) / 2;
        const struct helium_sums sums = helium_oracle_energies(&chain);
        const struct helium_energies found = helium_energies_of(&s.m, &sums);
        close_to("ln psi", (double)chain.ln_psi * 0x1p-21, e.ln_psi, 2e-6);
        close_to("V", found.potential, e.potential, 2e-6);
        close_to("r V'", found.virial, e.virial, 2e-6);
        close_to("T of the Laplacian", found.laplacian - found.gradient, e.laplacian, 2e-6);
        close_to("T of the gradient", found.gradient, e.gradient, 2e-6);
        end(&s);
    }
}

/* The serial program's gradient and Laplacian by differences of its own ln psi. */
static void the_serial_program_has_the_slopes_of_ln_psi(void **state) {
    (void)state;
    const double h = 1e-3;
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        struct scene s;
        struct ergo_oracle_helium_energy e;
        double laplacian = 0, square = 0;
        begin(&s, systems[i], i >= 3 ? 4.5 : 0.5);
        ergo_oracle_helium_energies(&s.h, &e);
        for (int atom = 0; atom < s.h.n; atom++)
            for (int k = 0; k < 3 - s.h.plane; k++) {
                double at[5] = {0};
                for (int p = -2; p <= 2; p++) {
                    double d[3] = {0};
                    d[k] = p * h;
                    at[p + 2] = p ? ergo_oracle_helium_change(&s.h, atom, d) : 0;
                }
                const double slope = (8 * (at[3] - at[1]) - (at[4] - at[0])) / (12 * h);
                square += slope * slope;
                laplacian += (16 * (at[3] + at[1]) - (at[4] + at[0])) / (12 * h * h);
            }
        close_to("T of the gradient", s.h.lambda * square / s.h.n, e.gradient, 1e-6);
        close_to("T of the Laplacian", -s.h.lambda * (laplacian + square) / s.h.n, e.laplacian,
                 1e-6);
        end(&s);
    }
}

/* Beyond the range of the fixed point the factor is flat, on either side of a place. */
static void far_from_a_site_the_factor_is_flat(void **state) {
    (void)state;
    struct scene s;
    begin(&s, systems[2], 0);
    s.member.site_u *= 1e4f;
    const float far[3] = {0x1p30f, 0, 0}, near[3] = {0x1p20f, 0, 0}, zero[3] = {0, 0, 0};
    assert_int_equal(helium_site_u(far, &s.member), -1073741824);
    assert_int_equal(helium_site_u(zero, &s.member), 0);
    assert_true(helium_site_u(near, &s.member) > -1073741824 && helium_site_u(near, &s.member) < 0);
    end(&s);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const char film[] =
    "\"n\": 6, \"one_body\": \"slab\", \"density\": 1e-4, \"b\": 2.6, \"external\": "
    "\"data/reference/helium-film-v.txt\", \"one_body_factor\": "
    "\"data/reference/helium-film-w.txt\"";
static const char drop[] =
    "\"n\": 6, \"one_body\": \"trap\", \"density\": 1e-5, \"b\": 2.6, \"trap_length\": 9, "
    "\"one_body_factor\": \"data/reference/helium-drop-w.txt\"";

static const char wide[] =
    "\"n\": 6, \"one_body\": \"slab\", \"density\": 1e-4, \"b\": 2.6, \"external\": "
    "\"data/reference/helium-film-v.txt\", \"localisation\": 0.2";

/* An atom alone, wherever it is: V, r dV/dr, ln phi, its gradient and laplacian are those of the
 * splines, but for what cubics of a 1024th of the range cannot follow. */
static void tables_are_the_functions(void **state) {
    (void)state;
    static const char *const three[] = {film, drop, wide};
    for (int which = 0; which < 3; which++) {
        const bool slab = which != 1;
        struct ergo_job *job = job_of(three[which]);
        const struct ergo_point *point = &job->points[0];
        struct helium_model m;
        struct helium_member member;
        assert_int_equal(helium_model_load(ctx, point, 0, &m), ERGO_OK);
        helium_member_of(point, &m, &member);
        int32_t *sites = calloc(helium_sites_words(point), sizeof *sites);
        assert_non_null(sites);
        helium_sites(&m, sites);
        double all = 0, sum = 0, square = 0; /* of |phi|^2 */
        for (double x = slab ? -19.9 : 0; x < (slab ? 20 : 40); x += 1e-2) {
            double v[3], w[3];
            helium_external_at(&m, x, v, w);
            const double weight = exp(2 * w[0]) * (slab ? 1 : x * x);
            all += weight;
            sum += weight * x;
            square += weight * x * x;
        }
        const double mean = slab ? sum / all : 0;
        close_to("mean height", m.external.middle, mean, 1e-3);
        close_to("1/c", 1 / m.one.c, 2 * (square / all - mean * mean) / (slab ? 1 : 3), 1e-3);
        const double from = slab ? -7.5 : 0.05, to = slab ? m.side[2] / 2 : m.half;
        for (double x = from; x < to; x += 0.0371) {
            /* along a diagonal of a trap */
            int32_t place[18] = {0};
            double v[3], w[3], r2 = 0, z = 0;
            for (uint32_t k = 0; k < 3; k++) {
                const double d = slab ? (k == 2 ? x : 1.5) : x / sqrt(3.0);
                place[6 * k] = (int32_t)(0x80000000u + (uint32_t)llround(d / m.side[k] * 0x1p32));
                z = m.side[k] * 0x1p-32 * (int32_t)((uint32_t)place[6 * k] - 0x80000000u);
                r2 += z * z;
            }
            const double at = slab ? z : sqrt(r2);
            const struct helium_oracle chain = {
                .member = &member, .n = 6, .place = place, .sites = sites};
            uint32_t a[3];
            helium_oracle_place(&chain, 0, a);
            helium_external_at(&m, at, v, w);
            close_to("ln phi", helium_oracle_site(&chain, 0, a) * 0x1p-21, w[0], 2e-5);
            float share[5] = {0}, raw[3] = {0};
            helium_oracle_one(&chain, 0, share, raw);
            const double root = sqrt(m.lambda), g = (double)raw[2] * m.side[2] * 0x1p-32 / root;
            close_to("V", share[0] / 2, v[0], 2e-4);
            close_to("r V'", share[1], at * v[1], slab ? 5e-3 : 2e-4);
            close_to("gradient", g, slab ? w[1] : w[1] / sqrt(3.0), 2e-4);
            close_to("laplacian", (2 * share[3] + 3 * share[2]) / root,
                     w[2] + (slab ? 0 : 2 * w[1] / at), slab ? 2e-2 : 2e-3);
        }
        free(sites);
        helium_model_free(&m);
        ergo_job_destroy(job);
    }
}

static double quartic(double x) {
    return -x * x * (0.05 + 0.001 * x * x);
}
static double bump(double x, double at, double width) {
    return exp(-(x - at) * (x - at) / (2 * width * width));
}
static double smooth(double x) {
    return quartic(x) + 0.3 * bump(x, 2, 0.6);
}
static double narrow(double x) {
    return quartic(x) + 0.3 * bump(x, 2, 0.05);
}
static double barrier(double x) {
    return 0.1 * x * x + 20 * bump(x, 2, 0.02);
}
static double outside(double x) {
    return 0.1 * x * x + 1000 * bump(x, 7.4, 0.01);
}
static double low(double x) {
    return -(x + 17) * (x + 17) / 8;
}
static double high(double x) {
    return low(-x);
}
static double twice(double x) {
    return -x * x / 8 + 27 * bump(x, 15, 2);
}

/* Kernels have 1,024 cubics for a file: what these miss is refused; and a phi that is large where
 * the box ends, or again beyond the middle of it. */
static void files_that_tables_cannot_follow_are_refused(void **state) {
    (void)state;
    static const char factor[] = "\"one_body\": \"trap\", \"density\": 1.7e-4, \"trap_length\": "
                                 "4, \"one_body_factor\"";
    static const char potential[] = "\"one_body\": \"trap\", \"density\": 1.7e-4, "
                                    "\"localisation\": 0.4, \"external\"";
    static const char slab[] = "\"one_body\": \"slab\", \"density\": 1e-4, \"trap_length\": 4, "
                               "\"one_body_factor\"";
    static const struct {
        double (*of)(double);
        int from, to; /* in 0.01 A */
        const char *system, *error;
    } rows[] = {
        {smooth, 0, 1700, factor, NULL},
        {smooth, 0, 40000, factor, "400 A, equal in r^2, which miss "},
        {smooth, 0, 40000, factor, "end the files soon after half the box, 16.4"},
        {narrow, 0, 1700, factor, "/system/one_body_factor: "},
        {narrow, 0, 1700, factor, "use a smaller box and files that end with it"},
        {barrier, 0, 1700, potential, "/system/external: "},
        {outside, 0, 3400, potential, "most near 7."},
        {low, -2000, 2000, slab, "A from its mean height, at the lower end of the box, is only "},
        {high, -2000, 2000, slab, "A from its mean height, at the upper end of the box, is only "},
        {twice, -2000, 2000, slab, "A from its mean height is only "},
    };
    char name[] = "/tmp/ergo-one-body-XXXXXX";
    const int made = mkstemp(name);
    assert_true(made >= 0);
    close(made);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char system[300];
        struct ergo_job *job = NULL;
        struct helium_model m;
        FILE *f = fopen(name, "w");
        assert_non_null(f);
        for (int k = rows[i].from; k <= rows[i].to; k++)
            fprintf(f, "%.2f %.17g\n", 0.01 * k, rows[i].of(0.01 * k));
        assert_int_equal(fclose(f), 0);
        snprintf(system, sizeof system, "\"n\": 6, %s: \"%s\"", rows[i].system, name);
        enum ergo_status status = parse(system, &job);
        if (status == ERGO_OK) {
            status = helium_model_load(ctx, &job->points[0], 0, &m);
            if (status == ERGO_OK)
                helium_model_free(&m);
        }
        if (rows[i].error ? status != ERGO_E_JOB || !strstr(ergo_error_message(ctx), rows[i].error)
                          : status != ERGO_OK)
            fail_msg("row %zu: \"%s\", expected \"%s\"", i, ergo_error_message(ctx),
                     rows[i].error ? rows[i].error : "no error");
        ergo_error_clear(ctx);
        ergo_job_destroy(job);
    }
    unlink(name);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void what_does_not_fit_is_refused_with_what_does(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"\"n\": 100, \"one_body\": \"fcc\"",
         "/system/n: 100 atoms do not fill a box of fcc cells (4 atoms each) in proportion to "
         "/system/aspect [1, 1, 1]: 32 or 108 do"},
        {"\"n\": 180, \"one_body\": \"hcp\"",
         "108 or 256 do; or keep n, with /system/aspect [5, 3, 3]"},
        {"\"n\": 3, \"one_body\": \"bcc\"", "[1, 1, 1]: 2 or 16 do"},
        {"\"n\": 3, \"one_body\": \"bcc\", \"aspect\": [2, 2, 2]", "[2, 2, 2]: 16 do"},
        {"\"n\": 32, \"one_body\": \"fcc\", \"localisation\": 0.01",
         "/system/localisation: 0.01 A^-2"},
        {"\"n\": 8, \"one_body\": \"trap\", \"density\": 0.02", "at most a density of "},
        {"\"n\": 8, \"one_body\": \"trap\", \"density\": 1e-6, \"tail_correction\": true",
         "/system/tail_correction: true: a trap"},
        {"\"n\": 20, \"one_body\": \"slab\", \"aspect\": [1, 1, 8], \"density\": 0.012, "
         "\"localisation\": 0.2",
         "/system/density: 0.012: a film of 20 atoms"},
        {"\"n\": 20, \"one_body\": \"slab\", \"localisation\": 0.01, \"density\": 0.001",
         "at most a density of "},
        {"\"n\": 20, \"one_body\": \"slab\", \"density\": 1e-4, \"tail_correction\": true",
         "/system/tail_correction: true: a trap or slab"},
        {"\"n\": 4000, \"one_body\": \"trap\"", "/system/density: 0.02186: half a side"},
        {"\"n\": 8, \"one_body\": \"trap\", \"density\": 1e-5, \"trap_length\": 1e-9",
         "/system/trap_length: 1e-09 A: positions are in steps"},
        {"\"n\": 8, \"localisation\": 1", "/system/localisation: has no effect"},
        {"\"n\": 32, \"one_body\": \"fcc\", \"trap_length\": 1",
         "/system/trap_length: has no effect"},
        {"\"n\": 32, \"one_body\": \"sc\"", "/system/one_body"},
        {"\"n\": 6, \"one_body\": \"slab\", \"density\": 1e-4, \"external\": "
         "\"data/reference/helium-film-v.txt\"",
         "/system/localisation: 0, which is that of a harmonic trap"},
        {"\"n\": 6, \"one_body\": \"slab\", \"density\": 1e-5, \"localisation\": 0.1, "
         "\"external\": \"data/reference/helium-film-v.txt\"",
         "/system/external: data/reference/helium-film-v.txt has -20 to 20 A; all heights"},
        {"\"n\": 6, \"one_body\": \"trap\", \"density\": 1e-4, \"localisation\": 0.4, "
         "\"external\": \"data/reference/helium-film-v.txt\"",
         "begins at -20 A: distances from the trap's middle are not negative"},
        {"\"n\": 6, \"one_body\": \"slab\", \"density\": 8e-4, \"one_body_factor\": "
         "\"data/reference/helium-film-w.txt\"",
         "/system/one_body_factor: data/reference/helium-film-w.txt: ln phi"},
        {"\"n\": 6, \"one_body\": \"slab\", \"density\": 1e-4, \"localisation\": 1, "
         "\"one_body_factor\": \"data/reference/helium-film-w.txt\"",
         "/system/localisation: has no effect"},
        {"\"n\": 6, \"one_body\": \"slab\", \"density\": 1e-4, \"trap_length\": 1, "
         "\"localisation\": 1, \"external\": \"data/reference/helium-film-v.txt\"",
         "/system/trap_length: has no effect"},
        {"\"n\": 6, \"external\": \"data/reference/helium-film-v.txt\"",
         "/system/external: has no effect"},
        {"\"n\": 6, \"one_body\": \"slab\", \"density\": 1e-4, \"external\": \"cubic\", "
         "\"localisation\": 1",
         "/system/external"},
        {"\"n\": 32, \"one_body\": \"triangular\"",
         "/system/one_body: triangular in three dimensions"},
        {"\"n\": 32, \"one_body\": \"fcc\", \"dimensions\": 2, \"density\": 0.05",
         "there are triangular, trap"},
        {"\"n\": 32, \"one_body\": \"slab\", \"dimensions\": 2, \"density\": 0.05",
         "there are triangular, trap"},
        {"\"n\": 32, \"aspect\": [2, 3]", "/system/aspect: found 2 numbers; in three dimensions"},
        {"\"n\": 32, \"aspect\": [2, 3, 1], \"dimensions\": 2",
         "/system/aspect: found 3 numbers; in two dimensions"},
        {"\"n\": 40, \"dimensions\": 2, \"density\": 0.07, \"one_body\": \"triangular\"",
         "[1, 1]: 32 or 50 do; or keep n, with /system/aspect [5, 4]"},
        {"\"n\": 30, \"dimensions\": 2, \"density\": 0.07, \"one_body\": \"triangular\", "
         "\"aspect\": [3, 2]",
         "[3, 2]: 12 or 48 do; or keep n, with /system/aspect [5, 3]"},
        {"\"n\": 8, \"dimensions\": 2, \"one_body\": \"trap\", \"density\": 0.02",
         "at most a density of "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ergo_job *job = NULL;
        if (parse(rows[i][0], &job) != ERGO_E_JOB || !strstr(ergo_error_message(ctx), rows[i][1]))
            fail_msg("%s: \"%s\", expected \"%s\"", rows[i][0], ergo_error_message(ctx),
                     rows[i][1]);
        ergo_error_clear(ctx);
    }
    ergo_job_destroy(job_of("\"n\": 180, \"one_body\": \"hcp\", \"aspect\": [5, 3, 3]"));
}

/* Atoms that are not at their sites, in a file of a start. */
static void a_start_has_atoms_at_their_sites(void **state) {
    (void)state;
    struct scene s;
    struct ergo_text text = {0};
    begin(&s, systems[2], 0.3);
    helium_frame_append(&text, &s.m, "", s.place);
    assert_int_equal(helium_start_parse(ctx, "file", text.data, text.length, &s.m, 1, NULL),
                     ERGO_OK);
    text.length = 0;
    for (uint32_t k = 0; k < 3; k++) { /* exchange two atoms */
        const int32_t first = s.place[k * s.m.n];
        s.place[k * s.m.n] = s.place[k * s.m.n + 4];
        s.place[k * s.m.n + 4] = first;
    }
    helium_frame_append(&text, &s.m, "", s.place);
    assert_int_equal(helium_start_parse(ctx, "file", text.data, text.length, &s.m, 1, NULL),
                     ERGO_E_JOB);
    assert_non_null(strstr(ergo_error_message(ctx), "atom 1 is "));
    ergo_error_clear(ctx);
    ergo_text_free(&text);
    end(&s);
}

/* In two dimensions: all z are 0, in starts, files and states; displacements have the length that
 * was asked for; g(r) counts pairs in rings. */
static void a_plane_has_two_dimensions(void **state) {
    (void)state;
    const double pi = 3.14159265358979;
    struct scene s;
    uint32_t lattice[4];
    struct ergo_text text = {0};
    begin(&s, "\"n\": 20, \"dimensions\": 2, \"aspect\": [3, 2], \"density\": 0.04, \"b\": 2.6", 0);
    const struct ergo_point *point = &s.job->points[0];
    helium_lattice_sites(point, lattice);
    assert_true(lattice[0] == 6 && lattice[1] == 4 && lattice[2] == 1);
    helium_lattice_start(lattice, &s.member, s.m.n, 1, s.place);
    assert_true(helium_places_fit(&s.m, s.place));
    assert_true(fabs(s.m.side[0] * s.m.side[1] * 0.04 / 20 - 1) < 1e-12);
    helium_model_step(&s.m, 0.4, helium_model_spacing(&s.m));
    assert_true(s.m.step[2] == 0);
    assert_true(fabs(hypot(s.m.step[0] * s.m.side[0], s.m.step[1] * s.m.side[1]) - 2) < 1e-9);

    double gr[100], pairs = 0, counted = 0;
    helium_gr(point, &s.m, s.place, 1, gr);
    for (int i = 0; i < 100; i++) {
        const double a = s.m.half / 100 * i, b = s.m.half / 100 * (i + 1);
        pairs += gr[i] * pi * (b * b - a * a) * 0.04 * 19 / 2;
    }
    for (uint32_t i = 0; i < 20; i++)
        for (uint32_t j = 0; j < i; j++) {
            const double x =
                s.m.side[0] * 0x1p-32 * (int32_t)((uint32_t)s.place[i] - (uint32_t)s.place[j]);
            const double y = s.m.side[1] * 0x1p-32 *
                             (int32_t)((uint32_t)s.place[20 + i] - (uint32_t)s.place[20 + j]);
            counted += hypot(x, y) < s.m.half; /* differences of integers are nearest images */
        }
    close_to("pairs", pairs, counted, 1e-9);

    helium_frame_append(&text, &s.m, "", s.place);
    assert_int_equal(helium_start_parse(ctx, "file", text.data, text.length, &s.m, 1, NULL),
                     ERGO_OK);
    text.length = 0;
    s.place[47] = 1 << 20;
    assert_false(helium_places_fit(&s.m, s.place));
    helium_frame_append(&text, &s.m, "", s.place);
    assert_int_equal(helium_start_parse(ctx, "file", text.data, text.length, &s.m, 1, NULL),
                     ERGO_E_JOB);
    assert_non_null(strstr(ergo_error_message(ctx), "atom 8 is at z"));
    ergo_error_clear(ctx);
    ergo_text_free(&text);
    end(&s);
}

/* Pairs by their vectors: of a crystal the neighbours' cells have all of them, and those of two
 * atoms are the vector and its negative; all cells together have all pairs (of three dimensions
 * those within the cylinder). */
static void pairs_have_vectors(void **state) {
    (void)state;
    enum { BINS = 16 };
    static const char *const two[] = {"\"n\": 2, \"dimensions\": 2, \"density\": 0.005",
                                      "\"n\": 2, \"density\": 0.00025"};
    for (int which = 0; which < 2; which++) {
        struct scene s;
        char json[400];
        double map[BINS * BINS], sum = 0;
        begin(&s, two[which], 0);
        ergo_job_destroy(s.job);
        snprintf(json, sizeof json,
                 "{\"sampler\": \"helium-vmc\", \"system\": {%s}, \"run\": {\"sweeps\": 9, "
                 "\"pair_map_bins\": 16}}",
                 two[which]);
        assert_int_equal(ergo_job_parse(ctx, json, strlen(json), "test", NULL, 0, &s.job), ERGO_OK);
        const struct ergo_point *point = &s.job->points[0];
        assert_int_equal(helium_pair_map_size(point), BINS * BINS);
        /* a box of 20 A: the vector (4.4, -3.1, 6.9), of z only in three dimensions */
        assert_true(fabs(s.m.side[0] - 20) < 1e-9);
        const double vector[3] = {4.4, -3.1, which ? 6.9 : 0};
        for (int k = 0; k < 3; k++) {
            s.place[2 * k] = 7 << 20;
            s.place[2 * k + 1] =
                (int32_t)((uint32_t)s.place[2 * k] + (uint32_t)llround(vector[k] / 20 * 0x1p32));
        }
        helium_pair_map(point, &s.m, s.place, 1, map);
        for (int i = 0; i < BINS * BINS; i++)
            sum += map[i] != 0;
        if (which == 0) {
            /* cells of 1.25 A from -10 A: 14.4 and 6.9, 5.6 and 13.1 */
            assert_true(sum == 2);
            close_to("there", map[5 * BINS + 11], BINS * BINS / 2.0, 1e-12);
            close_to("and back", map[10 * BINS + 4], BINS * BINS / 2.0, 1e-12);
        } else {
            /* 5.38 A across and 6.9 A along, in cells of 0.625 A */
            const double ring = 3.14159265358979 * 0.625 * 0.625 * (9 * 9 - 8 * 8) / 400;
            assert_true(sum == 1);
            close_to("ring", map[11 * BINS + 8], BINS / ring, 1e-9);
        }
        end(&s);
    }
}

/* A solid that moves as a whole has the same spread; a cloud in a trap has not. */
static void the_spread_of_a_solid_is_about_its_own_middle(void **state) {
    (void)state;
    for (size_t i = 2; i < 4; i++) {
        struct scene s;
        double before[3], after[3];
        begin(&s, systems[i], 0.3);
        const struct ergo_point *point = &s.job->points[0];
        helium_site_curve(point, &s.m, HELIUM_SPREAD, s.place, 1, before);
        for (uint32_t k = 0; k < 3 * s.m.n; k++)
            s.place[k] = (int32_t)((uint32_t)s.place[k] + 0x1000000u);
        helium_site_curve(point, &s.m, HELIUM_SPREAD, s.place, 1, after);
        for (int k = 0; k < 3; k++) {
            const bool same = fabs(after[k] / before[k] - 1) < 1e-6;
            assert_true(before[k] > 0 && same == (i == 2));
        }
        end(&s);
    }
}

/* u that ends with a slope is refused to new jobs; jobs of runs that are there can be read. */
static void a_slope_at_the_end_is_for_new_jobs(void **state) {
    static const char *const set = "/system/symmetrised=false";
    static const char system[] = "\"n\": 20, \"wave_function\": \"./slope.txt\"";
    struct ergo_job *job = NULL, *old = NULL;
    char text[200];
    (void)state;
    FILE *file = fopen("slope.txt", "w");
    assert_non_null(file);
    for (double r = 1; r < 15; r += 0.1)
        fprintf(file, "%g %.9g\n", r, -0.5 * pow(2.9 / r, 5));
    fclose(file);
    snprintf(text, sizeof text, "%s, \"symmetrised\": false", system);
    assert_int_equal(parse(text, &job), ERGO_E_JOB);
    assert_non_null(strstr(ergo_error_message(ctx), "has the slope"));
    ergo_error_clear(ctx);
    job = job_of(system);
    const enum ergo_status status = ergo_job_again(ctx, job, &set, 1, &old);
    unlink("slope.txt");
    if (status != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    ergo_job_destroy(old);
    ergo_job_destroy(job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lattices_have_their_shells),
        cmocka_unit_test(a_crystal_scatters),
        cmocka_unit_test(the_chain_has_the_serial_programs_energies),
        cmocka_unit_test(the_serial_program_has_the_slopes_of_ln_psi),
        cmocka_unit_test(far_from_a_site_the_factor_is_flat),
        cmocka_unit_test(what_does_not_fit_is_refused_with_what_does),
        cmocka_unit_test(a_start_has_atoms_at_their_sites),
        cmocka_unit_test(a_plane_has_two_dimensions),
        cmocka_unit_test(tables_are_the_functions),
        cmocka_unit_test(files_that_tables_cannot_follow_are_refused),
        cmocka_unit_test(pairs_have_vectors),
        cmocka_unit_test(the_spread_of_a_solid_is_about_its_own_middle),
        cmocka_unit_test(a_slope_at_the_end_is_for_new_jobs),
    };
    ctx = ergo_context_create();
    if (!ctx)
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ergo_context_destroy(ctx);
    return failed;
}
