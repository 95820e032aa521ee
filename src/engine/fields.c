/* See fields.h. */
#include "engine/fields.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/bytes.h"
#include "base/parallel.h"
#include "engine/slab.h"
#include "engine/temper.h"

enum { CHUNK = 1 << 24, WORTHWHILE = 1 << 18 }; /* bytes: at a time; that are worth another core */

/* ---- extents ---------------------------------------------------------------------------------
 */

static void lattice(struct ergo_extent *x, const uint64_t *sides, unsigned n, uint64_t row,
                    size_t each) {
    static const char *const axes[2][5] = {
        {"", "x", "y x", "z y x", "w z y x"},
        {"", "x component", "y x component", "z y x component", "w z y x component"}};
    x->axes = axes[each > 1][n];
    x->rows = 1;
    for (unsigned i = 1; i < n; i++)
        x->rows *= (size_t)sides[i];
    for (unsigned i = n; i-- > 0;)
        x->shape[x->n_dims++] = i ? sides[i] : row;
    if (each > 1)
        x->shape[x->n_dims++] = each;
    x->bytes = (size_t)row * each * (x->element ? x->element : 1);
}

void ergo_extent_lattice(struct ergo_extent *x, const uint64_t *sides, unsigned n, size_t each) {
    lattice(x, sides, n, sides[0], each);
}

void ergo_extent_bits(struct ergo_extent *x, const uint64_t *sides, unsigned n) {
    lattice(x, sides, n, ergo_bits_bytes((size_t)sides[0]), 1);
    x->bits = (size_t)sides[0];
}

void ergo_extent_numbers(struct ergo_extent *x, size_t count, size_t element) {
    x->element = element;
    x->bytes = count * element;
}

void ergo_extent_shape(struct ergo_extent *x, const uint64_t *lengths, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        x->shape[x->n_dims++] = lengths[i];
}

/* A field's place in the canonical state. */
struct ergo_placed {
    const struct ergo_field *field;
    struct ergo_extent x;
    size_t offset, stride; /* from one piece to the next */
    size_t piece;          /* bytes of a piece on the device */
};

struct placed {
    size_t n, bytes, carried; /* carried: of these, what a configuration may end with */
    bool own;                 /* the table has fields of a run's own, be they empty in this one */
    struct ergo_placed at[ERGO_FIELDS + 1];
};

static struct ergo_placed extent_of(const struct ergo_field *field, const void *shape,
                                    size_t member) {
    struct ergo_placed p = {.field = field, .x = {.member = member}};
    struct ergo_extent *x = &p.x;
    field->extent(shape, x);
    size_t *const ones[] = {&x->pieces, &x->rows, &x->element, &x->planes};
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        *ones[i] = *ones[i] ? *ones[i] : 1;
    if (!x->raw)
        x->raw = x->wide ? x->bytes / x->element * x->wide : x->bytes;
    if (!x->plane)
        x->plane = x->rows * x->raw;
    p.piece = x->whole ? x->whole : x->planes * x->plane;
    return p;
}

static void place(const struct ergo_fields *fields, const void *shape, size_t member,
                  struct placed *all) {
    *all = (struct placed){0};
    size_t first = 0; /* of the fields whose pieces lie beside each other */
    for (size_t i = 0; i < fields->n; i++) {
        struct ergo_placed p = extent_of(&fields->field[i], shape, member);
        const size_t bytes = p.x.rows * p.x.bytes;
        if (p.field->own && !all->own)
            all->carried = all->bytes;
        all->own = all->own || p.field->own;
        if (!p.field->beside)
            first = all->n;
        if (!bytes)
            continue;
        p.offset = first < all->n ? all->at[first].offset + all->at[first].stride : all->bytes;
        p.stride = (first < all->n ? all->at[first].stride : 0) + bytes;
        all->at[all->n++] = p;
        for (size_t k = first; k < all->n; k++)
            all->at[k].stride = p.stride;
        all->bytes += p.x.pieces * bytes;
    }
    if (!all->own)
        all->carried = all->bytes;
}

static const void *shape_of(const struct ergo_engine *e) {
    return (const char *)e + e->model->fields->shape;
}

/* ---- a field between a device and the canonical form -----------------------------------------
 */

struct way {
    struct ergo_field_row row; /* what rows have in common */
    char *raw;
    uint8_t *bytes;      /* of the first piece's first row */
    size_t first, piece; /* the first row in `raw`, counted from that piece on */
    const uint32_t *from;
    bool load;
    atomic_bool bad;
};

static void take(const struct ergo_field_row *r, const struct ergo_field *field) {
    const struct ergo_extent *x = r->x;
    if (field->take)
        field->take(r);
    else if (!x->wide)
        memcpy(r->bytes, r->raw, x->bytes);
    else
        for (size_t i = 0; i < x->bytes / x->element; i++)
            memcpy(r->bytes + i * x->element, (char *)r->raw + i * x->wide, x->element);
}

static void put(const struct ergo_field_row *r, const struct ergo_field *field) {
    const struct ergo_extent *x = r->x;
    if (field->put)
        field->put(r);
    else if (!x->wide)
        memcpy(r->raw, r->bytes, x->bytes);
    else
        for (size_t i = 0; i < x->bytes / x->element; i++)
            memcpy((char *)r->raw + i * x->wide, r->bytes + i * x->element, x->element);
}

static bool is_good(const struct ergo_field_row *r, const struct ergo_field *field) {
    const struct ergo_extent *x = r->x;
    bool good = !x->bits || ergo_bits_clean(r->bytes, x->bits);
    if (field->constant && r->raw)
        return memcmp(r->raw, r->bytes, x->bytes) == 0;
    for (size_t i = 0; i < x->bytes && x->below && good; i += x->element)
        good = (x->element == 1 ? r->bytes[i] : ergo_bytes_get(r->bytes + i, (int)x->element)) <
               x->below;
    return good && (!field->valid || field->valid(r));
}

static void arrange(size_t begin, size_t end, void *user) {
    struct way *w = user;
    const struct ergo_field *field = w->row.at->field;
    const struct ergo_extent *x = w->row.x;
    for (size_t i = begin; i < end; i++) {
        struct ergo_field_row r = w->row;
        r.piece = w->piece + (w->first + i) / x->rows;
        r.row = (w->first + i) % x->rows;
        r.raw = w->raw && !x->whole ? w->raw + (w->from ? w->from[i] : i) * x->raw : w->raw;
        r.bytes = w->bytes + r.piece * w->row.at->stride + r.row * x->bytes;
        if (!w->load)
            take(&r, field);
        else if (!is_good(&r, field))
            atomic_store(&w->bad, true);
        else if (!field->constant)
            put(&r, field);
    }
}

/* Rows from w->first on, which `raw` has room for, from or to the device's memory at `at`. last:
 * what is behind them in a plane is written, too, as zeros. */
static void move_rows(struct ergo_engine *e, struct way *w, size_t at, size_t rows, bool last) {
    const struct ergo_field *field = w->row.at->field;
    const struct ergo_extent *x = w->row.x;
    const size_t planes = x->whole ? 1 : x->planes, from = x->whole ? 0 : w->first * x->raw;
    const size_t bytes = x->whole ? x->whole : last && w->load ? x->plane - from : rows * x->raw;
    const unsigned buffer = field->buffer;
    w->row.plane = bytes;
    for (size_t k = 0; k < planes && !w->load && buffer != ERGO_ON_HOST; k++)
        ergo_engine_read(e, buffer, at + k * x->plane + from, bytes, w->raw + k * bytes);
    if (w->load && buffer != ERGO_ON_HOST)
        memset(w->raw, 0, planes * bytes);
    if (ergo_engine_end(e) == ERGO_OK)
        ergo_parallel_ranges(rows, WORTHWHILE / (x->bytes + 1) + 1, arrange, w);
    if (atomic_load(&w->bad))
        ERGO_ENGINE_FAIL(e, ERGO_E_IO, "the saved state of member %zu %s%s%s", w->row.member,
                         field->constant ? "belongs to other " : "is damaged: its ", field->name,
                         field->constant ? ", or is damaged" : " are none that a run has");
    for (size_t k = 0; k < planes && w->load && buffer != ERGO_ON_HOST; k++)
        ergo_engine_write(e, buffer, at + k * x->plane + from, bytes, w->raw + k * bytes);
}

/* The field, or the first `most` rows of its first piece, to or from its bytes. */
static void move_field(struct ergo_engine *e, struct way *w, size_t most) {
    const struct ergo_placed *p = w->row.at;
    const struct ergo_extent *x = &p->x;
    const bool host = p->field->buffer == ERGO_ON_HOST;
    /* pieces are moved together where they are nothing but rows */
    const bool rows_alone = !x->whole && x->planes == 1 && x->plane == x->rows * x->raw;
    const size_t pieces = rows_alone || most < SIZE_MAX ? 1 : x->pieces;
    const size_t all = rows_alone ? x->rows * x->pieces : x->rows, rows = most < all ? most : all;
    const size_t fit = CHUNK / (x->planes * x->raw) + 1;
    w->from = p->field->from && !w->load ? p->field->from(e) : NULL;
    const size_t some = x->whole || host || w->from || fit > rows ? rows : fit;
    const size_t room = x->whole ? x->whole : x->planes * (x->plane - (all - some) * x->raw);
    char *const own = host && p->field->host ? p->field->host(e, w->row.member) : NULL;
    char *const raw = host ? NULL : malloc(rows_alone ? some * x->raw : room);
    if (!host && !raw)
        ERGO_ENGINE_FAIL(e, ERGO_E_MEMORY, "no memory for %s: %.3g MiB", p->field->name,
                         (double)room / 1048576);
    for (w->piece = 0; w->piece < pieces; w->piece++)
        for (w->first = 0; w->first < rows && e->status == ERGO_OK; w->first += some) {
            const size_t left = rows - w->first, now = left < some ? left : some;
            w->raw = host ? own ? own + w->piece * p->piece : NULL : raw;
            move_rows(e, w, (w->row.member * x->pieces + w->piece) * p->piece, now,
                      w->first + now == all && !rows_alone);
        }
    free(raw);
}

static struct way way_of(struct ergo_engine *e, size_t member, uint64_t step,
                         const struct placed *all, size_t i, bool load, uint8_t *bytes) {
    const struct ergo_placed *p = &all->at[i];
    return (struct way){
        .row = {e, shape_of(e), member, .step = step, .x = &p->x, .all = all->at, .at = p},
        .bytes = bytes + p->offset,
        .load = load};
}

/* All fields, or those of a configuration, from or to `bytes`; first what a state belongs to, so
 * that nothing else of another's is called damaged. */
static void move_fields(struct ergo_engine *e, size_t member, uint64_t step,
                        const struct placed *all, bool load, bool configuration, uint8_t *bytes) {
    for (size_t k = 0; k < 2 * all->n && ergo_engine_end(e) == ERGO_OK; k++) {
        const size_t i = k % all->n;
        struct way w = way_of(e, member, step, all, i, load, bytes);
        if (all->at[i].field->constant == (k < all->n) && (!configuration || all->at[i].x.axes))
            move_field(e, &w, SIZE_MAX);
    }
}

const uint8_t *ergo_field_beside(const struct ergo_field_row *r, unsigned buffer) {
    const struct ergo_placed *p = r->all;
    while (p->field->buffer != buffer)
        p++;
    return r->bytes - r->row * r->x->bytes - r->piece * r->at->stride - r->at->offset +
           r->piece * p->stride + p->offset;
}

bool ergo_field_arrange(const struct ergo_field *field, const void *shape, bool load, void *raw,
                        void *bytes) {
    struct ergo_placed p = extent_of(field, shape, 0);
    struct way w = {.row = {.shape = shape, .x = &p.x, .plane = p.x.plane, .all = &p, .at = &p},
                    .raw = raw,
                    .bytes = bytes,
                    .load = load};
    if (load)
        memset(raw, 0, p.piece);
    ergo_parallel_ranges(p.x.rows, WORTHWHILE / (p.x.bytes + 1) + 1, arrange, &w);
    return !atomic_load(&w.bad);
}

/* ---- operations ------------------------------------------------------------------------------ */

static void no_memory(struct ergo_engine *e, size_t bytes) {
    ERGO_ENGINE_FAIL(e, ERGO_E_MEMORY, "no memory for a state of %.3g MiB",
                     (double)bytes / 1048576);
}

size_t ergo_fields_bytes(const struct ergo_engine *e, size_t member) {
    struct placed all;
    place(e->model->fields, shape_of(e), member, &all);
    return all.bytes;
}

enum ergo_status ergo_fields_save(struct ergo_context *ctx, void *state, size_t member,
                                  struct ergo_text *text) {
    struct ergo_engine *e = state;
    struct placed all;
    ergo_engine_begin(e, ctx);
    place(e->model->fields, shape_of(e), member, &all);
    uint8_t *bytes = ergo_text_extend(text, all.bytes);
    if (!bytes)
        no_memory(e, all.bytes);
    else if (e->model->fields->saving)
        e->model->fields->saving(e, member);
    move_fields(e, member, e->step, &all, false, false, bytes);
    return ergo_engine_end(e);
}

static enum ergo_status load(struct ergo_engine *e, size_t member, uint64_t step,
                             const struct placed *all, bool configuration, const void *bytes) {
    move_fields(e, member, step, all, true, configuration, (uint8_t *)(uintptr_t)bytes);
    e->step = step;
    if (e->model->fields->loaded && ergo_engine_end(e) == ERGO_OK)
        e->model->fields->loaded(e, member);
    return ergo_engine_end(e);
}

enum ergo_status ergo_fields_load(struct ergo_context *ctx, void *state, size_t member,
                                  uint64_t step, const void *bytes, size_t length) {
    struct ergo_engine *e = state;
    struct placed all;
    place(e->model->fields, shape_of(e), member, &all);
    if (length != all.bytes)
        return ERGO_FAIL(ctx, ERGO_E_IO, "the saved state of member %zu has %zu bytes, not %zu",
                         member, length, all.bytes);
    ergo_engine_begin(e, ctx);
    return load(e, member, step, &all, false, bytes);
}

enum ergo_status ergo_fields_carry(struct ergo_context *ctx, void *state, size_t member,
                                   const void *bytes, size_t length) {
    struct ergo_engine *e = state;
    struct placed all;
    place(e->model->fields, shape_of(e), member, &all);
    if (length < all.carried || (length > all.bytes && !all.own))
        return ERGO_FAIL(ctx, ERGO_E_IO, "the saved state of member %zu has %zu bytes, not %zu",
                         member, length, all.bytes);
    ergo_engine_begin(e, ctx);
    return load(e, member, 0, &all, true, bytes);
}

enum ergo_status ergo_fields_first(struct ergo_context *ctx, void *state, size_t member,
                                   size_t parts, struct ergo_text *text) {
    struct ergo_engine *e = state;
    struct placed all;
    ergo_engine_begin(e, ctx);
    place(e->model->fields, shape_of(e), member, &all);
    size_t i = 0;
    while (all.at[i].field->buffer == ERGO_ON_HOST)
        i++;
    const struct ergo_extent *x = &all.at[i].x;
    const size_t rows = x->rows % parts ? x->rows : x->rows / parts;
    uint8_t *bytes = ergo_text_extend(text, rows * x->bytes);
    if (!bytes)
        no_memory(e, rows * x->bytes);
    else if (e->model->fields->saving)
        e->model->fields->saving(e, member);
    struct way w = way_of(e, member, e->step, &all, i, false, bytes);
    w.bytes = bytes;
    if (ergo_engine_end(e) == ERGO_OK)
        move_field(e, &w, rows);
    return ergo_engine_end(e);
}

enum ergo_status ergo_fields_view(struct ergo_context *ctx, void *state, size_t member,
                                  struct ergo_view *view) {
    const struct ergo_engine *e = state;
    const struct ergo_temper *t = ergo_temper_of(e);
    const bool plane = view->plane;
    struct ergo_text sites = {0};
    e->model->fields->look(state, view);
    const enum ergo_status status =
        e->model->slab ? ergo_slab_save(ctx, state, member, &sites)
                       : ergo_fields_first(ctx, state, t ? member * t->rungs : member,
                                           plane ? (size_t)view->size[2] : 1, &sites);
    view->sites = sites.data; /* of slabs NULL on other ranks than the first */
    return status;
}

void ergo_fields_form(const struct ergo_fields *fields, const void *shape, struct ergo_form *form) {
    struct placed all;
    place(fields, shape, 0, &all);
    *form = (struct ergo_form){.bytes = all.carried};
    for (size_t i = 0; i < 2 * all.n; i++) { /* what states belong to comes last */
        const struct ergo_placed *p = &all.at[i % all.n];
        const struct ergo_extent *x = &p->x;
        if (!x->axes || p->field->constant != (i >= all.n))
            continue;
        struct ergo_form_part *part = &form->parts[form->n_parts++];
        *part = (struct ergo_form_part){.name = p->field->name,
                                        .axes = x->axes,
                                        .help = x->help,
                                        .element = (unsigned)x->element,
                                        .is_signed = x->is_signed,
                                        .systems = x->systems,
                                        .bits = x->bits,
                                        .scale = x->scale,
                                        .n_dims = x->n_dims,
                                        .offset = p->offset};
        memcpy(part->shape, x->shape, sizeof part->shape);
        if (p->stride != x->rows * x->bytes) {
            part->stride = p->stride;
            part->pieces = x->pieces;
        }
    }
}

/* ---- checkerboards ----------------------------------------------------------------------------
 */

/* The row in the colour of its even x (odd: odd x). The last sides of `shape` are y and x. */
static uint8_t *of_colour(const struct ergo_field_row *r, size_t odd) {
    const struct ergo_extent *x = r->x;
    const size_t ly = x->n_dims > 1 ? (size_t)x->shape[x->n_dims - 2] : 1;
    return (uint8_t *)r->raw + ((r->row % ly + r->row / ly + odd) & 1) * r->plane;
}

void ergo_take_checkerboard(const struct ergo_field_row *r) {
    ergo_bits_join(r->x->bits ? 1 : 8, of_colour(r, 0), of_colour(r, 1), r->x->bytes, r->bytes);
}

void ergo_put_checkerboard(const struct ergo_field_row *r) {
    ergo_bits_part(r->x->bits ? 1 : 8, r->bytes, r->x->bytes, of_colour(r, 0), of_colour(r, 1));
}
