/*
 * States that are declared (engine/fields.h), of a model of the test's own that launches nothing:
 * what a device has in an order of its own, in planes, wider or in pieces is saved in the canonical
 * form, which this test writes down by itself, and loaded to where it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/fields.h"
#include "fixture.h"

enum { SPINS, CAME, MOVES, TABLE, FOUND };
enum { LX = 70, LY = 4, PITCH = 8, COLOUR = LY * PITCH + 12 }; /* bytes; rows and colours apart */
enum { PIECES = 3, COPIES = 5, TABLE_ROWS = 2, MEMBERS = 2 };
enum { SPIN_BYTES = 9 * LY, PIECE_BYTES = COPIES * 9 };
enum { BYTES = 8 + SPIN_BYTES + PIECES * PIECE_BYTES + 3 * TABLE_ROWS + 4 };

struct toy {
    struct ergo_engine e;
    uint64_t hashes[MEMBERS];
    uint64_t most; /* of moves */
    bool found;
};

static void hash(const void *state, struct ergo_extent *x) {
    (void)state;
    ergo_extent_numbers(x, 8, 1);
    x->axes = "byte";
}

static void spins(const void *state, struct ergo_extent *x) {
    (void)state;
    ergo_extent_bits(x, (const uint64_t[]){LX, LY}, 2);
    x->planes = 2;
    x->raw = PITCH;
    x->plane = COLOUR;
}

static void came(const void *state, struct ergo_extent *x) {
    (void)state;
    ergo_extent_numbers(x, COPIES, 1);
    x->pieces = PIECES;
    x->wide = 4;
    x->below = 2;
}

static void moves(const void *state, struct ergo_extent *x) {
    (void)state;
    ergo_extent_numbers(x, COPIES, 8);
    x->pieces = PIECES;
}

/* Three columns of two rows each. */
static void table(const void *state, struct ergo_extent *x) {
    (void)state;
    ergo_extent_numbers(x, 3, 1);
    x->rows = TABLE_ROWS;
    x->whole = 3 * TABLE_ROWS;
}

static void found(const void *state, struct ergo_extent *x) {
    ergo_extent_numbers(x, ((const struct toy *)state)->found, 4);
}

static void *hash_of(void *state, size_t member) {
    return &((struct toy *)state)->hashes[member];
}

static bool few_moves(const struct ergo_field_row *r) {
    bool good = true;
    for (size_t i = 0; i < COPIES; i++) {
        uint64_t n;
        memcpy(&n, r->bytes + 8 * i, 8);
        /* whoever came has moved */
        good = good && n <= ((struct toy *)r->state)->most + r->step &&
               (n > 0 || !ergo_field_beside(r, CAME)[i]);
    }
    return good;
}

static void take_columns(const struct ergo_field_row *r) {
    for (size_t k = 0; k < 3; k++)
        r->bytes[k] = ((const uint8_t *)r->raw)[k * TABLE_ROWS + r->row];
}

static void put_columns(const struct ergo_field_row *r) {
    for (size_t k = 0; k < 3; k++)
        ((uint8_t *)r->raw)[k * TABLE_ROWS + r->row] = r->bytes[k];
}

static size_t loaded_member = 99;
static void loaded(void *state, size_t member) {
    (void)state;
    loaded_member = member;
}

static const struct ergo_field field[] = {
    {ERGO_ON_HOST, "couplings", .extent = hash, .host = hash_of, .constant = true},
    {SPINS, "spins", .extent = spins, .take = ergo_take_checkerboard, .put = ergo_put_checkerboard},
    {CAME, "walkers", .extent = came, .own = true},
    {MOVES, "moves", .extent = moves, .valid = few_moves, .beside = true},
    {TABLE, "columns", .extent = table, .take = take_columns, .put = put_columns},
    {FOUND, "what was found", .extent = found},
};
static const struct ergo_fields fields = {
    .field = field, .n = sizeof field / sizeof field[0], .loaded = loaded};

/* Of a run whose own fields are empty. */
static const struct ergo_field few[] = {
    {SPINS, "spins", .extent = spins, .take = ergo_take_checkerboard, .put = ergo_put_checkerboard},
    {FOUND, "what was found", .extent = found, .own = true},
};
static const struct ergo_fields few_fields = {.field = few, .n = 2};

static enum ergo_status configure(struct ergo_context *context, void *state) {
    struct toy *s = state;
    (void)context;
    s->most = 20;
    s->found = true;
    for (size_t m = 0; m < MEMBERS; m++)
        s->hashes[m] = UINT64_C(0x1122334455667788) + m;
    ergo_engine_buffer(&s->e, SPINS, "spins", ERGO_BUFFER_STATE, 2 * COLOUR * MEMBERS);
    ergo_engine_buffer(&s->e, CAME, "walkers", ERGO_BUFFER_STATE, 4 * COPIES * PIECES * MEMBERS);
    ergo_engine_buffer(&s->e, MOVES, "moves", ERGO_BUFFER_STATE, 8 * COPIES * PIECES * MEMBERS);
    ergo_engine_buffer(&s->e, TABLE, "table", ERGO_BUFFER_STATE, 3 * TABLE_ROWS * MEMBERS);
    ergo_engine_buffer(&s->e, FOUND, "found", ERGO_BUFFER_STATE, 4 * MEMBERS);
    return ERGO_OK;
}

static const struct ergo_engine_model model = {.sampler = "toy",
                                               .smaller = "less",
                                               .state_bytes = sizeof(struct toy),
                                               .fields = &fields,
                                               .configure = configure};

static const struct ergo_batch batch = {.count = MEMBERS};
static struct toy *toy;

static unsigned value(size_t i) {
    return (unsigned)(i * 2654435761u >> 7);
}

/* A canonical state, and the device's bytes of member 1 that mean the same. */
static uint8_t plain[BYTES], on_device[2 * COLOUR];
static uint32_t came_there[PIECES * COPIES];
static uint8_t table_there[3 * TABLE_ROWS];

static void make_plain(void) {
    memset(plain, 0, sizeof plain);
    memset(on_device, 0, sizeof on_device);
    memcpy(plain, &toy->hashes[1], 8);
    uint8_t *at = plain + 8;
    for (size_t y = 0; y < LY; y++)
        for (size_t x = 0; x < LX; x++) {
            const unsigned up = value(LX * y + x) & 1;
            at[9 * y + x / 8] |= (uint8_t)(up << x % 8);
            on_device[(x + y) % 2 * COLOUR + PITCH * y + x / 16] |= (uint8_t)(up << x / 2 % 8);
        }
    at += SPIN_BYTES;
    for (size_t p = 0; p < PIECES; p++, at += PIECE_BYTES)
        for (size_t i = 0; i < COPIES; i++) {
            came_there[COPIES * p + i] = at[i] = value(COPIES * p + i) & 1;
            at[COPIES + 8 * i] = (uint8_t)(1 + (p * i) % 20);
        }
    for (size_t i = 0; i < 3 * TABLE_ROWS; i++)
        table_there[i % 3 * TABLE_ROWS + i / 3] = at[i] = (uint8_t)(7 * i + 1);
    memcpy(at + 3 * TABLE_ROWS, (const uint32_t[]){0xdeadbeef}, 4);
}

static void expect_on_device(unsigned buffer, const void *wanted, size_t bytes) {
    uint8_t found_there[512];
    ergo_engine_begin(&toy->e, ctx);
    ergo_engine_read(&toy->e, buffer, bytes, bytes, found_there);
    assert_int_equal(ergo_engine_end(&toy->e), ERGO_OK);
    assert_memory_equal(found_there, wanted, bytes);
}

static void fill_all(uint8_t byte) {
    ergo_engine_begin(&toy->e, ctx);
    for (unsigned b = SPINS; b <= FOUND; b++)
        ergo_engine_fill(&toy->e, b, byte);
    assert_int_equal(ergo_engine_end(&toy->e), ERGO_OK);
}

static void expect_saved(size_t length) {
    struct ergo_text text = {0};
    assert_int_equal(ergo_fields_save(ctx, toy, 1, &text), ERGO_OK);
    assert_int_equal(text.length, length);
    assert_memory_equal(text.data, plain, length);
    ergo_text_free(&text);
}

static void expect_refused(const char *why) {
    assert_int_equal(ergo_fields_load(ctx, toy, 1, 3, plain, sizeof plain), ERGO_E_IO);
    if (!strstr(ergo_error_message(ctx), why))
        fail_msg("\"%s\" does not say \"%s\"", ergo_error_message(ctx), why);
    ergo_error_clear(ctx);
}

static void test_round_trip(void **state) {
    (void)state;
    make_plain();
    fill_all(0xff);
    assert_int_equal(ergo_fields_bytes(&toy->e, 1), BYTES);
    assert_int_equal(ergo_fields_load(ctx, toy, 1, 3, plain, sizeof plain), ERGO_OK);
    assert_int_equal(toy->e.step, 3);
    assert_int_equal(loaded_member, 1);
    expect_on_device(SPINS, on_device, sizeof on_device); /* what is no site is zero */
    expect_on_device(CAME, came_there, sizeof came_there);
    expect_on_device(TABLE, table_there, sizeof table_there);
    expect_saved(BYTES);
}

static void test_first_half(void **state) {
    (void)state;
    struct ergo_text text = {0};
    make_plain();
    assert_int_equal(ergo_fields_load(ctx, toy, 1, 3, plain, sizeof plain), ERGO_OK);
    assert_int_equal(ergo_fields_first(ctx, toy, 1, 2, &text), ERGO_OK);
    assert_int_equal(text.length, SPIN_BYTES / 2);
    assert_memory_equal(text.data, plain + 8, SPIN_BYTES / 2);
    ergo_text_free(&text);
}

static void test_damage(void **state) {
    static const struct {
        size_t at;
        uint8_t bits;
        const char *why;
    } cases[] = {{0, 1, "belongs to other couplings"},
                 {8 + 8, 0x40, "damaged: its spins"},
                 {8 + SPIN_BYTES - 1, 0x80, "damaged: its spins"},
                 {8 + SPIN_BYTES + COPIES - 1, 2, "damaged: its walkers"},
                 {8 + SPIN_BYTES + COPIES, 0x20, "damaged: its moves"},
                 {8 + SPIN_BYTES + PIECE_BYTES + COPIES + 9, 1, "damaged: its moves"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make_plain();
        plain[cases[i].at] ^= cases[i].bits;
        expect_refused(cases[i].why);
    }
    make_plain(); /* a field beside: one that came and has not moved */
    plain[8 + SPIN_BYTES] = 1;
    memset(plain + 8 + SPIN_BYTES + COPIES, 0, 8);
    expect_refused("damaged: its moves");
    make_plain();
    assert_int_equal(ergo_fields_load(ctx, toy, 1, 3, plain, BYTES - 1), ERGO_E_IO);
    assert_non_null(strstr(ergo_error_message(ctx), "bytes, not"));
    ergo_error_clear(ctx);
}

/* A configuration alone is carried; it may be all there is, and what belongs to a run stays. */
static void test_carry(void **state) {
    (void)state;
    make_plain();
    fill_all(0);
    toy->e.step = 5;
    assert_int_equal(ergo_fields_carry(ctx, toy, 1, plain, 8 + SPIN_BYTES - 1), ERGO_E_IO);
    ergo_error_clear(ctx);
    assert_int_equal(ergo_fields_carry(ctx, toy, 1, plain, 8 + SPIN_BYTES), ERGO_OK);
    assert_int_equal(toy->e.step, 0);
    expect_on_device(SPINS, on_device, sizeof on_device);
    memset(plain + 8 + SPIN_BYTES, 0, BYTES - 8 - SPIN_BYTES);
    expect_saved(BYTES);
    plain[0] ^= 1;
    assert_int_equal(ergo_fields_carry(ctx, toy, 1, plain, BYTES), ERGO_E_IO);
    ergo_error_clear(ctx);
}

/* A run whose own fields are empty carries states of runs that have some: what begins there is not
 * looked at. */
static void test_carry_longer(void **state) {
    const struct ergo_engine_model *const real = toy->e.model;
    struct ergo_engine_model other = *real;
    (void)state;
    make_plain();
    other.fields = &few_fields;
    toy->e.model = &other;
    toy->found = false;
    assert_int_equal(ergo_fields_carry(ctx, toy, 1, plain + 8, SPIN_BYTES), ERGO_OK);
    assert_int_equal(ergo_fields_carry(ctx, toy, 1, plain + 8, BYTES - 8), ERGO_OK);
    assert_int_equal(ergo_fields_carry(ctx, toy, 1, plain + 8, SPIN_BYTES - 1), ERGO_E_IO);
    ergo_error_clear(ctx);
    toy->e.model = real;
    toy->found = true;
}

/* A field that this member does not have takes no room. */
static void test_without(void **state) {
    (void)state;
    make_plain();
    toy->found = false;
    assert_int_equal(ergo_fields_load(ctx, toy, 1, 3, plain, BYTES), ERGO_E_IO);
    ergo_error_clear(ctx);
    assert_int_equal(ergo_fields_load(ctx, toy, 1, 3, plain, BYTES - 4), ERGO_OK);
    expect_saved(BYTES - 4);
    toy->found = true;
}

static void test_form(void **state) {
    (void)state;
    struct ergo_form form;
    ergo_fields_form(&fields, toy, &form);
    assert_int_equal(form.bytes, 8 + SPIN_BYTES); /* what follows is of the run */
    assert_int_equal(form.n_parts, 2);
    const struct ergo_form_part *part = &form.parts[0]; /* before what states belong to */
    assert_string_equal(part->name, "spins");
    assert_string_equal(part->axes, "y x");
    assert_int_equal(part->offset, 8);
    assert_int_equal(part->bits, LX);
    assert_int_equal(part->n_dims, 2);
    assert_int_equal(part->shape[0], LY);
    assert_int_equal(part->shape[1], 9);
    assert_int_equal(part->stride, 0);
}

static int open_toy(void **state) {
    void *made = NULL;
    if (fixture_open(state) != 0 ||
        ergo_engine_create(ctx, &model, &batch, device, &made) != ERGO_OK)
        return -1;
    toy = made;
    return 0;
}

static int close_toy(void **state) {
    ergo_engine_destroy(toy);
    return fixture_close(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_first_half),
        cmocka_unit_test(test_damage),       cmocka_unit_test(test_carry),
        cmocka_unit_test(test_carry_longer), cmocka_unit_test(test_without),
        cmocka_unit_test(test_form),
    };
    return cmocka_run_group_tests_name("fields", tests, open_toy, close_toy);
}
