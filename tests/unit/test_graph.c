/*
 * Graphs without a device: what files are refused and with which words, offsets, colours, lattices
 * against real distances, temperatures of schedules, which lowest states are kept.
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

#include "base/memory.h"
#include "context.h"
#include "oracle/graph_serial.h"
#include "job/input.h"
#include "samplers/spin_lattice/dense/dense.h"
#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/graph/lowest.h"
#include "spin_lattice/graph.h"

/* ---- files ----------------------------------------------------------------------------------- */

static void test_refused(void **state) {
    static const struct {
        const char *text, *wrong;
    } cases[] = {
        {"", "line 0: the file is empty"},
        {"# nothing\n\n", "line 2: the file is empty"},
        {"1 2 1\n2 2 1\n", "line 2: an edge from a vertex to itself, a loop"},
        {"1 2 1\n2 3 1\n# x\n2 1 -1\n", "line 4: a second edge between the same vertices"},
        {"1 2 1\n2 1 1\n3 4 1\n", "line 2: a second edge between the same vertices"},
        {"0 1 1\n1 2 nan\n", "line 2: word 3 is not a finite number"},
        {"0 1 1\n1 2 1e400\n", "line 2: word 3 is not a finite number"},
        {"0 1 1\n1 2 1e13\n", "line 2: word 3 is a number beyond 1e+12"},
        {"0 1 1\n1 -2 1\n", "line 2: word 2 is not a vertex, from 0 on and in range"},
        {"0 1 1\n1 2\n", "line 2: 2 words where \"i j J\" or \"h i H\" was expected"},
        {"0 1 1\nh 1 2\nh 1 2\n", "line 3: a second field of the same vertex"},
        {"n 2\n0 1 1\n1 2 1\n", "line 3: a vertex is out of range of \"n COUNT\", from 0 on"},
        {"n 2\n1 2 1\n2 3 1\n", "line 3: a vertex is out of range of \"n COUNT\", from 1 on"},
        {"n 2\n1 2 1\n0 1 1\n", "line 3: a vertex is out of range of \"n COUNT\", from 0 on"},
        {"1 99999999 1\n", "line 1: too many vertices for so few lines with edges or fields"},
        {"100000000 1\n1 2\n", "line 1: too many vertices for so few lines with edges or fields"},
        {"1 99999999999999999999999 1\n", "line 1: word 2 is not a vertex, from 0 on and in range"},
        {"3 2\n1 2\n", "line 2: the file ends after 1 edges, fewer than the first line says"},
        {"3 2\n1 2\n1 3\n2 3\n", "line 4: more edges than the first line says"},
        {"3 2\n1 2\n1 4\n", "line 3: word 2 is not a vertex, from 1 on and in range"},
        {"3 2\n1 2\n2 1\n", "line 3: a second edge between the same vertices"},
        {"3 2\n1 2\n1 1 4\n", "line 3: an edge from a vertex to itself, a loop"},
        {"3 2\n1 2 1 1\n", "line 2: 4 words where \"i j\" or \"i j w\" was expected"},
        {"3 2000000000\n",
         "line 1: word 2 is not a number of edges up to 2^29, from 0 on and in range"},
        {"p qubo 0 3 1 1\n0 0 1\n", "line 2: the file ends after 1 diagonal elements and 0 "
                                    "couplers, fewer than the first line says"},
        {"c x\np qubo 0 3 1 1\n0 0 1\n1 1 1\n",
         "line 4: more diagonal elements than the first line says"},
        {"p qubo 0 3 1 2\n0 0 1\n0 3 1\n",
         "line 3: word 2 is not a vertex, from 0 on and in range"},
        {"p qubo 0 3 1 2\n0 0 1\n0 1 1\n1 0 1\n",
         "line 4: a second edge between the same vertices"},
        {"p qubo 0 3 2 0\n0 0 1\n0 0 1\n", "line 3: a second field of the same vertex"},
        {"p qubo 0 3 2\n", "line 1: \"p qubo 0 SIZE NODES COUPLERS\" was expected"},
        {"c x\np edge 3 2\ne 1 2\ne 2 3\n",
         "line 2: a DIMACS file, which has no couplings; as MaxCut its first line is \"n m\", and "
         "the others are \"i j\", without \"e\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct graph_problem p;
        char wrong[GRAPH_WRONG];
        if (graph_parse(cases[i].text, strlen(cases[i].text), GRAPH_AUTO, &p, wrong))
            fail_msg("taken: %s", cases[i].text);
        if (strcmp(wrong, cases[i].wrong) != 0)
            fail_msg("\"%s\" instead of \"%s\"", wrong, cases[i].wrong);
        assert_null(p.edges);
    }
    struct graph_problem p;
    char wrong[GRAPH_WRONG];
    assert_false(graph_parse("1 2 1\n\0x", 8, GRAPH_AUTO, &p, wrong));
    assert_string_equal(wrong, "it is not text");
}

/* The host's memory, as the test says. */
static double memory = 1e15;
double ergo_memory(void) {
    return memory;
}

/* Files too large to be read by a test: with holes. `middle` fills what is looked at there. */
static void test_large(void **state) {
    static const struct {
        const char *head, *middle;
        int64_t bytes;
        const char *wrong;
    } cases[] = {
        {"30000 1000000000\n", "1 2 1\n", 20000000000,
         "line 1: word 2 is not a number of edges up to 2^29"},
        {"\xef\xbb\xbfp qubo 0 3000000000 1 2\r", "1 2 1\r", 20000000000,
         "line 1: word 4 is not a number of vertices up to 2^27"},
        {"10001 10002 1\n", "10001 10002 1\n", 14000000000,
         "some 1e+09 lines with edges; at most 2^29"},
        {"10001 10002 1\n", "10001 10002 1\n", 1400000000,
         "has some 1e+08 edges in 1.3 GiB, which take 9.31 GiB of memory to read and to order; "
         "this machine has 9.22 GiB"},
        {"# a remark\n100000 100000000\n", "10001 10002\n", 1400000000,
         "has some 1e+08 edges in 1.3 GiB"},
        {"10001 10002 1\n", NULL, 14000000000, "it is not text"},
    };
    char path[] = "/tmp/graph-XXXXXX.txt";
    const int fd = mkstemps(path, 4);
    (void)state;
    assert_true(fd >= 0);
    memory = 9.9e9; /* so little that a broken check reads none of the largest */
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const char *head = cases[k].head, *middle = cases[k].middle ? cases[k].middle : head;
        struct ergo_job *job = NULL;
        char text[300];
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(ftruncate(fd, cases[k].bytes), 0);
        assert_true(pwrite(fd, head, strlen(head), 0) > 0);
        for (int64_t at = 0; at < 1 << 16; at += (int64_t)strlen(middle)) {
            assert_true(pwrite(fd, middle, strlen(middle), (int64_t)strlen(head) + at) > 0);
            if (cases[k].middle)
                assert_true(pwrite(fd, middle, strlen(middle), cases[k].bytes / 2 + at) > 0);
        }
        snprintf(text, sizeof text,
                 "{\"sampler\": \"spin-lattice\", \"seed\": \"1\", \"system\": {\"model\": "
                 "\"graph\", \"graph\": \"%s\", \"temperature\": 1}, \"run\": {\"sweeps\": 1}}",
                 path);
        ergo_error_clear(ctx);
        assert_int_not_equal(ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job),
                             ERGO_OK);
        if (!strstr(ergo_error_message(ctx), cases[k].wrong))
            fail_msg("%s instead of %s", ergo_error_message(ctx), cases[k].wrong);
    }
    ergo_error_clear(ctx);
    memory = 1e15;
    close(fd);
    unlink(path);
}

/* A job with a graph of this text. NULL: refused. */
static struct ergo_job *job_of_text(const char *graph, const char *method) {
    char path[] = "/tmp/graph-XXXXXX.txt", text[300];
    const int fd = mkstemps(path, 4);
    struct ergo_job *job = NULL;
    assert_true(fd >= 0 && pwrite(fd, graph, strlen(graph), 0) > 0);
    snprintf(text, sizeof text,
             "{\"sampler\": \"spin-lattice\", \"seed\": \"1\", \"system\": {\"model\": "
             "\"graph\", \"graph\": \"%s\"%s}, \"run\": {\"sweeps\": 10, \"method\": \"%s\"}}",
             path, strcmp(method, "sample") == 0 ? ", \"temperature\": 0.5" : "", method);
    ergo_error_clear(ctx);
    if (ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job) == ERGO_OK)
        assert_int_equal(ergo_input_keep(ctx, job), ERGO_OK);
    close(fd);
    unlink(path);
    return job;
}

/* Files as editors of all systems save them. */
static void test_editors(void **state) {
    static const char *const texts[] = {"3 2\n1 2 5\n2 3 -1\n", "3 2\r\n1 2 5\r\n2 3 -1",
                                        ("\xef\xbb\xbf"
                                         "3 2\r1 2\t5 \r\r2 3 -1\r")};
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        struct ergo_job *job = job_of_text(texts[k], "sample");
        struct graph_problem p;
        if (!job)
            fail_msg("case %zu: %s", k, ergo_error_message(ctx));
        assert_int_equal(graph_problem_of(ctx, &job->points[0], &p), ERGO_OK);
        assert_true(p.format == GRAPH_MAXCUT && p.n == 3 && p.m == 2);
        assert_true(p.edges[0].w == -2.5 && p.edges[1].w == 0.5 && p.offset == -2);
        graph_problem_free(&p);
        ergo_job_destroy(job);
    }
}

/* Couplings beside much larger ones: what holds a graph together, and what rounding loses. */
static void test_ratios(void **state) {
    static const struct {
        const char *text;
        double joint;
        bool sampled, annealed;
    } cases[] = {
        {"0 1 1\n1 2 1\n2 3 1e10\n", 1, false, false},
        {"0 1 1\n1 2 1\n2 3 1e6\n", 1, true, true},
        {"0 1 0.3\n1 2 1\n2 3 1e6\n", 0.3, false, true},
        {"0 1 1e10\n1 2 1\n2 3 1e10\n", 1, false, false}, /* each vertex has a strong one */
        {"0 1 1000\n1 2 1\n2 3 1000\n", 1, true, true},
        {"0 1 1\n1 2 1\n2 0 1e-10\n", 1, true, true}, /* nothing hangs on it */
        {"0 1 1\nh 0 1e-10\nh 1 1e-10\n", 1.4142135623730951e-10, true, false},
        {"0 1 4\n1 2 2\nh 0 3\nh 1 4\n", 2, true, true},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        for (int anneals = 0; anneals < 2; anneals++) {
            struct ergo_job *job = job_of_text(cases[k].text, anneals ? "anneal" : "sample");
            struct graph_problem p;
            struct graph_scales scales;
            char wrong[GRAPH_WRONG];
            if ((job != NULL) != (anneals ? cases[k].annealed : cases[k].sampled) ||
                (!job && !strstr(ergo_error_message(ctx), "/system/graph: a coupling or field of")))
                fail_msg("case %zu, %d: %s", k, anneals, job ? "taken" : ergo_error_message(ctx));
            ergo_job_destroy(job);
            assert_true(graph_parse(cases[k].text, strlen(cases[k].text), GRAPH_AUTO, &p, wrong));
            assert_true(graph_problem_scales(&p, &scales));
            if (fabs(scales.smallest / cases[k].joint - 1) > 1e-12)
                fail_msg("case %zu: joined by %.15g", k, scales.smallest);
            graph_problem_free(&p);
        }
    ergo_error_clear(ctx);
}

static char *read_all(const char *path, size_t *length) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    *length = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return text;
}

/* Energies of random configurations, offsets included, and the colours, are those of the oracle. */
static void check_problem(const char *what, const struct graph_problem *p, struct graph_oracle *o) {
    struct graph_network net;
    int *order = malloc((size_t)o->n * sizeof(int)), *slot = malloc((size_t)o->n * sizeof(int));
    uint32_t random = 1;
    assert_int_equal(p->n, o->n);
    for (int round = 0; round < 20; round++) {
        uint8_t bits[64] = {0};
        int s[512];
        for (int v = 0; v < o->n; v++) {
            random = random * 1664525 + 1013904223;
            s[v] = random >> 31 ? 1 : -1;
            bits[v / 8] |= (uint8_t)((s[v] > 0) << v % 8);
        }
        if (fabs(graph_problem_energy(p, bits) - graph_oracle_energy(o, s)) > 1e-9)
            fail_msg("%s: energy %.12g, by the oracle %.12g", what, graph_problem_energy(p, bits),
                     graph_oracle_energy(o, s));
    }
    assert_true(graph_network_make(p, &net));
    assert_int_equal(graph_oracle_order(o, order, slot), net.slots);
    for (int v = 0; v < o->n; v++)
        assert_int_equal(slot[v], net.slot_of[v]);
    for (uint32_t c = 0; c < net.colours; c++)
        for (uint32_t i = net.colour_first[c]; i < net.colour_first[c + 1]; i++)
            for (uint32_t k = net.first[i]; k < net.first[i + 1]; k++)
                assert_true(net.bonds[k].to < net.colour_first[c] ||
                            net.bonds[k].to >= net.colour_first[c + 1]);
    graph_network_free(&net);
    free(order);
    free(slot);
}

static void test_files(void **state) {
    static const struct {
        const char *path;
        char format;
        enum graph_format expected;
        int n, base;
    } files[] = {{"data/reference/graph-edges.txt", 'e', GRAPH_EDGES, 13, 0},
                 {"data/reference/graph-maxcut.txt", 'm', GRAPH_MAXCUT, 10, 1},
                 {"data/reference/graph-qubo.txt", 'q', GRAPH_QUBO, 9, 0}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct graph_problem p;
        struct graph_oracle o = {0};
        char wrong[GRAPH_WRONG];
        size_t length = 0;
        char *text = read_all(files[i].path, &length);
        if (!graph_parse(text, length, GRAPH_AUTO, &p, wrong))
            fail_msg("%s: %s", files[i].path, wrong);
        assert_int_equal(p.format, files[i].expected);
        assert_int_equal(graph_format_of(text, GRAPH_AUTO), files[i].expected);
        assert_int_equal(p.base, files[i].base);
        assert_true(
            graph_oracle_read(&o, files[i].path, files[i].format, files[i].n, files[i].base, 0));
        check_problem(files[i].path, &p, &o);
        graph_oracle_free(&o);
        graph_problem_free(&p);
        free(text);
    }
    /* vertices from 1 on, where none is 0; the field of the last one; one without an edge */
    static const char from_one[] = "h 3 0.5\n1 2 1\nn 4\n";
    struct graph_problem p;
    char wrong[GRAPH_WRONG];
    if (!graph_parse(from_one, strlen(from_one), GRAPH_AUTO, &p, wrong))
        fail_msg("%s", wrong);
    assert_int_equal(p.base, 1);
    assert_int_equal(p.n, 4);
    assert_true(p.fields[2] == 0.5 && p.fields[3] == 0 && p.edges[0].i == 0 && p.edges[0].j == 1);
    graph_problem_free(&p);
}

static void test_lattices(void **state) {
    static const struct {
        const char *name;
        int64_t size[4];
        const char *sides;
        double j[3];
        int shells;
    } cases[] = {
        {"chain", {5}, "a", {1, 0.5, 0.25}, 3},
        {"square", {5, 4}, "po", {1, 0.5, 0.25}, 3},
        {"square", {2, 3}, "pp", {1}, 1},
        {"triangular", {5, 7}, "ap", {1, -0.5, 0.25}, 3},
        {"honeycomb", {3, 4}, "oa", {1, 0.5, -2}, 3},
        {"kagome", {3, 4}, "pp", {1, 0.5, 0.25}, 3},
        {"cubic", {3, 1, 4}, "pop", {1, 0.5, 0.25}, 3},
        {"bcc", {2, 3, 3}, "ppo", {1, 0.5, 0.25}, 3},
        {"fcc", {2, 2, 3}, "pap", {1, 0.5}, 2},
        {"diamond", {1, 2, 2}, "opp", {1, 0.5, 0.25}, 3},
        {"hypercubic", {2, 3, 2, 3}, "paop", {1}, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct graph_lattice *lattice = graph_lattice_find(cases[i].name);
        struct graph_problem p;
        struct graph_oracle o = {0};
        enum graph_side sides[4];
        int size[4];
        char wrong[GRAPH_WRONG];
        assert_non_null(lattice);
        for (int k = 0; cases[i].sides[k]; k++) {
            sides[k] = cases[i].sides[k] == 'o'   ? GRAPH_OPEN
                       : cases[i].sides[k] == 'a' ? GRAPH_ANTIPERIODIC
                                                  : GRAPH_PERIODIC;
            size[k] = (int)cases[i].size[k];
        }
        if (!graph_lattice_make(lattice, cases[i].size, sides, cases[i].j,
                                (uint32_t)cases[i].shells, &p, wrong))
            fail_msg("%s: %s", cases[i].name, wrong);
        assert_true(graph_oracle_lattice(&o, cases[i].name, size, cases[i].sides, cases[i].j,
                                         cases[i].shells, 0));
        check_problem(cases[i].name, &p, &o);
        graph_oracle_free(&o);
        graph_problem_free(&p);
    }
    /* a site that is its own neighbour */
    struct graph_problem p;
    char wrong[GRAPH_WRONG];
    assert_false(graph_lattice_make(graph_lattice_find("square"), (int64_t[]){1, 4},
                                    (enum graph_side[]){GRAPH_PERIODIC, GRAPH_PERIODIC},
                                    (double[]){1}, 1, &p, wrong));
    assert_non_null(strstr(wrong, "its own neighbour"));
    assert_null(graph_lattice_find("squares"));
}

/* ---- annealing ------------------------------------------------------------------------------- */

static struct ergo_job *job_of(const char *run) {
    char text[400];
    struct ergo_job *job = NULL;
    snprintf(text, sizeof text,
             "{'sampler': 'spin-lattice', 'system': {'model': 'graph', 'graph': "
             "'data/reference/graph-maxcut.txt'}, 'run': {'method': 'anneal', %s}}",
             run);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    if (ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    return job;
}

static void test_schedules(void **state) {
    (void)state;
    static const char *const how[] = {"geometric", "linear", "inverse"};
    for (int k = 0; k < 3; k++) {
        char run[200];
        struct graph_problem p;
        struct graph_schedule s;
        snprintf(run, sizeof run,
                 "'equilibration': 5, 'sweeps': 101, 'schedule': '%s', 'temperature_initial': 8, "
                 "'temperature_final': 0.5, 'lowest_every': 1",
                 how[k]);
        struct ergo_job *job = job_of(run);
        assert_int_equal(graph_problem_of(ctx, &job->points[0], &p), ERGO_OK);
        assert_int_equal(graph_schedule_of(ctx, &job->points[0], &p, 1, &s), ERGO_OK);
        const double middle = k == 0 ? 2 : k == 1 ? 4.25 : 1 / (0.5 / 8 + 0.5 / 0.5);
        assert_true(graph_factor(&s, 0) == 8.0f && graph_factor(&s, 5) == 8.0f);
        assert_true(fabs(graph_factor(&s, 55) - middle) < 1e-5);
        assert_true(fabs(graph_factor(&s, 105) - 0.5) < 1e-6 &&
                    graph_factor(&s, 106) == graph_factor(&s, 105));
        free(s.factors);
        graph_problem_free(&p);
        ergo_job_destroy(job);
    }
    /* from the largest sum of |J| to 2 J / ln 100; longer runs keep temperatures */
    struct graph_problem p;
    struct graph_schedule s;
    struct ergo_job *job = job_of("'sweeps': 200000, 'temperature_scale': 'forces'");
    assert_int_equal(graph_problem_of(ctx, &job->points[0], &p), ERGO_OK);
    assert_int_equal(graph_schedule_of(ctx, &job->points[0], &p, 1, &s), ERGO_OK);
    assert_int_equal(s.per, 4);
    assert_int_equal(s.stages, 50000);
    assert_int_equal(graph_measure_every(&job->points[0]), 800); /* 250 samples */
    assert_true(graph_factor(&s, 0) == graph_factor(&s, 3) &&
                graph_factor(&s, 3) > graph_factor(&s, 4));
    assert_true(fabs(graph_factor(&s, 0) - 2.5) < 1e-6); /* vertex 8: half of 2 + 1 + 1 + 1 */
    assert_true(fabs(graph_factor(&s, 199999) - 2 * 0.5 / log(100)) < 1e-6);
    free(s.factors);
    graph_problem_free(&p);
    ergo_job_destroy(job);
}

static void disordered(const char *more, struct graph_problem *p) {
    char text[400];
    struct ergo_job *job = NULL;
    snprintf(text, sizeof text,
             "{'sampler': 'spin-lattice', 'seed': '1', 'system': {'model': 'graph', 'graph': "
             "'square', 'size': [128, 256], 'couplings': [2, 1], 'temperature': 1%s}, 'run': "
             "{'sweeps': 1}}",
             more);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    if (ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    assert_int_equal(graph_problem_of(ctx, &job->points[0], p), ERGO_OK);
    ergo_job_destroy(job);
}

/* Couplings of a lattice times random numbers: moments of 131,072 (4 standard errors), other ones
 * for another realisation or seed, and these for ever. */
static void test_disorder(void **state) {
    static const struct {
        const char *more;
        double moments[5]; /* of what couplings are multiplied by; 0: not looked at */
    } cases[] = {
        {", 'disorder': 'bimodal'", {1, 0, 1, 0, 1}},
        {", 'disorder': 'bimodal', 'realisation': 5", {1, 0, 1, 0, 1}},
        {", 'disorder': 'gaussian'", {1, 0, 1, 0, 3}},
        {", 'disorder': 'gaussian', 'disorder_seed': '2'", {1, 0, 1, 0, 3}},
    };
    struct graph_problem plain, p, before;
    uint64_t first = 0;
    (void)state;
    disordered("", &plain);
    disordered(cases[0].more, &before);
    for (uint32_t e = 0; e < 64; e++)
        first |= (uint64_t)(before.edges[e].w * plain.edges[e].w < 0) << e;
    assert_true(first == 0xa141ba0f7e2062du);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        static const double variance[5] = {0, 1, 2, 15, 96}; /* of powers of normal numbers */
        double moments[5] = {0}, with = 0;
        disordered(cases[k].more, &p);
        assert_true(p.m == 131072 && p.m == plain.m);
        for (size_t e = 0; e < p.m; e++) {
            const double x = p.edges[e].w / plain.edges[e].w;
            double power = 1;
            for (int i = 0; i < 5; i++, power *= x)
                moments[i] += power / (double)p.m;
            with += x * before.edges[e].w / plain.edges[e].w / (double)p.m;
        }
        for (int i = 0; i < 5; i++)
            if (fabs(moments[i] - cases[k].moments[i]) > 4 * sqrt(variance[i] / (double)p.m) + 1e-6)
                fail_msg("%s: moment %d is %g", cases[k].more, i, moments[i]);
        if (k && fabs(with) > 4 / sqrt((double)p.m))
            fail_msg("%s: correlated with those before, %g", cases[k].more, with);
        graph_problem_free(&before);
        before = p;
    }
    graph_problem_free(&before);
    graph_problem_free(&plain);
}

/* Where annealing begins and ends by itself, with the temperatures that a schedule has. */
static void test_default_temperatures(void **state) {
    static const struct {
        const char *system;
        double first, gap, n; /* it ends at gap / ln n */
    } cases[] = {
        {"'cubic', 'size': [4, 4, 4], 'coupling': -1", 2 * 2.449489742783178, 2, 640 / 6.0},
        {"'cubic', 'size': [4, 4, 3], 'coupling': 2", 12, 4, 100}, /* its mean field */
        {"'chain', 'size': [9], 'coupling': -1", 2, 2, 100},       /* never above the force */
        {"'square', 'size': [40, 40], 'coupling': -1, 'field': 2", 2 * 2.82842712474619, 4,
         8000}, /* more weak vertices end colder */
        {"'sherrington-kirkpatrick', 'n': 16", 3, 0.5, 100},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[400];
        snprintf(text, sizeof text,
                 "{'sampler': 'spin-lattice', 'seed': '1', 'system': {'model': 'graph', 'graph': "
                 "%s}, 'run': {'method': 'anneal', 'sweeps': 10}}",
                 cases[k].system);
        for (char *c = text; *c; c++)
            *c = *c == '\'' ? '"' : *c;
        struct ergo_job *job = NULL;
        struct graph_problem p;
        struct graph_schedule s;
        if (ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job) != ERGO_OK)
            fail_msg("%s", ergo_error_message(ctx));
        assert_int_equal(graph_problem_of(ctx, &job->points[0], &p), ERGO_OK);
        assert_int_equal(graph_schedule_of(ctx, &job->points[0], &p, 1, &s), ERGO_OK);
        if (fabs(s.ends[0] - cases[k].first) > 1e-12 ||
            fabs(s.ends[1] - cases[k].gap / log(cases[k].n)) > 1e-12 ||
            graph_factor(&s, 0) != (float)s.ends[0])
            fail_msg("%s: from %.15g to %.15g", cases[k].system, s.ends[0], s.ends[1]);
        free(s.factors);
        graph_problem_free(&p);
        ergo_job_destroy(job);
    }
    /* a star: q is 9 in its middle and 1 at its nine ends */
    struct graph_edge edges[9];
    double fields[10] = {0};
    struct graph_problem star = {.n = 10, .m = 9, .edges = edges, .fields = fields};
    struct graph_scales scales;
    for (uint32_t i = 0; i < 9; i++)
        edges[i] = (struct graph_edge){0, i + 1, -1e9};
    assert_true(graph_problem_scales(&star, &scales));
    assert_true(fabs(scales.spread / 1e9 - 2 * 2.23606797749979) < 1e-12); /* (81 + 9)/18 = 5 */
    assert_true(scales.largest == 9e9 && scales.smallest == 1e9);
    assert_true(fabs(scales.weak - (9 + 1 / 9.0)) < 1e-12);
}

/* All pairs: the nearest image, the plain distance across open sides, distances over that of
 * nearest neighbours; more precise than a unit of the network. */
static void test_long_range(void **state) {
    static const struct {
        const char *name;
        int64_t size[4];
        enum graph_side side;
        double exponent;
    } cases[] = {
        {"chain", {7}, GRAPH_PERIODIC, 2},         {"chain", {6}, GRAPH_OPEN, 1.25},
        {"triangular", {4, 3}, GRAPH_PERIODIC, 3}, {"honeycomb", {2, 3}, GRAPH_OPEN, 0.5},
        {"diamond", {1, 2, 1}, GRAPH_PERIODIC, 6}, {"hypercubic", {2, 1, 2, 3}, GRAPH_PERIODIC, 1}};
    const enum graph_side open[4] = {GRAPH_OPEN, GRAPH_OPEN, GRAPH_OPEN, GRAPH_OPEN};
    const enum graph_side periodic[4] = {GRAPH_PERIODIC, GRAPH_PERIODIC, GRAPH_PERIODIC,
                                         GRAPH_PERIODIC};
    const int64_t large[4] = {4097};
    char wrong[GRAPH_WRONG];
    struct graph_problem p;
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct graph_oracle o = {0};
        const bool is_open = cases[k].side == GRAPH_OPEN;
        int size[4];
        for (int i = 0; i < 4; i++)
            size[i] = (int)cases[k].size[i];
        assert_true(graph_oracle_long(&o, cases[k].name, size, is_open ? "oooo" : "pppp", -0.7,
                                      cases[k].exponent, 0));
        assert_true(graph_long_range_make(graph_lattice_find(cases[k].name), cases[k].size,
                                          is_open ? open : periodic, -0.7, cases[k].exponent, &p,
                                          wrong));
        assert_int_equal(p.n, o.n);
        assert_int_equal(p.m, p.n * (p.n - 1) / 2);
        for (size_t e = 0; e < p.m; e++)
            assert_true(fabs(p.edges[e].w / o.j[p.edges[e].i * p.n + p.edges[e].j] - 1) < 1e-13);
        graph_problem_free(&p);
        graph_oracle_free(&o);
    }
    assert_false(
        graph_long_range_make(graph_lattice_find("chain"), large, periodic, 1, 2, &p, wrong));
    assert_non_null(strstr(wrong, "at most 4096"));
}

/* Complete graphs by name: the realisation that the model of that name has, for all replicas. */
static void test_complete(void **state) {
    static const struct {
        const char *name, *disorder;
        enum dense_disorder kind;
    } cases[] = {{"sherrington-kirkpatrick", "", DENSE_BIMODAL},
                 {"sherrington-kirkpatrick", ", 'disorder': 'gaussian'", DENSE_GAUSSIAN},
                 {"random-orthogonal", "", DENSE_ORTHOGONAL}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[500];
        struct ergo_job *job = NULL;
        struct graph_problem p;
        struct graph_schedule schedule;
        const struct dense_shape shape = {.disorder = cases[k].kind, .n = 10};
        int16_t couplings[100];
        uint32_t key[2];
        snprintf(text, sizeof text,
                 "{'sampler': 'spin-lattice', 'seed': '9', 'replicas': 2, 'system': {'model': "
                 "'graph', 'graph': '%s', 'n': 10, 'realisation': 3%s}, 'run': {'method': "
                 "'anneal', 'sweeps': 20}}",
                 cases[k].name, cases[k].disorder);
        for (char *c = text; *c; c++)
            *c = *c == '\'' ? '"' : *c;
        assert_int_equal(ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job), ERGO_OK);
        assert_int_equal(job->n_batches, 1);
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(graph_problem_of(ctx, &job->points[i], &p), ERGO_OK);
            assert_true(p.n == 10 && p.m == 45);
            dense_key(&job->points[0], cases[k].name, 0, key);
            assert_true(dense_couplings(key, &shape, 3, 10, couplings));
            for (size_t e = 0; e < p.m; e++)
                assert_true(fabs(p.edges[e].w * sqrt(10) * 4096 -
                                 couplings[10 * p.edges[e].j + p.edges[e].i]) < 1e-9);
            assert_int_equal(graph_schedule_of(ctx, &job->points[i], &p, 1, &schedule), ERGO_OK);
            assert_true(fabs(graph_factor(&schedule, 0) - 3) < 1e-6);
            assert_true(fabs(graph_factor(&schedule, 19) - 2 / sqrt(10) / log(100)) < 1e-6);
            free(schedule.factors);
            graph_problem_free(&p);
        }
        ergo_job_destroy(job);
    }
}

/* The model of that name says where these methods are, before it asks for a temperature. */
static void test_elsewhere(void **state) {
    static const struct {
        const char *run, *says;
    } jobs[] = {{"'method': 'anneal', 'sweeps': 20", "\"graph\": \"random-orthogonal\", \"n\": 10"},
                {"'sweeps': 20", "/system/temperature: missing"}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char text[300];
        struct ergo_job *job = NULL;
        snprintf(text, sizeof text,
                 "{'sampler': 'spin-lattice', 'system': {'model': 'random-orthogonal', 'n': 10}, "
                 "'run': {%s}}",
                 jobs[i].run);
        for (char *c = text; *c; c++)
            *c = *c == '\'' ? '"' : *c;
        assert_int_equal(ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job),
                         ERGO_E_JOB);
        assert_non_null(strstr(ergo_error_message(ctx), jobs[i].says));
        ergo_error_clear(ctx);
    }
}

#define SQUARE "'graph': 'square', 'size': [4, 4]"
#define WALK "'method': 'wang-landau', 'sweeps': "

/* Keys that contradict each other, or have no effect: refused, at that key. */
static void test_refusals(void **state) {
    static const struct {
        const char *system, *run, *pointer;
    } jobs[] = {
        {"'graph': 'random-orthogonal', 'n': 9, 'temperature': 1", "'sweeps': 10", "/system/n"},
        {"'graph': 'sherrington-kirkpatrick', 'temperature': 1", "'sweeps': 10", "/system/n"},
        {"'graph': 'sherrington-kirkpatrick', 'n': 8, 'size': [8], 'temperature': 1",
         "'sweeps': 10", "/system/size"},
        {"'graph': 'sherrington-kirkpatrick', 'n': 1000, 'field': 1e6, 'temperature': 1",
         "'sweeps': 10", "/system/field"},
        {"'graph': 'random-orthogonal', 'n': 8, 'disorder': 'gaussian', 'temperature': 1",
         "'sweeps': 10", "/system/disorder"},
        {"'temperature': 1, 'ladder': 3", "'sweeps': 10", "/system/temperature_max"},
        {"'temperature': 1, 'cluster_every': 3", "'sweeps': 10", "/system/cluster_every"},
        {"'ladder': 3, 'temperature_max': 3", "'method': 'anneal', 'sweeps': 10", "/system/ladder"},
        {"'start': 'random'", "'method': 'population-annealing', 'sweeps': 100",
         "/run/temperature_final"},
        {"'start': 'random'",
         "'method': 'population-annealing', 'sweeps': 150, 'temperature_final': 1", "/run/sweeps"},
        {"'start': 'up'", "'method': 'population-annealing', 'sweeps': 100, 'temperature_final': 1",
         "/system/start"},
        {"'start': 'random'",
         "'method': 'population-annealing', 'sweeps': 100, 'temperature_final': 1, "
         "'equilibration': 5",
         "/run/equilibration"},
        {"'start': 'random'",
         "'method': 'population-annealing', 'sweeps': 200, 'temperature_final': 1, "
         "'measure_every': 1",
         "/run/measure_every"},
        {"'temperature': 1", "'sweeps': 10, 'population': 5", "/run/population"},
        {SQUARE ", 'coupling': -1", "'method': 'anneal', 'sweeps': 10, 'temperature_final': 9",
         "/run/temperature_final: 9 is above temperature_initial, which is not given and by itself "
         "4 "},
        {SQUARE, WALK "9", "/run/check_every"},
        {SQUARE, WALK "10, 'temperature_points': 1, 'temperature_max': 3", "/run/temperature_max"},
        {SQUARE, WALK "10, 'temperature_max': 0.1", "/run/temperature_max"},
        {SQUARE, WALK "10, 'temperature_min': 5", "/run/temperature_min"},
        {SQUARE, WALK "10}, 'tuning': {'path': 2", "/tuning/path"},
        {SQUARE, WALK "10}, 'tuning': {'lanes': 2", "/tuning/lanes"},
        {"'graph': 'square', 'size': [64, 64]",
         WALK "10, 'estimates': 4096, 'temperature_points': 1000", "/run/temperature_points"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        char text[600];
        struct ergo_job *job = NULL;
        snprintf(text, sizeof text,
                 "{'sampler': 'spin-lattice', 'seed': '1', 'system': {'model': 'graph', %s%s}, "
                 "'run': {%s}}",
                 strstr(jobs[i].system, "'graph'") ? ""
                                                   : "'graph': 'data/reference/graph-edges.txt', ",
                 jobs[i].system, jobs[i].run);
        for (char *c = text; *c; c++)
            *c = *c == '\'' ? '"' : *c;
        ergo_error_clear(ctx);
        assert_int_equal(ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job),
                         ERGO_E_JOB);
        if (!strstr(ergo_error_message(ctx), jobs[i].pointer))
            fail_msg("%s: %s", text, ergo_error_message(ctx));
        ergo_error_clear(ctx);
    }
}

/* Equal steps of 1/T, and what weighs them. */
static void test_population(void **state) {
    (void)state;
    struct graph_problem p = {0};
    struct graph_schedule s;
    static const char text[] =
        "{\"sampler\": \"spin-lattice\", \"seed\": \"1\", \"system\": {\"model\": \"graph\", "
        "\"graph\": \"square\", \"size\": [4, 4]}, \"run\": {\"method\": \"population-annealing\", "
        "\"sweeps\": 30, \"temperatures\": 10, \"temperature_final\": 0.5}}";
    struct ergo_job *job = NULL;
    size_t stage;
    assert_int_equal(ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job), ERGO_OK);
    assert_int_equal(graph_schedule_of(ctx, &job->points[0], &p, 0.25, &s), ERGO_OK);
    assert_true(graph_factor(&s, 0) == 5.0f && graph_factor(&s, 29) == 0.5f);
    assert_true(graph_factor(&s, 3) == 2.5f && graph_factor(&s, 1000) == 0.5f);
    assert_true(graph_resamples(&s, 0, &stage) && stage == 0);
    assert_true(!graph_resamples(&s, 1, &stage));
    assert_true(graph_resamples(&s, 27, &stage) && stage == 9);
    assert_true(!graph_resamples(&s, 30, &stage));
    assert_true(s.slopes[4] == 0.025f); /* 1/T grows by 0.2; a sum of 1 is half of 0.25 */
    free(s.factors);
    free(s.slopes);
    ergo_job_destroy(job);
}

static void test_kept(void **state) {
    struct graph_found found[2] = {{GRAPH_EMPTY, 0, 0}, {GRAPH_EMPTY, 0, 0}};
    (void)state;
    assert_int_equal(graph_choose(found, 2, -5, 1), 0);
    found[0] = (struct graph_found){-5, 1, 0};
    assert_int_equal(graph_choose(found, 2, -5, 1), GRAPH_NOTHING); /* the same */
    assert_int_equal(graph_choose(found, 2, -5, 2), 1);             /* another of its energy */
    found[1] = (struct graph_found){-3, 2, 0};
    assert_int_equal(graph_choose(found, 2, -6, 3), GRAPH_NOTHING);
    assert_int_equal(graph_choose(found, 2, -5, 4), GRAPH_NOTHING);
    assert_int_equal(graph_choose(found, 2, 0, 5), 0);
    /* lists of replicas: in order, each once */
    const uint8_t a = 1, b = 2, c = 1;
    struct graph_lowest_state states[] = {{2, 0, 0, &b}, {1, 0, 0, &a}, {1, 9, 1, &c}};
    assert_int_equal(graph_lowest_unite(states, 3, 1), 2);
    assert_true(states[0].energy == 1 && states[1].energy == 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_large),
        cmocka_unit_test(test_files),      cmocka_unit_test(test_lattices),
        cmocka_unit_test(test_schedules),  cmocka_unit_test(test_default_temperatures),
        cmocka_unit_test(test_disorder),   cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_population), cmocka_unit_test(test_kept),
        cmocka_unit_test(test_long_range), cmocka_unit_test(test_complete),
        cmocka_unit_test(test_elsewhere),  cmocka_unit_test(test_editors),
        cmocka_unit_test(test_ratios),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
