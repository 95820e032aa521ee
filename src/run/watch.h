/* What else a run is to note, for src/compare: ergo_run_options.watch. */
#ifndef ERGO_RUN_WATCH_H
#define ERGO_RUN_WATCH_H

#include "device/profile.h"

struct ergo_run_watch {
    struct ergo_profile **profile; /* gets time and bytes of each kernel, for the caller to destroy;
                                      NULL: they are not measured */
    bool trace;                    /* with what launches left in the buffers; each is waited for */
    bool states;                   /* of the members at the end, in the result */
    bool compared;                 /* with other devices: their audits would be the same again */
    bool unaudited;                /* of a device that is known to be wrong, to find where */
};

#endif
