/* The suites; nothing else in the program knows a sampler. */
#include "bench.h"

extern const struct ergo_bench_suite ergo_bench_ising, ergo_bench_hard_disks, ergo_bench_glass,
    ergo_bench_helium, ergo_bench_lattice, ergo_bench_lj, ergo_bench_potts;

const struct ergo_bench_suite *const ergo_bench_suites[] = {
    &ergo_bench_ising,   &ergo_bench_hard_disks, &ergo_bench_glass, &ergo_bench_helium,
    &ergo_bench_lattice, &ergo_bench_lj,         &ergo_bench_potts,
};
const size_t ergo_bench_n_suites = sizeof ergo_bench_suites / sizeof ergo_bench_suites[0];
