/*
 * Levels of costs on graphs: do their tables and lists decide as the rule itself does? That words
 * accept less the larger they are is what tables rest on; with $ERGOCL_TEST_FULL all words are
 * compared (2^32, gcc 12: 10 s of an EPYC core, 2026-11-26).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "samplers/spin_lattice/graph/graph.h"

static void compare_words(uint64_t begin, uint64_t end, uint64_t by) {
    float last = ergo_minus_log((uint32_t)begin);
    for (uint64_t r = begin + by; r < end; r += by) {
        const float now = ergo_minus_log((uint32_t)r);
        if (now > last)
            fail_msg("-ln of word %llu is above that of %llu", (unsigned long long)r,
                     (unsigned long long)(r - by));
        last = now;
    }
}

static void test_words(void **state) {
    (void)state;
    if (getenv("ERGOCL_TEST_FULL"))
        compare_words(0, UINT64_C(1) << 32, 1);
    compare_words(0, UINT64_C(1) << 32, 4093);
    for (unsigned bit = 1; bit <= 32; bit++) /* where the exponent changes, and in between */
        for (uint64_t part = 0; part < 4; part++) {
            const uint64_t at = (UINT64_C(1) << bit) - (part << bit >> 3);
            compare_words(at > 2000 ? at - 2000 : 0,
                          at + 2000 < (UINT64_C(1) << 32) ? at + 2000 : UINT32_MAX, 1);
        }
}

static uint32_t flips_by_table(const struct graph_levels *v, const uint32_t *table, int m,
                               uint32_t word) {
    const int most = (int)v->most;
    return m < (int)table[GRAPH_LEVEL_FIRST(most)] || word < table[GRAPH_LEVEL_AT(most, m)];
}

static void test_tables(void **state) {
    (void)state;
    static const struct {
        int32_t j;
        uint32_t most;
        float scale;
    } cases[] = {{1 << 23, 48, 0x1p21f},    {1 << 23, 48, 0.3e7f}, {1 << 22, 126, 1e9f},
                 {1 << 26, 6, 0x1p25f},     {7, 13, 20.5f},        {1 << 20, 3, 1.0f},
                 {1 << 20, 126, 0.11e-3f},  {3, 4, 1e12f},         {1, 126, 0.4f},
                 {1 << 28, 3, 268435456.0f}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int heat = 0; heat < 2; heat++) {
            const struct graph_levels v = {.most = cases[i].most, .j = cases[i].j};
            uint32_t table[GRAPH_LEVEL_WORDS(126)];
            const int most = (int)v.most;
            graph_levels_table(&v, cases[i].scale, heat, table);
            for (int m = -most; m <= most + 1; m++) {
                const uint32_t alone = m > most, end = table[GRAPH_LEVEL_AT(most, m)];
                const uint32_t words[] = {
                    0,           1,           end - 2,     end - 1,        end,       end + 1,
                    0x12345678u, 0x7fffffffu, 0x80000000u, UINT32_MAX - 1, UINT32_MAX};
                for (size_t w = 0; w < sizeof words / sizeof words[0]; w++)
                    for (uint32_t spin = 0; spin < 2; spin++) {
                        const int force = alone ? 0 : (spin ? m : -m) * v.j;
                        if (graph_flips(spin, force, words[w], cases[i].scale, (uint32_t)heat,
                                        !alone) != flips_by_table(&v, table, m, words[w]))
                            fail_msg("case %zu, heat bath %d: level %d, word %u", i, heat, m,
                                     words[w]);
                    }
            }
        }
}

/* The force of a slot by its lists. */
static int force_of(const struct graph_state *s, uint32_t slot, const uint8_t *spins) {
    const struct graph_levels *v = &s->levels;
    const struct graph_head head = v->heads[slot];
    const uint16_t *to = v->lists + 4 * (size_t)head.first;
    int32_t terms[2], count = (int)GRAPH_NEGATIVE(head);
    graph_terms(&s->net, slot, terms);
    for (uint32_t k = 0; k < 4 * (GRAPH_PLUS(head) + GRAPH_MINUS(head)); k++)
        if (v->most)
            count += k < 4 * GRAPH_PLUS(head) ? spins[to[k]] : -spins[to[k]];
        else
            terms[0] += 2 * spins[to[k]] * v->values[4 * (size_t)head.first + k];
    return v->most ? v->j * (2 * count - GRAPH_NEIGHBOURS(head)) : terms[0];
}

/* Lists of a file's text. most: levels; 0: couplings beside the lists. */
static void check_lists(const char *text, uint32_t most) {
    struct graph_state s = {.chains = {.rungs = 1, .copies = 1, .width = 1}};
    const struct ergo_batch batch = {.count = 1};
    struct graph_member member = {.scale = 1};
    char wrong[GRAPH_WRONG];
    assert_true(graph_parse(text, strlen(text), GRAPH_AUTO, &s.problem, wrong));
    assert_true(graph_network_make(&s.problem, &s.net));
    s.e.batch = &batch;
    s.members = &member;
    s.schedule.stages = 1;
    assert_true(graph_levels_make(&s, &s.levels) && s.levels.possible);
    assert_int_equal(s.levels.most, most);
    for (uint32_t bits = 0; bits < 64; bits++) {
        uint8_t spins[GRAPH_ROWS(64)] = {0};
        for (uint32_t v = 0; v < s.net.n; v++)
            spins[s.net.slot_of[v]] = bits >> v & 1;
        spins[GRAPH_ONES(s.net.slots)] = 1;
        for (uint32_t v = 0; v < s.net.n; v++) {
            const uint32_t slot = s.net.slot_of[v], begin = s.net.first[slot];
            int force = s.net.fields[slot];
            for (uint32_t k = begin; k < s.net.first[slot + 1]; k++)
                force += spins[s.net.bonds[k].to] ? s.net.bonds[k].j : -s.net.bonds[k].j;
            assert_int_equal(force, force_of(&s, slot, spins));
            assert_int_equal(s.net.first[slot + 1] > begin,
                             GRAPH_NEIGHBOURS(s.levels.heads[slot]) > 0);
        }
    }
    graph_levels_free(&s.levels);
    graph_network_free(&s.net);
    graph_problem_free(&s.problem);
}

/* Too many neighbours for a list. */
static void test_hub(void **state) {
    (void)state;
    for (int n = 1020; n < 1022; n++) {
        char *text = malloc(20 * (size_t)n), wrong[GRAPH_WRONG];
        size_t length = 0;
        struct graph_state s = {.chains = {.rungs = 1, .copies = 1, .width = 1}};
        const struct ergo_batch batch = {.count = 1};
        struct graph_member member = {.scale = 1};
        assert_non_null(text);
        for (int i = 1; i <= n; i++)
            length += (size_t)sprintf(text + length, "0 %d 0.3\n", i);
        assert_true(graph_parse(text, length, GRAPH_AUTO, &s.problem, wrong));
        assert_true(graph_network_make(&s.problem, &s.net));
        s.e.batch = &batch;
        s.members = &member;
        s.schedule.stages = 1;
        assert_true(graph_levels_make(&s, &s.levels));
        assert_int_equal(s.levels.possible, n == 1020);
        assert_true(!s.levels.possible || GRAPH_PLUS(s.levels.heads[s.net.slot_of[0]]) == 255);
        graph_levels_free(&s.levels);
        graph_network_free(&s.net);
        graph_problem_free(&s.problem);
        free(text);
    }
}

static void test_lists(void **state) {
    (void)state;
    check_lists("5 6\n1 2\n2 3\n3 4\n4 5\n5 1\n1 3\n", 3);
    check_lists("6 5\n1 2 1\n2 3 -1\n3 4 3\n4 5 -2\n5 1 1\n", 5); /* one is alone */
    check_lists("0 1 0.5\n1 2 -1.5\n2 3 0.25\nh 0 0.75\nh 2 -0.5\n", 9);
    check_lists("0 1 63\n1 2 63\n2 3 1\n", 126);
    check_lists("0 1 63\n1 2 64\n2 3 1\n", 0);
    check_lists("0 1 1\n1 2 0.7\n", 0);           /* no common unit of few bits */
    check_lists("n 4\n0 1 1\n1 2 1\nh 3 1\n", 0); /* alone, with a field */
    check_lists("n 2\n0 1 0\n", 0);
    check_lists("3 2\n1 2 1\n2 3 0\n", 1); /* couplings of 0 are no neighbours */
    check_lists("0 1 1\n1 2 0\n2 3 0.7\n3 0 0.7\n", 0);
}

static void test_stages(void **state) {
    (void)state;
    const struct graph_stages s = {10, 3, 4};
    static const struct {
        uint64_t step, stage;
    } cases[] = {{0, 0}, {9, 0}, {12, 0}, {13, 1}, {21, 3}, {22, 3}, {UINT64_MAX, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(graph_stage(s, cases[i].step), cases[i].stage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words), cmocka_unit_test(test_tables), cmocka_unit_test(test_lists),
        cmocka_unit_test(test_hub),   cmocka_unit_test(test_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
