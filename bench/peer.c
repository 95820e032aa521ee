/* Serial C programs beside ergocl on the same system, in turns, by processor time. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Steps of a program that take about `seconds`. */
static uint64_t calibrate(const struct ergo_bench_peer *peer, void *program, double seconds) {
    uint64_t n = 1;
    for (;;) {
        const double begin = ergo_bench_thread_cpu();
        peer->step(program, n);
        const double t = ergo_bench_thread_cpu() - begin;
        if (t > 0.3 * seconds)
            return (uint64_t)ceil((double)n * seconds / t);
        n *= t < 0.05 * seconds ? 8 : 2;
    }
}

static enum ergo_status turns(struct ergo_bench *bench, struct ergo_bench_run *run,
                              struct ergo_bench_result *r) {
    const struct ergo_bench_peer *peers = r->suite->peers;
    const size_t n = r->suite->n_peers;
    const double slice = bench->seconds / (4 * ERGO_BENCH_REPEATS);
    void *program[ERGO_BENCH_PEERS] = {NULL};
    uint64_t steps[ERGO_BENCH_PEERS], own = 0;
    double rate[ERGO_BENCH_PEERS][ERGO_BENCH_REPEATS], ratio[ERGO_BENCH_PEERS][ERGO_BENCH_REPEATS];
    double ergocl[ERGO_BENCH_REPEATS];
    enum ergo_status status = ERGO_OK;
    for (size_t p = 0; p < n && status == ERGO_OK; p++) {
        status = peers[p].start(bench->ctx, run->batch->points[0], peers[p].variant, &program[p]);
        if (status == ERGO_OK)
            steps[p] = calibrate(&peers[p], program[p], slice);
    }
    if (status == ERGO_OK)
        status = ergo_bench_calibrate(run, slice, &own);
    for (int i = 0; i < ERGO_BENCH_REPEATS && status == ERGO_OK; i++) {
        struct ergo_bench_clocks t;
        status = ergo_bench_steps(run, own, &t);
        ergocl[i] = r->useful * run->plan.work_per_step * (double)own * 1e-9 / t.cpu;
        for (size_t p = 0; p < n; p++) {
            const double begin = ergo_bench_thread_cpu();
            const double work = peers[p].step(program[p], steps[p]);
            rate[p][i] = work * 1e-9 / (ergo_bench_thread_cpu() - begin);
            ratio[p][i] = ergocl[i] / rate[p][i];
        }
    }
    if (status == ERGO_OK) {
        r->ergocl = ergo_bench_rate_of(ergocl, ERGO_BENCH_REPEATS);
        for (size_t p = 0; p < n; p++) {
            r->peers[p] = ergo_bench_rate_of(rate[p], ERGO_BENCH_REPEATS);
            r->ratio[p] = ergo_bench_rate_of(ratio[p], ERGO_BENCH_REPEATS);
        }
    }
    for (size_t p = 0; p < n; p++)
        peers[p].stop(program[p]);
    return status;
}

enum ergo_status ergo_bench_peers_measure(struct ergo_bench *bench, struct ergo_bench_result *r) {
    struct ergo_text verdict = {0};
    struct ergo_bench_run run;
    r->peers_ok = true;
    enum ergo_status status = r->suite->check_peers(bench, r->what, &verdict, &r->peers_ok);
    snprintf(r->peers_check, sizeof r->peers_check, "%s", verdict.data ? verdict.data : "");
    ergo_text_free(&verdict);
    if (status != ERGO_OK || !r->peers_ok)
        return status;
    status = ergo_bench_open(bench, r->what->job, NULL, 1, &run);
    if (status == ERGO_OK)
        status = turns(bench, &run, r);
    ergo_bench_close(&run);
    return status;
}
