/*
 * Spin glasses over ranks: who has what. Where words are as many as ranks or more, a rank has a
 * range of them with whole ladders. Where they are fewer, each has a group of ranks, and each of
 * these a range of its ladder's quads: four slots draw their random numbers together, and the
 * copies of a temperature, whose overlap is measured, are never apart. Ranks beyond the number of
 * quads are idle.
 */
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "samplers/spin_lattice/spin_glass/glass.h"

bool glass_shares_ladder(const struct glass_shape *s) {
    return s->temperatures < s->rungs;
}

struct glass_shape glass_share_of(const struct glass_shape *s, const struct ergo_shares *shares,
                                  size_t r) {
    const size_t ranks = shares->ranks;
    struct glass_shape h = *s;
    if (ranks <= s->all) {
        h.first = (uint32_t)ergo_share_before(s->all, shares->weights, ranks, r);
        h.words = (uint32_t)ergo_share_before(s->all, shares->weights, ranks, r + 1) - h.first;
        return h;
    }
    h.first = (uint32_t)(((r + 1) * s->all - 1) / ranks);
    h.words = 1;
    const size_t leader = h.first * ranks / s->all;
    const size_t group = (h.first + 1) * ranks / s->all - leader;
    const size_t n = group < s->quads ? group : s->quads;
    h.idle = r - leader >= n;
    const size_t k = h.idle ? n - 1 : r - leader;
    const double *weights = shares->weights + leader;
    const uint32_t begin = (uint32_t)ergo_share_before(s->quads, weights, n, k);
    const uint32_t end = (uint32_t)ergo_share_before(s->quads, weights, n, k + 1);
    const uint32_t each = 4 / s->copies, top = end * each < s->rungs ? end * each : s->rungs;
    h.rung = begin * each;
    h.temperatures = top - h.rung;
    h.slots = h.temperatures * h.copies;
    h.quads = end - begin;
    return h;
}

enum ergo_status glass_words(struct ergo_context *ctx, const struct glass_state *s, size_t members,
                             size_t width, size_t tail, const void *mine, void *all) {
    const struct glass_shape *h = &s->shape;
    if (!s->shares) {
        memcpy(all, mine, members * h->words * (h->temperatures * width + tail));
        return ERGO_OK;
    }
    const struct glass_shape whole = glass_shape_of(s->e.batch->points[0]);
    const size_t ranks = (size_t)ergo_dist_count(), row = h->rungs * width + tail;
    size_t share = 1;
    for (size_t r = 0; r < ranks; r++) {
        const struct glass_shape of = glass_share_of(&whole, s->shares, r);
        const size_t bytes = members * of.words * (of.temperatures * width + tail);
        share = bytes > share ? bytes : share;
    }
    char *own = calloc(1, share), *from = malloc(ranks * share);
    enum ergo_status status =
        own && from ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for other ranks' words");
    if (status == ERGO_OK) {
        memcpy(own, mine, members * h->words * (h->temperatures * width + tail));
        ergo_dist_collect(own, share, from);
    }
    for (size_t r = 0; r < ranks && status == ERGO_OK; r++) {
        const struct glass_shape of = glass_share_of(&whole, s->shares, r);
        const char *at = from + r * share;
        for (size_t i = 0; i < members * of.words && !of.idle; i++) {
            char *to = (char *)all + (i / of.words * of.all + of.first + i % of.words) * row;
            memcpy(to + of.rung * width, at, of.temperatures * width);
            at += of.temperatures * width;
            if (of.rung == 0)
                memcpy(to + of.rungs * width, at, tail);
            at += tail;
        }
    }
    free(own);
    free(from);
    return status;
}
