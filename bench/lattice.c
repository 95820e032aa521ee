/*
 * Facilitated dynamics (north-east at c = 0.42; an update is an attempt in one realisation) and
 * models with a byte per spin (Potts at Tc, Ising in three dimensions, in a random field). Each
 * case gives the bits of another path or group; kernels are bit for bit the plain oracles' in the
 * kernel tests.
 */
#include "bench.h"

#include <string.h>

#define JOB(system, every, more)                                                                   \
    "{\"sampler\": \"spin-lattice\", \"system\": {" system "}, \"run\": {\"sweeps\": 1000, "       \
    "\"measure_every\": " #every more "}}"
#define BYTES(system) JOB(system, 10, ", \"correlation_every\": 0")
/* Many lattices of 16^3 at the critical temperature. */
#define CUBES(chains)                                                                              \
    "{\"sampler\": \"spin-lattice\", \"system\": {\"model\": \"ising\", \"size\": [16, 16, 16], "  \
    "\"temperature\": 4.5115, \"start\": \"up\"}, \"replicas\": " #chains                          \
    ", \"run\": {\"sweeps\": 1000, \"measure_every\": 10, \"correlation_every\": 0}}"
#define NORTH_EAST(size, realisations, more)                                                       \
    JOB("\"model\": \"north-east\", \"up_density\": 0.42, \"size\": [" size                        \
        "], \"realisations\": " #realisations more,                                                \
        100, "")
#define LAMBDA(n) ", \"method\": \"lambda\", \"lambda\": " #n

enum { GPU = ERGO_BENCH_GPU, CPU = ERGO_BENCH_CPU };
static const struct ergo_bench_case cases[] = {
    {"north-east-512-32", GPU, NORTH_EAST("512, 512", 32, "")},
    {"north-east-512-1024", GPU, NORTH_EAST("512, 512", 1024, "")},
    {"north-east-512-32-lambda-16", GPU, NORTH_EAST("512, 512", 32, LAMBDA(16))},
    {"north-east-512-1024-lambda-16", GPU, NORTH_EAST("512, 512", 1024, LAMBDA(16))},
    {"potts-3-16384", GPU,
     BYTES("\"model\": \"potts\", \"q\": 3, \"size\": [16384, 16384], \"temperature\": 0.99497, "
           "\"start\": \"up\"")},
    {"potts-3-16384-heat-bath", GPU,
     BYTES("\"model\": \"potts\", \"q\": 3, \"size\": [16384, 16384], \"temperature\": 0.99497, "
           "\"start\": \"up\", \"dynamics\": \"heat-bath\"")},
    {"ising-512-cubed", GPU,
     BYTES("\"model\": \"ising\", \"size\": [512, 512, 512], \"temperature\": 4.5115, \"start\": "
           "\"up\"")},
    {"replicas-16x16-cubed", GPU, CUBES(16)},
    {"replicas-4096x16-cubed", GPU, CUBES(4096)},
    {"ising-16384-random-field", GPU,
     BYTES("\"model\": \"ising\", \"size\": [16384, 16384], \"temperature\": 2, \"random_field\": "
           "1")},
    {"ising-16384-field", GPU,
     BYTES("\"model\": \"ising\", \"size\": [16384, 16384], \"temperature\": 2, \"couplings\": [1, "
           "1], "
           "\"field\": 0.1")},
    {"north-east-128-64", CPU, NORTH_EAST("128, 128", 64, "")},
    {"potts-3-1024", CPU,
     BYTES("\"model\": \"potts\", \"q\": 3, \"size\": [1024, 1024], \"temperature\": 0.99497, "
           "\"start\": \"up\"")},
    {"ising-64-cubed", CPU,
     BYTES("\"model\": \"ising\", \"size\": [64, 64, 64], \"temperature\": 4.5115, \"start\": "
           "\"up\"")},
};

static bool is_facilitated(const struct ergo_bench_case *what) {
    return strncmp(what->name, "north-east", 10) == 0;
}

static enum ergo_status check(struct ergo_bench *bench, const struct ergo_bench_case *what,
                              struct ergo_text *verdict, bool *ok) {
    static const char *const path[] = {"/tuning/path=1", NULL};
    static const char *const halves[] = {"/tuning/path=3", NULL};
    static const char *const group[] = {"/tuning/work_group=32", NULL};
    const bool exact = is_facilitated(what) && !strstr(what->job, "lambda");
    const bool cubes = strncmp(what->name, "replicas", 8) == 0;
    return ergo_bench_check_digests(bench, what->job,
                                    exact   ? path
                                    : cubes ? halves
                                            : group,
                                    exact ? 3 : 9, 1, verdict, ok);
}

/*
 * Facilitated: of the 32 realisations of an attempt, a first Philox call for all and a second one
 * for four in five (north-east at c = 0.42). A byte per spin: a quarter of a call (heat bath of
 * potts: a whole one); own byte in and out, one of the other colour.
 */
static void cost(const struct ergo_bench_run *run, double cost[ERGO_BENCH_RESOURCES]) {
    const struct ergo_point *point = run->batch->points[0];
    const bool heat = strcmp(ergo_point_text(point, "/system/dynamics"), "heat-bath") == 0;
    if (strcmp(ergo_point_text(point, "/system/model"), "north-east") == 0) {
        cost[ERGO_BENCH_PHILOX] = 1.8 / 32;
        return;
    }
    cost[ERGO_BENCH_PHILOX] =
        heat && strcmp(ergo_point_text(point, "/system/model"), "potts") == 0 ? 1 : 0.25;
    if (run->plan.largest_buffer > (uint64_t)48 << 20)
        cost[ERGO_BENCH_COPY] = 3;
}

static const struct ergo_bench_axis axes[] = {
    {"path", {1, 2, 3}},
    {"work_group", {256, 128, 64}},
    {"tile_rows", {1, 2, 4, 8}},
};

const struct ergo_bench_suite ergo_bench_lattice = {
    .sampler = "spin-lattice",
    .cases = cases,
    .n_cases = sizeof cases / sizeof cases[0],
    .check = check,
    .cost = cost,
    .axes = axes,
    .n_axes = sizeof axes / sizeof axes[0],
};
