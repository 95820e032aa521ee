/* Wang-Landau walks: the chain in C, walker after walker. */
#include <string.h>

#include "samplers/spin_lattice/wang_landau/walk.h"

static uint32_t is_up(const struct walk_state *s, const struct walk_estimate *a, uint32_t vertex,
                      uint32_t walker) {
    return a->spins[(size_t)(vertex / 32) * s->shape.walkers + walker] >> vertex % 32 & 1;
}

/* The field on a vertex, and what its neighbours add. */
static int32_t force_on(const struct walk_state *s, const struct walk_estimate *a, uint32_t vertex,
                        uint32_t walker) {
    const struct walk_graph *g = &s->graph;
    int32_t force = g->fields[vertex];
    for (uint32_t b = g->first[vertex]; b < g->first[vertex + 1]; b++)
        force += is_up(s, a, g->bonds[b].to, walker) ? g->bonds[b].j : -g->bonds[b].j;
    return force;
}

bool walk_twin_levels(const struct walk_state *s, struct walk_estimate *a) {
    const struct walk_levels *levels = &s->graph.levels;
    for (uint32_t k = 0; k < s->shape.walkers; k++) {
        int64_t e = 0;
        for (uint32_t v = 0; v < s->graph.n; v++) {
            const int64_t both = (int64_t)force_on(s, a, v, k) + s->graph.fields[v];
            e += is_up(s, a, v, k) ? -both : both;
        }
        const int64_t above = e - levels->low, step = 4 * (int64_t)levels->step;
        if (above < 0 || above % step || (uint64_t)(above / step) >= levels->count)
            return false;
        a->at[k] = (uint32_t)(above / step);
    }
    return true;
}

void walk_twin_start(const struct walk_state *s, const struct walk_member *member, uint32_t own,
                     unsigned mode, struct walk_estimate *a) {
    const uint32_t walkers = s->shape.walkers, n = s->graph.n;
    const size_t words = walk_words_of(s), levels = s->graph.levels.count;
    for (size_t w = 0; w < words; w++)
        for (uint32_t k = 0; k < walkers; k++) {
            const struct ergo_words r = walk_words((uint32_t)w, 0, WALK_PURPOSE_START,
                                                   own * walkers + k, member->key0, member->key1);
            const uint32_t bits = n - 32 * w < 32 ? (1u << (n - 32 * w)) - 1 : UINT32_MAX;
            a->spins[w * walkers + k] = bits & (mode == 2 ? r.x : mode ? UINT32_MAX : 0);
        }
    memset(a->ln_g, 0, levels * sizeof *a->ln_g);
    memset(a->counts, 0, levels * sizeof *a->counts);
    memset(a->visited, 0, levels * sizeof *a->visited);
    a->status = (struct walk_status){WALK_ONE, 0, 0};
    walk_twin_levels(s, a);
}

static void end_epoch(const struct walk_state *s, uint64_t step, struct walk_estimate *a) {
    const size_t levels = s->graph.levels.count;
    const uint64_t moves = step * s->graph.n * s->shape.walkers;
    struct walk_sums sums = walk_no_sums();
    uint32_t anew = 0;
    for (size_t i = 0; i < levels; i++) {
        a->ln_g[i] = walk_ln_g(a->ln_g[i], a->status.f, a->counts[i]);
        a->visited[i] = walk_visits(a->visited[i], a->counts[i]);
        sums = walk_add(sums, a->ln_g[i], a->visited[i]);
        a->counts[i] = 0;
    }
    a->status = walk_decide(a->status, sums, s->shape.flatness, moves, &anew);
    for (size_t i = 0; i < levels; i++) {
        a->ln_g[i] = walk_lowered(a->ln_g[i], a->visited[i], sums.low);
        if (anew)
            a->visited[i] &= WALK_SEEN;
    }
}

/* A try to flip a vertex of one walker. */
static void attempt(const struct walk_state *s, uint32_t vertex, uint32_t walker, uint32_t random,
                    struct walk_estimate *a) {
    const int32_t force = force_on(s, a, vertex, walker), step = (int32_t)s->graph.levels.step;
    const int32_t cost = is_up(s, a, vertex, walker) ? force : -force;
    const uint32_t from = a->at[walker], to = (uint32_t)((int32_t)from + cost / step);
    if (!walk_accepts(walk_ln_g(a->ln_g[from], a->status.f, a->counts[from]),
                      walk_ln_g(a->ln_g[to], a->status.f, a->counts[to]), random))
        return;
    a->spins[(size_t)(vertex / 32) * s->shape.walkers + walker] ^= 1u << vertex % 32;
    a->at[walker] = to;
}

void walk_twin_sweep(const struct walk_state *s, const struct walk_member *member, uint32_t own,
                     uint64_t step, struct walk_estimate *a) {
    const uint32_t walkers = s->shape.walkers, n = s->graph.n;
    for (uint32_t i = 0; i < n; i++) {
        const struct ergo_words r =
            walk_words(i / 4, step, WALK_PURPOSE_SITE, own, member->key0, member->key1);
        const uint32_t picks[4] = {r.x, r.y, r.z, r.w};
        const uint32_t vertex = ergo_below(picks[i % 4], n);
        for (uint32_t k = 0; k < walkers; k++) {
            if (i % 4 == 0) {
                const struct ergo_words w = walk_words(
                    i / 4, step, WALK_PURPOSE_MOVE, own * walkers + k, member->key0, member->key1);
                memcpy(a->random + 4 * (size_t)k, &w, sizeof w);
            }
            attempt(s, vertex, k, a->random[4 * (size_t)k + i % 4], a);
        }
        for (uint32_t k = 0; k < walkers; k++)
            a->counts[a->at[k]]++;
    }
    if ((step + 1) % s->shape.check == 0)
        end_epoch(s, step + 1, a);
}
