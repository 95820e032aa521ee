/*
 * Audit of spins on graphs: a stretch of the run, repeated by the run's launches and by the host's
 * twin. Members that the host has time for, among them the last one, are compared sample by sample,
 * with their exchanges and resampling and with what is kept; of as many as it can count, the last
 * sample. Of a population for which there is no time the resampling is repeated in full, and the
 * last of its chains are followed. At step 0 the start is compared, too. The kernel that restores
 * states writes one, which is read back.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/models.h"

/* Neighbours that the twin looks at, some 0.1 s on the host. */
static const uint64_t replay_visits = UINT64_C(1) << 25;
static const uint64_t replay_sweeps = 32; /* more would find nothing else */

struct stretch {
    struct ergo_replay r; /* first, because compare gets its address */
    size_t members;       /* that are replayed */
    size_t counted;       /* whose last sample is counted */
    uint32_t first;       /* of the chains of a population that are followed */
};

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Is the population resampled at the beginning of the stretch, or nowhere in it? */
static bool is_aligned(const struct graph_state *s, uint64_t steps) {
    size_t stage;
    for (uint64_t i = 1; i < steps; i++)
        if (graph_resamples(&s->schedule, s->e.step + i, &stage))
            return false;
    return true;
}

static void plan_stretch(struct stretch *t, const struct graph_state *s) {
    const struct ergo_point *point = s->e.batch->points[0];
    const uint64_t each = s->net.first[s->net.slots] + 8 * (uint64_t)s->net.slots;
    const uint64_t visits = each * s->chains.width, swap = s->chains.swap_every;
    const uint64_t run = (uint64_t)(ergo_point_int(point, "/run/equilibration") +
                                    ergo_point_int(point, "/run/sweeps"));
    const size_t count = s->e.batch->count;
    const uint64_t two = s->e.block_samples < 2 ? 1 : 2;
    uint64_t most = replay_visits / visits / least(count, 2);
    most = least(least(most, replay_sweeps), least((uint64_t)s->e.plan.block_steps, run));
    most = most > two ? most : two;
    if (run >= s->look_every && s->look_every <= replay_sweeps && most < s->look_every)
        most = s->look_every; /* some look is in it */
    if (s->chains.cluster_every > most && s->chains.cluster_every <= replay_sweeps &&
        run >= s->chains.cluster_every)
        most = s->chains.cluster_every;
    if (s->chains.rungs > 1 && run >= swap && swap <= replay_sweeps && most < swap)
        most = swap; /* and some exchange */
    ergo_replay_plan(&t->r, ergo_point_int(point, "/run/measure_every"), 0, most,
                     s->e.block_samples);
    const uint64_t fit = replay_visits / (visits * t->r.samples * t->r.every);
    t->members = fit < 1 ? 1 : (size_t)least(fit, count);
    t->counted = (size_t)least(count, replay_visits / visits + 1);
    const uint64_t steps = t->r.samples * t->r.every, chains = replay_visits / (each * steps);
    if (s->chains.population && chains < s->chains.width && is_aligned(s, steps))
        t->first = s->chains.width - (uint32_t)(chains ? chains : 1);
}

/* A member on the host. */
struct scene {
    uint32_t *words;
    uint8_t *spins;         /* [slots], of one chain */
    uint8_t *chains, *next; /* [width][slots], in columns */
    uint8_t *kept;          /* [keep][slots] */
    uint32_t *places, *came, *families, *old_families, *parents, *read; /* [width] */
    uint32_t *numbers;                                                  /* [width] */
    uint32_t *queue;                                                    /* [slots] */
    uint64_t *moves, *read_moves;                                       /* [width] */
    struct graph_found found[GRAPH_KEEP_MAX];
    struct graph_totals totals;
    uint64_t hit;
    uint32_t look[GRAPH_LOOK_WORDS(GRAPH_KEEP_MAX)]; /* before the stretch it is all ones */
};

static bool scene_create(const struct graph_state *s, struct scene *a) {
    const size_t width = s->chains.width, slots = s->net.slots;
    *a = (struct scene){.words = malloc(4 * graph_words_of(s)),
                        .spins = malloc(slots),
                        .chains = malloc(width * slots),
                        .next = malloc(s->chains.population ? width * slots : 1),
                        .kept = malloc(s->keep * slots),
                        .places = calloc(6 * width, sizeof *a->places),
                        .numbers = calloc(width, GRAPH_NUMBERS * sizeof *a->numbers),
                        .queue = malloc(slots * sizeof *a->queue),
                        .moves = calloc(2 * width, sizeof *a->moves)};
    if (!a->words || !a->spins || !a->chains || !a->next || !a->kept || !a->places || !a->numbers ||
        !a->moves)
        return false;
    a->came = a->places + width;
    a->families = a->places + 2 * width;
    a->old_families = a->places + 3 * width;
    a->parents = a->places + 4 * width;
    a->read = a->places + 5 * width;
    a->read_moves = a->moves + width;
    return true;
}

static void scene_free(struct scene *a) {
    free(a->words);
    free(a->spins);
    free(a->chains);
    free(a->next);
    free(a->kept);
    free(a->places);
    free(a->numbers);
    free(a->queue);
    free(a->moves);
}

/* Column `column` of row `row` of `columns` bytes for each slot. */
static void column_of(const struct graph_state *s, const void *all, size_t row, size_t columns,
                      size_t column, uint8_t *spins) {
    const uint8_t *from = (const uint8_t *)all + row * s->net.slots * columns + column;
    for (uint32_t slot = 0; slot < s->net.slots; slot++)
        spins[slot] = from[slot * columns];
}

static uint8_t *chain_of(const struct graph_state *s, const struct scene *a, uint32_t w) {
    return a->chains + (size_t)a->places[w] * s->net.slots;
}

/* A member's state before the stretch. */
static void take(const struct stretch *t, const struct graph_state *s, size_t member,
                 struct scene *a) {
    const size_t members = s->e.batch->count, width = s->chains.width, slots = s->net.slots;
    void *const *kept = t->r.kept;
    for (size_t w = 0; w < width; w++)
        column_of(s, kept[GRAPH_SPINS], 0, members * width, member * width + w,
                  a->chains + w * slots);
    for (uint32_t k = 0; k < s->keep; k++)
        column_of(s, kept[GRAPH_KEPT], k, members, member, a->kept + k * slots);
    memcpy(a->found, (const struct graph_found *)kept[GRAPH_FOUND] + member * s->keep,
           s->keep * sizeof *a->found);
    a->hit = ((const uint64_t *)kept[GRAPH_HITS])[member];
    for (size_t w = 0; w < width; w++)
        a->places[w] = (uint32_t)w;
    if (s->chains.rungs > 1) {
        memcpy(a->places, (const uint32_t *)kept[GRAPH_PLACES] + member * width, 4 * width);
        memcpy(a->came, (const uint32_t *)kept[GRAPH_CAME] + member * width, 4 * width);
        memcpy(a->moves, (const uint64_t *)kept[GRAPH_MOVES] + member * width, 8 * width);
    }
    if (s->chains.population) {
        memcpy(a->families, (const uint32_t *)kept[GRAPH_FAMILIES_ROW] + member * width, 4 * width);
        a->totals = ((const struct graph_totals *)kept[GRAPH_TOTALS])[member];
    }
    memset(a->look, 0xff, sizeof a->look);
}

/* Can places be those of a ladder? */
static bool are_places(const struct graph_state *s, const struct scene *a) {
    for (uint32_t w = 0; w < s->chains.width && s->chains.rungs > 1; w++)
        for (uint32_t v = 0; v <= w; v++)
            if (a->places[w] >= s->chains.width || (v < w && a->places[v] == a->places[w]))
                return false;
    return true;
}

static bool same_numbers(const struct graph_state *s, size_t member, size_t sample, uint32_t w,
                         const uint32_t *numbers) {
    const uint32_t *found = ergo_engine_host(&s->e, GRAPH_COUNTS, 0, sample);
    found += (member * s->chains.width + w) * GRAPH_NUMBERS;
    return memcmp(found, numbers, GRAPH_NUMBERS * sizeof *numbers) == 0;
}

static bool same_totals(const struct graph_totals *a, const struct graph_totals *b) {
    return a->weights == b->weights && a->best == b->best;
}

/* What differs of a sample, or NULL. */
static const char *compare_sample(const struct stretch *t, const struct graph_state *s,
                                  size_t member, size_t sample, const struct scene *a) {
    const size_t width = s->chains.width;
    for (uint32_t w = t->first; w < width; w++)
        if (!same_numbers(s, member, sample, w, a->numbers + (size_t)w * GRAPH_NUMBERS))
            return "energy or magnetization";
    if (!s->chains.population)
        return NULL;
    const uint32_t *families = ergo_engine_host(&s->e, GRAPH_FAMILIES_SAMPLES, 0, sample);
    const struct graph_totals *totals = ergo_engine_host(&s->e, GRAPH_TOTALS_SAMPLES, 0, sample);
    return memcmp(families + member * width, a->families, 4 * width) == 0 &&
                   same_totals(&totals[member], &a->totals)
               ? NULL
               : "the families or weights of a sample";
}

static void measure(const struct graph_state *s, uint32_t first, struct scene *a) {
    for (uint32_t w = first; w < s->chains.width; w++)
        graph_twin_measure(&s->net, chain_of(s, a, w), a->numbers + (size_t)w * GRAPH_NUMBERS);
}

static void resample(const struct stretch *t, const struct graph_state *s, size_t stage,
                     uint64_t step, const struct graph_member *rows, struct scene *a) {
    const size_t slots = s->net.slots;
    measure(s, 0, a);
    graph_twin_comb(s, rows, s->schedule.slopes[stage], step, a->numbers, a->parents, &a->totals);
    memcpy(a->old_families, a->families, 4 * (size_t)s->chains.width);
    for (uint32_t w = 0; w < s->chains.width; w++) {
        a->families[w] = a->old_families[a->parents[w]];
        if (w >= t->first)
            memcpy(a->next + w * slots, a->chains + a->parents[w] * slots, slots);
    }
    uint8_t *const old = a->chains;
    a->chains = a->next;
    a->next = old;
}

static void look(const struct graph_state *s, uint64_t step, const struct graph_member *rows,
                 struct scene *a) {
    graph_twin_look(s, rows, a->numbers, step, a->found, &a->hit, a->look);
    for (uint32_t k = 0; k < s->keep; k++)
        if (a->look[GRAPH_LOOK_CHOICE + k] != GRAPH_NOTHING)
            memcpy(a->kept + (size_t)k * s->net.slots,
                   chain_of(s, a, a->look[GRAPH_LOOK_CHOICE + k]), s->net.slots);
}

/* Moves the scene by the twin. Returns what differs, or NULL. */
static const char *replay(const struct stretch *t, const struct graph_state *s, size_t member,
                          struct scene *a) {
    const struct graph_chains *c = &s->chains;
    const struct graph_member *rows = s->members + member * c->rungs;
    uint64_t step = t->r.step;
    for (uint32_t w = t->first; w < c->width && step == 0 && !s->e.carried; w++) {
        graph_twin_start(&s->net, rows + w / c->copies, w, model_start(s->e.batch->points[member]),
                         a->spins);
        if (memcmp(a->spins, chain_of(s, a, w), s->net.slots) != 0)
            return "the starts";
    }
    for (size_t i = 0; i < t->r.samples * t->r.every; i++) {
        size_t stage;
        if (graph_resamples(&s->schedule, step, &stage))
            resample(t, s, stage, step, rows, a);
        for (uint32_t w = t->first; w < c->width; w++)
            graph_twin_sweep(s, rows + w / c->copies, w, step, chain_of(s, a, w));
        step++;
        for (uint32_t k = 0; k < c->rungs && graph_clusters(c, step); k++)
            graph_twin_cluster(&s->net, rows + k, k, step, chain_of(s, a, k * c->copies),
                               chain_of(s, a, k * c->copies + 1), a->queue);
        const bool sampled = (i + 1) % t->r.every == 0, all = t->first == 0;
        const bool looked = all && step % s->look_every == 0;
        const bool swapped = c->rungs > 1 && ergo_ladder_due(step, c->swap_every);
        if (sampled || looked || swapped)
            measure(s, t->first, a);
        if (looked)
            look(s, step, rows, a);
        if (swapped)
            graph_twin_swap(s, rows, step, a->places, a->numbers, a->came, a->moves);
        const char *wrong = sampled ? compare_sample(t, s, member, i / t->r.every, a) : NULL;
        if (wrong)
            return wrong;
    }
    return NULL;
}

/* What the device has of walkers, exchanges and families. */
static const char *compare_besides(struct graph_state *s, size_t member, struct scene *a) {
    const size_t width = s->chains.width;
    struct graph_totals totals = {0, 0};
    bool same = true;
    if (s->chains.rungs > 1) {
        ergo_engine_read(&s->e, GRAPH_CAME, 4 * width * member, 4 * width, a->read);
        ergo_engine_read(&s->e, GRAPH_MOVES, 8 * width * member, 8 * width, a->read_moves);
        same = memcmp(a->read, a->came, 4 * width) == 0 &&
               memcmp(a->read_moves, a->moves, 8 * width) == 0;
    }
    if (s->chains.population) {
        ergo_engine_read(&s->e, GRAPH_FAMILIES_ROW, 4 * width * member, 4 * width, a->read);
        ergo_engine_read(&s->e, GRAPH_TOTALS, sizeof totals * member, sizeof totals, &totals);
        same = memcmp(a->read, a->families, 4 * width) == 0 && same_totals(&totals, &a->totals);
    }
    return same ? NULL : "exchanges or families";
}

static const char *compare_lowest(struct graph_state *s, size_t member, struct scene *a) {
    struct graph_found found[GRAPH_KEEP_MAX];
    uint32_t looks[GRAPH_LOOK_WORDS(GRAPH_KEEP_MAX)];
    const size_t size = s->keep * sizeof *found, words = 4 * GRAPH_LOOK_WORDS((size_t)s->keep);
    uint64_t hit = 0;
    ergo_engine_read(&s->e, GRAPH_FOUND, member * size, size, found);
    ergo_engine_read(&s->e, GRAPH_HITS, 8 * member, 8, &hit);
    ergo_engine_read(&s->e, GRAPH_LOOKS, member * words, words, looks);
    bool same = ergo_engine_end(&s->e) == ERGO_OK && hit == a->hit &&
                memcmp(looks, a->look, words) == 0 && memcmp(found, a->found, size) == 0;
    for (uint32_t k = 0; k < s->keep && same; k++) {
        graph_spread(s, a->words + (s->chains.width + k) * graph_row_words(s), a->spins);
        same = memcmp(a->spins, a->kept + (size_t)k * s->net.slots, s->net.slots) == 0;
    }
    return same ? NULL : "the lowest states";
}

static enum ergo_status compare_member(struct ergo_context *ctx, const struct stretch *t,
                                       struct graph_state *s, size_t member, struct scene *a) {
    take(t, s, member, a);
    const char *wrong = are_places(s, a) ? replay(t, s, member, a) : "the places of chains";
    ergo_engine_begin(&s->e, ctx);
    graph_read_member(s, member, a->words);
    for (uint32_t w = t->first; w < s->chains.width && !wrong; w++) {
        graph_spread(s, a->words + w * graph_row_words(s), a->spins);
        wrong = memcmp(a->spins, chain_of(s, a, w), s->net.slots) == 0 ? NULL : "the spins";
    }
    if (!wrong)
        wrong = compare_besides(s, member, a);
    if (!wrong && !t->first)
        wrong = compare_lowest(s, member, a);
    const enum ergo_status status = ergo_engine_end(&s->e);
    return status == ERGO_OK && wrong ? ergo_replay_differs(ctx, &t->r, member, wrong) : status;
}

/* The last sample of a member that is not replayed, from its spins on the device. */
static enum ergo_status count_member(struct ergo_context *ctx, const struct stretch *t,
                                     struct graph_state *s, size_t member, struct scene *a) {
    uint32_t numbers[GRAPH_NUMBERS];
    bool same = true;
    ergo_engine_begin(&s->e, ctx);
    graph_read_member(s, member, a->words);
    const enum ergo_status status = ergo_engine_end(&s->e);
    if (status != ERGO_OK)
        return status;
    for (uint32_t w = 0; w < s->chains.width; w++) {
        graph_spread(s, a->words + w * graph_row_words(s), a->spins);
        graph_twin_measure(&s->net, a->spins, numbers);
        same = same && same_numbers(s, member, t->r.samples - 1, w, numbers);
    }
    return same ? ERGO_OK : ergo_replay_differs(ctx, &t->r, member, "energy or magnetization");
}

/* Writes other bits for the last member, whose states the replay puts back. */
static enum ergo_status compare_writing(struct ergo_context *ctx, const struct stretch *t,
                                        struct graph_state *s, struct scene *a) {
    const size_t last = s->e.batch->count - 1, n = graph_words_of(s), row = graph_row_words(s);
    uint32_t *written = malloc(4 * n);
    if (!written)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    for (size_t i = 0; i < n; i++) {
        const size_t bits = s->net.slots - 32 * (i % row);
        written[i] =
            (uint32_t)(0x9E3779B9u * (i + 1)) & (bits < 32 ? (1u << bits) - 1 : UINT32_MAX);
    }
    ergo_engine_begin(&s->e, ctx);
    graph_write_member(s, last, written);
    ergo_engine_fill(&s->e, GRAPH_PACKED, 0); /* what was written is not what is read */
    graph_read_member(s, last, a->words);
    enum ergo_status status = ergo_engine_end(&s->e);
    if (status == ERGO_OK && memcmp(written, a->words, 4 * n) != 0)
        status = ergo_replay_differs(ctx, &t->r, last, "states that are written and read back");
    free(written);
    return status;
}

static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    const struct stretch *t = (const struct stretch *)r;
    struct graph_state *s = r->state;
    struct scene a;
    enum ergo_status status =
        scene_create(s, &a) ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    for (size_t m = 0; m < r->members && status == ERGO_OK; m++)
        if (ergo_replay_takes(r, t->members, m))
            status = compare_member(ctx, t, s, m, &a);
        else if (ergo_replay_takes(r, t->counted, m))
            status = count_member(ctx, t, s, m, &a);
    if (status == ERGO_OK)
        status = compare_writing(ctx, t, s, &a);
    scene_free(&a);
    return status;
}

enum ergo_status graph_audit(struct ergo_context *ctx, void *state) {
    struct graph_state *s = state;
    struct stretch t = {.r = {.n_columns = GRAPH_COLUMNS,
                              .step = s->e.step,
                              .members = s->e.batch->count,
                              .compare = compare}};
    plan_stretch(&t, s);
    const bool automatic = s->feedback.automatic;
    enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    s->feedback.automatic = false; /* temperatures stay in the stretch */
    if (status == ERGO_OK)
        status = ergo_engine_replay(ctx, &s->e, &t.r, NULL, 0);
    s->feedback.automatic = automatic;
    return status;
}
