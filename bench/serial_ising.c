/* See serial_ising.h. Compiled with -O3 -march=native: the loops over lanes become vectors. */
#include "serial_ising.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/xoshiro.h"

enum {
    LANES = 8,       /* words, or Philox blocks, that go through the same instructions */
    STRIP = 128,     /* words whose fourth neighbours are gathered at once, at least: stays in L1 */
    PLANES = 7,      /* bits that ergocl compares for all spins */
    FIRST_LOOK = 5,  /* bits before which one word is hardly ever decided */
    FIRST_LOOK8 = 8, /* and eight */
};

/* Eight words at once: gcc's and clang's portable vectors, not intrinsics. Arrays of eight do as
 * well in clang 14 (10 flips/ns), but gcc 12 keeps them in memory (3 flips/ns). */
typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));

static inline lanes lanes_of(uint64_t x) {
    return (lanes){x, x, x, x, x, x, x, x};
}

static inline lanes lanes_load(const uint64_t *p) {
    lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* a0 b0 a1 b1 .. and a4 b4 a5 b5 .. */
#ifdef __clang__
#define ZIP_LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define ZIP_HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define ZIP_LOW(a, b) __builtin_shuffle(a, b, (lanes){0, 8, 1, 9, 2, 10, 3, 11})
#define ZIP_HIGH(a, b) __builtin_shuffle(a, b, (lanes){4, 12, 5, 13, 6, 14, 7, 15})
#endif

static inline uint64_t lanes_any(lanes v) {
    return v[0] | v[1] | v[2] | v[3] | v[4] | v[5] | v[6] | v[7];
}

/* ---- Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC'11) -----------------------------------------
 */

static const uint64_t MULTIPLIER0 = 0xD2511F53, MULTIPLIER1 = 0xCD9E8D57;
static const uint32_t WEYL0 = 0x9E3779B9, WEYL1 = 0xBB67AE85;

void ergo_serial_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = MULTIPLIER0 * c[0], p1 = MULTIPLIER1 * c[2];
        c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ k[0];
        c[1] = (uint32_t)p1;
        c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ k[1];
        c[3] = (uint32_t)p0;
        k[0] += WEYL0;
        k[1] += WEYL1;
    }
    memcpy(out, c, sizeof c);
}

/* The same draw of eight consecutive blocks: low and high 64 bits of each. */
static inline void philox_lanes(uint32_t block, uint64_t sweep, uint32_t draw, uint64_t stream,
                                lanes *low, lanes *high) {
    const uint64_t word = 0xffffffff;
    lanes c0 = lanes_of(block) + (lanes){0, 1, 2, 3, 4, 5, 6, 7};
    lanes c1 = lanes_of(sweep & word), c2 = lanes_of(sweep >> 32), c3 = lanes_of(draw);
    uint32_t k0 = (uint32_t)stream, k1 = (uint32_t)(stream >> 32);
    for (int round = 0; round < 10; round++) {
        const lanes p0 = MULTIPLIER0 * (c0 & word), p1 = MULTIPLIER1 * (c2 & word);
        c0 = p1 >> 32 ^ c1 ^ k0;
        c1 = p1;
        c2 = p0 >> 32 ^ c3 ^ k1;
        c3 = p0;
        k0 += WEYL0;
        k1 += WEYL1;
    }
    *low = (c0 & word) | c1 << 32;
    *high = (c2 & word) | c3 << 32;
}

/* ---- one colour
 * ---------------------------------------------------------------------------------- */

/* The words around `n` words of one colour that are to be updated. */
struct strip {
    uint64_t *own;
    const uint64_t *up, *down, *same, *side;
    size_t n;
    uint32_t block; /* number of the first pair of words */
};

/* Spins by class: all four bonds satisfied, three of four; the rest flip whatever is drawn. */
struct decision {
    uint64_t in0, in1, flip, open;
};

struct decision8 {
    lanes in0, in1, flip, open;
};

static inline struct decision classify(const struct strip *p, size_t i) {
    const uint64_t s = ~p->own[i];
    const uint64_t a = p->up[i] ^ s, b = p->down[i] ^ s, c = p->same[i] ^ s, d = p->side[i] ^ s;
    const uint64_t ab = a & b, cd = c & d;
    struct decision x;
    x.in0 = ab & cd;
    x.in1 = (ab & (c ^ d)) | ((a ^ b) & cd);
    x.open = x.in0 | x.in1;
    x.flip = ~x.open;
    return x;
}

/* One random bit of each spin against one bit of its threshold. */
static inline void compare(struct decision *x, uint64_t random, const uint64_t mask[2]) {
    const uint64_t threshold = (x->in0 & mask[0]) | (x->in1 & mask[1]);
    x->flip |= x->open & threshold & ~random;
    x->open &= ~(random ^ threshold);
}

static void update_xoshiro(struct ergo_serial *s, const struct strip *p) {
    uint64_t state[4];
    memcpy(state, s->sequential, sizeof state);
    for (size_t i = 0; i < p->n; i++) {
        struct decision x = classify(p, i);
        for (int j = 0; j < FIRST_LOOK; j++)
            compare(&x, ergo_oracle_xoshiro(state), s->mask[j]);
        for (int j = FIRST_LOOK; x.open && j < ERGO_SERIAL_BITS; j++)
            compare(&x, ergo_oracle_xoshiro(state), s->mask[j]);
        p->own[i] ^= x.flip;
    }
    memcpy(s->sequential, state, sizeof state);
}

static inline struct decision8 classify8(const struct strip *p, size_t i) {
    const lanes s = ~lanes_load(p->own + i);
    const lanes a = lanes_load(p->up + i) ^ s, b = lanes_load(p->down + i) ^ s;
    const lanes c = lanes_load(p->same + i) ^ s, d = lanes_load(p->side + i) ^ s;
    const lanes ab = a & b, cd = c & d;
    struct decision8 x;
    x.in0 = ab & cd;
    x.in1 = (ab & (c ^ d)) | ((a ^ b) & cd);
    x.open = x.in0 | x.in1;
    x.flip = ~x.open;
    return x;
}

static inline void compare8(struct decision8 *x, lanes random, const uint64_t mask[2]) {
    const lanes threshold = (x->in0 & mask[0]) | (x->in1 & mask[1]);
    x->flip |= x->open & threshold & ~random;
    x->open &= ~(random ^ threshold);
}

static inline lanes xoshiro8_next(lanes s[4]) {
    const lanes sum = s[0] + s[3], result = (sum << 23 | sum >> 41) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = s[3] << 45 | s[3] >> 19;
    return result;
}

static void update_xoshiro8(struct ergo_serial *s, const struct strip *p) {
    lanes state[4];
    memcpy(state, s->parallel, sizeof state);
    for (size_t i = 0; i < p->n; i += LANES) {
        struct decision8 x = classify8(p, i);
        for (int j = 0; j < FIRST_LOOK8; j++)
            compare8(&x, xoshiro8_next(state), s->mask[j]);
        for (int j = FIRST_LOOK8; j < ERGO_SERIAL_BITS && lanes_any(x.open); j++)
            compare8(&x, xoshiro8_next(state), s->mask[j]);
        x.flip ^= lanes_load(p->own + i);
        memcpy(p->own + i, &x.flip, sizeof x.flip);
    }
    memcpy(s->parallel, state, sizeof state);
}

/* Open spins of a block one by one, in the order of their bits: the n-th compares word n % 4 of
 * draw 7 + n / 4 with the lower 32 bits of its threshold. */
static void resolve(const struct ergo_serial *s, const uint64_t open[2], const uint64_t in0[2],
                    uint64_t flip[2], uint32_t block, uint32_t purpose, const uint64_t random[2]) {
    uint32_t n = 0, rest[4] = {(uint32_t)random[0], (uint32_t)(random[0] >> 32),
                               (uint32_t)random[1], (uint32_t)(random[1] >> 32)};
    for (int w = 0; w < 2; w++) {
        for (uint64_t left = open[w]; left; left &= left - 1, n++) {
            const uint64_t bit = left & (~left + 1);
            const uint64_t threshold = s->threshold[in0[w] & bit ? 0 : 1];
            if (n && n % 4 == 0) {
                const uint32_t counter[4] = {block, (uint32_t)s->sweep, (uint32_t)(s->sweep >> 32),
                                             purpose << 24 | (PLANES + n / 4)};
                const uint32_t key[2] = {(uint32_t)s->stream, (uint32_t)(s->stream >> 32)};
                ergo_serial_philox(counter, key, rest);
            }
            flip[w] |= rest[n % 4] < (uint32_t)threshold ? bit : 0;
        }
    }
}

static void update_philox(const struct ergo_serial *s, const struct strip *p, uint32_t purpose) {
    for (size_t i = 0; i < p->n; i += 2 * LANES) {
        const uint32_t block = p->block + (uint32_t)(i / 2);
        /* x[0], x[1]: eight words each, in order; a draw has the even words in low, the odd in high
         */
        struct decision8 x[2] = {classify8(p, i), classify8(p, i + LANES)};
        lanes low, high, rest[2];
        for (uint32_t j = 0; j < PLANES; j++) {
            philox_lanes(block, s->sweep, purpose << 24 | j, s->stream, &low, &high);
            compare8(&x[0], ZIP_LOW(low, high), s->mask[j]);
            compare8(&x[1], ZIP_HIGH(low, high), s->mask[j]);
        }
        philox_lanes(block, s->sweep, purpose << 24 | PLANES, s->stream, &low, &high);
        rest[0] = ZIP_LOW(low, high), rest[1] = ZIP_HIGH(low, high);
        uint64_t open[2 * LANES], in0[2 * LANES], flip[2 * LANES], random[2 * LANES];
        for (int h = 0; h < 2; h++) {
            memcpy(open + h * LANES, &x[h].open, sizeof x[h].open);
            memcpy(in0 + h * LANES, &x[h].in0, sizeof x[h].in0);
            memcpy(flip + h * LANES, &x[h].flip, sizeof x[h].flip);
            memcpy(random + h * LANES, &rest[h], sizeof rest[h]);
        }
        for (size_t w = 0; w < 2 * LANES; w += 2) {
            if (open[w] | open[w + 1])
                resolve(s, open + w, in0 + w, flip + w, block + (uint32_t)(w / 2), purpose,
                        random + w);
            p->own[i + w] ^= flip[w];
            p->own[i + w + 1] ^= flip[w + 1];
        }
    }
}

/* The horizontal neighbour that is not at the same k, of one row. */
static void gather_side(const uint64_t *same, uint64_t *side, size_t n, bool odd) {
    if (odd) {
        for (size_t i = 0; i + 1 < n; i++)
            side[i] = same[i] >> 1 | same[i + 1] << 63;
        side[n - 1] = same[n - 1] >> 1 | same[0] << 63;
    } else {
        side[0] = same[0] << 1 | same[n - 1] >> 63;
        for (size_t i = 1; i < n; i++)
            side[i] = same[i] << 1 | same[i - 1] >> 63;
    }
}

static void half_sweep(struct ergo_serial *s, size_t colour) {
    uint64_t *own = s->colour[colour];
    const uint64_t *other = s->colour[1 - colour];
    const size_t rows = s->row >= STRIP ? 1 : STRIP / s->row;
    for (size_t y = 0; y < s->ly; y += rows) {
        const size_t now = s->ly - y < rows ? s->ly - y : rows, first = y * s->row;
        for (size_t r = 0; r < now; r++)
            gather_side(other + first + r * s->row, s->side + r * s->row, s->row,
                        (y + r + colour) & 1);
        const struct strip p = {.own = own + first,
                                .up = other + first - s->row,
                                .down = other + first + s->row,
                                .same = other + first,
                                .side = s->side,
                                .n = now * s->row,
                                .block = (uint32_t)(first / 2)};
        switch (s->generator) {
        case ERGO_SERIAL_XOSHIRO:
            update_xoshiro(s, &p);
            break;
        case ERGO_SERIAL_XOSHIRO8:
            update_xoshiro8(s, &p);
            break;
        case ERGO_SERIAL_PHILOX:
            update_philox(s, &p, 1 + (uint32_t)colour);
            break;
        }
    }
    memcpy(own - s->row, own + s->words - s->row, s->row * sizeof *own);
    memcpy(own + s->words, own, s->row * sizeof *own);
}

void ergo_serial_sweeps(struct ergo_serial *s, uint64_t count) {
    for (uint64_t i = 0; i < count; i++, s->sweep++) {
        half_sweep(s, 0);
        half_sweep(s, 1);
    }
}

/* ---- the rest
 * ------------------------------------------------------------------------------------ */

bool ergo_serial_init(struct ergo_serial *s, size_t lx, size_t ly, double temperature,
                      enum ergo_serial_generator generator, uint64_t stream) {
    memset(s, 0, sizeof *s);
    /* strips of whole lanes: the words of a colour are a multiple of 16 */
    if (lx == 0 || lx % 128 || ly == 0 || ly % 2 || lx / 128 * ly % (2 * LANES))
        return false;
    s->lx = lx, s->ly = ly, s->row = lx / 128, s->words = s->row * ly;
    /* and every strip but the last, too: a row of less than STRIP words must divide it */
    if (s->row < STRIP ? STRIP % s->row != 0 : s->row % (2 * LANES) != 0)
        return false;
    s->generator = generator, s->stream = stream;
    const size_t room = s->words + 2 * s->row;
    s->storage = malloc(2 * room * sizeof *s->storage);
    s->side = malloc((s->row > STRIP ? s->row : STRIP) * sizeof *s->side);
    if (!s->storage || !s->side) {
        ergo_serial_free(s);
        return false;
    }
    memset(s->storage, 0xff, 2 * room * sizeof *s->storage);
    s->colour[0] = s->storage + s->row;
    s->colour[1] = s->storage + room + s->row;
    for (int k = 0; k < 2; k++) {
        s->threshold[k] = (uint64_t)llround(ldexp(exp((k == 0 ? -8.0 : -4.0) / temperature), 39));
        for (int j = 0; j < ERGO_SERIAL_BITS; j++)
            s->mask[j][k] = 0 - (s->threshold[k] >> (ERGO_SERIAL_BITS - 1 - j) & 1);
    }
    uint64_t seed = stream;
    for (int i = 0; i < 4; i++) {
        s->sequential[i] = ergo_oracle_splitmix64(&seed);
        for (int l = 0; l < LANES; l++)
            s->parallel[i][l] = ergo_oracle_splitmix64(&seed);
    }
    return true;
}

void ergo_serial_free(struct ergo_serial *s) {
    free(s->storage);
    free(s->side);
    s->storage = s->side = NULL;
}

double ergo_serial_energy(const struct ergo_serial *s) {
    int64_t unequal = 0;
    for (size_t y = 0; y < s->ly; y++) {
        const size_t first = y * s->row;
        const uint64_t *own = s->colour[0] + first, *same = s->colour[1] + first;
        gather_side(same, s->side, s->row, y & 1);
        for (size_t w = 0; w < s->row; w++)
            unequal += __builtin_popcountll(own[w] ^ same[w]) +
                       __builtin_popcountll(own[w] ^ s->side[w]) +
                       __builtin_popcountll(own[w] ^ *(same + w - s->row)) +
                       __builtin_popcountll(own[w] ^ same[w + s->row]);
    }
    return -2.0 + 2.0 * (double)unequal / ((double)s->lx * (double)s->ly);
}
