/* The devices of this machine as JSON. */
#include <inttypes.h>

#include "base/entry.h"
#include "base/json_out.h"

static void put_device(struct ergo_json_out *out, const struct ergo_device_summary *device) {
    ergo_out_object(out, NULL);
    ergo_out_text(out, "id", device->id);
    ergo_out_text(out, "name", device->name);
    ergo_out_text(out, "platform", device->platform);
    ergo_out_text(out, "driver", device->driver);
    ergo_out_text(out, "version", device->version);
    ergo_out_text(out, "type", device->type);
    ergo_out_raw(out, "compute_units", "%u", device->compute_units);
    ergo_out_raw(out, "global_memory", "%" PRIu64, device->global_memory);
    ergo_out_raw(out, "local_memory", "%" PRIu64, device->local_memory);
    ergo_out_raw(out, "largest_buffer", "%" PRIu64, device->largest_buffer);
    ergo_out_raw(out, "largest_group", "%" PRIu64, device->largest_group);
    ergo_out_bool(out, "fp64", device->fp64);
    ergo_out_bool(out, "atomics64", device->atomics64);
    ergo_out_bool(out, "usable", device->usable);
    ergo_out_text(out, "verdict", device->verdict);
    ergo_out_close(out, 1);
}

enum ergo_status ergo_device_json(struct ergo_context *ctx, const struct ergo_device_summary *list,
                                  size_t count, char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, text);
    struct ergo_json_out out = {0};
    if (count && !list)
        return ERGO_FAIL(ctx, ERGO_E_JOB, "%s: list is NULL", __func__);
    ergo_out_array(&out, NULL);
    for (size_t i = 0; i < count; i++)
        put_device(&out, &list[i]);
    return ergo_out_give(ctx, &out, text);
}
