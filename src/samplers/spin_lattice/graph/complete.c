/*
 * Complete graphs with random couplings by the names of their models: sherrington-kirkpatrick and
 * random-orthogonal, realisation by realisation those of dense/. They are there for what those
 * models have not: annealing, populations, lowest states.
 */
#include <math.h>
#include <stdlib.h>

#include "samplers/spin_lattice/dense/dense.h"
#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/graph/parameters.h"
#include "samplers/spin_lattice/models.h"

static bool is_orthogonal(const struct ergo_point *point) {
    return ergo_says(of_graph(point)->graph, "random-orthogonal");
}

bool graph_is_complete(const struct ergo_point *point) {
    return graph_has_disorder(point) || is_orthogonal(point);
}

bool graph_has_disorder(const struct ergo_point *point) {
    return ergo_says(of_graph(point)->graph, "sherrington-kirkpatrick");
}

static struct dense_shape shape_of(const struct ergo_point *point) {
    return (struct dense_shape){
        .n = (uint32_t)of_lattice(point)->n.integer,
        .disorder = is_orthogonal(point)                                      ? DENSE_ORTHOGONAL
                    : ergo_says(of_lattice(point)->disorder.text, "gaussian") ? DENSE_GAUSSIAN
                                                                              : DENSE_BIMODAL};
}

enum ergo_status graph_complete_check(struct ergo_context *ctx, const struct ergo_point *point) {
    if (!of_lattice(point)->n.present)
        return ergo_job_error(ctx, "/system/n", "missing; a complete graph needs it");
    const struct dense_shape s = shape_of(point);
    return s.disorder != DENSE_ORTHOGONAL || s.n % 2 == 0
               ? ERGO_OK
               : ergo_job_error(ctx, "/system/n",
                                "%u is odd; half of the eigenvalues are 1, half of them -1", s.n);
}

/* Local fields have the variance 1 at infinite temperature, and couplings 1/n. */
struct graph_scales graph_complete_scales(const struct ergo_point *point) {
    return (struct graph_scales){
        .largest = 3, .spread = 3, .smallest = 1 / sqrt((double)of_lattice(point)->n.integer)};
}

enum ergo_status graph_complete_make(struct ergo_context *ctx, const struct ergo_point *point,
                                     struct graph_problem *p) {
    const struct dense_shape s = shape_of(point);
    const size_t n = s.n;
    int16_t *couplings = malloc(n * n * sizeof *couplings);
    uint32_t key[2];
    *p = (struct graph_problem){.format = GRAPH_AUTO, .n = s.n};
    p->fields = calloc(n, sizeof *p->fields);
    p->edges = malloc(n * (n - 1) / 2 * sizeof *p->edges);
    /* all replicas are chains of one realisation */
    dense_key(point, of_graph(point)->graph, 0, key);
    if (!couplings || !p->fields || !p->edges ||
        !dense_couplings(key, &s, (uint32_t)of_graph(point)->realisation, n, couplings)) {
        free(couplings);
        graph_problem_free(p);
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the couplings of %u spins", s.n);
    }
    for (uint32_t i = 0; i < s.n; i++)
        for (uint32_t j = i + 1; j < s.n; j++)
            p->edges[p->m++] = (struct graph_edge){i, j, couplings[i * n + j] * dense_unit(&s)};
    free(couplings);
    return ERGO_OK;
}
