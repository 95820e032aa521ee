/*
 * libFuzzer's target for checkpoints. The bytes change records of a finished run of a small job, or
 * of the index and the file of a rank, of a part of a run too; or they are the file, as they come
 * and with right checksums. Each is refused with a message that is safe for a terminal, or `ergocl
 * report`, `resume`, `analyse` and `merge` make everything from it. Built and run by `make fuzz`
 * (clang, ASan, UBSan).
 */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/schedule.h"
#include "page/page.h"
#include "result/checkpoint.h"
#include "result/store.h"

/* All samplers, models with curves, sums, and curves over the time of a run. */
static const char *const jobs[] = {
    "{'sampler':'spin-lattice','replicas':2,'system':{'model':'ising','size':[8,8],"
    "'temperature':2.3},'run':{'equilibration':2,'sweeps':40,'correlation_max':2},"
    "'scan':{'/system/temperature':[2.2,2.3]}}",
    "{'sampler':'spin-lattice','system':{'model':'north-east','size':[8,8],'up_density':0.5,"
    "'realisations':32},'run':{'sweeps':10}}",
    "{'sampler':'spin-lattice','system':{'model':'spin-glass','size':[6,10,4],'temperature':1.1,"
    "'samples':32,'ladder':3,'temperature_max':2,'swap_every':3},'run':{'sweeps':20}}",
    "{'sampler':'spin-lattice','system':{'model':'potts','q':3,'size':[8,4,2],'temperature':1},"
    "'run':{'sweeps':20,'correlation_max':2},'output':{'blocks':3}}",
    "{'sampler':'hard-disks','system':{'n':14,'packing_fraction':0.5},'run':{'sweeps':10,"
    "'contact_bin':0.002,'gr_max':2,'block_cells':2}}",
    "{'sampler':'lj-gcmc','system':{'box':[5.3,5,5.6],'temperature':2,'activity':0.3},"
    "'run':{'sweeps':80,'measure_every':8,'curve_every':1,'gr_bins':5}}",
    "{'sampler':'helium-vmc','system':{'n':5,'b':1.5,'walkers':2},'run':{'equilibration':1,"
    "'sweeps':9,'structure_every':2,'gr_bins':4,'sk_max':1}}",
    "{'sampler':'swendsen-wang','system':{'q':2,'size':[16,9],'temperature':1.1},"
    "'run':{'sweeps':20}}",
    "{'sampler':'spin-lattice','system':{'model':'potts','q':3,'size':[8,4,2],'temperature':1},"
    "'run':{'sweeps':30,'correlation_max':2},'output':{'blocks':3,'series':'none'}}",
    "{'sampler':'spin-lattice','system':{'model':'blume-capel','size':[8,8],'temperature':1},"
    "'run':{'equilibration':9,'sweeps':1700},'output':{'blocks':3,'series':'blocks'}}",
};
enum { JOBS = sizeof jobs / sizeof *jobs, STATE = 5 };
/* of the first byte; the others choose the job */
enum { SPREAD = 0x40, FILES = 0x20, PART = 0x10, RAW = 0xFF };

static char folder[64], united[80];

static void expect(bool good, const char *what) {
    if (good)
        return;
    fprintf(stderr, "fuzz_checkpoint: %s\n", what);
    abort();
}

/* ---- what a run would have written (src/result/store*.c) -------------------------------------
 */

static void append(struct ergo_text *text, const void *data, size_t length) {
    ergo_text_append_bytes(text, data, length);
}

static void append_numbers(struct ergo_text *text, size_t count) {
    for (size_t i = 0; i < count; i++)
        append(text, &(double){1 + (double)(i * 7 % 5)}, sizeof(double));
}

/* The samples, or the sums over them of a job that does not keep any. */
static void append_series(struct ergo_text *text, const struct ergo_point *point) {
    const struct ergo_model *model = point->job->model;
    if (ergo_result_kept(point->job) != ERGO_KEPT_FULL) {
        const struct ergo_schedule s = ergo_schedule_of(point);
        struct ergo_measured *measured = NULL;
        struct ergo_member_result member = {.point = point, .n_equilibration = s.n_equilibration};
        expect(ergo_measured_create(point, &measured) &&
                   ergo_member_measures(&member, measured, s.n_samples - s.n_equilibration),
               "no memory for a member");
        append_numbers(text, ergo_member_state_size(&member, s.n_samples));
        ergo_member_forget(&member);
        ergo_measured_destroy(measured);
        return;
    }
    for (size_t c = 0; c < model->n_columns; c++)
        if (ergo_point_has_column(point, c))
            append_numbers(text, ergo_schedule_of(point).n_samples);
}

/* One sample in each. */
static void append_curves(struct ergo_text *text, const struct ergo_point *point) {
    const struct ergo_model *model = point->job->model;
    for (size_t c = 0; c < model->n_curves; c++) {
        append(text, (uint64_t[]){1, 1}, 16);
        append_numbers(text, model->curve_size(point, c));
    }
}

static void append_picture(struct ergo_text *text) {
    static const char rgb[4 * 2 * 3] = "some colours";
    append(text, (uint64_t[]){1, 4, 2}, 24);
    append(text, rgb, sizeof rgb);
}

static void add(struct ergo_blobs *blobs, const char *name, struct ergo_text *text) {
    const size_t length = text->length;
    expect(ergo_blobs_take(blobs, name, ergo_text_take(text), length), "no memory for a record");
}

static void add_bytes(struct ergo_blobs *blobs, const char *name, const void *data, size_t length) {
    expect(ergo_blobs_add(blobs, name, data, length), "no memory for a record");
}

static void add_job(struct ergo_blobs *blobs, const struct ergo_job *job) {
    add_bytes(blobs, "job", job->canonical, strlen(job->canonical));
    add_bytes(blobs, "name", "fuzzed", 6);
    add_bytes(blobs, "started", "2026-11-23T09:00:00Z", 20);
    add_bytes(blobs, "files", "", 0);
}

static void add_head(struct ergo_blobs *blobs, const struct ergo_job *job, uint64_t ranks,
                     uint64_t known) {
    static const char device[24 + 3 * 128] = "0:0";
    struct ergo_text head = {0};
    append(&head, (uint64_t[]){job->sampler->state_version, 0, ranks, job->n_points, known}, 40);
    append(&head, (double[]){1.5, 3}, 16);
    append(&head, device, sizeof device);
    add(blobs, "head", &head);
}

static void add_points(struct ergo_blobs *blobs, const struct ergo_job *job) {
    struct ergo_text points = {0}, states = {0};
    for (size_t i = 0; i < job->n_points; i++) {
        const struct ergo_schedule s = ergo_schedule_of(&job->points[i]);
        append(&points,
               (uint64_t[]){i, job->points[i].stream, s.total, 42, s.total, s.n_samples, 1}, 56);
        append_series(&points, &job->points[i]);
        append_curves(&points, &job->points[i]);
        append_picture(&points);
        append(&states, (uint64_t[]){i, s.total, STATE}, 24);
        append(&states, "state", STATE);
    }
    add(blobs, "points", &points);
    add(blobs, "states", &states);
}

/* ---- changes --------------------------------------------------------------------------------- */

struct input {
    const uint8_t *at;
    size_t rest;
};

static uint64_t take(struct input *input, size_t bytes) {
    uint64_t value = 0;
    for (; bytes && input->rest; bytes--, input->rest--)
        value = value << 8 | *input->at++;
    return value;
}

static uint64_t odd_number(uint64_t which) {
    const double numbers[] = {NAN,    INFINITY, -INFINITY, 1e308, -1e308,
                              5e-324, -1,       1e12,      1e299, 0.5};
    const uint64_t counts[] = {0,
                               1,
                               2,
                               64,
                               65,
                               2048,
                               2049,
                               65536,
                               UINT64_C(1) << 32,
                               INT64_MAX,
                               (uint64_t)INT64_MAX + 1,
                               UINT64_MAX,
                               UINT64_MAX / 3 + 1};
    enum { NUMBERS = sizeof numbers / sizeof *numbers, COUNTS = sizeof counts / sizeof *counts };
    uint64_t value = counts[which % COUNTS];
    if (which % (NUMBERS + COUNTS) < NUMBERS)
        memcpy(&value, &numbers[which % (NUMBERS + COUNTS)], sizeof value);
    return value;
}

static void change(struct ergo_blob *blob, struct input *input) {
    const unsigned how = (unsigned)take(input, 1);
    const size_t at = (size_t)take(input, 2) % (blob->length + 1);
    const size_t word = at / 8 * 8;
    uint8_t *data = blob->data;
    uint64_t value = how & 8 ? take(input, 8) : odd_number(take(input, 1));
    switch (how % 8) {
    case 0:
    case 1: /* a number */
        if (word + 8 <= blob->length)
            memcpy(data + word, &value, 8);
        break;
    case 2: /* many */
        for (size_t i = word; i + 8 <= blob->length; i += 8 * (1 + how / 16))
            memcpy(data + i, &value, 8);
        break;
    case 3:
        if (at < blob->length)
            data[at] = (uint8_t)value;
        break;
    case 4:
        blob->length = at;
        break;
    case 5: /* longer */
        data = realloc(data, blob->length + at + 1);
        expect(data != NULL, "no memory for a record");
        memset(data + blob->length, (int)(value & 0xFF), at + 1);
        blob->data = data;
        blob->length += at;
        break;
    case 6: /* something else */
        blob->length = input->rest < at ? input->rest : at;
        if (blob->length)
            memcpy(data, input->at, blob->length);
        input->at += blob->length;
        input->rest -= blob->length;
        break;
    default:
        blob->name[0] = (char)(blob->name[0] ^ (char)(value & 1));
    }
}

/* ---- what is made of it -----------------------------------------------------------------------
 */

static void write_to(struct ergo_context *ctx, const char *name, struct ergo_blobs *blobs) {
    struct ergo_folder in;
    expect(ergo_folder_open(ctx, folder, &in) == ERGO_OK &&
               ergo_checkpoint_write(ctx, &in, name, blobs) == ERGO_OK,
           "a checkpoint is not written");
    ergo_folder_close(&in);
    ergo_blobs_free(blobs);
}

static void expect_refused(struct ergo_context *ctx, enum ergo_status status) {
    const char *message = ergo_error_message(ctx);
    if (status != ERGO_OK) {
        expect(status == ERGO_E_IO || status == ERGO_E_JOB || status == ERGO_E_MEMORY,
               "an odd status");
        expect(*message != '\0', "refused without a message");
        for (const char *p = message; *p; p++)
            expect(((unsigned char)*p >= 0x20 || *p == '\n') && *p != 0x7F,
                   "a control character in a message");
    }
    ergo_error_clear(ctx);
}

/* Alone: analysed, and united with nothing. */
static void look_together(struct ergo_context *ctx) {
    const char *const directories[] = {folder};
    struct ergo_analysis *analysis = NULL;
    struct ergo_result *result = NULL;
    enum ergo_status status = ergo_analyse(ctx, directories, 1, NULL, &analysis);
    expect((status == ERGO_OK) == (analysis != NULL), "an analysis without an answer");
    if (status == ERGO_OK) {
        enum ergo_status (*const texts[])(struct ergo_context *, const struct ergo_analysis *,
                                          char **) = {ergo_analysis_table, ergo_analysis_json,
                                                      ergo_analysis_csv};
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            char *text = NULL;
            expect(texts[i](ctx, analysis, &text) == ERGO_OK, "no text of an analysis");
            free(text);
        }
    }
    expect_refused(ctx, status);
    ergo_analysis_destroy(analysis);
    status = ergo_merge(ctx, directories, 1, united, true, &result);
    expect((status == ERGO_OK) == (result != NULL), "a union without an answer");
    expect_refused(ctx, status);
    ergo_result_destroy(result);
}

/* files: also those that take long; pages have a target of their own. */
static void look(struct ergo_context *ctx, bool good, bool files) {
    struct ergo_result *result = NULL;
    enum ergo_status status = ergo_result_load(ctx, folder, &result);
    expect((status == ERGO_OK) == (result != NULL), "a result without an answer, or the reverse");
    if (status == ERGO_OK) {
        char *text = NULL;
        expect(ergo_result_json(ctx, result, &text) == ERGO_OK, "no result.json");
        cJSON *tree = cJSON_Parse(text);
        expect(tree != NULL, "result.json is no JSON");
        cJSON_Delete(tree);
        free(text);
        const struct ergo_result *const list[] = {result};
        expect(ergo_result_csv(ctx, list, NULL, 1, &text) == ERGO_OK, "no CSV");
        free(text);
    }
    if (status == ERGO_OK && files) {
        struct ergo_folder in = {.fd = -1};
        expect(ergo_folder_open(ctx, folder, &in) == ERGO_OK, "no folder");
        expect(ergo_page_write(ctx, &in, result) == ERGO_OK, "no report");
        expect(ergo_page_write_pictures(ctx, &in, result) == ERGO_OK, "no pictures");
        expect(ergo_result_write_blocks(ctx, &in, result) == ERGO_OK, "no blocks");
        expect(ergo_result_write_series(ctx, &in, result) == ERGO_OK, "no series");
        ergo_folder_close(&in);
    }
    expect(status == ERGO_OK || !good, ergo_error_message(ctx));
    expect_refused(ctx, status);
    ergo_result_destroy(result);
    look_together(ctx);
}

/* A finished run, or what ranks leave behind, with changes. */
static void try_changed(struct ergo_context *ctx, unsigned which, struct input *input) {
    struct ergo_text text = {0};
    struct ergo_job *job = NULL;
    for (const char *p = jobs[which % JOBS]; *p; p++)
        ergo_text_append(&text, "%c", *p == '\'' ? '"' : *p);
    expect(ergo_job_parse(ctx, text.data, text.length, "fuzzed", NULL, 0, &job) == ERGO_OK,
           ergo_error_message(ctx));
    const bool spread = which & SPREAD, good = input->rest == 0;
    struct ergo_blobs blobs[2] = {{0}, {0}};
    add_job(&blobs[0], job);
    add_head(&blobs[0], job, spread, spread ? 0 : job->n_points);
    add_points(&blobs[spread], job);
    if (spread)
        add_head(&blobs[1], job, 1, job->n_points);
    if (which & PART)
        add_bytes(&blobs[0], "part", (const uint64_t[]){1, 1}, 16);
    while (input->rest) {
        const size_t record = (size_t)take(input, 1);
        struct ergo_blobs *changed = &blobs[spread && record & 0x80];
        change(&changed->blobs[record % 0x80 % changed->count], input);
    }
    write_to(ctx, ERGO_CHECKPOINT, &blobs[0]);
    if (spread)
        write_to(ctx, ERGO_CHECKPOINT "-0-0", &blobs[1]);
    ergo_job_destroy(job);
    ergo_text_free(&text);
    look(ctx, good, which & FILES);
}

/* A file that is the bytes; `mended`: with its checksums. */
static void try_file(struct ergo_context *ctx, const uint8_t *data, size_t size, bool mended) {
    enum { FIXED = 16, ENTRY = 72, SHA = 32 };
    uint8_t *file = malloc(size + 1);
    char *path = ergo_path_join(folder, ERGO_CHECKPOINT);
    expect(file && path, "no memory for a file");
    if (size)
        memcpy(file, data, size);
    const size_t count = size >= FIXED ? file[12] : 0;
    size_t at = FIXED + count * ENTRY + SHA;
    if (mended && at <= size) {
        for (size_t i = 0; i < count; i++) {
            uint8_t *entry = file + FIXED + i * ENTRY;
            const size_t length =
                i + 1 < count ? (entry[32] | (size_t)entry[33] << 8) % (size - at + 1) : size - at;
            for (size_t b = 0; b < 8; b++)
                entry[32 + b] = (uint8_t)((uint64_t)length >> 8 * b);
            (void)ergo_checkpoint_sum(file + at, length, entry + 40);
            at += length;
        }
        ergo_sha256(file, FIXED + count * ENTRY, file + FIXED + count * ENTRY);
    }
    FILE *out = fopen(path, "wb");
    expect(out && fwrite(file, 1, size, out) == size && fclose(out) == 0, "no file");
    free(file);
    free(path);
    look(ctx, false, false);
}

static void leave(void) {
    char command[192];
    snprintf(command, sizeof command, "rm -rf '%s' '%s'", folder, united);
    if (system(command) != 0)
        fprintf(stderr, "%s stays\n", folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ergo_context *ctx = ergo_context_create();
    expect(ctx != NULL, "no memory for a context");
    if (!folder[0]) { /* in memory, where there is such a place: nothing waits for a disk */
        snprintf(folder, sizeof folder, "%s/ergocl-fuzz-XXXXXX",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
        expect(mkdtemp(folder) != NULL, "no folder");
        snprintf(united, sizeof united, "%s-whole", folder);
        atexit(leave);
    }
    ergo_context_set_log(ctx, ERGO_LOG_ERROR, NULL, NULL);
    if (size && data[0] == RAW) {
        try_file(ctx, data + 1, size - 1, false);
        try_file(ctx, data + 1, size - 1, true);
    } else if (size) {
        struct input input = {data + 1, size - 1};
        try_changed(ctx, data[0], &input);
    }
    ergo_context_destroy(ctx);
    return 0;
}
