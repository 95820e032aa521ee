/* PNG pictures: encoding, the contact sheet and the snapshots of a run. */
#include "page/pictures.h"

#include <inttypes.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHEET_COLUMNS = 4, SHEET_GAP = 8, SNAPSHOTS_MAX = 1000 };

/* Has it pixels, and not more than a PNG can have? */
static bool is_drawable(const struct ergo_picture *picture) {
    return picture->width && picture->height && picture->rgb &&
           (uint64_t)picture->width * picture->height <= UINT32_C(1) << 28;
}

/* Has the member a last picture, the one that represents it? */
static bool has_picture(const struct ergo_member_result *member) {
    return member->n_pictures && is_drawable(&member->pictures[member->n_pictures - 1]);
}

enum ergo_status ergo_png_encode(struct ergo_context *ctx, const struct ergo_picture *picture,
                                 struct ergo_text *png) {
    enum ergo_status status = ERGO_OK;
    png_image image;
    memset(&image, 0, sizeof image);
    if (!is_drawable(picture))
        return ERGO_FAIL(ctx, ERGO_E_INTERNAL, "cannot make a PNG of %u x %u pixels",
                         picture->width, picture->height);
    image.version = PNG_IMAGE_VERSION;
    image.width = picture->width;
    image.height = picture->height;
    image.format = PNG_FORMAT_RGB;
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image); /* an upper bound; asking for the size
                                                            * takes twice the time */
    void *bytes = malloc(size);
    if (!bytes) {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "making a PNG of %u x %u pixels: out of memory",
                           picture->width, picture->height);
        goto out;
    }
    if (!png_image_write_to_memory(&image, bytes, &size, 0, picture->rgb, 0, NULL)) {
        status = ERGO_FAIL(ctx, ERGO_E_INTERNAL, "cannot make a PNG of %u x %u pixels: %s",
                           picture->width, picture->height, image.message);
        goto out;
    }
    ergo_text_append_bytes(png, bytes, size);
    if (png->failed)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "making a PNG: out of memory");
out:
    png_image_free(&image);
    free(bytes);
    return status;
}

static enum ergo_status ergo_png_write(struct ergo_context *ctx, const struct ergo_folder *folder,
                                       const char *name, const struct ergo_picture *picture) {
    struct ergo_text png = {0};
    enum ergo_status status = ergo_png_encode(ctx, picture, &png);
    if (status == ERGO_OK)
        status = ergo_file_write(ctx, folder, name, png.data, png.length);
    ergo_text_free(&png);
    return status;
}

bool ergo_picture_tile(const struct ergo_picture *from, unsigned smallest, unsigned largest,
                       struct ergo_picture *tile) {
    *tile = (struct ergo_picture){0};
    if (!is_drawable(from))
        return false;
    unsigned side = from->width > from->height ? from->width : from->height;
    unsigned up = side < smallest ? (smallest + side - 1) / side : 1;
    unsigned down = side > largest ? (side + largest - 1) / largest : 1;
    tile->width = (from->width + down - 1) / down * up;
    tile->height = (from->height + down - 1) / down * up;
    tile->rgb = malloc((size_t)3 * tile->width * tile->height);
    if (!tile->rgb)
        return false;
    for (unsigned y = 0; y < tile->height; y++) {
        for (unsigned x = 0; x < tile->width; x++) {
            /* whole pixels only: means of blocks downwards, copies upwards, so spins stay square */
            unsigned x0 = x / up * down, y0 = y / up * down, sum[3] = {0}, n = 0;
            for (unsigned j = y0; j < y0 + down && j < from->height; j++) {
                for (unsigned i = x0; i < x0 + down && i < from->width; i++, n++) {
                    const uint8_t *p = from->rgb + 3 * ((size_t)j * from->width + i);
                    sum[0] += p[0];
                    sum[1] += p[1];
                    sum[2] += p[2];
                }
            }
            uint8_t *q = tile->rgb + 3 * ((size_t)y * tile->width + x);
            for (int k = 0; k < 3; k++)
                q[k] = (uint8_t)(n ? (sum[k] + n / 2) / n : 0);
        }
    }
    return true;
}

size_t ergo_picture_members(const struct ergo_result *result, size_t limit, size_t *members) {
    size_t count = 0;
    /* Pictures of one replica; of the others only if this one has none. */
    for (int any = 0; any < 2 && !count; any++) {
        size_t candidates = 0, at = 0;
        for (size_t m = 0; m < result->n_members; m++)
            candidates +=
                has_picture(&result->members[m]) && (any || result->members[m].point->replica == 0);
        size_t take = candidates < limit ? candidates : limit;
        for (size_t m = 0; m < result->n_members && count < take; m++) {
            if (!has_picture(&result->members[m]) ||
                (!any && result->members[m].point->replica != 0))
                continue;
            /* the first and the last candidate, the others evenly between */
            size_t wanted = take > 1 ? (count * (candidates - 1) + (take - 1) / 2) / (take - 1) : 0;
            if (at++ == wanted)
                members[count++] = m;
        }
    }
    return count;
}

static enum ergo_status write_sheet(struct ergo_context *ctx, const struct ergo_folder *folder,
                                    const struct ergo_result *result) {
    enum ergo_status status = ERGO_OK;
    struct ergo_picture tiles[ERGO_SHEET_MAX] = {{0, 0, NULL}}, sheet = {0, 0, NULL};
    size_t members[ERGO_SHEET_MAX];
    unsigned width = 0, height = 0;

    size_t count = ergo_picture_members(result, ERGO_SHEET_MAX, members);
    if (!count)
        return ERGO_OK;
    for (size_t i = 0; i < count; i++) {
        const struct ergo_member_result *member = &result->members[members[i]];
        if (!ergo_picture_tile(&member->pictures[member->n_pictures - 1], 128, 512, &tiles[i])) {
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "writing configurations.png: out of memory");
            goto out;
        }
        width = tiles[i].width > width ? tiles[i].width : width;
        height = tiles[i].height > height ? tiles[i].height : height;
    }
    unsigned n = (unsigned)count;
    unsigned columns = n < SHEET_COLUMNS ? n : SHEET_COLUMNS;
    if (n == 5 || n == 6 || n == 9) /* avoids a last row with one tile */
        columns = 3;
    unsigned rows = (n + columns - 1) / columns;
    sheet.width = columns * (width + SHEET_GAP) + SHEET_GAP;
    sheet.height = rows * (height + SHEET_GAP) + SHEET_GAP;
    size_t bytes = (size_t)3 * sheet.width * sheet.height;
    sheet.rgb = malloc(bytes);
    if (!sheet.rgb) {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "writing configurations.png: out of memory");
        goto out;
    }
    memset(sheet.rgb, 255, bytes);
    for (unsigned i = 0; i < n; i++) {
        unsigned x = SHEET_GAP + i % columns * (width + SHEET_GAP) + (width - tiles[i].width) / 2;
        unsigned y =
            SHEET_GAP + i / columns * (height + SHEET_GAP) + (height - tiles[i].height) / 2;
        for (unsigned row = 0; row < tiles[i].height; row++)
            memcpy(sheet.rgb + 3 * ((size_t)(y + row) * sheet.width + x),
                   tiles[i].rgb + (size_t)3 * row * tiles[i].width, (size_t)3 * tiles[i].width);
    }
    status = ergo_png_write(ctx, folder, "configurations.png", &sheet);
out:
    for (size_t i = 0; i < count; i++)
        free(tiles[i].rgb);
    free(sheet.rgb);
    return status;
}

static enum ergo_status write_snapshots(struct ergo_context *ctx, const struct ergo_folder *folder,
                                        const struct ergo_result *result, size_t total) {
    char name[64];
    size_t written = 0;
    enum ergo_status status = ERGO_OK;
    for (size_t m = 0; m < result->n_members; m++) {
        const struct ergo_member_result *member = &result->members[m];
        for (size_t i = 0; i < member->n_pictures; i++) {
            if (status != ERGO_OK)
                return status;
            if (!is_drawable(&member->pictures[i]))
                continue;
            if (written == SNAPSHOTS_MAX) {
                ergo_log(ctx, ERGO_LOG_WARNING,
                         "only the first %d of %zu snapshots were written to %s", SNAPSHOTS_MAX,
                         total, folder->path);
                return status;
            }
            snprintf(name, sizeof name, "point-%04zu-step-%09" PRIu64 ".png", m,
                     member->picture_steps[i]);
            status = ergo_png_write(ctx, folder, name, &member->pictures[i]);
            written++;
        }
    }
    return status;
}

enum ergo_status ergo_page_write_pictures(struct ergo_context *ctx,
                                          const struct ergo_folder *folder,
                                          const struct ergo_result *result) {
    enum ergo_status status = ERGO_OK;
    size_t total = 0;
    bool several = false;
    for (size_t m = 0; m < result->n_members; m++) {
        const struct ergo_value *asked =
            ergo_format_value(result->members[m].point, "/output/snapshots");
        several |=
            result->members[m].n_pictures > 1 || (asked && asked->given && asked->integer > 0);
        for (size_t i = 0; i < result->members[m].n_pictures; i++)
            total += is_drawable(&result->members[m].pictures[i]);
    }
    if (!total)
        return ERGO_OK;
    status = write_sheet(ctx, folder, result);
    if (status == ERGO_OK && several) {
        struct ergo_folder snapshots;
        status = ergo_folder_inner(ctx, folder, "snapshots", &snapshots);
        if (status == ERGO_OK)
            status = write_snapshots(ctx, &snapshots, result, total);
        ergo_folder_close(&snapshots);
    }
    return status;
}
