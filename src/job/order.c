/* Which points of a job run together, as batches, and which follow one another (/anneal). */
#include <string.h>

#include "job/build.h"

void ergo_scan_positions(const struct ergo_build *build, size_t scan_index,
                         size_t positions[ERGO_SCAN_MAX]) {
    for (size_t a = build->n_axes; a-- > 0;) {
        positions[a] = scan_index % build->axes[a].count;
        scan_index /= build->axes[a].count;
    }
}

/* ---- points that follow one another ---------------------------------------------------------- */

static const struct ergo_value *base_of(const struct ergo_build *build, const char *pointer) {
    return &build->base[ergo_keys_find(build->keys, build->n_keys, pointer)];
}

/* The axis along which points follow one another; n_axes: none. */
static size_t annealed(const struct ergo_build *build) {
    const struct ergo_value *path = base_of(build, "/anneal");
    size_t a = 0;
    while (path->present && a < build->n_axes &&
           strcmp(path->text, build->axes[a].pointers[0]) != 0 &&
           strcmp(path->text, build->keys[build->axes[a].key]->pointer) != 0)
        a++;
    return path->present ? a : build->n_axes;
}

static void check_path(struct ergo_build *build) {
    const size_t a = annealed(build);
    const char *path = base_of(build, "/anneal")->text;
    struct ergo_text known = {0};
    if (a < build->n_axes) {
        const struct ergo_key *key = build->keys[build->axes[a].key];
        if (key->flags & ERGO_KEY_FORM)
            ergo_build_error(build, "/anneal", NULL,
                             "found \"%.*s\": a state fits only points with the same value of it, "
                             "so none can start from the last state of the one before",
                             ERGO_SHOWN_MAX, path);
        else if (strncmp(key->pointer, "/system/", 8) != 0)
            ergo_build_error(build, "/anneal", NULL,
                             "found \"%.*s\"; allowed: a pointer below /system/, along whose "
                             "values a system changes",
                             ERGO_SHOWN_MAX, path);
        return;
    }
    for (size_t i = 0; i < build->n_axes; i++)
        ergo_text_append(&known, "%s\"%s\"", i ? ", " : "", build->axes[i].pointers[0]);
    ergo_build_error(build, "/anneal", NULL,
                     "found \"%.*s\", which /scan does not have; allowed: %s", ERGO_SHOWN_MAX, path,
                     known.data ? known.data : "a pointer of /scan, which is not there");
    ergo_text_free(&known);
}

void ergo_order_check(struct ergo_build *build) {
    const size_t start = ergo_keys_find(build->keys, build->n_keys, "/system/start");
    if (build->errors == 0 && base_of(build, "/anneal")->present)
        check_path(build);
    if (start != SIZE_MAX && build->base[start].given && base_of(build, "/start/run")->present)
        ergo_build_error(build, "/system/start", NULL,
                         "has no effect beside /start/run, whose states are the start: leave one "
                         "of them out");
}

/* ---- batches --------------------------------------------------------------------------------- */

/*
 * Points of one job differ only in scanned keys, and the values of an axis are all different. So a
 * batch is one combination of positions on the axes over SHAPE keys, and on the one along which
 * points follow one another. Numbered with the first axis slowest, batches come in the order of
 * their first points, and a point's batch after that of the point before it.
 */
static size_t shape_of(const struct ergo_build *build, size_t path,
                       const size_t positions[ERGO_SCAN_MAX]) {
    size_t shape = 0;
    for (size_t a = 0; a < build->n_axes; a++)
        if (a == path || build->keys[build->axes[a].key]->flags & ERGO_KEY_SHAPE)
            shape = shape * build->axes[a].count + positions[a];
    return shape;
}

void ergo_order_make(struct ergo_build *build, struct ergo_job *job, size_t replicas) {
    const size_t path = annealed(build);
    size_t last[ERGO_SCAN_MAX] = {0}, step = replicas; /* points between neighbours on the path */
    for (size_t a = 0; a < build->n_axes; a++)
        last[a] = build->axes[a].count - 1;
    for (size_t a = build->n_axes; a-- > path + 1;)
        step *= build->axes[a].count;
    job->n_batches = shape_of(build, path, last) + 1;
    job->batches = ergo_arena_alloc(build->arena, job->n_batches, sizeof *job->batches);
    struct ergo_point **members =
        ergo_arena_alloc(build->arena, job->n_points, sizeof(struct ergo_point *));
    if (!job->batches || !members) {
        ergo_build_no_memory(build);
        return;
    }
    /* every combination occurs with each of the others: batches are equally large */
    const size_t size = job->n_points / job->n_batches;
    for (size_t b = 0; b < job->n_batches; b++)
        job->batches[b] = (struct ergo_batch){.job = job, .points = members + b * size};
    for (size_t p = 0; p < job->n_points; p++) {
        size_t positions[ERGO_SCAN_MAX];
        ergo_scan_positions(build, p / replicas, positions);
        struct ergo_batch *batch = &job->batches[shape_of(build, path, positions)];
        batch->points[batch->count++] = &job->points[p];
        if (path < build->n_axes && positions[path] > 0) {
            job->points[p].previous = &job->points[p - step];
            job->points[p - step].next = &job->points[p];
        }
    }
}
