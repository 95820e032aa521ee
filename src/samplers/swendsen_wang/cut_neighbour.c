/*
 * Clusters across ranks by iteration, the second stage of Komura and Okabe (2013, section 3): each
 * rank tells its neighbours the names that its clusters have at the common edges, takes smaller
 * ones, and all do that until nobody has found a smaller one. As many rounds as a cluster's way
 * through rectangles is long.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/cut.h"

enum { TAG_NAMES = ERGO_DIST_TAGS + 8, TAG_SIZES };

/* A part's cluster: its name so far, and where the part lies seen from the part of that name, in
 * lattices. */
struct place {
    uint64_t name;
    int32_t x, y;
};

struct iteration {
    const struct sw_group *group;
    struct place *clusters;      /* [n_clusters]: of their origins */
    struct place *mine, *theirs; /* [n_ports], peer by peer */
    size_t *order;               /* port of an entry */
    size_t *first;               /* [n_peers + 1]: entries of a peer */
    bool ok;
};

static struct iteration begin(const struct sw_group *g, const int *peers, size_t n_peers) {
    struct iteration it = {.group = g};
    size_t n = 0;
    it.clusters = malloc((g->n_clusters + 1) * sizeof *it.clusters);
    it.mine = malloc((g->n_ports + 1) * sizeof *it.mine);
    it.theirs = malloc((g->n_ports + 1) * sizeof *it.theirs);
    it.order = malloc((g->n_ports + 1) * sizeof *it.order);
    it.first = malloc((n_peers + 1) * sizeof *it.first);
    it.ok = it.clusters && it.mine && it.theirs && it.order && it.first;
    for (size_t k = 0; k < n_peers && it.ok; k++) {
        it.first[k] = n;
        for (size_t p = 0; p < g->n_ports; p++)
            if (g->ports[p].rank == peers[k])
                it.order[n++] = p;
    }
    for (size_t c = 0; c < g->n_clusters && it.ok; c++)
        it.clusters[c] = (struct place){g->names[c], 0, 0};
    if (it.ok)
        it.first[n_peers] = n;
    return it;
}

static void end(struct iteration *it) {
    free(it->clusters);
    free(it->mine);
    free(it->theirs);
    free(it->order);
    free(it->first);
}

static enum ergo_status swap(struct ergo_context *ctx, struct ergo_dist_posts *posts,
                             struct iteration *it, const int *peers, size_t n_peers) {
    enum ergo_status status = ERGO_OK;
    for (size_t e = 0; e < it->first[n_peers]; e++) {
        const struct sw_port *port = &it->group->ports[it->order[e]];
        const struct place *c = &it->clusters[port->cluster];
        it->mine[e] = (struct place){c->name, c->x + port->x, c->y + port->y};
    }
    for (size_t k = 0; k < n_peers && status == ERGO_OK; k++) {
        const size_t at = it->first[k], bytes = (it->first[k + 1] - at) * sizeof *it->mine;
        status = ergo_dist_post_receive(ctx, posts, peers[k], TAG_NAMES, it->theirs + at, bytes);
        if (status == ERGO_OK)
            status = ergo_dist_post_send(ctx, posts, peers[k], TAG_NAMES, it->mine + at, bytes);
    }
    if (status == ERGO_OK)
        ergo_dist_posts_wait(posts);
    return status;
}

/* Takes smaller names; were there any? */
static bool take(struct iteration *it, size_t entries) {
    bool changed = false;
    for (size_t e = 0; e < entries; e++) {
        const struct sw_port *port = &it->group->ports[it->order[e]];
        const struct place *far = &it->theirs[e];
        struct place *c = &it->clusters[port->cluster];
        if (far->name >= c->name)
            continue;
        *c = (struct place){far->name, far->x - port->dx - port->x, far->y - port->dy - port->y};
        changed = true;
    }
    return changed;
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
                                     struct sw_group *group, const int *peers, size_t n_peers,
                                     uint64_t *names, struct sw_cut_counts *counts,
                                     uint64_t *rounds) {
    const int rank = ergo_ranks_rank();
    if (!sw_group_reduce_own(merge, group, rank, counts))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to merge the clusters of several ranks");
    struct iteration it = begin(group, peers, n_peers);
    enum ergo_status status =
        it.ok ? ERGO_OK
              : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to merge the clusters of several ranks");
    for (bool changed = true; changed && status == ERGO_OK; (*rounds)++) {
        status = swap(ctx, posts, &it, peers, n_peers);
        changed = status == ERGO_OK && take(&it, it.first[n_peers]);
        if (status == ERGO_OK)
            changed = ergo_dist_or(changed ? 1 : 0) != 0;
    }
    for (size_t e = 0; counts && status == ERGO_OK && e < it.first[n_peers]; e++) {
        const struct sw_port *port = &group->ports[it.order[e]];
        if (it.theirs[e].x != it.mine[e].x + port->dx || it.theirs[e].y != it.mine[e].y + port->dy)
            counts->wraps = 1;
    }
    if (counts && status == ERGO_OK)
        status = count(ctx, layout, posts, &it, counts);
    const struct sw_record *own = sw_merge_own(merge);
    for (size_t k = 0; k < own->count && status == ERGO_OK; k++)
        names[k] = own->next[k] == SW_FINISHED ? own->names[k] : it.clusters[own->next[k]].name;
    end(&it);
    return status;
}
