/* See shares.h. */
#include "engine/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"

static const char *text_of(const struct ergo_point *point) {
    if (!point)
        return "equal";
    const struct ergo_value *v = &point->parameters->shares;
    return v->present ? v->text : "measured";
}

/* Is this a list of positive numbers? Then weights[ranks] get them in turn. */
static bool read_list(const char *text, size_t ranks, double *weights) {
    size_t n = 0;
    for (const char *at = text;; at++) {
        char *end = NULL;
        const double value = strtod(at, &end);
        if (end == at || !(value > 0) || value > 1e9 || (*end && *end != ','))
            return false;
        if (n < ranks)
            weights[n++] = value;
        at = end;
        if (!*at)
            break;
    }
    for (size_t r = n; r < ranks; r++)
        weights[r] = weights[r - n];
    return true;
}

static bool is_word(const char *text) {
    return strcmp(text, "measured") == 0 || strcmp(text, "equal") == 0;
}

enum ergo_status ergo_shares_check(struct ergo_context *ctx, const struct ergo_point *point) {
    const char *text = text_of(point);
    if (is_word(text) || read_list(text, 0, NULL))
        return ERGO_OK;
    return ergo_job_error(ctx, "/system/shares",
                          "found \"%.64s\"; allowed: \"measured\", \"equal\", or positive numbers "
                          "with commas between them, like \"3,1\"",
                          text);
}

static enum ergo_status no_memory(struct ergo_context *ctx, size_t ranks) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the shares of %zu ranks", ranks);
}

struct ergo_shares *ergo_shares_create(struct ergo_context *ctx, const struct ergo_point *point) {
    const size_t ranks = (size_t)ergo_dist_count();
    struct ergo_shares *s = calloc(1, sizeof *s + ranks * sizeof s->weights[0]);
    if (!s) {
        (void)no_memory(ctx, ranks);
        return NULL;
    }
    s->ranks = ranks;
    s->measured = ranks > 1 && strcmp(text_of(point), "measured") == 0;
    for (size_t r = 0; r < ranks; r++)
        s->weights[r] = 1;
    (void)read_list(text_of(point), ranks, s->weights);
    return s;
}

uint64_t ergo_share_before(uint64_t length, const double *weights, size_t n, size_t k) {
    double all = 0, sum = 0;
    uint64_t before = 0;
    for (size_t i = 0; i < n; i++)
        all += weights[i];
    for (size_t i = 0; i < k; i++) {
        const uint64_t least = before + 1, most = length - (n - 1 - i);
        sum += weights[i];
        before = (uint64_t)floor((double)length * (sum / all) + 0.5);
        before = before < least ? least : before > most ? most : before;
    }
    return k == n ? length : before;
}

/* Of all ranks. NULL: no memory. */
static struct ergo_share_work *collect(const struct ergo_shares *s, double size, double seconds) {
    const struct ergo_share_work here = {size, fmax(seconds, 1e-9), ergo_clock() - s->compared,
                                         s->cost};
    struct ergo_share_work *all = malloc(s->ranks * sizeof *all);
    if (all)
        ergo_dist_collect(&here, sizeof here, all);
    return all;
}

double ergo_share_of_speed(double speed, double all, size_t ranks) {
    enum { PARTS = 64 };
    return fmax(1, round(speed / all * (double)(PARTS * ranks)));
}

/* Are the shares other ones than before? */
static bool take_speeds(struct ergo_shares *s, const struct ergo_share_work *work) {
    double all = 0;
    bool changed = false;
    for (size_t r = 0; r < s->ranks; r++)
        all += work[r].size / work[r].seconds;
    /* equal proportions are the same shares */
    const double old = s->weights[0];
    const double first = ergo_share_of_speed(work[0].size / work[0].seconds, all, s->ranks);
    for (size_t r = 0; r < s->ranks; r++) {
        const double weight = ergo_share_of_speed(work[r].size / work[r].seconds, all, s->ranks);
        changed = changed || weight * old != s->weights[r] * first;
        s->weights[r] = weight;
    }
    return changed;
}

static const double trial_seconds = 0.2;

enum ergo_status ergo_shares_try(struct ergo_context *ctx, struct ergo_shares *s, double size,
                                 enum ergo_status (*sweep)(struct ergo_context *ctx, void *state),
                                 void *state, bool *uneven) {
    double seconds = 0, slowest = INFINITY, fastest = 0;
    uint64_t sweeps = 0;
    *uneven = false;
    enum ergo_status status = sweep(ctx, state);
    ergo_dist_barrier(); /* devices and hosts that ranks share are as busy as in the run */
    const double started = ergo_clock();
    for (; status == ERGO_OK && seconds < trial_seconds; sweeps++) {
        status = sweep(ctx, state);
        seconds = ergo_clock() - started;
    }
    if (status != ERGO_OK)
        return status;
    struct ergo_share_work *all = collect(s, size, seconds / (double)sweeps);
    if (!all)
        return no_memory(ctx, s->ranks);
    for (size_t r = 0; r < s->ranks; r++) {
        slowest = fmin(slowest, all[r].size / all[r].seconds);
        fastest = fmax(fastest, all[r].size / all[r].seconds);
    }
    *uneven = fastest > 1.1 * slowest && take_speeds(s, all);
    free(all);
    s->compared = ergo_clock();
    return ERGO_OK;
}

/* Seconds between comparisons; the part of a sweep's time that a rank may keep the others waiting:
 * more precisely sweeps are not measured; what a division is said to cost before there was one. */
static const double compare_every = 2, noise = 0.03, first_cost = 1;

bool ergo_shares_judge(struct ergo_shares *s, const struct ergo_share_work *work) {
    double slowest = 0, speed = 0, whole = 0;
    for (size_t r = 0; r < s->ranks; r++) {
        slowest = fmax(slowest, work[r].seconds);
        speed += work[r].size / work[r].seconds;
        whole += work[r].size;
    }
    const double waits = 1 - whole / speed / slowest;
    if (waits <= noise)
        return false;
    s->lost += waits * work[0].elapsed;
    if (s->lost <= (work[0].cost > 0 ? work[0].cost : first_cost) || !take_speeds(s, work))
        return false;
    s->lost = 0;
    return true;
}

enum ergo_status ergo_shares_compare(struct ergo_context *ctx, struct ergo_shares *s, double size,
                                     bool *uneven) {
    *uneven = false;
    if (!ergo_dist_any(ergo_ranks_rank() == 0 && ergo_clock() - s->compared > compare_every &&
                       s->sweeps > 3))
        return ERGO_OK;
    const double mean = s->busy / (double)s->sweeps;
    struct ergo_share_work *all = collect(s, size, mean);
    if (!all)
        return no_memory(ctx, s->ranks);
    *uneven = ergo_shares_judge(s, all);
    free(all);
    /* of a sweep before, less and less: small differences show in many sweeps only */
    s->sweeps = *uneven ? 0 : s->sweeps / 2;
    s->busy = mean * (double)s->sweeps;
    s->compared = ergo_clock();
    return ERGO_OK;
}

void ergo_shares_divided(struct ergo_shares *s) {
    const double now = ergo_clock();
    s->cost = now - s->compared;
    s->compared = now;
}
