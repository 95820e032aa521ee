/* Results of other devices, from the files of a folder: beside what was measured now. */
#include "bench.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/format.h"
#include "job/json.h"

enum { FILE_MAX = 4 << 20 };

static const char *text_of(const struct ergo_json *object, const char *key) {
    const struct ergo_json *value = object ? ergo_json_member(object, key) : NULL;
    return value && value->kind == ERGO_JSON_STRING ? value->text : "";
}

static double number_of(const struct ergo_json *object, const char *key) {
    const struct ergo_json *value = object ? ergo_json_member(object, key) : NULL;
    double number = 0;
    return value && value->kind == ERGO_JSON_NUMBER && ergo_json_real(value->text, &number) ? number
                                                                                            : 0;
}

/* These are for a terminal, which is not to obey them. */
static void clean(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7F)
            *text = '?';
}

/* One case of a file; those that failed their check have no rate. */
static bool add(struct ergo_bench *bench, const struct ergo_json *file,
                const struct ergo_json *what) {
    const struct ergo_json *rate =
        what->kind == ERGO_JSON_OBJECT ? ergo_json_member(what, "rate") : NULL;
    if (!rate || rate->kind != ERGO_JSON_OBJECT)
        return true;
    struct ergo_bench_recorded *grown =
        realloc(bench->recorded, (bench->n_recorded + 1) * sizeof *grown);
    if (!grown)
        return false;
    bench->recorded = grown;
    struct ergo_bench_recorded *r = &grown[bench->n_recorded++];
    memset(r, 0, sizeof *r);
    const struct ergo_json *device = ergo_json_member(file, "device");
    if (device && device->kind != ERGO_JSON_OBJECT)
        device = NULL;
    snprintf(r->device, sizeof r->device, "%.60s", text_of(device, "name"));
    snprintf(r->platform, sizeof r->platform, "%.40s %.30s", text_of(device, "platform"),
             text_of(device, "driver"));
    snprintf(r->date, sizeof r->date, "%.10s", text_of(file, "date"));
    clean(r->device);
    clean(r->platform);
    clean(r->date);
    /* files of old name no sampler, and have one */
    const char *sampler = text_of(what, "sampler");
    snprintf(r->sampler, sizeof r->sampler, "%s", *sampler ? sampler : "spin-lattice");
    snprintf(r->name, sizeof r->name, "%s", text_of(what, "name"));
    const char *job = text_of(what, "job");
    r->job = *job ? ergo_hash64(job, strlen(job)) : 0;
    r->median = number_of(rate, "median");
    r->least = number_of(rate, "min");
    r->most = number_of(rate, "max");
    return true;
}

static enum ergo_status read_file(struct ergo_bench *bench, const char *path) {
    struct ergo_arena arena = {0};
    struct ergo_json *root = NULL;
    char *text = NULL;
    size_t length = 0;
    bool ok = true;
    enum ergo_status status = ergo_file_read(bench->ctx, NULL, path, FILE_MAX, &text, &length);
    if (status == ERGO_OK)
        status = ergo_json_parse(bench->ctx, path, text, length, &arena, &root);
    const struct ergo_json *cases = status == ERGO_OK && root->kind == ERGO_JSON_OBJECT
                                        ? ergo_json_member(root, "cases")
                                        : NULL;
    for (const struct ergo_json *at = cases ? cases->child : NULL; at && ok; at = at->next)
        ok = add(bench, root, at);
    if (!ok)
        status = ERGO_FAIL(bench->ctx, ERGO_E_MEMORY, "no memory for recorded results");
    ergo_arena_free(&arena);
    free(text);
    return status;
}

enum ergo_status ergo_bench_recorded_read(struct ergo_bench *bench, const char *folder) {
    enum ergo_status status = ERGO_OK;
    struct dirent **names = NULL;
    const int n = scandir(folder, &names, NULL, alphasort);
    if (n < 0)
        return ERGO_FAIL(bench->ctx, ERGO_E_IO,
                         "%s, the folder of recorded results, cannot be read", folder);
    for (int i = 0; i < n; i++) {
        const size_t length = strlen(names[i]->d_name);
        if (status == ERGO_OK && length > 5 &&
            strcmp(names[i]->d_name + length - 5, ".json") == 0) {
            char *path = ergo_path_join(folder, names[i]->d_name);
            status = path ? read_file(bench, path)
                          : ERGO_FAIL(bench->ctx, ERGO_E_MEMORY, "no memory for a path");
            free(path);
        }
        free(names[i]);
    }
    free(names);
    return status;
}

void ergo_bench_recorded_print(const struct ergo_bench *bench, const struct ergo_bench_result *r,
                               double factor) {
    const uint64_t job = ergo_hash64(r->what->job, strlen(r->what->job));
    for (size_t i = 0; i < bench->n_recorded; i++) {
        const struct ergo_bench_recorded *other = &bench->recorded[i];
        if (strcmp(other->sampler, r->suite->sampler) != 0 ||
            strcmp(other->name, r->what->name) != 0)
            continue;
        printf("    recorded %s: %9.2f   %.2f .. %.2f   %s, %s%s\n", other->date,
               factor * other->median, factor * other->least, factor * other->most, other->device,
               other->platform, !other->job || other->job == job ? "" : " (of another job)");
    }
}
