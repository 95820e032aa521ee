/*
 * Waiting for a queue waits for all its commands, also for those that were flushed before: reads
 * into host memory are complete when ergo_device_finish returns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"

static void test_finish(void **state) {
    (void)state;
    const size_t words = small ? 256 : 1u << 20, bytes = 4 * words;
    const int copies = small ? 4 : 200; /* a tenth of a second and more on a CPU */
    uint32_t *data = malloc(bytes), *back = calloc(words, 4);
    cl_mem from = NULL, to = NULL;
    assert_true(data && back);
    for (size_t i = 0; i < words; i++)
        data[i] = (uint32_t)i ^ 0x9e3779b9u;
    if (ergo_buffer_create(ctx, device, "from", bytes, data, &from) != ERGO_OK ||
        ergo_buffer_create(ctx, device, "to", bytes, NULL, &to) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    for (int i = 0; i < copies; i++)
        assert_int_equal(clEnqueueCopyBuffer(device->queue, from, to, 0, 0, bytes, 0, NULL, NULL),
                         CL_SUCCESS);
    if (ergo_buffer_read_later(ctx, device, to, 0, bytes, back, NULL) != ERGO_OK ||
        clFlush(device->queue) != CL_SUCCESS || ergo_device_finish(ctx, device) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    assert_memory_equal(back, data, bytes);
    ergo_buffer_release(&from);
    ergo_buffer_release(&to);
    free(data);
    free(back);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_finish)};
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
