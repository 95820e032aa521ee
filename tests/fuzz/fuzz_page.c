/*
 * libFuzzer's target for what is made from results: report.html, pictures, result.json and the
 * table of the terminal. The bytes replace numbers, texts and pictures of a small run.
 */
#include "odd_result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ergo_context *ctx = ergo_context_create();
    const char *wrong = ctx ? odd_result(ctx, data, size) : "no memory for a context";
    if (wrong) {
        fprintf(stderr, "fuzz_page: %s (%s)\n", wrong, ctx ? ergo_error_message(ctx) : "");
        abort();
    }
    ergo_context_destroy(ctx);
    return 0;
}
