/*
 * Models with a byte per spin without a device: core functions as C, four sites at a time and one
 * by one, against the plain oracle; the order parameter's extremes; structure factors of known
 * waves.
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

#include "oracle/bytes_serial.h"
#include "samplers/spin_lattice/bytes.h"

static void test_chain(void **state) {
    static const struct {
        const char *system;
        int d, l[3], q;
        bool heat_bath;
    } cases[] = {
        {"'model': 'ising', 'size': [10, 4, 2], 'random_field': 0.5", 3, {10, 4, 2}, 0, false},
        {"'model': 'potts', 'size': [6], 'q': 256", 1, {6, 1, 1}, 256, false},
        {"'model': 'potts', 'size': [18, 4], 'q': 3, 'dynamics': 'heat-bath'",
         2,
         {18, 4, 1},
         3,
         true}};
    struct ergo_context *ctx = ergo_context_create();
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[300];
        struct ergo_job *job = NULL;
        uint8_t ours[80] = {0}, plain[80];
        int signs[80];
        snprintf(
            text, sizeof text,
            "{'sampler': 'spin-lattice', 'system': {%s, 'temperature': 1.5}, 'run': {'sweeps': 1}}",
            cases[k].system);
        for (char *c = text; *c; c++)
            *c = *c == '\'' ? '"' : *c;
        if (ergo_job_parse(ctx, text, strlen(text), "case", NULL, 0, &job) != ERGO_OK)
            fail_msg("%s", ergo_error_message(ctx));
        const struct ergo_point *point = &job->points[0];
        const struct bytes_shape shape = bytes_shape_of(point);
        struct bytes_member m;
        bytes_member_fill(point, &m);
        const struct bytes_oracle o = {.d = cases[k].d,
                                       .l = {cases[k].l[0], cases[k].l[1], cases[k].l[2]},
                                       .q = cases[k].q,
                                       .t = 1.5,
                                       .j = {1, 1, 1},
                                       .h = k == 0 ? 0.5 : 0,
                                       .heat_bath = cases[k].heat_bath,
                                       .stream = point->stream,
                                       .field = (uint64_t)m.field1 << 32 | m.field0};
        bytes_oracle_start(&o, plain);
        bytes_oracle_fields(&o, signs);
        memcpy(ours, plain, shape.sites);
        if (k == 0)
            bytes_twin_fields(&shape, &m, ours);
        for (uint64_t t = 0; t < 20; t++) {
            bytes_oracle_sweep(&o, signs, t << 31, plain);
            bytes_twin_sweep(&shape, &m, t << 31, ours);
        }
        for (size_t i = 0; i < shape.sites; i++) {
            assert_int_equal(plain[i], k == 0 ? ours[i] & 1 : ours[i]);
            assert_true(k != 0 || ((ours[i] & 2) != 0) == (signs[i] > 0));
        }
        ergo_job_destroy(job);
    }
    ergo_context_destroy(ctx);
}

/* All alike: S(0) = N, S(k) = 0. Halves of two states: S(k) is a square wave's. */
static void test_structure(void **state) {
    const struct bytes_shape s = {.d = 2, .l = {6, 8, 1}, .q = 3, .sites = 48};
    uint32_t planes[24] = {0};
    double out[2];
    (void)state;
    for (size_t p = 0; p < 8; p++)
        planes[3 * p + 1] = 6;
    bytes_structure(&s, planes, out);
    assert_true(fabs(out[0] - 48) < 1e-9 && fabs(out[1]) < 1e-9);
    for (size_t p = 0; p < 4; p++) {
        planes[3 * p] = 6;
        planes[3 * p + 1] = 0;
    }
    bytes_structure(&s, planes, out);
    /* states 0 and 1 have |sum of four neighbouring phases| = 2 / (2 sin(pi/8)) times 6 each */
    const double wave = 6 / sin(acos(-1) / 8);
    assert_true(fabs(out[1] - 1.5 / 48 * 2 * wave * wave) < 1e-9);
    assert_true(fabs(out[0] - 1.5 / 48 * (8 * 8 + 8 * 8 + 16 * 16)) < 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chain),
                                       cmocka_unit_test(test_structure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
