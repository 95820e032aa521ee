/* The suites; nothing else in the program knows a sampler. */
#include "bench.h"

extern const struct ergo_bench_suite ergo_bench_ising, ergo_bench_hard_disks;

const struct ergo_bench_suite *const ergo_bench_suites[] = {
    &ergo_bench_ising,
    &ergo_bench_hard_disks,
};
const size_t ergo_bench_n_suites = sizeof ergo_bench_suites / sizeof ergo_bench_suites[0];
