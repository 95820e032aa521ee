/*
 * The host's twin of a sweep: cl/swendsen_wang/core.h compiled as C for bonds and states, site by
 * site neighbours, and labels by J. Hoshen and R. Kopelman, Phys. Rev. B 14, 3438 (1976). Nothing
 * of tiles, words of neighbours, atomics or launches is in it.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/sw.h"

/* The kernels take their shape from macros; here the macros read this. */
static _Thread_local struct { uint32_t q, words, ly, lx, tail; } twin;

#define SW_Q twin.q
#define SW_WORDS twin.words
#define SW_LY twin.ly
#define SW_TAIL twin.tail
#define SW_ROW0 0u
#define SW_WORD0 0u
#define SW_ALL_WORDS twin.words
#define SW_ALL_LX twin.lx
#include "swendsen_wang/core.h"

static uint32_t spin_at(const struct sw_shape *s, const uint32_t *planes, uint32_t x, uint32_t y) {
    uint32_t state = 0;
    for (uint32_t p = 0; p < s->planes; p++)
        state |= (planes[p * s->words + (size_t)y * s->row_words + x / 32] >> (x % 32) & 1u) << p;
    return state;
}

static uint32_t proper(const uint32_t *labels, uint32_t i) {
    while (labels[i] != i)
        i = labels[i];
    return i;
}

static void join(uint32_t *labels, uint32_t a, uint32_t b) {
    a = proper(labels, a);
    b = proper(labels, b);
    if (a < b)
        labels[b] = a;
    else
        labels[a] = b;
}

static void draw(const struct sw_shape *s, const struct sw_member *m, uint64_t step,
                 struct sw_twin *t) {
    const uint32_t low = (uint32_t)step, high = (uint32_t)(step >> 32);
    for (uint32_t y = 0; y < twin.ly; y++)
        for (uint32_t i = 0; i < twin.words; i++) {
            const uint32_t word = y * twin.words + i;
            uint32_t side = 0, under = 0;
            for (uint32_t x = 32 * i; x < 32 * i + 32 && x < twin.lx; x++) {
                const uint32_t own = spin_at(s, t->planes, x, y);
                side |= (uint32_t)(own == spin_at(s, t->planes, x + 1 == twin.lx ? 0 : x + 1, y))
                        << (x % 32);
                under |= (uint32_t)(own == spin_at(s, t->planes, x, y + 1 == twin.ly ? 0 : y + 1))
                         << (x % 32);
            }
            t->right[word] = sw_bonds(side, sw_global_word(i, y), 0, low, high, m->key0, m->key1,
                                      m->high, m->low, m->always);
            t->down[word] = sw_bonds(under, sw_global_word(i, y), 1, low, high, m->key0, m->key1,
                                     m->high, m->low, m->always);
        }
}

/* Labels in order of sites, first of what is joined inside the lattice alone; then also around it,
 * where the bonds are listed as pairs of the first labels. */
static void label(struct sw_twin *t) {
    const uint32_t row = 32 * twin.words, sites = row * twin.ly, last = twin.lx - 1;
    for (uint32_t i = 0; i < sites; i++)
        t->labels[i] = i;
    for (uint32_t y = 0; y < twin.ly; y++)
        for (uint32_t x = 0; x < twin.lx; x++) {
            const uint32_t i = y * row + x;
            if (x < last && t->right[i / 32] >> (i % 32) & 1u)
                join(t->labels, i, i + 1);
            if (y + 1 < twin.ly && t->down[i / 32] >> (i % 32) & 1u)
                join(t->labels, i, i + row);
        }
    for (uint32_t i = 0; i < sites; i++)
        t->labels[i] = t->labels[t->labels[i]]; /* leads to a smaller, proper one */
    for (uint32_t e = 0; e < 2 * (twin.ly + row); e++)
        t->seams[e] = SW_NO_BOND;
    for (uint32_t y = 0; y < twin.ly; y++)
        if (t->right[(y * row + last) / 32] >> (last % 32) & 1u) {
            t->seams[2 * y] = t->labels[y * row + last];
            t->seams[2 * y + 1] = t->labels[y * row];
        }
    for (uint32_t x = 0; x < twin.lx; x++) {
        const uint32_t i = (twin.ly - 1) * row + x;
        if (sw_prune(t->down[i / 32], t->right[i / 32], t->right[x / 32]) >> (x % 32) & 1u) {
            t->seams[2 * (twin.ly + x)] = t->labels[i];
            t->seams[2 * (twin.ly + x) + 1] = t->labels[x];
        }
    }
    for (uint32_t y = 0; y < twin.ly; y++)
        if (t->right[(y * row + last) / 32] >> (last % 32) & 1u)
            join(t->labels, y * row + last, y * row);
    for (uint32_t x = 0; x < twin.lx; x++) {
        const uint32_t i = (twin.ly - 1) * row + x;
        if (t->down[i / 32] >> (i % 32) & 1u)
            join(t->labels, i, x);
    }
    for (uint32_t i = 0; i < sites; i++)
        t->labels[i] = proper(t->labels, i);
}

static void flip(const struct sw_shape *s, const struct sw_member *m, uint64_t step,
                 struct sw_twin *t) {
    for (uint32_t y = 0; y < twin.ly; y++)
        for (uint32_t x = 0; x < twin.lx; x++) {
            const uint32_t i = y * 32 * twin.words + x, root = t->labels[i];
            const uint32_t state =
                root == i
                    ? sw_state(sw_global_site(i), SW_PURPOSE_SPIN, (uint32_t)step,
                               (uint32_t)(step >> 32), m->key0, m->key1)
                    : spin_at(s, t->planes, root % (32 * twin.words), root / (32 * twin.words));
            for (uint32_t p = 0; p < s->planes; p++) {
                uint32_t *word = &t->planes[p * s->words + i / 32];
                *word = (*word & ~(1u << (i % 32))) | (state >> p & 1u) << (i % 32);
            }
        }
}

static bool count(const struct sw_shape *s, struct sw_twin *t) {
    uint32_t *sizes = calloc(32 * s->words, sizeof *sizes);
    t->unequal = t->clusters = t->squares = t->largest = 0;
    t->fourths = 0;
    memset(t->counts, 0, sizeof t->counts);
    for (uint32_t y = 0; y < twin.ly && sizes; y++)
        for (uint32_t x = 0; x < twin.lx; x++) {
            const uint32_t own = spin_at(s, t->planes, x, y);
            t->counts[own]++;
            t->unequal += own != spin_at(s, t->planes, x + 1 == twin.lx ? 0 : x + 1, y);
            t->unequal += own != spin_at(s, t->planes, x, y + 1 == twin.ly ? 0 : y + 1);
            sizes[t->labels[y * 32 * twin.words + x]]++;
        }
    for (size_t i = 0; i < 32 * s->words && sizes; i++) {
        t->clusters += sizes[i] > 0;
        const double square = (double)sizes[i] * sizes[i];
        t->squares += (uint64_t)sizes[i] * sizes[i];
        t->fourths += square * square;
        t->largest = sizes[i] > t->largest ? sizes[i] : t->largest;
    }
    free(sizes);
    return sizes != NULL;
}

bool sw_twin_sweep(const struct ergo_point *point, const struct sw_shape *s, uint64_t step,
                   struct sw_twin *t) {
    struct sw_member m;
    sw_member_fill(point, &m);
    twin.q = s->q;
    twin.words = s->row_words;
    twin.ly = (uint32_t)s->ly;
    twin.lx = (uint32_t)s->lx;
    twin.tail = s->tail;
    draw(s, &m, step, t);
    label(t);
    flip(s, &m, step, t);
    return count(s, t);
}
