/* Buffers of a rank's rectangle of a cut lattice. */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/cut.h"

_Static_assert(sizeof(struct sw_rect) == SW_RECT_BYTES, "sw_rect has explicit padding only");

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
                {"runs' labels", (size_t)s->tiles.run_bytes, &s->runs},
                {"clusters' parts", 4 * words, &s->tile_roots},
                {"open parts", 4 * words, &s->open}};
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
