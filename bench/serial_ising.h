/*
 * A serial C program for the physics of ergocl's Ising sampler, to measure PoCL against: what a
 * good programmer writes for one core without intrinsics. Checkerboard Metropolis on a periodic
 * lattice, J = 1, B = 0, 64 spins of one colour to a word, the random number compared bit by bit
 * with the exact 39-bit threshold for all spins of a word at once, until none is undecided.
 *
 * Layout: row y of colour c holds the sites x = 2k + ((y + c) & 1), k = 0 .. Lx/2 - 1; site k is
 * bit k % 64 of word k / 64. Lx must be a multiple of 128, Ly even.
 */
#ifndef ERGO_BENCH_SERIAL_ISING_H
#define ERGO_BENCH_SERIAL_ISING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ergo_serial_generator {
    ERGO_SERIAL_XOSHIRO,  /* xoshiro256++, one stream, a word at a time */
    ERGO_SERIAL_XOSHIRO8, /* eight streams side by side, which the compiler makes vectors of */
    ERGO_SERIAL_PHILOX,   /* ergocl's own chain: the same bits as a job with the same stream */
};

enum { ERGO_SERIAL_BITS = 39 };

struct ergo_serial {
    size_t lx, ly, row, words;     /* words of 64 spins: in a row, in a colour */
    uint64_t *storage, *colour[2]; /* each with a row before and one behind: its periodic images */
    uint64_t *side;                /* the fourth neighbour of a strip's spins */
    enum ergo_serial_generator generator;
    uint64_t threshold[2]; /* flip probability times 2^39, four and three satisfied bonds */
    uint64_t mask[ERGO_SERIAL_BITS][2]; /* its bits, highest first, as words */
    uint64_t stream, sweep;
    uint64_t sequential[4]; /* state of xoshiro256++ */
    uint64_t parallel[4][8];
};

/* All spins up. False: wrong sides, or no memory. */
bool ergo_serial_init(struct ergo_serial *s, size_t lx, size_t ly, double temperature,
                      enum ergo_serial_generator generator, uint64_t stream);
void ergo_serial_free(struct ergo_serial *s);
void ergo_serial_sweeps(struct ergo_serial *s, uint64_t count);
/* U/N. */
double ergo_serial_energy(const struct ergo_serial *s);
/* Philox4x32-10, one block. */
void ergo_serial_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif
