/*
 * Metropolis and heat bath of all lattice models with discrete spins, on small systems: what the
 * program accepts leaves Boltzmann's weights as they are, has one class of configurations and can
 * stay where it is. The transition matrix of a sweep is the product of those of its sites, one
 * after the other (sites of a colour do not see each other), from the rule that kernels use.
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

#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/ergodic.h"
#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/ising/ising.h"
#include "samplers/spin_lattice/models.h"
#include "spin_lattice/graph.h"
#include "spin_lattice/params.h"
#include "context.h"

enum { SITES = 16, STATES = 1 << SITES };

/* A system of n sites with q states each. Site i is updated as number i. */
struct bed {
    const struct ergo_point *point;
    uint32_t n, q, d;
    uint32_t near[SITES][6]; /* west, east, north, south, above, below */
    struct bytes_member bytes;
    struct ising_member bits; /* plain: of one bit per spin */
    bool plain;
    struct graph_network net;
    uint32_t slots[SITES]; /* vertices in order of slots, which pad colours, and their numbers */
    uint8_t numbers[4 * SITES];
    double t;
    /* of a move of a site to another state: its probability, and what it costs */
    double (*moves)(const struct bed *b, const uint8_t *s, uint32_t site, uint32_t to);
    double (*energy)(const struct bed *b, const uint8_t *s);
};

static struct ergo_job *job_of(const char *system, double t) {
    char text[500];
    struct ergo_job *job = NULL;
    snprintf(text, sizeof text,
             "{'sampler': 'spin-lattice', 'system': {%s, 'temperature': %g}, 'run': {'sweeps': 1}}",
             system, t);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    (void)ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job);
    return job;
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static void digits(const struct bed *b, uint32_t x, uint8_t *s) {
    for (uint32_t i = 0; i < b->n; i++, x /= b->q)
        s[i] = (uint8_t)(x % b->q);
}

static uint32_t divisor(uint32_t a, uint32_t b) {
    return b ? divisor(b, a % b) : a;
}

/* What one sweep after the other does with all configurations before each site. Its period is a
 * divisor of the differences between ways of one length and another to the same place. */
struct chain {
    uint32_t all, reached, period;
    double moved; /* weight, as a fraction */
};

/* Reached from the first configuration. to: [site][configuration][state], or NONE. */
#define NONE UINT32_MAX
static void walk(uint32_t sites, uint32_t q, const uint32_t *to, struct chain *c) {
    static uint32_t level[SITES * STATES], queue[SITES * STATES];
    uint32_t n = 1, period = 0;
    memset(level, 0xff, sites * c->all * sizeof *level);
    level[0] = queue[0] = 0;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t m = 0; m < q; m++) {
            const uint32_t y = to[queue[k] * q + m];
            if (y == NONE)
                continue;
            if (level[y] == NONE) {
                level[y] = level[queue[k]] + 1;
                queue[n++] = y;
            } else
                period = divisor(level[queue[k]] + 1 - level[y], period);
        }
    c->reached = n / sites;
    c->period = period / sites;
}

static struct chain look(const struct bed *b) {
    static double weight[STATES], now[STATES], next[STATES];
    static uint32_t to[SITES * STATES * 2], stride[SITES + 1];
    struct chain c = {.all = 1};
    double sum = 0;
    uint8_t s[SITES];
    for (uint32_t i = 0; i < b->n; i++, c.all *= b->q)
        stride[i] = c.all;
    assert_true(b->n * c.all * b->q <= sizeof to / sizeof *to);
    for (uint32_t x = 0; x < c.all; x++) {
        digits(b, x, s);
        sum += weight[x] = exp(-b->energy(b, s) / b->t);
    }
    memcpy(now, weight, c.all * sizeof *now);
    for (uint32_t i = 0; i < b->n; i++) {
        memset(next, 0, c.all * sizeof *next);
        for (uint32_t x = 0; x < c.all; x++) {
            double rest = 1;
            digits(b, x, s);
            for (uint32_t k = 1; k <= b->q; k++) { /* last: it stays */
                const uint32_t state = (s[i] + k) % b->q;
                const double p = k == b->q ? rest : b->moves(b, s, i, state);
                const uint32_t y = x + (state - s[i]) * stride[i];
                rest -= p;
                next[y] += p * now[x];
                to[(i * c.all + x) * b->q + k - 1] = p > 1e-9 ? (i + 1) % b->n * c.all + y : NONE;
            }
        }
        memcpy(now, next, c.all * sizeof *now);
    }
    for (uint32_t x = 0; x < c.all; x++)
        c.moved += fabs(now[x] - weight[x]) / sum;
    walk(b->n, b->q, to, &c);
    return c;
}

static void holds_for(const struct bed *b, const char *what) {
    const struct chain c = look(b);
    if (c.reached != c.all || c.period != 1 || !(c.moved < 1e-6))
        fail_msg("%s, T = %g, %s: %u of %u configurations, period %u, %g of the weight moved", what,
                 b->t, ergo_point_text(b->point, "/system/model"), c.reached, c.all, c.period,
                 c.moved);
}

/* ---- lattices -------------------------------------------------------------------------------- */

static double accepts(const struct bytes_member *m, int at) {
    return m->table[at] == 0xffffffffu ? 1 : m->table[at] * 0x1p-32;
}

/* Neighbours of a site along direction k that are in a state. */
static int count(const struct bed *b, const uint8_t *s, uint32_t site, uint32_t k, uint32_t what) {
    return (s[b->near[site][2 * k]] == what) + (s[b->near[site][2 * k + 1]] == what);
}

static double moves_bytes(const struct bed *b, const uint8_t *s, uint32_t site, uint32_t to) {
    const struct bytes_shape shape = bytes_shape_of(b->point);
    const int power[4][3] = {{1, 3, 9}, {1, 5, 25}, {1, 3, 9}, {1, 1, 1}};
    int at = 0;
    if (b->plain) {
        const int class = (s[site] ? 0 : 5) + count(b, s, site, 0, 1) + count(b, s, site, 1, 1);
        return b->bits.always >> class & 1
                   ? 1
                   : ((double)b->bits.high[class] * 0x1p32 + b->bits.low[class]) * 0x1p-39;
    }
    if (shape.kind == BYTES_POTTS_HEAT) {
        double mine = 0, sum = 0;
        for (uint32_t c = 0; c < b->q; c++) {
            at = 0;
            for (uint32_t k = 0; k < b->d; k++)
                at += power[0][k] * count(b, s, site, k, c);
            const double weight = b->bytes.table[at] * 0x1p32 + b->bytes.low[at];
            sum += weight;
            mine = c == to ? weight : mine;
        }
        return mine / sum;
    }
    for (uint32_t k = 0; k < b->d; k++) {
        const int step = power[shape.kind][k];
        at += shape.kind == BYTES_ISING ? step * count(b, s, site, k, 1)
              : shape.kind == BYTES_POTTS
                  ? step * (2 + count(b, s, site, k, s[site]) - count(b, s, site, k, to))
                  : s[b->near[site][2 * k]] + s[b->near[site][2 * k + 1]];
    }
    if (shape.kind == BYTES_POTTS)
        for (uint32_t k = b->d; k < 3; k++)
            at += 2 * power[1][k];
    if (shape.kind == BYTES_ISING)
        at += 27 * s[site];
    if (shape.kind == BYTES_BLUME_CAPEL)
        at += 39 * s[site] + 13 * (int)to;
    return accepts(&b->bytes, at) / (b->q - 1);
}

static double energy_bytes(const struct bed *b, const uint8_t *s) {
    const struct bytes_physics p = bytes_physics_of(b->point);
    const bool potts = !strcmp(ergo_point_text(b->point, "/system/model"), "potts");
    double e = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        const double own = b->q == 2 ? 2 * s[i] - 1 : 1 - s[i];
        e += potts ? 0 : p.crystal * own * own - p.b * own;
        for (uint32_t k = 0; k < b->d; k++) {
            const uint8_t other = s[b->near[i][2 * k + 1]];
            e -= p.j[k] * (potts       ? s[i] == other
                           : b->q == 2 ? own * (2 * other - 1)
                                       : own * (1 - other));
        }
    }
    return e;
}

/* Sites of one colour, then of the other. */
static void lay(struct bed *b) {
    const struct ergo_value *size = ergo_point_value(b->point, "/system/size");
    uint32_t l[3] = {1, 1, 1}, number[SITES], all = 1, n = 0;
    b->d = (uint32_t)size->items;
    for (uint32_t k = 0; k < b->d; k++)
        all *= l[k] = (uint32_t)size->size[k];
    assert_true(all <= SITES);
    for (uint32_t colour = 0; colour < 2; colour++)
        for (uint32_t i = 0; i < all; i++)
            if ((i % l[0] + i / l[0] % l[1] + i / l[0] / l[1]) % 2 == colour)
                number[i] = n++;
    b->n = n;
    for (uint32_t i = 0; i < all; i++)
        for (uint32_t k = 0, stride = 1; k < b->d; stride *= l[k++]) {
            const uint32_t at = i / stride % l[k], line = i - at * stride;
            b->near[number[i]][2 * k] = number[line + (at + l[k] - 1) % l[k] * stride];
            b->near[number[i]][2 * k + 1] = number[line + (at + 1) % l[k] * stride];
        }
}

static void test_lattices(void **state) {
    static const struct {
        const char *model, *keys;
        uint32_t q, most; /* states, sites */
    } models[] = {
        {"ising", "", 2, 16}, /* first: the largest */
        {"ising", ", 'coupling': -1", 2, 8},
        {"ising", ", 'field': 0.3", 2, 8},
        {"ising", ", 'field': 2", 2, 8},
        {"ising", ", 'coupling': -1, 'field': 2", 2, 12},
        {"potts", ", 'q': 2", 2, 12},
        {"potts", ", 'q': 3", 3, 8},
        {"potts", ", 'q': 3, 'coupling': -1", 3, 6},
        {"potts", ", 'q': 4", 4, 6},
        {"blume-capel", ", 'crystal_field': 0", 3, 8},
        {"blume-capel", ", 'crystal_field': 1", 3, 6},
        {"blume-capel", ", 'crystal_field': 2", 3, 6},
    };
    static const char *const sizes[] = {"[2]",    "[4]",    "[6]",       "[8]",      "[16]",
                                        "[2, 2]", "[2, 4]", "[4, 2]",    "[2, 6]",   "[2, 8]",
                                        "[4, 4]", "[8, 2]", "[2, 2, 2]", "[2, 4, 2]"};
    static const char *const dynamics[] = {"", ", 'dynamics': 'metropolis'",
                                           ", 'dynamics': 'heat-bath'"};
    int metropolis = 0, refused = 0;
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
            for (int rule = 0; rule < 3; rule++) {
                char system[300];
                const double t = k % 2 ? 1 : 2.5;
                if (rule && models[i].q == 3 && strcmp(models[i].model, "potts"))
                    continue; /* blume-capel has one rule */
                snprintf(system, sizeof system, "'model': '%s', 'size': %s%s%s", models[i].model,
                         sizes[k], models[i].keys, dynamics[rule]);
                struct ergo_job *job = job_of(system, t);
                if (!job) {
                    assert_int_equal(rule, 1); /* a default is never refused */
                    assert_non_null(strstr(ergo_error_message(ctx), "/system/dynamics"));
                    ergo_error_clear(ctx);
                    refused++;
                    continue;
                }
                struct bed b = {.point = &job->points[0],
                                .q = models[i].q,
                                .t = t,
                                .moves = moves_bytes,
                                .energy = energy_bytes};
                const struct bytes_shape shape = bytes_shape_of(b.point);
                if (shape.sites <= models[i].most) {
                    lay(&b);
                    bytes_member_fill(b.point, &b.bytes);
                    b.plain = !strcmp(models[i].model, "ising") && b.d == 2;
                    if (b.plain)
                        ising_member_fill(b.point, true, &b.bits);
                    metropolis += rule == 1;
                    holds_for(&b, system);
                }
                ergo_job_destroy(job);
            }
    assert_true(metropolis > 20 && refused > 20);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static int force_of(const struct bed *b, const uint8_t *s, uint32_t site) {
    const uint32_t slot = b->slots[site];
    int force = b->net.fields[slot];
    for (uint32_t k = b->net.first[slot]; k < b->net.first[slot + 1]; k++)
        force += (2 * s[b->numbers[b->net.bonds[k].to]] - 1) * b->net.bonds[k].j;
    return force;
}

static double energy_graph(const struct bed *b, const uint8_t *s) {
    double e = 0;
    for (uint32_t i = 0; i < b->n; i++)
        e -= (2 * s[i] - 1) * 0.5 * (force_of(b, s, i) + b->net.fields[b->slots[i]]);
    return e * b->net.unit;
}

/* Random words flip below some number. */
static double moves_graph(const struct bed *b, const uint8_t *s, uint32_t site, uint32_t to) {
    const bool heat = ergo_says(of_lattice(b->point)->dynamics, "heat-bath");
    const uint32_t *first = &b->net.first[b->slots[site]];
    const float scale = (float)(0.5 * b->t / b->net.unit);
    uint64_t low = 0, high = UINT64_C(1) << 32;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (graph_flips(1 - to, force_of(b, s, site), (uint32_t)middle, scale, heat,
                        first[1] - first[0]))
            low = middle + 1;
        else
            high = middle;
    }
    return (double)low * 0x1p-32;
}

static void test_graphs(void **state) {
    static const struct {
        const char *edges; /* NULL: keys name a lattice */
        const char *keys;
        bool metropolis;
    } cases[] = {
        {"1 2 1\n2 3 1\n3 4 1\n4 1 1\n", "", false},
        {"1 2 1\n2 3 1\n3 4 1\n4 1 -1\n", "", false},
        {"1 2 1\n2 3 1\n3 4 1\n4 5 1\n5 1 1\n", "", false},
        {"1 2 1\n2 3 1\n3 4 1\n4 5 1\n5 6 1\n6 7 1\n7 1 -1\n", "", false},
        {"1 2 1\n2 3 1\n3 4 1\n4 1 1\nh 1 0.5\n", "", true},
        {"1 2 1\n2 3 1\n3 4 1\n4 1 1\nh 1 2\n", "", false},
        {"1 2 1\n2 3 1\n3 4 1\n4 1 1\n", ", 'field': 0.25", true},
        {"1 2 1\n2 3 1\n3 4 2\n4 1 1\n", "", true},
        {"1 2 1\n", "", true},
        {"1 2 1\n1 3 1\n1 4 1\n1 5 -1\n", "", true},
        {"1 2 1\n2 3 1\n3 4 1\n4 5 1\n5 6 1\n", "", true},
        {"1 3 1\n1 4 1\n2 3 1\n2 4 1\n", "", false},
        {"1 4 1\n1 5 1\n1 6 1\n2 4 1\n2 5 1\n2 6 -1\n3 4 1\n3 5 1\n3 6 1\n", "", true},
        {"1 2 1\n2 3 1\n3 1 1\n", "", false},
        {"1 2 -1\n2 3 -1\n3 1 -1\n3 4 -1\n", "", true},
        {"1 2 1\n3 4 1\n4 5 1\n5 3 1\n", "", false},
        {"1 2 1\n2 3 1\n3 4 1\n4 1 1\n4 5 1\n5 6 1\n6 7 1\n7 4 1\n", "", false},
        {"1 2 0\n2 3 1\n", "", false},
        {"1 2 1\n1 3 1\n1 4 1\n2 3 1\n2 4 1\n3 4 1\n", "", true},
        {NULL, "'graph': 'chain', 'size': [7]", false},
        {NULL, "'graph': 'chain', 'size': [6], 'boundary': 'antiperiodic'", false},
        {NULL, "'graph': 'chain', 'size': [7], 'boundary': 'open'", true},
        {NULL, "'graph': 'square', 'size': [3, 3], 'coupling': -1", false},
        {NULL, "'graph': 'square', 'size': [3, 3], 'boundary': ['open', 'periodic']", true},
        {NULL, "'graph': 'triangular', 'size': [3, 3], 'coupling': -1", false},
        {NULL, "'graph': 'honeycomb', 'size': [2, 2]", true},
        {NULL, "'graph': 'honeycomb', 'size': [2, 2], 'disorder': 'bimodal'", true},
        {NULL, "'graph': 'kagome', 'size': [2, 1], 'disorder': 'gaussian'", true},
        {NULL, "'graph': 'sherrington-kirkpatrick', 'n': 5", false},
        {NULL, "'graph': 'sherrington-kirkpatrick', 'n': 6", true},
    };
    char path[] = "/tmp/ergo-ring-XXXXXX", system[300];
    const int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int rule = 0; rule < 3; rule++) {
            static const char *const dynamics[] = {"", ", 'dynamics': 'metropolis'",
                                                   ", 'dynamics': 'heat-bath'"};
            if (cases[i].edges) {
                FILE *file = fopen(path, "w");
                assert_non_null(file);
                fputs(cases[i].edges, file);
                fclose(file);
                snprintf(system, sizeof system, "'model': 'graph', 'graph': '%s'%s%s", path,
                         cases[i].keys, dynamics[rule]);
            } else
                snprintf(system, sizeof system, "'model': 'graph', %s%s", cases[i].keys,
                         dynamics[rule]);
            struct ergo_job *job = job_of(system, 1.5);
            if ((job != NULL) != (rule != 1 || cases[i].metropolis))
                fail_msg("%s: %s", system, job ? "accepted" : ergo_error_message(ctx));
            ergo_error_clear(ctx);
            if (!job)
                continue;
            struct bed b = {.point = &job->points[0],
                            .q = 2,
                            .t = 1.5,
                            .moves = moves_graph,
                            .energy = energy_graph};
            struct graph_problem p;
            assert_int_equal(graph_problem_of(ctx, b.point, &p), ERGO_OK);
            assert_true(graph_network_make(&p, &b.net));
            if (rule == 0)
                assert_int_equal(ergo_says(of_lattice(b.point)->dynamics, "metropolis"),
                                 cases[i].metropolis);
            assert_true(b.net.slots <= sizeof b.numbers);
            for (uint32_t slot = 0; slot < b.net.slots; slot++)
                if (b.net.vertex_of[slot] != GRAPH_PADDING) {
                    b.numbers[slot] = (uint8_t)b.n;
                    b.slots[b.n++] = slot;
                }
            holds_for(&b, cases[i].edges ? cases[i].edges : cases[i].keys);
            graph_network_free(&b.net);
            graph_problem_free(&p);
            ergo_job_destroy(job);
        }
    unlink(path);
}

/* Which rule is taken, and where Metropolis is accepted. */
static void test_choice(void **state) {
    static const struct {
        const char *system;
        bool metropolis;
    } cases[] = {
        {"'model': 'ising', 'size': [1048576]", false},
        {"'model': 'ising', 'size': [64], 'field': 0.1", true},
        {"'model': 'ising', 'size': [8, 8]", true},
        {"'model': 'ising', 'size': [2, 32]", true},
        {"'model': 'ising', 'size': [6, 8]", false},
        {"'model': 'ising', 'size': [64, 64], 'couplings': [1, 0]", false},
        {"'model': 'ising', 'size': [64, 64], 'couplings': [1, -1]", true},
        {"'model': 'ising', 'size': [4, 4], 'disorder': 'gaussian'", true},
        {"'model': 'ising', 'size': [64, 64], 'disorder': 'bimodal'", true},
        {"'model': 'ising', 'size': [64, 2], 'disorder': 'bimodal'", false},
        {"'model': 'ising', 'size': [64, 64], 'disorder': 'bimodal', 'disorder_ratio': 0", false},
        {"'model': 'ising', 'size': [64, 64], 'coupling': 0", false},
        {"'model': 'potts', 'size': [64], 'q': 2", false},
        {"'model': 'potts', 'size': [64], 'q': 3", true},
        {"'model': 'spin-glass', 'size': [4, 4]", false},
        {"'model': 'spin-glass', 'size': [8, 8]", true},
        {"'model': 'spin-glass', 'size': [4, 4], 'disorder': 'gaussian'", true},
        {"'model': 'spin-glass', 'size': [8, 2, 8]", false},
        {"'model': 'sherrington-kirkpatrick', 'n': 63", false},
        {"'model': 'sherrington-kirkpatrick', 'n': 62", true},
        {"'model': 'sherrington-kirkpatrick', 'n': 65", true},
        {"'model': 'sherrington-kirkpatrick', 'n': 63, 'disorder': 'gaussian'", true},
        {"'model': 'random-orthogonal', 'n': 16", true},
        {"'model': 'graph', 'graph': 'chain', 'size': [1000000]", false},
        {"'model': 'graph', 'graph': 'chain', 'size': [64], 'long_range': 2", true},
        {"'model': 'graph', 'graph': 'kagome', 'size': [12, 12]", true},
        {"'model': 'graph', 'graph': 'square', 'size': [32, 2]", true},
        {"'model': 'graph', 'graph': 'square', 'size': [64, 2], 'boundary': 'antiperiodic'", false},
        {"'model': 'graph', 'graph': 'cubic', 'size': [100, 100, 100]", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char system[300];
        struct ergo_job *job = job_of(cases[i].system, 2);
        if (!job)
            fail_msg("%s: %s", cases[i].system, ergo_error_message(ctx));
        if (ergo_says(of_lattice(&job->points[0])->dynamics, "metropolis") != cases[i].metropolis)
            fail_msg("%s: not %s", cases[i].system, cases[i].metropolis ? "metropolis" : "heat");
        ergo_job_destroy(job);
        snprintf(system, sizeof system, "%s, 'dynamics': 'metropolis'", cases[i].system);
        job = job_of(system, 2);
        assert_int_equal(job != NULL, cases[i].metropolis);
        ergo_job_destroy(job);
        ergo_error_clear(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lattices),
                                       cmocka_unit_test(test_graphs),
                                       cmocka_unit_test(test_choice)};
    return cmocka_run_group_tests(tests, context_open, context_close);
}
