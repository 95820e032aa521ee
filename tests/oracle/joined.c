#include "oracle/joined.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *keep(void *memory) {
    assert(memory);
    return memory;
}

typedef void (*tell)(struct sw_joining *j, struct sw_side *sides, size_t n_sides);
typedef bool (*hear)(struct sw_joining *j, const struct sw_side *side);

static bool exchange(struct joined *all, uint32_t round, tell tells, hear hears) {
    bool ok = true;
    for (int r = 0; r < all->ranks; r++) {
        struct joined_rank *rank = &all->rank[r];
        const double started = now();
        tells(&rank->joining, rank->parts.sides, rank->parts.n_sides);
        rank->seconds += now() - started;
        for (size_t s = 0; s < rank->parts.n_sides; s++) {
            rank->messages++;
            rank->bytes += 4 * rank->parts.sides[s].out_words;
        }
    }
    for (int r = 0; r < all->ranks; r++)
        for (size_t s = 0; s < all->rank[r].parts.n_sides; s++) {
            const struct sw_side *from = &all->rank[r].parts.sides[s];
            const struct joined_rank *far = &all->rank[all->rank[r].far_rank[s]];
            const struct sw_side *to = &far->parts.sides[all->rank[r].far_side[s]];
            assert(from->n_bridges == to->n_bridges);
            assert(from->out_words <= sw_joining_room(to->n_bridges));
            if (round != all->lost_round || r != all->lost_rank || (int)s != all->lost_side)
                memcpy(to->in, from->out, 4 * from->out_words);
        }
    for (int r = 0; r < all->ranks; r++) {
        struct joined_rank *rank = &all->rank[r];
        const double started = now();
        for (size_t s = 0; s < rank->parts.n_sides; s++)
            ok = hears(&rank->joining, &rank->parts.sides[s]) && ok;
        rank->seconds += now() - started;
    }
    return ok;
}

/* Step k of handing on: from the rank `width` before to each. */
static bool hand_on(struct joined *all, int width) {
    const size_t ranks = (size_t)all->ranks, each = sw_rest_words(&all->rank[0].joining);
    uint32_t **words = keep(calloc(ranks, sizeof *words));
    size_t *counts = keep(calloc(ranks, sizeof *counts));
    bool ok = true;
    for (size_t r = 0; r < ranks; r++) {
        const struct sw_joining *j = &all->rank[r].joining;
        counts[r] = j->n_rest;
        words[r] = keep(malloc(4 * each * (counts[r] + 1)));
        sw_joining_hand(j, 0, counts[r], words[r]);
        all->rank[r].handed += 8 + 4 * each * counts[r];
    }
    for (size_t r = 0; r < ranks; r++) {
        const size_t from = (r + ranks - (size_t)width) % ranks;
        const double started = now();
        ok = sw_joining_unite(&all->rank[r].joining, words[from], counts[from]) && ok;
        all->rank[r].finish += now() - started;
    }
    for (size_t r = 0; r < ranks; r++)
        free(words[r]);
    free(words);
    free(counts);
    return ok;
}

static bool finish(struct joined *all) {
    bool ok = true;
    for (int r = 0; r < all->ranks; r++) {
        const double started = now();
        ok = sw_joining_rest(&all->rank[r].joining) && ok;
        all->rank[r].seconds += now() - started;
    }
    all->steps = 0;
    for (int width = 1; width < all->ranks; width *= 2, all->steps++)
        ok = hand_on(all, width) && ok;
    all->rest = all->rank[0].joining.n_rest;
    for (int r = 0; r < all->ranks; r++) {
        const double started = now();
        ok = sw_joining_finish(&all->rank[r].joining) && ok;
        all->rank[r].finish += now() - started;
    }
    return ok;
}

static bool sum(struct joined *all, sw_joining_take take, void *user) {
    bool ok = true;
    all->late = 0;
    for (int r = 0; r < all->ranks; r++) {
        ok = sw_joining_late(&all->rank[r].joining, take, user) && ok;
        all->late += all->rank[r].joining.n_late;
    }
    struct sw_late *late = keep(malloc((all->late + 1) * sizeof *late));
    for (size_t r = 0, at = 0; r < (size_t)all->ranks; at += all->rank[r++].joining.n_late)
        memcpy(late + at, all->rank[r].joining.late, all->rank[r].joining.n_late * sizeof *late);
    for (int r = 0; r < all->ranks; r++)
        ok = sw_joining_sum(&all->rank[r].joining, late, all->late, take, user) && ok;
    free(late);
    return ok;
}

bool joined_run(struct joined *all, uint32_t rounds, sw_joining_take take, void *user) {
    bool ok = true;
    const bool sized = all->rank[0].parts.sizes != NULL;
    for (int r = 0; r < all->ranks; r++) {
        struct joined_rank *rank = &all->rank[r];
        const double started = now();
        rank->messages = rank->bytes = rank->handed = 0;
        rank->finish = 0;
        ok = sw_joining_begin(&rank->joining, &rank->parts, 17, rounds) && ok;
        for (size_t s = 0; s < rank->parts.n_sides; s++) /* what came last */
            memset(rank->parts.sides[s].in, 0, 4 * sw_joining_room(rank->parts.sides[s].n_bridges));
        rank->seconds = now() - started;
    }
    for (uint32_t k = 1; k <= rounds && ok; k++)
        ok = exchange(all, k, sw_joining_tell, sw_joining_hear);
    ok = ok && finish(all);
    for (uint32_t k = 1; k <= rounds && ok && sized; k++)
        ok = exchange(all, rounds + k, sw_joining_count, sw_joining_counted);
    return ok && (!sized || sum(all, take, user));
}
