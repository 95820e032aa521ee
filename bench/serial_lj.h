/*
 * A plain serial grand canonical Lennard-Jones program with a cell list, in double precision: what
 * one would write for one core. It shares nothing with ergocl.
 */
#ifndef ERGO_BENCH_SERIAL_LJ_H
#define ERGO_BENCH_SERIAL_LJ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ERGO_SERIAL_LJ_ROOM = 64 }; /* particles of a cell; one more is an error */

struct ergo_serial_lj_cell {
    int n;
    double x[ERGO_SERIAL_LJ_ROOM], y[ERGO_SERIAL_LJ_ROOM], z[ERGO_SERIAL_LJ_ROOM];
    int who[ERGO_SERIAL_LJ_ROOM]; /* its place in the list of particles */
};

struct ergo_serial_lj {
    double side[3], cutoff2, beta, zv;
    int n[3]; /* cells along an axis */
    struct ergo_serial_lj_cell *cells;
    struct {
        int cell, slot;
    } * particles;
    size_t count, room;
    double energy, virial; /* running */
    uint64_t random[4];    /* xoshiro256++ */
    bool failed;           /* no room */
};

/* `count` particles on a lattice; false: no memory, or a box of fewer than three cells a side. */
bool ergo_serial_lj_start(struct ergo_serial_lj *s, const double side[3], double cutoff,
                          double temperature, double activity, size_t count, uint64_t seed);
/* Trial moves: 30% displacements to anywhere, 35% insertions, 35% deletions. */
void ergo_serial_lj_moves(struct ergo_serial_lj *s, uint64_t moves);
/* The energy from scratch. */
double ergo_serial_lj_total(const struct ergo_serial_lj *s);
void ergo_serial_lj_free(struct ergo_serial_lj *s);

#endif
