/*
 * Fourier transforms of meshes whose sides are powers of two. For analyses that want sums over all
 * pairs of points, or all wave vectors, at once.
 */
#ifndef ERGO_STATS_FOURIER_H
#define ERGO_STATS_FOURIER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * F(k) = sum over z of f(z) exp(-2 pi i (k_x z_x / n_x + k_y z_y / n_y)), in place. A mesh has
 * n[0] columns and n[1] rows, row by row; both sides are powers of two. False: no memory.
 *
 * mesh: [n[1]][n[0]] complex numbers, real and imaginary part in turn.
 */
bool ergo_fourier_plane(double *mesh, const size_t n[2]);

/* The same of a real mesh of n[2] planes, one for a plane, into the columns k_x = 0 to n[0] / 2
 * (the others are F(-k) = conj F(k)): half, [n[2]][n[1]][n[0] / 2 + 1] complex numbers. mesh:
 * [n[2]][n[1]][n[0]] numbers. n[1] >= 2. */
bool ergo_fourier_real(const double *mesh, const size_t n[3], double *half);

#endif
