/* Parts of a run, into the whole. */
#include <inttypes.h>
#include <string.h>

#include "job/schedule.h"
#include "result/store.h"

static enum ergo_status no_memory(const struct ergo_stored *part) {
    return ERGO_FAIL(part->ctx, ERGO_E_MEMORY, "no memory for the points of %s",
                     part->folder->path);
}

static enum ergo_status disagree(const struct ergo_stored *part, const struct ergo_result *whole,
                                 size_t i, const char *source) {
    const struct ergo_member_result *a = &whole->members[i], *b = &part->result->members[i];
    const struct ergo_point *point = a->point;
    struct ergo_text where = {0};
    for (size_t k = 0; k < point->n_scanned; k++) {
        ergo_text_append(&where, "%s = ", point->scanned[k].pointer);
        ergo_text_append_number(&where, point->scanned[k].value);
        ergo_text_append(&where, ", ");
    }
    const enum ergo_status status = ERGO_FAIL(
        part->ctx, ERGO_E_AUDIT,
        "%s and %s disagree in a point that both have (%sreplica %" PRIu32 "): digests %016" PRIx64
        " and %016" PRIx64 "%s. One of the devices was wrong: `ergocl compare` finds which",
        source, part->folder->path, where.data ? where.data : "", point->replica, a->digest,
        b->digest, a->digest == b->digest ? ", but other samples" : "");
    ergo_text_free(&where);
    return status;
}

/* A point that is in the whole already. Its state is not compared: one of the two may not have kept
 * it. */
static enum ergo_status compare(struct ergo_stored *part, struct ergo_result *whole,
                                const struct ergo_point_progress *progress, size_t i,
                                const char *source) {
    struct ergo_text a = {0}, b = {0};
    ergo_point_append(whole, progress, i, &a);
    ergo_point_append(part->result, part->progress, i, &b);
    const bool made = !a.failed && !b.failed;
    const bool same = made && a.length == b.length && memcmp(a.data, b.data, a.length) == 0;
    ergo_text_free(&a);
    ergo_text_free(&b);
    if (!made)
        return no_memory(part);
    struct ergo_member_result *from = &part->result->members[i], *to = &whole->members[i];
    if (same && from->state && !to->state) {
        ergo_result_keep_state(whole, to, from->state, from->state_length);
        from->state = NULL;
    }
    return same ? ERGO_OK : disagree(part, whole, i, source);
}

enum ergo_status ergo_stored_unite(struct ergo_stored *part, struct ergo_result *whole,
                                   struct ergo_point_progress *progress, const char **sources) {
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < whole->n_members && status == ERGO_OK; i++) {
        struct ergo_text text = {0};
        if (part->progress[i].step == 0)
            continue;
        if (progress[i].step) {
            status = compare(part, whole, progress, i, sources[i]);
            continue;
        }
        ergo_point_pack(part->result, part->progress, i, &text);
        if (text.failed || !ergo_points_unpack(whole, progress, text.data, text.length))
            status = no_memory(part);
        ergo_text_free(&text);
        sources[i] = part->folder->path;
    }
    return status;
}
