/* Pure functions of helium-dmc: the comb, weights, drift, a step of the chain (helium_chain.h),
 * estimates; and the finite differences that physics/test_dmc.c relies on. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helium_dmc/core.h"
#include "oracle/helium_axis.h"
#include "oracle/helium_chain.h"
#include "oracle/helium_dmc.h"
#include "oracle/helium_ground.h"
#include "oracle/helium_serial.h"
#include "samplers/helium_dmc/dmc.h"

static void close_to(const char *what, double found, double expected, double tolerance) {
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s: %.12g, expected %.12g within %.2g", what, found, expected, tolerance);
}

/* ---- weights and the comb -------------------------------------------------------------------- */

static const struct helium_dmc plain = {
    .drift = 1, .tau = 0x1p-20f, .most = {1000, 1000, 1000}, .shift = {1, 0, 0}};

static void weights_are_exponentials(void **state) {
    (void)state;
    for (double x = -15; x < 2; x += 0.01) {
        const int64_t energy = -(int64_t)llround(x * 0x1p20);
        const float found = helium_dmc_exponent(energy, 0, &plain);
        close_to("exponent", (double)found, x, 1e-6);
        close_to("weight", (double)helium_dmc_weight(found, 0) * 0x1p-24, exp((double)found),
                 1e-6 * exp(x) + 0x1p-24);
    }
    assert_true(helium_dmc_exponent(INT64_C(1) << 40, 0, &plain) == HELIUM_DMC_LEAST);
    assert_true(helium_dmc_exponent(-(INT64_C(1) << 40), 0, &plain) == HELIUM_DMC_MOST);
    assert_true(helium_dmc_exponent(5 << 20, 4 << 20, &plain) == -1.0f); /* of the difference */
    assert_true(helium_dmc_weight(0, 0) == 1u << 24);
    assert_true(helium_dmc_weight(2, 1) == 0); /* marked */
}

/* Energies of walkers in the potential alone. */
static void fill(struct helium_sums *sums, uint32_t walkers, uint64_t *seed, double width) {
    memset(sums, 0, walkers * sizeof *sums);
    for (uint32_t w = 0; w < walkers; w++) {
        *seed = *seed * UINT64_C(6364136223846793005) + 1;
        sums[w].potential = 2 * (int64_t)(width * 0x1p20 * ((double)(*seed >> 11) * 0x1p-53 - 0.5));
    }
}

static void comb_copies_in_proportion(void **state) {
    (void)state;
    enum { WALKERS = 257 };
    struct helium_sums sums[WALKERS];
    uint32_t parents[WALKERS];
    uint64_t grown[2];
    uint64_t seed = 7;
    double copies = 0, wanted = 0;
    for (uint32_t step = 0; step < 200; step++) {
        const struct helium_member member = {.key0 = 3, .key1 = step};
        const uint32_t walkers = step % 2 ? WALKERS : 5;
        const struct helium_population chain = {.walker = {.member = &member},
                                                .dmc = &plain,
                                                .walkers = walkers,
                                                .sums = sums,
                                                .parents = parents};
        double weight[WALKERS], all = 0, energy = 0;
        uint32_t n[WALKERS] = {0};
        fill(sums, walkers, &seed, 3);
        helium_population_comb(&chain, step, grown);
        for (uint32_t w = 0; w < walkers; w++)
            energy += (double)sums[w].potential / 2 * 0x1p-20 / walkers;
        for (uint32_t w = 0; w < walkers; w++) {
            weight[w] = exp(energy - (double)sums[w].potential / 2 * 0x1p-20);
            all += weight[w];
            assert_true(parents[w] < walkers && (w == 0 || parents[w] >= parents[w - 1]));
            n[parents[w]]++;
        }
        close_to("the mean", (double)(int64_t)grown[0] * 0x1p-20, energy, 1e-5);
        close_to("the sum of weights", (double)grown[1] * 0x1p-24 / all, 1, 1e-5);
        for (uint32_t w = 0; w < walkers; w++) {
            const double worth = walkers * weight[w] / all;
            if (!(n[w] > worth - 1 - 1e-5 && n[w] < worth + 1 + 1e-5))
                fail_msg("step %u: %u copies of a walker that is worth %g", step, n[w], worth);
        }
        copies += n[0];
        wanted += walkers * weight[0] / all;
    }
    /* without bias: of 200 steps each is off by less than one */
    close_to("copies", copies, wanted, 4 * sqrt(200 * 0.25));
}

static void comb_of_equal_weights_and_of_none(void **state) {
    (void)state;
    enum { WALKERS = 64 };
    struct helium_sums sums[WALKERS] = {{0}};
    uint32_t parents[WALKERS];
    uint64_t grown[2];
    const struct helium_member member = {.key0 = 1};
    const struct helium_population chain = {.walker = {.member = &member},
                                            .dmc = &plain,
                                            .walkers = WALKERS,
                                            .sums = sums,
                                            .parents = parents};
    for (int marked = 0; marked < 2; marked++) {
        for (uint32_t w = 0; w < WALKERS; w++)
            sums[w].accepted = marked ? INT64_C(1) << 32 : 0;
        helium_population_comb(&chain, 5, grown);
        for (uint32_t w = 0; w < WALKERS; w++)
            assert_int_equal(parents[w], w);
    }
    sums[3].accepted = 0; /* all others end */
    helium_population_comb(&chain, 5, grown);
    for (uint32_t w = 0; w < WALKERS; w++)
        assert_int_equal(parents[w], 3);
}

/* Sums as large as 2^20 walkers have them. */
static void teeth_are_in_order(void **state) {
    (void)state;
    static const uint64_t sums[] = {
        1, 5, 1023, UINT64_C(0x1000003), UINT64_C(0x1d8f3a7654321), (UINT64_C(1) << 51) - 1};
    for (size_t s = 0; s < sizeof sums / sizeof sums[0]; s++)
        for (uint32_t count = 2; count <= 1048576; count = count * 3 + 1)
            for (uint32_t word = 1; word; word = word * 5 > word ? word * 5 : 0) {
                const uint64_t first = ergo_comb_tooth(0, sums[s], count, word);
                const uint64_t last = ergo_comb_tooth(count - 1, sums[s], count, word);
                const uint64_t next = ergo_comb_tooth(1, sums[s], count, word);
                assert_true(first <= sums[s] / count && last < sums[s]);
                assert_true(next - first - sums[s] / count <= 1);
            }
}

/* ---- the pair function of two atoms alone ---------------------------------------------------- */

/* With it the local energy of a pair is the same at all distances where it is used. */
static void a_pair_alone_has_one_energy(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    static const struct {
        uint32_t dimensions;
        double healing, energy; /* by Numerov's rule on another grid */
    } cases[] = {{3, 4.4, -1.385761}, {3, 5.5, -1.057571}, {2, 5.5, -0.594621}};
    for (size_t k = 0; k < 3; k++) {
        struct helium_model m = {.dimensions = cases[k].dimensions,
                                 .half = 7.15,
                                 .core = 0.5,
                                 .lambda = helium_lambda(4.002602)};
        double u[3], v[2];
        assert_int_equal(helium_two_body(ctx, &m, cases[k].healing, &m.f_curve), ERGO_OK);
        for (double r = 1.5; r < cases[k].healing - 0.02; r += 0.01) {
            helium_model_u(&m, r, u);
            helium_model_v(&m, r, v);
            const double around = (m.dimensions - 1) * u[1] / r;
            const double local = v[0] - 2 * m.lambda * (u[2] + around + u[1] * u[1]);
            close_to("local energy of a pair", local, cases[k].energy, 2e-3 + 1e-5 * fabs(v[0]));
        }
        for (int i = 0; i < 2; i++) { /* value and slope at the end, 0 beyond */
            helium_model_u(&m, cases[k].healing + i * 0.5, u);
            close_to("u", u[0], 0, 1e-9);
            close_to("u'", u[1], 0, 1e-4);
        }
        helium_model_free(&m);
    }
    ergo_context_destroy(ctx);
}

/* ---- a step ---------------------------------------------------------------------------------- */

struct pair {
    struct helium_model model;
    struct helium_member member;
    struct helium_dmc dmc;
    struct helium_cubic_host *table, *random;
    struct helium_population chain;
    int32_t euler[6];
};

static void begin(struct pair *p, double tau) {
    struct helium_model *m = &p->model;
    double most, usual, u[3];
    int kind;
    memset(p, 0, sizeof *p);
    m->n = 2;
    m->dimensions = 3;
    m->density = 2.0 / 512;
    m->b = 3.07;
    m->lambda = helium_lambda(4.002602);
    m->kink = 1.4826 * 2.963;
    m->half = 4;
    m->core = 0.5;
    for (int k = 0; k < 3; k++)
        m->side[k] = 8;
    for (helium_model_u(m, m->core, u); fabs(u[0]) > 31.9; helium_model_u(m, m->core, u))
        m->core += 1e-4;
    assert_true(helium_fixed_point(m, &kind, &most, &usual));
    p->member.low = helium_model_low(m);
    helium_model_kink(m, &p->member.kink, &p->member.kink_width);
    p->member.root = (float)sqrt(m->lambda);
    p->member.dimensions = 3;
    p->dmc.drift = (float)(sqrt(m->lambda) * tau);
    for (int k = 0; k < 3; k++) {
        p->member.scale[k] = 0x1p-31f;
        p->member.length[k] = (float)(m->side[k] * 0x1p-32);
        p->dmc.most[k] = (float)(0.36 / 8 * 0x1p32);
    }
    for (int k = 0; k < HELIUM_E_KINDS; k++) {
        p->member.unit[k] = (float)ldexp(1, m->bits[k]);
        p->member.limit[k] = (float)ldexp(1, 60 - m->bits[k]);
    }
    const unsigned binades = helium_model_binades(m);
    p->table = malloc(2 * (size_t)helium_energy_pieces(binades) * sizeof *p->table);
    p->random = malloc(2 * HELIUM_R_SIZE * sizeof *p->random);
    assert_true(p->table && p->random);
    helium_table_energy(m, binades, p->table);
    helium_table_random(p->random);
    p->chain = (struct helium_population){.walker = {.member = &p->member,
                                                     .e_table = p->table,
                                                     .random = p->random,
                                                     .binades = binades,
                                                     .n = 2},
                                          .dmc = &p->dmc,
                                          .walkers = 1,
                                          .euler = p->euler};
}

static void end(struct pair *p) {
    free(p->table);
    free(p->random);
}

/* Without diffusion: the drift dx/dtau = 2 lambda grad ln psi to the middle by Heun's rule, and
 * from there by the midpoint rule, from two atoms at distance r. Atom 0 goes by half of what r
 * does. */
static void the_drift_is_the_midpoint_rule(void **state) {
    (void)state;
    const double tau = 0.002;
    struct pair p;
    begin(&p, tau);
    for (double r = 2.0; r < 3.9; r += 0.1) {
        int32_t from[6] = {0}, next[6], middle[6];
        struct helium_sums sums;
        double u[3];
        from[1] = (int32_t)(r / 8 * 0x1p32);
        helium_population_move(&p.chain, 0, 0, from, next, middle, &sums);
        ergo_oracle_helium_u(r, 3.07, 8, u);
        const double euler = 2 * p.model.lambda * tau * u[1];
        ergo_oracle_helium_u(r + euler, 3.07, 8, u);
        const double half = r + euler / 2 + p.model.lambda * tau * u[1];
        ergo_oracle_helium_u(half, 3.07, 8, u);
        const double whole = r + 4 * p.model.lambda * tau * u[1];
        close_to("the middle", (double)(middle[1] - middle[0]) * 8 * 0x1p-32, half, 2e-6);
        close_to("the end", (double)(next[1] - next[0]) * 8 * 0x1p-32, whole, 4e-6);
        /* energies of the middle */
        const double v = ergo_oracle_helium_potential(half);
        const double local = v - 2 * p.model.lambda * (u[2] + 2 * u[1] / half + u[1] * u[1]);
        const double found = (double)sums.potential / 2 * p.model.unit[0] +
                             (double)sums.laplacian * p.model.unit[2] -
                             (double)sums.gradient * p.model.unit[3];
        close_to("the local energy", found, local, 1e-5 * (fabs(v) + 100 * fabs(u[1]) + 10));
    }
    end(&p);
}

/* At 1.5 A the gradient is 60/A: without its limit, an atom would go 0.7 A in half a step. */
static void the_drift_is_limited(void **state) {
    (void)state;
    struct pair p;
    int32_t from[6] = {0}, next[6], middle[6];
    struct helium_sums sums;
    double u[3];
    begin(&p, 0.002);
    from[1] = (int32_t)(1.5 / 8 * 0x1p32);
    helium_population_move(&p.chain, 0, 0, from, next, middle, &sums);
    ergo_oracle_helium_u(1.5 + 2 * 0.36, 3.07, 8, u);
    close_to("half a step", (double)middle[0] * 8 * 0x1p-32,
             -0.5 * (0.36 + p.model.lambda * 0.002 * u[1]), 2e-6);
    assert_true(fabs((double)next[0] * 8 * 0x1p-32) <= 0.72 + 1e-6);
    assert_true(helium_dmc_drift(1e30f, 0, 2, 1, &plain) == 2000);
    assert_true(helium_dmc_drift(-INFINITY, 0, 1, 2, &plain) == -1000);
    end(&p);
}

/* ln psi = -(wall/x)^2 - c/2 (x - middle)^2 of an atom in V = spring x^2 and a wall that is harder
 * than psi. Within 0.4 A of the wall functions go on as tables do. */
struct well {
    double c, spring, wall, middle;
};

/* ln psi' and ''. */
static void slopes(const struct well *w, double x, double f[2]) {
    const double y = fmax(x, 0.4), wall = w->wall > 0 ? 2 * pow(w->wall / y, 2) / y : 0;
    f[0] = wall - w->c * (x - w->middle);
    f[1] = (w->wall > 0 ? -3 * wall / y : 0) - w->c;
}

static double well_energy(const void *system, double x) {
    const struct well *w = system;
    const double lambda = helium_lambda(4.002602);
    double f[2];
    slopes(w, x, f);
    const double wall = w->wall > 0 ? 1.5 * lambda * f[0] * f[0] : 0;
    return w->spring * x * x + wall - lambda * (f[1] + f[0] * f[0]);
}

/* The kernels' drift, with a limit of 0.3 A, in a box of 100 A. */
static double well_drift(const struct ergo_oracle_axis *a, double x, double halves) {
    const double root = sqrt(a->lambda), unit = 100 * 0x1p-32;
    const struct helium_dmc dmc = {.drift = (float)(root * a->time_step),
                                   .most = {(float)(0.3 / unit)}};
    double f[2];
    slopes(a->system, x, f);
    const float gradient = (float)(root * f[0] / unit);
    const bool resolved = helium_dmc_resolves(0, (float)(0.5 * root * f[1]), &dmc);
    return helium_dmc_drift(gradient, resolved ? gradient : 0, (float)halves, 0, &dmc) * unit;
}

/* The limit of the drift leaves the error of a step of the order tau^2, however far out atoms come:
 * in a trap by a psi that is too narrow (with a limit for all of the drift -139 K at 0.06/K) or too
 * wide, and beside a wall, near which no step follows the drift. */
static void the_limit_keeps_the_order(void **state) {
    (void)state;
    const double lambda = helium_lambda(4.002602);
    static const struct {
        struct well well;
        double begin, end, time_step, trap; /* length of a trap; 0: E is not known */
    } cases[] = {{{.c = 1 / 6.0, .spring = 1 / 81.0}, -16, 16, 0.06, 3},
                 {{.c = 0.18, .spring = 1 / 16.0}, -10, 10, 0.04, 2},
                 {{.c = 0.2, .spring = 1 / 81.0, .wall = 1.5, .middle = 2}, -3, 12, 0.005, 0}};
    for (size_t k = 0; k < 3; k++) {
        struct well well = cases[k].well;
        double e[3];
        well.spring *= lambda;
        for (int i = 0; i < 3; i++) {
            const struct ergo_oracle_axis axis = {
                cases[k].begin, cases[k].end, lambda,    ldexp(cases[k].time_step, -i),
                &well,          well_energy,  well_drift};
            e[i] = ergo_oracle_axis_energy(&axis);
        }
        print_message("%.6f, %.6f, %.6f\n", e[0], e[1], e[2]);
        close_to("order", log2((e[0] - e[1]) / (e[1] - e[2])), 2, 0.2);
        if (cases[k].trap > 0) {
            const double exact = lambda / (cases[k].trap * cases[k].trap);
            close_to("energy", (4 * e[1] - e[0]) / 3, exact, 1e-3 * exact);
            close_to("at the longest step", e[0], exact, 0.02 * exact);
            continue;
        }
        const struct ergo_oracle_axis axis = {.lambda = lambda, .time_step = 0.02, .system = &well};
        close_to("at the wall", well_drift(&axis, 0.5, 1), 0.3, 1e-6);
    }
}

/* The variance of diffusion is 2 lambda tau for each component. */
static void diffusion_has_its_width(void **state) {
    (void)state;
    enum { WALKERS = 20000 };
    const double tau = 0.001, width = 2 * helium_lambda(4.002602) * tau;
    struct pair p;
    double square = 0, fourth = 0;
    begin(&p, tau);
    p.dmc.drift = 0;
    helium_model_step(&p.model, sqrt(6 * p.model.lambda * tau), 1);
    for (int k = 0; k < 3; k++)
        p.member.step[k] = (float)(p.model.step[k] * 0x1p32);
    for (uint32_t w = 0; w < WALKERS; w++) {
        int32_t from[6] = {0, INT32_MAX, 0, 0, 0, 0}, next[6], middle[6];
        struct helium_sums sums;
        helium_population_move(&p.chain, 9, w, from, next, middle, &sums);
        for (int k = 0; k < 6; k++) {
            const double d = (double)(int32_t)((uint32_t)next[k] - (uint32_t)from[k]) * 8 * 0x1p-32;
            square += d * d / (6 * WALKERS);
            fourth += d * d * d * d / (6 * WALKERS);
        }
    }
    close_to("variance", square / width, 1, 4 * sqrt(2.0 / (6 * WALKERS)));
    close_to("kurtosis", fourth / (width * width), 3, 4 * sqrt(96.0 / (6 * WALKERS)));
    end(&p);
}

static void records_are_in_order(void **state) {
    (void)state;
    const struct helium_dmc dmc = {.every = 3};
    const struct helium_population chain = {.dmc = &dmc};
    int64_t a[HELIUM_DMC_RECORDS] = {0}, b[HELIUM_DMC_RECORDS];
    for (uint64_t step = 0; step < 100; step++) {
        const struct helium_sums sums = {.potential = (int64_t)step};
        helium_population_record(&chain, step, &sums, a, b);
        memcpy(a, b, sizeof a);
        for (int k = 0; k < HELIUM_DMC_RECORDS && step > 0; k++) {
            const int64_t last = ((int64_t)(step + 1) / 3 - k) * 3 - 1;
            assert_int_equal(a[k], last < 0 ? 0 : last);
        }
    }
}

/* Half of a step's weight belongs to its measurement; the growth has all of it. */
static void estimates_have_half_weights(void **state) {
    (void)state;
    const double e[3] = {-3, -1, 1.75}, tau = 0.25;
    struct helium_model m = {.n = 2, .unit = {0x1p-20, 0x1p-20, 0x1p-20, 0x1p-20}};
    const struct helium_dmc dmc = {.tau = 0x1p-22f, .shift = {1, 0, 0}};
    struct helium_sums sums[3] = {{0}};
    double columns[DMC_COLUMNS], h = 0, mean = 0, square = 0, v = 0, all = 0, all2 = 0;
    for (int w = 0; w < 3; w++) { /* V = e + 5, kinetic = -5 */
        sums[w].potential = 2 * (int64_t)((e[w] + 5) * 0x1p20);
        sums[w].laplacian = -(INT64_C(3) << 20);
        sums[w].gradient = INT64_C(2) << 20;
        const double half = exp(-0.5 * tau * (e[w] + 0.75));
        h += half;
        mean += half * e[w] / 2;
        square += half * e[w] * e[w] / 4;
        v += half * (e[w] + 5) / 2;
        all += half * half;
        all2 += pow(half, 4);
    }
    dmc_estimate(&m, &dmc, tau, 0x1p-20, sums, 3, columns);
    close_to("energy", columns[DMC_ENERGY], mean / h, 1e-6);
    close_to("potential", columns[DMC_POTENTIAL], v / h, 1e-6);
    close_to("square", columns[DMC_SQUARE], square / h, 1e-6);
    close_to("growth", columns[DMC_GROWTH], (-0.75 - log(all / 3) / tau) / 2, 1e-5);
    close_to("effective", columns[DMC_EFFECTIVE], all * all / (3 * all2), 1e-6);
    m.tail_potential = -1;
    dmc_estimate(&m, &dmc, tau, 0x1p-20, sums, 3, columns);
    close_to("energy with its tail", columns[DMC_ENERGY], mean / h - 1, 1e-6);
    close_to("growth with its tail", columns[DMC_GROWTH], (-0.75 - log(all / 3) / tau) / 2 - 1,
             1e-5);
}

/* Walkers that are all in one impossible place have equal weights. */
static void walkers_run_away(void **state) {
    (void)state;
    const double tau = 0.25;
    const struct helium_model m = {.n = 2, .unit = {0x1p-20, 0x1p-20, 0x1p-20, 0x1p-20}};
    const struct helium_dmc dmc = {.tau = 0x1p-22f, .shift = {1, 0, 0}};
    for (int kinetic = -20; kinetic < 20; kinetic++) {
        struct helium_sums sums[8] = {{0}};
        for (int w = 0; w < 8; w++)
            sums[w] = (struct helium_sums){.laplacian = INT64_C(20) * (1 << 20),
                                           .gradient = INT64_C(1048576) * (20 - kinetic)};
        const struct dmc_spread spread = dmc_spread_of(&m, &dmc, sums, 8);
        close_to("kinetic", spread.kinetic, kinetic, 1e-9);
        close_to("effective", spread.effective, 1, 1e-9);
        assert_true(spread.limited == 0 && spread.deviation == 0);
        assert_int_equal(dmc_runs_away(&spread, 8, tau), kinetic < -16);
    }
}

/* The newest step counts by half, and nothing is older than step 0. */
static void weights_of_the_last_steps(void **state) {
    (void)state;
    const struct dmc_shape shape = {.walkers = 2, .remember = 4};
    const double tau = 0.5, unit = 0.25;
    uint64_t grown[8];
    for (uint64_t k = 0; k < 4; k++) { /* steps 4 5 2 3: energies -4 -5 -2 -3 K, weights step / 2 */
        const uint64_t step = k < 2 ? k + 4 : k;
        grown[2 * k] = (uint64_t)(-4 * (int64_t)step);
        grown[2 * k + 1] = step << 24;
    }
    const double l5 = log(2.5) + 2.5, l4 = log(2.0) + 2, l3 = log(1.5) + 1.5, l2 = log(1.0) + 1;
    close_to("all", dmc_log_weight(&shape, tau, unit, 5, grown, 4), l5 / 2 + l4 + l3 + l2, 1e-12);
    close_to("half", dmc_log_weight(&shape, tau, unit, 5, grown, 2), l5 / 2 + l4, 1e-12);
    grown[1] = 0; /* no step 4: a run begins */
    close_to("some", dmc_log_weight(&shape, tau, unit, 5, grown, 2), l5 / 2, 1e-12);
}

/* ---- the oracle ------------------------------------------------------------------------------ */

static void finite_differences_find_a_known_state(void **state) {
    (void)state;
    const struct ergo_oracle_smooth pair = {8, helium_lambda(4.002602), 3, 0};
    const struct ergo_oracle_ground a =
        ergo_oracle_ground_state(3, 8, pair.lambda, ergo_oracle_smooth_v, &pair, 1e9, 12);
    const struct ergo_oracle_ground b =
        ergo_oracle_ground_state(3, 8, pair.lambda, ergo_oracle_smooth_v, &pair, 1e9, 24);
    print_message("12^3: E %.6f, V %.6f; 24^3: E %.6f, V %.6f\n", a.energy, a.potential, b.energy,
                  b.potential);
    assert_true(fabs(b.energy) < 0.3 * fabs(a.energy));
    close_to("energy", (4 * b.energy - a.energy) / 3, 0, 1e-4);
    close_to("V", (4 * b.potential - a.potential) / 3, ergo_oracle_smooth_mean(&pair, 3), 1e-3);
}

/* Is the energy above that of the ground state? phi by Numerov's rule from 1 A to 200 A: then it
 * has a node, or falls more steeply there than a bound state. */
static bool above_ground(const struct helium_model *m, double energy) {
    const double h = 0.002, w = h * h / 12, end = 200;
    double a = 0, b = 1e-30, f[3], v[2];
    for (int k = 0; k < 2; k++) {
        helium_model_v(m, 1 + k * h, v);
        f[k] = (v[0] - energy) / (2 * m->lambda);
    }
    for (double r = 1 + 2 * h; r < end; r += h) {
        helium_model_v(m, r, v);
        f[2] = (v[0] - energy) / (2 * m->lambda);
        const double c = (2 * (1 + 5 * w * f[1]) * b - (1 - w * f[0]) * a) / (1 - w * f[2]);
        const double scale = fabs(c) > 1e200 ? 1e-200 : 1;
        a = b * scale;
        b = c * scale;
        f[0] = f[1];
        f[1] = f[2];
    }
    return b < 0 || (b - a) / h / (0.5 * (a + b)) < -sqrt(-energy / (2 * m->lambda));
}

/* The dimer's binding energy is a small difference of V and kinetic energy, and so a sharp test of
 * the potentials' constants and of lambda: 1.69 mK for HFD-B(HE), 0.83 mK for HFDHE2 (A. R. Janzen,
 * R. A. Aziz, J. Chem. Phys. 103, 9626 (1995)). */
static void potentials_bind_their_dimers(void **state) {
    (void)state;
    static const struct {
        enum helium_potential potential;
        double binding;
    } dimers[] = {{HELIUM_AZIZ, 1.69e-3}, {HELIUM_AZIZ_1979, 0.83e-3}};
    for (size_t k = 0; k < 2; k++) {
        const struct helium_model m = {.potential = dimers[k].potential,
                                       .lambda = helium_lambda(4.002602)};
        double low = -1e-2, high = -1e-5;
        for (int i = 0; i < 25; i++) {
            const double middle = 0.5 * (low + high);
            *(above_ground(&m, middle) ? &high : &low) = middle;
        }
        close_to("binding energy", -1e3 * low, 1e3 * dimers[k].binding, 8e-3);
    }
}

/* Two atoms, by finite differences on 72^3 and 96^3 cells: -0.19450 K. */
static void the_serial_program_finds_two_atoms(void **state) {
    (void)state;
    const struct ergo_oracle_dmc job = {.n = 2,
                                        .walkers = 300,
                                        .density = 2.0 / 512,
                                        .b = 2.8,
                                        .lambda = helium_lambda(4.002602),
                                        .time_step = 0.001,
                                        .equilibration = 1,
                                        .time = 8,
                                        .seed = 1};
    const struct ergo_oracle_dmc_energy e = ergo_oracle_dmc(&job);
    print_message("%.5f +- %.5f, acceptance %.4f\n", e.energy, e.error, e.acceptance);
    assert_true(e.error < 0.01 && e.acceptance > 0.99);
    close_to("energy", e.energy, -0.1945, 4 * e.error + 2e-3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_exponentials),
        cmocka_unit_test(comb_copies_in_proportion),
        cmocka_unit_test(comb_of_equal_weights_and_of_none),
        cmocka_unit_test(teeth_are_in_order),
        cmocka_unit_test(a_pair_alone_has_one_energy),
        cmocka_unit_test(the_drift_is_the_midpoint_rule),
        cmocka_unit_test(the_drift_is_limited),
        cmocka_unit_test(the_limit_keeps_the_order),
        cmocka_unit_test(diffusion_has_its_width),
        cmocka_unit_test(records_are_in_order),
        cmocka_unit_test(estimates_have_half_weights),
        cmocka_unit_test(walkers_run_away),
        cmocka_unit_test(weights_of_the_last_steps),
        cmocka_unit_test(finite_differences_find_a_known_state),
        cmocka_unit_test(potentials_bind_their_dimers),
        cmocka_unit_test(the_serial_program_finds_two_atoms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
