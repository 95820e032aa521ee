/*
 * A program whose locale has decimal commas gets the same files and texts as one without, byte for
 * byte, and has its own locale in callbacks and afterwards. It uses the public API alone. Files
 * contain times, so the clocks here are replaced: they advance with the program's launches and
 * clock calls.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <ftw.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "compare/compare.h" /* for the counter of energy alone */
#include "ergocl/ergocl.h"

/* ---- clocks that tell no time ---------------------------------------------------------------- */

static uint64_t microseconds; /* only what the thread of the test does counts */

extern const char __executable_start, etext;
#define OURS                                                                                       \
    ((const char *)__builtin_return_address(0) >= &__executable_start &&                           \
     (const char *)__builtin_return_address(0) < &etext)

int clock_gettime(clockid_t id, struct timespec *t) {
    static int (*real)(clockid_t, struct timespec *);
    void *found = real || OURS ? NULL : dlsym(RTLD_NEXT, "clock_gettime");
    if (found)
        memcpy(&real, &found, sizeof real);
    if (!OURS)
        return real(id, t);
    microseconds += 1000;
    *t = (struct timespec){.tv_sec = (time_t)(microseconds / 1000000),
                           .tv_nsec = (long)(microseconds % 1000000) * 1000};
    return 0;
}

time_t time(time_t *t) {
    static const time_t now = 1700000000;
    if (t)
        *t = now;
    return now;
}

/* Larger work-groups are faster: a search for a profile finds one. */
cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint n, const cl_event *events, cl_event *event) {
    static __typeof__(&clEnqueueNDRangeKernel) real;
    void *found = real ? NULL : dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel");
    if (found)
        memcpy(&real, &found, sizeof real);
    uint64_t items = 1;
    for (cl_uint d = 0; d < dims && local; d++)
        items *= local[d];
    microseconds += 1000 + 100000 / items;
    return real(queue, kernel, dims, offset, global, local, n, events, event);
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info name, size_t size, void *value,
                               size_t *returned) {
    static cl_ulong nanoseconds;
    (void)event;
    nanoseconds += name == CL_PROFILING_COMMAND_END ? 1234567 : 0;
    if (value && size == sizeof nanoseconds)
        memcpy(value, &nanoseconds, sizeof nanoseconds);
    if (returned)
        *returned = sizeof nanoseconds;
    return CL_SUCCESS;
}

/* Whether the device is still at work when the host has time: never. */
cl_int clGetEventInfo(cl_event event, cl_event_info name, size_t size, void *value,
                      size_t *returned) {
    static const cl_int complete = CL_COMPLETE;
    (void)event, (void)name;
    if (value && size == sizeof complete)
        memcpy(value, &complete, sizeof complete);
    if (returned)
        *returned = sizeof complete;
    return CL_SUCCESS;
}

/* ---- a program with a locale ----------------------------------------------------------------- */

static char base[] = "/tmp/ergo-locale-XXXXXX"; /* below it "out", the same name for each locale */
static const char *point;                       /* of the program's numbers */
static FILE *messages;
static unsigned progress_calls, log_calls;

static void own_locale(void) {
    assert_string_equal(localeconv()->decimal_point, point);
    assert_true(uselocale((locale_t)0) == LC_GLOBAL_LOCALE);
}

static void on_log(void *user, enum ergo_log_level level, const char *message) {
    (void)user;
    own_locale();
    log_calls++;
    fprintf(messages, "%d %s\n", (int)level, message);
}

static void on_progress(void *user, const struct ergo_progress *progress) {
    struct ergo_context *ctx = user;
    char *text = NULL;
    own_locale();
    progress_calls++;
    /* a public function within a callback */
    assert_int_equal(ergo_help_text(ctx, "exit-codes", &text), ERGO_OK);
    free(text);
    own_locale();
    fprintf(messages, "%s\n", progress->phase);
}

static void check(struct ergo_context *ctx, enum ergo_status status, const char *what) {
    own_locale();
    if (status != ERGO_OK)
        fail_msg("with \"%s\" in numbers, %s: %s", point, what, ergo_error_message(ctx));
}
#define OK(call) check(ctx, call, #call)

/* Below "out". */
static const char *place(const char *name) {
    static char paths[16][128]; /* in turns: as many are in use at once */
    static unsigned next;
    char *path = paths[next++ % 16];
    snprintf(path, sizeof paths[0], "%s/out/%s", base, name);
    return path;
}

static void keep(const char *name, const char *text) {
    FILE *file = fopen(place(name), "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void keep_and_free(const char *name, char *text) {
    keep(name, text);
    free(text);
}

/* ---- what it does ---------------------------------------------------------------------------- */

#define RUN "\"run\": { \"equilibration\": 3, \"sweeps\": 12, \"measure_every\": 2 }, "
#define OUTPUT "\"output\": { \"blocks\": 3, \"trajectory_every\": 6, \"snapshots\": 2 } }"

/* Each reads numbers with points: from the job, and from a file of the test's or of a run before.
 */
static const struct {
    const char *name, *text, *start; /* start: /system/start is this file */
} jobs[] = {
    /* a replay beside the run would ask the clock, too */
    {"ising",
     "{ \"sampler\": \"spin-lattice\", \"seed\": \"1\", \"audit\": { \"device\": \"none\" }, "
     "\"replicas\": 2, \"system\": { \"model\": \"ising\", \"size\": [4, 4], \"temperature\": 2.5, "
     "\"field\": -0.125, \"field_file\": "
     "\"data/reference/fields-16.txt\", \"dynamics\": \"heat-bath\" }, \"scan\": { "
     "\"/system/random_field\": { \"from\": 0.5, \"to\": 1.5, \"step\": 0.5 } }, " RUN OUTPUT,
     NULL},
    {"disks",
     "{ \"sampler\": \"hard-disks\", \"seed\": \"1\", \"audit\": { \"device\": \"none\" }, "
     "\"system\": { \"n\": 30, "
     "\"packing_fraction\": 0.45 }, " RUN OUTPUT,
     NULL},
    {"disks-again",
     "{ \"sampler\": \"hard-disks\", \"seed\": \"2\", \"audit\": { \"device\": \"none\" }, "
     "\"system\": { \"n\": 30, "
     "\"packing_fraction\": 0.45 }, " RUN OUTPUT,
     "disks/snapshots/p0000-000000000000015.xyz"},
    {"fluid",
     "{ \"sampler\": \"lj-gcmc\", \"seed\": \"1\", \"audit\": { \"device\": \"none\" }, "
     "\"system\": { \"box\": [5.5, 5.25, 5.75], "
     "\"temperature\": 1.5, \"activity\": 0.125, \"particles\": 12 }, " RUN OUTPUT,
     NULL},
    {"fluid-again",
     "{ \"sampler\": \"lj-gcmc\", \"seed\": \"2\", \"audit\": { \"device\": \"none\" }, "
     "\"system\": { \"box\": [5.5, 5.25, 5.75], "
     "\"temperature\": 1.5, \"activity\": 0.125 }, " RUN OUTPUT,
     "fluid/snapshots/p0000-000000000000015.xyz"},
    {"helium",
     "{ \"sampler\": \"helium-vmc\", \"seed\": \"1\", \"audit\": { \"device\": \"none\" }, "
     "\"system\": { \"n\": 8, \"density\": 0.0225, "
     "\"walkers\": 2, \"potential\": \"%s\", \"wave_function\": \"%s\" }, " RUN OUTPUT,
     NULL},
    {"potts",
     "{ \"sampler\": \"swendsen-wang\", \"audit\": { \"device\": \"none\" }, \"seed\": \"1\", "
     "\"system\": { \"q\": 3, \"size\": [16, "
     "16], \"temperature\": 0.995 }, " RUN "\"output\": { \"blocks\": 3, \"snapshots\": 2 } }",
     NULL},
};
enum { N_JOBS = sizeof jobs / sizeof jobs[0] };

/* Lines "r scale / r^6", with decimal points whatever the locale. */
static void keep_function(const char *name, double scale) {
    FILE *file = fopen(place(name), "w");
    assert_non_null(file);
    for (long r = 150; r < 1200; r++) {
        const double r3 = 1e-6 * (double)(r * r * r);
        const long long value = llround(1e12 * scale / (r3 * r3));
        fprintf(file, "%ld.%02ld -%lld.%012lld\n", r / 100, r % 100, value / 1000000000000,
                value % 1000000000000);
    }
    assert_int_equal(fclose(file), 0);
}

static void load(struct ergo_context *ctx, size_t j, struct ergo_job **job) {
    char path[64], text[1024], set[160];
    const char *sets[] = {set};
    snprintf(path, sizeof path, "%s.json", jobs[j].name);
    /* the one format of these is helium's */
    snprintf(text, sizeof text, jobs[j].text, place("potential.txt"), place("wave.txt"));
    keep(path, text);
    if (jobs[j].start)
        snprintf(set, sizeof set, "/system/start=\"%s\"", place(jobs[j].start));
    OK(ergo_job_load(ctx, place(path), sets, jobs[j].start != NULL, job));
}

static void run(struct ergo_context *ctx, size_t j) {
    char name[64];
    struct ergo_job *job = NULL;
    struct ergo_result *result = NULL;
    struct ergo_run_options options = {.progress = on_progress, .user = ctx};
    char *text = NULL;
    load(ctx, j, &job);
    OK(ergo_validate(ctx, job));
    OK(ergo_plan_text(ctx, job, NULL, &text));
    snprintf(name, sizeof name, "%s-plan.txt", jobs[j].name);
    keep_and_free(name, text);
    options.directory = place(jobs[j].name);
    OK(ergo_run(ctx, job, &options, &result));
    OK(ergo_result_write_page(ctx, result, options.directory));
    OK(ergo_result_table(ctx, result, &text));
    snprintf(name, sizeof name, "%s-table.txt", jobs[j].name);
    keep_and_free(name, text);
    ergo_result_destroy(result);
    OK(ergo_resume(ctx, options.directory, &options, &result));
    OK(ergo_result_json(ctx, result, &text));
    snprintf(name, sizeof name, "%s-result.json", jobs[j].name);
    keep_and_free(name, text);
    ergo_result_destroy(result);
    ergo_job_destroy(job);
}

static void report(struct ergo_context *ctx) {
    const char *folders[] = {place("ising"), place("disks"), place("disks-again")};
    OK(ergo_report(ctx, folders, 3, place("report.html"), false));
}

static void compare(struct ergo_context *ctx) {
    const char *device = getenv("ERGOCL_DEVICE") ? getenv("ERGOCL_DEVICE") : "auto";
    const char *devices[] = {device, device};
    const struct ergo_compare_options options = {.directory = place("compare"),
                                                 .devices = devices,
                                                 .n_devices = 2,
                                                 .progress = on_progress,
                                                 .user = ctx};
    struct ergo_comparison *comparison = NULL;
    struct ergo_job *job = NULL;
    char *text = NULL;
    load(ctx, 0, &job);
    OK(ergo_compare(ctx, job, &options, &comparison));
    assert_true(ergo_comparison_agrees(comparison));
    OK(ergo_comparison_table(ctx, comparison, &text));
    keep_and_free("compare-table.txt", text);
    OK(ergo_comparison_json(ctx, comparison, &text));
    keep_and_free("compare-text.json", text);
    ergo_comparison_destroy(comparison);
    ergo_job_destroy(job);
}

/* A profile from before: on some devices nothing is faster than the automatic launch. */
static void keep_profile(void) {
    static const char text[] =
        "{\"profiles\": [{\"type\": \"cpu\", \"sampler\": \"swendsen-wang\", \"path\": "
        "\"local\", \"members\": 1, \"work_per_step\": 256, \"tuning\": {\"work_group\": 2}, "
        "\"gain\": 1.25}]}";
    assert_int_equal(mkdir(place("config"), 0700), 0);
    FILE *file = fopen(place("config/tuning.json"), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Profiles are read, and kept if they are found, and read again by a plan. */
static void tune(struct ergo_context *ctx) {
    const struct ergo_tune_options options = {
        .seconds = 100.5, .progress = on_progress, .user = ctx};
    struct ergo_job *job = NULL;
    char *text = NULL;
    keep_profile();
    setenv("ERGOCL_CONFIG_DIR", place("config"), 1);
    load(ctx, 6, &job);
    OK(ergo_tune(ctx, job, &options, &text));
    keep_and_free("tune.txt", text);
    OK(ergo_plan_text(ctx, job, NULL, &text));
    keep_and_free("tuned-plan.txt", text);
    ergo_job_destroy(job);
    unsetenv("ERGOCL_CONFIG_DIR");
}

static void texts(struct ergo_context *ctx) {
    static const char *const topics[] = {"spin-lattice", "hard-disks",    "lj-gcmc", "helium-vmc",
                                         "job",          "swendsen-wang", "result",  NULL};
    char *text = NULL, name[64];
    OK(ergo_schema_text(ctx, &text));
    keep_and_free("schema.json", text);
    OK(ergo_kernels_text(ctx, NULL, &text));
    keep_and_free("kernels.cl", text);
    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
        snprintf(name, sizeof name, "help-%s.txt", topics[i] ? topics[i] : "overview");
        OK(ergo_help_text(ctx, topics[i], &text));
        keep_and_free(name, text);
    }
}

/* A refusal has numbers, too. */
static void refusals(struct ergo_context *ctx) {
    static const char wrong[] = "{ \"sampler\": \"spin-lattice\", \"system\": { \"model\": "
                                "\"ising\", \"temperature\": -2.5 }, \"wall_time\": 0.5.5 }";
    struct ergo_job *job = NULL;
    assert_int_equal(ergo_job_parse(ctx, wrong, strlen(wrong), "wrong", NULL, 0, &job), ERGO_E_JOB);
    own_locale();
    const char *sets[] = {"/system/temperature=-2.5"};
    assert_int_equal(ergo_job_load(ctx, place("ising.json"), sets, 1, &job), ERGO_E_JOB);
    own_locale();
    keep("errors.txt", ergo_error_message(ctx));
    ergo_error_clear(ctx);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at) {
    (void)status, (void)type, (void)at;
    return remove(path);
}

static void remove_tree(const char *path) {
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* All of it, into base/out, which then gets the name `as`. */
static void work(const char *as) {
    char to[128];
    microseconds = 0;
    progress_calls = log_calls = 0;
    assert_int_equal(mkdir(place(""), 0777), 0);
    messages = fopen(place("messages.txt"), "w");
    assert_non_null(messages);
    struct ergo_context *ctx = ergo_context_create();
    assert_non_null(ctx);
    ergo_context_set_log(ctx, ERGO_LOG_DEBUG, on_log, NULL);
    keep_function("potential.txt", 5000);
    keep_function("wave.txt", 100);
    texts(ctx);
    for (size_t j = 0; j < N_JOBS; j++)
        run(ctx, j);
    report(ctx);
    compare(ctx);
    tune(ctx);
    refusals(ctx);
    ergo_context_destroy(ctx);
    assert_int_equal(fclose(messages), 0);
    assert_true(progress_calls > 20 && log_calls > 5);
    snprintf(to, sizeof to, "%s/%s", base, as);
    assert_int_equal(rename(place(""), to), 0);
}

/* ---- side by side ---------------------------------------------------------------------------- */

static char *read_whole(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *bytes = malloc(1 << 24);
    assert_non_null(bytes);
    *length = fread(bytes, 1, 1 << 24, file);
    fclose(file);
    return bytes;
}

static const char *other; /* the tree beside "points" */
static size_t n_files, n_different;

static int compare_one(const char *path, const struct stat *status, int type, struct FTW *at) {
    char twin[256];
    size_t n = 0, m = 0;
    (void)status, (void)at;
    if (type != FTW_F)
        return 0;
    const char *name = path + strlen(base) + strlen("/points/");
    snprintf(twin, sizeof twin, "%s/%s/%s", base, other, name);
    char *a = read_whole(path, &n), *b = read_whole(twin, &m);
    n_files++;
    if (!a || !b || n != m || memcmp(a, b, n) != 0) {
        size_t first = 0;
        while (a && b && first < n && first < m && a[first] == b[first])
            first++;
        const size_t from = first > 40 ? first - 40 : 0;
        print_message("%s differs %s at byte %zu:\n  %.80s\n  %.80s\n", name, other, first,
                      a ? a + from : "(missing)", b ? b + from : "(missing)");
        n_different++;
    }
    free(a);
    free(b);
    return 0;
}

static size_t count_files(const char *as) {
    char path[128];
    snprintf(path, sizeof path, "%s/points", base);
    other = as;
    n_files = 0;
    nftw(path, compare_one, 8, FTW_PHYS);
    return n_files;
}

static void same_files(void **state) {
    static const struct {
        const char *name;
        int category;
    } locales[] = {{"commas", LC_ALL}, {"commas-in-numbers", LC_NUMERIC}};
    (void)state;
    point = ".";
    work("warm"); /* caches are filled: they are part of what is told */
    work("points");
    for (size_t i = 0; i < 2; i++) {
        assert_non_null(setlocale(locales[i].category, "de_DE.UTF-8"));
        point = ",";
        work(locales[i].name);
        setlocale(LC_ALL, "C");
        point = ".";
        const size_t n = count_files(locales[i].name);
        print_message("%zu files, %s\n", n, locales[i].name);
        assert_true(n > 60);
    }
    assert_int_equal(n_different, 0);
}

/* The program may change its locale in a callback. */
static locale_t another;
static void change_locale(void *user, const struct ergo_progress *progress) {
    (void)user, (void)progress;
    uselocale(another);
}

static void a_callback_changes_the_locale(void **state) {
    const struct ergo_run_options options = {.directory = place("changed"),
                                             .progress = change_locale};
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_job *job = NULL;
    struct ergo_result *result = NULL;
    char *text = NULL;
    (void)state;
    another = newlocale(LC_ALL_MASK, "de_DE.UTF-8", (locale_t)0);
    assert_true(another != (locale_t)0);
    assert_int_equal(ergo_job_parse(ctx, jobs[0].text, strlen(jobs[0].text), "j", NULL, 0, &job),
                     ERGO_OK);
    assert_int_equal(ergo_run(ctx, job, &options, &result), ERGO_OK);
    assert_true(uselocale((locale_t)0) == another);
    assert_int_equal(ergo_result_json(ctx, result, &text), ERGO_OK);
    assert_non_null(strstr(text, "\"/system/random_field\": 0.5"));
    assert_true(uselocale((locale_t)0) == another);
    uselocale(LC_GLOBAL_LOCALE);
    freelocale(another);
    free(text);
    ergo_result_destroy(result);
    ergo_job_destroy(job);
    ergo_context_destroy(ctx);
}

static int make_locale(void **state) {
    char command[256];
    (void)state;
    ergo_energy_wanted = false; /* no two are the same */
    if (!mkdtemp(base))
        return -1;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8", base);
    if (system(command) != 0) {
        print_error("no locale with decimal commas can be made: tools/install-deps.sh --test\n");
        return -1;
    }
    return setenv("LOCPATH", base, 1);
}

static int clean_up(void **state) {
    (void)state;
    remove_tree(base);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_files),
        cmocka_unit_test(a_callback_changes_the_locale),
    };
    return cmocka_run_group_tests(tests, make_locale, clean_up);
}
