/* A point of a job has one chain, whatever runs beside it and however it is launched and measured.
 */
#include "contract.h"

/* The digests of a run are those of `base` for all replicas and scan points that both have. */
static void same_chains(const char *what, const struct ergo_result *base,
                        const struct ergo_result *other, bool reversed) {
    size_t compared = 0;
    for (size_t i = 0; i < other->n_members; i++)
        for (size_t j = 0; j < base->n_members; j++) {
            const struct ergo_point *a = base->members[j].point, *b = other->members[i].point;
            const size_t scan = reversed ? 1 - b->scan_index : b->scan_index;
            if (a->replica != b->replica || a->scan_index != scan)
                continue;
            contract_same_state(what, &base->members[j], &other->members[i]);
            compared++;
        }
    assert_int_equal(compared,
                     base->n_members < other->n_members ? base->n_members : other->n_members);
}

static struct ergo_result *reference(void) {
    struct ergo_result *base = contract_run(contract.job, NULL, NULL);
    assert_int_equal(base->n_members, 4);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(base->members[i].digest != base->members[j].digest);
    return base;
}

/* ---- company --------------------------------------------------------------------------------- */

/* Scan point `index` as a job of its own. */
static struct ergo_result *alone(int index) {
    cJSON *tree = cJSON_Duplicate(contract.job, true);
    const cJSON *scan = contract_scan(tree);
    char set[200];
    char *value = cJSON_PrintUnformatted(cJSON_GetArrayItem(scan, index));
    snprintf(set, sizeof set, "%s=%s", scan->string, value);
    free(value);
    cJSON_DeleteItemFromObject(tree, "scan");
    struct ergo_result *result = contract_run(tree, set, "/replicas=1");
    cJSON_Delete(tree);
    return result;
}

static void company(void) {
    struct ergo_result *base = reference(), *other;
    for (int i = 0; i < 2; i++) {
        other = alone(i);
        assert_int_equal(other->n_members, 1);
        contract_same_state("alone", &base->members[2 * i], &other->members[0]);
        ergo_result_destroy(other);
    }

    cJSON *tree = cJSON_Duplicate(contract.job, true);
    cJSON *scan = contract_scan(tree);
    cJSON_AddItemToArray(scan, cJSON_DetachItemFromArray(scan, 0));
    other = contract_run(tree, NULL, NULL);
    same_chains("scan in the other order", base, other, true);
    ergo_result_destroy(other);
    cJSON_Delete(tree);

    other = contract_run(contract.job, "/replicas=5", NULL);
    assert_int_equal(other->n_members, 10);
    same_chains("among five replicas", base, other, false);
    ergo_result_destroy(other);

    other = contract_run(contract.job, "/seed=\"12345\"", NULL);
    for (size_t i = 0; i < 4; i++)
        assert_true(other->members[i].digest != base->members[i].digest);
    ergo_result_destroy(other);
    ergo_result_destroy(base);
}

static void test_company(void **state) {
    (void)state;
    contract_each_model(company);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* How the run is cut into blocks, saved and audited leaves everything alone. */
static void blocks(void) {
    static const size_t samples[] = {1, 2, 3, 7};
    char what[80];
    struct ergo_result *base = reference(), *other;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i += contract_part() ? 3 : 1) {
        contract.block_samples = samples[i];
        contract.block_steps = (double)samples[i];
        snprintf(what, sizeof what, "blocks of %zu samples", samples[i]);
        other = contract_run(contract.job, NULL, NULL);
        contract_same(what, base, other);
        ergo_result_destroy(other);
    }
    contract.block_samples = 3;
    other = contract_run(contract.job, "/checkpoint/every_seconds=1e-9", NULL);
    contract_same("a checkpoint after every block", base, other);
    ergo_result_destroy(other);
    other = contract_run(contract.job, "/audit/every_seconds=1e-9", "/audit/device=auto");
    contract_same("an audit after every block", base, other);
    ergo_result_destroy(other);
    ergo_result_destroy(base);
}

static void test_blocks(void **state) {
    (void)state;
    contract_each_model(blocks);
}

/* When the chain is looked at does not change where it goes. */
static void measuring(void) {
    char set[2][80];
    contract_unlook(); /* there are runs without equilibration below */
    struct ergo_result *base = reference(), *other;
    const cJSON *sweeps = cJSON_GetObjectItem(cJSON_GetObjectItem(contract.job, "run"), "sweeps");
    for (int every = 1; every <= sweeps->valueint; every = every * (contract_part() ? 9 : 3) + 1) {
        snprintf(set[0], sizeof set[0], "/run/measure_every=%d", every);
        other = contract_run(contract.job, set[0], NULL);
        same_chains(set[0], base, other, false);
        ergo_result_destroy(other);
    }
    /* where a state holds the lattice at t = 0: equilibration and waiting time together */
    const cJSON *system = cJSON_GetObjectItem(contract.job, "system");
    cJSON *waiting = cJSON_GetObjectItem(system, "waiting_time");
    const uint64_t total = base->members[0].steps;
    const uint64_t origin = (uint64_t)ergo_point_int(base->members[0].point, "/run/equilibration") +
                            (waiting ? (uint64_t)waiting->valueint : 0);
    /* and where moves are tuned meanwhile, all has the same length */
    const bool tuned = contract.model->tuned && contract.model->tuned(base->members[0].point);
    for (uint64_t lead = 0; !tuned && lead <= (waiting ? origin : total / 2);
         lead = (contract_part() ? 8 : 2) * lead + 1) {
        snprintf(set[0], sizeof set[0], "/run/equilibration=%llu", (unsigned long long)lead);
        snprintf(set[1], sizeof set[1], "/run/sweeps=%llu", (unsigned long long)(total - lead));
        cJSON *tree = cJSON_Duplicate(contract.job, true);
        if (waiting)
            cJSON_SetNumberValue(
                cJSON_GetObjectItem(cJSON_GetObjectItem(tree, "system"), "waiting_time"),
                (double)(origin - lead));
        other = contract_run(tree, set[0], set[1]);
        same_chains(set[0], base, other, false);
        ergo_result_destroy(other);
        cJSON_Delete(tree);
    }
    ergo_result_destroy(base);
}

static void test_measuring(void **state) {
    (void)state;
    contract_each_model(measuring);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_company),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_measuring),
    };
    return cmocka_run_group_tests(tests, contract_set_up, contract_tear_down);
}
