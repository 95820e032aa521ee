/* Two samplers that exist only here: one has a key of every type, the other is there to be
 * different. */
#ifndef ERGO_TEST_JOB_TOY_H
#define ERGO_TEST_JOB_TOY_H

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "job/model.h"

static bool toy_has_field(const struct ergo_point *point) {
    return ergo_point_real(point, "/system/field") != 0;
}

static const struct ergo_key toy_keys[] = {
    {.pointer = "/system/size",
     .type = ERGO_KEY_SIZE,
     .flags = ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 2,
     .max = 1024,
     .min_items = 1,
     .max_items = 3,
     .unit = "sites",
     .help = "Sides."},
    {.pointer = "/system/box",
     .type = ERGO_KEY_REALS,
     .flags = ERGO_KEY_SHAPE,
     .fallback = "[1, 2.5]",
     .min = 0.5,
     .max = 100,
     .min_items = 2,
     .max_items = 3,
     .unit = "sigma",
     .help = "Real sides."},
    {.pointer = "/system/temperature",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN,
     .min = 0,
     .max = DBL_MAX,
     .unit = "J/k_B",
     .help = "Temperature."},
    {.pointer = "/system/field",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
     .fallback = "0",
     .min = -1e6,
     .max = 1e6,
     .unit = "J",
     .help = "Field."},
    {.pointer = "/system/n",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .fallback = "10",
     .unit = "",
     .help = "Any 64-bit integer."},
    {.pointer = "/system/disorder",
     .type = ERGO_KEY_SEED,
     .flags = ERGO_KEY_CHAIN,
     .unit = "",
     .help = "Second seed, absent by default."},
    {.pointer = "/system/fast",
     .type = ERGO_KEY_BOOL,
     .flags = ERGO_KEY_CHAIN,
     .fallback = "false",
     .unit = "",
     .help = "Switch."},
    {.pointer = "/system/start",
     .type = ERGO_KEY_STRING,
     .flags = ERGO_KEY_CHAIN,
     .fallback = "\"up\"",
     .unit = "",
     .help = "Start."},
    {.pointer = "/system/pause",
     .type = ERGO_KEY_TIME,
     .min = 0,
     .max = 1e6,
     .unit = "s",
     .help = "Pause."},
    {.pointer = "/system/moves/displacement",
     .type = ERGO_KEY_REAL,
     .fallback = "0.5",
     .min = 0,
     .max = 1,
     .unit = "",
     .help = "Share of displacements."},
};

/* Of one of its models alone. */
static const struct ergo_key toy_beta_keys[] = {
    {.pointer = "/system/depth",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_SCAN,
     .fallback = "1",
     .min = 0,
     .max = 9,
     .unit = "J",
     .help = "Depth of beta's well.",
     .acts = toy_has_field,
     .where = "with a field"},
    {.pointer = "/run/curves_every",
     .type = ERGO_KEY_INT,
     .fallback = "20",
     .min = 0,
     .max = 1e6,
     .unit = "measurements",
     .help = "Curves with every so many measurements."},
};

/* Two contradictions: one depends on a scanned temperature, the other does not. */
static enum ergo_status toy_check(struct ergo_context *ctx, const struct ergo_point *point) {
    enum ergo_status status = ERGO_OK;
    double t = ergo_point_real(point, "/system/temperature");
    if (t > 100)
        status = ergo_job_error(ctx, "/system/temperature", "too hot");
    if (!strcmp(ergo_point_text(point, "/system/start"), "nowhere"))
        status = ergo_job_error(ctx, "/system/start", "there is no such start");
    return status;
}

static const struct ergo_observable toy_observables[] = {
    {.name = "energy", .unit = "J per site", .help = "Energy."},
};
static const struct ergo_column toy_columns[] = {{"energy", "J per site", "Energy."}};
static const struct ergo_tunable toy_tunables[] = {
    {.name = "block", .help = "Sites per item.", .min = 2, .max = 64}};

#define TOY_TABLES                                                                                 \
    .columns = toy_columns, .n_columns = 1, .observables = toy_observables, .n_observables = 1,    \
    .tunables = toy_tunables, .n_tunables = 1, .trajectory = "trajectory.xyz", .check = toy_check

static const struct ergo_model toy_alpha = {
    TOY_TABLES, .name = "alpha", .summary = "the first toy",
    .keys = {{toy_keys, sizeof toy_keys / sizeof toy_keys[0]}}};

static const struct ergo_model toy_beta = {
    TOY_TABLES, .name = "beta", .summary = "the second toy",
    .keys = {{toy_keys, sizeof toy_keys / sizeof toy_keys[0]},
             {toy_beta_keys, sizeof toy_beta_keys / sizeof toy_beta_keys[0]}}};
static const struct ergo_model *const toy_models[] = {&toy_alpha, &toy_beta};
static const struct ergo_key toy_model_key = {.pointer = "/system/model",
                                              .type = ERGO_KEY_ENUM,
                                              .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
                                              .fallback = "\"alpha\"",
                                              .unit = "",
                                              .help = "Model."};
static const struct ergo_sampler toy_sampler = {
    .name = "toy-lattice",
    .summary = "a toy",
    .citation = "Nobody, J. Irrepr. Res. 1 (2020).",
    .step_name = "sweep",
    .rate_unit = "toys per second",
    .model_key = &toy_model_key,
    .models = toy_models,
    .n_models = 2,
};

static const struct ergo_key gas_keys[] = {
    {.pointer = "/system/activity",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_REQUIRED,
     .min = 0,
     .max = 1e3,
     .unit = "",
     .help = "Activity."},
};
static const struct ergo_model gas_model = {.keys = {{gas_keys, 1}}};
static const struct ergo_model *const gas_models[] = {&gas_model};
static const struct ergo_sampler gas_sampler = {
    .name = "toy-gas",
    .summary = "another toy",
    .step_name = "move",
    .rate_unit = "moves per second",
    .models = gas_models,
    .n_models = 1,
};

/* Before main: the only samplers of this program. */
__attribute__((constructor)) static void toy_register(void) {
    static const struct ergo_sampler *const toys[] = {&toy_sampler, &gas_sampler};
    ergo_samplers = toys;
    ergo_n_samplers = 2;
}

#define TOY_SYSTEM "\"system\":{\"size\":[8,8],\"temperature\":2.5"
#define TOY_HEAD "{\"sampler\":\"toy-lattice\",\"run\":{\"sweeps\":100},"
/* A whole job with more members of "system" and more members of the job. */
#define TOY_JOB(in_system, more) TOY_HEAD TOY_SYSTEM in_system "}" more "}"

struct toy {
    struct ergo_context *ctx;
    struct ergo_job *job;
    enum ergo_status status;
    const char *message;
};

static inline struct toy toy_parse_sets(const char *text, const char *const *sets, size_t n_sets) {
    struct toy toy = {.ctx = ergo_context_create()};
    toy.status = ergo_job_parse(toy.ctx, text, strlen(text), "job.json", sets, n_sets, &toy.job);
    toy.message = ergo_error_message(toy.ctx);
    assert_true((toy.status == ERGO_OK) == (toy.job != NULL));
    assert_true((toy.status == ERGO_OK) == (*toy.message == '\0'));
    return toy;
}

static inline struct toy toy_parse(const char *text) {
    return toy_parse_sets(text, NULL, 0);
}

static inline void toy_free(struct toy *toy) {
    ergo_job_destroy(toy->job);
    ergo_context_destroy(toy->ctx);
}

static inline size_t count_lines(const char *text) {
    size_t lines = *text ? 1 : 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static inline void expect_contains(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("expected\n  %s\nin\n  %s", part, text);
}

/* The job is wrong, in exactly one line, which contains `part` (two of them if not NULL). */
static inline void expect_error(const char *text, const char *part, const char *part2) {
    struct toy toy = toy_parse(text);
    if (toy.status != ERGO_E_JOB)
        fail_msg("accepted or failed otherwise (%d): %s", (int)toy.status, text);
    if (count_lines(toy.message) != 1)
        fail_msg("not one line for %s:\n%s", text, toy.message);
    expect_contains(toy.message, part);
    if (part2)
        expect_contains(toy.message, part2);
    toy_free(&toy);
}

static inline struct toy expect_good(const char *text) {
    struct toy toy = toy_parse(text);
    if (toy.status != ERGO_OK)
        fail_msg("refused: %s\n%s", text, toy.message);
    return toy;
}

#endif
