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

static void write_tables(struct graph_state *s) {
    uint32_t *tables = graph_levels_tables(s);
    if (tables)
        ergo_engine_constant(&s->e, GRAPH_TABLES, tables);
    else
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for %zu tables of acceptance",
                         s->levels.tables);
    free(tables);
}

static void prepare_levels(struct graph_state *s) {
    struct ergo_engine *e = &s->e;
    ergo_engine_constant(e, GRAPH_LISTS, s->levels.lists);
    if (s->levels.values)
        ergo_engine_constant(e, GRAPH_VALUES, s->levels.values);
    ergo_engine_constant(e, GRAPH_HEADS, s->levels.heads);
    ergo_engine_constant(e, GRAPH_COLOURS, s->levels.colours);
    write_tables(s);
    ergo_engine_constant(e, GRAPH_TABLE_OF, s->levels.table_of);
    s->sweeps_group = (uint32_t)ergo_engine_group(e, GRAPH_SWEEPS, s->sweeps_group);
    if (s->sweeps_group > 1 && s->sweeps_group < s->lanes)
        ERGO_ENGINE_FAIL(e, ERGO_E_DEVICE,
                         "%s runs work-groups of up to %u here, with %u chains each; /tuning/path "
                         "1 has smaller ones",
                         e->device->summary.name, s->sweeps_group, s->lanes);
}

/* device.c: s->ladders to members, and these to the device. */
static void graph_write_ladders(struct graph_state *s) {
    const size_t members = s->e.batch->count, rungs = s->chains.rungs;
    for (size_t m = 0; m < members; m++)
        graph_member_heat(s->ladders + m * rungs, (uint32_t)rungs, s->net.unit,
                          s->members + m * rungs);
    ergo_engine_constant(&s->e, GRAPH_MEMBERS_ROW, s->members);
    if (!s->lanes)
        return;
    for (size_t row = 0; row < members * rungs; row++) /* each has its own */
        s->levels.scales[row] = s->members[row].scale;
    write_tables(s);
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
    if (s->lanes)
        prepare_levels(s);
    for (unsigned k = 0; k < GRAPH_KERNELS; k++)
        if (k != GRAPH_COMB && k != GRAPH_LOOK_ALL && k != GRAPH_SWEEPS)
            s->group = (uint32_t)ergo_engine_group(e, k, s->group);
    ergo_engine_need_group(e, GRAPH_COMB, s->comb);
    ergo_engine_need_group(e, GRAPH_LOOK_ALL, s->comb);
    ergo_engine_fill(e, GRAPH_NOW, 0);
    free(terms);
    return ERGO_OK;
}

/* So many items; of all chains so many quads or stripes. */
static struct ergo_grid grid_of_items(const struct graph_state *s, size_t items) {
    return (struct ergo_grid){1, {ergo_round_up(items, s->group)}, {s->group}};
}

static struct ergo_grid grid_of(const struct graph_state *s, size_t rows) {
    return grid_of_items(s, rows * s->e.batch->count * s->chains.width);
}

/* A work-group for each member. */
static struct ergo_grid groups(const struct graph_state *s) {
    return ergo_grid_groups(s->e.batch->count, s->comb, 1);
}

/* Walkers have been nowhere. */
static void clear_moves(struct graph_state *s) {
    ergo_engine_fill(&s->e, GRAPH_CAME, 0);
    ergo_engine_fill(&s->e, GRAPH_MOVES, 0);
}

/* Each chain has its own column and family; nothing has been exchanged or resampled. */
static void start_chains(struct graph_state *s) {
    struct ergo_engine *e = &s->e;
    const size_t width = s->chains.width, n = e->batch->count * width;
    uint32_t *own = malloc(n * sizeof *own);
    for (size_t i = 0; i < n && own; i++)
        own[i] = (uint32_t)(i % width);
    if (!own)
        ERGO_ENGINE_FAIL(e, ERGO_E_MEMORY, "no memory for numbers of chains");
    if (s->chains.rungs > 1) {
        ergo_engine_write(e, GRAPH_PLACES, 0, n * sizeof *own, own);
        clear_moves(s);
    }
    if (s->chains.population) {
        ergo_engine_write(e, GRAPH_FAMILIES_ROW, 0, n * sizeof *own, own);
        ergo_engine_fill(e, GRAPH_TOTALS, 0);
    }
    ergo_engine_finish(e);
    free(own);
}

static void start(void *state) {
    struct graph_state *s = state;
    const size_t n = s->e.batch->count * s->keep;
    struct graph_found *found = malloc(n * sizeof *found);
    if (!found)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for the lowest energies");
    for (size_t i = 0; i < n && found; i++)
        found[i] = (struct graph_found){GRAPH_EMPTY, 0, 0};
    if (s->feedback.automatic) {
        ergo_feedback_begin(s->e.batch, s->ladders);
        graph_write_ladders(s);
    }
    start_chains(s);
    ERGO_LAUNCH(&s->e, GRAPH_START, grid_of(s, s->net.slots / 4), BUFFER(GRAPH_SPINS),
                BUFFER(GRAPH_VERTICES), BUFFER(GRAPH_MEMBERS_ROW),
                U32(lattice_start(s->e.batch->points[0])), U32(s->net.slots));
    ergo_engine_write(&s->e, GRAPH_FOUND, 0, n * sizeof *found, found);
    ergo_engine_fill(&s->e, GRAPH_HITS, 0xff);
    ergo_engine_fill(&s->e, GRAPH_KEPT, 0);
    free(found);
}

/* Energies and so on of all chains to row `to`. */
static void launch_measure(struct graph_state *s, unsigned to, size_t sample) {
    const size_t chains = s->e.batch->count * s->chains.width;
    ERGO_LAUNCH(&s->e, GRAPH_MEASURE, grid_of(s, s->stripes), BUFFER(GRAPH_SPINS),
                BUFFER(GRAPH_FIRST), BUFFER(GRAPH_BONDS), BUFFER(GRAPH_TERMS),
                BUFFER(GRAPH_VERTICES), BUFFER(GRAPH_PLACES), BUFFER(to), U32(sample),
                U32(s->stripes), U32(s->net.slots),
                LOCAL(4 * GRAPH_NUMBERS * (chains < s->group ? chains : s->group)));
}

/* Is one of these a lowest state? Then what is measured is for an exchange, too, or cleared. */
static void look(struct graph_state *s, bool clear) {
    const size_t members = s->e.batch->count;
    if (s->chains.width > 1)
        ERGO_LAUNCH(&s->e, GRAPH_LOOK_ALL, groups(s), BUFFER(GRAPH_NOW), BUFFER(GRAPH_MEMBERS_ROW),
                    BUFFER(GRAPH_FOUND), BUFFER(GRAPH_HITS), BUFFER(GRAPH_LOOKS), U64(s->e.step),
                    U32(clear));
    else
        ERGO_LAUNCH(&s->e, GRAPH_LOOK, grid_of(s, 1), BUFFER(GRAPH_NOW), BUFFER(GRAPH_MEMBERS_ROW),
                    BUFFER(GRAPH_FOUND), BUFFER(GRAPH_HITS), BUFFER(GRAPH_LOOKS), U64(s->e.step));
    ERGO_LAUNCH(&s->e, GRAPH_KEEP_KERNEL, grid_of_items(s, s->stripes * members),
                BUFFER(GRAPH_SPINS), BUFFER(GRAPH_PLACES), BUFFER(GRAPH_LOOKS), BUFFER(GRAPH_KEPT),
                U32(s->stripes), U32(s->net.slots));
}

static void exchange(struct graph_state *s) {
    const struct graph_chains *c = &s->chains;
    const size_t pairs = (c->rungs / 2 + 1) * (size_t)c->copies;
    ERGO_LAUNCH(&s->e, GRAPH_SWAP, grid_of_items(s, s->e.batch->count * pairs), BUFFER(GRAPH_NOW),
                BUFFER(GRAPH_PLACES), BUFFER(GRAPH_CAME), BUFFER(GRAPH_MOVES),
                BUFFER(GRAPH_MEMBERS_ROW), U64(s->e.step),
                U32(ergo_ladder_parity(s->e.step, c->swap_every)));
}

/* New temperatures from the exchanges of all copies of a member; moves are counted anew. */
static void feed_back(struct graph_state *s) {
    const struct graph_chains *c = &s->chains;
    const size_t members = s->e.batch->count;
    uint64_t *moves = malloc(members * c->width * sizeof *moves), accepted[ERGO_LADDER_MAX];
    if (!moves)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for numbers of exchanges");
    ergo_engine_read(&s->e, GRAPH_MOVES, 0, 8 * members * c->width, moves);
    for (size_t m = 0; m < members && s->e.status == ERGO_OK; m++) {
        memset(accepted, 0, sizeof accepted);
        for (uint32_t w = 0; w < c->width; w++)
            accepted[w / c->copies] += moves[m * c->width + w];
        ergo_feedback_learn(&s->feedback, s->e.step, c->copies, accepted,
                            s->ladders + m * c->rungs);
    }
    graph_write_ladders(s);
    clear_moves(s);
    free(moves);
}

static void move_clusters(struct graph_state *s) {
    ERGO_LAUNCH(&s->e, GRAPH_CLUSTER, grid_of_items(s, s->e.batch->count * s->chains.rungs),
                BUFFER(GRAPH_SPINS), BUFFER(GRAPH_FIRST), BUFFER(GRAPH_BONDS), BUFFER(GRAPH_PLACES),
                BUFFER(GRAPH_MEMBERS_ROW), BUFFER(GRAPH_QUEUE), U64(s->e.step), U32(s->net.slots));
}

static void resample(struct graph_state *s, float slope) {
    launch_measure(s, GRAPH_NOW, 0);
    ERGO_LAUNCH(&s->e, GRAPH_COMB, groups(s), BUFFER(GRAPH_NOW), BUFFER(GRAPH_MEMBERS_ROW),
                F32(slope), U64(s->e.step), BUFFER(GRAPH_WEIGHTS), BUFFER(GRAPH_PARENTS),
                BUFFER(GRAPH_TOTALS));
    ERGO_LAUNCH(&s->e, GRAPH_BRANCH, grid_of(s, s->stripes), BUFFER(GRAPH_SPINS),
                BUFFER(GRAPH_FAMILIES_ROW), BUFFER(GRAPH_PARENTS), BUFFER(GRAPH_NEXT),
                BUFFER(GRAPH_NEXT_FAMILIES), U32(s->stripes), U32(s->net.slots));
    ergo_engine_swap(&s->e, GRAPH_SPINS, GRAPH_NEXT);
    ergo_engine_swap(&s->e, GRAPH_FAMILIES_ROW, GRAPH_NEXT_FAMILIES);
}

static void sweep(struct graph_state *s) {
    const struct graph_network *net = &s->net;
    const float factor = graph_factor(&s->schedule, s->e.step);
    for (uint32_t c = 0; c < net->colours; c++) {
        const uint32_t first = net->colour_first[c], count = net->colour_count[c];
        ERGO_LAUNCH(&s->e, GRAPH_SWEEP, grid_of(s, (count + 3) / 4), BUFFER(GRAPH_SPINS),
                    BUFFER(GRAPH_FIRST), BUFFER(GRAPH_BONDS), BUFFER(GRAPH_TERMS),
                    BUFFER(GRAPH_MEMBERS_ROW), BUFFER(GRAPH_PLACES), U32(first / 4),
                    U32(first + count), U64(s->e.step), F32(factor));
    }
    s->e.step++;
}

/* In local memory, up to step `end`. */
static void sweeps_to(struct graph_state *s, uint64_t end) {
    const size_t chains = s->e.batch->count * s->chains.width;
    const struct graph_stages stages = {s->schedule.begin, s->schedule.per, s->schedule.stages};
    while (s->e.step < end && s->e.status == ERGO_OK) {
        const uint64_t now = ergo_engine_next(&s->e, &s->e.pace, end - s->e.step, s->launch_sweeps);
        ERGO_LAUNCH(&s->e, GRAPH_SWEEPS,
                    ergo_grid_groups((chains + s->lanes - 1) / s->lanes, s->sweeps_group, 1),
                    BUFFER(GRAPH_SPINS), BUFFER(GRAPH_LISTS), BUFFER(GRAPH_VALUES),
                    BUFFER(GRAPH_HEADS), BUFFER(GRAPH_TERMS), BUFFER(GRAPH_COLOURS),
                    BUFFER(GRAPH_TABLES), BUFFER(GRAPH_TABLE_OF), BUFFER(GRAPH_MEMBERS_ROW),
                    BUFFER(GRAPH_PLACES), U32(s->net.slots), U32(s->net.colours), U64(s->e.step),
                    U32(now), VALUE(stages), LOCAL(graph_local_bytes(s)));
        ergo_engine_made(&s->e, &s->e.pace, now);
        s->e.step += now;
    }
}

/* The step, not after `end`, before which or after which something else than a sweep is due. */
static uint64_t until(const struct graph_state *s, uint64_t end) {
    const uint64_t every[3] = {s->look_every, s->chains.rungs > 1 ? s->chains.swap_every : 0,
                               s->chains.cluster_every};
    uint64_t next = end;
    size_t stage;
    for (int i = 0; i < 3; i++)
        if (every[i] && (s->e.step / every[i] + 1) * every[i] < next)
            next = (s->e.step / every[i] + 1) * every[i];
    for (uint64_t step = s->e.step + 1; s->schedule.slopes && step < next; step++)
        if (graph_resamples(&s->schedule, step, &stage))
            next = step;
    return next;
}

static void steps(void *state, uint64_t sweeps) {
    struct graph_state *s = state;
    const uint64_t end = s->e.step + sweeps;
    while (s->e.step < end && s->e.status == ERGO_OK) {
        size_t stage;
        if (graph_resamples(&s->schedule, s->e.step, &stage))
            resample(s, s->schedule.slopes[stage]);
        if (s->lanes)
            sweeps_to(s, until(s, end));
        else
            sweep(s);
        if (graph_clusters(&s->chains, s->e.step))
            move_clusters(s);
        const bool looks = s->e.step % s->look_every == 0;
        const bool swaps = s->chains.rungs > 1 && ergo_ladder_due(s->e.step, s->chains.swap_every);
        if (looks || swaps)
            launch_measure(s, GRAPH_NOW, 0);
        if (looks)
            look(s, !swaps);
        if (swaps)
            exchange(s);
        if (ergo_feedback_due(&s->feedback, s->e.step))
            feed_back(s);
    }
}

static void measure(void *state, size_t sample) {
    struct graph_state *s = state;
    launch_measure(s, GRAPH_COUNTS, sample);
    if (s->chains.population)
        ERGO_LAUNCH(&s->e, GRAPH_CENSUS, grid_of(s, 1), BUFFER(GRAPH_FAMILIES_ROW),
                    BUFFER(GRAPH_TOTALS), BUFFER(GRAPH_FAMILIES_SAMPLES),
                    BUFFER(GRAPH_TOTALS_SAMPLES), U32(sample));
}

void graph_pack(void *state, size_t member) {
    struct graph_state *s = state;
    ERGO_LAUNCH(&s->e, GRAPH_PACK, grid_of_items(s, graph_words_of(s)), BUFFER(GRAPH_SPINS),
                BUFFER(GRAPH_PLACES), BUFFER(GRAPH_KEPT), BUFFER(GRAPH_PACKED), U32(member),
                U32(s->net.slots));
    ergo_engine_read(&s->e, GRAPH_PACKED, 0, 4 * graph_words_of(s), s->words);
}

void graph_unpack(void *state, size_t member) {
    struct graph_state *s = state;
    const size_t width = s->chains.width;
    uint32_t own[2 * ERGO_LADDER_MAX]; /* a chain's column is its own then */
    for (uint32_t w = 0; w < 2 * ERGO_LADDER_MAX; w++)
        own[w] = w;
    if (s->chains.rungs > 1)
        ergo_engine_write(&s->e, GRAPH_PLACES, 4 * width * member, 4 * width, own);
    ergo_engine_write(&s->e, GRAPH_PACKED, 0, 4 * graph_words_of(s), s->words);
    ERGO_LAUNCH(&s->e, GRAPH_UNPACK, grid_of_items(s, graph_words_of(s)), BUFFER(GRAPH_SPINS),
                BUFFER(GRAPH_KEPT), BUFFER(GRAPH_PACKED), U32(member), U32(s->net.slots));
    if (s->feedback.automatic)
        graph_write_ladders(s);
}

void graph_columns(const struct graph_state *s, const uint32_t *numbers, double *columns) {
    const double n = s->net.n;
    const uint64_t sum = (uint64_t)numbers[GRAPH_SUM + 1] << 32 | numbers[GRAPH_SUM];
    columns[COLUMN_TOTAL] = s->problem.offset - 0.5 * s->net.unit * (double)(int64_t)sum;
    columns[COLUMN_GRAPH_M] = (2.0 * numbers[GRAPH_UP] - n) / n;
    columns[COLUMN_SITES] = n;
}

/* Of a ladder the coldest chain; of a population the mean. */
static bool row_of(const void *state, unsigned slot, const struct ergo_row *row) {
    const struct graph_state *s = state;
    const size_t each = GRAPH_NUMBERS * (size_t)s->chains.width;
    const size_t count = s->chains.population ? s->chains.width : 1;
    const uint32_t *of = ergo_engine_host(&s->e, GRAPH_COUNTS, slot, row->sample);
    double one[GRAPH_COLUMNS] = {0};
    memset(row->columns, 0, sizeof one);
    for (size_t w = 0; w < count; w++) {
        graph_columns(s, of + each * row->member + GRAPH_NUMBERS * w, one);
        for (int c = 0; c < GRAPH_COLUMNS; c++)
            row->columns[c] += one[c] / (double)count;
    }
    return true;
}

static const struct ergo_engine_model model = {
    .sampler = "spin-lattice",
    .smaller = "a smaller graph, fewer replicas or fewer lowest_states",
    .state_bytes = sizeof(struct graph_state),
    .configure = graph_configure,
    .prepare = prepare,
    .start = start,
    .steps = steps,
    .measure = measure,
    .convert = graph_convert,
    .row = row_of,
    .curve_row = graph_curve_row,
    .release = graph_release,
    .fields = &graph_fields,
};

const struct ergo_sampler_ops graph_ops = {
    .engine = &model,
    .init = ergo_engine_init,
    .save = ergo_fields_save,
    .load = ergo_fields_load,
    .carry = ergo_fields_carry,
    .end_curves = graph_end_curves,
    .frame = graph_frame,
    .states = graph_states,
};
