/* Tests only: devices that report what other devices would (ERGOCL_PRETEND). */
#ifndef ERGO_DEVICE_PRETEND_H
#define ERGO_DEVICE_PRETEND_H

#include "device/candidate.h"

/* What is left out is 0, NULL or "": as the device says. */
struct ergo_pretend {
    cl_device_type type;
    const char *vendor;           /* as CL_DEVICE_VENDOR */
    uint64_t group, local, alloc; /* most work-items of a group, bytes of local memory and of a
                                   * buffer */
    unsigned units, wave;         /* compute units; the preferred multiple of work-items */
    char extensions[512];         /* with blanks between, of which the device has to have... */
    bool has_extensions;          /* ... those that it claims; an empty list counts */
    char quirks[96];              /* platform/device whose quirks count instead of its own */
};

/*
 * Reads "mi300x", "gpu,group=64,local=32768" or a preset and then what differs from it:
 *     gpu, cpu, accelerator                     the type
 *     vendor=amd (apple, arm, intel, nvidia)    the vendor
 *     group= local= alloc= units= wave=         numbers; wave a power of two
 *     extensions=A+B                            the only extensions; "extensions=": none
 *     quirks=PLATFORM/DEVICE                    the quirks of those, "quirks=none": none.
 *                                               For programs that are written and not run: what
 * runs has lost what keeps it right ERGO_E_JOB with the wrong word and what is allowed.
 */
enum ergo_status ergo_pretend_parse(struct ergo_context *ctx, const char *text,
                                    struct ergo_pretend *mask);
/* The presets' names, one after the other with blanks between. For tests. */
void ergo_pretend_presets(struct ergo_text *names);
/* A device that has been asked claims what `mask` says, where it could do that: the smaller of the
 * two limits, extensions that both have. `text` goes into its name. */
void ergo_pretend_apply(const struct ergo_pretend *mask, const char *text,
                        struct ergo_candidate *one);

#endif
