/*
 * Serial C programs for hard disks, to measure PoCL against: plain Metropolis Monte Carlo of N
 * disks of diameter 1 in a periodic square box, one trial move at a time, cells at least 1 wide to
 * find neighbours, displacements uniform in a square whose mean square is that of ergocl's circle.
 * Nothing is shared with ergocl.
 *
 *  - ERGO_SERIAL_DISKS_RANDOM: the usual way. A disk drawn at random, doubles, lists of disks by
 *    cell, the search ends at the first overlap.
 *  - ERGO_SERIAL_DISKS_VECTORS: what the compiler can make vectors of. Disks in a fixed order,
 *    floats relative to the cell, four places a cell of which empty ones hold a disk far away,
 * cells of a row next to each other (periodic images around the box): all distances without a
 * branch, of which that to the disk itself, and no other, may be below 1.
 */
#ifndef ERGO_BENCH_SERIAL_DISKS_H
#define ERGO_BENCH_SERIAL_DISKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ergo_serial_disks_kind { ERGO_SERIAL_DISKS_RANDOM, ERGO_SERIAL_DISKS_VECTORS };

struct ergo_serial_disks {
    enum ergo_serial_disks_kind kind;
    uint32_t n, m;          /* disks; cells a side */
    double box, cell, half; /* lengths; largest displacement along an axis */
    uint64_t random[4];     /* xoshiro256++ */
    uint64_t accepted;
    /* random */
    double *x, *y;
    uint32_t *list, *around; /* [cells][4], [cells][9] */
    uint8_t *count;
    /* vectors: (m + 2)^2 cells, and one that is never filled */
    float *px, *py;          /* [cells][4] */
    uint32_t *label, *where; /* of a place, its disk; of a disk, its place */
};

/* A square lattice; `displacement`: radius of the circle that ergocl draws from. False: it does not
 * fit, the box is smaller than three cells, or no memory. */
bool ergo_serial_disks_init(struct ergo_serial_disks *s, size_t n, double box, double displacement,
                            enum ergo_serial_disks_kind kind, uint64_t seed);
void ergo_serial_disks_free(struct ergo_serial_disks *s);
/* A sweep is n trial moves. */
void ergo_serial_disks_sweeps(struct ergo_serial_disks *s, uint64_t count);
/* All positions, 0 <= x, y < box. */
void ergo_serial_disks_positions(const struct ergo_serial_disks *s, double *x, double *y);

#endif
