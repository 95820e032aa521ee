/* Spins on graphs on a device: constants, start, sweeps, measurements. */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/models.h"

void graph_terms(const struct graph_network *net, uint32_t slot, int32_t terms[2]) {
    terms[0] = terms[1] = net->fields[slot];
    for (uint32_t k = net->first[slot]; k < net->first[slot + 1]; k++)
        terms[0] -= net->bonds[k].j;
}

static enum ergo_status prepare(struct ergo_context *ctx, void *state) {
    struct graph_state *s = state;
    struct ergo_engine *e = &s->e;
    const struct graph_network *net = &s->net;
    int32_t *terms = malloc(8 * (size_t)net->slots);
    if (!terms)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the fields of %u vertices", net->n);
    for (uint32_t slot = 0; slot < net->slots; slot++)
        graph_terms(net, slot, terms + 2 * (size_t)slot);
    net->bonds[net->first[net->slots]] = (struct graph_bond){0, 0}; /* no buffer is empty */
    ergo_engine_constant(e, GRAPH_FIRST, net->first);
    ergo_engine_constant(e, GRAPH_BONDS, net->bonds);
    ergo_engine_constant(e, GRAPH_TERMS, terms);
    ergo_engine_constant(e, GRAPH_VERTICES, net->vertex_of);
    ergo_engine_constant(e, GRAPH_MEMBERS_ROW, s->members);
    for (unsigned k = 0; k < GRAPH_KERNELS; k++)
        s->group = (uint32_t)ergo_engine_group(e, k, s->group);
    ergo_engine_fill(e, GRAPH_NOW, 0);
    free(terms);
    return ERGO_OK;
}

/* All members of so many quads or stripes. */
static struct ergo_grid grid_of(const struct graph_state *s, size_t rows) {
    const size_t items = rows * s->e.batch->count;
    return (struct ergo_grid){1, {ergo_round_up(items, s->group)}, {s->group}};
}

static enum ergo_status init(struct ergo_context *ctx, void *state) {
    struct graph_state *s = state;
    const size_t n = s->e.batch->count * s->keep;
    struct graph_found *found = malloc(n * sizeof *found);
    if (!found)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the lowest energies");
    for (size_t i = 0; i < n; i++)
        found[i] = (struct graph_found){GRAPH_EMPTY, 0, 0};
    s->e.step = 0;
    ergo_engine_begin(&s->e, ctx);
    ERGO_LAUNCH(&s->e, GRAPH_START, grid_of(s, s->net.slots / 4), BUFFER(GRAPH_SPINS),
                BUFFER(GRAPH_VERTICES), BUFFER(GRAPH_MEMBERS_ROW),
                U32(model_start(s->e.batch->points[0])), U32(s->net.slots));
    ergo_engine_write(&s->e, GRAPH_FOUND, 0, n * sizeof *found, found);
    ergo_engine_fill(&s->e, GRAPH_HITS, 0xff);
    ergo_engine_fill(&s->e, GRAPH_KEPT, 0);
    ergo_engine_finish(&s->e);
    free(found);
    return ergo_engine_end(&s->e);
}

/* Energies and so on of all members to row `to`. */
static void launch_measure(struct graph_state *s, unsigned to, size_t sample) {
    const size_t members = s->e.batch->count, rows = members < s->group ? members : s->group;
    ERGO_LAUNCH(&s->e, GRAPH_MEASURE, grid_of(s, s->stripes), BUFFER(GRAPH_SPINS),
                BUFFER(GRAPH_FIRST), BUFFER(GRAPH_BONDS), BUFFER(GRAPH_TERMS),
                BUFFER(GRAPH_VERTICES), BUFFER(to), U32(sample), U32(s->stripes), U32(s->net.slots),
                LOCAL(4 * GRAPH_NUMBERS * rows));
}

/* Is this one of the lowest states? */
static void look(struct graph_state *s) {
    launch_measure(s, GRAPH_NOW, 0);
    ERGO_LAUNCH(&s->e, GRAPH_LOOK, grid_of(s, 1), BUFFER(GRAPH_NOW), BUFFER(GRAPH_MEMBERS_ROW),
                BUFFER(GRAPH_FOUND), BUFFER(GRAPH_HITS), BUFFER(GRAPH_LOOKS), U64(s->e.step));
    ERGO_LAUNCH(&s->e, GRAPH_KEEP_KERNEL, grid_of(s, s->stripes), BUFFER(GRAPH_SPINS),
                BUFFER(GRAPH_LOOKS), BUFFER(GRAPH_KEPT), U32(s->stripes), U32(s->net.slots));
}

static void steps(void *state, uint64_t sweeps) {
    struct graph_state *s = state;
    const struct graph_network *net = &s->net;
    for (uint64_t i = 0; i < sweeps && s->e.status == ERGO_OK; i++) {
        const float factor = graph_factor(&s->schedule, s->e.step);
        for (uint32_t c = 0; c < net->colours; c++) {
            const uint32_t first = net->colour_first[c], count = net->colour_count[c];
            ERGO_LAUNCH(&s->e, GRAPH_SWEEP, grid_of(s, (count + 3) / 4), BUFFER(GRAPH_SPINS),
                        BUFFER(GRAPH_FIRST), BUFFER(GRAPH_BONDS), BUFFER(GRAPH_TERMS),
                        BUFFER(GRAPH_MEMBERS_ROW), U32(first / 4), U32(first + count),
                        U64(s->e.step), F32(factor));
        }
        s->e.step++;
        if (s->e.step % s->look_every == 0)
            look(s);
    }
}

static void measure(void *state, size_t sample) {
    launch_measure(state, GRAPH_COUNTS, sample);
}

static struct ergo_grid grid_of_words(const struct graph_state *s) {
    return (struct ergo_grid){1, {ergo_round_up(graph_words_of(s), s->group)}, {s->group}};
}

void graph_read_member(struct graph_state *s, size_t member, uint32_t *words) {
    ERGO_LAUNCH(&s->e, GRAPH_PACK, grid_of_words(s), BUFFER(GRAPH_SPINS), BUFFER(GRAPH_KEPT),
                BUFFER(GRAPH_PACKED), U32(member), U32(s->net.slots));
    ergo_engine_read(&s->e, GRAPH_PACKED, 0, 4 * graph_words_of(s), words);
}

void graph_write_member(struct graph_state *s, size_t member, const uint32_t *words) {
    ergo_engine_write(&s->e, GRAPH_PACKED, 0, 4 * graph_words_of(s), words);
    ERGO_LAUNCH(&s->e, GRAPH_UNPACK, grid_of_words(s), BUFFER(GRAPH_SPINS), BUFFER(GRAPH_KEPT),
                BUFFER(GRAPH_PACKED), U32(member), U32(s->net.slots));
}

void graph_columns(const struct graph_state *s, const uint32_t *numbers, double *columns) {
    const double n = s->net.n;
    columns[COLUMN_TOTAL] = s->problem.offset - 0.5 * s->net.unit * (double)graph_sum(numbers);
    columns[COLUMN_GRAPH_M] = (2.0 * numbers[GRAPH_UP] - n) / n;
    columns[COLUMN_SITES] = n;
}

static bool rows(const void *state, unsigned slot, size_t begin, size_t end,
                 const struct ergo_samples *samples) {
    const struct graph_state *s = state;
    const size_t members = s->e.batch->count;
    for (size_t row = begin; row < end; row++) {
        const uint32_t *of = ergo_engine_host(&s->e, GRAPH_COUNTS, slot, row / members);
        graph_columns(s, of + GRAPH_NUMBERS * (row % members),
                      samples->columns + GRAPH_COLUMNS * row);
    }
    return true;
}

static const struct ergo_engine_model model = {
    .sampler = "spin-lattice",
    .smaller = "a smaller graph, fewer replicas or fewer lowest_states",
    .state_bytes = sizeof(struct graph_state),
    .configure = graph_configure,
    .prepare = prepare,
    .steps = steps,
    .measure = measure,
    .rows = rows,
    .release = graph_release,
};

const struct ergo_sampler_ops graph_ops = {
    .engine = &model,
    .init = init,
    .save = graph_save,
    .load = graph_load,
    .carry = graph_carry,
    .audit = graph_audit,
    .end_curves = graph_end_curves,
    .frame = graph_frame,
    .states = graph_states,
};
