/* Messages of joining.h over ranks: rounds between neighbours, labels handed on to all, sizes. */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/rounds.h"

enum {
    TAG_ROUND = ERGO_DIST_TAGS,
    TAG_HAND = ERGO_DIST_TAGS + 28, /* beyond those of bridges and halos */
    TAG_MORE = TAG_HAND + SW_JOINING_FAN
};

/* Serials of a joining: more than it has messages. */
enum { SERIALS = 128 };

enum ergo_status sw_rounds_lost(struct ergo_context *ctx, int rank) {
    return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                     "rank %d got another message than the one that is due while clusters of a cut "
                     "lattice were joined: the ranks have lost step, or the network a message",
                     rank);
}

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY,
                     "no memory for the clusters on the sides of a cut lattice");
}

/* ---- between neighbours ---------------------------------------------------------------------- */

static enum ergo_status exchange(struct ergo_context *ctx, struct sw_rounds *r) {
    enum ergo_status status = ERGO_OK;
    for (size_t k = 0; k < r->n_sides && status == ERGO_OK; k++) {
        const struct sw_border *b = &r->borders[k];
        status = ergo_dist_post_receive(ctx, r->posts, b->rank, TAG_ROUND + (int)(b->way ^ 1u),
                                        r->sides[k].in, 4 * sw_joining_room(r->sides[k].n_bridges));
    }
    for (size_t k = 0; k < r->n_sides && status == ERGO_OK; k++) {
        const struct sw_border *b = &r->borders[k];
        status = ergo_dist_post_send(ctx, r->posts, b->rank, TAG_ROUND + (int)b->way,
                                     r->sides[k].out, 4 * r->sides[k].out_words);
        r->bytes += 4 * r->sides[k].out_words;
    }
    if (status == ERGO_OK)
        ergo_dist_posts_wait(r->posts);
    return status;
}

typedef void (*tell_sides)(struct sw_joining *j, struct sw_side *sides, size_t n_sides);
typedef bool (*hear_side)(struct sw_joining *j, const struct sw_side *side);

static enum ergo_status go_round(struct ergo_context *ctx, struct sw_rounds *r, tell_sides tell,
                                 hear_side hear) {
    tell(&r->joining, r->sides, r->n_sides);
    enum ergo_status status = exchange(ctx, r);
    for (size_t k = 0; k < r->n_sides && status == ERGO_OK; k++)
        if (!hear(&r->joining, &r->sides[k]))
            status = sw_rounds_lost(ctx, r->rank);
    return status;
}

/* ---- to all ---------------------------------------------------------------------------------- */

/* Room for labels of so many ranks, in bytes: a message that is longer has a second part. */
static size_t first_bytes(int ranks) {
    return (size_t)SW_REST_HEAD + 512 + 16 * (size_t)ranks;
}

static unsigned char *make_room(struct sw_hand *hand, size_t bytes) {
    if (hand->bytes && bytes <= hand->room)
        return hand->bytes;
    unsigned char *more = realloc(hand->bytes, 2 * bytes);
    if (more)
        hand->bytes = more;
    hand->room = more ? 2 * bytes : hand->room;
    return more;
}

static int partners(const struct sw_rounds *r, int width) {
    int n = 0;
    while (n + 1 < SW_JOINING_FAN && (n + 1) * width < r->ranks)
        n++;
    return n;
}

/* Bytes from .. of a step's messages: to its partners, and from them. */
static enum ergo_status swap(struct ergo_context *ctx, struct sw_rounds *r, int width, bool more,
                             size_t first, size_t out_bytes) {
    const int ranks = r->ranks, n = partners(r, width);
    enum ergo_status status = ERGO_OK;
    for (int k = 1; k <= n && status == ERGO_OK; k++) {
        struct sw_hand *in = &r->hands[k];
        const size_t bytes = more ? sw_rest_length(in->bytes) : first;
        if (more && bytes <= first)
            continue;
        if (!make_room(in, bytes))
            return no_memory(ctx);
        if (!more) /* what came last */
            memset(in->bytes, 0, SW_REST_HEAD);
        status = ergo_dist_post_receive(ctx, r->posts, (r->rank + ranks - k * width) % ranks,
                                        (more ? TAG_MORE : TAG_HAND) + k,
                                        in->bytes + (more ? first : 0), bytes - (more ? first : 0));
    }
    for (int k = 1; k <= n && out_bytes && status == ERGO_OK; k++) {
        status = ergo_dist_post_send(ctx, r->posts, (r->rank + k * width) % ranks,
                                     (more ? TAG_MORE : TAG_HAND) + k,
                                     r->hands[0].bytes + (more ? first : 0), out_bytes);
        r->bytes += out_bytes;
    }
    if (status == ERGO_OK)
        ergo_dist_posts_wait(r->posts);
    return status;
}

static enum ergo_status hand_on(struct ergo_context *ctx, struct sw_rounds *r, int width) {
    struct sw_joining *j = &r->joining;
    const size_t first = first_bytes(width);
    if (!make_room(&r->hands[0], sw_rest_room(&j->rest)))
        return no_memory(ctx);
    const size_t bytes = sw_joining_hand(j, r->hands[0].bytes);
    enum ergo_status status = swap(ctx, r, width, false, first, bytes < first ? bytes : first);
    if (status == ERGO_OK)
        status = swap(ctx, r, width, true, first, bytes > first ? bytes - first : 0);
    for (int k = 1; k <= partners(r, width) && status == ERGO_OK; k++) {
        if (!sw_rest_expect(&j->rest, r->hands[k].bytes))
            status = no_memory(ctx);
        else if (!sw_joining_unite(j, r->hands[k].bytes))
            status = sw_rounds_lost(ctx, r->rank);
    }
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* All ranks have the same clusters in the rest, in the same order. */
static void count_late(struct sw_rounds *r, sw_joining_take take, void *user) {
    struct sw_joining *j = &r->joining;
    sw_joining_late(j, take, user);
    if (j->rest.n_leaders)
        ergo_dist_sum_counts(&j->rest.sums->sites, SW_SUM_NUMBERS * j->rest.n_leaders);
    sw_joining_sum(j, take, user);
}

static enum ergo_status begin(struct ergo_context *ctx, struct sw_rounds *r,
                              struct sw_parts *parts) {
    const uint32_t rounds = sw_joining_rounds(r->ranks);
    if (!sw_joining_begin(&r->joining, parts, r->joinings++ * SERIALS, rounds))
        return no_memory(ctx);
    r->joining.wraps |= r->wraps;
    return ERGO_OK;
}

static enum ergo_status go_rounds(struct ergo_context *ctx, struct sw_rounds *r, uint32_t rounds) {
    enum ergo_status status = ERGO_OK;
    for (uint32_t k = 0; k < rounds && status == ERGO_OK; k++)
        status = go_round(ctx, r, sw_joining_tell, sw_joining_hear);
    return status;
}

static enum ergo_status join_rest(struct ergo_context *ctx, struct sw_rounds *r) {
    enum ergo_status status = sw_joining_rest(&r->joining) ? ERGO_OK : no_memory(ctx);
    for (int width = 1; width < r->ranks && status == ERGO_OK; width *= SW_JOINING_FAN)
        status = hand_on(ctx, r, width);
    if (status == ERGO_OK && !sw_joining_finish(&r->joining))
        status = no_memory(ctx);
    return status;
}

enum ergo_status sw_rounds_join(struct ergo_context *ctx, struct sw_rounds *r,
                                struct sw_parts *parts, sw_joining_take take, void *user) {
    const uint32_t rounds = sw_joining_rounds(r->ranks);
    enum ergo_status status = begin(ctx, r, parts);
    if (status == ERGO_OK)
        status = go_rounds(ctx, r, rounds);
    if (status == ERGO_OK)
        status = join_rest(ctx, r);
    for (uint32_t k = 0; k < rounds && status == ERGO_OK && take; k++)
        status = go_round(ctx, r, sw_joining_count, sw_joining_counted);
    if (status == ERGO_OK && take)
        count_late(r, take, user);
    return status;
}

enum ergo_status sw_rounds_early(struct ergo_context *ctx, struct sw_rounds *r,
                                 struct sw_parts *parts) {
    const enum ergo_status status = begin(ctx, r, parts);
    return status == ERGO_OK ? go_rounds(ctx, r, SW_ROUNDS_EARLY) : status;
}

enum ergo_status sw_rounds_late(struct ergo_context *ctx, struct sw_rounds *r) {
    const enum ergo_status status = go_rounds(ctx, r, sw_joining_rounds(r->ranks));
    return status == ERGO_OK ? join_rest(ctx, r) : status;
}
