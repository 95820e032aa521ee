#include "samplers/places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

enum ergo_status ergo_places_near(struct ergo_context *ctx, const char *name,
                                  const struct ergo_xyz *frame, const double *side,
                                  size_t dimensions, const bool *walled) {
    for (size_t k = 0; k < dimensions; k++)
        if (frame->open[k] && !(walled && walled[k]))
            return ERGO_FAIL(
                ctx, ERGO_E_JOB,
                "/system/start: %s says with pbc that its box is not periodic along %c, "
                "where the job's is; leave pbc out or set it to T if that is meant",
                name, "xyz"[k]);
    for (size_t i = 0; i < frame->n; i++)
        for (size_t k = 0; k < dimensions; k++)
            if (!(fabs(frame->positions[3 * i + k]) <= 1e6 * side[k]))
                return ERGO_FAIL(ctx, ERGO_E_JOB,
                                 "/system/start: %s, line %zu: %.9g is a million sides of the box "
                                 "(%.9g) away, or more",
                                 name, i + 3, frame->positions[3 * i + k], side[k]);
    return ERGO_OK;
}

/* Cells that are at least as wide as the reach. Their particles are kept in linked lists. */
struct cells {
    uint64_t n[3];
    bool dense; /* a list for each cell; else cells share lists by a hash */
    size_t mask;
    uint64_t salt;
    uint32_t *heads, *next; /* particle + 1; 0: none */
};

static bool cells_make(struct cells *c, size_t n, const uint32_t reach[3]) {
    double all = 1;
    size_t chains = 1;
    for (int k = 0; k < 3; k++) {
        c->n[k] = (UINT64_C(1) << 32) / (reach[k] ? reach[k] : 1);
        all *= (double)c->n[k];
    }
    while (chains < 2 * n)
        chains *= 2;
    c->dense = all <= (double)chains;
    c->mask = chains - 1;
    /* salted, so that no file can put all its particles into one list */
    randombytes_buf(&c->salt, sizeof c->salt);
    c->heads = calloc(chains, sizeof *c->heads);
    c->next = malloc((n + 1) * sizeof *c->next);
    return c->heads && c->next;
}

static uint64_t mix(uint64_t z) { /* splitmix64 */
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static size_t chain_of(const struct cells *c, const uint64_t at[3]) {
    if (c->dense)
        return (size_t)(at[0] + c->n[0] * (at[1] + c->n[1] * at[2]));
    return (size_t)(mix(mix(mix(c->salt + at[0]) + at[1]) + at[2])) & c->mask;
}

/* A particle before i that is too close to it, + 1; 0: none. */
static uint32_t search(const struct cells *c, const uint32_t *words, const uint64_t home[3],
                       size_t i, ergo_places_close *close, const void *user) {
    int steps[3];
    for (int k = 0; k < 3; k++)
        steps[k] = c->n[k] < 3 ? (int)c->n[k] : 3;
    for (int s = 0; s < steps[0] * steps[1] * steps[2]; s++) {
        const int by[3] = {s % steps[0], s / steps[0] % steps[1], s / steps[0] / steps[1]};
        uint64_t at[3];
        for (int k = 0; k < 3; k++)
            at[k] = (home[k] + c->n[k] - 1 + (uint64_t)by[k]) % c->n[k];
        for (uint32_t j = c->heads[chain_of(c, at)]; j; j = c->next[j - 1])
            if (close(user, words + 3 * i, words + 3 * (size_t)(j - 1)))
                return j;
    }
    return 0;
}

enum ergo_status ergo_places_pair(struct ergo_context *ctx, const uint32_t *words, size_t n,
                                  const uint32_t reach[3], ergo_places_close *close,
                                  const void *user, size_t pair[2]) {
    struct cells c = {0};
    enum ergo_status status = ERGO_OK;
    pair[0] = pair[1] = SIZE_MAX;
    if (n >= UINT32_MAX || !cells_make(&c, n, reach))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to look at %zu particles", n);
    for (size_t i = 0; i < n && status == ERGO_OK && pair[0] == SIZE_MAX; i++) {
        uint64_t home[3];
        for (size_t k = 0; k < 3; k++)
            home[k] = words[3 * i + k] * c.n[k] >> 32;
        const uint32_t j = search(&c, words, home, i, close, user);
        if (j) {
            pair[0] = i;
            pair[1] = j - 1;
        }
        const size_t chain = chain_of(&c, home);
        c.next[i] = c.heads[chain];
        c.heads[chain] = (uint32_t)(i + 1);
    }
    free(c.heads);
    free(c.next);
    return status;
}

/* ---- hard particles that nearly touch ---------------------------------------------------------
 */

struct crowd {
    uint64_t (*at)[3];
    int64_t (*push)[3];
    const uint64_t *side;
    const double *length;
    double least;
    size_t n, cells[3];
    uint32_t *heads, *next; /* particle + 1; 0: none */
};

/* Push two apart that are too near, each by half and a unit more, for the rounding. */
static bool push_pair(struct crowd *c, size_t i, size_t j) {
    double d[3], r2 = 0;
    for (size_t k = 0; k < 3; k++) {
        const int64_t side = (int64_t)c->side[k];
        int64_t whole = (int64_t)c->at[j][k] - (int64_t)c->at[i][k];
        whole -= 2 * whole > side ? side : 2 * whole < -side ? -side : 0;
        d[k] = (double)whole * c->length[k];
        r2 += d[k] * d[k];
    }
    const double r = sqrt(r2);
    if (!(r < c->least))
        return false;
    for (size_t k = 0; k < 3; k++) {
        const double along = r > 0 ? d[k] / r : k == 0;
        const int64_t by =
            (int64_t)rint(along * (0.5 * (c->least - r) / c->length[k] + (along != 0)));
        c->push[i][k] -= by;
        c->push[j][k] += by;
    }
    return true;
}

static size_t cell_along(const struct crowd *c, size_t i, size_t k) {
    return (size_t)((double)c->at[i][k] / (double)c->side[k] * (double)c->cells[k]) % c->cells[k];
}

/* Pairs of i and those that come after it in the lists of its cell and the cells around. */
static bool push_around(struct crowd *c, size_t i) {
    bool any = false;
    size_t steps[3], home[3];
    for (size_t k = 0; k < 3; k++) {
        steps[k] = c->cells[k] < 3 ? c->cells[k] : 3;
        home[k] = cell_along(c, i, k) + c->cells[k] - (steps[k] == 3);
    }
    for (size_t s = 0; s < steps[0] * steps[1] * steps[2]; s++) {
        const size_t x = (home[0] + s % steps[0]) % c->cells[0];
        const size_t y = (home[1] + s / steps[0] % steps[1]) % c->cells[1];
        const size_t z = (home[2] + s / steps[0] / steps[1]) % c->cells[2];
        for (uint32_t j = c->heads[x + c->cells[0] * (y + c->cells[1] * z)]; j; j = c->next[j - 1])
            if (j - 1 > i)
                any = push_pair(c, i, j - 1) || any;
    }
    return any;
}

static bool push_all(struct crowd *c, const uint64_t low[3], const uint64_t high[3]) {
    bool any = false;
    memset(c->heads, 0, c->cells[0] * c->cells[1] * c->cells[2] * sizeof *c->heads);
    memset(c->push, 0, c->n * sizeof *c->push);
    for (size_t i = 0; i < c->n; i++) {
        uint32_t *head =
            &c->heads[cell_along(c, i, 0) +
                      c->cells[0] * (cell_along(c, i, 1) + c->cells[1] * cell_along(c, i, 2))];
        c->next[i] = *head;
        *head = (uint32_t)(i + 1);
    }
    for (size_t i = 0; i < c->n; i++)
        any = push_around(c, i) || any;
    for (size_t i = 0; i < c->n && any; i++)
        for (size_t k = 0; k < 3; k++) {
            const int64_t side = (int64_t)c->side[k];
            int64_t to = ((int64_t)c->at[i][k] + c->push[i][k] % side + side) % side;
            if (low && low[k])
                to = to < (int64_t)low[k]    ? (int64_t)low[k]
                     : to > (int64_t)high[k] ? (int64_t)high[k]
                                             : to;
            c->at[i][k] = (uint64_t)to;
        }
    return any;
}

enum ergo_status ergo_places_part(struct ergo_context *ctx, uint64_t (*at)[3], size_t n,
                                  const uint64_t side[3], const double length[3], double least,
                                  const uint64_t low[3], const uint64_t high[3]) {
    enum { ROUNDS = 256 };
    struct crowd c = {.at = at, .side = side, .length = length, .least = least, .n = n};
    const double most = 2 * cbrt((double)n) + 1; /* cells along a side: some eight a particle */
    for (size_t k = 0; k < 3; k++)
        c.cells[k] = (size_t)fmax(1, fmin(most, (double)side[k] * length[k] / least));
    c.push = malloc(n * sizeof *c.push);
    c.next = malloc(n * sizeof *c.next);
    c.heads = malloc(c.cells[0] * c.cells[1] * c.cells[2] * sizeof *c.heads);
    const bool room = c.push && c.next && c.heads && n < UINT32_MAX;
    for (int round = 0; room && round < ROUNDS && push_all(&c, low, high); round++) {
    }
    free(c.push);
    free(c.next);
    free(c.heads);
    return room ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to look at %zu particles", n);
}
