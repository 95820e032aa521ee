/* ergo_kernels_write: the programs of a job as they are built for a device, as files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "base/file.h"
#include "base/json_out.h"
#include "base/utf8.h"
#include "device/program.h"
#include "run/tuning.h"
#include "run/work.h"

enum { NAME_MAX_BYTES = 128 };

/* A source with its options, which several batches may have. */
struct program {
    const char *path; /* relative to cl/ */
    char *options;    /* owned; with those of the device */
    const char *kernels[ERGO_KERNELS];
    size_t n_kernels;
    uint64_t *batches; /* owned; a bit for each */
};

struct writer {
    struct ergo_context *ctx;
    const struct ergo_job *job;
    const struct ergo_device *device;
    struct program *programs; /* owned */
    size_t count;
    size_t batch;            /* that is looked at */
    struct ergo_plan *plans; /* owned; of each batch */
    struct ergo_folder folder;
    struct ergo_text list;
};

static enum ergo_status no_memory(const struct writer *w) {
    return ERGO_FAIL(w->ctx, ERGO_E_MEMORY, "no memory for the programs of %s", w->job->name);
}

/* The program of these, new if there is none yet; NULL: no memory. Takes `options`. */
static struct program *find(struct writer *w, const char *path, char *options) {
    for (size_t p = 0; p < w->count; p++)
        if (strcmp(w->programs[p].path, path) == 0 &&
            strcmp(w->programs[p].options, options) == 0) {
            free(options);
            return &w->programs[p];
        }
    uint64_t *batches = calloc(w->job->n_batches / 64 + 1, sizeof *batches);
    struct program *more = realloc(w->programs, (w->count + 1) * sizeof *more);
    if (more)
        w->programs = more;
    if (!more || !batches) {
        free(batches);
        free(options);
        return NULL;
    }
    more[w->count] = (struct program){.path = path, .options = options, .batches = batches};
    return &more[w->count++];
}

static void add_kernel(struct program *p, const char *name) {
    for (size_t k = 0; k < p->n_kernels; k++)
        if (strcmp(p->kernels[k], name) == 0)
            return;
    if (p->n_kernels < ERGO_KERNELS)
        p->kernels[p->n_kernels++] = name;
}

static enum ergo_status look(struct ergo_context *ctx, const struct ergo_engine *e, void *user) {
    struct writer *w = user;
    (void)ctx;
    w->plans[w->batch] = e->plan;
    for (unsigned p = 0; p < ERGO_PROGRAMS && e->programs[p].path; p++) {
        struct ergo_text options = {0};
        ergo_program_options(w->device, e->programs[p].options, &options);
        char *all = ergo_text_take(&options);
        struct program *program = all ? find(w, e->programs[p].path, all) : NULL;
        if (!program)
            return no_memory(w);
        program->batches[w->batch / 64] |= UINT64_C(1) << w->batch % 64;
        for (size_t k = 0; k < ERGO_KERNELS; k++)
            if (e->kernels[k].name && e->kernels[k].program == p)
                add_kernel(program, e->kernels[k].name);
    }
    return ERGO_OK;
}

/* "hard_disks-disks_tile", then "hard_disks-disks_tile-2" of the same source with other options. */
static void name_of(const struct writer *w, const struct program *program,
                    char name[NAME_MAX_BYTES]) {
    unsigned turn = 1;
    for (const struct program *p = w->programs; p < program; p++)
        turn += strcmp(p->path, program->path) == 0;
    const size_t length = strlen(program->path);
    const size_t stem =
        length > 3 && strcmp(program->path + length - 3, ".cl") == 0 ? length - 3 : length;
    snprintf(name, NAME_MAX_BYTES, "%.*s", (int)(stem < 96 ? stem : 96), program->path);
    for (char *c = name; *c; c++)
        *c = *c == '/' ? '-' : *c;
    if (turn > 1)
        snprintf(name + strlen(name), NAME_MAX_BYTES - strlen(name), "-%u", turn);
}

static char *describe(const struct writer *w, const struct program *p, const char *source) {
    struct ergo_json_out out = {0};
    const struct ergo_device_summary *d = &w->device->summary;
    ergo_out_object(&out, NULL);
    ergo_out_text(&out, "program", p->path);
    ergo_out_text(&out, "source", source);
    ergo_out_text(&out, "options", p->options);
    ergo_out_array(&out, "kernels");
    for (size_t k = 0; k < p->n_kernels; k++)
        ergo_out_text(&out, NULL, p->kernels[k]);
    ergo_out_close(&out, 1);
    ergo_out_object(&out, "device");
    ergo_out_text(&out, "name", d->name);
    ergo_out_text(&out, "platform", d->platform);
    ergo_out_text(&out, "driver", d->driver);
    ergo_out_close(&out, 1);
    ergo_out_text(&out, "job", w->job->name);
    ergo_out_array(&out, "batches");
    for (size_t b = 0; b < w->job->n_batches; b++)
        if (p->batches[b / 64] >> b % 64 & 1) {
            ergo_out_object(&out, NULL);
            ergo_out_raw(&out, "batch", "%zu", b + 1);
            ergo_out_text(&out, "path", w->plans[b].path);
            ergo_out_text(&out, "launch", w->plans[b].launch);
            ergo_out_close(&out, 1);
        }
    ergo_out_close(&out, 1);
    char *text = ergo_out_take(&out, false);
    ergo_out_free(&out);
    return text;
}

static enum ergo_status write_program(struct writer *w, const struct program *p) {
    char name[NAME_MAX_BYTES], file[NAME_MAX_BYTES + 8];
    char *source = NULL, *facts = NULL;
    name_of(w, p, name);
    snprintf(file, sizeof file, "%s.cl", name);
    enum ergo_status status = ergo_program_flatten(w->ctx, p->path, &source);
    if (status == ERGO_OK && !(facts = describe(w, p, file)))
        status = no_memory(w);
    if (status == ERGO_OK)
        status = ergo_file_write(w->ctx, &w->folder, file, source, strlen(source));
    ergo_text_append(&w->list, "%s  %s:", file, p->options);
    for (size_t k = 0; k < p->n_kernels; k++)
        ergo_text_append(&w->list, " %s", p->kernels[k]);
    ergo_text_append(&w->list, "\n");
    snprintf(file, sizeof file, "%s.json", name);
    if (status == ERGO_OK)
        status = ergo_file_write(w->ctx, &w->folder, file, facts, strlen(facts));
    free(facts);
    free(source);
    return status;
}

static enum ergo_status write_all(struct writer *w, const char *directory) {
    const struct ergo_model *model = w->job->model;
    const struct ergo_sampler_ops *ops = ergo_work_cuts(w->job) ? model->cut : model->ops;
    enum ergo_status status = ERGO_OK;
    w->plans = calloc(w->job->n_batches + 1, sizeof *w->plans);
    if (!w->plans)
        return no_memory(w);
    for (w->batch = 0; w->batch < w->job->n_batches && status == ERGO_OK; w->batch++)
        status = ergo_engine_declared(w->ctx, ops->engine, &w->job->batches[w->batch], w->device,
                                      look, w);
    if (status == ERGO_OK)
        status = ergo_folder_create(w->ctx, directory);
    if (status == ERGO_OK)
        status = ergo_folder_open(w->ctx, directory, &w->folder);
    for (size_t p = 0; p < w->count && status == ERGO_OK; p++)
        status = write_program(w, &w->programs[p]);
    return status;
}

enum ergo_status ergo_kernels_write(struct ergo_context *ctx, const struct ergo_job *job,
                                    const char *selector, const char *directory, char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, job, directory, text);
    struct ergo_device *device = NULL;
    struct ergo_job *own = NULL;
    enum ergo_status status = ergo_tuning_open(ctx, job, selector, &own, &device);
    if (status != ERGO_OK)
        return status;
    struct writer w = {.ctx = ctx, .job = own, .device = device, .folder = {.fd = -1}};
    status = write_all(&w, directory);
    if (status == ERGO_OK && !(*text = ergo_utf8_take_shown(&w.list)))
        status = no_memory(&w);
    ergo_text_free(&w.list);
    ergo_folder_close(&w.folder);
    for (size_t p = 0; p < w.count; p++) {
        free(w.programs[p].options);
        free(w.programs[p].batches);
    }
    free(w.programs);
    free(w.plans);
    ergo_device_close(device);
    ergo_job_destroy(own);
    return status;
}
