/*
 * cl/spin_lattice/core.h as C against the serial oracle: the two classes without a field, bit for
 * bit; the canonical form of lattices; thresholds at their edges. Mutants: see tests/mutants, of
 * which those of core.h fail here too.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/fields.h"
#include "oracle/ising_serial.h"
#include "oracle/philox_ref.h"
#include "samplers/spin_lattice/ising/ising.h"

static uint32_t lx, ly;
#define ISING_LX lx
#define ISING_LY ly
#define ISING_CLASSES 2
#define ISING_SPACE
#include "spin_lattice/core.h"

/* One word a row with any tail, two, three, whole blocks; blocks that span rows or are partial. */
static const int shapes[][2] = {{2, 2},    {8, 8},    {2, 34},   {6, 12},  {62, 6},
                                {64, 8},   {66, 6},   {126, 2},  {128, 4}, {130, 6},
                                {192, 10}, {194, 18}, {256, 12}, {514, 4}, {1026, 2}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static const struct physics {
    const char *keys; /* of /system */
    bool field;
} physics[] = {
    {"\"temperature\": 2.269185314213", false},
    {"\"temperature\": 0.3, \"start\": \"up\"", false},
    {"\"temperature\": 3, \"coupling\": -1, \"start\": \"down\"", false},
    {"\"temperature\": 70, \"coupling\": 0.01", false},
    {"\"temperature\": 2.2, \"field\": 0.25", true},
    {"\"temperature\": 1.5, \"dynamics\": \"heat-bath\"", true},
    {"\"temperature\": 2, \"coupling\": -0.7, \"field\": -0.3, \"dynamics\": \"heat-bath\"", true},
};
enum { PHYSICS = sizeof physics / sizeof physics[0] };

/* A job of one point, and the oracle of it. */
struct bed {
    struct ergo_context *ctx;
    struct ergo_job *job;
    const struct ergo_point *point;
    struct ising_shape shape;
    struct ergo_oracle_ising oracle;
    size_t length;   /* of a lattice in canonical bytes */
    uint8_t *rows;   /* one */
    uint32_t *words; /* the device's layout */
};

static struct bed make(const int size[2], const char *keys) {
    struct bed b = {.ctx = ergo_context_create()};
    char text[400];
    snprintf(text, sizeof text,
             "{\"sampler\": \"spin-lattice\", \"seed\": \"7\", \"system\": {\"size\": [%d, %d], "
             "%s}, \"run\": {\"sweeps\": 1}}",
             size[0], size[1], keys);
    if (ergo_job_parse(b.ctx, text, strlen(text), "case", NULL, 0, &b.job) != ERGO_OK)
        fail_msg("%s: %s", text, ergo_error_message(b.ctx));
    b.point = b.job->batches[0].points[0];
    b.shape = ising_shape_of(b.point);
    const char *start = ergo_point_text(b.point, "/system/start");
    const bool heat = strcmp(ergo_point_text(b.point, "/system/dynamics"), "heat-bath") == 0;
    assert_true(ergo_oracle_ising_init(
        &b.oracle, size[0], size[1], ergo_point_real(b.point, "/system/coupling"),
        ergo_point_real(b.point, "/system/field"), ergo_point_real(b.point, "/system/temperature"),
        heat ? ERGO_ORACLE_HEAT_BATH : ERGO_ORACLE_METROPOLIS,
        strcmp(start, "up") == 0     ? ERGO_ORACLE_UP
        : strcmp(start, "down") == 0 ? ERGO_ORACLE_DOWN
                                     : ERGO_ORACLE_RANDOM,
        ergo_oracle_philox, b.point->stream));
    b.length = ((size_t)size[0] + 7) / 8 * (size_t)size[1];
    b.rows = calloc(b.length, 1);
    b.words = calloc(b.shape.member_bytes, 1);
    assert_true(b.rows && b.words);
    lx = (uint32_t)size[0];
    ly = (uint32_t)size[1];
    return b;
}

static void drop(struct bed *b) {
    ergo_oracle_ising_free(&b->oracle);
    free(b->rows);
    free(b->words);
    ergo_job_destroy(b->job);
    ergo_context_destroy(b->ctx);
}

static void set_bit(const struct bed *b, uint8_t *rows, int x, int y) {
    rows[(size_t)y * (b->length / (size_t)b->shape.ly) + (size_t)x / 8] |= (uint8_t)(1u << (x % 8));
}

/* The oracle's lattice, by sites, in b->rows. */
static void draw_rows(struct bed *b) {
    memset(b->rows, 0, b->length);
    for (int y = 0; y < b->oracle.Ly; y++)
        for (int x = 0; x < b->oracle.Lx; x++)
            if (ergo_oracle_ising_spin(&b->oracle, x, y) > 0)
                set_bit(b, b->rows, x, y);
}

/* Row y between `words`, as the device has them, and `rows`. */
static void move_row(const struct bed *b, size_t y, const uint32_t *words, uint8_t *rows,
                     bool load) {
    struct ergo_extent x = {0};
    const struct ergo_field *field = &ising_fields.field[0];
    field->extent(&b->shape, &x);
    const struct ergo_field_row r = {.row = y,
                                     .x = &x,
                                     .raw = (char *)(uintptr_t)words + y * x.raw,
                                     .plane = x.plane,
                                     .bytes = rows + y * x.bytes};
    (load ? field->put : field->take)(&r);
}

static void pack(const struct bed *b, const uint32_t *words, uint8_t *rows) {
    for (size_t y = 0; y < (size_t)b->shape.ly; y++)
        move_row(b, y, words, rows, false);
}

static void unpack(const struct bed *b) {
    memset(b->words, 0, b->shape.member_bytes);
    for (size_t y = 0; y < (size_t)b->shape.ly; y++)
        move_row(b, y, b->words, b->rows, true);
}

static void same_lattice(struct bed *b, const uint32_t *words, uint64_t sweep) {
    uint8_t *rows = calloc(b->length, 1);
    assert_non_null(rows);
    draw_rows(b);
    pack(b, words, rows);
    if (memcmp(rows, b->rows, b->length) != 0)
        fail_msg("core.h on %d x %d differs from the oracle after sweep %llu", b->oracle.Lx,
                 b->oracle.Ly, (unsigned long long)sweep);
    free(rows);
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* One sweep, with the two classes of this file. */
static void sweep_two_classes(const struct bed *b, const struct ising_member *member,
                              uint32_t *words, uint64_t sweep) {
    for (uint32_t colour = 0; colour < 2; colour++) {
        uint32_t *own = words + colour * 4 * b->shape.blocks;
        const uint32_t *other = words + (1 - colour) * 4 * b->shape.blocks;
        for (uint32_t block = 0; block < b->shape.blocks; block++) {
            struct ising_word s[4];
            for (uint32_t l = 0; l < 4; l++) {
                const uint32_t word = 4 * block + l;
                const struct ising_bonds n = ising_gather(other, word, colour);
                const struct ising_bonds_vec v = {n.up, n.down, n.same, n.side};
                s[l] = ising_open(own[word], v, ising_valid(word), member);
            }
            ising_decide(s, block, sweep, colour, member);
            for (uint32_t l = 0; l < 4; l++)
                own[4 * block + l] ^= s[l].flip;
        }
    }
}

/* Unequal bonds and pairs of core.h against their definitions. */
static void same_measurements(const struct bed *b, const uint32_t *words) {
    const struct ergo_oracle_ising *o = &b->oracle;
    uint64_t unequal = 0;
    for (uint32_t i = 0; i < b->shape.words; i++)
        unequal += ising_unequal(words[i], ising_gather(words + 4 * b->shape.blocks, i, 0),
                                 ising_valid(i));
    const int64_t n = (int64_t)o->Lx * o->Ly;
    assert_int_equal(unequal, (2 * n - ergo_oracle_ising_bonds(o)) / 2);
    const int shorter = o->Lx < o->Ly ? o->Lx : o->Ly;
    for (int r = 1; r <= shorter / 2; r++) {
        uint64_t pairs[2] = {0, 0}, want[2] = {0, 0};
        for (uint32_t axis = 0; axis < 2; axis++)
            for (uint32_t i = 0; i < b->shape.words; i++)
                pairs[axis] += ising_pairs(words, i, 0, axis, (uint32_t)r) +
                               ising_pairs(words, i, 1, axis, (uint32_t)r);
        for (int y = 0; y < o->Ly; y++)
            for (int x = 0; x < o->Lx; x++) {
                const int spin = ergo_oracle_ising_spin(o, x, y);
                want[0] += spin != ergo_oracle_ising_spin(o, (x + r) % o->Lx, y);
                want[1] += spin != ergo_oracle_ising_spin(o, x, (y + r) % o->Ly);
            }
        assert_int_equal(pairs[0], want[0]);
        assert_int_equal(pairs[1], want[1]);
    }
}

static void test_sweeps(void **state) {
    (void)state;
    /* from 0, and where the sweep number no longer fits into 32 bits */
    static const uint64_t from[] = {0, UINT64_C(0xfffffffe)};
    for (size_t i = 0; i < SHAPES * PHYSICS; i++) {
        struct bed b = make(shapes[i / PHYSICS], physics[i % PHYSICS].keys);
        struct ising_member member;
        ising_member_fill(b.point, false, &member);
        draw_rows(&b);
        unpack(&b);
        for (size_t k = 0; k < 2 && !ising_needs_field(b.point); k++) {
            for (uint64_t t = from[k]; t < from[k] + 4; t++) {
                ergo_oracle_ising_sweep(&b.oracle, t);
                sweep_two_classes(&b, &member, b.words, t);
                same_lattice(&b, b.words, t);
            }
            same_measurements(&b, b.words);
        }
        drop(&b);
    }
}

/* ---- the canonical form ---------------------------------------------------------------------- */

/* Every site alone: bit k % 32 of word k / 32 of row y of its colour, and back. */
static void test_single_sites(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        struct bed b = make(shapes[i], "\"temperature\": 2");
        uint8_t *rows = calloc(b.length, 1);
        assert_non_null(rows);
        for (int y = 0; y < shapes[i][1]; y++)
            for (int x = 0; x < shapes[i][0]; x++) {
                const size_t colour = (size_t)(x + y) & 1, k = (size_t)x / 2;
                memset(b.rows, 0, b.length);
                set_bit(&b, b.rows, x, y);
                unpack(&b);
                const size_t at = colour * 4 * b.shape.blocks + (size_t)y * b.shape.row_words;
                assert_int_equal(b.words[at + k / 32], 1u << (k % 32));
                uint64_t ones = 0;
                for (size_t w = 0; w < b.shape.member_bytes / 4; w++)
                    ones += (uint64_t)__builtin_popcount(b.words[w]);
                assert_int_equal(ones, 1);
                pack(&b, b.words, rows);
                assert_memory_equal(rows, b.rows, b.length);
            }
        free(rows);
        drop(&b);
    }
}

/* ---- thresholds ------------------------------------------------------------------------------ */

static uint64_t threshold_of(const struct ising_member *m, int k) {
    return m->always >> k & 1 ? UINT64_C(1) << 39 : (uint64_t)m->high[k] << 32 | m->low[k];
}

/* All classes of every physics, and temperatures where p rounds to 0 and to 2^-39. */
static void test_thresholds(void **state) {
    (void)state;
    static const int size[2] = {8, 8};
    static const struct physics edges[] = {
        {"\"temperature\": 0.01", false},
        {"\"temperature\": 0.288538", false}, /* 2^-40 is exp(-8 / 0.28853901) */
        {"\"temperature\": 0.28854", false},
        {"\"temperature\": 0.01, \"dynamics\": \"heat-bath\"", true},
        {"\"temperature\": 1e12, \"dynamics\": \"heat-bath\"", true}};
    for (size_t p = 0; p < PHYSICS + 5; p++) {
        const struct physics *at = p < PHYSICS ? &physics[p] : &edges[p - PHYSICS];
        struct bed b = make(size, at->keys);
        struct ising_member ten, two;
        ising_member_fill(b.point, true, &ten);
        for (int k = 0; k < 10; k++)
            assert_int_equal(
                threshold_of(&ten, k),
                ergo_oracle_ising_threshold(&b.oracle, k < 5 ? 1 : -1, 2 * (k % 5) - 4));
        assert_int_equal(ten.anti, b.oracle.J < 0 ? 0xffffffffu : 0);
        assert_int_equal(ten.key0, (uint32_t)b.point->stream);
        assert_int_equal(ten.key1, (uint32_t)(b.point->stream >> 32));
        ising_member_fill(b.point, false, &two);
        for (int k = 0; k < 2 && !at->field; k++)
            assert_int_equal(
                threshold_of(&two, k),
                ergo_oracle_ising_threshold(&b.oracle, b.oracle.J < 0 ? -1 : 1, 4 - 2 * k));
        drop(&b);
    }
}

/* Flips of a block whose 128 spins are all in class 0. */
static void decide(uint64_t threshold, uint64_t sweep, struct ising_word s[4]) {
    const struct ising_bonds_vec satisfied = {0, 0, 0, 0};
    struct ising_member member = {
        .key0 = 3, .key1 = 5, .high = {(uint32_t)(threshold >> 32)}, .low = {(uint32_t)threshold}};
    for (int bit = 0; bit < ISING_PLANES; bit++)
        member.planes[0][bit] = 0 - (member.high[0] >> bit & 1);
    for (int l = 0; l < 4; l++)
        s[l] = ising_open(0, satisfied, 0xffffffffu, &member);
    ising_decide(s, 11, sweep, 1, &member);
}

/* A draw r is below the threshold r + 1 and not below r; 0 is never met, 2^39 - 1 nearly always. */
static void test_comparison(void **state) {
    (void)state;
    lx = ly = 128;
    for (uint64_t sweep = 0; sweep < 50; sweep++) {
        struct ising_word s[4];
        uint32_t planes[7][4], rest[4];
        const uint32_t key[2] = {3, 5};
        for (uint32_t j = 0; j < 8; j++) {
            const uint32_t counter[4] = {11, (uint32_t)sweep, 0, 2u << 24 | j};
            ergo_oracle_philox(counter, key, j < 7 ? planes[j] : rest);
        }
        uint64_t high[128];
        for (int i = 0; i < 128; i++) {
            high[i] = 0;
            for (int j = 0; j < 7; j++)
                high[i] = 2 * high[i] + (planes[j][i / 32] >> (i % 32) & 1);
        }
        for (int i = 0; i < 128; i += 9) {
            int before = 0; /* open spins in front of it */
            for (int k = 0; k < i; k++)
                before += high[k] == high[i];
            if (before > 3)
                continue;
            const uint64_t draw = high[i] << 32 | rest[before];
            decide(draw, sweep, s);
            assert_int_equal(s[i / 32].flip >> (i % 32) & 1, 0);
            decide(draw + 1, sweep, s);
            assert_int_equal(s[i / 32].flip >> (i % 32) & 1, draw + 1 < UINT64_C(1) << 39);
        }
        decide(0, sweep, s);
        for (int l = 0; l < 4; l++)
            assert_int_equal(s[l].flip | s[l].open, 0);
        decide((UINT64_C(1) << 39) - 1, sweep, s);
        for (int l = 0; l < 4; l++) {
            assert_int_equal(s[l].flip, 0xffffffffu);
            assert_int_equal(s[l].open, 0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweeps),
        cmocka_unit_test(test_single_sites),
        cmocka_unit_test(test_thresholds),
        cmocka_unit_test(test_comparison),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
