/* Build programs, or take them from the cache. */
#include <ctype.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "device/cache.h"
#include "device/program.h"
#include "base/text.h"

/* What one build needs; made once, used for the cache and the compiler. */
struct build {
    struct ergo_context *ctx;
    struct ergo_device *device;
    const char *path;
    char *text;
    struct ergo_text options;
    char *folder; /* NULL: no cache */
    uint8_t key[32];
};

/* Texts are hashed with their lengths, or "ab","c" and "a","bc" would be one key. */
static void make_key(struct build *b) {
    const struct ergo_device_summary *s = &b->device->summary;
    const char *const parts[] = {b->text, b->options.data, s->platform,
                                 s->name, s->driver,       s->version};
    struct ergo_text all = {0};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        ergo_text_append(&all, "%zu:%s;", strlen(parts[i]), parts[i]);
    if (all.failed) {
        free(b->folder);
        b->folder = NULL; /* no key, no cache */
    } else {
        ergo_sha256(all.data, all.length, b->key);
    }
    ergo_text_free(&all);
}

static char *build_log(cl_program program, cl_device_id device) {
    size_t size = 0;
    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) != CL_SUCCESS)
        size = 0;
    char *log = calloc(size + 1, 1);
    if (log && size &&
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL) != CL_SUCCESS)
        log[0] = '\0';
    return log;
}

/* First ":LINE:COLUMN" of a compiler's log; 0 if there is none. */
static size_t find_log_line(const char *log) {
    for (const char *at = strchr(log, ':'); at; at = strchr(at + 1, ':')) {
        char *end = NULL;
        if (!isdigit((unsigned char)at[1]))
            continue;
        unsigned long line = strtoul(at + 1, &end, 10);
        if (*end != ':' || !isdigit((unsigned char)end[1]))
            continue;
        (void)strtoul(end + 1, &end, 10);
        if (*end == ':' || *end == ' ')
            return line;
    }
    return 0;
}

/* The compiler counts lines of the flattened text; people edit files. */
static void append_position(struct ergo_text *message, const char *text, size_t number) {
    static const char mark[] = "/* file: ";
    char file[256] = "";
    size_t line = 0;
    if (number == 0)
        return;
    for (size_t i = 1; *text; i++) {
        const size_t length = strcspn(text, "\n");
        if (strncmp(text, mark, sizeof mark - 1) == 0) {
            unsigned long start = 1;
            if (sscanf(text + sizeof mark - 1, "%255[^, ], line %lu", file, &start) < 1)
                file[0] = '\0';
            line = start;
        } else {
            if (i == number && file[0])
                ergo_text_append(message, "\nLine %zu is line %zu of %s.", number, line, file);
            line++;
        }
        text += length + (text[length] == '\n');
    }
}

/* ---- the cache ------------------------------------------------------------------------------- */

/*
 * Payload: the kernels' names, sorted, a zero byte, the binary. A driver that accepts a binary but
 * then lists other kernels has not understood it. Sorted, because rusticl's order changes from run
 * to run.
 */
static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static char *kernel_names(cl_program program) {
    struct ergo_text sorted = {0};
    const char **words = NULL;
    char *names = NULL;
    size_t size = 0, count = 1, n = 0;
    if (clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, NULL, &size) != CL_SUCCESS || !size)
        goto out;
    names = calloc(size + 1, 1);
    if (!names ||
        clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, size, names, NULL) != CL_SUCCESS)
        goto out;
    for (const char *at = names; *at; at++)
        count += *at == ';';
    words = calloc(count, sizeof *words);
    if (!words)
        goto out;
    for (char *at = names; n < count; at++) {
        words[n++] = at;
        at += strcspn(at, ";");
        if (!*at)
            break;
        *at = '\0';
    }
    qsort(words, n, sizeof *words, compare_names);
    for (size_t i = 0; i < n; i++)
        ergo_text_append(&sorted, "%s%s", i ? ";" : "", words[i]);
out:
    free(words);
    free(names);
    return sorted.data ? ergo_text_take(&sorted) : NULL;
}

static cl_program load_cached(struct build *b) {
    cl_program program = NULL;
    uint8_t *payload = NULL;
    size_t length = 0;
    const char *reason = "";
    char *names = NULL;
    cl_int code = CL_SUCCESS, loaded = CL_SUCCESS;

    enum ergo_cache_state state =
        ergo_cache_read(b->folder, "program", b->key, &payload, &length, &reason);
    if (state == ERGO_CACHE_MISS)
        goto out;
    const uint8_t *zero = state == ERGO_CACHE_HIT ? memchr(payload, 0, length) : NULL;
    if (!zero) {
        if (state == ERGO_CACHE_HIT)
            reason = "without kernel names";
        goto defect;
    }
    const unsigned char *binary = zero + 1;
    const size_t size = length - (size_t)(binary - payload);
    program = clCreateProgramWithBinary(b->device->context, 1, &b->device->device, &size, &binary,
                                        &loaded, &code);
    if (code == CL_SUCCESS)
        code = loaded;
    if (code == CL_SUCCESS)
        code = clBuildProgram(program, 1, &b->device->device, b->options.data, NULL, NULL);
    if (code != CL_SUCCESS) {
        reason = ergo_error_cl_name(code);
        goto defect;
    }
    names = kernel_names(program);
    if (!names || strcmp(names, (const char *)payload) != 0) {
        reason = "loaded, but with other kernels";
        goto defect;
    }
    goto out;
defect:
    if (program)
        (void)clReleaseProgram(program);
    program = NULL;
    ergo_log(b->ctx, ERGO_LOG_INFO, "cached binary of %s for %s is %s: building it again", b->path,
             b->device->summary.name, reason);
out:
    free(names);
    free(payload);
    return program;
}

static void store_cached(struct build *b, cl_program program) {
    struct ergo_text payload = {0};
    unsigned char *binary = NULL;
    size_t size = 0;
    const char *reason = "the driver gives no binary";
    bool stored = false;
    char *names = kernel_names(program);

    if (!names ||
        clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) != CL_SUCCESS)
        goto out;
    if (size == 0)
        goto out;
    binary = malloc(size);
    if (!binary ||
        clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) != CL_SUCCESS)
        goto out;
    ergo_text_append_bytes(&payload, names, strlen(names) + 1);
    ergo_text_append_bytes(&payload, binary, size);
    if (!payload.failed)
        stored =
            ergo_cache_write(b->folder, "program", b->key, payload.data, payload.length, &reason);
out:
    if (!stored)
        ergo_log(b->ctx, ERGO_LOG_INFO, "binary of %s not cached: %s", b->path, reason);
    ergo_text_free(&payload);
    free(binary);
    free(names);
}

/* ---- building -------------------------------------------------------------------------------- */

static enum ergo_status fail_build(struct build *b, cl_program program, cl_int code) {
    const struct ergo_device_summary *s = &b->device->summary;
    struct ergo_text position = {0};
    char *log = build_log(program, b->device->device);
    append_position(&position, b->text, log ? find_log_line(log) : 0);
    enum ergo_status status = ERGO_FAIL_CL(
        b->ctx, code,
        "Building %s for device %s (%s, driver %s) with options \"%s\" failed. The compiler "
        "says:\n%s%s\nThe text it was given is what `ergocl kernels --dump` writes.",
        b->path, s->id, s->name, s->driver, b->options.data, log && *log ? log : "(nothing)",
        position.data ? position.data : "");
    ergo_text_free(&position);
    free(log);
    return status;
}

/* A failure is one only if it is the last attempt's; else *program is NULL. */
static enum ergo_status try_build(struct build *b, bool last, cl_program *program) {
    enum ergo_status status = ERGO_OK;
    cl_int code = CL_SUCCESS;
    const char *source = b->text;
    const size_t length = strlen(b->text);
    *program = clCreateProgramWithSource(b->device->context, 1, &source, &length, &code);
    if (code != CL_SUCCESS) {
        *program = NULL;
        return ERGO_FAIL_CL(b->ctx, code, "Creating program %s on device %s (%s) failed", b->path,
                            b->device->summary.id, b->device->summary.name);
    }
    code = clBuildProgram(*program, 1, &b->device->device, b->options.data, NULL, NULL);
    if (code != CL_SUCCESS) {
        if (last)
            status = fail_build(b, *program, code);
        (void)clReleaseProgram(*program);
        *program = NULL;
    }
    return status;
}

static enum ergo_status build_source(struct build *b, cl_program *program) {
    enum ergo_status status = ERGO_OK;
    const int attempts = b->device->quirks.build_again ? 3 : 1;
    *program = NULL;
    for (int i = 1; i <= attempts && !*program && status == ERGO_OK; i++)
        status = try_build(b, i == attempts, program);
    return status;
}

enum ergo_status ergo_program_build(struct ergo_context *ctx, struct ergo_device *device,
                                    const char *path, const char *options, cl_program *program) {
    struct build b = {.ctx = ctx, .device = device, .path = path};
    const double begun = ergo_clock();
    *program = NULL;
    enum ergo_status status = ergo_program_flatten(ctx, path, &b.text);
    if (status != ERGO_OK)
        goto out;
    ergo_text_append(&b.options, "%s%s%s", device->options, options && *options ? " " : "",
                     options ? options : "");
    if (b.options.failed) {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "No memory to build %s", path);
        goto out;
    }
    if (!device->quirks.no_binary_cache)
        b.folder = ergo_cache_folder(ctx);
    if (b.folder)
        make_key(&b);
    if (b.folder)
        *program = load_cached(&b);
    if (*program) {
        device->loaded++;
        goto out;
    }
    device->built++;
    status = build_source(&b, program);
    if (status == ERGO_OK && b.folder)
        store_cached(&b, *program);
out:
    device->build_seconds += ergo_clock() - begun;
    ergo_text_free(&b.options);
    free(b.folder);
    free(b.text);
    return status;
}
