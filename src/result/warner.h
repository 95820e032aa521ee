/* What the files with warnings share (warnings.c, warnings_replicas.c, alarms.c). */
#ifndef ERGO_RESULT_WARNER_H
#define ERGO_RESULT_WARNER_H

#include "result/result.h"

struct ergo_warner {
    struct ergo_context *ctx;
    struct ergo_result *result;
    const struct ergo_model *model;
    enum ergo_status status;
};

/* Takes the text. */
void ergo_warner_add(struct ergo_warner *w, struct ergo_text *text);
/* "/system/temperature = 2.1, replica 3"; "" for a job of one point. */
void ergo_warner_point(struct ergo_text *text, const struct ergo_point *point, bool replica);
/* With a verdict of its own: what shares that of another, `because`, is told with it, asked for or
 * not. Of a chain, or of a mean over replicas. */
static inline bool ergo_warner_tells(const struct ergo_observable_result *r,
                                     const struct ergo_observable *because,
                                     const struct ergo_point *point) {
    return !r->because && (r->observable == because || ergo_observable_shown(r->observable, point));
}
static inline bool ergo_warner_shown(const struct ergo_member_result *m, size_t o) {
    return ergo_warner_tells(&m->observables[o], m->because, m->point);
}

void ergo_warn_samples(struct ergo_warner *w);
void ergo_warn_together(struct ergo_warner *w);
void ergo_warn_replicas(struct ergo_warner *w);
/* alarms.c */
void ergo_warn_trends(struct ergo_warner *w);
void ergo_warn_missed(struct ergo_warner *w);
void ergo_warn_beyond(struct ergo_warner *w);
void ergo_warn_alarms(struct ergo_warner *w);

#endif
