/* Files that jobs name: of every key that names one, in every model, messages tell no word of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ergocl/ergocl.h"
#include "job/build.h"

#include "context.h"

#define SECRET "Xyzzy"   /* in names that have room for it */
#define NUMBER "7301946" /* in digits */

/* Secrets in place of words, of numbers, of vertices, of species' names. */
static const char *const texts[] = {
    "root:" SECRET ":0:0:root:/root:/bin/bash\n",
    "1 1 " SECRET "\n",
    "1 " SECRET "\n2 1\n",
    SECRET " 1 1\n",
    NUMBER "\n",
    NUMBER " " NUMBER "\n",
    "2 1\n1 -" NUMBER "\n",
    "2 1\n1 " NUMBER "\n",
    "2 1\n1 2 " NUMBER NUMBER "\n",
    "1 2 1\n" NUMBER " " NUMBER " 1\n",
    NUMBER " 2 1\n2 " NUMBER " 1\n",
    "h " NUMBER " 1\nh " NUMBER " 1\n",
    "n " NUMBER NUMBER NUMBER "\n",
    "p qubo 0 " SECRET " 1 1\n",
    "sample " SECRET "\n0 0 0 x " SECRET "\n",
    "1 " NUMBER "\n1 " NUMBER "\n",
    "2 " NUMBER "\n-" NUMBER " 1\n",
    "1\n\n" SECRET " 1 1 " SECRET "\n",
    "3\n\n" SECRET " 1 1 1\n" SECRET "r 3 3 3\n" SECRET "q 5 5 5\n",
    "3\nLattice=\"" SECRET "\"\n" SECRET " 1 1 1\nB 3 3 3\nA 5 5 5\n",
    "3\nProperties=" SECRET ":R:3\n" SECRET " 1 1 1\nB 3 3 3\nA 5 5 5\n",
    SECRET "\n" SECRET "\n1 " NUMBER " 0 0\n2 1 0 0\n2 0 1 0\n2 0 0 1\n1 1 1 1\n",
    SECRET "\n\n0 0 0 0\n2 1 " NUMBER " 0\n2 0 1 0\n2 0 0 1\n",
    SECRET "\n\n0 0 0 0\n" NUMBER " 3 0 0\n2 0 3 0\n2 0 0 3\n",
    SECRET "\n\n0 0 0 0\n2 3 0 0\n2 0 3 0\n2 0 0 3\n1 2 3 4 5 6 " SECRET " 8\n",
    SECRET "\n\n0 0 0 0\n2 3 0 0\n2 0 3 0\n2 0 0 3\n1 2 3 4 5 6 -" NUMBER "e30 8\n",
};

/* What a key needs beside it. */
static size_t others(const char *sampler, const char *pointer, const char **sets) {
    size_t n = 0;
    if (strcmp(pointer, "/system/frozen/file") == 0) {
        sets[n++] = "/system/frozen/epsilon=[1, 1]";
        sets[n++] = "/system/frozen/sigma=[1, 1]";
    }
    if (strcmp(pointer, "/system/field") == 0 && strncmp(sampler, "hard", 4) == 0)
        sets[n++] = "/system/axis=\"x\"";
    if (strcmp(pointer, "/system/external") == 0 ||
        strcmp(pointer, "/system/one_body_factor") == 0) {
        sets[n++] = "/system/one_body=\"trap\"";
        sets[n++] = "/system/density=0.0001";
        if (strcmp(sampler, "helium-dmc") == 0)
            sets[n++] = "/system/tail_correction=false";
        if (strcmp(pointer, "/system/external") == 0)
            sets[n++] = "/system/localisation=0.2";
    }
    return n;
}

static char path[] = "/tmp/ergo-words-XXXXXX";

/* Is the job refused for what is in the file, and without its words? */
static bool is_read(const char *name, const char *job, const char *const *sets, size_t n_sets) {
    size_t read = 0;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct ergo_job *made = NULL;
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(texts[i], file);
        fclose(file);
        (void)ergo_job_parse(ctx, job, strlen(job), "job", sets, n_sets, &made);
        const char *message = ergo_error_message(ctx), *at = strstr(message, path);
        if (strstr(message, SECRET) || strstr(message, NUMBER))
            fail_msg("%s, %s, file %zu: %s", name, sets[0], i, message);
        read += at && (strstr(at, "line") || strstr(at, "ends"));
        ergo_job_destroy(made);
        ergo_error_clear(ctx);
    }
    return read > 0;
}

static void no_word_is_told(void **state) {
    size_t n_files = 0;
    (void)state;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (size_t s = 0; s < ergo_n_samplers; s++)
        for (size_t m = 0; m < ergo_samplers[s]->n_models; m++) {
            const struct ergo_sampler *sampler = ergo_samplers[s];
            const struct ergo_model *model = sampler->models[m];
            struct ergo_arena arena = {0};
            size_t n_keys = 0;
            char topic[100], *job = NULL;
            snprintf(topic, sizeof topic, "%s%s%s", sampler->name, sampler->model_key ? " " : "",
                     sampler->model_key ? model->name : "");
            assert_int_equal(ergo_new_text(ctx, topic, &job), ERGO_OK);
            const struct ergo_key **keys = ergo_keys_of(sampler, model, &arena, &n_keys);
            for (size_t k = 0; k < n_keys; k++) {
                char set[200];
                const char *sets[8] = {set};
                if (!(keys[k]->flags & ERGO_KEY_FILE))
                    continue;
                snprintf(set, sizeof set, "%s=\"%s\"", keys[k]->pointer, path);
                if (!is_read(topic, job, sets,
                             1 + others(sampler->name, keys[k]->pointer, sets + 1)))
                    fail_msg("%s: %s: the file is not read", topic, set);
                n_files++;
            }
            free(job);
            ergo_arena_free(&arena);
        }
    assert_true(n_files >= 46);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_word_is_told)};
    return cmocka_run_group_tests(tests, context_open, context_close);
}
