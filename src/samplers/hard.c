/* See hard.h: configurations on the host, and of a state on a device. */
#include "samplers/hard.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/parallel.h"

static enum ergo_status no_memory(struct ergo_context *ctx, const struct ergo_hard *s) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a configuration of %llu %s",
                     (unsigned long long)s->n, s->kind->many);
}

/* What follows from its volume. */
static void resize(struct ergo_hard_cells *c, uint64_t allowed[2]) {
    const struct ergo_hard *s = c->shape;
    c->contact = s->npt ? ergo_volume_contact(s->isobaric.scale, ergo_volume_along(c->volume),
                                              s->kind->dimensions)
                        : s->contact;
    s->kind->resize(c, allowed);
}

/* Is the volume so near to that of the start that r^2 of contact is a number of 62 bits? Cells
 * allow far less, but a device may have damaged it. */
static bool is_near(const struct ergo_hard_cells *c) {
    const int64_t one = INT64_C(1) << ERGO_VOLUME_BITS, first = c->shape->volume.size;
    const struct ergo_volume *v = &c->volume;
    bool near = v->size >= first - 4 * one && v->size <= first + 4 * one;
    for (int k = 0; k < 2; k++)
        near = near && v->stretch[k] >= -2 * one && v->stretch[k] <= 2 * one;
    return near;
}

enum ergo_status ergo_hard_create(struct ergo_context *ctx, const struct ergo_hard *s,
                                  struct ergo_hard_cells *c) {
    const size_t all = (size_t)s->all, each = s->kind->most * s->kind->dimensions;
    uint64_t allowed[2];
    *c = (struct ergo_hard_cells){.shape = s, .volume = s->volume};
    c->count = calloc(all, 1);
    c->at = calloc(all * each, sizeof *c->at);
    if (!c->count || !c->at) {
        ergo_hard_free(c);
        return no_memory(ctx, s);
    }
    resize(c, allowed);
    return ERGO_OK;
}

void ergo_hard_free(struct ergo_hard_cells *c) {
    free(c->count);
    free(c->at);
    *c = (struct ergo_hard_cells){0};
}

/* A cell's place along the axes, from its number. */
static void cell_at(const struct ergo_hard *s, size_t cell, size_t at[3]) {
    at[0] = cell % s->cells[0];
    at[1] = cell / s->cells[0] % s->cells[1];
    at[2] = cell / s->cells[0] / s->cells[1];
}

size_t ergo_hard_place(struct ergo_hard_cells *c, const uint64_t (*at)[3]) {
    const struct ergo_hard *s = c->shape;
    memset(c->count, 0, (size_t)s->all);
    memset(c->grid, 0, sizeof c->grid);
    for (size_t i = 0; i < s->n; i++) {
        size_t cell = 0;
        for (unsigned k = s->kind->dimensions; k-- > 0;)
            cell = cell * s->cells[k] + (size_t)(at[i][k] / s->width[k]);
        if (c->count[cell] == s->slots)
            return i;
        uint32_t *place = ergo_hard_local(c, cell, c->count[cell]++);
        for (unsigned k = 0; k < s->kind->dimensions; k++)
            place[k] = (uint32_t)(at[i][k] % s->width[k]);
    }
    return SIZE_MAX;
}

static void ergo_hard_at(const struct ergo_hard_cells *c, size_t cell, size_t i,
                         uint64_t place[3]) {
    const struct ergo_hard *s = c->shape;
    size_t at[3];
    cell_at(s, cell, at);
    for (unsigned k = 0; k < s->kind->dimensions; k++)
        place[k] = (at[k] * s->width[k] + c->grid[k] + ergo_hard_local(c, cell, i)[k]) % s->side[k];
}

static bool crosses(const struct ergo_hard_cells *c) {
    const struct ergo_hard *s = c->shape;
    uint64_t place[3];
    for (size_t cell = 0; s->confined.is && cell < s->all; cell++)
        for (size_t i = 0; i < c->count[cell]; i++) {
            ergo_hard_at(c, cell, i, place);
            if (!ergo_confined_free(&s->confined, s->kind->dimensions, place))
                return true;
        }
    return false;
}

void ergo_hard_box(const struct ergo_hard_cells *c, double box[3]) {
    const struct ergo_hard *s = c->shape;
    for (unsigned k = 0; k < s->kind->dimensions; k++)
        box[k] = s->box[k];
    if (s->npt)
        s->kind->box(s, &c->volume, box);
}

void ergo_hard_positions(const struct ergo_hard_cells *c, double *at) {
    const struct ergo_hard *s = c->shape;
    double box[3], unit[3];
    size_t n = 0;
    uint64_t place[3];
    ergo_hard_box(c, box);
    for (unsigned k = 0; k < s->kind->dimensions; k++)
        unit[k] = s->npt ? (double)s->side[k] / box[k] : s->unit[k];
    for (size_t cell = 0; cell < s->all; cell++)
        for (size_t i = 0; i < c->count[cell]; i++, n++) {
            ergo_hard_at(c, cell, i, place);
            for (unsigned k = 0; k < s->kind->dimensions; k++)
                at[k * s->n + n] = (double)place[k] / unit[k];
        }
}

/* A pair, and of closest ones that with the first cell. */
struct closest {
    const struct ergo_hard_cells *c;
    uint64_t r2;
    size_t cell[2];
    unsigned slot[2];
    pthread_mutex_t lock;
};

/* Of a cell and one that lies `away` from it. */
static void closest_of_two(const struct ergo_hard_cells *c, size_t one, const int away[3],
                           struct closest *found) {
    const struct ergo_hard *s = c->shape;
    const unsigned dimensions = s->kind->dimensions;
    size_t at[3], two = 0;
    cell_at(s, one, at);
    for (int k = 2; k >= 0; k--)
        two = two * s->cells[k] + (at[k] + s->cells[k] + (size_t)(int64_t)away[k]) % s->cells[k];
    for (unsigned i = 0; i < c->count[one]; i++)
        for (unsigned j = away[0] || away[1] || away[2] ? 0 : i + 1; j < c->count[two]; j++) {
            const uint32_t *a = ergo_hard_local(c, one, i), *b = ergo_hard_local(c, two, j);
            int64_t d[3] = {0, 0, 0};
            for (unsigned k = 0; k < dimensions; k++)
                d[k] = (int64_t)b[k] - (int64_t)a[k] + away[k] * (int64_t)s->width[k];
            const uint64_t r2 = s->kind->r2(d, c->metric);
            if (r2 < found->r2)
                *found = (struct closest){.r2 = r2, .cell = {one, two}, .slot = {i, j}};
        }
}

static void closest_of_cells(size_t begin, size_t end, void *user) {
    struct closest *all = user, found = {.r2 = UINT64_MAX};
    const bool flat = all->c->shape->kind->dimensions == 2;
    for (size_t one = begin; one < end; one++)
        for (int o = 13; o < (flat ? 18 : 27) && all->c->count[one]; o++) /* a pair of cells once */
            closest_of_two(all->c, one, (const int[]){o % 3 - 1, o / 3 % 3 - 1, o / 9 - 1}, &found);
    pthread_mutex_lock(&all->lock);
    if (found.r2 < all->r2 || (found.r2 == all->r2 && found.cell[0] < all->cell[0])) {
        all->r2 = found.r2;
        memcpy(all->cell, found.cell, sizeof all->cell);
        memcpy(all->slot, found.slot, sizeof all->slot);
    }
    pthread_mutex_unlock(&all->lock);
}

uint64_t ergo_hard_closest(const struct ergo_hard_cells *c, size_t cell[2], unsigned slot[2]) {
    enum { WORTHWHILE = 1 << 10 }; /* cells that are worth waking a core */
    struct closest all = {.c = c, .r2 = UINT64_MAX, .lock = PTHREAD_MUTEX_INITIALIZER};
    ergo_parallel_ranges((size_t)c->shape->all, WORTHWHILE, closest_of_cells, &all);
    if (cell && all.r2 != UINT64_MAX) {
        memcpy(cell, all.cell, sizeof all.cell);
        memcpy(slot, all.slot, sizeof all.slot);
    }
    return all.r2;
}

size_t ergo_hard_raw_place(const struct ergo_hard *s, size_t cell) {
    size_t at[3], raw = 0;
    cell_at(s, cell, at);
    for (unsigned k = 0; k < s->kind->dimensions; k++)
        raw |= at[k] % 2 << k;
    for (unsigned k = s->kind->dimensions; k-- > 0;)
        raw = raw * (s->cells[k] / 2) + at[k] / 2;
    return raw;
}

/* ---- canonical bytes ------------------------------------------------------------------------- */

/* Of a state, behind the volume. */
static size_t rest_of(const struct ergo_hard *s) {
    return 8 * s->kind->dimensions + (size_t)s->all + 4 * s->kind->dimensions * (size_t)s->n;
}

void ergo_hard_write(const struct ergo_hard_cells *c, struct ergo_text *text) {
    const struct ergo_hard *s = c->shape;
    const unsigned dimensions = s->kind->dimensions;
    if (s->npt)
        ergo_isobaric_append(text, &s->isobaric, dimensions, s->per_axis, &c->volume);
    for (unsigned k = 0; k < dimensions; k++)
        ergo_bytes_append(text, c->grid[k], 8);
    for (size_t cell = 0; cell < s->all; cell++) {
        ergo_bytes_append(text, c->count[cell], 1);
        for (unsigned k = 0; k < dimensions * c->count[cell]; k++)
            ergo_bytes_append(text, ergo_hard_local(c, cell, 0)[k], 4);
    }
}

static const char *read_volume(struct ergo_hard_cells *c, const uint8_t *data) {
    const struct ergo_hard *s = c->shape;
    uint64_t allowed[2];
    c->volume.size = (int64_t)ergo_bytes_get(data, 8);
    if (!is_near(c) ||
        !ergo_isobaric_read(data, &s->isobaric, s->kind->dimensions, s->per_axis, &c->volume))
        return "its volume is not one that its cells allow";
    resize(c, allowed);
    return c->contact < allowed[0] || c->contact > allowed[1]
               ? "its sides are not ones that its cells allow"
               : NULL;
}

/* The cells, which end at data + length. */
static const char *read_cells(struct ergo_hard_cells *c, const uint8_t *data, size_t length) {
    const struct ergo_hard *s = c->shape;
    const unsigned dimensions = s->kind->dimensions;
    size_t at = 0, n = 0;
    for (size_t cell = 0; cell < s->all; cell++) {
        c->count[cell] = at < length ? data[at++] : 255;
        if (c->count[cell] > s->slots || at + 4 * dimensions * (size_t)c->count[cell] > length)
            return "a cell holds more particles than fit";
        n += c->count[cell];
        for (unsigned k = 0; k < dimensions * c->count[cell]; k++, at += 4) {
            const uint64_t x = ergo_bytes_get(data + at, 4);
            if (x >= s->width[k % dimensions])
                return "a particle is outside of its cell";
            ergo_hard_local(c, cell, 0)[k] = (uint32_t)x;
        }
    }
    return n != s->n || at != length ? "it has another number of particles" : NULL;
}

bool ergo_hard_read(struct ergo_hard_cells *c, const void *bytes, size_t length,
                    const char **reason) {
    const struct ergo_hard *s = c->shape;
    const unsigned dimensions = s->kind->dimensions;
    const size_t head = s->npt ? ergo_isobaric_bytes(&s->isobaric, dimensions, s->per_axis) : 0;
    const uint8_t *data = bytes;
    *reason = length == head + rest_of(s) ? NULL
                                          : "its length is not that of as many particles and cells";
    if (!*reason && s->npt)
        *reason = read_volume(c, data);
    for (unsigned k = 0; k < dimensions && !*reason; k++) {
        c->grid[k] = ergo_bytes_get(data + head + 8 * (size_t)k, 8);
        if (c->grid[k] >= s->side[k])
            *reason = "its grid is outside of the box";
    }
    const size_t cells = head + 8 * (size_t)dimensions;
    if (!*reason)
        *reason = read_cells(c, data + cells, length - cells);
    if (!*reason && ergo_hard_closest(c, NULL, NULL) < c->contact)
        *reason = "particles overlap";
    if (!*reason && crosses(c))
        *reason = "a particle is in a wall";
    return !*reason;
}

/* ---- states ---------------------------------------------------------------------------------- */

static const struct ergo_hard *shape_of(const void *state, size_t member, size_t *first,
                                        size_t *plane) {
    return ((const struct ergo_hard_state *)state)->kind->of(state, member, first, plane);
}

enum ergo_status ergo_hard_fetch_cells(struct ergo_context *ctx, struct ergo_engine *e,
                                       unsigned buffer, const struct ergo_hard *s, size_t first,
                                       size_t plane, struct ergo_hard_cells *c) {
    const size_t all = (size_t)s->all, bytes = all * ERGO_HARD_BYTES;
    unsigned char *raw = malloc(bytes * s->planes);
    ergo_engine_begin(e, ctx);
    ergo_engine_note(e, ergo_hard_create(ctx, s, c));
    if (!raw)
        ergo_engine_note(e, no_memory(ctx, s));
    for (size_t p = 0; p < s->planes; p++)
        ergo_engine_read(e, buffer, (p * plane + first) * ERGO_HARD_BYTES, bytes, raw + p * bytes);
    if (ergo_engine_end(e) == ERGO_OK)
        s->kind->from_raw(c, raw, 0, all);
    else
        ergo_hard_free(c);
    free(raw);
    return ergo_engine_end(e);
}

enum ergo_status ergo_hard_fetch(struct ergo_context *ctx, void *state, size_t member,
                                 struct ergo_hard_cells *c) {
    struct ergo_engine *e = state;
    size_t first, plane;
    const struct ergo_hard *s = shape_of(state, member, &first, &plane);
    const size_t grid = 8 * (size_t)s->kind->dimensions;
    uint64_t allowed[2];
    if (ergo_hard_fetch_cells(ctx, e, s->kind->cells, s, first, plane, c) != ERGO_OK)
        return ergo_engine_end(e);
    ergo_engine_read(e, s->kind->grids, grid * member, grid, c->grid);
    if (s->npt)
        s->kind->read_size(state, member, c);
    if (ergo_engine_end(e) != ERGO_OK)
        ergo_hard_free(c);
    else if (is_near(c)) /* else its bytes say so */
        resize(c, allowed);
    return ergo_engine_end(e);
}

bool ergo_hard_due(const void *state, unsigned slot, size_t curve, uint64_t every) {
    return every && ergo_engine_curve_sample(state, slot, curve) % every == 0;
}

void ergo_hard_read_curve(void *state, unsigned places, size_t curve, uint64_t every) {
    struct ergo_hard_state *s = state;
    const unsigned cells = s->kind->cells;
    if (ergo_hard_due(s, s->e.slot, curve, every))
        ergo_engine_read_curve(&s->e, cells, 0, (size_t)s->e.buffers[cells].bytes, places, curve,
                               0);
}

bool ergo_hard_of_curve(const void *state, unsigned places, unsigned slot, size_t curve,
                        size_t member, struct ergo_hard_cells *c) {
    const struct ergo_hard_state *s = state;
    size_t first, plane;
    if (ergo_hard_create(s->e.ctx, shape_of(s, member, &first, &plane), c) != ERGO_OK)
        return false;
    s->kind->from_raw(c, ergo_engine_host(&s->e, places, slot, curve), first, plane);
    return true;
}

enum ergo_status ergo_hard_store(struct ergo_context *ctx, void *state, size_t member,
                                 const struct ergo_hard_cells *c) {
    struct ergo_engine *e = state;
    size_t first, plane;
    const struct ergo_hard *s = shape_of(state, member, &first, &plane);
    const size_t all = (size_t)s->all, bytes = all * ERGO_HARD_BYTES;
    const size_t grid = 8 * (size_t)s->kind->dimensions;
    unsigned char *raw = malloc(bytes * s->planes);
    if (!raw)
        return no_memory(ctx, s);
    s->kind->to_raw(c, raw, 0, all);
    ergo_engine_begin(e, ctx);
    for (size_t p = 0; p < s->planes; p++)
        ergo_engine_write(e, s->kind->cells, (p * plane + first) * ERGO_HARD_BYTES, bytes,
                          raw + p * bytes);
    ergo_engine_write(e, s->kind->grids, grid * member, grid, c->grid);
    if (s->npt)
        s->kind->write_size(state, member, c);
    free(raw);
    return ergo_engine_end(e);
}

/* In one piece, because Oclgrind's memory check loses track of buffers that are written in parts.
 */
enum ergo_status ergo_hard_begin(struct ergo_context *ctx, void *state,
                                 const struct ergo_hard_cells *starts) {
    struct ergo_engine *e = state;
    const struct ergo_hard_kind *kind = ((struct ergo_hard_state *)state)->kind;
    const size_t count = e->batch->count, bytes = (size_t)e->buffers[kind->cells].bytes;
    const size_t grid = 8 * (size_t)kind->dimensions;
    unsigned char *raw = malloc(bytes), *grids = malloc(grid * count);
    enum ergo_status status =
        raw && grids ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu systems", count);
    bool npt = false;
    e->step = 0;
    for (size_t i = 0; i < count && status == ERGO_OK; i++) {
        size_t first, plane;
        const struct ergo_hard *s = shape_of(state, i, &first, &plane);
        struct ergo_hard_cells own = {0};
        const struct ergo_hard_cells *c = starts ? &starts[i] : &own;
        npt = s->npt;
        if (!starts)
            status = ergo_hard_create(ctx, s, &own);
        if (!starts && status == ERGO_OK)
            status = kind->start(ctx, e->batch->points[i], s, &own);
        if (status == ERGO_OK) {
            kind->to_raw(c, raw, first, plane);
            memcpy(grids + grid * i, c->grid, grid);
        }
        ergo_hard_free(&own);
    }
    ergo_engine_begin(e, ctx);
    ergo_engine_note(e, status);
    if (status == ERGO_OK) {
        ergo_engine_write(e, kind->cells, 0, bytes, raw);
        ergo_engine_write(e, kind->grids, 0, grid * count, grids);
    }
    if (status == ERGO_OK && npt)
        kind->start_sizes(state);
    free(raw);
    free(grids);
    return ergo_engine_end(e);
}

enum ergo_status ergo_hard_save(struct ergo_context *ctx, void *state, size_t member,
                                struct ergo_text *text) {
    struct ergo_hard_cells c;
    const enum ergo_status status = ergo_hard_fetch(ctx, state, member, &c);
    if (status != ERGO_OK)
        return status;
    ergo_hard_write(&c, text);
    ergo_hard_free(&c);
    return text->failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a saved state") : ERGO_OK;
}

enum ergo_status ergo_hard_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                                const void *bytes, size_t length) {
    size_t first, plane;
    struct ergo_hard_cells c;
    const char *reason;
    enum ergo_status status = ergo_hard_create(ctx, shape_of(state, member, &first, &plane), &c);
    if (status == ERGO_OK && !ergo_hard_read(&c, bytes, length, &reason))
        status = ERGO_FAIL(ctx, ERGO_E_IO, "the saved state of member %zu is damaged: %s", member,
                           reason);
    if (status == ERGO_OK)
        status = ergo_hard_store(ctx, state, member, &c);
    ((struct ergo_engine *)state)->step = step;
    ergo_hard_free(&c);
    return status;
}

enum ergo_status ergo_hard_carry(struct ergo_context *ctx, void *state, size_t member,
                                 const void *bytes, size_t length) {
    size_t first, plane;
    const struct ergo_hard *s = shape_of(state, member, &first, &plane);
    struct ergo_text own = {0};
    ergo_isobaric_carried(&own, &s->isobaric, s->kind->dimensions, s->per_axis, bytes, length,
                          rest_of(s));
    const enum ergo_status status =
        own.failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a start")
                   : ergo_hard_load(ctx, state, member, 0, own.data, own.length);
    ergo_text_free(&own);
    return status;
}
