/* The text before HDF5's own in configurations.h5. It may come from anybody. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_in.h"
#include "result/configurations.h"

/* The first line, with the length of the whole block. */
static const char first[] = "ergocl configurations 1 %010zu\n";
enum { FIRST = 35, LEAST = 4096, MOST = 1 << 26, GROUP = 512 };

size_t ergo_configurations_head_room(const struct ergo_configurations *c) {
    size_t room = LEAST;
    while (room < FIRST + GROUP * (c->n_groups + 1))
        room *= 2;
    return room;
}

bool ergo_configurations_put_head(struct ergo_configurations *c) {
    const size_t room = ergo_configurations_head_room(c);
    struct ergo_text text = {0};
    ergo_text_append(&text, first, room);
    ergo_text_append(&text, "{\"identity\":\"%016" PRIx64 "\",\"groups\":[", c->identity);
    for (size_t g = 0; g < c->n_groups; g++) {
        const struct ergo_frames_group *group = &c->groups[g];
        ergo_text_append(&text,
                         "%s\n{\"name\":\"batch%zu\",\"points\":%" PRIu64 ",\"frames\":%" PRIu64
                         ",\"stream\":%" PRIu64 ",\"step\":%" PRIu64 ",\"arrays\":[",
                         g ? "," : "", g, group->points, group->frames, group->stream, group->step);
        for (size_t i = 0; i < group->n_parts; i++)
            ergo_text_append(&text,
                             "%s{\"name\":\"%s\",\"offset\":%" PRIu64 ",\"bytes\":%" PRIu64 "}",
                             i ? "," : "", c->forms[g].parts[i].name, group->parts[i].offset,
                             group->parts[i].bytes);
        ergo_text_append(&text, "]}");
    }
    ergo_text_append(&text, "]}\n");
    while (!text.failed && text.length < room)
        ergo_text_append(&text, "\n");
    if (text.failed || text.length != room) {
        ergo_text_free(&text);
        return false;
    }
    free(c->head);
    c->head_length = text.length;
    c->head = ergo_text_take(&text);
    return true;
}

/* A whole number up to 2^53; false: there is none. */
static bool take(const cJSON *object, const char *name, uint64_t *number) {
    const double value = ergo_in_number(object, name);
    if (!(value >= 0 && value <= 0x1p53) || value != (double)(uint64_t)value)
        return false;
    *number = (uint64_t)value;
    return true;
}

/* Are n elements of so many bytes in a file of that size? */
static bool inside(uint64_t offset, uint64_t n, uint64_t bytes, uint64_t size) {
    return offset <= size && (n == 0 || bytes <= (size - offset) / n);
}

static bool read_group(const cJSON *json, uint64_t size, struct ergo_frames_group *group) {
    const cJSON *arrays = ergo_in_member(json, "arrays", cJSON_Array), *array;
    bool good = take(json, "points", &group->points) && take(json, "frames", &group->frames) &&
                take(json, "stream", &group->stream) && take(json, "step", &group->step) && arrays;
    good = good && group->points <= size && group->frames <= size &&
           inside(group->stream, group->points, 8, size) &&
           (!group->frames || group->points <= size / group->frames) &&
           inside(group->step, group->points * group->frames, 8, size);
    if (!good)
        return false;
    cJSON_ArrayForEach(array, arrays) {
        struct ergo_frames_part part;
        if (group->n_parts == ERGO_FORM_PARTS || !take(array, "offset", &part.offset) ||
            !take(array, "bytes", &part.bytes) ||
            !inside(part.offset, group->points * group->frames, part.bytes, size))
            return false;
        group->parts[group->n_parts++] = part;
    }
    return group->n_parts > 0;
}

static enum ergo_status damaged(struct ergo_context *ctx, const char *name) {
    return ERGO_FAIL(ctx, ERGO_E_IO,
                     "cannot read %s: the text at its beginning is not that of ergocl's "
                     "configurations, or is damaged",
                     name);
}

static enum ergo_status parse(struct ergo_context *ctx, const char *name, uint64_t size,
                              struct ergo_configurations *c) {
    cJSON *root = NULL;
    enum ergo_status status =
        ergo_json_in(ctx, name, c->head + FIRST, c->head_length - FIRST, &root);
    if (status != ERGO_OK)
        return status;
    const cJSON *groups = ergo_in_member(root, "groups", cJSON_Array), *json;
    const char *identity = ergo_in_text(root, "identity", "");
    const size_t n = groups ? (size_t)cJSON_GetArraySize(groups) : 0;
    uint64_t room = size / 8; /* steps of all groups: no sum of frames overflows */
    char *end;
    c->identity = strtoull(identity, &end, 16);
    c->groups = calloc(n + 1, sizeof *c->groups);
    if (!c->groups)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu groups of frames", n);
    else if (*end || strlen(identity) != 16)
        status = damaged(ctx, name);
    cJSON_ArrayForEach(json, groups) {
        if (status != ERGO_OK)
            break;
        struct ergo_frames_group *group = &c->groups[c->n_groups];
        if (!read_group(json, size, group) || group->points * group->frames > room) {
            status = damaged(ctx, name);
            break;
        }
        room -= group->points * group->frames;
        c->n_groups++;
    }
    cJSON_Delete(root);
    return status;
}

enum ergo_status ergo_configurations_read_head(struct ergo_context *ctx, const char *name, int fd,
                                               uint64_t size, struct ergo_configurations *c) {
    char line[FIRST + 1] = "", again[FIRST + 1];
    if (!ergo_file_read_at(fd, 0, line, FIRST))
        return damaged(ctx, name);
    c->head_length = (size_t)strtoul(line + strlen("ergocl configurations 1 "), NULL, 10);
    snprintf(again, sizeof again, first, c->head_length);
    if (strcmp(line, again) != 0 || c->head_length < LEAST || c->head_length > MOST ||
        c->head_length > size)
        return damaged(ctx, name);
    c->head = malloc(c->head_length + 1);
    if (!c->head)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to read %s", name);
    c->head[c->head_length] = '\0';
    return ergo_file_read_at(fd, 0, c->head, c->head_length) ? parse(ctx, name, size, c)
                                                             : damaged(ctx, name);
}
