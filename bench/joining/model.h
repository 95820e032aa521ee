/* A model of the time of a sweep over many ranks. */
#ifndef BENCH_JOINING_MODEL_H
#define BENCH_JOINING_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/* What was counted, of a rank: means where it does not say otherwise. */
struct counted {
    int ranks;
    uint32_t side, early, rounds, steps;
    double edge;              /* sites of all sides */
    double parts, items;      /* with bonds to others; in lists of bridges, of two sides */
    double messages;          /* in rounds; the most */
    double bytes, most_bytes; /* the same */
    double rest, late;        /* of all ranks together */
    double handed;            /* bytes of pairs; the most */
    double early_bytes;       /* of these, before what inside connects is known */
    double bridges_us, early_us, host_us, finish_us; /* here */
};

/* Before rounds: edges and bridges told. */
double early_bytes(const struct counted *n);
/* Sizes that all get of all. */
double late_bytes(const struct counted *n, bool sized);
void model_show(const struct counted *n);

#endif
