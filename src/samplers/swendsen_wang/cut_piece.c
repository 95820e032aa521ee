/* One rank's rectangle of a cut lattice: its place, its neighbours, its buffers. */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/cut.h"

_Static_assert(sizeof(struct sw_rect) == SW_RECT_BYTES, "sw_rect has explicit padding only");

/* Words of a rectangle from which on a build for its shape pays. */
enum { TILES_FROM = 8192 };

void sw_piece_choose_launch(struct sw_cut *s) {
    const struct ergo_point *first = s->batch->points[0];
    const struct ergo_device_summary *d = &s->device->summary;
    const bool gpu = s->device->type != CL_DEVICE_TYPE_CPU;
    const uint32_t wish_words = (uint32_t)ergo_point_int(first, "/tuning/tile_words");
    const uint32_t wish_rows = (uint32_t)ergo_point_int(first, "/tuning/tile_rows");
    const uint32_t wish = (uint32_t)ergo_point_int(first, "/tuning/work_group");
    /* whatever the rectangle's shape: one build for all ranks with such a device */
    s->tile_words = wish_words ? wish_words : gpu ? 2 : 4;
    s->tile_rows = wish_rows ? wish_rows : 32;
    while (s->tile_rows > 1 && (260ull * s->tile_words * s->tile_rows + 256 > d->local_memory ||
                                s->tile_words * s->tile_rows > d->largest_group))
        s->tile_rows /= 2;
    s->group_size = wish ? wish : gpu ? 128 : 32;
    while (s->group_size > 1 && s->group_size > d->largest_group)
        s->group_size /= 2;
    const struct sw_shape shape = {.row_words = s->piece.words, .ly = s->piece.rows};
    sw_choose_tile(first, &shape, gpu, s->device, &s->tiles);
    s->by_tiles = !s->equivalence && (sw_piece_words(&s->piece) >= TILES_FROM ||
                                      ergo_point_int(first, "/tuning/tile_group") > 0);
    s->gathers = sw_gather_wanted(ergo_point_text(first, "/system/merge"), &s->layout);
    const uint64_t words = sw_piece_words(&s->piece), each = (gpu ? 4ull : 64ull) * s->group_size;
    const uint64_t enough = (gpu ? 8ull : 2ull) * (d->compute_units ? d->compute_units : 1);
    const uint64_t groups = (words + each - 1) / each, least = words / (1u << 15) + 1;
    const uint64_t some = groups > enough ? enough : groups;
    s->sum_groups = (uint32_t)(some < least ? least : some);
}

static enum ergo_status refuse(struct ergo_context *ctx, const struct sw_cut *s, const char *why) {
    return ERGO_FAIL(ctx, ERGO_E_DEVICE, "a lattice of %lld x %lld cannot be cut over %d ranks: %s",
                     (long long)s->shape.lx, (long long)s->shape.ly, ergo_dist_count(), why);
}

/* Rectangle and neighbours of this rank. */
enum ergo_status sw_piece_cut(struct ergo_context *ctx, struct sw_cut *s, const double *weights) {
    const int ranks = ergo_dist_count();
    s->rank = ergo_ranks_rank();
    if (s->shape.row_words * (uint64_t)s->shape.ly > UINT64_C(1) << 32)
        return refuse(ctx, s,
                      "it has more than 2^37 sites, more than random numbers of bonds have "
                      "addresses for");
    if (!sw_layout_make(&s->layout, (uint64_t)s->shape.lx, (uint64_t)s->shape.ly, ranks, weights))
        return refuse(ctx, s, "it has not a word of 32 sites and a row for each; use fewer ranks");
    uint64_t most = 0;
    for (int r = 0; r < ranks; r++) /* all ranks refuse, or none */
        if (sw_piece_words(&s->layout.pieces[r]) > most)
            most = sw_piece_words(&s->layout.pieces[r]);
    if (most > UINT64_C(1) << 26) /* labels of parts come behind those of sites */
        return refuse(ctx, s, "a rank's piece would have more than 2^31 sites; use more ranks");
    s->piece = s->layout.pieces[s->rank];
    s->below = sw_layout_below(&s->layout, s->rank);
    s->above = sw_layout_above(&s->layout, s->rank);
    const size_t n = (size_t)ranks;
    s->right = calloc(n, sizeof *s->right);
    s->left = calloc(n, sizeof *s->left);
    if (!s->right || !s->left)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for neighbours");
    sw_layout_beside(&s->layout, s->rank, true, s->right, &s->n_right);
    sw_layout_beside(&s->layout, s->rank, false, s->left, &s->n_left);
    return ERGO_OK;
}

void sw_cut_buffer_release(struct sw_cut *s, struct sw_cut_buffer *b) {
    sw_unpin(s->device, &b->pinned, &b->host);
    ergo_buffer_release(&b->mem);
}

enum ergo_status sw_cut_buffer_create(struct ergo_context *ctx, struct sw_cut *s, const char *what,
                                      size_t bytes, struct sw_cut_buffer *b) {
    b->bytes = bytes;
    enum ergo_status status = ergo_buffer_create(ctx, s->device, what, bytes, NULL, &b->mem);
    if (status != ERGO_OK)
        return status;
    b->host = sw_pin(s->device, bytes, &b->pinned);
    if (!b->host)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %s", what);
    memset(b->host, 0, bytes);
    return ERGO_OK;
}

/* What depends on the rectangle. */
void sw_piece_release(struct sw_cut *s) {
    if (s->device && s->device->queue)
        (void)ergo_queue_finish(s->device, s->device->queue);
    cl_mem *const mems[] = {&s->rect,  &s->right_bonds, &s->down_bonds, &s->labels, &s->sizes,
                            &s->names, &s->runs,        &s->tile_roots, &s->open};
    for (size_t k = 0; k < sizeof mems / sizeof mems[0]; k++)
        ergo_buffer_release(mems[k]);
    struct sw_cut_buffer *const buffers[] = {&s->out,   &s->edges,   &s->roots, &s->part_sizes,
                                             &s->parts, &s->renamed, &s->sums,  &s->clusters};
    for (size_t k = 0; k < sizeof buffers / sizeof buffers[0]; k++)
        sw_cut_buffer_release(s, buffers[k]);
    for (size_t m = 0; s->members && m < s->batch->count; m++) {
        ergo_buffer_release(&s->members[m].spins);
        sw_cut_buffer_release(s, &s->members[m].in);
        s->members[m].fresh = false;
    }
    uint32_t **const arrays[] = {&s->far_edges, &s->found, &s->told, &s->cluster_of,
                                 &s->group_parts};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
        free(*arrays[k]);
        *arrays[k] = NULL;
    }
    sw_gather_release(s);
    free(s->group_names);
    free(s->right);
    free(s->left);
    s->group_names = NULL;
    s->right = s->left = NULL;
    sw_layout_free(&s->layout);
}

struct sw_rect sw_cut_rect(const struct sw_cut *s, const struct sw_piece *p) {
    return (struct sw_rect){.row0 = p->row0,
                            .word0 = p->word0,
                            .all_words = s->shape.row_words,
                            .all_lx = (uint64_t)s->shape.lx,
                            .words = p->words,
                            .rows = p->rows,
                            .tail = p->tail};
}

enum ergo_status sw_piece_create(struct ergo_context *ctx, struct sw_cut *s,
                                 const double *weights) {
    enum ergo_status status = sw_piece_cut(ctx, s, weights);
    if (status != ERGO_OK)
        return status;
    const struct sw_piece *p = &s->piece;
    const size_t words = sw_piece_words(p), entries = 32 * (size_t)p->words + p->rows;
    const size_t halo = 4 * (size_t)s->shape.planes * p->words + p->rows;
    const struct sw_rect rect = sw_cut_rect(s, p);
    s->constants.n = 0;
    sw_piece_choose_launch(s);
    const size_t pairs =
        1 + 2 * entries + (size_t)s->layout.ranks; /* a number before each link's */
    s->far_edges = calloc(entries, sizeof *s->far_edges);
    s->found = calloc(pairs, sizeof *s->found);
    s->told = calloc(pairs, sizeof *s->told);
    s->cluster_of = calloc(2 * entries, sizeof *s->cluster_of);
    s->group_parts = calloc(2 * entries, sizeof *s->group_parts);
    s->group_names = calloc(4 * entries, sizeof *s->group_names);
    if (!s->far_edges || !s->found || !s->told || !s->cluster_of || !s->group_parts ||
        !s->group_names)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the edges of a rectangle");
    const struct {
        const char *what;
        size_t bytes;
        cl_mem *mem;
    } mems[] = {{"bonds to the right", 4 * words, &s->right_bonds},
                {"bonds down", 4 * words, &s->down_bonds},
                {"labels", 128 * words + 8 * entries, &s->labels}, /* and of parts */
                {"cluster sizes", 128 * words, &s->sizes},
                {"names of parts", 16 * entries, &s->names},
                {"runs' labels", s->by_tiles ? (size_t)s->tiles.run_bytes : 4, &s->runs},
                {"clusters' parts", s->by_tiles ? 4 * words : 4, &s->tile_roots},
                {"open parts", s->by_tiles ? 4 * words : 4, &s->open}};
    if (status == ERGO_OK)
        status = ergo_constant_create(ctx, s->device, &s->constants, "rectangle", sizeof rect,
                                      &rect, &s->rect);
    for (size_t k = 0; k < sizeof mems / sizeof mems[0] && status == ERGO_OK; k++)
        status = ergo_buffer_create(ctx, s->device, mems[k].what, mems[k].bytes, NULL, mems[k].mem);
    const struct {
        const char *what;
        size_t bytes;
        struct sw_cut_buffer *buffer;
    } buffers[] = {
        {"outgoing halo", halo, &s->out},
        {"edges", 8 * entries, &s->edges},
        {"roots of parts", 8 * entries, &s->roots},
        {"sizes of parts", 8 * entries, &s->part_sizes},
        {"parts with other names", 8 * entries, &s->parts},
        {"their names", 16 * entries, &s->renamed},
        {"sums", 4 * (size_t)s->sum_groups * s->shape.q, &s->sums},
        {"sums over clusters", 4 * (size_t)s->sum_groups * SW_CLUSTER_FIELDS, &s->clusters}};
    for (size_t k = 0; k < sizeof buffers / sizeof buffers[0] && status == ERGO_OK; k++)
        status = sw_cut_buffer_create(ctx, s, buffers[k].what, buffers[k].bytes, buffers[k].buffer);
    if (status == ERGO_OK && s->gathers)
        status = sw_gather_create(ctx, s);
    for (size_t m = 0; m < s->batch->count && status == ERGO_OK; m++) {
        status = ergo_buffer_create(ctx, s->device, "spins", sw_cut_piece_bytes(s, p), NULL,
                                    &s->members[m].spins);
        s->members[m].params.first_word = (uint32_t)(p->row0 * s->shape.row_words + p->word0);
        if (status == ERGO_OK)
            status = ergo_buffer_write(ctx, s->device, s->members[m].param_buffer, 0,
                                       sizeof s->members[m].params, &s->members[m].params);
        if (status == ERGO_OK)
            status = sw_cut_buffer_create(ctx, s, "incoming halo", halo, &s->members[m].in);
    }
    return status;
}

size_t sw_cut_piece_bytes(const struct sw_cut *s, const struct sw_piece *piece) {
    return 4 * (size_t)s->shape.planes * sw_piece_words(piece);
}
