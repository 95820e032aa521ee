/* A run that becomes slower is noticed, and one that does not is left alone. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/slowdown.h"

/* Seconds until it is noticed that work goes on at `rate`, in steps of a tenth; 0: not within a
 * hundred. */
static double noticed(struct ergo_slowdown *slowdown, double *seconds, double *work, double rate) {
    const double from = *seconds;
    for (int i = 0; i < 1000; i++) {
        *seconds += 0.1;
        *work += 0.1 * rate;
        if (ergo_slowdown_notice(slowdown, *seconds, *work))
            return *seconds - from;
    }
    return 0;
}

static void a_slower_device_is_noticed(void **unused) {
    struct ergo_slowdown slowdown = {0};
    double seconds = 5, work = 77; /* what was before does not count */
    (void)unused;
    assert_true(noticed(&slowdown, &seconds, &work, 10) == 0);
    assert_true(noticed(&slowdown, &seconds, &work, 9) == 0); /* that is noise */
    const double after = noticed(&slowdown, &seconds, &work, 5);
    assert_true(after > 3.9 && after < 8.5);
    slowdown = (struct ergo_slowdown){0}; /* divided anew: this is what it can do now */
    assert_true(noticed(&slowdown, &seconds, &work, 6) == 0);
}

static void one_slow_window_is_not(void **unused) {
    struct ergo_slowdown slowdown = {0};
    double seconds = 0, work = 0;
    (void)unused;
    assert_true(noticed(&slowdown, &seconds, &work, 10) == 0);
    for (int i = 0; i < 20; i++) { /* slow for three seconds of ten */
        seconds += 3;
        work += 3;
        assert_false(ergo_slowdown_notice(&slowdown, seconds, work));
        seconds += 7;
        work += 70;
        assert_false(ergo_slowdown_notice(&slowdown, seconds, work));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slower_device_is_noticed),
        cmocka_unit_test(one_slow_window_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
