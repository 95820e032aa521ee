/* See online.h. */
#include "stats/online_state.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LAGS = ERGO_STATS_LAGS,
    WHOLE = ERGO_STATS_WHOLE,
    CHUNK = ERGO_ONLINE_CHUNK,
    BINS = ERGO_ONLINE_BINS,
    ROOM_LEAST = 4,
};

/* A track's unit is of the size of its first values that differ. Others may be so much larger
 * before it is changed; the squares of as many as there are still have a finite sum. */
#define UNIT_HEADROOM 0x1p200

/* ---- memory -----------------------------------------------------------------------------------
 */

static size_t fixed_size(const struct ergo_online_plan *plan) {
    return plan->n_series * (sizeof(struct ergo_online_series) / sizeof(double) + BINS) +
           plan->n_tracks + plan->n_fixed;
}

static size_t level_size(const struct ergo_online_plan *plan) {
    return plan->n_tracks * sizeof(struct ergo_online_level) / sizeof(double);
}

static size_t closed_at(uint64_t fed) {
    size_t closed = 0;
    while (fed >> closed >= WHOLE)
        closed++;
    return closed;
}

static bool make_room(struct ergo_online *o, size_t capacity) {
    const size_t n = o->plan->n_series;
    const size_t waiting = (size_t)(o->count - ergo_online_fed(o));
    double *room = malloc((n + 1) * capacity * sizeof *room);
    if (!room)
        return false;
    for (size_t s = 0; s < n && waiting; s++)
        memcpy(room + s * capacity, o->waiting + s * o->capacity, waiting * sizeof *room);
    free(o->waiting);
    o->waiting = room;
    o->capacity = capacity;
    return true;
}

static bool add_level(struct ergo_online *o) {
    double **levels = realloc(o->levels, (o->closed + 1) * sizeof *levels);
    if (!levels)
        return false;
    o->levels = levels;
    levels[o->closed] = calloc(level_size(o->plan) + 1, sizeof(double));
    if (!levels[o->closed])
        return false;
    o->closed++;
    return true;
}

static bool make_fixed(struct ergo_online *o) {
    o->fixed = calloc(fixed_size(o->plan) + 1, sizeof(double));
    o->top = malloc((o->plan->n_tracks + 1) * WHOLE * sizeof(double));
    return o->fixed && o->top;
}

void ergo_online_free(struct ergo_online *o) {
    for (size_t l = 0; l < o->closed; l++)
        free(o->levels[l]);
    free(o->levels);
    free(o->waiting);
    free(o->fixed);
    free(o->top);
    *o = (struct ergo_online){.plan = o->plan};
}

double ergo_online_bytes(const struct ergo_online_plan *plan, double count) {
    const double n = (double)plan->n_series;
    if (count < WHOLE)
        return 8 * n * count;
    const double levels = (double)closed_at((uint64_t)fmin(count, 0x1p62));
    return 8 * (n * CHUNK + (double)fixed_size(plan) + levels * (double)level_size(plan) +
                (double)plan->n_tracks * WHOLE);
}

/* ---- sums -------------------------------------------------------------------------------------
 */

/* The power of two at or below a positive number. */
static double power_below(double value) {
    int exponent;
    (void)frexp(value, &exponent);
    exponent = exponent < -999 ? -999 : exponent > 1000 ? 1000 : exponent;
    return ldexp(1, exponent - 1);
}

static double largest(const double *v, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fabs(v[i]) > most ? fabs(v[i]) : most;
    return most;
}

/* Another unit for a track: exact. */
static void change_unit(struct ergo_online *o, size_t track, size_t top, double factor) {
    for (size_t l = 0; l < o->closed; l++) {
        struct ergo_online_level *level = ergo_online_level_of(o, l, track);
        for (size_t k = 0; k <= LAGS; k++)
            level->lagged[k] = level->lagged[k] * factor * factor;
        for (size_t k = 0; k < LAGS; k++) {
            level->head[k] *= factor;
            level->tail[k] *= factor;
        }
        level->sum *= factor;
    }
    for (size_t i = 0; i < top; i++)
        o->top[track * WHOLE + i] *= factor;
}

/* The values of a track, n of them behind `fed`. */
static void feed_track(struct ergo_online *o, size_t track, uint64_t fed, const double *values,
                       size_t n) {
    double room[LAGS + CHUNK], *const v = room + LAGS;
    double *unit = &ergo_online_units(o)[track];
    const double most = largest(values, n);
    if (most > *unit * UNIT_HEADROOM && isfinite(most)) {
        const double before = *unit;
        *unit = power_below(most);
        if (before > 0)
            change_unit(o, track, (size_t)(fed >> o->closed), before / *unit);
    }
    const double per_unit = *unit > 0 ? 1 / *unit : 0;
    for (size_t i = 0; i < n; i++)
        v[i] = values[i] * per_unit;
    for (size_t l = 0; l < o->closed && n; l++) {
        struct ergo_online_level *level = ergo_online_level_of(o, l, track);
        const size_t odd = fed >> l & 1; /* a value waits for its neighbour */
        memcpy(room, level->tail, LAGS * sizeof *room);
        ergo_stats_correlate(level->lagged, v, n);
        level->sum += ergo_stats_sum(v, n);
        memcpy(level->tail, v + n - LAGS, LAGS * sizeof *room);
        n = (n + odd) / 2;
        const double *pairs = v - odd;
        for (size_t i = 0; i < n; i++)
            v[i] = 0.5 * (pairs[2 * i] + pairs[2 * i + 1]);
    }
    memcpy(o->top + track * WHOLE + (fed >> o->closed), v, n * sizeof *v);
}

/* The level that was kept as it is has become long. */
static bool close_level(struct ergo_online *o) {
    double room[LAGS + WHOLE];
    if (!add_level(o))
        return false;
    for (size_t track = 0; track < o->plan->n_tracks; track++) {
        struct ergo_online_level *level = ergo_online_level_of(o, o->closed - 1, track);
        double *top = o->top + track * WHOLE;
        memset(room, 0, LAGS * sizeof *room);
        memcpy(room + LAGS, top, WHOLE * sizeof *room);
        ergo_stats_correlate(level->lagged, room + LAGS, WHOLE);
        level->sum = ergo_stats_sum(top, WHOLE);
        memcpy(level->head, top, LAGS * sizeof *room);
        memcpy(level->tail, top + WHOLE - LAGS, LAGS * sizeof *room);
        (void)ergo_stats_join_pairs(top, WHOLE);
    }
    return true;
}

static void feed_bins(double *bins, uint64_t fed, uint64_t length, const double *y, size_t n) {
    for (size_t i = 0; i < n;) {
        const uint64_t left = length - (fed + i) % length;
        const size_t count = left < n - i ? (size_t)left : n - i;
        bins[(fed + i) / length] += ergo_stats_sum(y + i, count);
        i += count;
    }
}

static void merge_bins(double *bins) {
    for (size_t b = 0; b < BINS / 2; b++)
        bins[b] = bins[2 * b] + bins[2 * b + 1];
    memset(bins + BINS / 2, 0, BINS / 2 * sizeof *bins);
}

/* Samples become deviations from the origin, in place. */
static void feed_series(struct ergo_online *o, size_t s, uint64_t fed, double *x, size_t n) {
    struct ergo_online_series *series = ergo_online_series_of(o, s);
    bool varies = false, broken = false;
    for (size_t i = 0; i < n; i++) {
        varies |= x[i] != series->first;
        broken |= !isfinite(x[i]);
        x[i] -= series->origin;
    }
    series->varies = varies ? 1 : series->varies;
    series->broken = broken ? 1 : series->broken;
    const double sum = ergo_stats_sum(x, n) - series->lost, total = series->sum + sum;
    series->lost = (total - series->sum) - sum;
    series->sum = total;
    if (fed && ergo_online_bin(fed) != ergo_online_bin(fed + n))
        merge_bins(ergo_online_bins_of(o, s));
    feed_bins(ergo_online_bins_of(o, s), fed, ergo_online_bin(fed + n), x, n);
}

/* z[a] of a group: of `n` deviations y[s * stride + i]. */
static void feed_group(struct ergo_online *o, const struct ergo_online_group *group, uint64_t fed,
                       const double *y, size_t stride, size_t n) {
    const double *sizes = ergo_online_group_of(o, group), *k = sizes + group->n;
    double z[ERGO_STATS_COLUMNS_MAX][CHUNK], both[CHUNK];
    for (size_t a = 0; a < group->n; a++) {
        memcpy(z[a], y + group->series[a] * stride, n * sizeof *y);
        for (size_t b = 0; b < a; b++) {
            const double factor = k[ergo_online_pair(a, b)];
            for (size_t i = 0; i < n; i++)
                z[a][i] -= factor * z[b][i];
        }
        if (a)
            feed_track(o, group->tracks[a], fed, z[a], n);
        for (size_t b = 0; b < a; b++) {
            const double of_a = 1 / sizes[a], of_b = 1 / sizes[b];
            for (size_t i = 0; i < n; i++)
                both[i] = of_a * z[a][i] + of_b * z[b][i];
            feed_track(o, group->pairs + ergo_online_pair(a, b), fed, both, n);
        }
    }
}

/* n samples of what waits, from `from` on; they are overwritten. */
static void feed(struct ergo_online *o, uint64_t fed, size_t from, size_t n) {
    const struct ergo_online_plan *plan = o->plan;
    double *y = o->waiting + from;
    for (size_t s = 0; s < plan->n_series; s++) {
        const size_t own = plan->own ? plan->own[s] : s;
        feed_series(o, s, fed, y + s * o->capacity, n);
        if (own != ERGO_ONLINE_NONE)
            feed_track(o, own, fed, y + s * o->capacity, n);
    }
    for (size_t g = 0; g < plan->n_groups; g++)
        feed_group(o, &plan->groups[g], fed, y, o->capacity, n);
}

static double product(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* The factors k_ab and sizes of a group, by Gram and Schmidt on the first samples. z: room. */
static void make_group(struct ergo_online *o, const struct ergo_online_group *group, double *z) {
    /* what is left of a series is nothing but rounding */
    static const double nothing = 1e-24;
    double *sizes = ergo_online_group_of(o, group), *k = sizes + group->n;
    double units[ERGO_STATS_COLUMNS_MAX], squares[ERGO_STATS_COLUMNS_MAX];
    for (size_t a = 0; a < group->n; a++) {
        const struct ergo_online_series *series = ergo_online_series_of(o, group->series[a]);
        const double *x = o->waiting + group->series[a] * o->capacity;
        double *own = z + a * WHOLE, most = 0;
        for (size_t i = 0; i < WHOLE; i++) {
            own[i] = x[i] - series->origin;
            most = fmax(most, fabs(own[i]));
        }
        units[a] = most > 0 && isfinite(most) ? power_below(most) : 0;
        for (size_t i = 0; i < WHOLE; i++)
            own[i] = units[a] > 0 ? own[i] / units[a] : 0;
        const double before = product(own, own, WHOLE);
        for (size_t b = 0; b < a; b++) {
            const double factor =
                squares[b] > 0 ? product(own, z + b * WHOLE, WHOLE) / squares[b] : 0;
            for (size_t i = 0; i < WHOLE; i++)
                own[i] -= factor * z[b * WHOLE + i];
            const double full = factor * (units[a] / units[b]);
            k[ergo_online_pair(a, b)] = squares[b] > 0 && isfinite(full) ? full : 0;
        }
        squares[a] = product(own, own, WHOLE);
        if (!(squares[a] > nothing * before))
            squares[a] = 0;
        sizes[a] = squares[a] > 0 ? units[a] * power_below(sqrt(squares[a] / WHOLE))
                   : units[a] > 0 ? units[a]
                   : isfinite(series->origin) && series->origin != 0
                       ? power_below(fabs(series->origin))
                       : 1;
    }
}

/* The first WHOLE samples are there: origins, factors, and they go into the sums. */
static bool begin(struct ergo_online *o) {
    const struct ergo_online_plan *plan = o->plan;
    double *z = NULL;
    if (!make_fixed(o))
        return false;
    for (size_t s = 0; s < plan->n_series; s++) {
        const double *x = o->waiting + s * o->capacity;
        const double mean = ergo_stats_mean(x, WHOLE);
        *ergo_online_series_of(o, s) =
            (struct ergo_online_series){.first = x[0], .origin = isfinite(mean) ? mean : 0};
    }
    if (plan->n_groups && !(z = malloc(ERGO_STATS_COLUMNS_MAX * WHOLE * sizeof *z)))
        return false;
    for (size_t g = 0; g < plan->n_groups; g++)
        make_group(o, &plan->groups[g], z);
    free(z);
    for (size_t from = 0; from < WHOLE; from += CHUNK)
        feed(o, from, from, CHUNK);
    return close_level(o);
}

bool ergo_online_add(struct ergo_online *o, const double *rows, size_t count) {
    const size_t n = o->plan->n_series;
    while (count) {
        const size_t most = o->fixed ? CHUNK : WHOLE;
        const size_t waiting = (size_t)(o->count - ergo_online_fed(o));
        if (waiting == o->capacity || (o->fixed && o->capacity != CHUNK)) {
            size_t capacity = 2 * o->capacity < ROOM_LEAST ? ROOM_LEAST : 2 * o->capacity;
            if (o->fixed)
                capacity = CHUNK;
            else if (waiting + count > capacity)
                capacity = waiting + count;
            if (!make_room(o, capacity < most ? capacity : most))
                return false;
        }
        size_t now = o->capacity - waiting;
        now = now < count ? now : count;
        for (size_t s = 0; s < n; s++)
            for (size_t i = 0; i < now; i++)
                o->waiting[s * o->capacity + waiting + i] = rows[i * n + s];
        rows += now * n;
        count -= now;
        if (waiting + now < most) {
            o->count += now;
            continue;
        }
        if (!o->fixed) {
            if (!begin(o))
                return false;
        } else {
            feed(o, ergo_online_fed(o), 0, CHUNK);
        }
        o->count += now;
        while (o->count >> o->closed >= WHOLE)
            if (!close_level(o))
                return false;
    }
    return true;
}

void ergo_online_finish(struct ergo_online *o) {
    const uint64_t fed = ergo_online_fed(o);
    if (o->fixed && o->count > fed)
        feed(o, fed, 0, (size_t)(o->count - fed));
}

/* ---- as numbers -------------------------------------------------------------------------------
 */

size_t ergo_online_size(const struct ergo_online_plan *plan, uint64_t count) {
    const uint64_t chunk = CHUNK, fed = count < WHOLE ? 0 : count / chunk * chunk;
    size_t size = plan->n_series * (size_t)(count - fed);
    if (fed)
        size += fixed_size(plan) + closed_at(fed) * level_size(plan) +
                plan->n_tracks * (size_t)(fed >> closed_at(fed));
    return size;
}

static double *put(double *to, const double *from, size_t n) {
    if (n)
        memcpy(to, from, n * sizeof *to);
    return to + n;
}

double *ergo_online_save(const struct ergo_online *o, double *to) {
    const uint64_t fed = ergo_online_fed(o);
    for (size_t s = 0; s < o->plan->n_series && o->count > fed; s++)
        to = put(to, o->waiting + s * o->capacity, (size_t)(o->count - fed));
    if (!o->fixed)
        return to;
    to = put(to, o->fixed, fixed_size(o->plan));
    for (size_t l = 0; l < o->closed; l++)
        to = put(to, o->levels[l], level_size(o->plan));
    for (size_t t = 0; t < o->plan->n_tracks; t++)
        to = put(to, o->top + t * WHOLE, (size_t)(fed >> o->closed));
    return to;
}

static const double *take(const double *from, double *to, size_t n) {
    if (n)
        memcpy(to, from, n * sizeof *to);
    return from + n;
}

bool ergo_online_load(struct ergo_online *o, uint64_t count, const double *from) {
    o->count = count;
    const uint64_t fed = ergo_online_fed(o);
    const size_t waiting = (size_t)(count - fed);
    o->capacity = fed ? CHUNK : waiting;
    o->waiting = malloc((o->plan->n_series + 1) * (o->capacity + 1) * sizeof *o->waiting);
    if (!o->waiting || (fed && !make_fixed(o)))
        return false;
    while (o->closed < closed_at(fed))
        if (!add_level(o))
            return false;
    for (size_t s = 0; s < o->plan->n_series; s++)
        from = take(from, o->waiting + s * o->capacity, waiting);
    if (!fed)
        return true;
    from = take(from, o->fixed, fixed_size(o->plan));
    for (size_t l = 0; l < o->closed; l++)
        from = take(from, o->levels[l], level_size(o->plan));
    for (size_t t = 0; t < o->plan->n_tracks; t++)
        from = take(from, o->top + t * WHOLE, (size_t)(fed >> o->closed));
    return true;
}

bool ergo_online_copy(const struct ergo_online *from, struct ergo_online *to) {
    double *room = malloc((ergo_online_size(from->plan, from->count) + 1) * sizeof *room);
    *to = (struct ergo_online){.plan = from->plan};
    if (room)
        (void)ergo_online_save(from, room);
    const bool ok = room && ergo_online_load(to, from->count, room);
    free(room);
    return ok;
}
