/* Hard spheres on a device: constants, start, frames. */
#include <stdlib.h>
#include <string.h>

#include "hard_spheres/core.h"
#include "samplers/hard_spheres/spheres.h"

_Static_assert(sizeof(struct spheres_member) == SPHERES_MEMBER_BYTES, "no padding");
_Static_assert(sizeof(struct spheres_sum) == SPHERES_SUM_BYTES, "no padding");

void spheres_contact_put(const struct spheres_state *s, uint64_t *contacts, size_t member,
                         uint64_t contact) {
    const uint64_t words[3] = {contact, ERGO_VOLUME_ONE, ERGO_VOLUME_ONE};
    memcpy(contacts + s->contact_words * member, words, 8 * s->contact_words);
}

static enum ergo_status prepare(struct ergo_context *ctx, void *state) {
    struct spheres_state *s = state;
    const struct ergo_confinement *confined = &s->shapes[0].confined;
    if (!s->shapes[0].npt)
        ergo_engine_constant(&s->e, SPHERES_CONTACTS, s->contacts);
    return confined->is ? ergo_confined_create(ctx, &s->e, SPHERES_WALLS, SPHERES_FIELDS, confined,
                                               sizeof s->shapes[0])
                        : ERGO_OK;
}

const struct ergo_engine_model spheres_model = {
    .sampler = "hard-spheres",
    .smaller = "fewer spheres",
    .state_bytes = sizeof(struct spheres_state),
    .configure = spheres_configure,
    .prepare = prepare,
    ERGO_ENGINE_ROWS(spheres),
    .release = ergo_hard_grow_end,
};

enum ergo_status spheres_init(struct ergo_context *ctx, void *opaque) {
    struct spheres_state *s = opaque;
    enum ergo_status status = ergo_hard_begin(ctx, s, NULL);
    if (status == ERGO_OK && spheres_start_is_random(s->e.batch->points[0]))
        status = ergo_hard_grow_begin(ctx, s, s->launch.start_sweeps);
    return status;
}

struct frame {
    size_t n;
    const double *at; /* [3][n] */
};

static void append_sphere(struct ergo_text *text, size_t i, const void *user) {
    const struct frame *f = user;
    ergo_text_append(text, "X %.9f %.9f %.9f\n", f->at[i], f->at[f->n + i], f->at[2 * f->n + i]);
}

enum ergo_status spheres_frame(struct ergo_context *ctx, void *opaque, size_t member,
                               struct ergo_text *text) {
    struct spheres_state *s = opaque;
    const struct spheres_shape *shape = &s->shapes[member];
    const size_t n = (size_t)shape->n;
    struct ergo_hard_cells config;
    enum ergo_status status = ergo_hard_fetch(ctx, s, member, &config);
    if (status != ERGO_OK)
        return status;
    double *at = malloc(3 * n * sizeof *at), box[3];
    if (at) {
        ergo_hard_box(&config, box);
        const double density = shape->npt ? (double)n / (box[0] * box[1] * box[2]) : shape->density;
        ergo_hard_positions(&config, at);
        ergo_text_append(
            text,
            "%zu\nLattice=\"%.12f 0 0 0 %.12f 0 0 0 %.12f\" Properties=species:S:1:pos:R:3 "
            "pbc=\"%c %c %c\" diameter=1 step=%llu packing_fraction=%.15g\n",
            n, box[0], box[1], box[2], shape->confined.walls.low[0] ? 'F' : 'T',
            shape->confined.walls.low[1] ? 'F' : 'T', shape->confined.walls.low[2] ? 'F' : 'T',
            (unsigned long long)s->e.step, density * SPHERES_PI / 6.0);
        ergo_text_append_rows(text, n, append_sphere, &(struct frame){n, at});
    } else {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a frame of %zu spheres", n);
    }
    free(at);
    ergo_hard_free(&config);
    return status;
}
