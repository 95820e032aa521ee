/*
 * The state of a model, declared: a table of fields, from which saving, loading, starts in last
 * states of other runs, digests, pictures, frames and files of configurations follow. A model with
 * one byte a spin, in natural order on the device, says all of it so:
 *
 *     static void spins(const void *state, struct ergo_extent *x) {
 *         const struct mine *s = state;
 *         ergo_extent_lattice(x, (const uint64_t[]){s->lx, s->ly}, 2, 1);
 *         x->below = 2;
 *         x->help = "1 up, 0 down";
 *     }
 *     static const struct ergo_field field[] = {{MINE_SPINS, "spins", .extent = spins}};
 *     static const struct ergo_fields fields = {.field = field, .n = 1};
 *
 * with `.fields = &fields` in its engine's table and ergo_fields_save, ergo_fields_load among its
 * operations. Where the device has sites in another order, `take` and `put` are the way between.
 *
 * The canonical state of a member is its fields in the order of the table, little-endian, without a
 * trace of the layout in memory. A field is `rows` of `bytes`; where a member is made of `pieces`
 * that are alike (realisations, walkers), these rows of each piece. On a device, members lie one
 * after the other in a buffer, and so do pieces in a member.
 */
#ifndef ERGO_ENGINE_FIELDS_H
#define ERGO_ENGINE_FIELDS_H

#include "base/text.h"
#include "engine/engine.h"
#include "engine/view.h"
#include "job/form.h"

enum { ERGO_FIELDS = 16, ERGO_ON_HOST = ERGO_BUFFERS };

/* How large a field is. What is 0 means 1, unless it says otherwise. */
struct ergo_extent {
    size_t member;  /* asked for this one */
    size_t pieces;  /* of a member */
    size_t rows;    /* of a piece */
    size_t bytes;   /* of a row in the canonical form; 0: there is no such field */
    size_t element; /* bytes of a number, 1, 4 or 8 */
    /* A row is so many bits, the lowest first, and unused ones are zero; 0: it is of numbers. */
    size_t bits;
    uint64_t below; /* numbers are below it; 0: any is good */

    /* On a device: a row is `raw` bytes (0: as many as in the canonical form) in each of `planes`
     * (colours, components), which are `plane` bytes apart (0: there is nothing between them).
     * wide: bytes of a number there, where that is more. whole: rows cannot be told apart there,
     * and a piece is so many bytes. */
    size_t planes, plane, raw, wide, whole;

    /* As files of configurations have it (job/form.h). No axes: it tells of the run and is no part
     * of a configuration. */
    const char *axes, *help;
    bool is_signed;
    uint32_t systems;
    double scale;
    unsigned n_dims;
    uint64_t shape[ERGO_FORM_DIMS];
};

/* A lattice in natural order, x fastest; `sides` has x first. A row is one in x. Of each site
 * `each` elements, whose size is set before; or a bit. */
void ergo_extent_lattice(struct ergo_extent *x, const uint64_t *sides, unsigned n, size_t each);
void ergo_extent_bits(struct ergo_extent *x, const uint64_t *sides, unsigned n);
/* `count` numbers of `element` bytes, in one row. */
void ergo_extent_numbers(struct ergo_extent *x, size_t count, size_t element);
/* As files of configurations have it: the lengths of the axes. */
void ergo_extent_shape(struct ergo_extent *x, const uint64_t *lengths, unsigned n);

/* A row on its way. Rows are arranged by all cores, in any order. */
struct ergo_field_row {
    void *state;
    const void *shape; /* as `extent` has it */
    size_t member, piece, row;
    uint64_t step;
    const struct ergo_extent *x;
    void *raw;      /* the row in the first plane; with `whole` the piece; without `host` NULL */
    size_t plane;   /* from there to the row in the next plane */
    uint8_t *bytes; /* in the canonical form */
    const struct ergo_placed *all, *at; /* for ergo_field_beside */
};

struct ergo_field {
    unsigned buffer;  /* the model's row; ERGO_ON_HOST: `host` has it */
    const char *name; /* in plural: "the saved state of member 2 is damaged: its spins ..." */
    void (*extent)(const void *shape, struct ergo_extent *x);
    /* Of a row from `raw` to `bytes`, and from `bytes` to `raw`, which is zero. NULL: as it is. */
    void (*take)(const struct ergo_field_row *r);
    void (*put)(const struct ergo_field_row *r);
    /* Can these `bytes` be after `step` steps, beyond what `bits` and `below` say? NULL: all can.
     */
    bool (*valid)(const struct ergo_field_row *r);
    void *(*host)(void *state, size_t member);
    /* Rows of a member are not in order on the device: number i of them is where this says (set by
     * `saving`). A load puts them in order. NULL: they are. Neither planes nor `whole`. */
    const uint32_t *(*from)(const void *state);
    bool beside;   /* each piece follows that of the field before it */
    bool constant; /* of the host: what the state belongs to, not loaded, but compared, or for
                    * `valid` to see */
    bool own;      /* of this run: of a state that is carried, what begins here is not looked at */
};

struct ergo_fields {
    size_t shape; /* offsetof, of what `extent` gets; 0: the state */
    const struct ergo_field *field;
    size_t n;
    /* Before a member is saved; after it was loaded. NULL: nothing. */
    void (*saving)(void *state, size_t member);
    void (*loaded)(void *state, size_t member);
    /* What a view is besides the sites, which are the canonical form of the first piece of the
     * first field that a device has. NULL: nobody looks. */
    void (*look)(const void *state, struct ergo_view *view);
};

/* Rows of a checkerboard: two planes, colour 0 has the sites with x + y + z even. */
void ergo_take_checkerboard(const struct ergo_field_row *r);
void ergo_put_checkerboard(const struct ergo_field_row *r);

/* All rows of a field that is whole in `raw`, in host memory, from (load: to) there. False: `bytes`
 * are damaged. */
bool ergo_field_arrange(const struct ergo_field *field, const void *shape, bool load, void *raw,
                        void *bytes);

/* Bytes of another field of the same piece, by its buffer; as they are, unchecked. */
const uint8_t *ergo_field_beside(const struct ergo_field_row *r, unsigned buffer);

/* Bytes of a member's state. */
size_t ergo_fields_bytes(const struct ergo_engine *e, size_t member);
/* A sampler's operations (samplers/sampler.h). carry: what is no part of a configuration stays as a
 * start has made it. */
enum ergo_status ergo_fields_save(struct ergo_context *ctx, void *state, size_t member,
                                  struct ergo_text *text);
enum ergo_status ergo_fields_load(struct ergo_context *ctx, void *state, size_t member,
                                  uint64_t step, const void *bytes, size_t length);
enum ergo_status ergo_fields_carry(struct ergo_context *ctx, void *state, size_t member,
                                   const void *bytes, size_t length);
/* Of a ladder its coldest rung. */
enum ergo_status ergo_fields_view(struct ergo_context *ctx, void *state, size_t member,
                                  struct ergo_view *view);
/* The first of so many equal parts of that field, where it has such parts; else all of it. */
enum ergo_status ergo_fields_first(struct ergo_context *ctx, void *state, size_t member,
                                   size_t parts, struct ergo_text *text);
/* The form of a point, of whose state this is the shape. */
void ergo_fields_form(const struct ergo_fields *fields, const void *shape, struct ergo_form *form);

#endif
