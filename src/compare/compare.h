/* The same job on several devices: do they agree, where do they begin to differ, and how fast is
 * each? */
#ifndef ERGO_COMPARE_COMPARE_H
#define ERGO_COMPARE_COMPARE_H

#include "base/text.h"
#include "result/result.h"
#include "run/watch.h"

struct ergo_compared_device {
    char *selector;             /* as the user gave it; owned */
    char *folder;               /* of its run; owned */
    enum ergo_status status;    /* of its run */
    char *message;              /* owned; what went wrong, NULL: nothing */
    struct ergo_result *result; /* owned; NULL when it failed */
    double seconds;             /* wall time of all of it, building included */
    /* of a shorter, profiled run, and of the device; NULL and 0: not known */
    struct ergo_profile *profile; /* owned */
    double copy_rate;             /* bytes a second, read and written */
    double joules, joules_work;   /* energy, and the work done with it in the rate's unit; 0: not
                                   * known */
    /* beside the first device that finished: */
    size_t n_different; /* points that end in another state */
    bool same_samples;  /* of the points that end in the same one: all samples, bit for bit */
};

struct ergo_comparison {
    size_t n_devices, reference; /* the first device that finished; its result has the job */
    struct ergo_compared_device *devices;
    /* Where the first differing device begins to differ: after `last_same` steps (equilibration
     * included) states are equal, after first_step they are not. first_step 0: not known, or
     * nothing differs. */
    size_t first_device, first_point;
    uint64_t last_same, first_step;
    /* Within that step: the first launch (from 0, of the whole run) after which a buffer has other
     * contents, as far as both devices make the same launches. */
    char *kernel, *buffer; /* owned; NULL: not known */
    uint64_t launch;
    char *vendor_file; /* owned; path of the file for a vendor; NULL: there is none */
};

/* The reference's job. */
const struct ergo_job *ergo_comparison_job(const struct ergo_comparison *c);
/* "reference", "same bits", "DIFFERS", "SAMPLES DIFFER", "failed". */
const char *ergo_comparison_verdict(const struct ergo_comparison *c, size_t i);
/* Name of its device, or the selector of one that failed. */
const char *ergo_comparison_name(const struct ergo_compared_device *d);
/* Appends a sentence about the first difference, if there is one. */
void ergo_comparison_append_first(struct ergo_text *t, const struct ergo_comparison *c);
/* The job with `steps` steps, of which at most `most` are equilibration, and no pictures. */
enum ergo_status ergo_comparison_short_job(struct ergo_context *ctx,
                                           const struct ergo_comparison *c, uint64_t steps,
                                           uint64_t most, struct ergo_job **job);

/* measure.c: times of kernels and copy rates, by short runs in DIR/profile. What cannot be measured
 * is left out with a warning. */
enum ergo_status ergo_comparison_measure(struct ergo_context *ctx, struct ergo_comparison *c,
                                         const char *directory);
/* energy.c: a counter of the joules used by a device (or the packages of a CPU); differences count.
 * NULL: there is none that may be read. It has to be read more often than the hardware's counter
 * wraps around, once in half an hour. */
struct ergo_energy;
extern bool ergo_energy_wanted; /* true; a test sets it to false: no counter is opened */
struct ergo_energy *ergo_energy_open(const struct ergo_device *device);
/* The packages of a folder like /sys/class/powercap. */
struct ergo_energy *ergo_energy_open_packages(const char *folder);
double ergo_energy_joules(struct ergo_energy *energy); /* NAN: not known */
void ergo_energy_close(struct ergo_energy *energy);    /* NULL-safe */

/* vendor.c: for devices that differ: the kernel that does, and the file for a vendor. */
enum ergo_status ergo_comparison_diagnose(struct ergo_context *ctx, struct ergo_comparison *c,
                                          const char *directory);
/* page.c: DIR/compare.html. */
enum ergo_status ergo_comparison_write_page(struct ergo_context *ctx,
                                            const struct ergo_comparison *c, const char *directory);

#endif
