/* States in which points have ended: digests of them, and those that are kept for an extension. */
#include <stdlib.h>
#include <string.h>

#include "result/result.h"

/* Of all points, unless the job says so. */
static const double kept_most = 1e9;

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

static void forget(struct ergo_member_result *m) {
    free(m->state);
    m->state = NULL;
    m->state_length = 0;
}

void ergo_result_keep_state(struct ergo_result *result, struct ergo_member_result *member,
                            char *state, size_t length) {
    const char *wish = ergo_point_text(&result->job->points[0], "/checkpoint/final_states");
    forget(member);
    member->state = state;
    member->state_length = length;
    result->kept_states += (double)length;
    if (strcmp(wish, "drop") == 0)
        forget(member);
    if (strcmp(wish, "auto") != 0 || result->kept_states <= kept_most)
        return;
    for (size_t i = 0; i < result->n_members; i++) /* some alone would be of no use */
        forget(&result->members[i]);
    result->dropped_states = true;
}
