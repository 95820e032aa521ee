/*
 * Spin glasses: exchanges of two temperatures of a ladder that lie on neighbouring ranks. Each
 * rank counts the energies of its own, both send them to the other, with the word that says whose
 * walkers come from the hot end, and both draw the same decision. Where any sample exchanges, the
 * lattice of that temperature and copy goes there and back, and each rank keeps of it the samples
 * that were to move. What else there is to exchange, devices do meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "device/program.h"
#include "dist/dist.h"
#include "samplers/spin_lattice/spin_glass/glass.h"

enum { COLD, HOT, SIDES }; /* the neighbour is colder; hotter */
enum { TAG_LOOK = ERGO_DIST_TAGS, TAG_ROWS, TAG_TWIN };
enum { LOOK = 33 }; /* of an entry (a word-lattice and a copy): energies and a word */

struct end {
    bool there;
    int peer;
    uint32_t slot, t; /* slot of its first copy; the colder one of both temperatures */
    float *slopes;    /* [members] */
    cl_mem look, swaps, list, rows;
    int64_t *own, *theirs;    /* [entries][LOOK] */
    cl_uint4 *swap;           /* [entries] */
    uint32_t *entry, count;   /* entries with an exchange */
    uint32_t *away, *arrived; /* [count][sites] */
    cl_event read;
};

struct glass_border {
    cl_program program;
    cl_kernel look, note, pack, merge;
    struct ergo_dist_posts *posts;
    struct end end[SIDES];
};

static bool is_there(const struct glass_shape *h, int side) {
    return !h->idle && (side == COLD ? h->rung > 0 : h->rung + h->temperatures < h->rungs);
}

/* Temperature t of the ladder and t + 1 are tried at exchanges of t's parity. */
static bool is_due(const struct end *e, uint32_t parity) {
    return e->there && e->t % 2 == parity;
}

bool glass_border_due(const struct glass_state *s, uint32_t parity) {
    return s->border &&
           (is_due(&s->border->end[COLD], parity) || is_due(&s->border->end[HOT], parity));
}

static size_t entries_of(const struct glass_state *s) {
    return glass_lattices(s) * s->shape.copies;
}

size_t glass_border_bytes(const struct glass_shape *s, size_t members) {
    const size_t each = 4 * (size_t)s->sites + 8 * LOOK + sizeof(cl_uint4) + 4;
    return members * s->words * s->copies * each * (size_t)(is_there(s, COLD) + is_there(s, HOT));
}

void glass_border_destroy(struct glass_border *ends) {
    if (!ends)
        return;
    const cl_kernel kernels[] = {ends->look, ends->note, ends->pack, ends->merge};
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
        if (kernels[k])
            clReleaseKernel(kernels[k]);
    if (ends->program)
        clReleaseProgram(ends->program);
    for (int side = 0; side < SIDES; side++) {
        struct end *e = &ends->end[side];
        cl_mem *const buffers[] = {&e->look, &e->swaps, &e->list, &e->rows};
        for (size_t b = 0; b < sizeof buffers / sizeof buffers[0]; b++)
            ergo_buffer_release(buffers[b]);
        if (e->read)
            clReleaseEvent(e->read);
        void *const rooms[] = {e->slopes, e->own,  e->theirs, e->swap,
                               e->entry,  e->away, e->arrived};
        for (size_t b = 0; b < sizeof rooms / sizeof rooms[0]; b++)
            free(rooms[b]);
    }
    ergo_dist_posts_destroy(ends->posts);
    free(ends);
}

static enum ergo_status create_end(struct ergo_context *ctx, const struct glass_state *s,
                                   struct end *e, int side) {
    const struct glass_shape *h = &s->shape;
    const size_t entries = entries_of(s), rows = 4 * entries * h->sites;
    e->there = is_there(h, side);
    if (!e->there)
        return ERGO_OK;
    e->peer = ergo_ranks_rank() + (side == COLD ? -1 : 1);
    e->slot = side == COLD ? 0 : h->slots - h->copies;
    e->t = side == COLD ? h->rung - 1 : h->rung + h->temperatures - 1;
    e->slopes = malloc(s->batch->count * sizeof *e->slopes);
    e->own = malloc(entries * LOOK * sizeof *e->own);
    e->theirs = malloc(entries * LOOK * sizeof *e->theirs);
    e->swap = malloc(entries * sizeof *e->swap);
    e->entry = malloc(entries * sizeof *e->entry);
    e->away = malloc(rows);
    e->arrived = malloc(rows);
    if (!e->slopes || !e->own || !e->theirs || !e->swap || !e->entry || !e->away || !e->arrived)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for exchanges between ranks");
    for (size_t m = 0; m < s->batch->count; m++)
        e->slopes[m] = glass_slope(s->batch->points[m], h, e->t);
    enum ergo_status status = ergo_buffer_create(ctx, s->device, "energies at an end",
                                                 entries * LOOK * 8, NULL, &e->look);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, s->device, "exchanges at an end",
                                    entries * sizeof *e->swap, NULL, &e->swaps);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, s->device, "lattices that exchange", entries * 4, NULL,
                                    &e->list);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, s->device, "spins at an end", rows, NULL, &e->rows);
    return status;
}

enum ergo_status glass_border_create(struct ergo_context *ctx, struct glass_state *s) {
    if (!is_there(&s->shape, COLD) && !is_there(&s->shape, HOT))
        return ERGO_OK;
    struct glass_border *ends = s->border = calloc(1, sizeof *ends);
    if (ends)
        ends->posts = ergo_dist_posts_create();
    if (!ends || !ends->posts)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for exchanges between ranks");
    struct ergo_text options = {0};
    glass_options(s, &options);
    enum ergo_status status =
        options.failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options")
                       : ergo_program_build(ctx, s->device, "spin_lattice/border.cl",
                                            options.data, &ends->program);
    const struct {
        cl_kernel *kernel;
        const char *name;
    } kernels[] = {{&ends->look, "glass_border_energies"},
                   {&ends->note, "glass_border_record"},
                   {&ends->pack, "glass_border_pack"},
                   {&ends->merge, "glass_border_merge"}};
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0] && status == ERGO_OK; k++)
        status =
            ergo_kernel_create(ctx, s->device, ends->program, kernels[k].name, kernels[k].kernel);
    for (int side = 0; side < SIDES && status == ERGO_OK; side++)
        status = create_end(ctx, s, &ends->end[side], side);
    ergo_text_free(&options);
    return status;
}

/* ---- decisions ------------------------------------------------------------------------------- */

/* An entry's samples that exchange, `from_hot` here from then on, samples whose exchanges and round
 * trips are to be counted: on the colder one's rank. */
static cl_uint4 decide(const struct glass_state *s, const struct end *e, size_t entry,
                       uint64_t step, const int64_t *own, const int64_t *theirs) {
    const struct glass_shape *h = &s->shape;
    const size_t member = entry / h->copies / h->words;
    const uint32_t copy = (uint32_t)(entry % h->copies);
    const uint32_t word = h->first + (uint32_t)(entry / h->copies % h->words);
    const struct ergo_point *point = s->batch->points[member];
    const uint32_t key[2] = {(uint32_t)point->stream, (uint32_t)(point->stream >> 32)};
    const bool colder = e->t >= h->rung;
    const int64_t *cold = colder ? own : theirs, *hot = colder ? theirs : own;
    uint32_t from = (uint32_t)cold[LOOK - 1], to = (uint32_t)hot[LOOK - 1];
    const uint32_t mask =
        glass_twin_decide(h, key, e->slopes[member], cold, hot, word, step, e->t, copy);
    const uint32_t arrived = glass_twin_walk(h, word, e->t, mask, &from, &to);
    return (cl_uint4){{mask, colder ? from : to, colder ? mask : 0, colder ? arrived : 0}};
}

/* ---- on the device --------------------------------------------------------------------------- */

static enum ergo_status launch(struct ergo_context *ctx, const struct glass_state *s,
                               cl_kernel kernel, const char *name, const struct ergo_arg *args,
                               size_t n_args, size_t items, size_t entries) {
    const size_t group = s->device->type == CL_DEVICE_TYPE_CPU ? 16 : 128;
    const size_t global[2] = {ergo_round_up(items, group), entries}, local[2] = {group, 1};
    return ergo_kernel_launch(ctx, s->device, kernel, name, args, n_args, 2, global, local, NULL);
}

static enum ergo_status launch_look(struct ergo_context *ctx, const struct glass_state *s,
                                    struct end *e) {
    const cl_uint parts = s->launch.parts, entries = (cl_uint)entries_of(s);
    const struct ergo_arg args[] = {ERGO_ARG(s->energies), ERGO_ARG(s->from_hot),
                                    ERGO_ARG(e->look),     ERGO_ARG(parts),
                                    ERGO_ARG(e->slot),     ERGO_ARG(entries)};
    const enum ergo_status status =
        launch(ctx, s, s->border->look, "glass_border_energies", args, 6, (size_t)32 * entries, 1);
    return status == ERGO_OK ? ergo_buffer_read_later(ctx, s->device, e->look, 0,
                                                      (size_t)8 * LOOK * entries, e->own, &e->read)
                             : status;
}

static enum ergo_status launch_note(struct ergo_context *ctx, const struct glass_state *s,
                                    struct end *e) {
    const cl_uint entries = (cl_uint)entries_of(s);
    const struct ergo_arg args[] = {
        ERGO_ARG(e->swaps), ERGO_ARG(s->from_hot), ERGO_ARG(s->accepted), ERGO_ARG(s->trips),
        ERGO_ARG(s->moves), ERGO_ARG(e->slot),     ERGO_ARG(entries)};
    const enum ergo_status status =
        ergo_buffer_write(ctx, s->device, e->swaps, 0, entries * sizeof *e->swap, e->swap);
    return status == ERGO_OK
               ? launch(ctx, s, s->border->note, "glass_border_record", args, 7, entries, 1)
               : status;
}

static enum ergo_status launch_pack(struct ergo_context *ctx, const struct glass_state *s,
                                    struct end *e) {
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(e->list), ERGO_ARG(e->rows),
                                    ERGO_ARG(e->slot)};
    enum ergo_status status =
        ergo_buffer_write(ctx, s->device, e->list, 0, (size_t)4 * e->count, e->entry);
    if (status == ERGO_OK)
        status =
            launch(ctx, s, s->border->pack, "glass_border_pack", args, 4, s->shape.sites, e->count);
    return status == ERGO_OK
               ? ergo_buffer_read_later(ctx, s->device, e->rows, 0, 4 * e->count * s->shape.sites,
                                        e->away, &e->read)
               : status;
}

static enum ergo_status launch_merge(struct ergo_context *ctx, const struct glass_state *s,
                                     struct end *e) {
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(e->list), ERGO_ARG(e->rows),
                                    ERGO_ARG(e->swaps), ERGO_ARG(e->slot)};
    const enum ergo_status status =
        ergo_buffer_write(ctx, s->device, e->rows, 0, 4 * e->count * s->shape.sites, e->arrived);
    return status == ERGO_OK ? launch(ctx, s, s->border->merge, "glass_border_merge", args, 5,
                                      s->shape.sites, e->count)
                             : status;
}

/* ---- exchanges ------------------------------------------------------------------------------- */

enum ergo_status glass_border_begin(struct ergo_context *ctx, struct glass_state *s,
                                    uint32_t parity) {
    enum ergo_status status = ERGO_OK;
    for (struct end *e = s->border->end; e < s->border->end + SIDES && status == ERGO_OK; e++)
        if (is_due(e, parity))
            status = launch_look(ctx, s, e);
    return status;
}

/* Of the ends that are due, `bytes` of each there and back, once they have been read. */
static enum ergo_status swap_with_peers(struct ergo_context *ctx, struct glass_state *s,
                                        uint32_t parity, bool rows) {
    struct ergo_dist_posts *posts = s->border->posts;
    enum ergo_status status = ERGO_OK;
    for (struct end *e = s->border->end; e < s->border->end + SIDES && status == ERGO_OK; e++) {
        if (!is_due(e, parity) || (rows && e->count == 0))
            continue;
        const size_t bytes =
            rows ? 4 * e->count * s->shape.sites : (size_t)8 * LOOK * entries_of(s);
        const int tag = rows ? TAG_ROWS : TAG_LOOK;
        status = ergo_dist_post_receive(ctx, posts, e->peer, tag,
                                        rows ? (void *)e->arrived : (void *)e->theirs, bytes);
        if (status == ERGO_OK)
            status = ergo_event_wait(ctx, s->device, &e->read, NULL);
        if (status == ERGO_OK)
            status = ergo_dist_post_send(ctx, posts, e->peer, tag,
                                         rows ? (void *)e->away : (void *)e->own, bytes);
    }
    if (status == ERGO_OK)
        ergo_dist_posts_wait(posts);
    return status;
}

enum ergo_status glass_border_finish(struct ergo_context *ctx, struct glass_state *s, uint64_t step,
                                     uint32_t parity) {
    const size_t entries = entries_of(s);
    struct end *const begin = s->border->end, *const end = begin + SIDES;
    enum ergo_status status = swap_with_peers(ctx, s, parity, false);
    for (struct end *e = begin; e < end && status == ERGO_OK; e++) {
        if (!is_due(e, parity))
            continue;
        e->count = 0;
        for (size_t i = 0; i < entries; i++) {
            e->swap[i] = decide(s, e, i, step, e->own + i * LOOK, e->theirs + i * LOOK);
            if (e->swap[i].s[0])
                e->entry[e->count++] = (uint32_t)i;
        }
        status = launch_note(ctx, s, e);
        if (e->count && status == ERGO_OK)
            status = launch_pack(ctx, s, e);
    }
    if (status == ERGO_OK)
        status = swap_with_peers(ctx, s, parity, true);
    for (struct end *e = begin; e < end && status == ERGO_OK; e++)
        if (is_due(e, parity) && e->count)
            status = launch_merge(ctx, s, e);
    return status;
}

/* ---- the host's twins ------------------------------------------------------------------------ */

/* What a twin tells the other of word-lattice l: of each copy LOOK numbers, and the spins. */
static size_t twin_bytes(const struct glass_shape *h) {
    return h->copies * (8 * LOOK + 4 * (size_t)h->sites);
}

static void twin_tell(const struct glass_shape *h, const struct end *e, const int64_t *energies,
                      const uint32_t *spins, const uint32_t *from_hot, char *text) {
    const size_t stride = (size_t)4 * h->quads;
    for (uint32_t copy = 0; copy < h->copies; copy++) {
        const int64_t word = from_hot[e->slot + copy];
        memcpy(text, energies + (size_t)(e->slot + copy) * 32, 8 * 32);
        memcpy(text + 8 * 32, &word, 8);
        text += 8 * LOOK;
    }
    for (size_t i = 0; i < h->sites; i++, text += 4 * h->copies)
        memcpy(text, spins + i * stride + e->slot, 4 * h->copies);
}

static void twin_exchange(const struct glass_state *s, const struct end *e, size_t l, uint64_t step,
                          const char *own, const char *theirs, uint32_t *spins, uint32_t *from_hot,
                          uint64_t *moved) {
    const struct glass_shape *h = &s->shape;
    const size_t stride = (size_t)4 * h->quads;
    for (uint32_t copy = 0; copy < h->copies; copy++) {
        int64_t here[LOOK], there[LOOK];
        memcpy(here, own + (size_t)8 * LOOK * copy, sizeof here);
        memcpy(there, theirs + (size_t)8 * LOOK * copy, sizeof there);
        const cl_uint4 swap = decide(s, e, l * h->copies + copy, step, here, there);
        const char *from = theirs + 8 * LOOK * h->copies + 4 * copy;
        for (size_t i = 0; i < h->sites; i++, from += 4 * h->copies) {
            uint32_t *spin = spins + i * stride + e->slot + copy, other;
            memcpy(&other, from, 4);
            *spin ^= (*spin ^ other) & swap.s[0];
        }
        from_hot[e->slot + copy] = swap.s[1];
        glass_twin_moved(h, e->slot + copy, swap.s[2], swap.s[3], moved);
    }
}

enum ergo_status glass_border_twin(struct ergo_context *ctx, const struct glass_state *s, size_t l,
                                   uint64_t step, uint32_t parity, const int64_t *energies,
                                   uint32_t *spins, uint32_t *from_hot, uint64_t *moved) {
    const size_t bytes = twin_bytes(&s->shape);
    char *const room = malloc(2 * SIDES * bytes);
    enum ergo_status status =
        room ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for another rank's lattice");
    for (int side = 0; side < SIDES && status == ERGO_OK; side++) {
        const struct end *e = &s->border->end[side];
        char *own = room + 2 * (size_t)side * bytes;
        if (!is_due(e, parity))
            continue;
        twin_tell(&s->shape, e, energies, spins, from_hot, own);
        status =
            ergo_dist_post_receive(ctx, s->border->posts, e->peer, TAG_TWIN, own + bytes, bytes);
        if (status == ERGO_OK)
            status = ergo_dist_post_send(ctx, s->border->posts, e->peer, TAG_TWIN, own, bytes);
    }
    if (status == ERGO_OK)
        ergo_dist_posts_wait(s->border->posts);
    for (int side = 0; side < SIDES && status == ERGO_OK; side++) {
        const char *own = room + 2 * (size_t)side * bytes;
        if (is_due(&s->border->end[side], parity))
            twin_exchange(s, &s->border->end[side], l, step, own, own + bytes, spins, from_hot,
                          moved);
    }
    free(room);
    return status;
}
