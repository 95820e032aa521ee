/* Devices found but not opened, and the choice among them. */
#ifndef ERGO_DEVICE_CANDIDATE_H
#define ERGO_DEVICE_CANDIDATE_H

#include "device/device.h"
#include "base/text.h"

struct ergo_candidate {
    struct ergo_device_summary summary;
    cl_platform_id platform;
    cl_device_id device;
    cl_device_type type;
    char vendor[64]; /* CL_DEVICE_VENDOR */
    unsigned clock_mhz;
    unsigned wave;               /* as in struct ergo_device */
    bool masked;                 /* by ERGOCL_PRETEND (pretend.h) */
    char pci[16];                /* "0000:01:00.0"; "" if the driver does not give it */
    bool exact_option;           /* claims -cl-fp32-correctly-rounded-divide-sqrt */
    bool profiling;              /* queues can record event times */
    bool probed, exact_division; /* as in struct ergo_device */
    struct ergo_quirks quirks;
    const char *own_options; /* of the device's own quirks, where it pretends to have others */
};

/* All devices of all platforms by queries only; broken platforms are logged and skipped. */
enum ergo_status ergo_candidate_list(struct ergo_context *ctx, struct ergo_candidate **list,
                                     size_t *count);
/* Extension names are words of a list: cl_khr_fp64 is not cl_khr_fp64_x. */
bool ergo_candidate_has_word(const char *list, const char *word);
/* Rewrites the verdict of a usable candidate from what is known about it now. */
void ergo_candidate_describe(struct ergo_candidate *candidate);

/* Pure: why the device's profile is refused, or NULL. In the embedded profile 64-bit integers and
 * rounding to nearest are optional. With both the probe decides: Mesa's rusticl calls AMD and
 * Adreno GPUs embedded because they have fewer images than the full profile asks for, which ergocl
 * does not use. */
const char *ergo_profile_defect(const char *profile, const char *extensions,
                                cl_device_fp_config fp32);

enum ergo_choice {
    ERGO_CHOICE_FOUND,
    ERGO_CHOICE_NONE,      /* nothing fits */
    ERGO_CHOICE_REFUSED,   /* the device that fits cannot be used */
    ERGO_CHOICE_AMBIGUOUS, /* several usable ones fit */
    ERGO_CHOICE_MALFORMED, /* no selector at all: "", "1" */
};

/*
 * Pure: which of `list` does the selector (see ergo_device_open; not NULL) mean? Reads summary,
 * pci and clock_mhz. *index is set when FOUND; matched[count] (may be NULL) says which ones fit.
 */
enum ergo_choice ergo_candidate_choose(const char *selector, const struct ergo_candidate *list,
                                       size_t count, size_t *index, bool *matched);
/* Pure: the same model, that is, the same chip, driver and limits? (One platform is one vendor.) */
bool ergo_candidate_same(const struct ergo_candidate *a, const struct ergo_candidate *b);
/* Pure: for an AMBIGUOUS choice: are all usable devices that fit the same model, so that any of
 * them will do? Not for a PCI address, which means one device. */
bool ergo_candidate_equal(const char *selector, const struct ergo_candidate *list, size_t count,
                          const bool *matched);
/*
 * Pure: for ranks that share a host and a selector that fits several usable devices. Chooses the
 * device for turn 0, 1, ... in cycles, by index. All devices of a type are dealt out; of a name
 * only devices that are the same model of one platform: otherwise the user has to say which.
 * Indices and PCI addresses mean one device. False: cannot be dealt out.
 */
bool ergo_candidate_deal(const char *selector, const struct ergo_candidate *list, size_t count,
                         size_t turn, size_t *index);
/* The sentence for a choice that is not FOUND. `source`: where the selector comes from, "" for an
 * argument. */
void ergo_candidate_explain(struct ergo_text *text, enum ergo_choice choice, const char *selector,
                            const char *source, const struct ergo_candidate *list, size_t count,
                            const bool *matched);

#endif
