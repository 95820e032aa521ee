/* States in which points have ended: digests of them, and those that are kept for an extension. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "job/schedule.h"
#include "result/result.h"

/* Of all points, unless the job says so. */
static const double kept_most = 1e9;
/* In memory: the states, and a checkpoint's record, whose buffer grows by doubling. */
static const double copies = 3;

void ergo_state_head(const struct ergo_job *job, uint64_t step, struct ergo_text *text) {
    ergo_text_append(text, "ergocl state 1 %s %u %llu\n", job->sampler->name,
                     job->sampler->state_version, (unsigned long long)step);
}

bool ergo_state_digest(const struct ergo_job *job, uint64_t step, const char *state, size_t length,
                       uint64_t *digest) {
    struct ergo_text text = {0};
    ergo_state_head(job, step, &text);
    ergo_text_append_bytes(&text, state, length);
    const bool ok = !text.failed;
    if (ok)
        *digest = ergo_hash64(text.data, text.length);
    ergo_text_free(&text);
    return ok;
}

static double kept_of(const struct ergo_job *job, double bytes) {
    const char *wish = job->points[0].parameters->final_states;
    return strcmp(wish, "drop") == 0                        ? 0
           : strcmp(wish, "auto") == 0 && bytes > kept_most ? kept_most
                                                            : bytes;
}

double ergo_states_memory(const struct ergo_job *job, double bytes) {
    return ergo_result_bytes(job) + copies * kept_of(job, bytes);
}

void ergo_states_say(const struct ergo_job *job, double bytes, struct ergo_text *text) {
    const double kept = kept_of(job, bytes), mib = 1048576;
    const double memory = ergo_states_memory(job, bytes);
    const double series =
        ergo_result_kept(job) == ERGO_KEPT_FULL ? ergo_result_series_bytes(job) : 0;
    ergo_text_append(text,
                     "final states up to %.4g MiB kept%s (/checkpoint/final_states); with results "
                     "%.4g MiB of memory, on disk up to %.4g MiB in the checkpoint and %.4g MiB in "
                     "series.h5",
                     kept / mib, kept < bytes && kept > 0 ? ", or none if they are more" : "",
                     memory / mib, (ergo_result_bytes(job) / copies + kept) / mib, series / mib);
    if (memory > ergo_memory())
        ergo_text_append(text,
                         "; this machine has %.4g MiB: \"drop\" may be needed, or fewer points or "
                         "replicas",
                         ergo_memory() / mib);
}

static void forget(struct ergo_member_result *m) {
    free(m->state);
    m->state = NULL;
    m->state_length = 0;
}

/* Does a chain that has not ended start from this member's last state? */
static bool is_awaited(const struct ergo_result *result, const struct ergo_member_result *member) {
    const struct ergo_point *next = member->point->next;
    return next && result->members[next->index].steps < ergo_schedule_of(next).total;
}

static bool are_kept(const struct ergo_result *result, double bytes) {
    const char *wish = result->job->points[0].parameters->final_states;
    return !result->dropped_states && strcmp(wish, "drop") != 0 &&
           (strcmp(wish, "auto") != 0 || bytes <= kept_most);
}

bool ergo_result_keeps(const struct ergo_result *result, const struct ergo_member_result *member,
                       size_t length) {
    return is_awaited(result, member) || are_kept(result, result->kept_states + (double)length);
}

static void forget_unless_awaited(struct ergo_result *result, struct ergo_member_result *member) {
    if (!is_awaited(result, member))
        forget(member);
}

void ergo_result_keep_state(struct ergo_result *result, struct ergo_member_result *member,
                            char *state, size_t length) {
    forget(member);
    member->state = state;
    member->state_length = length;
    result->kept_states += (double)length;
    if (are_kept(result, result->kept_states))
        return;
    for (size_t i = 0; i < result->n_members && !result->dropped_states; i++)
        forget_unless_awaited(result, &result->members[i]); /* some alone would be of no use */
    result->dropped_states = true;
    forget_unless_awaited(result, member);
    if (member->point->previous) /* this one has ended */
        forget_unless_awaited(result, &result->members[member->point->previous->index]);
}
