/* Bridges between ranks' pieces: see rounds.h. */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "samplers/swendsen_wang/rounds.h"

enum { TAG_BRIDGES = ERGO_DIST_TAGS + 10 };

/* Of a message of bridges: the number of parts, whose joining it is. */
enum { HEAD = 2 };

static void free_bridges(struct sw_rounds *r) {
    for (size_t k = 0; k < r->n_bridges; k++)
        sw_bridges_free(&r->bridges[k]);
    free(r->bridges);
    r->bridges = NULL;
    r->n_bridges = 0;
}

enum ergo_status sw_rounds_prepare(struct ergo_engine *e, struct sw_rounds *r,
                                   const struct sw_border *borders, size_t n_sides,
                                   size_t most_parts) {
    size_t all = 0;
    free_bridges(r);
    r->bridges = calloc(n_sides, sizeof *r->bridges);
    if (!r->bridges)
        return ERGO_FAIL(e->ctx, ERGO_E_MEMORY, "no memory for the sides of a cut lattice");
    r->n_bridges = r->n_sides = n_sides;
    r->most_parts = most_parts;
    for (size_t k = 0; k < n_sides; k++)
        all += 2 * (HEAD + borders[k].sites);
    r->sides = ergo_engine_memory(e, n_sides, sizeof *r->sides);
    r->borders = ergo_engine_memory(e, n_sides, sizeof *r->borders);
    r->index_of = ergo_engine_memory(e, most_parts, sizeof *r->index_of);
    r->parts = ergo_engine_memory(e, most_parts, sizeof *r->parts);
    uint32_t *items = ergo_engine_memory(e, all, sizeof *items);
    if (!r->sides || !r->borders || !r->index_of || !r->parts || !items)
        return ergo_engine_end(e);
    for (size_t k = 0; k < n_sides; k++) {
        struct sw_border *b = &r->borders[k];
        *b = borders[k];
        b->finds = b->way == SW_WAY_DOWN || b->way == SW_WAY_EAST;
        const size_t room = HEAD + b->sites;
        r->sides[k].odd = b->odd;
        b->own = (struct sw_list){0, room, items};
        b->told = (struct sw_list){0, room, items + room};
        items += 2 * room;
    }
    return ergo_engine_end(e);
}

void sw_rounds_free(struct sw_rounds *r) {
    free_bridges(r);
    sw_joining_free(&r->joining);
    for (int k = 0; k < SW_JOINING_FAN; k++)
        free(r->hands[k].bytes);
    memset(r->hands, 0, sizeof r->hands);
}

struct finding {
    struct sw_rounds *r;
    const uint32_t *near, *far;
};

/* Of a side, beside others: each has scratch memory of its own. */
static void find(size_t k, void *user) {
    const struct finding *f = user;
    struct sw_rounds *r = f->r;
    struct sw_border *b = &r->borders[k];
    b->found = !b->finds;
    if (!b->finds)
        return;
    b->own.n = 0;
    b->told.n = HEAD;
    b->found = sw_bridges_find(&r->bridges[k], f->near + b->first, f->far + b->first, b->sites,
                               r->most_parts, b->most_far, &b->own, &b->told);
    b->told.items[0] = (uint32_t)(b->told.n - HEAD);
    b->told.items[1] = r->joinings;
}

static enum ergo_status tell(struct ergo_context *ctx, struct sw_rounds *r,
                             const struct sw_border *b) {
    const size_t bytes = 4 * b->told.n;
    r->bytes += bytes;
    return ergo_dist_post_send(ctx, r->posts, b->rank, TAG_BRIDGES + (int)b->way, b->told.items,
                               bytes);
}

/* Bridges of the lower and right sides, found here; those of the others, found by neighbours. */
static enum ergo_status share(struct ergo_context *ctx, struct finding *f, bool threads) {
    struct sw_rounds *r = f->r;
    enum ergo_status status = ERGO_OK;
    for (size_t k = 0; k < r->n_sides && status == ERGO_OK; k++) {
        struct sw_border *b = &r->borders[k];
        if (!b->finds)
            status =
                ergo_dist_post_receive(ctx, r->posts, b->rank, TAG_BRIDGES + (int)(b->way ^ 1u),
                                       b->own.items, 4 * b->own.room);
    }
    ergo_parallel(r->n_sides, threads ? r->n_sides : 1, find, f);
    r->wraps = 0;
    for (size_t k = 0; k < r->n_sides && status == ERGO_OK; k++) {
        const struct sw_border *b = &r->borders[k];
        if (!b->found)
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the sides of a cut lattice");
        else if (b->finds)
            status = tell(ctx, r, b);
        r->wraps |= b->finds ? r->bridges[k].wraps : 0;
    }
    if (status == ERGO_OK)
        ergo_dist_posts_wait(r->posts);
    return status;
}

/* Numbers of parts in lists become indices of those that are in any. False: a list that is not the
 * one that is due. */
static bool index_parts(struct sw_rounds *r) {
    memset(r->index_of, 0xff, r->most_parts * sizeof *r->index_of);
    r->n_parts = 0;
    for (size_t k = 0; k < r->n_sides; k++) {
        const struct sw_border *b = &r->borders[k];
        uint32_t *items = b->own.items + (b->finds ? 0 : HEAD);
        const size_t n = b->finds ? b->own.n : b->own.items[0];
        if (!b->finds && (n > b->own.room - HEAD || b->own.items[1] != r->joinings))
            return false;
        for (size_t i = 0; i < n; i++) {
            const uint32_t part = items[i] & SW_PART_NUMBER;
            if (part >= r->most_parts)
                return false;
            if (r->index_of[part] == SW_NO_PART) {
                r->parts[r->n_parts] = part;
                r->index_of[part] = (uint32_t)r->n_parts++;
            }
            items[i] = r->index_of[part] | (items[i] & ~SW_PART_NUMBER);
        }
        r->sides[k].items = items;
        r->sides[k].n_items = n;
    }
    return true;
}

enum ergo_status sw_rounds_bridge(struct ergo_context *ctx, struct sw_rounds *r,
                                  const uint32_t *near, const uint32_t *far, bool threads) {
    struct finding f = {r, near, far};
    const enum ergo_status status = share(ctx, &f, threads);
    if (status == ERGO_OK && !index_parts(r))
        return sw_rounds_lost(ctx, r->rank);
    return status;
}
