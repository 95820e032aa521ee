/* What a sampler saves is its whole state, in one form only, and it takes nothing else back. */
#include <malloc.h>

#include "bench.h"

static struct ergo_device *device;

/* Load what `from` saved into `to`. */
static void hand_over(struct bench *from, struct bench *to, uint64_t step) {
    for (size_t m = 0; m < from->batch.count; m++) {
        struct ergo_text text = bench_save(from, m);
        contract_ok(bench_load(to, m, step, text.data, text.length), "load");
        ergo_text_free(&text);
    }
}

static void all_same(const char *what, struct bench *a, struct bench *b) {
    for (size_t m = 0; m < a->batch.count; m++)
        if (!bench_same(a, m, b, m))
            fail_msg("%s, %s: member %zu differs", contract.sampler->info->name, what, m);
}

/* save -> load -> save gives the same bytes, and the chains go on as one. */
static void round_trip(void) {
    struct bench a, b;
    bench_open(&a, device, NULL, 0);
    bench_open(&b, device, NULL, 0);
    bench_init(&a);
    bench_advance(&a, 7);
    bench_sample(&a, 2);
    all_same("saved twice", &a, &a);
    bench_create(&b); /* never initialised: everything has to come from the bytes */
    hand_over(&a, &b, 9);
    all_same("loaded", &a, &b);
    bench_advance(&a, 4);
    bench_advance(&b, 3);
    bench_advance(&b, 1);
    all_same("loaded and advanced", &a, &b);
    /* over a running chain: nothing of it is left */
    bench_sample(&b, 3);
    hand_over(&a, &b, 13);
    bench_advance(&a, 3);
    bench_sample(&b, 3);
    all_same("loaded over another state", &a, &b);
    bench_close(&a);
    bench_close(&b);
}

/* All 64 bits of the step enter the chain. */
static void long_runs(void) {
    static const uint64_t steps[] = {9, 9 + (1ull << 32), (1ull << 32) - 2, (1ull << 41) - 3};
    struct bench start, whole, parts;
    struct ergo_text ends[4];
    bench_open(&start, device, NULL, 0);
    bench_open(&whole, device, NULL, 0);
    bench_open(&parts, device, NULL, 0);
    bench_init(&start);
    bench_advance(&start, 9);
    for (size_t i = 0; i < 4; i++) {
        bench_create(&whole);
        bench_create(&parts);
        hand_over(&start, &whole, steps[i]);
        hand_over(&start, &parts, steps[i]);
        bench_advance(&whole, 5);
        for (int k = 0; k < 5; k++)
            bench_advance(&parts, 1);
        all_same("a late step, in one block and in five", &whole, &parts);
        ends[i] = bench_save(&whole, 0);
        for (size_t j = 0; j < i; j++)
            if (bench_equal(&ends[i], &ends[j]))
                fail_msg("%s: the same random numbers at steps %llu and %llu",
                         contract.sampler->info->name, (unsigned long long)steps[i],
                         (unsigned long long)steps[j]);
    }
    for (size_t i = 0; i < 4; i++)
        ergo_text_free(&ends[i]);
    bench_close(&start);
    bench_close(&whole);
    bench_close(&parts);
}

/* Long lives: no launch and no sample leaves anything behind on the host. What drivers keep for
 * later is there after half of them. ($ERGOCL_TEST_FULL: ten million launches; else a second or
 * two.) */
static void long_life(void) {
    const size_t most = getenv("ERGOCL_TEST_FULL") ? 500000 : 400;
    const double seconds = getenv("ERGOCL_TEST_FULL") ? INFINITY : 1, begin = ergo_clock();
    struct bench b;
    size_t rounds = 0;
    bench_open(&b, device, NULL, 0);
    bench_init(&b);
    for (; rounds < most && ergo_clock() - begin < seconds; rounds++) {
        bench_advance(&b, 1);
        bench_sample(&b, 1);
    }
    const size_t before = mallinfo2().uordblks;
    for (size_t i = 0; i < rounds; i++) {
        bench_advance(&b, 1);
        bench_sample(&b, 1);
    }
    const size_t after = mallinfo2().uordblks;
    if (after > before + 32768 + 8 * rounds)
        fail_msg("%s: %zu bytes more after %zu samples", contract.sampler->info->name,
                 after - before, rounds);
    bench_close(&b);
}

/* Batches of any of the points, in any order, once or twice. */
static void batches(void) {
    static const size_t orders[][4] = {{3}, {1}, {2, 0}, {3, 2, 1, 0}, {1, 1, 3}};
    static const size_t counts[] = {1, 1, 2, 4, 3};
    struct bench all, some;
    bench_open(&all, device, NULL, 0);
    bench_init(&all);
    bench_advance(&all, 3);
    bench_sample(&all, 3);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        bench_open(&some, device, orders[i], counts[i]);
        bench_init(&some);
        bench_sample(&some, 2);
        bench_advance(&some, 4);
        for (size_t m = 0; m < counts[i]; m++)
            if (!bench_same(&all, orders[i][m], &some, m))
                fail_msg("%s: point %zu differs in batch %zu", contract.sampler->info->name,
                         orders[i][m], i);
        bench_close(&some);
    }
    bench_close(&all);
}

/* Bytes of another length are refused; bytes of the right one are refused, or they are a state:
 * then saving it gives these bytes and no others. */
static void damage(void) {
    struct bench b;
    size_t refused = 0, taken = 0;
    bench_open(&b, device, NULL, 0);
    bench_init(&b);
    bench_advance(&b, 3);
    struct ergo_text good = bench_save(&b, 1);
    char *bad = calloc(2, good.length + 1);
    assert_non_null(bad);
    memcpy(bad, good.data, good.length);

    const size_t lengths[] = {
        0, 1, good.length / 2, good.length - 1, good.length + 1, 2 * good.length};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const enum ergo_status status = bench_load(&b, 1, 3, bad, lengths[i]);
        if (status != ERGO_E_IO || !*ergo_error_message(contract.ctx))
            fail_msg("%s: a state of %zu bytes instead of %zu is not refused as a bad file",
                     contract.sampler->info->name, lengths[i], good.length);
    }
    for (size_t i = 0; i < 66; i++) {
        memcpy(bad, good.data, good.length);
        if (i < 64)
            bad[(good.length - 1) * i / 63] ^= (char)(1u << (i * 5 % 8));
        else
            memset(bad, i == 64 ? 0 : 0xff, good.length);
        if (bench_load(&b, 1, 3, bad, good.length) != ERGO_OK) {
            assert_true(*ergo_error_message(contract.ctx));
            refused++;
            continue;
        }
        taken++;
        struct ergo_text again = bench_save(&b, 1);
        if (again.length != good.length || memcmp(again.data, bad, good.length) != 0)
            fail_msg("%s: damaged bytes (case %zu) were taken, and saved as others",
                     contract.sampler->info->name, i);
        ergo_text_free(&again);
    }
    print_message("%s: of 66 damaged states %zu refused, %zu taken as they are\n",
                  contract.sampler->info->name, refused, taken);
    free(bad);
    ergo_text_free(&good);
    bench_close(&b);
}

static void test_round_trip(void **state) {
    (void)state;
    contract_each_model(round_trip);
}

static void test_long_runs(void **state) {
    (void)state;
    contract_each_model(long_runs);
}

static void test_long_life(void **state) {
    (void)state;
    if (getenv("ERGOCL_TEST_SMALL"))
        skip();
    contract_each(long_life);
}

static void test_batches(void **state) {
    (void)state;
    contract_each_model(batches);
}

static void test_damage(void **state) {
    (void)state;
    contract_each_model(damage);
}

static int set_up(void **state) {
    if (contract_set_up(state) != 0)
        return -1;
    return ergo_device_open(contract.ctx, NULL, &device) == ERGO_OK ? 0 : -1;
}

static int tear_down(void **state) {
    ergo_device_close(device);
    return contract_tear_down(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_long_runs),
        cmocka_unit_test(test_long_life),  cmocka_unit_test(test_batches),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
