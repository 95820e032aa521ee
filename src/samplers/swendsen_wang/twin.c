/*
 * A sweep in serial C. Random numbers are those of cl/swendsen_wang/core.h compiled as C. Labels
 * are assigned site by site after J. Hoshen and R. Kopelman, Phys. Rev. B 14, 3438 (1976). The twin
 * has no tiles, runs, atomics or launches. Some 20 ns per site.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "samplers/swendsen_wang/sw.h"

/* core.h takes the lattice's shape from macros; when compiled as C they read this. */
static _Thread_local struct { uint32_t q, words, ly, lx, tail; } twin;

#define SW_Q twin.q
#define SW_WORDS twin.words
#define SW_LY twin.ly
#define SW_TAIL twin.tail
#include "swendsen_wang/core.h"

static void set_shape(const struct sw_shape *s) {
    twin.q = s->q;
    twin.words = s->row_words;
    twin.ly = (uint32_t)s->ly;
    twin.lx = (uint32_t)s->lx;
    twin.tail = s->tail;
}

bool sw_twin_open(struct sw_twin *t, const struct sw_shape *s) {
    const size_t words = (size_t)s->words, entries = (size_t)s->ly + 32 * (size_t)s->row_words;
    *t = (struct sw_twin){.planes = malloc((size_t)s->member_bytes),
                          .right = malloc(4 * words),
                          .down = malloc(4 * words),
                          .labels = malloc(128 * words),
                          .sizes = malloc(128 * words),
                          .states = malloc(32 * words),
                          .around_pairs = malloc(8 * entries),
                          .wraps = sw_wraps_create(entries)};
    return t->planes && t->right && t->down && t->labels && t->sizes && t->states &&
           t->around_pairs && t->wraps;
}

void sw_twin_close(struct sw_twin *t) {
    free(t->planes);
    free(t->right);
    free(t->down);
    free(t->labels);
    free(t->sizes);
    free(t->states);
    free(t->around_pairs);
    sw_wraps_destroy(t->wraps);
    *t = (struct sw_twin){0};
}

void sw_twin_equal(const struct sw_shape *s, const uint32_t *planes, uint32_t i, uint32_t y,
                   uint32_t *side, uint32_t *under) {
    const uint32_t row = s->row_words, last = i + 1 == row ? s->tail - 1 : 31;
    const size_t word = (size_t)y * row + i, next = i + 1 == row ? word - i : word + 1;
    const size_t below = y + 1 == (uint32_t)s->ly ? i : word + row;
    *side = *under = UINT32_MAX >> (31 - last);
    for (uint32_t p = 0; p < s->planes; p++, planes += s->words) {
        *side &= ~(planes[word] ^ (planes[word] >> 1 | (planes[next] & 1u) << last));
        *under &= ~(planes[word] ^ planes[below]);
    }
}

static uint32_t root_of(const uint32_t *labels, uint32_t i) {
    while (labels[i] != i)
        i = labels[i];
    return i;
}

static uint32_t join(uint32_t *labels, uint32_t a, uint32_t b) {
    a = root_of(labels, a);
    b = root_of(labels, b);
    labels[a < b ? b : a] = a < b ? a : b;
    return a < b ? a : b;
}

static void draw(const struct sw_shape *s, const struct sw_member *m, uint64_t step,
                 struct sw_twin *t) {
    const uint32_t low = (uint32_t)step, high = (uint32_t)(step >> 32);
    for (uint32_t y = 0; y < twin.ly; y++)
        for (uint32_t i = 0; i < twin.words; i++) {
            const uint32_t word = y * twin.words + i;
            uint32_t side, under;
            sw_twin_equal(s, t->planes, i, y, &side, &under);
            t->right[word] =
                sw_bonds(side, word, 0, low, high, m->key0, m->key1, m->high, m->low, m->always);
            t->down[word] =
                sw_bonds(under, word, 1, low, high, m->key0, m->key1, m->high, m->low, m->always);
        }
}

/* Labels in the order of sites, by the bonds inside the lattice. */
static void label_inside(struct sw_twin *t) {
    const uint32_t row = 32 * twin.words, sites = row * twin.ly;
    for (uint32_t y = 0, i = 0; y < twin.ly; y++)
        for (uint32_t x = 0; x < row; x++, i++) {
            const bool left = x > 0 && x < twin.lx && ergo_bits_get(t->right, i - 1);
            const bool up = y > 0 && ergo_bits_get(t->down, i - row);
            t->labels[i] = i;
            if (left && up)
                t->labels[i] = join(t->labels, i - 1, i - row);
            else if (left || up)
                t->labels[i] = root_of(t->labels, left ? i - 1 : i - row);
        }
    for (uint32_t i = 0; i < sites; i++)
        t->labels[i] = t->labels[t->labels[i]]; /* the label of a smaller site is already a root */
}

/* Join labels by the bonds around the lattice. around_pairs: the labels that each of these bonds
 * joins. */
static void label_around(struct sw_twin *t) {
    const uint32_t row = 32 * twin.words, sites = row * twin.ly, last = twin.lx - 1;
    for (uint32_t e = 0; e < 2 * (twin.ly + row); e++)
        t->around_pairs[e] = SW_NO_BOND;
    for (uint32_t y = 0; y < twin.ly; y++)
        if (ergo_bits_get(t->right, (size_t)y * row + last)) {
            t->around_pairs[2 * y] = t->labels[y * row + last];
            t->around_pairs[2 * y + 1] = t->labels[y * row];
        }
    for (uint32_t x = 0; x < twin.lx; x++) {
        const uint32_t i = (twin.ly - 1) * row + x;
        if (sw_prune(t->down[i / 32], t->right[i / 32], t->right[x / 32]) >> (x % 32) & 1u) {
            t->around_pairs[2 * (twin.ly + x)] = t->labels[i];
            t->around_pairs[2 * (twin.ly + x) + 1] = t->labels[x];
        }
    }
    for (uint32_t y = 0; y < twin.ly; y++)
        if (ergo_bits_get(t->right, (size_t)y * row + last))
            join(t->labels, y * row + last, y * row);
    for (uint32_t x = 0; x < twin.lx; x++)
        if (ergo_bits_get(t->down, (size_t)(twin.ly - 1) * row + x))
            join(t->labels, (twin.ly - 1) * row + x, x);
    for (uint32_t i = 0; i < sites; i++)
        t->labels[i] = t->labels[t->labels[i]];
}

/* Draw the states of all sites by their roots (start: by the sites themselves), and write the
 * planes. */
static void draw_states(const struct sw_shape *s, const struct sw_member *m, uint64_t step,
                        bool start, struct sw_twin *t) {
    memset(t->planes, 0, (size_t)s->member_bytes);
    for (uint32_t y = 0; y < twin.ly; y++)
        for (uint32_t x = 0; x < twin.lx; x++) {
            const uint32_t i = y * 32 * twin.words + x;
            if (start || t->labels[i] == i)
                t->states[i] = (uint8_t)sw_state(
                    (uint64_t)y * twin.lx + x, start ? SW_PURPOSE_START : SW_PURPOSE_SPIN,
                    (uint32_t)step, (uint32_t)(step >> 32), m->key0, m->key1);
            else
                t->states[i] = t->states[t->labels[i]];
            for (uint32_t p = 0; p < s->planes; p++)
                t->planes[p * s->words + i / 32] |= (t->states[i] >> p & 1u) << (i % 32);
        }
}

void sw_add_fourth(uint64_t sum[2], uint64_t square) {
    const uint64_t a = square >> 32, b = square & 0xffffffff, mixed = a * b;
    const uint64_t parts[2] = {b * b, mixed << 33};
    sum[1] += a * a + (mixed >> 31);
    for (int k = 0; k < 2; k++) {
        sum[0] += parts[k];
        sum[1] += sum[0] < parts[k];
    }
}

/* By 16 bits, the lowest first. */
double sw_fourths_value(const uint64_t sum[2]) {
    double value = 0, scale = 1;
    for (int l = 0; l < 8; l++, scale *= 65536)
        value += (double)(sum[l / 4] >> (16 * (l % 4)) & 0xffff) * scale;
    return value;
}

void sw_twin_count_spins(const struct sw_shape *s, const uint32_t *planes, struct sw_counts *c) {
    c->unequal = 0;
    memset(c->states, 0, sizeof c->states);
    for (uint32_t y = 0; y < (uint32_t)s->ly; y++)
        for (uint32_t i = 0; i < s->row_words; i++) {
            const size_t word = (size_t)y * s->row_words + i;
            const uint32_t valid =
                i + 1 == s->row_words ? UINT32_MAX >> (32 - s->tail) : UINT32_MAX;
            uint32_t side, under;
            sw_twin_equal(s, planes, i, y, &side, &under);
            c->unequal += (uint64_t)__builtin_popcount(valid & ~side) +
                          (uint64_t)__builtin_popcount(valid & ~under);
            if (s->planes <= 3)
                for (uint32_t k = 0; k < s->q; k++) {
                    uint32_t match = valid;
                    for (uint32_t p = 0; p < s->planes; p++)
                        match &= planes[p * s->words + word] ^ (k >> p & 1u ? 0 : UINT32_MAX);
                    c->states[k] += (uint64_t)__builtin_popcount(match);
                }
            for (uint32_t rest = s->planes > 3 ? valid : 0; rest; rest &= rest - 1) {
                uint32_t k = 0;
                for (uint32_t p = 0; p < s->planes; p++)
                    k |= (planes[p * s->words + word] >> __builtin_ctz(rest) & 1u) << p;
                c->states[k]++;
            }
        }
}

static void count_clusters(struct sw_twin *t) {
    const uint32_t row = 32 * twin.words;
    uint64_t fourths[2] = {0, 0};
    bool x, y;
    memset(t->sizes, 0, 4 * (size_t)row * twin.ly);
    for (uint32_t v = 0; v < twin.ly; v++)
        for (uint32_t u = 0; u < twin.lx; u++)
            t->sizes[t->labels[v * row + u]]++;
    struct sw_counts *c = &t->counts;
    c->clusters = c->largest = c->squares = 0;
    memset(c->bins, 0, sizeof c->bins);
    for (size_t i = 0; i < (size_t)row * twin.ly; i++) {
        const uint64_t n = t->sizes[i], square = n * n;
        if (n == 0)
            continue;
        c->clusters++;
        c->largest = n > c->largest ? n : c->largest;
        c->squares += square;
        sw_add_fourth(fourths, square);
        c->bins[31 - __builtin_clz((uint32_t)n)]++;
    }
    c->fourths = sw_fourths_value(fourths);
    sw_wraps_find(t->wraps, t->around_pairs, twin.ly, twin.ly + (size_t)row, &x, &y);
    t->around = x || y;
}

void sw_twin_start(const struct ergo_point *point, const struct sw_shape *s, struct sw_twin *t) {
    struct sw_member m;
    sw_member_fill(point, &m);
    set_shape(s);
    if (strcmp(ergo_point_text(point, "/system/start"), "random") == 0)
        draw_states(s, &m, 0, true, t);
    else
        memset(t->planes, 0, (size_t)s->member_bytes);
}

void sw_twin_sweep(const struct ergo_point *point, const struct sw_shape *s, uint64_t step,
                   bool counted, struct sw_twin *t) {
    struct sw_member m;
    sw_member_fill(point, &m);
    set_shape(s);
    draw(s, &m, step, t);
    label_inside(t);
    label_around(t);
    draw_states(s, &m, step, false, t);
    if (!counted)
        return;
    sw_twin_count_spins(s, t->planes, &t->counts);
    count_clusters(t);
}

void sw_twin_count_clusters(const struct sw_shape *s, struct sw_twin *t) {
    set_shape(s);
    label_inside(t);
    label_around(t);
    count_clusters(t);
}
