/*
 * Clusters across ranks by iteration, the second stage of Komura and Okabe (2013, section 3): each
 * rank tells its neighbours the names that its clusters have at the common edges, takes smaller
 * ones, and all do that until nobody has found a smaller one. As many rounds as a cluster's way
 * through rectangles is long.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/cut.h"

enum { TAG_SIZES = ERGO_DIST_TAGS + 8, TAG_NAMES };

/* A part's cluster: its name so far, and where the part lies seen from the part of that name, in
 * lattices. */
struct place {
    uint64_t name;
    int32_t x, y;
};

struct iteration {
    const struct sw_group *group;
    struct place *clusters;      /* [n_clusters]: of their origins */
    struct place *mine, *theirs; /* [n_ports]: of the parts at the two ends */
    bool ok;
};

static struct iteration begin(const struct sw_group *g) {
    struct iteration it = {.group = g};
    it.clusters = calloc(g->n_clusters + 1, sizeof *it.clusters);
    it.mine = malloc((g->n_ports + 1) * sizeof *it.mine);
    it.theirs = malloc((g->n_ports + 1) * sizeof *it.theirs);
    it.ok = it.clusters && it.mine && it.theirs;
    for (size_t c = 0; c < g->n_clusters && it.ok; c++)
        it.clusters[c] = (struct place){g->names[c], 0, 0};
    return it;
}

static void end(struct iteration *it) {
    free(it->clusters);
    free(it->mine);
    free(it->theirs);
}

/* Two ranks may have several blocks in common: of different ways around the lattice. */
static int tag_of(int32_t dx, int32_t dy) {
    return TAG_NAMES + 3 * (dx + 1) + dy + 1;
}

static enum ergo_status swap(struct ergo_context *ctx, struct ergo_dist_posts *posts,
                             struct iteration *it) {
    const struct sw_group *g = it->group;
    enum ergo_status status = ERGO_OK;
    for (size_t p = 0; p < g->n_ports; p++) {
        const struct place *c = &it->clusters[g->ports[p].cluster];
        it->mine[p] = (struct place){c->name, c->x + g->ports[p].x, c->y + g->ports[p].y};
    }
    for (size_t k = 0, at = 0; k < g->n_blocks && status == ERGO_OK; at += g->blocks[k++].count) {
        const struct sw_block *b = &g->blocks[k];
        const size_t bytes = (size_t)b->count * sizeof *it->mine;
        status = ergo_dist_post_receive(ctx, posts, b->far, tag_of(-b->dx, -b->dy), it->theirs + at,
                                        bytes);
        if (status == ERGO_OK)
            status =
                ergo_dist_post_send(ctx, posts, b->far, tag_of(b->dx, b->dy), it->mine + at, bytes);
    }
    if (status == ERGO_OK)
        ergo_dist_posts_wait(posts);
    return status;
}

/* Takes smaller names; were there any? */
static bool take(struct iteration *it) {
    const struct sw_group *g = it->group;
    bool changed = false;
    for (size_t k = 0, p = 0; k < g->n_blocks; k++)
        for (const size_t last = p + (size_t)g->blocks[k].count; p < last; p++) {
            const struct sw_port *port = &g->ports[p];
            const struct place *far = &it->theirs[p];
            struct place *c = &it->clusters[port->cluster];
            if (far->name >= c->name)
                continue;
            *c = (struct place){far->name, far->x - g->blocks[k].dx - port->x,
                                far->y - g->blocks[k].dy - port->y};
            changed = true;
        }
    return changed;
}

/* In the end all bonds join the same name; does one lead elsewhere than where that lies? */
static bool leads_around(const struct iteration *it) {
    const struct sw_group *g = it->group;
    for (size_t k = 0, p = 0; k < g->n_blocks; k++)
        for (const size_t last = p + (size_t)g->blocks[k].count; p < last; p++)
            if (it->theirs[p].x != it->mine[p].x + g->blocks[k].dx ||
                it->theirs[p].y != it->mine[p].y + g->blocks[k].dy)
                return true;
    return false;
}

static int by_name(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return x[0] < y[0] ? -1 : x[0] > y[0];
}

/* Sizes of parts to the rank whose rectangle the representative is in, which counts the clusters.
 */
static enum ergo_status count(struct ergo_context *ctx, const struct sw_layout *layout,
                              struct ergo_dist_posts *posts, const struct iteration *it,
                              struct sw_cut_counts *counts) {
    const size_t ranks = (size_t)layout->ranks;
    struct ergo_text *out = calloc(ranks, sizeof *out), *in = calloc(ranks, sizeof *in), all = {0};
    int *peers = calloc(ranks, sizeof *peers);
    bool ok = out && in && peers;
    for (size_t c = 0; c < it->group->n_clusters && ok; c++) {
        const uint64_t pair[2] = {it->clusters[c].name, it->group->sizes[c]};
        ergo_text_append_bytes(&out[sw_layout_owner(layout, pair[0])], pair, sizeof pair);
    }
    for (size_t r = 0; r < ranks && ok; r++) {
        peers[r] = (int)r;
        ok = !out[r].failed;
    }
    enum ergo_status status =
        ok ? ergo_dist_swap(ctx, posts, ranks, peers, TAG_SIZES, out, in) : ERGO_OK;
    for (size_t r = 0; r < ranks && ok && status == ERGO_OK; r++)
        if (in[r].length)
            ergo_text_append_bytes(&all, in[r].data, in[r].length);
    ok = ok && !all.failed;
    const size_t n = all.length / 16;
    uint64_t *pairs = (uint64_t *)(void *)all.data;
    if (ok && n)
        qsort(pairs, n, 16, by_name);
    for (size_t k = 0; k < n && ok;) {
        uint64_t size = 0;
        const uint64_t name = pairs[2 * k];
        for (; k < n && pairs[2 * k] == name; k++)
            size += pairs[2 * k + 1];
        sw_cut_count(counts, size);
    }
    for (size_t r = 0; r < ranks; r++) {
        if (out)
            ergo_text_free(&out[r]);
        if (in)
            ergo_text_free(&in[r]);
    }
    ergo_text_free(&all);
    free(out);
    free(in);
    free(peers);
    return ok ? status : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for sizes of clusters");
}

enum ergo_status sw_merge_neighbours(struct ergo_context *ctx, struct sw_merge *merge,
                                     const struct sw_layout *layout, struct ergo_dist_posts *posts,
                                     struct sw_group *group, uint64_t *names,
                                     struct sw_cut_counts *counts, uint64_t *rounds) {
    if (!sw_group_reduce_own(merge, group, ergo_ranks_rank(), counts))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to merge the clusters of several ranks");
    struct iteration it = begin(group);
    enum ergo_status status =
        it.ok ? ERGO_OK
              : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to merge the clusters of several ranks");
    for (bool changed = true; changed && status == ERGO_OK; (*rounds)++) {
        status = swap(ctx, posts, &it);
        changed = status == ERGO_OK && take(&it);
        if (status == ERGO_OK)
            changed = ergo_dist_or(changed ? 1 : 0) != 0;
    }
    if (counts && status == ERGO_OK && leads_around(&it))
        counts->wraps = 1;
    if (counts && status == ERGO_OK)
        status = count(ctx, layout, posts, &it, counts);
    const struct sw_record *own = sw_merge_own(merge);
    for (size_t k = 0; k < own->count && status == ERGO_OK; k++)
        names[k] = own->next[k] == SW_FINISHED ? own->names[k] : it.clusters[own->next[k]].name;
    end(&it);
    return status;
}
