/* How a lattice is shown. */
#ifndef ERGO_ENGINE_VIEW_H
#define ERGO_ENGINE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A lattice for people. */
struct ergo_view {
    uint64_t size[3];  /* sites */
    const void *shape; /* for `state` */
    void *sites;       /* for `state`; malloc'ed; NULL: another rank shows it */
    bool plane;        /* asked of who makes it: only z = 0 will be looked at */
    /* The state of site x of row y + ly z, below 256. */
    unsigned (*state)(const struct ergo_view *view, size_t x, size_t row);
    const char *name; /* in files of VTK, of the states modulo so many; others are for colours */
    unsigned states;
    /* A picture is the plane z = 0, a pixel for each site up to 1024 a side. Beyond that a pixel is
     * a square of sites: `mean`, in the mean of their colours, else in that of one of them. */
    uint8_t colours[256][3];
    bool mean;
};

#endif
