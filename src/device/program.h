/* Programs: embedded sources, flattening, building, the binary cache. */
#ifndef ERGO_DEVICE_PROGRAM_H
#define ERGO_DEVICE_PROGRAM_H

#include "base/text.h"
#include "device/device.h"

/* One embedded file of cl/; the table is generated at build time by tools/embed.sh. */
struct ergo_embedded {
    const char *path; /* relative to cl/: "common/rng.h" */
    const char *text;
    size_t length;
};
extern const struct ergo_embedded ergo_embedded_files[];
extern const size_t ergo_embedded_count;

/* One string: the file and, once each, all it includes (flatten.c). Paths are relative to cl/.
 * $ERGOCL_CL_DIR, when set, is read instead of the embedded files. */
enum ergo_status ergo_program_flatten(struct ergo_context *ctx, const char *path, char **text);

/* The options of a build, appended to `text`: the device's own, then `options` (NULL: none). */
void ergo_program_options(const struct ergo_device *device, const char *options,
                          struct ergo_text *text);

/* Whether binaries of the device's programs are cached, and not its driver's business alone. */
bool ergo_program_kept(const struct ergo_device *device);

/*
 * Flatten and build `path` with `options` (added to "-cl-std=CL1.2" and the device's own), or take
 * the binary from the cache (cache.h). Of several processes that want one that is not there, one
 * builds it, and the others wait for it. A build failure raises the full log, device and options.
 */
enum ergo_status ergo_program_build(struct ergo_context *ctx, struct ergo_device *device,
                                    const char *path, const char *options, cl_program *program);
enum ergo_status ergo_kernel_create(struct ergo_context *ctx, struct ergo_device *device,
                                    cl_program program, const char *name, cl_kernel *kernel);

#endif
