/* The device of $ERGOCL_DEVICE, opened once for all tests of a program. */
#ifndef ERGO_TESTS_FIXTURE_H
#define ERGO_TESTS_FIXTURE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "device/device.h"

static struct ergo_device *device;
static bool small; /* under Oclgrind tests shrink */

static inline int fixture_open(void **state) {
    const char *text = getenv("ERGOCL_TEST_SMALL");
    small = text && *text && strcmp(text, "0") != 0;
    if (context_open(state) == 0 && ergo_device_open(ctx, NULL, &device) == ERGO_OK)
        return 0;
    fprintf(stderr, "%s\n", ctx ? ergo_error_message(ctx) : "no memory");
    return -1;
}

static inline int fixture_close(void **state) {
    ergo_device_close(device);
    return context_close(state);
}

#endif
