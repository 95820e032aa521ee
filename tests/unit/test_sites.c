/* Clusters of the host's twin (swendsen_wang/sites): joined in pieces, they are those
 * that are joined or walked as a whole, with sizes and ways around the lattice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "samplers/swendsen_wang/sites/sites.h"

static struct ergo_context *ctx;

enum { STEPS = 8 };

/* Clusters of the cubic or square lattice by walks along bonds: labels, sizes, and ways around the
 * lattice (a walk that comes to a known site by other edges than the first time). */
static void check_clusters(const struct sw_sites_shape *shape, const struct sw_sites_twin *t) {
    const uint32_t side[3] = {shape->lx, shape->ly, shape->lz}, n = shape->sites;
    const uint32_t stride[3] = {1, shape->lx, shape->lx * shape->ly};
    uint32_t *label = malloc(4 * n), *queue = malloc(4 * n), wraps = 0;
    uint8_t *way = calloc(n, 1);
    uint64_t squares = 0, largest = 0;
    memset(label, 0xff, 4 * n);
    for (uint32_t first = 0; first < n && shape->lattice == SW_LATTICE_SQUARE; first++) {
        uint32_t queued = 0;
        if (label[first] != UINT32_MAX)
            continue;
        label[first] = first;
        queue[queued++] = first;
        for (uint32_t at = 0; at < queued; at++)
            for (uint32_t k = 0; k < 6; k++) {
                const uint32_t i = queue[at], d = k / 2, x = i / stride[d] % side[d];
                const bool edge = k % 2 ? x == 0 : x == side[d] - 1;
                const uint32_t step = edge ? (side[d] - 1) * stride[d] : stride[d];
                const uint32_t other = (k % 2 != 0) == edge ? i + step : i - step;
                const uint8_t by = (uint8_t)(way[i] ^ (edge ? 1u << d : 0));
                if (side[d] < 2 || !(t->bonds[k % 2 ? other : i] >> d & 1))
                    continue;
                if (label[other] == UINT32_MAX) {
                    label[other] = first;
                    way[other] = by;
                    queue[queued++] = other;
                } else {
                    wraps |= by ^ way[other];
                }
            }
        squares += (uint64_t)queued * queued;
        largest = queued > largest ? queued : largest;
    }
    if (shape->lattice == SW_LATTICE_SQUARE) {
        assert_memory_equal(t->labels, label, 4 * n);
        assert_int_equal(t->counts.squares, squares);
        assert_int_equal(t->counts.largest, largest);
        assert_int_equal(t->found.wraps, wraps);
    }
    free(label), free(queue), free(way);
}

static void compare(const char *system) {
    char text[300];
    struct ergo_job *job = NULL;
    struct sw_sites_twin whole, cut;
    unsigned around = 0;
    snprintf(text, sizeof text,
             "{'sampler': 'swendsen-wang', 'seed': '3', 'system': {%s, 'start': 'random'}, "
             "'run': {'sweeps': 9}}",
             system);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    if (ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    const struct ergo_point *point = &job->points[0];
    const struct sw_sites_shape shape = sw_sites_shape_of(point);
    const size_t n = shape.sites;
    assert_true(sw_sites_twin_open(&whole, &shape) && sw_sites_twin_open(&cut, &shape));
    cut.piece_sites = shape.lx;
    sw_sites_twin_start(point, &shape, &whole);
    sw_sites_twin_start(point, &shape, &cut);
    for (uint64_t step = 0; step < STEPS; step++) {
        sw_sites_twin_step(point, &shape, step, true, &whole);
        sw_sites_twin_step(point, &shape, step, true, &cut);
        assert_memory_equal(whole.bonds, cut.bonds, n);
        assert_memory_equal(whole.labels, cut.labels, n * sizeof *cut.labels);
        assert_memory_equal(whole.spins, cut.spins, n * shape.spin_bytes);
        assert_memory_equal(&whole.counts, &cut.counts, sizeof cut.counts);
        assert_memory_equal(whole.sums, cut.sums, sizeof cut.sums);
        assert_int_equal(whole.found.wraps, cut.found.wraps);
        around |= 1u << cut.found.wraps;
        if (!shape.wolff)
            check_clusters(&shape, &whole);
    }
    if (around <= 1)
        fail_msg("%s: no cluster leads around", system);
    sw_sites_twin_close(&whole);
    sw_sites_twin_close(&cut);
    ergo_job_destroy(job);
}

static void test_pieces(void **state) {
    (void)state;
    compare("'size': [20, 24, 18], 'temperature': 1.5");
    compare("'size': [16, 12, 36], 'temperature': 1.1, 'q': 3");
    compare("'lattice': 'triangular', 'size': [40, 30], 'temperature': 1");
    compare("'lattice': 'honeycomb', 'size': [24, 40], 'temperature': 0.4");
    compare("'model': 'heisenberg', 'size': [10, 12, 14], 'temperature': 0.9");
    compare("'model': 'xy', 'size': [30, 50], 'temperature': 0.4");
}

static int open_context(void **state) {
    (void)state;
    return (ctx = ergo_context_create()) == NULL;
}

static int close_context(void **state) {
    (void)state;
    ergo_context_destroy(ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
