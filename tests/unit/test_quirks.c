/* The table of quirks: each row says what it matches, what it does, the evidence and the date, and
 * does it. The table is part of this file, so that its rows can be seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "device/quirks.c"

enum { ROWS = sizeof table / sizeof table[0] };

static bool is_date(const char *text) {
    unsigned year, month, day;
    int end = 0;
    return text && sscanf(text, "%4u-%2u-%2u%n", &year, &month, &day, &end) == 3 && end == 10 &&
           !text[end] && year >= 2026 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static void test_rows(void **state) {
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        const char *evidence = table[i].evidence ? table[i].evidence : "";
        if (!table[i].platform && !table[i].device && !table[i].driver && !table[i].version)
            fail_msg("row %zu matches every device: %s", i, evidence);
        /* what was seen where: a version has a digit, a sentence more than a few words */
        if (strlen(evidence) < 60 || !strpbrk(evidence, "0123456789"))
            fail_msg("row %zu has no evidence with a version: \"%s\"", i, evidence);
        if (!is_date(table[i].date))
            fail_msg("row %zu has no date (YYYY-MM-DD): %s", i, evidence);
    }
}

static bool has(const char *all, const char *part) {
    return !part || !part[0] || strcmp(all, part) == 0;
}

/* A device that has the row's names has its effects. */
static void test_effects(void **state) {
    (void)state;
    static const struct ergo_quirks none;
    for (size_t i = 0; i < ROWS; i++) {
        struct ergo_device_summary s = {0};
        struct ergo_quirks found;
        const struct ergo_quirks *e = &table[i].effect;
        snprintf(s.platform, sizeof s.platform, "%s", table[i].platform ? table[i].platform : "");
        snprintf(s.name, sizeof s.name, "%s", table[i].device ? table[i].device : "");
        snprintf(s.driver, sizeof s.driver, "%s", table[i].driver ? table[i].driver : "");
        snprintf(s.version, sizeof s.version, "%s", table[i].version ? table[i].version : "");
        ergo_quirks_find(&s, &found);
        if (memcmp(e, &none, sizeof none) == 0)
            fail_msg("row %zu has no effect: %s", i, table[i].evidence);
        /* the flags stand first, a byte each */
        for (size_t flag = 0; flag < offsetof(struct ergo_quirks, build_options); flag++)
            if (((const char *)e)[flag] && !((const char *)&found)[flag])
                fail_msg("row %zu: ergo_quirks_find forgets flag %zu", i, flag);
        if (!has(found.build_options, e->build_options) ||
            !has(found.relaxed_atomics, e->relaxed_atomics) ||
            (e->loop_limit && found.loop_limit > e->loop_limit) ||
            (e->loop_limit && !found.loop_limit) ||
            (e->host_buffer_limit && !found.host_buffer_limit))
            fail_msg("row %zu: ergo_quirks_find forgets a limit or options", i);
    }
}

/* No row is for a device that nobody knows. */
static void test_stranger(void **state) {
    (void)state;
    const struct ergo_device_summary s = {
        .platform = "Some", .name = "Device", .driver = "1.0", .version = "OpenCL 3.0"};
    struct ergo_quirks found;
    ergo_quirks_find(&s, &found);
    assert_string_equal(found.build_options, "");
    for (size_t flag = 0; flag < offsetof(struct ergo_quirks, build_options); flag++)
        assert_false(((const char *)&found)[flag]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_effects),
        cmocka_unit_test(test_stranger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
