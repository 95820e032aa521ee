/*
 * Messages of joining.h over ranks: rounds between neighbours, pairs handed on to all, sizes. What
 * a sweep needs is kept for the next.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/cut.h"

enum { TAG_ROUND = ERGO_DIST_TAGS, TAG_HAND = TAG_ROUND + SW_WAYS, TAG_MORE };

/* Serials of a joining: more than it has messages. Pairs of the first message in a step of handing
 * on; few have more. */
enum { SERIALS = 128, FIRST_PAIRS = 64 };

enum ergo_status sw_cut_lost(struct ergo_context *ctx, int rank) {
    return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                     "rank %d got another message than the one that is due while clusters of a cut "
                     "lattice were joined: the ranks have lost step, or the network a message",
                     rank);
}

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the clusters on a rectangle's edges");
}

/* ---- between neighbours ---------------------------------------------------------------------- */

static enum ergo_status exchange(struct ergo_context *ctx, struct sw_cut *s) {
    enum ergo_status status = ERGO_OK;
    for (size_t k = 0; k < s->n_sides && status == ERGO_OK; k++) {
        const struct sw_cut_side *side = &s->cut_sides[k];
        status = ergo_dist_post_receive(ctx, s->halo.posts, side->link->rank,
                                        TAG_ROUND + (int)(side->way ^ 1u), s->sides[k].in,
                                        4 * sw_joining_room(s->sides[k].n_bridges));
    }
    for (size_t k = 0; k < s->n_sides && status == ERGO_OK; k++) {
        const struct sw_cut_side *side = &s->cut_sides[k];
        status =
            ergo_dist_post_send(ctx, s->halo.posts, side->link->rank, TAG_ROUND + (int)side->way,
                                s->sides[k].out, 4 * s->sides[k].out_words);
        s->times.pair_bytes += 4 * s->sides[k].out_words;
    }
    if (status == ERGO_OK)
        ergo_dist_posts_wait(s->halo.posts);
    return status;
}

typedef void (*tell_sides)(struct sw_joining *j, struct sw_side *sides, size_t n_sides);
typedef bool (*hear_side)(struct sw_joining *j, const struct sw_side *side);

static enum ergo_status go_round(struct ergo_context *ctx, struct sw_cut *s, tell_sides tell,
                                 hear_side hear) {
    tell(&s->joining, s->sides, s->n_sides);
    enum ergo_status status = exchange(ctx, s);
    for (size_t k = 0; k < s->n_sides && status == ERGO_OK; k++)
        if (!hear(&s->joining, &s->sides[k]))
            status = sw_cut_lost(ctx, s->rank);
    return status;
}

/* ---- to all ---------------------------------------------------------------------------------- */

static bool make_room(struct sw_list *list, size_t n) {
    if (list->items && n <= list->room)
        return true;
    free(list->items);
    list->items = malloc(2 * n * sizeof *list->items);
    list->room = list->items ? 2 * n : 0;
    return list->items != NULL;
}

/* Messages there and back of a step; the second pair of them with what the first had no room for.
 */
static enum ergo_status swap(struct ergo_context *ctx, struct sw_cut *s, int to, int from, int tag,
                             const uint32_t *out, size_t out_words, uint32_t *in, size_t in_words) {
    enum ergo_status status = ERGO_OK;
    if (in_words)
        status = ergo_dist_post_receive(ctx, s->halo.posts, from, tag, in, 4 * in_words);
    if (out_words && status == ERGO_OK)
        status = ergo_dist_post_send(ctx, s->halo.posts, to, tag, out, 4 * out_words);
    if (status == ERGO_OK)
        ergo_dist_posts_wait(s->halo.posts);
    s->times.pair_bytes += 4 * out_words;
    return status;
}

/* A message: serial, number of pairs, these. */
static enum ergo_status hand_on(struct ergo_context *ctx, struct sw_cut *s, int width) {
    struct sw_joining *j = &s->joining;
    const int ranks = s->layout.ranks, to = (s->rank + width) % ranks;
    const int from = (s->rank + ranks - width) % ranks;
    const size_t each = sw_rest_words(j), first = 2 + each * FIRST_PAIRS, n = j->n_rest;
    if (!make_room(&s->hand_out, 2 + each * n + first) || !make_room(&s->hand_in, first))
        return no_memory(ctx);
    s->hand_out.items[0] = j->serial;
    s->hand_out.items[1] = (uint32_t)n;
    sw_joining_hand(j, 0, n, s->hand_out.items + 2);
    const size_t rest = n > FIRST_PAIRS ? n - FIRST_PAIRS : 0;
    enum ergo_status status = swap(ctx, s, to, from, TAG_HAND, s->hand_out.items,
                                   2 + each * (n - rest), s->hand_in.items, first);
    if (status != ERGO_OK)
        return status;
    if (s->hand_in.items[0] != j->serial++)
        return sw_cut_lost(ctx, s->rank);
    const size_t heard = s->hand_in.items[1];
    const size_t more = heard > FIRST_PAIRS ? heard - FIRST_PAIRS : 0;
    if (!sw_joining_unite(j, s->hand_in.items + 2, heard - more) ||
        !make_room(&s->hand_in, each * more + first))
        return no_memory(ctx);
    status = swap(ctx, s, to, from, TAG_MORE, s->hand_out.items + 2 + each * FIRST_PAIRS,
                  each * rest, s->hand_in.items, each * more);
    if (status == ERGO_OK && !sw_joining_unite(j, s->hand_in.items, more))
        status = no_memory(ctx);
    return status;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static void take(void *counts, uint64_t size) {
    sw_cut_count(counts, size);
}

static enum ergo_status count_late(struct ergo_context *ctx, struct sw_cut *s,
                                   struct sw_cut_counts *counts) {
    struct sw_joining *j = &s->joining;
    const size_t ranks = (size_t)s->layout.ranks;
    uint64_t n, all = 0;
    if (!sw_joining_late(j, take, counts))
        return no_memory(ctx);
    n = j->n_late;
    uint64_t *each = calloc(ranks, sizeof *each);
    if (!each)
        return no_memory(ctx);
    ergo_dist_collect(&n, sizeof n, each);
    for (size_t r = 0; r < ranks; r++)
        all += each[r];
    struct sw_late *late = malloc((all + 1) * sizeof *late);
    enum ergo_status status =
        late ? ergo_dist_collect_items(ctx, j->late, late, sizeof *late, each) : no_memory(ctx);
    if (status == ERGO_OK && !sw_joining_sum(j, late, all, take, counts))
        status = sw_cut_lost(ctx, s->rank);
    free(late);
    free(each);
    return status;
}

enum ergo_status sw_cut_rounds(struct ergo_context *ctx, struct sw_cut *s, struct sw_parts *parts,
                               struct sw_cut_counts *counts) {
    struct sw_joining *j = &s->joining;
    const uint32_t rounds = sw_joining_rounds(s->layout.ranks);
    enum ergo_status status = ERGO_OK;
    if (!sw_joining_begin(j, parts, s->joinings++ * SERIALS, rounds))
        return no_memory(ctx);
    for (uint32_t k = 0; k < rounds && status == ERGO_OK; k++)
        status = go_round(ctx, s, sw_joining_tell, sw_joining_hear);
    if (status == ERGO_OK && !sw_joining_rest(j))
        status = no_memory(ctx);
    for (int width = 1; width < s->layout.ranks && status == ERGO_OK; width *= 2)
        status = hand_on(ctx, s, width);
    if (status == ERGO_OK && !sw_joining_finish(j))
        status = no_memory(ctx);
    for (uint32_t k = 0; k < rounds && status == ERGO_OK && counts; k++)
        status = go_round(ctx, s, sw_joining_count, sw_joining_counted);
    if (status == ERGO_OK && counts)
        status = count_late(ctx, s, counts);
    if (status == ERGO_OK && counts && j->wraps)
        counts->wraps = 1;
    return status;
}
