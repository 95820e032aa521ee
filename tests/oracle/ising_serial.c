/* See ising_serial.h for the definition. Written for plainness, not for speed. */
#include "ising_serial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* SplitMix64 (G. L. Steele, D. Lea and C. H. Flood, OOPSLA 2014): golden-ratio steps, mixed. */
static uint64_t next_sequential(uint64_t *state) {
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static int8_t *site(const struct ergo_oracle_ising *o, int x, int y) {
    return &o->spins[y * o->Lx + x];
}

static int neighbour_sum(const struct ergo_oracle_ising *o, int x, int y) {
    int right = (x + 1) % o->Lx, left = (x + o->Lx - 1) % o->Lx;
    int below = (y + 1) % o->Ly, above = (y + o->Ly - 1) % o->Ly;
    return *site(o, right, y) + *site(o, left, y) + *site(o, x, below) + *site(o, x, above);
}

static double flip_probability(const struct ergo_oracle_ising *o, int s, int nn) {
    double dE = 2.0 * s * (o->J * nn + o->B);
    if (o->dynamics == ERGO_ORACLE_HEAT_BATH)
        return 1.0 / (1.0 + exp(dE / o->T));
    return dE <= 0 ? 1.0 : exp(-dE / o->T);
}

uint64_t ergo_oracle_ising_threshold(const struct ergo_oracle_ising *o, int s, int nn) {
    return (uint64_t)llround(ldexp(flip_probability(o, s, nn), 39));
}

static int words_per_row(const struct ergo_oracle_ising *o) {
    int h = o->Lx / 2;
    return (h + 31) / 32;
}

static void draw_words(const struct ergo_oracle_ising *o, int block, uint64_t t, uint32_t purpose,
                       uint32_t draw, uint32_t out[4]) {
    uint32_t counter[4] = {(uint32_t)block, (uint32_t)t, (uint32_t)(t >> 32),
                           (purpose << 24) | draw};
    o->block(counter, o->key, out);
}

/* The site of a lane and bit of a block; false: there is none. */
static bool find_site(const struct ergo_oracle_ising *o, int colour, int block, int lane, int bit,
                      int *x, int *y) {
    int word = 4 * block + lane;
    int k = word % words_per_row(o) * 32 + bit;
    *y = word / words_per_row(o);
    *x = 2 * k + ((*y + colour) & 1);
    return *y < o->Ly && k < o->Lx / 2;
}

static int count_blocks(const struct ergo_oracle_ising *o) {
    return (words_per_row(o) * o->Ly + 3) / 4;
}

static void update_block(struct ergo_oracle_ising *o, uint64_t t, int colour, int block) {
    const uint64_t always = (uint64_t)1 << 39;
    uint32_t planes[7][4];
    for (uint32_t j = 0; j < 7; j++)
        draw_words(o, block, t, 1 + (uint32_t)colour, j, planes[j]);
    uint32_t undecided = 0;
    for (int lane = 0; lane < 4; lane++) {
        for (int bit = 0; bit < 32; bit++) {
            int x, y;
            if (!find_site(o, colour, block, lane, bit, &x, &y))
                continue;
            /* Neighbours have the other colour: flipping at once changes no later decision. */
            int8_t *s = site(o, x, y);
            uint64_t threshold = ergo_oracle_ising_threshold(o, *s, neighbour_sum(o, x, y));
            bool flip;
            if (threshold == always) {
                flip = true;
            } else {
                uint32_t high = 0;
                for (int j = 0; j < 7; j++)
                    high = 2 * high + (planes[j][lane] >> bit & 1);
                uint32_t threshold_high = (uint32_t)(threshold >> 32);
                if (high == threshold_high) {
                    uint32_t rest[4];
                    draw_words(o, block, t, 1 + (uint32_t)colour, 7 + undecided / 4, rest);
                    flip = rest[undecided % 4] < (uint32_t)(threshold & 0xffffffff);
                    undecided++;
                } else {
                    flip = high < threshold_high;
                }
            }
            if (flip)
                *s = (int8_t) - *s;
        }
    }
}

static void update_sequential(struct ergo_oracle_ising *o, int colour) {
    for (int y = 0; y < o->Ly; y++) {
        for (int x = (y + colour) & 1; x < o->Lx; x += 2) {
            int8_t *s = site(o, x, y);
            double u = ldexp((double)(next_sequential(&o->sequential) >> 11), -53);
            if (u < flip_probability(o, *s, neighbour_sum(o, x, y)))
                *s = (int8_t) - *s;
        }
    }
}

void ergo_oracle_ising_sweep(struct ergo_oracle_ising *o, uint64_t t) {
    for (int colour = 0; colour < 2; colour++) {
        if (o->block == NULL) {
            update_sequential(o, colour);
            continue;
        }
        for (int block = 0; block < count_blocks(o); block++)
            update_block(o, t, colour, block);
    }
}

static void start_random(struct ergo_oracle_ising *o) {
    if (o->block == NULL) {
        for (int i = 0; i < o->Lx * o->Ly; i++)
            o->spins[i] = next_sequential(&o->sequential) >> 63 ? 1 : -1;
        return;
    }
    for (int colour = 0; colour < 2; colour++) {
        for (int block = 0; block < count_blocks(o); block++) {
            uint32_t bits[4];
            draw_words(o, block, 0, 3, (uint32_t)colour, bits);
            for (int lane = 0; lane < 4; lane++) {
                for (int bit = 0; bit < 32; bit++) {
                    int x, y;
                    if (find_site(o, colour, block, lane, bit, &x, &y))
                        *site(o, x, y) = (bits[lane] >> bit & 1) ? 1 : -1;
                }
            }
        }
    }
}

bool ergo_oracle_ising_init(struct ergo_oracle_ising *o, int Lx, int Ly, double J, double B,
                            double T, enum ergo_oracle_dynamics dynamics,
                            enum ergo_oracle_start start, ergo_oracle_block block,
                            uint64_t stream) {
    memset(o, 0, sizeof *o);
    if (Lx < 2 || Ly < 2 || Lx % 2 != 0 || Ly % 2 != 0 || !(T > 0))
        return false;
    o->Lx = Lx;
    o->Ly = Ly;
    o->J = J;
    o->B = B;
    o->T = T;
    o->dynamics = dynamics;
    o->block = block;
    o->key[0] = (uint32_t)stream;
    o->key[1] = (uint32_t)(stream >> 32);
    o->sequential = stream;
    o->spins = malloc((size_t)Lx * (size_t)Ly);
    if (o->spins == NULL)
        return false;
    if (start == ERGO_ORACLE_RANDOM)
        start_random(o);
    else
        memset(o->spins, start == ERGO_ORACLE_UP ? 1 : -1, (size_t)Lx * (size_t)Ly);
    return true;
}

void ergo_oracle_ising_free(struct ergo_oracle_ising *o) {
    free(o->spins);
    o->spins = NULL;
}

int ergo_oracle_ising_spin(const struct ergo_oracle_ising *o, int x, int y) {
    return *site(o, x, y);
}

int64_t ergo_oracle_ising_magnetization(const struct ergo_oracle_ising *o) {
    int64_t sum = 0;
    for (int i = 0; i < o->Lx * o->Ly; i++)
        sum += o->spins[i];
    return sum;
}

int64_t ergo_oracle_ising_bonds(const struct ergo_oracle_ising *o) {
    int64_t sum = 0;
    for (int y = 0; y < o->Ly; y++)
        for (int x = 0; x < o->Lx; x++)
            sum += *site(o, x, y) * (*site(o, (x + 1) % o->Lx, y) + *site(o, x, (y + 1) % o->Ly));
    return sum;
}

double ergo_oracle_ising_energy(const struct ergo_oracle_ising *o) {
    double n = (double)o->Lx * o->Ly;
    return (-o->J * (double)ergo_oracle_ising_bonds(o) -
            o->B * (double)ergo_oracle_ising_magnetization(o)) /
           n;
}
