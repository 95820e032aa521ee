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

/* A step of handing on; number: of its messages, after those of rounds. */
static bool hand_on(struct joined *all, int width, uint32_t number) {
    const size_t ranks = (size_t)all->ranks;
    unsigned char **messages = keep(calloc(ranks, sizeof *messages));
    bool ok = true;
    for (size_t r = 0; r < ranks; r++) {
        struct joined_rank *rank = &all->rank[r];
        messages[r] = keep(malloc(sw_rest_room(&rank->joining.rest)));
        const double started = now();
        const size_t bytes = sw_joining_hand(&rank->joining, messages[r]);
        rank->finish += now() - started;
        for (int k = 1; k < SW_JOINING_FAN && k * width < all->ranks; k++) {
            rank->handed += bytes;
            rank->hands++;
        }
    }
    for (size_t r = 0; r < ranks; r++)
        for (int k = 1; k < SW_JOINING_FAN && k * width < all->ranks && ok; k++) {
            struct sw_joining *j = &all->rank[r].joining;
            const size_t from = (r + ranks - (size_t)(k * width) % ranks) % ranks;
            unsigned char *old = NULL;
            if (number == all->lost_round && (int)from == all->lost_rank && k == all->lost_side) {
                const size_t bytes = sw_rest_length(messages[from]);
                old = memcpy(keep(malloc(bytes)), messages[from], bytes);
                old[0]--; /* the one before came again */
            }
            const double started = now();
            keep(sw_rest_expect(&j->rest, old ? old : messages[from]) ? j : NULL);
            ok = sw_joining_unite(j, old ? old : messages[from]);
            all->rank[r].finish += now() - started;
            free(old);
        }
    for (size_t r = 0; r < ranks; r++)
        free(messages[r]);
    free(messages);
    return ok;
}

/* As cut_parts.c does: most parts stay as they are. */
static void connect(struct joined_rank *rank) {
    uint32_t *first = keep(malloc(rank->n_groups * sizeof *first + 1));
    memset(first, 0xff, rank->n_groups * sizeof *first);
    for (size_t p = rank->parts.n_parts; p-- > 0;)
        first[rank->groups[p]] = (uint32_t)p;
    for (size_t p = 0; p < rank->parts.n_parts && rank->noted; p++)
        rank->noted[p] = sw_joining_name(&rank->joining, p);
    sw_joining_note(&rank->joining);
    const double started = now();
    for (uint32_t p = 0; p < rank->parts.n_parts; p++) {
        const uint32_t other = first[rank->groups[p]];
        if (other != p || rank->group_names[p] != rank->parts.names[p])
            sw_joining_connect(&rank->joining, p, other, rank->group_names[p]);
    }
    rank->seconds = now() - started;
    free(first);
}

static bool finish(struct joined *all, uint32_t rounds) {
    bool ok = true;
    for (int r = 0; r < all->ranks; r++) {
        const double started = now();
        ok = sw_joining_rest(&all->rank[r].joining) && ok;
        all->rank[r].seconds += now() - started;
    }
    all->steps = 0;
    for (int width = 1; width < all->ranks && ok; width *= SW_JOINING_FAN)
        ok = hand_on(all, width, 2 * rounds + ++all->steps);
    all->rest = all->rank[0].joining.rest.n;
    for (int r = 0; r < all->ranks; r++) {
        const double started = now();
        ok = sw_joining_finish(&all->rank[r].joining) && ok;
        all->rank[r].finish += now() - started;
    }
    return ok;
}

static bool sum(struct joined *all, sw_joining_take take, void *user) {
    const uint32_t n = all->rank[0].joining.rest.n_leaders;
    all->late = n;
    for (int r = 0; r < all->ranks; r++) {
        if (all->rank[r].joining.rest.n_leaders != n)
            return false;
        sw_joining_late(&all->rank[r].joining, take, user);
        for (uint32_t k = 0; k < n && r; k++) {
            struct sw_sum *to = &all->rank[0].joining.rest.sums[k];
            const struct sw_sum *from = &all->rank[r].joining.rest.sums[k];
            to->sites += from->sites;
            to->waves[0] += from->waves[0];
            to->waves[1] += from->waves[1];
        }
    }
    for (int r = 0; r < all->ranks; r++) {
        for (uint32_t k = 0; k < n; k++)
            all->rank[r].joining.rest.sums[k] = all->rank[0].joining.rest.sums[k];
        sw_joining_sum(&all->rank[r].joining, take, user);
    }
    return true;
}

bool joined_run(struct joined *all, uint32_t rounds, sw_joining_take take, void *user) {
    bool ok = true;
    const bool sized = all->rank[0].parts.sizes != NULL;
    for (int r = 0; r < all->ranks; r++) {
        struct joined_rank *rank = &all->rank[r];
        const double started = now();
        rank->messages = rank->bytes = rank->handed = rank->hands = 0;
        rank->finish = 0;
        ok = sw_joining_begin(&rank->joining, &rank->parts, 17, rounds) && ok;
        for (size_t s = 0; s < rank->parts.n_sides; s++) /* what came last */
            memset(rank->parts.sides[s].in, 0, 4 * sw_joining_room(rank->parts.sides[s].n_bridges));
        rank->seconds = now() - started;
    }
    for (uint32_t k = 1; k <= all->early && ok; k++)
        ok = exchange(all, UINT32_MAX, sw_joining_tell, sw_joining_hear);
    for (int r = 0; r < all->ranks && ok && all->early; r++) {
        struct joined_rank *rank = &all->rank[r];
        rank->early = rank->seconds;
        rank->early_bytes = rank->bytes;
        connect(rank);
    }
    for (uint32_t k = 1; k <= rounds && ok; k++)
        ok = exchange(all, k, sw_joining_tell, sw_joining_hear);
    ok = ok && finish(all, rounds);
    for (uint32_t k = 1; k <= rounds && ok && sized; k++)
        ok = exchange(all, rounds + k, sw_joining_count, sw_joining_counted);
    return ok && (!sized || sum(all, take, user));
}
