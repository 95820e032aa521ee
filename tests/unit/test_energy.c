/* Energy counters in a folder like /sys/class/powercap: they wrap around, and may disappear. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "compare/compare.h"

static char folder[] = "/tmp/ergo-energy-XXXXXX";

static const char *place(const char *zone, const char *file) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s%s%s", folder, zone, *file ? "/" : "", file);
    return path;
}

static void put(const char *zone, const char *file, const char *text) {
    mkdir(place(zone, ""), 0777);
    FILE *out = fopen(place(zone, file), "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void clear(void) {
    static const char *const zones[] = {"intel-rapl:0", "intel-rapl:1", "intel-rapl:0:0"};
    for (size_t i = 0; i < 3; i++) {
        unlink(place(zones[i], "energy_uj"));
        unlink(place(zones[i], "max_energy_range_uj"));
        rmdir(place(zones[i], ""));
    }
}

static int set_up(void **state) {
    (void)state;
    clear();
    put("intel-rapl:0", "energy_uj", "262143000000\n");
    put("intel-rapl:0", "max_energy_range_uj", "262143328850\n");
    put("intel-rapl:0:0", "energy_uj", "77\n"); /* a part of the first: not counted twice */
    put("intel-rapl:1", "energy_uj", "5000000\n");
    put("intel-rapl:1", "max_energy_range_uj", "262143328850\n");
    return 0;
}

static void counters_begin_again(void **state) {
    struct ergo_energy *e = ergo_energy_open_packages(folder);
    (void)state;
    assert_non_null(e);
    assert_true(ergo_energy_joules(e) == 0);
    put("intel-rapl:1", "energy_uj", "6500000\n");
    assert_true(fabs(ergo_energy_joules(e) - 1.5) < 1e-9);
    put("intel-rapl:0", "energy_uj", "171150\n"); /* 328850 to the end, and 171150 */
    assert_true(fabs(ergo_energy_joules(e) - 2.0) < 1e-9);
    put("intel-rapl:0", "energy_uj", "262143328850\n");
    put("intel-rapl:1", "energy_uj", "6500000\n");
    assert_true(fabs(ergo_energy_joules(e) - 262145.1577) < 1e-9);
    put("intel-rapl:0", "energy_uj", "0\n"); /* and once more */
    assert_true(fabs(ergo_energy_joules(e) - 262145.1577) < 1e-9);
    ergo_energy_close(e);
}

/* Not for a moment a number that is none. */
static void what_cannot_be_read_is_no_number(void **state) {
    static const char *const wrong[] = {"",       "\n",      "-1\n",
                                        "none\n", "12 34\n", "99999999999999999999999\n"};
    struct ergo_energy *e = ergo_energy_open_packages(folder);
    (void)state;
    assert_non_null(e);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        put("intel-rapl:1", "energy_uj", wrong[i]);
        assert_true(isnan(ergo_energy_joules(e)));
        assert_null(ergo_energy_open_packages(folder));
    }
    unlink(place("intel-rapl:1", "energy_uj"));
    assert_true(isnan(ergo_energy_joules(e)));
    put("intel-rapl:1", "energy_uj", "7000000\n");
    assert_true(fabs(ergo_energy_joules(e) - 2) < 1e-9);
    ergo_energy_close(e);
    clear();
    assert_null(ergo_energy_open_packages(folder));
    assert_true(isnan(ergo_energy_joules(NULL)));
}

/* Without the range, or beyond it, nobody knows how far a counter went that is back. */
static void a_range_that_is_unknown(void **state) {
    static const char *const ranges[] = {"262142999999\n", "0\n", "?\n"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        set_up(NULL);
        put("intel-rapl:0", "max_energy_range_uj", ranges[i]);
        struct ergo_energy *e = ergo_energy_open_packages(folder);
        assert_non_null(e);
        put("intel-rapl:0", "energy_uj", "262143500000\n");
        assert_true(fabs(ergo_energy_joules(e) - 0.5) < 1e-9);
        put("intel-rapl:0", "energy_uj", "1\n");
        assert_true(isnan(ergo_energy_joules(e)));
        put("intel-rapl:0", "energy_uj", "262143500000\n");
        assert_true(isnan(ergo_energy_joules(e)));
        ergo_energy_close(e);
    }
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    clear();
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(counters_begin_again, set_up),
        cmocka_unit_test_setup(what_cannot_be_read_is_no_number, set_up),
        cmocka_unit_test(a_range_that_is_unknown),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
