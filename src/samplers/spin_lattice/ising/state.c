/* The canonical state of an Ising lattice, and its picture. */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/ising/ising.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/two_times.h"
#include "spin_lattice/params.h"

struct ergo_checkerboard ising_board(const struct ising_shape *s) {
    return (struct ergo_checkerboard){.bits = 1,
                                      .lx = (size_t)s->lx,
                                      .ly = (size_t)s->ly,
                                      .rows = (size_t)s->ly,
                                      .pitch = 4 * s->row_words,
                                      .colour = 16 * s->blocks};
}

/* 64 sites of a row, from site 64 w on; sites beyond its end are zero. */
static uint64_t sites_at(const uint8_t *row, size_t bytes, size_t w) {
    uint64_t sites = 0;
    const size_t rest = bytes - 8 * w;
    memcpy(&sites, row + 8 * w,
           rest < 8 ? rest : 8); /* little-endian hosts only: see device/device.c */
    return sites;
}

struct ising_counts ising_count(const struct ising_shape *s, const uint8_t *rows,
                                const uint8_t *behind) {
    struct ising_counts c = {0, 0, 0};
    const size_t lx = (size_t)s->lx, ly = (size_t)s->ly, bytes = ergo_bits_bytes((size_t)s->lx),
                 n = (lx + 63) / 64;
    for (size_t y = 0; y < ly; y++) {
        const uint8_t *row = rows + y * bytes, *below = y + 1 == ly ? behind : row + bytes;
        for (size_t w = 0; w < n; w++) {
            const uint64_t sites = sites_at(row, bytes, w);
            /* right neighbour of the last site of the word, or of the row */
            const size_t last = w + 1 == n ? (lx - 1) % 64 : 63;
            const uint64_t next = (w + 1 == n ? row[0] : row[8 * (w + 1)]) & 1;
            const uint64_t right =
                (last < 63 ? sites >> 1 & ~(UINT64_C(1) << last) : sites >> 1) | next << last;
            /* sites with x + y even */
            const uint64_t even = UINT64_C(0x5555555555555555) << (y & 1);
            c.up += (uint64_t)__builtin_popcountll(sites);
            c.first += (uint64_t)__builtin_popcountll(sites & even);
            c.unequal += (uint64_t)__builtin_popcountll(sites ^ right) +
                         (uint64_t)__builtin_popcountll(sites ^ sites_at(below, bytes, w));
        }
    }
    return c;
}

/* 64 bits of `words`, from bit `at` on. */
static uint64_t bits_at(const uint64_t *words, size_t at) {
    const unsigned shift = (unsigned)(at % 64);
    return shift ? words[at / 64] >> shift | words[at / 64 + 1] << (64 - shift) : words[at / 64];
}

bool ising_count_pairs(const struct ising_shape *s, const uint8_t *rows, size_t around,
                       size_t reach, size_t first, size_t stride, uint64_t *pairs) {
    const size_t lx = (size_t)s->lx, ly = (size_t)s->ly, bytes = ergo_bits_bytes((size_t)s->lx),
                 n = (lx + 63) / 64;
    uint64_t *twice = malloc((2 * n + 2) * sizeof *twice); /* a row, and once more behind it */
    memset(pairs, 0, 2 * reach * sizeof *pairs);
    for (size_t y = 0; y < ly && twice; y++) {
        const uint8_t *row = rows + y * bytes;
        memset(twice, 0, (2 * n + 2) * sizeof *twice);
        memcpy(twice, row, bytes);
        for (size_t w = n; w-- > 0;) {
            const uint64_t sites = sites_at(row, bytes, w);
            const size_t at = lx + 64 * w;
            twice[at / 64] |= sites << (at % 64);
            if (at % 64)
                twice[at / 64 + 1] |= sites >> (64 - at % 64);
        }
        for (size_t r = first; r <= reach; r += stride) {
            const uint8_t *below = rows + (y + r) % around * bytes;
            for (size_t w = 0; w < n; w++) {
                const uint64_t sites = sites_at(row, bytes, w);
                const uint64_t in =
                    w + 1 < n || lx % 64 == 0 ? ~UINT64_C(0) : (UINT64_C(1) << (lx % 64)) - 1;
                pairs[r - 1] +=
                    (uint64_t)__builtin_popcountll((sites ^ bits_at(twice, 64 * w + r)) & in);
                pairs[reach + r - 1] +=
                    (uint64_t)__builtin_popcountll(sites ^ sites_at(below, bytes, w));
            }
        }
    }
    const bool memory = twice != NULL;
    free(twice);
    return memory;
}

void ising_count_rows(const struct ising_shape *s, const uint8_t *rows, bool staggered,
                      uint32_t *planes) {
    const size_t bytes = ergo_bits_bytes((size_t)s->lx), n = ((size_t)s->lx + 63) / 64;
    for (size_t y = 0; y < (size_t)s->ly; y++) {
        const uint64_t even = UINT64_C(0x5555555555555555) << (y & 1);
        uint32_t up = 0, first = 0;
        for (size_t w = 0; w < n; w++) {
            const uint64_t sites = sites_at(rows + y * bytes, bytes, w);
            up += (uint32_t)__builtin_popcountll(sites);
            first += (uint32_t)__builtin_popcountll(sites & even);
        }
        planes[2 * y + 1] = staggered ? 2 * first - up : up;
    }
}

enum ergo_status ising_fetch(struct ergo_context *ctx, struct ising_state *s, size_t member,
                             uint8_t **rows, size_t *length) {
    enum ergo_status status = ERGO_OK;
    uint32_t *words = malloc(s->shape.member_bytes);
    const struct ergo_checkerboard board = ising_board(&s->shape);
    *length = ergo_checkerboard_bytes(&board);
    *rows = calloc(*length, 1);
    if (!words || !*rows) {
        status =
            ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to read back a lattice of %zu bytes", *length);
        goto out;
    }
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_read(&s->e, ISING_SPINS, member * s->shape.member_bytes, s->shape.member_bytes,
                     words);
    status = ergo_engine_end(&s->e);
    if (status == ERGO_OK)
        ergo_checkerboard_pack(&board, words, *rows);
out:
    free(words);
    if (status != ERGO_OK) {
        free(*rows);
        *rows = NULL;
    }
    return status;
}

enum ergo_status ising_save(struct ergo_context *ctx, void *state, size_t member,
                            struct ergo_text *text) {
    uint8_t *rows = NULL;
    size_t length = 0;
    enum ergo_status status = ising_fetch(ctx, state, member, &rows, &length);
    if (status == ERGO_OK)
        ergo_text_append_bytes(text, rows, length);
    if (status == ERGO_OK && text->failed)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a state of %zu bytes", length);
    free(rows);
    return status;
}

enum ergo_status ising_load(struct ergo_context *ctx, void *opaque, size_t member, uint64_t step,
                            const void *bytes, size_t length) {
    struct ising_state *s = opaque;
    const struct ergo_checkerboard board = ising_board(&s->shape);
    const size_t expected = ergo_checkerboard_bytes(&board);
    if (length != expected)
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has %zu bytes; a lattice of %lld x %lld "
                         "has %zu",
                         member, length, (long long)s->shape.lx, (long long)s->shape.ly, expected);
    uint32_t *words = malloc(s->shape.member_bytes);
    if (!words)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load a lattice");
    ergo_engine_begin(&s->e, ctx);
    if (!ergo_checkerboard_unpack(&board, bytes, words))
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_IO,
                         "the saved state of member %zu has bits outside the "
                         "lattice: it is damaged",
                         member);
    ergo_engine_write(&s->e, ISING_SPINS, member * s->shape.member_bytes, s->shape.member_bytes,
                      words);
    s->e.step = step;
    free(words);
    return ergo_engine_end(&s->e);
}

enum ergo_status ising_form(struct ergo_context *ctx, const struct ergo_point *point,
                            struct ergo_form *form) {
    const struct ising_shape s = ising_shape_of(point);
    const uint64_t sides[] = {ergo_bits_bytes((size_t)s.lx), (uint64_t)s.ly};
    ergo_form_lattice(form, sides, 2, 1, 1);
    form->parts[0].bits = (uint64_t)s.lx;
    form->parts[0].help = "1 up, 0 down";
    return timed_form(ctx, point, form);
}

/* ---- for people ------------------------------------------------------------------------------ */

static unsigned spin_at(const struct ergo_view *v, size_t x, size_t y) {
    return ergo_bits_get((const uint8_t *)v->sites + y * ergo_bits_bytes(v->size[0]), x);
}

struct ergo_view ising_view_of(const struct ising_shape *shape) {
    return (struct ergo_view){.size = {(uint64_t)shape->lx, (uint64_t)shape->ly, 1},
                              .state = spin_at,
                              .name = "up",
                              .states = 2,
                              .colours = {{245, 222, 179}, {31, 58, 95}},
                              .mean = true};
}

enum ergo_status ising_view(struct ergo_context *ctx, void *opaque, size_t member,
                            struct ergo_view *view) {
    struct ising_state *s = opaque;
    uint8_t *rows;
    size_t length;
    const enum ergo_status status = ising_fetch(ctx, s, member, &rows, &length);
    *view = ising_view_of(&s->shape);
    view->sites = rows;
    return status;
}
