#include "samplers/places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

enum ergo_status ergo_places_near(struct ergo_context *ctx, const char *name,
                                  const struct ergo_xyz *frame, const double *side,
                                  size_t dimensions) {
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
