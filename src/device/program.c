/* Build programs, or take them from the cache. */
#include <stdlib.h>
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
    int claim; /* of the cache, while it is built */
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

/* ---- the cache ------------------------------------------------------------------------------- */

/*
 * Payload: the kernels' names, a zero byte, the binary. A driver that accepts a binary but then
 * lists other kernels has not understood it.
 */
static char *kernel_names(cl_program program) {
    size_t size = 0;
    if (clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, NULL, &size) != CL_SUCCESS)
        return NULL;
    char *names = calloc(size + 1, 1);
    if (names &&
        clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, size, names, NULL) != CL_SUCCESS) {
        free(names);
        names = NULL;
    }
    return names;
}

/* NULL or why not; a program may be there all the same. */
static const char *build_binary(struct build *b, const char *payload, size_t length,
                                cl_program *program) {
    cl_int code = CL_SUCCESS, loaded = CL_SUCCESS;
    const size_t skipped = strlen(payload) + 1; /* a payload ends with a zero, if not before */
    if (skipped >= length)
        return "without a binary";
    const unsigned char *binary = (const unsigned char *)payload + skipped;
    const size_t size = length - skipped;
    *program = clCreateProgramWithBinary(b->device->context, 1, &b->device->device, &size, &binary,
                                         &loaded, &code);
    if (code == CL_SUCCESS)
        code = loaded;
    if (code == CL_SUCCESS)
        code = clBuildProgram(*program, 1, &b->device->device, b->options.data, NULL, NULL);
    if (code != CL_SUCCESS)
        return ergo_cl_name(code);
    char *names = kernel_names(*program);
    const bool same = names && strcmp(names, payload) == 0;
    free(names);
    return same ? NULL : "loaded, but with other kernels";
}

bool ergo_program_kept(const struct ergo_device *device) {
    const char *specialized = getenv("POCL_WORK_GROUP_SPECIALIZATION");
    return !device->quirks.no_binary_cache &&
           (!device->quirks.binaries_compile || (specialized && strcmp(specialized, "0") == 0));
}

static cl_program load_cached(struct build *b) {
    cl_program program = NULL;
    char *payload = NULL;
    size_t length = 0;
    const char *reason = NULL;
    const enum ergo_cache_state state =
        ergo_cache_read(b->folder, "program", b->key, &payload, &length, &reason);
    if (state == ERGO_CACHE_HIT)
        reason = build_binary(b, payload, length, &program);
    free(payload);
    if (state == ERGO_CACHE_MISS || !reason)
        return program;
    ergo_log(b->ctx, ERGO_LOG_INFO, "cached binary of %s for %s is %s: building it again", b->path,
             b->device->summary.name, reason);
    if (program)
        (void)clReleaseProgram(program);
    return NULL;
}

static void store_cached(struct build *b, cl_program program) {
    struct ergo_text payload = {0};
    size_t size = 0;
    char *names = kernel_names(program);
    if (names &&
        clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) != CL_SUCCESS)
        size = 0; /* the driver gives none */
    unsigned char *binary = size ? malloc(size) : NULL;
    if (names && binary &&
        clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) ==
            CL_SUCCESS) {
        ergo_text_append_bytes(&payload, names, strlen(names) + 1);
        ergo_text_append_bytes(&payload, binary, size);
    }
    if (payload.data && !payload.failed)
        (void)ergo_cache_write(b->ctx, b->folder, "program", b->key, b->path, payload.data,
                               payload.length);
    ergo_text_free(&payload);
    free(binary);
    free(names);
}

/* ---- building -------------------------------------------------------------------------------- */

static enum ergo_status fail_build(struct build *b, cl_program program, cl_int code) {
    const struct ergo_device_summary *s = &b->device->summary;
    char *log = build_log(program, b->device->device);
    enum ergo_status status = ERGO_FAIL_CL(
        b->ctx, code,
        "Building %s for device %s (%s, driver %s) with options \"%s\" failed. The compiler "
        "says:\n%s\nThe text it was given is what `ergocl kernels --dump` writes.",
        b->path, s->id, s->name, s->driver, b->options.data, log && *log ? log : "(nothing)");
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

void ergo_program_options(const struct ergo_device *device, const char *options,
                          struct ergo_text *text) {
    ergo_text_append(text, "%s%s%s%s", device->options,
                     device->software_fma ? " -DERGO_SOFTWARE_FMA" : "",
                     options && *options ? " " : "", options ? options : "");
}

enum ergo_status ergo_program_build(struct ergo_context *ctx, struct ergo_device *device,
                                    const char *path, const char *options, cl_program *program) {
    struct build b = {.ctx = ctx, .device = device, .path = path};
    const double begun = ergo_clock();
    *program = NULL;
    enum ergo_status status = ergo_program_flatten(ctx, path, &b.text);
    if (status != ERGO_OK)
        goto out;
    ergo_program_options(device, options, &b.options);
    if (b.options.failed) {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "No memory to build %s", path);
        goto out;
    }
    if (ergo_program_kept(device))
        b.folder = ergo_cache_folder(ctx);
    if (b.folder)
        make_key(&b);
    if (b.folder)
        *program = load_cached(&b);
    if (b.folder && !*program && ergo_cache_claim(b.folder, b.key, &b.claim))
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
    ergo_cache_unclaim(&b.claim);
    device->build_seconds += ergo_clock() - begun;
    ergo_text_free(&b.options);
    free(b.folder);
    free(b.text);
    return status;
}
