/* The canonical state of an Ising lattice, and its picture. */
#include <stdlib.h>
#include <string.h>

#include "samplers/vti.h"
#include "samplers/spin_lattice/ising/ising.h"
#include "samplers/spin_lattice/models.h"
#include "spin_lattice/params.h"

/* Bit i of the lower half to bit 2i, and back. */
static uint64_t spread(uint64_t x) {
    x = (x | x << 16) & 0x0000ffff0000ffffu;
    x = (x | x << 8) & 0x00ff00ff00ff00ffu;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fu;
    x = (x | x << 2) & 0x3333333333333333u;
    return (x | x << 1) & 0x5555555555555555u;
}

static uint32_t gather(uint64_t x) {
    x &= 0x5555555555555555u;
    x = (x | x >> 1) & 0x3333333333333333u;
    x = (x | x >> 2) & 0x0f0f0f0f0f0f0f0fu;
    x = (x | x >> 4) & 0x00ff00ff00ff00ffu;
    x = (x | x >> 8) & 0x0000ffff0000ffffu;
    return (uint32_t)(x | x >> 16);
}

static size_t row_bytes(const struct ising_shape *s) {
    return ((size_t)s->lx + 7) / 8;
}

size_t ising_rows_bytes(const struct ising_shape *s) {
    return row_bytes(s) * (size_t)s->ly;
}

void ising_pack(const struct ising_shape *s, const uint32_t *words, uint8_t *rows) {
    for (size_t y = 0; y < (size_t)s->ly; y++) {
        for (size_t w = 0; w < s->row_words; w++) {
            /* in row y colour y & 1 has the even x */
            const size_t even = (y & 1) * 4 * s->blocks, odd = (1 - (y & 1)) * 4 * s->blocks;
            const uint64_t pair = spread(words[even + y * s->row_words + w]) |
                                  spread(words[odd + y * s->row_words + w]) << 1;
            for (size_t b = 0; b < 8 && 8 * w + b < row_bytes(s); b++)
                rows[y * row_bytes(s) + 8 * w + b] = (uint8_t)(pair >> (8 * b));
        }
    }
}

bool ising_unpack(const struct ising_shape *s, const uint8_t *rows, uint32_t *words) {
    bool clean = true;
    const uint32_t tail = 0xffffffffu >> (32 - s->tail);
    memset(words, 0, s->member_bytes);
    for (size_t y = 0; y < (size_t)s->ly; y++) {
        for (size_t w = 0; w < s->row_words; w++) {
            const size_t even = (y & 1) * 4 * s->blocks, odd = (1 - (y & 1)) * 4 * s->blocks;
            uint64_t pair = 0;
            for (size_t b = 0; b < 8 && 8 * w + b < row_bytes(s); b++)
                pair |= (uint64_t)rows[y * row_bytes(s) + 8 * w + b] << (8 * b);
            const uint32_t mask = w + 1 == s->row_words ? tail : 0xffffffffu;
            const uint32_t a = gather(pair), c = gather(pair >> 1);
            clean = clean && !((a | c) & ~mask);
            words[even + y * s->row_words + w] = a;
            words[odd + y * s->row_words + w] = c;
        }
    }
    return clean;
}

static unsigned spin_at(const struct ising_shape *s, const uint8_t *rows, size_t x, size_t y) {
    return rows[y * row_bytes(s) + x / 8] >> (x % 8) & 1;
}

/* 64 sites of a row, from site 64 w on; sites beyond its end are zero. */
static uint64_t sites_at(const uint8_t *row, size_t bytes, size_t w) {
    uint64_t sites = 0;
    const size_t rest = bytes - 8 * w;
    memcpy(&sites, row + 8 * w,
           rest < 8 ? rest : 8); /* little-endian hosts only: see device/device.c */
    return sites;
}

struct ising_counts ising_count(const struct ising_shape *s, const uint8_t *rows) {
    struct ising_counts c = {0, 0, 0};
    const size_t lx = (size_t)s->lx, ly = (size_t)s->ly, bytes = row_bytes(s), n = (lx + 63) / 64;
    for (size_t y = 0; y < ly; y++) {
        const uint8_t *row = rows + y * bytes, *below = rows + (y + 1 == ly ? 0 : y + 1) * bytes;
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

bool ising_count_pairs(const struct ising_shape *s, const uint8_t *rows, size_t reach, size_t first,
                       size_t stride, uint64_t *pairs) {
    const size_t lx = (size_t)s->lx, ly = (size_t)s->ly, bytes = row_bytes(s), n = (lx + 63) / 64;
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
            const uint8_t *below = rows + (y + r) % ly * bytes;
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
    const size_t bytes = row_bytes(s), n = ((size_t)s->lx + 63) / 64;
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
    *length = row_bytes(&s->shape) * (size_t)s->shape.ly;
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
        ising_pack(&s->shape, words, *rows);
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
    const size_t expected = row_bytes(&s->shape) * (size_t)s->shape.ly;
    if (length != expected)
        return ERGO_FAIL(ctx, ERGO_E_IO,
                         "the saved state of member %zu has %zu bytes; a lattice of %lld x %lld "
                         "has %zu",
                         member, length, (long long)s->shape.lx, (long long)s->shape.ly, expected);
    uint32_t *words = malloc(s->shape.member_bytes);
    if (!words)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load a lattice");
    ergo_engine_begin(&s->e, ctx);
    if (!ising_unpack(&s->shape, bytes, words))
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

/* One pixel per site up to 1024 a side, beyond that the mean over squares. */
enum ergo_status ising_picture(struct ergo_context *ctx, void *opaque, size_t member,
                               struct ergo_picture *picture) {
    struct ising_state *s = opaque;
    static const double up_colour[3] = {31, 58, 95}, down_colour[3] = {245, 222, 179};
    uint8_t *rows = NULL;
    size_t length = 0;
    memset(picture, 0, sizeof *picture);
    enum ergo_status status = ising_fetch(ctx, s, member, &rows, &length);
    if (status != ERGO_OK)
        return status;
    const size_t lx = (size_t)s->shape.lx, ly = (size_t)s->shape.ly;
    const size_t longest = lx > ly ? lx : ly, cell = (longest + 1023) / 1024;
    picture->width = (unsigned)((lx + cell - 1) / cell);
    picture->height = (unsigned)((ly + cell - 1) / cell);
    picture->rgb = malloc((size_t)picture->width * picture->height * 3);
    if (!picture->rgb) {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a picture");
        goto out;
    }
    for (size_t py = 0; py < picture->height; py++) {
        for (size_t px = 0; px < picture->width; px++) {
            size_t sites = 0, ups = 0;
            for (size_t y = py * cell; y < (py + 1) * cell && y < ly; y++)
                for (size_t x = px * cell; x < (px + 1) * cell && x < lx; x++, sites++)
                    ups += spin_at(&s->shape, rows, x, y);
            const double f = (double)ups / (double)sites;
            for (size_t c = 0; c < 3; c++)
                picture->rgb[3 * (py * picture->width + px) + c] =
                    (uint8_t)(f * up_colour[c] + (1 - f) * down_colour[c] + 0.5);
        }
    }
out:
    free(rows);
    return status;
}

enum ergo_status ising_frame(struct ergo_context *ctx, void *opaque, size_t member,
                             struct ergo_text *text) {
    struct ising_state *s = opaque;
    const size_t lx = (size_t)s->shape.lx, ly = (size_t)s->shape.ly, row = (lx + 7) / 8;
    const uint64_t size[3] = {lx, ly, 1};
    uint8_t *rows = NULL;
    size_t length = 0;
    if (lx * ly > MODEL_FRAME_SITES)
        return ERGO_OK;
    enum ergo_status status = ising_fetch(ctx, s, member, &rows, &length);
    uint8_t *up = malloc(lx * ly);
    if (status == ERGO_OK && !up)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a configuration");
    for (size_t i = 0; i < lx * ly && status == ERGO_OK; i++)
        up[i] = rows[i / lx * row + i % lx / 8] >> (i % lx % 8) & 1;
    if (status == ERGO_OK)
        ergo_vti_append(text, size, "up", up);
    free(rows);
    free(up);
    return status;
}
