/*
 * The benchmark of ergocl: answers first, then rates, then their share of what the device could do.
 *
 *     bench.c     options, the list of cases, the order of things
 *     suites.c    the array of suites
 *     SUITE.c     cases of a sampler, their check, their cost, serial programs: all that is its own
 *     serial_*.c  those serial programs
 *     run.c       a batch on a device, and three clocks around it
 *     ceilings.c  what the device can do: Philox, arithmetic, copies
 *     measure.c   rates, and their limits
 *     peer.c      the serial programs beside ergocl, in turns
 *     explore.c   rates over launch shapes
 *     report.c    the table and the JSON file
 */
#ifndef ERGO_BENCH_BENCH_H
#define ERGO_BENCH_BENCH_H

#include "samplers/sampler.h"

/* Classes of a case: where it is measured. AS_GIVEN: a run that users make, whose whole run has the
 * job's own number of sweeps. */
enum { ERGO_BENCH_GPU = 1, ERGO_BENCH_CPU = 2, ERGO_BENCH_AS_GIVEN = 4 };
enum { ERGO_BENCH_REPEATS = 9, ERGO_BENCH_PEERS = 4, ERGO_BENCH_CEILINGS_MAX = 16 };

struct ergo_bench;
struct ergo_bench_run;

/* ---- what a suite brings ----------------------------------------------------------------------
 */

struct ergo_bench_case {
    const char *name;
    unsigned classes; /* ERGO_BENCH_... */
    /* JSON without seed and tuning; one batch. Its measure_every is that of the rate with
     * measurement. */
    const char *job;
};

/* What the device can do, measured in the same run. */
enum ergo_bench_resource {
    ERGO_BENCH_PHILOX,  /* Philox4x32-10 calls, of 128 bits */
    ERGO_BENCH_FMA,     /* fp32 multiply-adds */
    ERGO_BENCH_INTEGER, /* additions and logic of 32 bits */
    ERGO_BENCH_COPY,    /* bytes, read and written */
    ERGO_BENCH_RESOURCES
};

struct ergo_bench_ceiling {
    const char *key, *label; /* in the JSON file (without _per_ns); for people */
    double rate, per_core;   /* per ns by the clock, and of processor time */
};

/* A serial C program that ergocl has to beat on one core. */
struct ergo_bench_peer {
    const char *name;
    int variant; /* handed to start */
    enum ergo_status (*start)(struct ergo_context *ctx, const struct ergo_point *point, int variant,
                              void **program);
    double (*step)(void *program, uint64_t steps); /* returns the work done, in units of the rate */
    void (*stop)(void *program);                   /* NULL-safe */
};

/* Values of a tunable to explore; ends with 0. */
struct ergo_bench_axis {
    const char *tunable;
    unsigned values[8];
};

struct ergo_bench_suite {
    const char *sampler;
    const struct ergo_bench_case *cases;
    size_t n_cases;
    /* Is the answer right? Appends sentences to `verdict`; sets *ok (true before) to false: then no
     * rate is measured. */
    enum ergo_status (*check)(struct ergo_bench *bench, const struct ergo_bench_case *what,
                              struct ergo_text *verdict, bool *ok);
    /* The least that a unit of work costs of each resource, by the algorithm and the path of this
     * run; 0 before. Operations that share a pipe are counted under one resource. NULL: no limit
     * known. */
    void (*cost)(const struct ergo_bench_run *run, double cost[ERGO_BENCH_RESOURCES]);
    /* Share of the plan's units of work that `peers` count too. Called after the timing, may change
     * the run. NULL: 1. */
    enum ergo_status (*useful)(struct ergo_bench_run *run, double *share);
    /* A ceiling of the suite's own, e.g. its kernels without memory, for information; may be NULL.
     */
    enum ergo_status (*ceiling)(struct ergo_bench *bench, struct ergo_bench_ceiling *out);
    /* Serial programs, measured on CPUs; `check_peers` as `check`. */
    const struct ergo_bench_peer *peers;
    size_t n_peers; /* at most ERGO_BENCH_PEERS */
    enum ergo_status (*check_peers)(struct ergo_bench *bench, const struct ergo_bench_case *what,
                                    struct ergo_text *verdict, bool *ok);
    /* For --explore, the slowest to change first. */
    const struct ergo_bench_axis *axes;
    size_t n_axes;
};

/* suites.c */
extern const struct ergo_bench_suite *const ergo_bench_suites[];
extern const size_t ergo_bench_n_suites;

/* ---- a batch on a device: run.c ---------------------------------------------------------------
 */

struct ergo_bench_run {
    struct ergo_context *ctx;
    struct ergo_device *device;
    struct ergo_job *job;
    const struct ergo_batch *batch;
    const struct ergo_sampler *sampler;
    struct ergo_plan plan;
    void *state; /* NULL: only planned */
};

/* Seconds by the host's clock, by the processor time of this process, and by device events (< 0:
 * the device has none). */
struct ergo_bench_clocks {
    double wall, cpu, device;
};

/* Parse and plan only. `sets` (ends with NULL, may be NULL): "/tuning/path=2", as ergocl run --set.
 */
enum ergo_status ergo_bench_plan(struct ergo_bench *bench, const char *job, const char *const *sets,
                                 unsigned seed, struct ergo_bench_run *run);
/* Create what was planned, at step 0. */
enum ergo_status ergo_bench_create(struct ergo_bench_run *run);
/* Plan and create; nothing to close after a failure. */
enum ergo_status ergo_bench_open(struct ergo_bench *bench, const char *job, const char *const *sets,
                                 unsigned seed, struct ergo_bench_run *run);
void ergo_bench_close(struct ergo_bench_run *run);
/* Steps alone, and wait. clocks may be NULL. */
enum ergo_status ergo_bench_steps(struct ergo_bench_run *run, uint64_t steps,
                                  struct ergo_bench_clocks *clocks);
/* Samples per block at the beginning of a run. */
size_t ergo_bench_block(const struct ergo_bench_run *run, uint64_t every);
/* `samples` times (`every` steps and a measurement), two blocks in flight as in a run. columns (may
 * be NULL): [samples][members][columns of the sampler]. */
enum ergo_status ergo_bench_sample(struct ergo_bench_run *run, size_t samples, uint64_t every,
                                   double *columns, struct ergo_bench_clocks *clocks);
/* Hash over the canonical states of the first members, at most `most`. */
enum ergo_status ergo_bench_digest(struct ergo_bench_run *run, size_t most, uint64_t *digest);
/* For suites' checks: compares the digests of a case (its first members, at most `most`) after
 * `steps` by the automatic choice and by another. Appends a sentence, and sets *ok to false when
 * they differ. If the plan ignores `sets`, the sentence says so. */
enum ergo_status ergo_bench_check_digests(struct ergo_bench *bench, const char *job,
                                          const char *const *sets, uint64_t steps, size_t most,
                                          struct ergo_text *verdict, bool *ok);
/* Likewise against a serial program, which appends a member's canonical state after as many steps.
 * *plan: that of the run. */
typedef enum ergo_status ergo_bench_oracle(struct ergo_context *ctx, const struct ergo_point *point,
                                           struct ergo_text *state);
enum ergo_status ergo_bench_same_as(struct ergo_bench *bench, const char *job,
                                    const char *const *sets, uint64_t steps,
                                    ergo_bench_oracle *oracle, struct ergo_plan *plan, bool *same);
double ergo_bench_wall(void);
double ergo_bench_cpu(void);        /* of the process */
double ergo_bench_thread_cpu(void); /* of this thread */

/* ---- ceilings.c -------------------------------------------------------------------------------
 */

/* A kernel (__global uint *out, uint rounds, uint key) without inputs: out[get_global_id(0)] is
 * written at the end so that nothing is optimised away; `key` is some number. */
struct ergo_bench_probe {
    const char *before, *path; /* text, then cl/path flattened, */
    const char *source;        /* then text */
    const char *options;       /* added to the device's options */
    const char *kernel;
    double work; /* of a work-item and round */
};
/* Keeps the higher of this rate and the earlier one. */
enum ergo_status ergo_bench_probe(struct ergo_bench *bench, const struct ergo_bench_probe *probe,
                                  struct ergo_bench_ceiling *out);
enum ergo_status ergo_bench_ceilings_measure(struct ergo_bench *bench);

/* ---- rates ------------------------------------------------------------------------------------
 */

/* Spread of repeated rates. */
struct ergo_bench_rate {
    size_t n;
    double median, least, most; /* 1/ns */
};

/* Wall time of a whole run, and of the sampling in it; work per ns of all. */
struct ergo_bench_whole {
    uint64_t steps;
    double seconds, sampling, rate;
};

struct ergo_bench_result {
    const struct ergo_bench_suite *suite;
    const struct ergo_bench_case *what;
    bool ok;
    char check[384], path[64], launch[256];
    size_t members;
    uint64_t steps;                                          /* of one repetition */
    struct ergo_bench_rate wall, device, measured, per_core; /* units of work per ns */
    struct ergo_bench_whole whole;
    double cores; /* processor time over wall time, median */
    double limit; /* on CPUs per core in use; INFINITY: not known */
    double share; /* of it */
    const char *limited_by;
    double useful; /* see struct ergo_bench_suite */
    /* Serial programs, per ns of processor time, taken in turns; and ergocl's useful work over each
     * in each turn. */
    bool peers_ok;
    char peers_check[384];
    struct ergo_bench_rate ergocl, peers[ERGO_BENCH_PEERS], ratio[ERGO_BENCH_PEERS];
};

/* A case as a file of results/ has it. */
struct ergo_bench_recorded {
    char device[64], platform[80], date[16], sampler[32], name[64];
    uint64_t job; /* hash of its text */
    double median, least, most;
};

struct ergo_bench {
    struct ergo_context *ctx;
    struct ergo_device *device;
    const char *selector; /* of the device; NULL: not given */
    bool gpu;
    double seconds;                                              /* of timing per case */
    struct ergo_bench_ceiling ceilings[ERGO_BENCH_CEILINGS_MAX]; /* resources, then suites' own */
    size_t n_ceilings;
    struct ergo_bench_result *results;
    size_t n_results;
    struct ergo_bench_recorded *recorded;
    size_t n_recorded;
    const char *commit, *date, *note;
    bool failed; /* a check */
};

/* measure.c */
struct ergo_bench_rate ergo_bench_rate_of(double *values, size_t n);
/* Steps that take about `seconds`. */
enum ergo_status ergo_bench_calibrate(struct ergo_bench_run *run, double seconds, uint64_t *steps);
enum ergo_status ergo_bench_measure(struct ergo_bench *bench, struct ergo_bench_result *result);

/* peer.c: also their check */
enum ergo_status ergo_bench_peers_measure(struct ergo_bench *bench,
                                          struct ergo_bench_result *result);

/* explore.c: prints as it goes; ends after `seconds`. */
enum ergo_status ergo_bench_explore(struct ergo_bench *bench, const struct ergo_bench_suite *suite,
                                    const struct ergo_bench_case *what, double seconds);

/* recorded.c: reads all *.json of a folder; prints those of a case as lines of the table. */
enum ergo_status ergo_bench_recorded_read(struct ergo_bench *bench, const char *folder);
void ergo_bench_recorded_print(const struct ergo_bench *bench, const struct ergo_bench_result *r,
                               double factor);

/* whole.c: `ergocl run` of so many steps, as a process; work: of a step. */
enum ergo_status ergo_bench_whole_run(struct ergo_bench *bench, const char *job, double work,
                                      uint64_t steps, struct ergo_bench_whole *whole);

/* report.c */
/* "trial moves": the sampler's unit of work. */
const char *ergo_bench_unit(const char *sampler, char text[64]);
/* The factor that makes a rate in 1/ns readable, and the name of the unit: "/ns", " M/s". */
double ergo_bench_scale(double rate, const char **name);
void ergo_bench_print(const struct ergo_bench *bench);
enum ergo_status ergo_bench_write(const struct ergo_bench *bench, const char *path);

#endif
