/*
 * Audit of a lattice that is too large for the host's twin: one more measured sweep on the device,
 * and of its last rows, and the first, which follows them, all that can be said without the rest:
 * their bonds drawn again, the same representative at both ends of each active bond, and at each
 * site the state that this one draws. Afterwards the device has its lattices back.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/sw.h"

/* core.h as C: the macros of its shape read this. */
static _Thread_local struct { uint32_t q, words, ly, lx, tail; } whole;

#define SW_Q whole.q
#define SW_WORDS whole.words
#define SW_LY whole.ly
#define SW_TAIL whole.tail
#define SW_ROW0 0u
#define SW_WORD0 0u
#define SW_ALL_WORDS whole.words
#define SW_ALL_LX whole.lx
#include "swendsen_wang/core.h"

/* Of the rows that are looked at, and the one below them. */
static const uint64_t band_sites = 1u << 19;

struct audit {
    struct sw_state *s;
    size_t member;
    struct sw_member params; /* from the job, not those on the device */
    uint64_t step;
    uint32_t first, rows;
    const uint32_t *before;                 /* the member's planes */
    uint32_t *after, *right, *down, *names; /* after: all planes; the others: of the rows */
};

static enum ergo_status differ(struct ergo_context *ctx, const struct audit *a, const char *what) {
    const struct ergo_device_summary *d = &a->s->device->summary;
    return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                     "audit of swendsen-wang failed on %s (%s): %s, in sweep %llu of member %zu. "
                     "The device's compiler or hardware is wrong for these kernels: try another "
                     "device, or another /system/labelling",
                     d->name, d->driver, what, (unsigned long long)a->step, a->member);
}

/* Representatives of the sites of `count` words from word `first` on. */
static enum ergo_status read_names(struct ergo_context *ctx, const struct audit *a, cl_mem buffer,
                                   uint64_t first, uint64_t count, uint32_t *names) {
    struct sw_state *s = a->s;
    const cl_uint member = (cl_uint)a->member, from = (cl_uint)first, n = (cl_uint)count;
    const struct ergo_arg args[] = {ERGO_ARG(s->right),  ERGO_ARG(s->runs), ERGO_ARG(s->open),
                                    ERGO_ARG(s->labels), ERGO_ARG(buffer),  ERGO_ARG(member),
                                    ERGO_ARG(from),      ERGO_ARG(n)};
    const size_t local = s->launch.group, global = ergo_round_up(count, local);
    const enum ergo_status status = ergo_kernel_launch(
        ctx, s->device, s->kernels[SW_NAMES], "sw_names", args, 8, 1, &global, &local, NULL);
    return status == ERGO_OK ? ergo_buffer_read(ctx, s->device, buffer, 0, 128 * count, names)
                             : status;
}

static enum ergo_status read_rows(struct ergo_context *ctx, const struct audit *a) {
    struct sw_state *s = a->s;
    const uint64_t words = s->shape.row_words, bytes = s->shape.member_bytes;
    const uint64_t at = 4 * (s->shape.words * a->member + words * a->first);
    cl_mem buffer = NULL;
    enum ergo_status status =
        ergo_buffer_create(ctx, s->device, "audited labels", 128 * words * a->rows, NULL, &buffer);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, s->spins, bytes * a->member, bytes, a->after);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, s->right, at, 4 * words * a->rows, a->right);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, s->down, at, 4 * words * a->rows, a->down);
    if (status == ERGO_OK)
        status = read_names(ctx, a, buffer, words * a->first, words * a->rows, a->names);
    if (status == ERGO_OK) /* row 0 lies below the last */
        status = read_names(ctx, a, buffer, 0, words, a->names + 32 * words * a->rows);
    ergo_buffer_release(&buffer);
    return status;
}

/* Bonds between equal neighbours of word i in row y, before the draw. */
static void open_bonds(const struct audit *a, uint32_t i, uint32_t y, uint32_t *side,
                       uint32_t *under) {
    const struct sw_shape *shape = &a->s->shape;
    const size_t word = (size_t)y * shape->row_words + i;
    const size_t next = i + 1 == shape->row_words ? word - i : word + 1;
    const size_t below = y + 1 == (uint32_t)shape->ly ? i : word + shape->row_words;
    *side = *under = sw_valid(i);
    for (size_t p = 0; p < shape->planes; p++) {
        const uint32_t *plane = a->before + p * shape->words, own = plane[word];
        *side &= ~(own ^ (own >> 1 | (plane[next] & 1u) << sw_last_bit(i)));
        *under &= ~(own ^ plane[below]);
    }
}

static bool ends_agree(uint32_t bonds, const uint32_t *names, const uint32_t *others) {
    for (; bonds; bonds &= bonds - 1) {
        const int bit = __builtin_ctz(bonds);
        if (names[bit] != others[bit])
            return false;
    }
    return true;
}

static bool states_agree(const struct audit *a, uint32_t i, uint32_t y, const uint32_t *names) {
    const struct sw_member *m = &a->params;
    const size_t word = (size_t)y * a->s->shape.row_words + i;
    for (uint32_t bit = 0; bit <= sw_last_bit(i); bit++) {
        const uint32_t state =
            sw_state(sw_global_site(names[bit]), SW_PURPOSE_SPIN, (uint32_t)a->step,
                     (uint32_t)(a->step >> 32), m->key0, m->key1);
        for (size_t p = 0; p < a->s->shape.planes; p++)
            if ((a->after[p * a->s->shape.words + word] >> bit & 1u) != (state >> p & 1u))
                return false;
    }
    return true;
}

static enum ergo_status compare(struct ergo_context *ctx, const struct audit *a) {
    const struct sw_member *m = &a->params;
    const uint32_t words = a->s->shape.row_words, low = (uint32_t)a->step,
                   high = (uint32_t)(a->step >> 32);
    for (uint32_t row = 0; row < a->rows; row++)
        for (uint32_t i = 0; i < words; i++) {
            const size_t at = (size_t)row * words + i;
            const uint32_t *names = a->names + 32 * at, y = a->first + row, last = sw_last_bit(i);
            const uint32_t *next = i + 1 == words ? names - 32 * (size_t)i : names + 32;
            uint32_t side, under;
            open_bonds(a, i, y, &side, &under);
            side = sw_bonds(side, sw_global_word(i, y), 0, low, high, m->key0, m->key1, m->high,
                            m->low, m->always);
            under = sw_bonds(under, sw_global_word(i, y), 1, low, high, m->key0, m->key1, m->high,
                             m->low, m->always);
            if (side != a->right[at] || under != a->down[at])
                return differ(ctx, a, "bonds differ between the device and the host");
            if (!ends_agree(side & ~(1u << last), names, names + 1) ||
                (side >> last & 1u && names[last] != next[0]) ||
                !ends_agree(under, names, names + 32 * (size_t)words))
                return differ(ctx, a, "labels at the two ends of a bond differ");
            if (!states_agree(a, i, y, names))
                return differ(ctx, a, "a site has not the state of its cluster");
        }
    return ERGO_OK;
}

enum ergo_status sw_audit_rows(struct ergo_context *ctx, struct sw_state *s) {
    const size_t bytes = (size_t)s->shape.member_bytes, count = s->batch->count;
    const uint64_t words = s->shape.row_words, fit = band_sites / (32 * words) + 1;
    const uint64_t ly = (uint64_t)s->shape.ly;
    struct audit a = {.s = s, .member = count - 1, .step = s->step};
    a.rows = (uint32_t)(fit < ly ? fit : ly);
    a.first = (uint32_t)(ly - a.rows);
    sw_member_fill(s->batch->points[a.member], &a.params);
    whole.q = s->shape.q;
    whole.words = s->shape.row_words;
    whole.ly = (uint32_t)ly;
    whole.lx = (uint32_t)s->shape.lx;
    whole.tail = s->shape.tail;
    uint32_t *before = malloc(bytes * count);
    a.after = malloc(bytes);
    a.right = malloc(4 * words * a.rows);
    a.down = malloc(4 * words * a.rows);
    a.names = malloc(128 * words * (a.rows + 1));
    enum ergo_status status =
        before && a.after && a.right && a.down && a.names
            ? ergo_buffer_read(ctx, s->device, s->spins, 0, bytes * count, before)
            : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    const bool saved = status == ERGO_OK;
    if (saved)
        a.before = before + a.member * (bytes / 4);
    if (status == ERGO_OK)
        status = sw_sweep_measured(ctx, s);
    if (status == ERGO_OK)
        status = read_rows(ctx, &a);
    if (status == ERGO_OK)
        status = compare(ctx, &a);
    if (saved) {
        const enum ergo_status back =
            ergo_buffer_write(ctx, s->device, s->spins, 0, bytes * count, before);
        status = status == ERGO_OK ? back : status;
    }
    s->step = a.step;
    free(before);
    free(a.after);
    free(a.right);
    free(a.down);
    free(a.names);
    return status;
}
