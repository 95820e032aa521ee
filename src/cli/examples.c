/* ergocl examples [NAME]: the jobs of data/jobs, which are installed beside the program. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_in.h"
#include "cli/cli.h"

enum { JOB_MOST = 1 << 20, WIDTH = 79 };

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names of the jobs of a folder, sorted. */
static char **list_jobs(const char *folder, size_t *n) {
    DIR *opened = ergo_memory_got(opendir(folder));
    char **names = NULL;
    *n = 0;
    for (const struct dirent *e = opened ? readdir(opened) : NULL; e; e = readdir(opened)) {
        const char *end = strstr(e->d_name, ".json");
        char **more = NULL;
        if (!end || end[5] || end == e->d_name)
            continue;
        more = realloc(names, (*n + 1) * sizeof *more);
        if (!more)
            break;
        names = more;
        names[*n] = strndup(e->d_name, (size_t)(end - e->d_name));
        if (!names[*n])
            break;
        ++*n;
    }
    if (opened)
        closedir(opened);
    if (names)
        qsort(names, *n, sizeof *names, by_name);
    return names;
}

/* Words filled to the width, each line indented. */
static void put_filled(const char *text, int indent) {
    int column = 0;
    for (const char *p = text; *p; p += strspn(p, " ")) {
        const int word = (int)strcspn(p, " ");
        char part[256];
        if (column && column + 1 + word > WIDTH) {
            printf("\n");
            column = 0;
        }
        snprintf(part, sizeof part, "%.*s", word, p);
        printf("%*s", column ? 1 : indent, "");
        cli_put(part);
        column += (column ? 1 : indent) + word;
        p += word;
    }
    printf("\n");
}

static enum ergo_status read_job(struct ergo_context *ctx, const char *folder, const char *name,
                                 char **text, size_t *length) {
    char file[300];
    snprintf(file, sizeof file, "%s.json", name);
    char *path = ergo_path_join(folder, file);
    const enum ergo_status status = path ? ergo_file_read(ctx, NULL, path, JOB_MOST, text, length)
                                         : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a path");
    free(path);
    return status;
}

static enum ergo_status put_one(struct ergo_context *ctx, const char *folder, const char *name) {
    char *text = NULL;
    size_t length = 0;
    cJSON *job = NULL;
    enum ergo_status status = read_job(ctx, folder, name, &text, &length);
    if (status == ERGO_OK)
        status = ergo_json_in(ctx, name, text, length, &job);
    if (status == ERGO_OK) {
        printf("%s  (%s)\n", name, ergo_in_text(job, "sampler", "?"));
        put_filled(ergo_in_text(job, "description", ""), 4);
    }
    cJSON_Delete(job);
    free(text);
    return status;
}

/* Exactly one job, to be kept and changed. */
static enum ergo_status put_whole(struct ergo_context *ctx, const char *folder, const char *name,
                                  char **names, size_t n) {
    char *text = NULL;
    size_t length = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i], name) != 0)
            continue;
        const enum ergo_status status = read_job(ctx, folder, name, &text, &length);
        if (status == ERGO_OK)
            fwrite(text, 1, length, stdout);
        free(text);
        return status;
    }
    const char *nearest = cli_nearest(name, (const char *const *)names, n);
    return ERGO_FAIL(ctx, ERGO_E_JOB, "no example \"%s\"%s%s%s; \"ergocl examples\" lists them",
                     name, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                     nearest ? "\"?" : "");
}

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    static const char *const places[] = {"../data/jobs", "../share/ergocl/jobs"};
    char *folder = ergo_path_beside(places, 2, R_OK);
    size_t n = 0;
    char **names = folder ? list_jobs(folder, &n) : NULL;
    enum ergo_status status = ERGO_OK;
    if (!n) {
        status = ERGO_FAIL(
            ctx, ERGO_E_IO,
            "the example jobs are not beside this program; \"make install\" installs them");
    } else if (arguments->operand) {
        status = put_whole(ctx, folder, arguments->operand, names, n);
    } else {
        for (size_t i = 0; i < n && status == ERGO_OK; i++)
            status = put_one(ctx, folder, names[i]);
        char *shown = ergo_memory_got(realpath(folder, NULL));
        if (status == ERGO_OK)
            printf("\nergocl run %s/NAME.json runs one, \"ergocl examples NAME\" prints it.\n",
                   shown ? shown : folder);
        free(shown);
    }
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
    free(folder);
    return status;
}

const struct cli_command cli_command_examples = {
    .name = "examples",
    .operand = "[NAME]",
    .summary = "list the example jobs, with what each shows and how long it takes; print one",
    .details = "With NAME the job itself: ergocl examples quickstart > job.json",
    .options = 0,
    .run = run,
};
