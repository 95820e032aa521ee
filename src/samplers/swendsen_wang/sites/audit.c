/*
 * Audit of lattices of sites: a stretch of the run, with and without samples, repeated by the
 * device as in the run and by the host's twin, of the last members. The spins, the bonds and labels
 * of the last step, and all columns and histograms of all samples must be equal. Before the first
 * step, the starting configuration. Of a lattice over ranks the first one has the twin, and
 * compares what it gathers, labels apart: these are known to each for its own slab.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "samplers/swendsen_wang/sites/sites.h"

/* Site updates of the twin: a tenth of a second, some 40 ns each. One member is compared, however
 * large it is. */
static const uint64_t budget = UINT64_C(1) << 21;

/* The twins of the last members. */
struct twins {
    size_t first;
    struct sw_sites_twin *of;
};

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
}

/* A member's part of a buffer; malloc'ed. */
static enum ergo_status read_member(struct ergo_context *ctx, struct sw_sites_state *s,
                                    unsigned buffer, size_t member, size_t bytes, void **data) {
    *data = malloc(bytes);
    if (!*data)
        return no_memory(ctx);
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, buffer, member * bytes, bytes, *data);
    return ergo_engine_end(&s->e);
}

/* Of a slab with `span` sites of each word of a spin: those of all ranks, as a lattice that is not
 * cut has them. Collective. */
static enum ergo_status gather_words(struct ergo_context *ctx, struct sw_sites_state *s,
                                     const void *own, size_t span, size_t words, size_t each,
                                     struct ergo_text *whole) {
    enum ergo_status status = ERGO_OK;
    for (size_t k = 0; k < words && status == ERGO_OK; k++)
        status = sw_slab_gather(ctx, s, (const char *)own + k * span * each, each, whole);
    return status;
}

/* Of a lattice that is cut its bytes of all sites, of all ranks; NULL on other ranks than the
 * first. Collective. */
static enum ergo_status read_sites(struct ergo_context *ctx, struct sw_sites_state *s,
                                   unsigned buffer, size_t member, size_t each, void **data) {
    const size_t sites = buffer == SITES_SPINS ? sw_sites_span(s) : s->shape.sites;
    const size_t words = buffer == SITES_SPINS ? sw_sites_words(&s->shape) : 1;
    struct ergo_text whole = {0};
    void *own;
    enum ergo_status status = read_member(ctx, s, buffer, member, sites * each, &own);
    if (status == ERGO_OK)
        status = gather_words(ctx, s, own, sites, words, each / words, &whole);
    free(own);
    *data = whole.data;
    return status;
}

/* Memory for 4 bytes a site that the twin needs no more: in new memory the system's work on pages
 * takes as long as reading. */
static void *spare_of(const struct sw_sites_twin *t) {
    return t->sizes;
}

/* Of a lattice that is not cut: piece by piece. */
static enum ergo_status compare_pieces(struct ergo_context *ctx, const struct ergo_replay *r,
                                       size_t member, unsigned buffer, const uint8_t *expected,
                                       size_t bytes, const char *what,
                                       const struct sw_sites_twin *t) {
    struct sw_sites_state *s = r->state;
    const size_t piece = 4 * (size_t)s->shape.sites;
    enum ergo_status status = ERGO_OK;
    for (size_t at = 0, now; at < bytes && status == ERGO_OK; at += now) {
        now = bytes - at < piece ? bytes - at : piece;
        ergo_engine_begin(&s->e, ctx);
        ergo_engine_read(&s->e, buffer, member * bytes + at, now, spare_of(t));
        status = ergo_engine_end(&s->e);
        if (status == ERGO_OK && memcmp(spare_of(t), expected + at, now) != 0)
            status = ergo_replay_differs(ctx, r, member, what);
    }
    return status;
}

static enum ergo_status compare_bytes(struct ergo_context *ctx, const struct ergo_replay *r,
                                      size_t member, unsigned buffer, const void *expected,
                                      const char *what, const struct sw_sites_twin *t) {
    struct sw_sites_state *s = r->state;
    const size_t each = buffer == SITES_SPINS ? s->shape.spin_bytes : 1;
    const size_t bytes = s->whole.sites * each;
    void *found;
    if (!s->cut)
        return compare_pieces(ctx, r, member, buffer, expected, bytes, what, t);
    enum ergo_status status = read_sites(ctx, s, buffer, member, each, &found);
    if (status == ERGO_OK && found && memcmp(found, expected, bytes) != 0)
        status = ergo_replay_differs(ctx, r, member, what);
    free(found);
    return status;
}

struct labelled {
    const uint32_t *labels; /* on the device */
    const uint16_t *firsts;
    const struct sw_sites_shape *h;
    const struct sw_sites_launch *launch;
    const struct sw_sites_twin *t;
    size_t n;
    atomic_bool differ;
};

/* The first site of a site's part of its tile (cl/swendsen_wang/sites_tile.h). */
static uint32_t first_of(const struct labelled *l, size_t i) {
    const struct sw_sites_launch *t = l->launch;
    const uint32_t lx = l->h->lx, ly = l->h->ly, at = (uint32_t)i, place = l->firsts[i];
    const uint32_t x = at % lx, y = at / lx % ly, z = at / lx / ly;
    return ((z - z % t->tz + place / (t->tx * t->ty)) * ly + y - y % t->ty +
            place / t->tx % t->ty) *
               lx +
           x - x % t->tx + place % t->tx;
}

/* The site to which its labels lead; l->n: to none. */
static uint32_t root_of(const struct labelled *l, size_t i) {
    uint32_t root = first_of(l, i);
    if (root >= l->n)
        return (uint32_t)l->n;
    for (size_t k = 0; k < l->n && l->labels[root] >> 3 != root && l->labels[root] >> 3 < l->n; k++)
        root = l->labels[root] >> 3;
    return root;
}

static void same_labels(size_t begin, size_t end, void *user) {
    struct labelled *l = user;
    bool same = true;
    for (size_t i = begin; i < end && same; i++)
        same = root_of(l, i) == l->t->labels[i];
    if (!same)
        l->differ = true;
}

/* The roots to which labels lead; Wolff's update knows those of its own cluster alone. */
static enum ergo_status compare_labels(struct ergo_context *ctx, const struct ergo_replay *r,
                                       size_t member, const struct sw_sites_twin *t) {
    enum { WORTHWHILE = 1 << 14 }; /* sites that are worth waking a core */
    struct sw_sites_state *s = r->state;
    struct labelled l = {.t = t, .n = s->shape.sites, .h = &s->shape, .launch = &s->launch};
    void *firsts = NULL;
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, SITES_LABELS, member * 4 * l.n, 4 * l.n, spare_of(t));
    enum ergo_status status = ergo_engine_end(&s->e);
    if (status == ERGO_OK)
        status = read_member(ctx, s, SITES_FIRSTS, member, 2 * l.n, &firsts);
    uint32_t root_of_seed = UINT32_MAX;
    l.labels = spare_of(t);
    l.firsts = firsts;
    if (status == ERGO_OK && !s->shape.wolff)
        ergo_parallel_ranges(l.n, WORTHWHILE, same_labels, &l);
    for (size_t i = 0; i < l.n && status == ERGO_OK && s->shape.wolff; i++)
        if (t->labels[i] != UINT32_MAX) {
            const uint32_t root = root_of(&l, i);
            l.differ = l.differ || (root_of_seed != UINT32_MAX && root != root_of_seed);
            root_of_seed = root;
        }
    free(firsts);
    return l.differ ? ergo_replay_differs(ctx, r, member, "labels of the last step") : status;
}

static enum ergo_status compare_state(struct ergo_context *ctx, const struct ergo_replay *r,
                                      size_t member, const struct sw_sites_twin *t) {
    struct sw_sites_state *s = r->state;
    enum ergo_status status = compare_bytes(ctx, r, member, SITES_SPINS, t->spins, "new spins", t);
    if (status == ERGO_OK)
        status =
            compare_bytes(ctx, r, member, SITES_BONDS, t->bonds, "the bonds of the last step", t);
    if (status == ERGO_OK && !s->cut)
        status = compare_labels(ctx, r, member, t);
    uint32_t expected = t->chance, chance = t->chance;
    if (status == ERGO_OK && s->cut) /* all ranks have it */
        ergo_dist_share(&expected, sizeof expected);
    if (status == ERGO_OK && s->shape.adapts) {
        ergo_engine_begin(&s->e, ctx);
        ergo_engine_read(&s->e, SITES_CHANCES, member * sizeof chance, sizeof chance, &chance);
        status = ergo_engine_end(&s->e);
    }
    return status == ERGO_OK && s->shape.adapts && chance != expected
               ? ergo_replay_differs(ctx, r, member, "the next bond probability")
               : status;
}

/* What of a sample differs, or NULL. */
static const char *sample_differs(const struct sw_sites_state *s, size_t member,
                                  const struct sw_sites_twin *t, const double *found,
                                  const double *found_curve, size_t bins) {
    double columns[ERGO_COLUMNS_MAX], curve[SW_CLUSTER_BINS];
    struct sw_found of = t->found;
    for (size_t k = 0; k < 2 && !s->pairs; k++)
        of.pairs[k] = 0;
    if (s->shape.model != SW_MODEL_POTTS) {
        sw_vectors_convert(&s->whole, s->units[member], t->sums, &of, columns);
        return ergo_replay_same(columns, found, SW_VECTOR_COLUMNS) ? NULL : "sums over spins";
    }
    const bool sized = s->clusters && !s->shape.wolff;
    struct sw_counts c = t->counts;
    of.wraps = sized ? of.wraps : 0;
    if (!sized) {
        c.clusters = c.largest = c.squares = 0;
        c.fourths = 0;
    }
    sw_sites_convert(&s->whole, s->units[member], &c, &of, columns);
    for (size_t b = 0; b < bins; b++)
        curve[b] = (double)c.bins[b] / (double)s->whole.sites;
    if (!ergo_replay_same(columns, found, SW_COLUMN_PSI2 + 1))
        return "counts of spins and bonds";
    if (!ergo_replay_same(columns + SW_COLUMN_WRAPS_X, found + SW_COLUMN_WRAPS_X, 3))
        return "clusters around the lattice";
    if (!ergo_replay_same(columns + SW_COLUMN_CHANCE, found + SW_COLUMN_CHANCE, 1))
        return "the bond probability";
    if (!ergo_replay_same(columns, found, SW_COLUMNS) ||
        !ergo_replay_same(curve, found_curve, bins))
        return "number and sizes of clusters";
    return NULL;
}

/* The twin begins with the spins before the stretch, and is at its end then. */
static enum ergo_status compare_samples(struct ergo_context *ctx, const struct ergo_replay *r,
                                        size_t member, void *user) {
    const struct twins *twins = user;
    const struct sw_sites_state *s = r->state;
    struct sw_sites_twin *t = &twins->of[member - twins->first];
    const struct ergo_point *point = s->e.batch->points[member];
    const char *wrong = NULL;
    uint64_t step = r->step;
    for (uint64_t e = 0; e < r->lead; e++)
        sw_sites_twin_step(point, &s->whole, step++, false, t);
    for (size_t i = 0; i < r->samples && !wrong; i++) {
        for (uint64_t e = 1; e <= r->every; e++)
            sw_sites_twin_step(point, &s->whole, step++, e == r->every, t);
        const size_t at = i * r->members + member, bins = r->n_curves ? r->curve_sizes[0] : 0;
        wrong = sample_differs(s, member, t, r->found.columns + at * s->columns,
                               bins ? r->found.curves[0] + at * bins : NULL, bins);
    }
    return wrong ? ergo_replay_differs(ctx, r, member, wrong) : ERGO_OK;
}

/* Has this rank the twin? */
static bool has_twin(const struct sw_sites_state *s) {
    return !s->cut || ergo_ranks_rank() == 0;
}

static enum ergo_status spins_before(struct ergo_context *ctx, const struct ergo_replay *r,
                                     size_t member, void *spins) {
    struct sw_sites_state *s = r->state;
    const size_t span = sw_sites_span(s) * s->shape.spin_bytes;
    struct ergo_text whole = {0};
    if (!s->cut)
        return ergo_replay_before(ctx, r, SITES_SPINS, member * span, span, spins);
    uint8_t *own = malloc(span);
    enum ergo_status status =
        own ? ergo_replay_before(ctx, r, SITES_SPINS, member * span, span, own) : no_memory(ctx);
    if (status == ERGO_OK)
        status = gather_words(ctx, s, own, sw_sites_span(s), sw_sites_words(&s->shape),
                              sw_sites_word(&s->shape), &whole);
    if (status == ERGO_OK && has_twin(s))
        memcpy(spins, whole.data, (size_t)s->whole.sites * s->whole.spin_bytes);
    free(own);
    ergo_text_free(&whole);
    return status;
}

static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    const struct sw_sites_state *s = r->state;
    const uint64_t each = (r->lead + r->samples * r->every) * s->whole.sites;
    const uint64_t fit = (budget + each - 1) / each;
    const size_t some = fit < r->members ? (size_t)fit : r->members;
    struct twins twins = {r->members - some, calloc(some, sizeof *twins.of)};
    bool memory = twins.of != NULL;
    for (size_t i = 0; i < some && memory; i++)
        memory = sw_sites_twin_open(&twins.of[i], &s->whole);
    enum ergo_status status = memory ? ERGO_OK : no_memory(ctx);
    for (size_t i = 0; i < some && status == ERGO_OK; i++)
        status = spins_before(ctx, r, twins.first + i, twins.of[i].spins);
    for (size_t i = 0; i < some && status == ERGO_OK && s->shape.adapts; i++)
        status = ergo_replay_before(ctx, r, SITES_CHANCES, (twins.first + i) * sizeof(uint32_t),
                                    sizeof(uint32_t), &twins.of[i].chance);
    if (status == ERGO_OK && has_twin(s))
        status = ergo_replay_each(ctx, r, twins.first, r->members, compare_samples, &twins);
    for (size_t m = r->members; m-- > twins.first && status == ERGO_OK;)
        status = compare_state(ctx, r, m, &twins.of[m - twins.first]);
    for (size_t i = 0; twins.of && i < some; i++)
        sw_sites_twin_close(&twins.of[i]);
    free(twins.of);
    return status;
}

static enum ergo_status compare_start(struct ergo_context *ctx, struct sw_sites_state *s) {
    struct ergo_replay r = {
        .sampler = "swendsen-wang", .device = s->e.device, .state = s, .every = 1, .samples = 1};
    struct sw_sites_twin t;
    enum ergo_status status = sw_sites_twin_open(&t, &s->whole) ? ERGO_OK : no_memory(ctx);
    uint64_t done = 0;
    for (size_t m = s->e.batch->count; m-- > 0 && done < budget && status == ERGO_OK;
         done += s->whole.sites) {
        if (has_twin(s))
            sw_sites_twin_start(s->e.batch->points[m], &s->whole, &t);
        status = compare_bytes(ctx, &r, m, SITES_SPINS, t.spins, "the spins of the start", &t);
    }
    sw_sites_twin_close(&t);
    return status;
}

/* Steps between samples: as in the run, if the twin makes them within its budget. But two if the
 * run has more, because steps without a sample are not measured. */
static uint64_t every_of(const struct sw_sites_state *s, size_t samples) {
    const uint64_t every = (uint64_t)ergo_point_int(s->e.batch->points[0], "/run/measure_every");
    const uint64_t fast = (uint64_t)s->e.plan.block_steps, few = budget / s->whole.sites;
    const uint64_t most = (fast < few && !s->cut ? fast : few) / samples; /* all ranks alike */
    return every <= most ? every : most > 2 ? most : every < 2 || few == 0 ? 1 : 2;
}

enum ergo_status sw_sites_audit(struct ergo_context *ctx, void *opaque) {
    struct sw_sites_state *s = opaque;
    const size_t most = s->e.block_samples;
    const size_t bins =
        s->clusters && !s->shape.wolff ? 32 - (size_t)__builtin_clz(s->whole.sites) : 0;
    const bool small = s->whole.sites <= budget / 32;
    const size_t wish = small ? 3 : s->whole.sites <= budget ? 2 : 1;
    const size_t samples = wish < most ? wish : most;
    struct ergo_replay r = {.remedy = "/tuning/tile_rows",
                            .n_columns = s->columns,
                            .n_curves = s->shape.model == SW_MODEL_POTTS ? 1 : 0,
                            .curve_sizes = &bins,
                            .lead = small                          ? 3
                                    : s->whole.sites <= 8 * budget ? 1
                                                                   : 0,
                            .samples = samples,
                            .every = every_of(s, samples),
                            .compare = compare};
    sw_slab_log(ctx, s);
    enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    if (status == ERGO_OK && s->started && s->e.step == 0)
        status = compare_start(ctx, s);
    if (status == ERGO_OK)
        status = ergo_engine_replay(ctx, &s->e, &r, NULL, 0);
    sw_slab_log(NULL, s);
    return status;
}
