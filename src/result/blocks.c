/*
 * Averages over /output/blocks consecutive blocks of measurements. A plot of them shows whether a
 * run has drifted; many programs print such averages. Text here, arrays in series.h5.
 */
#include "result/result.h"

#include <stdio.h>

#include "result/format.h"

/* Of n samples, the first of block b. */
static size_t begin_of(const struct ergo_member_result *member, size_t b) {
    return b * member->n_measured / member->n_blocks;
}

size_t ergo_blocks_count(const struct ergo_member_result *member) {
    const size_t n = ergo_member_taken(member);
    return n && member->n_blocks ? (n * member->n_blocks - 1) / member->n_measured + 1 : 0;
}

double ergo_blocks_mean(const struct ergo_model *model, const struct ergo_member_result *member,
                        const struct ergo_observable *observable, size_t block) {
    const size_t n = ergo_member_taken(member), end = begin_of(member, block + 1);
    const size_t count = (end < n ? end : n) - begin_of(member, block);
    size_t s = 0;
    while (&model->observables[member->measured->observable[s]] != observable)
        s++;
    return member->block_sums[s * member->n_blocks + block] / (double)count;
}

static void append_member(struct ergo_text *text, const struct ergo_model *model,
                          const struct ergo_member_result *member) {
    const size_t count = ergo_blocks_count(member);
    ergo_text_append(text, "# block");
    for (size_t o = 0; o < model->n_observables; o++)
        if (ergo_observable_sampled(&model->observables[o]) &&
            ergo_observable_shown(&model->observables[o], member->point))
            ergo_text_append(text, "  %s%s%s", model->observables[o].name,
                             *model->observables[o].unit ? "/" : "", model->observables[o].unit);
    ergo_text_append(text, "\n");
    for (size_t b = 0; b < count; b++) {
        ergo_text_append(text, "%7zu", b + 1);
        for (size_t o = 0; o < model->n_observables; o++)
            if (ergo_observable_sampled(&model->observables[o]) &&
                ergo_observable_shown(&model->observables[o], member->point))
                ergo_text_append(text, " %16.9g",
                                 ergo_blocks_mean(model, member, &model->observables[o], b));
        ergo_text_append(text, "\n");
    }
}

enum ergo_status ergo_result_write_blocks(struct ergo_context *ctx,
                                          const struct ergo_folder *folder,
                                          const struct ergo_result *result) {
    enum ergo_status status = ERGO_OK;
    struct ergo_folder room = {.fd = -1};
    for (size_t m = 0; m < result->n_members && status == ERGO_OK; m++) {
        if (ergo_blocks_count(&result->members[m]) == 0)
            continue;
        struct ergo_text text = {0};
        char name[32];
        snprintf(name, sizeof name, "p%06zu.dat", result->members[m].point->index);
        append_member(&text, result->job->model, &result->members[m]);
        if (text.failed)
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "writing blocks: out of memory");
        if (status == ERGO_OK && room.fd < 0)
            status = ergo_folder_inner(ctx, folder, "blocks", &room);
        if (status == ERGO_OK)
            status = ergo_file_write(ctx, &room, name, text.data, text.length);
        ergo_text_free(&text);
    }
    ergo_folder_close(&room);
    return status;
}
