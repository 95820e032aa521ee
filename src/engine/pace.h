/*
 * How much work a launch, or a block of launches, gets: so much that it lasts a tenth of a second.
 * Desktops and drivers stop launches of some seconds, and signals should be answered soon.
 *
 * A model only guesses how fast a device is. So the first launch gets a hundredth of what the guess
 * allows, is timed, and the next ones grow or shrink with what was measured. A device may be a
 * hundred times slower than guessed, and no launch lasts longer. Units of work are the caller's:
 * steps, attempts, rows of cells. No chain depends on them.
 */
#ifndef ERGO_ENGINE_PACE_H
#define ERGO_ENGINE_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct ergo_pace {
    uint64_t now;   /* the most units of the next launch; 0: not started */
    unsigned noted; /* timings */
    bool settled;   /* launches are of the right length: only now and then one is timed */
    bool timing;    /* ergo_engine_next has begun to time the next launch */
    double begun;   /* clock at its begin */
    double last;    /* clock at the last timing */
};

/* guess: units in a tenth of a second. */
void ergo_pace_start(struct ergo_pace *pace, double guess);
/* So many units took so many seconds. */
void ergo_pace_note(struct ergo_pace *pace, uint64_t units, double seconds);

#endif
