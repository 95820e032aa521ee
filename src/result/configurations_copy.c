/* Frames of one configurations.h5 into another: of a run that was extended, or of parts of a run.
 * The same chain has the same state at the same step. */
#include <stdlib.h>

#include "result/configurations.h"

/* A frame that is in a file. */
struct frame {
    uint64_t stream, step;
    size_t group;
    uint64_t at; /* point * frames + frame */
};

static int compare(const void *a, const void *b) {
    const struct frame *x = a, *y = b;
    return x->stream != y->stream ? (x->stream < y->stream ? -1 : 1)
                                  : (x->step > y->step) - (x->step < y->step);
}

/* The streams and steps of a group, malloc'ed, one after the other. */
enum ergo_status ergo_configurations_steps(struct ergo_context *ctx, int fd,
                                           const struct ergo_frames_group *group,
                                           uint64_t **streams, int64_t **steps) {
    const size_t n = (size_t)group->points, all = n * (size_t)group->frames;
    *streams = malloc(8 * (n + 1));
    *steps = malloc(8 * (all + 1));
    if (!*streams || !*steps)
        return ergo_configurations_no_memory(ctx);
    return ergo_file_read_at(fd, group->stream, *streams, 8 * n) &&
                   ergo_file_read_at(fd, group->step, *steps, 8 * all)
               ? ERGO_OK
               : ergo_configurations_cannot(ctx, "read");
}

/* All frames that are in a file, in order. */
static enum ergo_status list_frames(struct ergo_context *ctx, int fd,
                                    const struct ergo_configurations *c, struct frame **frames,
                                    size_t *count) {
    size_t n = 0;
    enum ergo_status status = ERGO_OK;
    for (size_t g = 0; g < c->n_groups; g++)
        n += (size_t)(c->groups[g].points * c->groups[g].frames);
    *count = 0;
    *frames = malloc((n + 1) * sizeof **frames);
    if (!*frames)
        return ergo_configurations_no_memory(ctx);
    for (size_t g = 0; g < c->n_groups && status == ERGO_OK; g++) {
        const struct ergo_frames_group *group = &c->groups[g];
        const uint64_t all = group->points * group->frames;
        uint64_t *streams = NULL;
        int64_t *steps = NULL;
        status = ergo_configurations_steps(ctx, fd, group, &streams, &steps);
        for (uint64_t i = 0; i < all && status == ERGO_OK; i++)
            if (steps[i] >= 0)
                (*frames)[(*count)++] =
                    (struct frame){streams[i / group->frames], (uint64_t)steps[i], g, i};
        free(streams);
        free(steps);
    }
    qsort(*frames, *count, sizeof **frames, compare);
    return status;
}

static enum ergo_status copy_bytes(struct ergo_context *ctx, int from, uint64_t at, int to,
                                   uint64_t there, uint64_t bytes) {
    enum { PIECE = 1 << 20 };
    char *piece = malloc(PIECE);
    enum ergo_status status = piece ? ERGO_OK : ergo_configurations_no_memory(ctx);
    for (uint64_t done = 0; done < bytes && status == ERGO_OK; done += PIECE) {
        const size_t n = bytes - done < PIECE ? (size_t)(bytes - done) : PIECE;
        if (!ergo_file_read_at(from, at + done, piece, n))
            status = ergo_configurations_cannot(ctx, "read an earlier");
        else if (!ergo_file_write_at(to, there + done, piece, n))
            status = ergo_configurations_cannot(ctx, "write");
    }
    free(piece);
    return status;
}

bool ergo_configurations_alike(const struct ergo_frames_group *a,
                               const struct ergo_frames_group *b) {
    bool same = a->n_parts == b->n_parts;
    for (size_t i = 0; i < a->n_parts && same; i++)
        same = a->parts[i].bytes == b->parts[i].bytes;
    return same;
}

/* The frames of a point that are not there yet and that the other file has. */
static enum ergo_status copy_point(const struct ergo_configurations *c, struct ergo_context *ctx,
                                   int fd, const struct ergo_configurations *other, int from,
                                   const struct frame *frames, size_t n,
                                   const struct ergo_point *point) {
    const struct ergo_frames_place place = c->places[point->index];
    const struct ergo_frames_group *group = &c->groups[place.group];
    enum ergo_status status = ERGO_OK;
    for (size_t k = 0; k < group->frames && status == ERGO_OK; k++) {
        const uint64_t at = place.at * group->frames + k;
        const struct frame wanted = {.stream = point->stream,
                                     .step = ergo_configurations_step(c, point, k)};
        const struct frame *found = bsearch(&wanted, frames, n, sizeof *frames, compare);
        int64_t step = 0;
        if (!found || !ergo_configurations_alike(&other->groups[found->group], group))
            continue;
        if (!ergo_file_read_at(fd, group->step + 8 * at, &step, sizeof step))
            return ergo_configurations_cannot(ctx, "read");
        for (size_t i = 0; i < group->n_parts && step < 0 && status == ERGO_OK; i++)
            status = copy_bytes(
                ctx, from,
                other->groups[found->group].parts[i].offset + found->at * group->parts[i].bytes, fd,
                group->parts[i].offset + at * group->parts[i].bytes, group->parts[i].bytes);
        if (status == ERGO_OK &&
            !ergo_file_write_at(fd, group->step + 8 * at, &wanted.step, sizeof wanted.step))
            status = ergo_configurations_cannot(ctx, "write");
    }
    return status;
}

enum ergo_status ergo_configurations_copy_all(const struct ergo_configurations *c,
                                              struct ergo_context *ctx, int fd,
                                              const struct ergo_configurations *other, int from) {
    struct frame *frames = NULL;
    size_t n = 0;
    enum ergo_status status = list_frames(ctx, from, other, &frames, &n);
    for (size_t i = 0; i < c->job->n_points && status == ERGO_OK; i++)
        status = copy_point(c, ctx, fd, other, from, frames, n, &c->job->points[i]);
    free(frames);
    return status;
}
