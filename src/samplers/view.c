/* Lattices for people: pictures, and VTK image data, which ParaView and others read. These are
 * ASCII, so byte order and encoding cannot go wrong. */
#include <stdio.h>
#include <stdlib.h>

#include "samplers/sampler.h"

static enum ergo_status paint(struct ergo_context *ctx, const struct ergo_view *v,
                              struct ergo_picture *picture) {
    const size_t lx = v->size[0], ly = v->size[1], longest = lx > ly ? lx : ly;
    const size_t cell = (longest + 1023) / 1024, shown = v->mean ? cell : 1;
    picture->width = (unsigned)((lx + cell - 1) / cell);
    picture->height = (unsigned)((ly + cell - 1) / cell);
    uint8_t *pixel = picture->rgb = malloc((size_t)picture->width * picture->height * 3);
    if (!pixel)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a picture");
    for (size_t y0 = 0; y0 < ly; y0 += cell)
        for (size_t x0 = 0; x0 < lx; x0 += cell, pixel += 3) {
            size_t sum[3] = {0, 0, 0}, sites = 0;
            for (size_t y = y0; y < y0 + shown && y < ly; y++)
                for (size_t x = x0; x < x0 + shown && x < lx; x++, sites++) {
                    const uint8_t *colour = v->colours[v->state(v, x, y)];
                    for (int c = 0; c < 3; c++)
                        sum[c] += colour[c];
                }
            for (int c = 0; c < 3; c++)
                pixel[c] = (uint8_t)((2 * sum[c] + sites) / (2 * sites));
        }
    return ERGO_OK;
}

enum { LINE = 64 }; /* sites */

static void append_line(struct ergo_text *text, size_t row, const void *user) {
    const struct ergo_view *v = user;
    const uint64_t *size = v->size, n = size[0] * size[1] * size[2], i = (uint64_t)row * LINE;
    char line[LINE * 4 + 1];
    size_t used = 0;
    for (uint64_t k = i; k < n && k < i + LINE; k++) {
        const unsigned value = v->state(v, k % size[0], k / size[0]) % v->states;
        if (value >= 100)
            line[used++] = (char)('0' + value / 100);
        if (value >= 10)
            line[used++] = (char)('0' + value / 10 % 10);
        line[used++] = (char)('0' + value % 10);
        line[used++] = k + 1 < n && k + 1 < i + LINE ? ' ' : '\n';
    }
    ergo_text_append_bytes(text, line, used);
}

static void append(const struct ergo_view *v, struct ergo_text *text) {
    const uint64_t *size = v->size;
    const char *name = v->name;
    char extent[80];
    const uint64_t n = size[0] * size[1] * size[2];
    snprintf(extent, sizeof extent, "0 %llu 0 %llu 0 %llu", (unsigned long long)size[0],
             (unsigned long long)size[1], (unsigned long long)size[2]);
    ergo_text_append(text,
                     "<?xml version=\"1.0\"?>\n"
                     "<VTKFile type=\"ImageData\" version=\"0.1\" byte_order=\"LittleEndian\">\n"
                     "<ImageData WholeExtent=\"%s\" Origin=\"0 0 0\" Spacing=\"1 1 1\">\n"
                     "<Piece Extent=\"%s\">\n<CellData Scalars=\"%s\">\n"
                     "<DataArray type=\"UInt8\" Name=\"%s\" format=\"ascii\">\n",
                     extent, extent, name, name);
    ergo_text_append_rows(text, (size_t)((n + LINE - 1) / LINE), append_line, v);
    ergo_text_append(text, "</DataArray>\n</CellData>\n</Piece>\n</ImageData>\n</VTKFile>\n");
}

enum ergo_status ergo_sampler_picture(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                      void *state, size_t member, struct ergo_picture *picture) {
    struct ergo_view view = {.plane = true};
    *picture = (struct ergo_picture){0, 0, NULL};
    if (ops->picture)
        return ops->picture(ctx, state, member, picture);
    enum ergo_status status = ops->view(ctx, state, member, &view);
    if (status == ERGO_OK && view.sites)
        status = paint(ctx, &view, picture);
    free(view.sites);
    return status;
}

enum ergo_status ergo_sampler_frame(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                    void *state, size_t member, struct ergo_text *text) {
    struct ergo_view view = {.sites = NULL};
    if (ops->frame)
        return ops->frame(ctx, state, member, text);
    const enum ergo_status status = ops->view(ctx, state, member, &view);
    if (status == ERGO_OK && view.sites)
        append(&view, text);
    free(view.sites);
    return status;
}

void ergo_view_hue(unsigned i, unsigned n, uint8_t colour[3]) {
    const double turn = 6.0 * i / n;
    for (int c = 0; c < 3; c++) { /* red, green and blue are brightest at 0, 2 and 4 */
        double away = turn - 2 * c;
        away = away < 0 ? -away : away;
        away = away > 3 ? 6 - away : away;
        const double level = away < 1 ? 1 : away > 2 ? 0 : 2 - away;
        colour[c] = (uint8_t)(40 + 200 * level);
    }
}

void ergo_view_height(unsigned i, uint8_t colour[3]) {
    static const int ends[2][3] = {{40, 80, 160}, {180, 40, 50}};
    const int *end = ends[i > 127], part = i > 127 ? (int)i - 128 : 127 - (int)i;
    for (int c = 0; c < 3; c++)
        colour[c] = (uint8_t)(245 + (end[c] - 245) * part / 127);
}
