/*
 * One population over ranks, some walkers of each member on each: the second table of operations
 * (sampler.h). A rank steps its own walkers. After a step all ranks learn the energies of all
 * walkers, eight bytes each, and each makes the whole comb on its host. The comb keeps the order
 * of walkers, so children have their parents on the same rank but for some at the ends of shares:
 * their places, records and ancestors travel. Samples, and what is kept of windows, are made of all
 * walkers, which are shared then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "engine/shares.h"
#include "engine/slab.h"
#include "helium_dmc/core.h"
#include "samplers/helium_dmc/dmc.h"

enum { TAG_COPIES = ERGO_DIST_TAGS + 30, KINDS = 3 };
/* A message: walkers, then its number. */
enum { NUMBER = sizeof(uint32_t) };

struct dmc_cut {
    struct ergo_shares *shares;
    struct ergo_dist_posts *posts;
    size_t ranks, own;
    uint32_t *firsts;          /* [ranks + 1]: of the walkers of each rank */
    uint64_t *counts;          /* [ranks] of what is collected */
    bool alone;                /* for a trial: no comb */
    struct helium_sums *sums;  /* [walkers] */
    int64_t *mine, *collected; /* energies [members][own]; those of all ranks */
    int64_t *energies;         /* [walkers] of a member */
    uint64_t *weights;         /* likewise */
    uint32_t *parents;         /* [members][walkers] */
    char *room;                /* for messages */
    size_t room_bytes;
    uint32_t number;           /* of the exchange */
    uint64_t bytes, exchanges; /* of copies, so far */
    double waited;             /* seconds in exchanges */
};

/* What an H200 visits in the 0.8 ms that an exchange of two ranks takes. */
static const double worth_visits = 5e8;

bool dmc_pays_to_cut(const struct ergo_point *point, size_t ranks) {
    const struct dmc_shape s = dmc_shape_of(point);
    const double saved = 1 - 1 / (double)ranks;
    return s.walkers >= ranks && 3.0 * s.n * s.n * s.walkers * saved > worth_visits;
}

/* ---- shares ---------------------------------------------------------------------------------- */

static void divide(struct dmc_state *s) {
    struct dmc_cut *c = s->cut;
    for (size_t r = 0; r <= c->ranks; r++)
        c->firsts[r] =
            (uint32_t)ergo_share_before(s->shape.walkers, c->shares->weights, c->ranks, r);
    s->begin = c->firsts[c->own];
    s->end = c->firsts[c->own + 1];
}

static enum ergo_status make_cut(struct ergo_context *ctx, struct dmc_state *s) {
    const struct ergo_point *first = s->e.batch->points[0];
    const size_t walkers = s->shape.walkers, all = s->e.batch->count * walkers;
    struct dmc_cut *c = s->cut = ergo_engine_memory(&s->e, 1, sizeof *c);
    if (!c)
        return ergo_engine_end(&s->e);
    c->shares = ergo_shares_create(ctx, first);
    if (!c->shares)
        return ERGO_E_MEMORY;
    c->ranks = (size_t)ergo_dist_count();
    c->own = (size_t)ergo_ranks_rank();
    if (walkers < c->ranks)
        return ERGO_FAIL(ctx, ERGO_E_JOB,
                         "/distribute: %zu walkers cannot be cut over %zu ranks, one at least on "
                         "each: use fewer ranks, more /system/walkers, or \"points\"",
                         walkers, c->ranks);
    c->posts = ergo_dist_posts_create();
    if (!c->posts)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu walkers over ranks", walkers);
    c->firsts = ergo_engine_memory(&s->e, c->ranks + 1, sizeof *c->firsts);
    c->counts = ergo_engine_memory(&s->e, c->ranks, sizeof *c->counts);
    c->sums = ergo_engine_memory(&s->e, walkers, sizeof *c->sums);
    c->mine = ergo_engine_memory(&s->e, all, sizeof *c->mine);
    c->collected = ergo_engine_memory(&s->e, all, sizeof *c->collected);
    c->energies = ergo_engine_memory(&s->e, walkers, sizeof *c->energies);
    c->weights = ergo_engine_memory(&s->e, walkers, sizeof *c->weights);
    c->parents = ergo_engine_memory(&s->e, all, sizeof *c->parents);
    return ergo_engine_end(&s->e);
}

/* ---- between ranks --------------------------------------------------------------------------- */

static char *make_room(struct dmc_state *s, size_t bytes) {
    struct dmc_cut *c = s->cut;
    if (bytes > c->room_bytes) {
        free(c->room);
        c->room = malloc(bytes);
        c->room_bytes = c->room ? bytes : 0;
    }
    if (!c->room)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for walkers of other ranks");
    return c->room;
}

static uint32_t later(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

/* How many of the walkers `from` to `to` - 1 rank r has. *first: of these. */
static uint32_t part_of(const struct dmc_cut *c, size_t r, uint32_t from, uint32_t to,
                        uint32_t *first) {
    const uint32_t end = c->firsts[r + 1] < to ? c->firsts[r + 1] : to;
    *first = later(c->firsts[r], from);
    return end > *first ? end - *first : 0;
}

/* Bytes of a walker in what is shared. */
static size_t bytes_of(const struct dmc_state *s, unsigned row) {
    switch (row) {
    case DMC_SUMS:
        return HELIUM_SUMS_BYTES;
    case DMC_RECORDS:
        return s->shape.every ? 8 * HELIUM_DMC_RECORDS : 0;
    case DMC_ANCESTORS:
        return s->shape.chosen ? 4 : 0;
    default:
        return (size_t)s->shape.walker_bytes;
    }
}

void dmc_cut_share(struct dmc_state *s, unsigned row, int member, uint32_t from, uint32_t to) {
    struct dmc_cut *c = s->cut;
    const size_t m0 = member < 0 ? 0 : (size_t)member;
    const size_t m1 = member < 0 ? s->e.batch->count : m0 + 1;
    const size_t each = bytes_of(s, row), members = m1 - m0, whole = (size_t)(to - from) * each;
    uint32_t first;
    if (c->ranks == 1 || c->alone || !whole || ergo_engine_end(&s->e) != ERGO_OK)
        return;
    const size_t own = part_of(c, c->own, from, to, &first) * each;
    char *mine = make_room(s, members * (own + whole) + whole);
    if (!mine)
        return;
    char *all = mine + members * own, *one = all + members * whole;
    for (size_t m = m0; m < m1 && own; m++)
        ergo_engine_read(&s->e, row, (m * s->shape.walkers + first) * each, own,
                         mine + (m - m0) * own);
    for (size_t r = 0; r < c->ranks; r++)
        c->counts[r] = members * part_of(c, r, from, to, &first);
    if (ergo_engine_end(&s->e) == ERGO_OK)
        ergo_engine_note(&s->e, ergo_dist_collect_items(s->e.ctx, mine, all, each, c->counts));
    for (size_t m = m0; m < m1; m++) {
        const char *at = all;
        for (size_t r = 0; r < c->ranks; r++) {
            const size_t bytes = part_of(c, r, from, to, &first) * each;
            memcpy(one + (size_t)(first - from) * each * (bytes > 0), at + (m - m0) * bytes, bytes);
            at += members * bytes;
        }
        ergo_engine_write(&s->e, row, (m * s->shape.walkers + from) * each, whole, one);
    }
}

void dmc_cut_sum(struct dmc_state *s, size_t sample) {
    const size_t n = s->e.batch->count * HELIUM_DMC_RECORDS;
    uint64_t *sums = (uint64_t *)(void *)make_room(s, 8 * n);
    if (s->cut->ranks == 1 || ergo_engine_end(&s->e) != ERGO_OK)
        return;
    ergo_engine_read(&s->e, DMC_FORWARD, 8 * n * sample, 8 * n, sums);
    ergo_dist_sum_counts(sums, n);
    ergo_engine_write(&s->e, DMC_FORWARD, 8 * n * sample, 8 * n, sums);
}

/* Walkers of `owner` among which are all parents of `rank`'s children: how many. */
static uint32_t needed(const struct dmc_cut *c, const uint32_t *parents, size_t rank, size_t owner,
                       uint32_t *first) {
    const uint32_t from = parents[c->firsts[rank]], to = parents[c->firsts[rank + 1] - 1] + 1;
    return rank == owner ? 0 : part_of(c, owner, from, to, first);
}

static const unsigned copied[KINDS] = {DMC_POSITIONS, DMC_RECORDS, DMC_ANCESTORS};

/* One way of the exchange of copies: with `post`, what is said of each message; its bytes are
 * added up. out: those that are sent, or those that come. */
typedef void (*post_function)(struct dmc_state *s, unsigned kind, size_t other, size_t offset,
                              size_t bytes, char *at);
static size_t each_message(struct dmc_state *s, bool out, post_function post, char *at) {
    const struct dmc_cut *c = s->cut;
    size_t all = 0;
    for (size_t m = 0; m < s->e.batch->count; m++) {
        const uint32_t *parents = c->parents + m * s->shape.walkers;
        for (size_t r = 0; r < c->ranks; r++) {
            uint32_t first = 0;
            const uint32_t n =
                out ? needed(c, parents, r, c->own, &first) : needed(c, parents, c->own, r, &first);
            for (unsigned k = 0; k < KINDS && n; k++) {
                const size_t each = bytes_of(s, copied[k]), bytes = n * each;
                if (post && bytes)
                    post(s, k, r, (m * s->shape.walkers + first) * each, bytes, at + all);
                all += bytes ? bytes + NUMBER : 0;
            }
        }
    }
    return all;
}

static void receive(struct dmc_state *s, unsigned kind, size_t from, size_t offset, size_t bytes,
                    char *at) {
    (void)offset;
    memset(at + bytes, 0xff, NUMBER); /* of no message */
    ergo_engine_note(&s->e, ergo_dist_post_receive(s->e.ctx, s->cut->posts, (int)from,
                                                   TAG_COPIES + (int)kind, at, bytes + NUMBER));
}

static void send(struct dmc_state *s, unsigned kind, size_t to, size_t offset, size_t bytes,
                 char *at) {
    ergo_engine_read(&s->e, copied[kind], offset, bytes, at);
    memcpy(at + bytes, &s->cut->number, NUMBER);
    ergo_engine_note(&s->e, ergo_dist_post_send(s->e.ctx, s->cut->posts, (int)to,
                                                TAG_COPIES + (int)kind, at, bytes + NUMBER));
}

static void take(struct dmc_state *s, unsigned kind, size_t from, size_t offset, size_t bytes,
                 char *at) {
    if (memcmp(at + bytes, &s->cut->number, NUMBER) != 0)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_DEVICE,
                         "rank %zu got another message of rank %zu's walkers than the one that is "
                         "due: the ranks have lost step, or the network a message",
                         s->cut->own, from);
    ergo_engine_write(&s->e, copied[kind], offset, bytes, at);
}

/* Parents go where their children are, each to its number. */
static void exchange(struct dmc_state *s) {
    struct dmc_cut *c = s->cut;
    const size_t in = each_message(s, false, NULL, NULL), out = each_message(s, true, NULL, NULL);
    char *room = make_room(s, in + out + 1);
    if (!room)
        return;
    each_message(s, false, receive, room);
    each_message(s, true, send, room + in);
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return;
    ergo_dist_posts_wait(c->posts);
    each_message(s, false, take, room);
    c->bytes += out;
    c->number++;
}

/* ---- the comb -------------------------------------------------------------------------------- */

/* An energy of a walker and a mark, in 64 bits: sums of all walkers stay below 2^62. */
static int64_t marked(const struct helium_sums *sums, const struct helium_dmc *dmc) {
    const int64_t e = helium_dmc_energy(sums->potential, sums->laplacian, sums->gradient, dmc);
    return (int64_t)((uint64_t)e << 1) | (sums->accepted >> HELIUM_BEYOND != 0);
}

/* As comb.cl makes it, of a member's energies. */
static void comb_one(struct dmc_state *s, size_t member, uint32_t *parents, uint64_t grown[2]) {
    const struct dmc_cut *c = s->cut;
    const struct helium_dmc *dmc = &s->steps[member];
    const struct helium_member *of = &s->members[member];
    const uint32_t count = later(s->shape.walkers, 1);
    const uint32_t word = helium_dmc_word(s->e.step, of->key0, of->key1);
    int64_t sum = 0;
    uint64_t all = 0, below = 0;
    for (uint32_t w = 0; w < count; w++)
        sum += c->energies[w] >> 1;
    const int64_t mean = sum / (int64_t)count;
    for (uint32_t w = 0; w < count; w++) {
        const float exponent = helium_dmc_exponent(c->energies[w] >> 1, mean, dmc);
        c->weights[w] = helium_dmc_weight(exponent, (uint32_t)c->energies[w] & 1);
        all += c->weights[w];
    }
    uint64_t tooth = ergo_comb_tooth(0, all, count, word);
    uint32_t k = 0;
    for (uint32_t w = 0; w < count && all; w++)
        for (below += c->weights[w]; k < count && tooth < below;
             tooth = ergo_comb_tooth(k, all, count, word))
            parents[k++] = w;
    for (; k < count; k++)
        parents[k] = k;
    grown[0] = (uint64_t)mean;
    grown[1] = all;
}

/* The energies of all walkers, at all ranks. */
static void collect_energies(struct dmc_state *s) {
    struct dmc_cut *c = s->cut;
    const size_t members = s->e.batch->count, own = dmc_own(s), count = s->shape.walkers;
    for (size_t m = 0; m < members; m++) {
        ergo_engine_read(&s->e, DMC_SUMS, (m * count + s->begin) * HELIUM_SUMS_BYTES,
                         own * HELIUM_SUMS_BYTES, c->sums);
        for (size_t i = 0; i < own; i++)
            c->mine[m * own + i] = marked(&c->sums[i], &s->steps[m]);
    }
    for (size_t r = 0; r < c->ranks; r++)
        c->counts[r] = members * (c->firsts[r + 1] - c->firsts[r]);
    if (ergo_engine_end(&s->e) == ERGO_OK)
        ergo_engine_note(&s->e,
                         ergo_dist_collect_items(s->e.ctx, c->mine, c->collected, 8, c->counts));
}

void dmc_cut_comb(struct dmc_state *s) {
    struct dmc_cut *c = s->cut;
    const size_t members = s->e.batch->count, count = s->shape.walkers;
    const size_t remember = s->shape.remember;
    if (c->alone || ergo_engine_end(&s->e) != ERGO_OK)
        return;
    ergo_engine_note(&s->e, ergo_device_finish(s->e.ctx, s->e.device));
    ergo_engine_lap(&s->e);
    collect_energies(s);
    for (size_t m = 0; m < members && ergo_engine_end(&s->e) == ERGO_OK; m++) {
        uint64_t grown[2];
        for (size_t r = 0; r < c->ranks; r++) {
            const size_t n = c->firsts[r + 1] - c->firsts[r];
            memcpy(c->energies + c->firsts[r], c->collected + members * c->firsts[r] + m * n,
                   n * sizeof *c->energies);
        }
        comb_one(s, m, c->parents + m * count, grown);
        if (remember)
            ergo_engine_write(&s->e, DMC_GROWN,
                              (m * remember + (size_t)(s->e.step % remember)) * sizeof grown,
                              sizeof grown, grown);
    }
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return;
    exchange(s);
    for (size_t i = 0; i < members * count; i++)
        c->parents[i] -= (uint32_t)(i % count);
    ergo_engine_write(&s->e, DMC_PARENTS, 0, 4 * members * count, c->parents);
    c->waited += ergo_engine_lap(&s->e);
    c->exchanges++;
}

/* ---- all walkers ----------------------------------------------------------------------------- */

/* Bytes of copies that are here, read into `to` at their places. */
static void read_copies(struct dmc_state *s, unsigned row, size_t member, const uint32_t ends[2],
                        char *to) {
    const size_t each = bytes_of(s, row), count = s->shape.walkers;
    const uint32_t from[2] = {ends[0], later(ends[0], s->end)};
    const uint32_t until[2] = {ends[1] < s->begin ? ends[1] : s->begin, ends[1]};
    for (int k = 0; k < 2; k++)
        if (until[k] > from[k])
            ergo_engine_read(&s->e, row, (member * count + from[k]) * each,
                             (until[k] - from[k]) * each, to + from[k] * each);
}

static bool unite_one(struct dmc_state *s, unsigned row, size_t member) {
    const size_t each = bytes_of(s, row), count = s->shape.walkers;
    const uint32_t last = s->end - 1;
    uint32_t parents[2] = {0, 0};
    char *before = calloc(count, each + !each), *after = calloc(count, each + !each);
    bool same = true;
    if (!before || !after)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for the walkers of all ranks");
    ergo_engine_read(&s->e, DMC_PARENTS, 4 * (member * count + s->begin), 4, &parents[0]);
    ergo_engine_read(&s->e, DMC_PARENTS, 4 * (member * count + last), 4, &parents[1]);
    const uint32_t ends[2] = {parents[0] + s->begin, parents[1] + last + 1};
    if (each && before && after && ergo_engine_end(&s->e) == ERGO_OK) {
        same = ends[0] < ends[1] && ends[1] <= count; /* else parents that do not exist */
        if (same)
            read_copies(s, row, member, ends, before);
        dmc_cut_share(s, row, (int)member, 0, (uint32_t)count);
        if (same)
            read_copies(s, row, member, ends, after);
        same = same && memcmp(before, after, count * each) == 0;
    }
    free(before);
    free(after);
    return same;
}

/* What the chain of a member goes on from, of all walkers. False: a copy that a rank had of
 * another's walker is not what that one has. */
static bool unite_all(struct dmc_state *s, size_t member) {
    bool same = true;
    for (unsigned k = 0; k < KINDS; k++)
        same = unite_one(s, copied[k], member) && same;
    return same;
}

/* ---- the engine's table ---------------------------------------------------------------------- */

static enum ergo_status configure(struct ergo_context *ctx, void *state) {
    struct dmc_state *s = state;
    s->shape = dmc_shape_of(s->e.batch->points[0]);
    enum ergo_status status = make_cut(ctx, s);
    if (status != ERGO_OK)
        return status;
    divide(s);
    status = dmc_configure(ctx, s);
    const size_t path = strlen(s->e.plan.path), launch = strlen(s->e.plan.launch);
    snprintf(s->e.plan.path + path, sizeof s->e.plan.path - path, ", cut");
    snprintf(s->e.plan.launch + launch, sizeof s->e.plan.launch - launch,
             "; over %zu ranks, the comb by their hosts", s->cut->ranks);
    return status;
}

static void release(void *state) {
    struct dmc_state *s = state;
    dmc_release(s);
    if (!s->cut)
        return;
    ergo_dist_posts_destroy(s->cut->posts);
    free(s->cut->shares);
    free(s->cut->room);
}

static const struct ergo_engine_model model = {DMC_ENGINE, .configure = configure,
                                               .release = release};

/* ---- operations ------------------------------------------------------------------------------ */

static enum ergo_status plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                             const struct ergo_device *device, struct ergo_plan *plan) {
    return ergo_slab_plan(ctx, &model, batch, device, plan);
}

static bool adapts(const void *state) {
    return ((const struct dmc_state *)state)->cut->shares->measured;
}

static enum ergo_status share_by_speed(struct ergo_context *ctx, struct dmc_state *s) {
    bool uneven = false;
    enum ergo_status status = dmc_init(ctx, s);
    s->cut->alone = true;
    if (status == ERGO_OK)
        status =
            ergo_shares_try(ctx, s->cut->shares, dmc_own(s), ergo_slab_sweep_alone, s, &uneven);
    s->cut->alone = false;
    if (status == ERGO_OK && uneven)
        divide(s);
    return status;
}

static enum ergo_status create(struct ergo_context *ctx, const struct ergo_batch *batch,
                               struct ergo_device *device, void **state) {
    enum ergo_status status = ergo_slab_in_turn(ctx, &model, batch, device, state);
    if (status == ERGO_OK && adapts(*state))
        status = share_by_speed(ctx, *state);
    if (status != ERGO_OK) {
        ergo_engine_destroy(*state);
        *state = NULL;
        return status;
    }
    const struct dmc_state *s = *state;
    ergo_log(ctx, ERGO_LOG_INFO, "rank %d has walkers %u to %u, %.3g %% of the population",
             ergo_ranks_rank(), s->begin, s->end - 1, 100.0 * dmc_own(s) / s->shape.walkers);
    return ERGO_OK;
}

/* What there was to exchange since the last time. */
static void tell(struct ergo_context *ctx, const struct dmc_state *s) {
    struct dmc_cut *c = s->cut;
    if (c->exchanges)
        ergo_log(ctx, ERGO_LOG_INFO,
                 "rank %d of %zu: %u walkers of %u, %llu combs, %.0f bytes of copies sent and "
                 "%.1f us each",
                 ergo_ranks_rank(), c->ranks, dmc_own(s), s->shape.walkers,
                 (unsigned long long)c->exchanges, (double)c->bytes / (double)c->exchanges,
                 1e6 * c->waited / (double)c->exchanges);
    c->bytes = c->exchanges = 0;
    c->waited = 0;
}

static enum ergo_status unite(struct ergo_context *ctx, struct dmc_state *s, size_t member) {
    tell(ctx, s);
    ergo_engine_begin(&s->e, ctx);
    const bool same = unite_all(s, member);
    if (!same)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_AUDIT,
                         "audit of helium-dmc failed on rank %d: copies of other ranks' walkers "
                         "are not what these have at step %llu",
                         ergo_ranks_rank(), (unsigned long long)s->e.step);
    return ergo_engine_end(&s->e);
}

static enum ergo_status save(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_text *text) {
    const enum ergo_status status = unite(ctx, state, member);
    return status == ERGO_OK && ergo_ranks_rank() == 0 ? ergo_fields_save(ctx, state, member, text)
                                                       : status;
}

static enum ergo_status frame(struct ergo_context *ctx, void *state, size_t member,
                              struct ergo_text *text) {
    const enum ergo_status status = unite(ctx, state, member);
    return status == ERGO_OK && ergo_ranks_rank() == 0 ? dmc_frame(ctx, state, member, text)
                                                       : status;
}

const struct ergo_sampler_ops dmc_cut_ops = {
    .engine = &model,
    .plan = plan,
    .create = create,
    .adapts = adapts,
    .init = dmc_init,
    .save = save,
    .load = ergo_fields_load,
    .carry = ergo_fields_carry,
    .frame = frame,
};
