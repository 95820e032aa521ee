/*
 * A small run whose numbers, texts and pictures are then replaced by what a few bytes say: what a
 * damaged disk, a broken device or a stranger's folder may bring. All that is made of it has to be
 * well made.
 */
#ifndef ERGO_TESTS_ODD_RESULT_H
#define ERGO_TESTS_ODD_RESULT_H

#include "page/pictures.h"
#include "page/sections.h"
#include "job/json.h"
#include "page_check.h"
#include "unit/test_io_synthetic.h"

struct odd_bytes {
    const uint8_t *at, *end;
};

static uint8_t odd_byte(struct odd_bytes *b) {
    return b->at < b->end ? *b->at++ : 0;
}

/* A number that has brought drawings down before, or any eight bytes. */
static double odd_number(struct odd_bytes *b) {
    static const double odd[] = {0.0,    -0.0,   1,      -1,     NAN,    INFINITY, -INFINITY, 1e308,
                                 -1e308, 5e-324, 1e-308, 1e-300, 1e300,  1e100,    1e-100,    1e-15,
                                 1e15,   0.1,    1e20,   -1e20,  1e-320, 1e301,    -1e301,    2};
    const uint8_t which = odd_byte(b);
    uint64_t word = 0;
    double number;
    if (which < sizeof odd / sizeof odd[0])
        return odd[which];
    for (int i = 0; i < 8; i++)
        word = word << 8 | odd_byte(b);
    memcpy(&number, &word, sizeof number);
    return number;
}

static void odd_text(struct odd_bytes *b, char *out, size_t size) {
    size_t length = odd_byte(b);
    length = length < size ? length : size - 1;
    for (size_t i = 0; i < length; i++)
        out[i] = (char)odd_byte(b);
    out[length] = '\0';
}

static void odd_picture(struct odd_bytes *b, struct ergo_picture *picture) {
    static const unsigned sides[] = {0, 1, 2, 3, 7, 100, 400, 513};
    free(picture->rgb);
    picture->width = sides[odd_byte(b) % 8];
    picture->height = sides[odd_byte(b) % 8];
    picture->rgb = calloc((size_t)picture->width * picture->height + 1, 3);
}

/* The number of a member that a byte chooses. */
static double *odd_place(struct odd_bytes *b, struct ergo_result *result,
                         struct ergo_member_result *m) {
    struct ergo_observable_result *o = &m->observables[odd_byte(b) % SYNTHETIC_OBSERVABLES];
    const size_t at = odd_byte(b) % SYNTHETIC_DISTANCES;
    double *const all[] = {&o->estimate.mean,
                           &o->estimate.error,
                           &o->estimate.error_binning,
                           &o->estimate.tau,
                           &o->estimate.tau_error,
                           &o->exact,
                           &o->z,
                           &o->reference,
                           &o->reference_error,
                           &o->reference_z,
                           &m->curves[0].x[at],
                           &m->curves[0].mean[at],
                           &m->curves[0].error[at],
                           &result->rate,
                           &result->seconds,
                           &result->host_seconds,
                           &result->hidden_seconds};
    return all[odd_byte(b) % (sizeof all / sizeof all[0])];
}

static void odd_change(struct odd_bytes *b, struct ergo_result *result) {
    struct ergo_member_result *m = &result->members[odd_byte(b) % result->n_members];
    struct ergo_point *point = &result->job->points[m - result->members];
    char text[64];
    size_t i;
    const uint8_t what = odd_byte(b) % 14;
    switch (what < 2 && !m->n_samples ? 3 : what) {
    case 0: /* samples one by one */
        i = odd_byte(b) % m->n_samples;
        m->series[odd_byte(b) % 2][i] = odd_number(b);
        break;
    case 1: /* from one on */
        i = odd_byte(b) % m->n_samples;
        const uint8_t c = odd_byte(b) % 2;
        const double number = odd_number(b), step = odd_number(b);
        for (; i < m->n_samples; i++)
            m->series[c][i] = number + step * (double)i;
        break;
    case 2:
        for (i = 0; i < result->n_members; i++) {
            const size_t before = result->members[i].n_samples;
            result->members[i].n_samples = result->members[i].n_equilibration;
            if (odd_byte(b) % 4)
                result->members[i].n_samples = before;
        }
        break;
    case 3:
        m->n_equilibration = odd_byte(b) % (m->n_samples + 1);
        break;
    case 4:
        m->curves[0].size = odd_byte(b) % (SYNTHETIC_DISTANCES + 1);
        break;
    case 5:
        if (m->n_pictures)
            odd_picture(b, &m->pictures[odd_byte(b) % m->n_pictures]);
        break;
    case 6:
        if (point->n_scanned)
            point->scanned[odd_byte(b) % point->n_scanned].value = odd_number(b);
        point->values[1].real = odd_number(b);
        ergo_point_fill(point);
        break;
    case 7:
        odd_text(b, result->device.name, sizeof result->device.name);
        odd_text(b, result->device.driver, sizeof result->device.driver);
        break;
    case 8:
        odd_text(b, result->started, sizeof result->started);
        break;
    case 9:
        odd_text(b, text, sizeof text);
        free(result->job->name);
        result->job->name = strdup(text);
        break;
    case 10:
        odd_text(b, text, sizeof text);
        free(result->comparison);
        result->comparison = strdup(text);
        break;
    case 11:
        i = odd_byte(b) % SYNTHETIC_OBSERVABLES;
        m->observables[i].trust = odd_byte(b) % ERGO_TRUSTS;
        m->observables[i].published = odd_byte(b) & 1;
        m->observables[i].estimate.samples = odd_byte(b);
        break;
    default:
        *odd_place(b, result, m) = odd_number(b);
    }
}

static const char *odd_pictures(struct ergo_context *ctx, const struct ergo_result *result) {
    for (size_t m = 0; m < result->n_members; m++)
        for (size_t i = 0; i < result->members[m].n_pictures; i++) {
            const struct ergo_picture *picture = &result->members[m].pictures[i];
            struct ergo_picture tile;
            struct ergo_text png = {0};
            const bool any = picture->width && picture->height;
            if (ergo_picture_tile(picture, 128, 512, &tile) != any)
                return "a picture without pixels was scaled, or one with pixels was not";
            const bool made = ergo_png_encode(ctx, picture, &png) == ERGO_OK;
            free(tile.rgb);
            ergo_text_free(&png);
            ergo_error_clear(ctx);
            if (made != any)
                return "a PNG without pixels, or none with them";
        }
    return NULL;
}

static const char *odd_json(struct ergo_context *ctx, const struct ergo_result *result) {
    struct ergo_arena arena = {0};
    struct ergo_json *root = NULL;
    char *text = NULL;
    const bool made = ergo_result_json(ctx, result, &text) == ERGO_OK;
    const bool good =
        made && ergo_json_parse(ctx, "j", text, strlen(text), &arena, &root) == ERGO_OK;
    ergo_arena_free(&arena);
    free(text);
    return good ? NULL : "result.json is no JSON";
}

static const char *odd_page(struct ergo_context *ctx, const struct ergo_result *result) {
    static char wrong[200];
    struct ergo_text text = {0};
    ergo_report_begin(&text, result->job->name);
    const enum ergo_status status = ergo_report_run(ctx, &text, result);
    ergo_report_end(&text);
    const char *where = status == ERGO_OK && !text.failed ? page_wrong(text.data) : "no page";
    if (where)
        snprintf(wrong, sizeof wrong, "the page is not well made at: %.120s", where);
    else if (!strstr(text.data, "</footer>"))
        where = strcpy(wrong, "the page has no end");
    ergo_text_free(&text);
    return where ? wrong : NULL;
}

/* NULL: all that is made of the run is well made; else what is not. */
static const char *odd_draw(struct ergo_context *ctx, const struct ergo_result *result) {
    const char *wrong = odd_pictures(ctx, result);
    char *table = NULL;
    if (!wrong)
        wrong = odd_json(ctx, result);
    if (!wrong)
        wrong = odd_page(ctx, result);
    if (!wrong && ergo_result_table(ctx, result, &table) != ERGO_OK)
        wrong = "no table";
    free(table);
    return wrong;
}

/* What the bytes make of a run: drawn as they say it, and once more with estimates of its own. */
static const char *odd_result(struct ergo_context *ctx, const uint8_t *bytes, size_t size) {
    struct odd_bytes b = {bytes, bytes + size};
    const uint8_t shape = odd_byte(&b);
    const struct synthetic_options options = {.n_temperatures = 1 + shape % 3,
                                              .n_sizes = 1 + shape / 3 % 2,
                                              .replicas = 1 + shape / 6 % 2,
                                              .size = 2,
                                              .samples = 40 + 4 * (shape / 12 % 4),
                                              .pictures = shape / 48 % 3,
                                              .every = 1};
    struct ergo_result *result = synthetic_result(&options);
    const bool estimate = odd_byte(&b) & 1;
    for (int changes = 0; b.at < b.end && changes < 64; changes++)
        odd_change(&b, result);
    if (estimate) {
        for (size_t m = 0; m < result->n_members; m++)
            synthetic_observe(&result->members[m]);
        free(result->means);
        result->means = NULL;
        result->n_means = 0;
    }
    const char *wrong = NULL;
    if (estimate &&
        (ergo_result_means(ctx, result) != ERGO_OK || ergo_result_warn(ctx, result) != ERGO_OK))
        wrong = "no estimates";
    if (!wrong)
        wrong = odd_draw(ctx, result);
    free(result->comparison);
    synthetic_free(result);
    return wrong;
}

#endif
