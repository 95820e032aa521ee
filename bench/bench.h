/*
 * The benchmark of ergocl: answers first, then rates, then their share of what the device could do.
 *
 *     bench.c     options, the list of cases, the order of things
 *     run.c       a batch on a device, and three clocks around it
 *     check.c     answers: the serial oracle, two paths, exact energies
 *     ceilings.c  what the device can do: Philox, decisions without memory, copies
 *     measure.c   rates
 *     serial.c    the serial C program beside PoCL
 *     explore.c   rates over launch shapes
 *     report.c    the table and the JSON file
 */
#ifndef ERGO_BENCH_BENCH_H
#define ERGO_BENCH_BENCH_H

#include "samplers/spin_lattice/ising.h"

#define ERGO_BENCH_TC "2.269185314213022"
enum { ERGO_BENCH_REPEATS = 9 };

/* A batch to measure: always J = 1, B = 0, all spins up at the start. */
struct ergo_bench_case {
    const char *name;
    unsigned classes; /* ERGO_BENCH_GPU, ERGO_BENCH_CPU */
    size_t lx, ly, replicas;
    bool scan; /* the 31 temperatures of data/jobs/quickstart.json instead of Tc */
};
enum { ERGO_BENCH_GPU = 1, ERGO_BENCH_CPU = 2 };

/* Launch parameters as in a job's /tuning; 0: automatic. */
struct ergo_bench_shape {
    unsigned path, group, sweeps, rows, lanes;
};

/* A batch ready to run. */
struct ergo_bench_run {
    struct ergo_context *ctx;
    struct ergo_device *device;
    struct ergo_job *job;
    const struct ergo_batch *batch;
    const struct ergo_sampler *sampler;
    struct ergo_plan plan;
    void *state;
    double spins; /* of all members */
};

/* Seconds by the host's clock, by the processor time of this process, and by device events (< 0:
 * the device has none). */
struct ergo_bench_clocks {
    double wall, cpu, device;
};

/* Spread of repeated rates. */
struct ergo_bench_rate {
    size_t n;
    double median, least, most; /* 1/ns */
};

struct ergo_bench_ceilings {
    double philox;                 /* calls (of 128 bits) per ns */
    double decide;                 /* decisions per ns, nothing loaded or stored */
    double copy;                   /* bytes per ns, read and written */
    double philox_cpu, decide_cpu; /* the same per ns of processor time */
};

struct ergo_bench_result {
    const struct ergo_bench_case *what;
    bool ok;
    char check[256], path[64], launch[256];
    uint64_t sweeps;                                         /* of one repetition */
    struct ergo_bench_rate wall, device, measured, per_core; /* updates per ns */
    double cores; /* processor time over wall time, median */
    double limit; /* updates per ns; on CPUs per core in use */
    double share; /* of it */
    const char *limited_by;
};

enum { ERGO_BENCH_SERIALS = 3 };
extern const char *const ergo_bench_serial_names[ERGO_BENCH_SERIALS];
struct ergo_bench_serial {
    const struct ergo_bench_case *what;
    bool ok;
    char check[256];
    /* Updates per ns of processor time, taken in turns; and of ergocl over that of the serial
     * program in each turn. */
    struct ergo_bench_rate serial[ERGO_BENCH_SERIALS], ratio[ERGO_BENCH_SERIALS], ergocl;
};

struct ergo_bench {
    struct ergo_context *ctx;
    struct ergo_device *device;
    bool gpu;
    double seconds; /* of timing per case */
    struct ergo_bench_ceilings ceilings;
    struct ergo_bench_result *results;
    size_t n_results;
    struct ergo_bench_serial *serials;
    size_t n_serials;
    const char *commit, *date, *note;
    bool failed; /* a check */
};

/* run.c. `seed`: of the job; `every`: measure_every. */
enum ergo_status ergo_bench_open(struct ergo_context *ctx, struct ergo_device *device,
                                 const struct ergo_bench_case *what,
                                 const struct ergo_bench_shape *shape, unsigned seed,
                                 struct ergo_bench_run *run);
void ergo_bench_close(struct ergo_bench_run *run);
/* Sweeps alone, and wait. clocks may be NULL. */
enum ergo_status ergo_bench_sweep(struct ergo_bench_run *run, uint64_t sweeps,
                                  struct ergo_bench_clocks *clocks);
/* `samples` times (`every` sweeps, energy and magnetisation), two blocks in flight as in a run.
 * energy (may be NULL): of each sample and member, [samples][members]. */
enum ergo_status ergo_bench_sample(struct ergo_bench_run *run, size_t samples, uint64_t every,
                                   double *energy, struct ergo_bench_clocks *clocks);
/* Hash over the canonical states of the first `members` members. */
enum ergo_status ergo_bench_digest(struct ergo_bench_run *run, size_t members, uint64_t *digest);
double ergo_bench_wall(void);
double ergo_bench_cpu(void);        /* of the process */
double ergo_bench_thread_cpu(void); /* of this thread */

/* check.c: a sentence in `verdict`; *ok says whether all agreed. */
enum ergo_status ergo_bench_check(struct ergo_bench *bench, const struct ergo_bench_case *what,
                                  char *verdict, size_t size, bool *ok);

/* ceilings.c */
enum ergo_status ergo_bench_ceilings_measure(struct ergo_bench *bench);

/* measure.c */
struct ergo_bench_rate ergo_bench_rate_of(double *values, size_t n);
/* Sweeps that take about `seconds`. */
enum ergo_status ergo_bench_calibrate(struct ergo_bench_run *run, double seconds, uint64_t *sweeps);
enum ergo_status ergo_bench_measure(struct ergo_bench *bench, const struct ergo_bench_case *what,
                                    struct ergo_bench_result *result);

/* serial.c */
enum ergo_status ergo_bench_serial_measure(struct ergo_bench *bench,
                                           const struct ergo_bench_case *what,
                                           struct ergo_bench_serial *serial);

/* explore.c: prints as it goes; ends after `seconds`. */
enum ergo_status ergo_bench_explore(struct ergo_bench *bench, const struct ergo_bench_case *what,
                                    double seconds);

/* report.c */
void ergo_bench_print(const struct ergo_bench *bench);
enum ergo_status ergo_bench_write(const struct ergo_bench *bench, const char *path);

#endif
