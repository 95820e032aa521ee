/* libFuzzer's target for files of others that a run writes on: a trajectory in GSD to which frames
 * are appended, and configurations.h5. The first byte says which, and how far the run is; then come
 * changes of a good file: where (3 bytes), how many bytes, these. */
#include "fuzz.h"

#include "result/configurations.h"
#include "result/gsd.h"

enum { MOST = 1 << 20 };
static struct ergo_folder folder;
static char path[] = "/dev/shm/ergocl-fuzz-XXXXXX";
static const char trajectory[] = "p0000.gsd";

static void leave(void) {
    unlinkat(folder.fd, trajectory, 0);
    unlinkat(folder.fd, ERGO_CONFIGURATIONS, 0);
    rmdir(path);
}

static enum ergo_status append(struct ergo_context *ctx, unsigned t) {
    struct ergo_text text = {0};
    ergo_text_append(&text, "%u\nLattice=\"5 0 0 0 6 0 0 0 7\" pbc=\"T T T\" step=%u energy=1\n",
                     t % 5, t);
    for (unsigned i = 0; i < t % 5; i++)
        ergo_text_append(&text, "X %u.25 1 2\n", i);
    const enum ergo_status status =
        ergo_gsd_write(ctx, &folder, trajectory, t, text.data, text.length);
    ergo_text_free(&text);
    return status;
}

static struct ergo_job *job_of(struct ergo_context *ctx, bool longer) {
    static const char format[] =
        "{\"sampler\":\"spin-lattice\",\"system\":{\"model\":\"spin-glass\",\"size\":[4,4],"
        "\"samples\":32,\"temperature\":1},\"run\":{\"measure_every\":1},"
        "\"scan\":{\"/run/sweeps\":[%s]},\"output\":{\"configurations_every\":1}}";
    char text[512];
    const int length = snprintf(text, sizeof text, format, longer ? "3, 8" : "3, 4");
    struct ergo_job *job = NULL;
    expect(ergo_job_parse(ctx, text, (size_t)length, "h", NULL, 0, &job) == ERGO_OK,
           "the job is refused");
    return job;
}

static enum ergo_status prepare(struct ergo_context *ctx, bool longer) {
    struct ergo_configurations c = {0};
    struct ergo_job *job = job_of(ctx, longer);
    int fd = -1;
    char *state = NULL;
    size_t length = 0;
    uint64_t missing;
    enum ergo_status status = ergo_configurations_prepare(ctx, &folder, job, true, &c);
    if (status == ERGO_OK && ergo_configurations_open(&c, ctx, &folder, &fd)) {
        (void)ergo_configurations_missing(&c, ctx, fd, &missing);
        if (ergo_configurations_state(&c, ctx, fd, "f", &job->points[0], 1, &state, &length) ==
            ERGO_OK)
            (void)ergo_configurations_write(
                &c, ctx, fd, 0, 2, ergo_configurations_step(&c, &job->points[0], 2), state, length);
        free(state);
        close(fd);
    }
    ergo_configurations_free(&c);
    ergo_job_destroy(job);
    return status;
}

/* A good file, made once. */
static const struct ergo_text *good(struct ergo_context *ctx, bool gsd) {
    static struct ergo_text files[2];
    struct ergo_text *file = &files[gsd];
    char *data;
    size_t length;
    if (file->length)
        return file;
    for (unsigned t = 0; gsd && t < 250; t++)
        expect(append(ctx, t) == ERGO_OK, "a frame is refused");
    expect(gsd || prepare(ctx, false) == ERGO_OK, "configurations are refused");
    const char *name = gsd ? trajectory : ERGO_CONFIGURATIONS;
    expect(ergo_file_read(ctx, &folder, name, MOST, &data, &length) == ERGO_OK, "no file");
    ergo_text_append_bytes(file, data, length);
    free(data);
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ergo_context *ctx = ergo_context_create();
    expect(ctx != NULL, "no memory for a context");
    if (folder.path == NULL) {
        expect(mkdtemp(path) && ergo_folder_open(ctx, path, &folder) == ERGO_OK, "no folder");
        atexit(leave);
    }
    ergo_context_set_log(ctx, ERGO_LOG_ERROR, NULL, NULL);
    const uint8_t first = size ? *data : 0;
    const bool gsd = first & 1;
    const char *name = gsd ? trajectory : ERGO_CONFIGURATIONS;
    const struct ergo_text *file = good(ctx, gsd);
    char *changed = malloc(file->length);
    expect(changed != NULL, "no memory for a file");
    memcpy(changed, file->data, file->length);
    for (size_t i = 1; i + 4 < size;) {
        const size_t at =
            (data[i] | (size_t)data[i + 1] << 8 | (size_t)data[i + 2] << 16) % file->length;
        size_t n = data[i + 3];
        n = n < size - i - 4 ? n : size - i - 4;
        n = n < file->length - at ? n : file->length - at;
        memcpy(changed + at, data + i + 4, n);
        i += 4 + n;
    }
    const size_t length = first & 2 && size > 2 ? file->length * data[1] / 256 : file->length;
    expect(ergo_file_write(ctx, &folder, name, changed, length) == ERGO_OK, "no file");
    free(changed);
    const unsigned t = 250 - first / 4;
    for (unsigned k = 0; k < 8; k++) {
        const enum ergo_status status = gsd ? append(ctx, t + k) : prepare(ctx, first & 4);
        uint64_t now = 0;
        int fd = -1;
        expect(status == ERGO_OK || status == ERGO_E_IO || status == ERGO_E_MEMORY ||
                   status == ERGO_E_JOB,
               "an odd status");
        if (status != ERGO_OK)
            expect_message(ergo_error_message(ctx));
        ergo_error_clear(ctx);
        expect(ergo_file_open(ctx, &folder, name, &fd, &now) == ERGO_OK, "the file is gone");
        close(fd);
        expect(now < 4 * MOST, "a file without an end");
    }
    ergo_context_destroy(ctx);
    return 0;
}
