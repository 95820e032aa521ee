/* Pictures and files of VTK that are made of a lattice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "samplers/sampler.h"

static struct ergo_view shown;
static bool here;

/* The state is x + 10 row, modulo 7. */
static unsigned state_at(const struct ergo_view *v, size_t x, size_t row) {
    assert_true(x < v->size[0] && row < v->size[1] * v->size[2]);
    assert_int_equal(*(char *)v->sites, 'a');
    return (unsigned)(x + 10 * row) % 7;
}

static enum ergo_status view(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_view *v) {
    (void)ctx;
    assert_null(state);
    assert_int_equal(member, 5);
    *v = shown;
    v->state = state_at;
    v->sites = here ? strdup("a") : NULL;
    for (unsigned i = 0; i < 7; i++)
        for (unsigned c = 0; c < 3; c++)
            v->colours[i][c] = (uint8_t)(30 * i + c);
    return ERGO_OK;
}

static const struct ergo_sampler_ops ops = {.view = view};

static struct ergo_picture picture_of(struct ergo_view v) {
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_picture picture;
    shown = v;
    assert_int_equal(ergo_sampler_picture(ctx, &ops, NULL, 5, &picture), ERGO_OK);
    ergo_context_destroy(ctx);
    return picture;
}

/* Pixels are `cell` sites wide; mean: of all of them that are in the lattice, rounded. */
static void expect(const struct ergo_view *v, size_t cell) {
    struct ergo_picture p = picture_of(*v);
    assert_int_equal(p.width, (v->size[0] + cell - 1) / cell);
    assert_int_equal(p.height, (v->size[1] + cell - 1) / cell);
    for (size_t i = 0; i < (size_t)p.width * p.height; i++)
        for (unsigned c = 0; c < 3; c++) {
            double sum = 0, n = 0;
            for (size_t k = 0; k < (v->mean ? cell * cell : 1); k++) {
                const size_t x = i % p.width * cell + k % cell, y = i / p.width * cell + k / cell;
                if (x < v->size[0] && y < v->size[1])
                    sum += (double)(30 * ((x + 10 * y) % 7) + c), n++;
            }
            assert_int_equal(p.rgb[3 * i + c], (int)(sum / n + 0.5));
        }
    free(p.rgb);
}

static void test_picture(void **state) {
    (void)state;
    here = true;
    for (int mean = 0; mean < 2; mean++) {
        expect(&(struct ergo_view){.size = {9, 4, 3}, .mean = mean}, 1);
        expect(&(struct ergo_view){.size = {1024, 1, 1}, .mean = mean}, 1);
        expect(&(struct ergo_view){.size = {1025, 3, 1}, .mean = mean}, 2);
        expect(&(struct ergo_view){.size = {5, 2050, 1}, .mean = mean}, 3);
    }
    here = false; /* on another rank */
    assert_null(picture_of((struct ergo_view){.size = {9, 4, 1}}).rgb);
}

/* States are modulo `states`, x first, then y, then z. */
static void test_vti(void **state) {
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_text text = {0};
    (void)state;
    here = true;
    shown = (struct ergo_view){.size = {2, 3, 2}, .name = "up", .states = 2};
    assert_int_equal(ergo_sampler_frame(ctx, &ops, NULL, 5, &text), ERGO_OK);
    assert_non_null(strstr(text.data, "WholeExtent=\"0 2 0 3 0 2\""));
    assert_non_null(strstr(text.data, "Name=\"up\""));
    /* x + 10 row modulo 7 is 0 1, 3 4, 6 0, 2 3, 5 6, 1 2 */
    assert_non_null(strstr(text.data, ">\n0 1 1 0 0 0 0 1 1 0 1 0\n</DataArray>"));
    ergo_text_free(&text);
    ergo_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_picture),
        cmocka_unit_test(test_vti),
    };
    return cmocka_run_group_tests_name("view", tests, NULL, NULL);
}
