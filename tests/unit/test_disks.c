/* Hard disks without a device: cells, starts, displacements, the fit, states, XYZ files. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "hard_disks/core.h"
#include "job/xyz.h"
#include "samplers/hard_disks/disks.h"
#include "samplers/places.h"
#include "stats/fit.h"

#include "context.h"

static struct ergo_job *parse(const char *system) {
    char text[512];
    struct ergo_job *job = NULL;
    snprintf(text, sizeof text,
             "{\"sampler\": \"hard-disks\", \"system\": {%s}, \"run\": {\"sweeps\": 1}}", system);
    ergo_error_clear(ctx);
    if (ergo_job_parse(ctx, text, strlen(text), "j", NULL, 0, &job) != ERGO_OK)
        return NULL;
    return job;
}

/* Meshes of the hexatic analysis: bins follow from the shorter side and N. */
static void test_transforms_fit(void **state) {
    static const char text[] = "{\"sampler\": \"hard-disks\", \"system\": {\"n\": %s, \"box\": "
                               "[4.2, %s]}, \"run\": {\"sweeps\": 1, \"hexatic_every\": 1}}";
    (void)state;
    for (int k = 0; k < 2; k++) {
        char job_text[200];
        struct ergo_job *job = NULL;
        snprintf(job_text, sizeof job_text, text, k ? "200000" : "20000", k ? "9e4" : "9e3");
        const enum ergo_status status =
            ergo_job_parse(ctx, job_text, strlen(job_text), "j", NULL, 0, &job);
        assert_int_equal(status, k ? ERGO_E_JOB : ERGO_OK);
        assert_true(!k || strstr(ergo_error_message(ctx), "/run/hexatic_every: transforms"));
        ergo_error_clear(ctx);
        if (job)
            ergo_job_destroy(job);
    }
}

static void refused(const char *system, const char *message) {
    assert_null(parse(system));
    if (!strstr(ergo_error_message(ctx), message))
        fail_msg("\"%s\" is not in: %s", message, ergo_error_message(ctx));
}

static void test_jobs(void **state) {
    (void)state;
    refused("\"n\": 4", "neither");
    refused("\"n\": 4, \"box\": 5, \"packing_fraction\": 0.2", "one of them");
    refused("\"n\": 2, \"box\": 3.5", "needs a box from 2 to 2.82, 4 to 5.65, or 6 on");
    refused("\"n\": 2, \"packing_fraction\": 0.5", "the smallest box is 2");
    refused("\"n\": 100, \"box\": 8", "no more than 0.9069");
    /* that its cells can be counted, one after the other (validate never came to its end) */
    refused("\"n\": 100, \"packing_fraction\": 1e-30",
            "a box of 8.86227e+15 sigma; at most 1e+06 are");
    refused("\"n\": 100, \"packing_fraction\": 5e-324", "a box of ");
    /* what a run would have refused later */
    refused("\"n\": 100, \"packing_fraction\": 0.79",
            "a hexagonal lattice of 100 disks does not fit a square box at packing fraction 0.79; "
            "up to 0.7");
    refused("\"n\": 256, \"packing_fraction\": 0.79, \"start\": \"square\"",
            "up to 0.7853 it does, and \"hexagonal\" farther");
    refused("\"n\": 1000, \"packing_fraction\": 0.77, \"start\": \"random\"", "up to 0.76 they");
    refused("\"n\": 7, \"box\": 2.7, \"start\": \"random\"", "no room to be at random");
    refused("\"n\": 1000000000, \"packing_fraction\": 0.5", "cells: at most 536870911");
    refused("\"n\": 64, \"packing_fraction\": 0.5, \"cells\": 7", "7 cells a side");
    refused("\"n\": 64, \"packing_fraction\": 0.5, \"cells\": 20", "20 cells a side");
    refused("\"n\": 64, \"packing_fraction\": 0.5, \"start\": \"hex\"", "\"hexagonal\"");
    refused(
        "\"n\": 64, \"packing_fraction\": 0.5, \"coordinates\": \"packed\", \"leave_cell\": true",
        "wide");
}

/* All boxes in steps of a hundredth: cells where, and only where, the geometry allows them. */
static void test_cells(void **state) {
    (void)state;
    for (int i = 200; i < 1500; i++) {
        char system[100];
        struct disks_shape s;
        char reason[300];
        const double box = i / 100.0;
        bool possible = false;
        snprintf(system, sizeof system, "\"n\": 2, \"box\": %.2f", box);
        for (int m = 2; m < 16; m += 2)
            possible = possible || (box / m >= 1.0 && box / m < sqrt(2.0));
        struct ergo_job *job = parse(system);
        assert_int_equal(job != NULL, possible);
        if (!job)
            continue;
        assert_true(disks_shape_of(&job->points[0], &s, reason));
        assert_true(s.cells[0] == s.cells[1] && s.ratio == DISKS_SQUARE);
        assert_true(s.cells[0] % 2 == 0 && box / s.cells[0] >= 1.0 && box / s.cells[0] < sqrt(2.0));
        ergo_job_destroy(job);
    }
}

/* Sides that differ: cells and units of each axis, and crystals whose rows fit one way only. Equal
 * sides are a square. */
static void test_rectangles(void **state) {
    (void)state;
    static const struct {
        const char *system;
        uint32_t cells[2]; /* 0: refused */
    } boxes[] = {
        {"\"n\": 60, \"box\": [7.2, 10.5]", {6, 10}},
        {"\"n\": 60, \"box\": [10.5, 7.2]", {10, 6}},
        {"\"n\": 16, \"box\": [4.5, 4.5]", {4, 4}},
        {"\"n\": 12, \"box\": [4.5, 5.8]", {0, 0}},
        {"\"n\": 12, \"box\": [4.5]", {0, 0}},
        {"\"n\": 12, \"box\": [4.5, 6.1], \"cells\": 4", {0, 0}},
        {"\"n\": 224, \"box\": [14.2, 14.0546]", {14, 14}},
        {"\"n\": 224, \"box\": [14.0546, 14.2]", {14, 14}}, /* turned */
        {"\"n\": 36, \"box\": [5.6, 8.1], \"leave_cell\": true", {4, 8}},
    };
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++) {
        struct disks_shape s;
        struct disks_member member;
        char reason[300];
        struct ergo_job *job = parse(boxes[i].system);
        if ((job != NULL) != (boxes[i].cells[0] != 0))
            fail_msg("%s: %s", boxes[i].system, job ? "taken" : ergo_error_message(ctx));
        if (!job)
            continue;
        assert_true(disks_shape_of(&job->points[0], &s, reason));
        assert_int_equal(s.rectangular, s.box[0] != s.box[1]);
        const double w[2] = {s.box[0] / s.cells[0], s.box[1] / s.cells[1]};
        assert_true(fabs((double)s.ratio * 0x1p-62 - w[1] * w[1] / (w[0] * w[0])) < 1e-10);
        assert_true(fabs(sqrt((double)s.contact) * w[0] / s.width[0] - 1) < 1e-6);
        assert_int_equal(s.cells[0], boxes[i].cells[0]);
        assert_int_equal(s.cells[1], boxes[i].cells[1]);
        /* two active disks that leave their cells do not meet */
        disks_member_fill(&job->points[0], &s, &member);
        assert_true(s.width[0] - 2.0 * member.leave >= s.sigma / fmin(1.0, s.aspect));
        ergo_job_destroy(job);
    }
}

/* Slits with room for one row, or for two that are not one above the other. */
static void test_narrow_slits(void **state) {
    (void)state;
    static const char *const systems[] = {
        "\"n\": 6, \"box\": [10, 1.02], \"walls\": [\"y\"]",
        "\"n\": 9, \"box\": [9.6, 1.02], \"walls\": [\"y\"]",
        "\"n\": 9, \"box\": [1.02, 10.6], \"walls\": [\"x\"]",
        "\"n\": 9, \"box\": [10, 1.5], \"walls\": [\"y\"]",
        "\"n\": 9, \"box\": [1.5, 10.6], \"walls\": [\"x\"]",
        "\"n\": 2, \"box\": [1.02, 2.3], \"walls\": [\"x\", \"y\"]",
        "\"n\": 11, \"box\": [10, 1.6], \"walls\": [\"y\"]",
        "\"n\": 11, \"box\": [1.6, 10.6], \"walls\": [\"x\"]",
    };
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++)
        for (int square = 0; square < (i < 6 ? 2 : 1); square++) {
            char text[200], reason[400];
            struct disks_shape s;
            struct ergo_hard_cells config;
            snprintf(text, sizeof text, "%s, \"start\": \"%s\"", systems[i],
                     square ? "square" : "hexagonal");
            struct ergo_job *job = parse(text);
            if (!job)
                fail_msg("%s: %s", text, ergo_error_message(ctx));
            assert_true(disks_shape_of(&job->points[0], &s, reason));
            assert_int_equal(ergo_hard_create(ctx, &s.hard, &config), ERGO_OK);
            if (disks_start(ctx, &job->points[0], &s.hard, &config) != ERGO_OK)
                fail_msg("%s: %s", text, ergo_error_message(ctx));
            ergo_hard_free(&config);
            ergo_job_destroy(job);
        }
    refused("\"n\": 11, \"box\": [10, 1.02], \"walls\": [\"y\"]", "does not fit this box");
}

/* Symmetry exactly; radius and direction as in a uniform circle, chi^2 of 16 equal areas. */
static void test_displacement(void **state) {
    (void)state;
    enum { N = 400000, PARTS = 4 };
    size_t count[PARTS][PARTS] = {{0}};
    const float step = 0.16f * 4194304.0f / 131072.0f;
    uint32_t a = 12345, b = 6789;
    for (int i = 0; i < N; i++) {
        float dx, dy, ex, ey;
        a = a * 1664525u + 1013904223u;
        b = b * 22695477u + 1u;
        const struct ergo_words r = ergo_philox_words(a, b, 0, 0, 1, 2);
        disks_displacement(r.x, r.y, step, step, &dx, &dy);
        disks_displacement(r.x, r.y ^ 3u, step, step, &ex, &ey);
        assert_true(ex == -dx && ey == -dy && dx == rintf(dx) && dy == rintf(dy));
        const double u = dx / 0.16 / 4194304.0, v = dy / 0.16 / 4194304.0, r2 = u * u + v * v;
        assert_true(r2 < 1.000001);
        const int ring = (int)fmin(PARTS * r2, PARTS - 1);
        const int sector = (int)fmin(PARTS * (atan2(v, u) / DISKS_PI + 1) / 2, PARTS - 1);
        count[ring][sector]++;
    }
    double chi2 = 0;
    for (int i = 0; i < PARTS * PARTS; i++)
        chi2 += pow((double)count[i / PARTS][i % PARTS] - N / 16.0, 2) / (N / 16.0);
    assert_true(chi2 > 3.5 && chi2 < 37.7); /* 99.9% of chi^2(15), both sides */
}

/* Chords: never longer than to where disks touch, near it but for grazing ones, and 0 beyond. */
static void test_chord(void **state) {
    (void)state;
    for (int i = 0; i < 8; i++) {
        const double w = i % 2 ? DISKS_W_PACKED : DISKS_W_WIDE,
                     sigma = w / (1 + 0.05 * i) - 0.3 * i;
        const int64_t contact = (int64_t)ceil(sigma * sigma), step = i % 2 ? 1 : 1 + 2 * i;
        const float low = (float)((double)contact * (1.0 - 0x1.2p-20));
        for (int64_t across = 0; across * across < contact; across += step) {
            const double chord = disks_chord((float)across, low);
            const double touch = sqrt((double)(contact - across * across));
            assert_true(chord >= 0 && chord <= touch);
            assert_true(chord >= 0.998 * touch || touch < 0.1 * sigma);
            assert_true(disks_chord((float)-across, low) == (float)chord);
        }
        assert_true(disks_chord((float)sigma + 1, low) == 0);
        assert_true(disks_chord(67108864.0f, low) == 0);
    }
}

/* Reflections undo themselves; places drawn are as often in each quarter of what is free. */
static void test_reflection(void **state) {
    (void)state;
    size_t drawn = 0, quarters[4] = {0};
    for (uint32_t i = 0; i < 100000; i++) {
        const struct ergo_words r = ergo_philox_words(i, 0, 0, 0, 5, 6);
        const float low = (float)ergo_below(r.x, 1000000),
                    high = low + (float)ergo_below(r.y, 3000000);
        const float u = low + (float)ergo_below(r.z, (uint32_t)(high - low) + 1);
        const float to = disks_reflection(u, low, high, r.w);
        assert_true(to >= low && to <= high && to == rintf(to));
        if (r.w & 3) {
            assert_true(disks_reflection(to, low, high, r.w) == u);
        } else if (high - low > 1000) {
            quarters[(int)(4 * (to - low) / (high - low + 1))]++;
            drawn++;
        }
    }
    for (int i = 0; i < 4; i++)
        assert_true(fabs((double)quarters[i] - (double)drawn / 4) <
                    4.5 * sqrt((double)drawn * 3 / 16));
    assert_true(drawn > 24000 && drawn < 26000);
    assert_true(disks_along_y(6, 1) && disks_along_y(7, 0) && !disks_along_y(7, 3));
}

/* Every order and every direction of a plan comes as often as it should. */
static void test_plans(void **state) {
    (void)state;
    size_t orders[256] = {0}, directions[4] = {0}, different = 0;
    for (uint64_t step = 0; step < 48000; step++) {
        const uint32_t plan = disks_plan(3, 4, step, DISKS_W_WIDE, 1);
        orders[plan & 255]++;
        directions[plan >> DISKS_PLAN_DIRECTION & 3]++;
        assert_true(plan >> DISKS_PLAN_DISTANCE < DISKS_W_WIDE / 2);
        assert_int_equal(disks_plan(3, 4, step, DISKS_W_WIDE, 0) & 255, 0xe4);
    }
    for (int i = 0; i < 256; i++) {
        different += orders[i] > 0;
        assert_true(orders[i] == 0 || fabs((double)orders[i] - 2000) < 4.5 * sqrt(2000));
    }
    assert_int_equal(different, 24);
    for (int i = 0; i < 4; i++)
        assert_true(fabs((double)directions[i] - 12000) < 4.5 * sqrt(9000));
}

static void test_starts(void **state) {
    (void)state;
    static const char *const cases[] = {
        "\"n\": 2, \"box\": 2", "\"n\": 256, \"packing_fraction\": 0.75",
        "\"n\": 256, \"packing_fraction\": 0.75, \"start\": \"square\"",
        "\"n\": 100, \"packing_fraction\": 0.7, \"coordinates\": \"packed\"",
        "\"n\": 10000, \"packing_fraction\": 0.88"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ergo_job *job = parse(cases[i]);
        struct disks_shape s;
        struct ergo_hard_cells config, again;
        struct ergo_text text = {0}, other = {0};
        const char *reason = NULL;
        char why[300];
        size_t cell[2], n = 0;
        unsigned slot[2];
        assert_non_null(job);
        assert_true(disks_shape_of(&job->points[0], &s, why));
        assert_int_equal(ergo_hard_create(ctx, &s.hard, &config), ERGO_OK);
        assert_int_equal(ergo_hard_create(ctx, &s.hard, &again), ERGO_OK);
        const enum ergo_status status = disks_start(ctx, &job->points[0], &s.hard, &config);
        assert_int_equal(status, ERGO_OK);
        if (status == ERGO_OK) {
            for (size_t k = 0; k < s.all; k++)
                n += config.count[k];
            assert_int_equal(n, s.n);
            assert_true(ergo_hard_closest(&config, cell, slot) >= s.contact);
            ergo_hard_write(&config, &text);
            assert_true(ergo_hard_read(&again, text.data, text.length, &reason));
            ergo_hard_write(&again, &other);
            assert_memory_equal(text.data, other.data, text.length);
            assert_false(ergo_hard_read(&again, text.data, text.length - 1, &reason));
            /* the second of two members of the same size */
            const size_t cells = s.all;
            void *raw = calloc(2 * cells * s.planes, ERGO_HARD_BYTES);
            disks_kind.to_raw(&config, raw, cells, 2 * cells);
            disks_kind.from_raw(&again, raw, cells, 2 * cells);
            ergo_text_free(&other);
            ergo_hard_write(&again, &other);
            assert_memory_equal(text.data, other.data, text.length);
            free(raw);
        }
        ergo_error_clear(ctx);
        ergo_text_free(&text);
        ergo_text_free(&other);
        ergo_hard_free(&config);
        ergo_hard_free(&again);
        ergo_job_destroy(job);
    }
}

/* A volume that a flipped bit made what no box has. */
static void test_damaged_volume(void **state) {
    (void)state;
    struct ergo_job *job = parse("\"n\": 14, \"packing_fraction\": 0.5, \"ensemble\": \"npt\", "
                                 "\"pressure\": 4, \"volume_moves\": \"per-axis\"");
    struct disks_shape s;
    struct ergo_hard_cells config;
    struct ergo_text text = {0};
    const char *reason;
    char why[300];
    assert_non_null(job);
    assert_true(disks_shape_of(&job->points[0], &s, why));
    assert_int_equal(ergo_hard_create(ctx, &s.hard, &config), ERGO_OK);
    assert_int_equal(disks_start(ctx, &job->points[0], &s.hard, &config), ERGO_OK);
    ergo_hard_write(&config, &text);
    assert_true(ergo_hard_read(&config, text.data, text.length, &reason));
    for (int bit = 36; bit < 64; bit++) { /* the first bytes are ln V */
        text.data[bit / 8] ^= (char)(1 << bit % 8);
        assert_false(ergo_hard_read(&config, text.data, text.length, &reason));
        assert_true(strstr(reason, "volume") || strstr(reason, "sides"));
        text.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    ergo_text_free(&text);
    ergo_hard_free(&config);
    ergo_job_destroy(job);
}

/* What can be asked for at random fits a first lattice: all boxes that have cells, all numbers of
 * disks up to the limit; but for seven in boxes of two by two cells. */
static void test_random_fits(void **state) {
    (void)state;
    size_t none = 0, boxes = 0;
    for (int i = 200; i < 1200; i += 7) {
        const double box = i / 100.0;
        for (int n = 2; n * DISKS_PI / 4 < DISKS_RANDOM_MAX * box * box; n++) {
            char system[120];
            snprintf(system, sizeof system, "\"n\": %d, \"box\": %.2f, \"start\": \"random\"", n,
                     box);
            struct ergo_job *job = parse(system);
            struct disks_shape s, grid;
            struct ergo_hard_cells config;
            struct disks_growth growth;
            char reason[400];
            if (!job) {
                const bool room = strstr(ergo_error_message(ctx), "no room") != NULL;
                assert_true(room ? n == 7 && box < 2.83
                                 : strstr(ergo_error_message(ctx), "no checkerboard") != NULL);
                none += room;
                continue;
            }
            assert_true(disks_shape_of(&job->points[0], &s, reason));
            disks_growth_shape(&s, &grid);
            disks_growth_fill(&job->points[0], &grid, &growth);
            /* five disks find no place in a cell, and those of two active cells do not meet */
            const uint64_t w = grid.width[0];
            assert_true(2 * growth.contact[0] > (w - 1) * (w - 1));
            assert_true(growth.contact[0] <= growth.contact[1] && growth.contact[1] <= w * w);
            assert_int_equal(ergo_hard_create(ctx, &grid.hard, &config), ERGO_OK);
            assert_int_equal(disks_growth_start(ctx, &config), ERGO_OK);
            boxes++;
            ergo_hard_free(&config);
            ergo_job_destroy(job);
        }
    }
    print_message("%zu boxes, and %zu without room\n", boxes, none);
    assert_true(boxes > 7000 && none > 0 && none < 20);
}

/* Growth begins and ends where it shall, and never turns back; whose turn it is. */
static void test_growth(void **state) {
    (void)state;
    const uint64_t first = UINT64_C(1) << 43, last = UINT64_C(1) << 44;
    uint64_t before = 0;
    for (uint32_t sweep = 0; sweep < DISKS_START_MELT + DISKS_START_GROW + 10; sweep++) {
        const uint64_t contact = disks_growth_contact(first, last, sweep);
        assert_true(contact >= before && contact >= first && contact <= last);
        assert_true(sweep > DISKS_START_MELT || contact == first);
        before = contact;
    }
    assert_true(before == last);
    assert_true(disks_growth_contact(first, last, DISKS_START_MELT + DISKS_START_GROW / 2) ==
                first + (last - first) / 2);
    for (uint32_t n = 1; n <= 4; n++)
        for (uint32_t b = 0; b < 256; b++)
            assert_true(disks_growth_slot(b << 24 | 0xffffff, n) == b * n / 256);
}

/* Published values have errors and are no exact ones; two disks are exact. */
static void test_published(void **state) {
    (void)state;
    struct ergo_job *job = parse("\"n\": 65536, \"packing_fraction\": 0.708");
    double error = 0;
    assert_true(isnan(ergo_point_exact(&job->points[0], "pressure")));
    assert_true(ergo_point_published(&job->points[0], "pressure", &error) == 9.18214);
    assert_true(fabs(error - 3e-5) < 1e-12);
    assert_true(isnan(ergo_point_published(&job->points[0], "psi6", &error)));
    ergo_job_destroy(job);
    job = parse("\"n\": 2, \"box\": 4");
    assert_true(fabs(ergo_point_exact(&job->points[0], "pressure") - 0.1402701292) < 1e-9);
    assert_true(isnan(ergo_point_published(&job->points[0], "pressure", &error)));
    ergo_job_destroy(job);
}

/* The section's own test: n(r) = 30 exp(-30 r) next to r = 1, and polynomials exactly. */
static void test_fit(void **state) {
    (void)state;
    double x[200], y[200];
    for (int i = 0; i < 200; i++) {
        x[i] = 1.0 + (i + 0.5) * 1e-4;
        y[i] = 30 * exp(-30 * (x[i] - 1.0));
    }
    assert_true(fabs(ergo_fit_extrapolate(x, y, 200, 5, 1.0) / 30 - 1) <
                1e-6); /* paper: below 1e-5 */
    for (int i = 0; i < 200; i++)
        y[i] = 3 - 70 * (x[i] - 1.0) + 1e4 * pow(x[i] - 1.0, 3);
    assert_true(fabs(ergo_fit_extrapolate(x, y, 200, 3, 1.0) - 3) < 1e-10);
    assert_true(fabs(ergo_fit_extrapolate(x, y, 200, 5, 1.0) - 3) < 1e-10);
}

static enum ergo_status xyz(const char *text, struct ergo_xyz *frame) {
    ergo_error_clear(ctx);
    return ergo_xyz_parse(ctx, "f.xyz", text, strlen(text), frame);
}

static void near(double x, double y, double margin) {
    if (!(fabs(x - y) <= margin))
        fail_msg("%.17g is not %.17g within %g", x, y, margin);
}

/* Rings of the contact histogram: areas for wide coordinates, grid points for packed ones, counted
 * here one by one for a ring in a corner of the plane. */
static void test_rings(void **state) {
    (void)state;
    enum { BINS = 200 };
    double areas[2][BINS], most = 0, sum[2] = {0, 0};
    for (int packed = 0; packed < 2; packed++) {
        struct disks_shape s;
        char system[120], reason[300];
        uint64_t limits[BINS + 1];
        snprintf(system, sizeof system,
                 "\"n\": 65536, \"packing_fraction\": 0.702, \"coordinates\": \"%s\"",
                 packed ? "packed" : "wide");
        struct ergo_job *job = parse(system);
        assert_true(job && disks_shape_of(&job->points[0], &s, reason));
        assert_int_equal(disks_curve_size(&job->points[0], DISKS_CURVE_CONTACT), BINS);
        disks_limits(&job->points[0], &s, DISKS_CURVE_CONTACT, limits);
        disks_areas(&job->points[0], &s, DISKS_CURVE_CONTACT, limits, areas[packed]);
        if (packed) { /* the first ring, column by column */
            uint64_t points = 0;
            const int64_t reach = (int64_t)sqrt((double)limits[1]) + 1;
            for (int64_t x = -reach; x <= reach; x++) {
                const uint64_t x2 = (uint64_t)(x * x);
                for (uint64_t y = x2 < limits[0] ? (uint64_t)sqrt((double)(limits[0] - x2)) - 1 : 0;
                     x2 + y * y < limits[1]; y++)
                    points += x2 + y * y >= limits[0] ? (y ? 2 : 1) : 0;
            }
            near(areas[1][0] * s.sigma * s.sigma, (double)points, 0.01);
            /* 25 = 0 + 25 = 9 + 16, 26 = 1 + 25: a limit belongs to the ring that begins there */
            double small[BINS];
            for (uint64_t i = 0; i <= BINS; i++)
                limits[i] = 25 + i;
            disks_areas(&job->points[0], &s, DISKS_CURVE_CONTACT, limits, small);
            near(small[0] * s.sigma * s.sigma, 12, 1e-6);
            near(small[1] * s.sigma * s.sigma, 8, 1e-6);
        }
        ergo_job_destroy(job);
    }
    for (int i = 0; i < BINS; i++) {
        const double a = 1 + 1e-4 * i, b = a + 1e-4;
        near(areas[0][i], 3.14159265358979 * (b * b - a * a), 1e-12);
        most = fmax(most, fabs(areas[1][i] / areas[0][i] - 1));
        sum[0] += areas[0][i];
        sum[1] += areas[1][i];
    }
    /* 2e-4 a ring (Gauss's circle problem), next to nothing over all */
    assert_true(most > 1e-4 && most < 1e-3);
    near(sum[1] / sum[0], 1, 1e-5);
}

/* g(r) of random points is 1 whatever N is (2.4 million pairs: 6 standard errors), and the pressure
 * Eq. 4 of n(r) / rho, as the paper counts. */
static void test_ideal(void **state) {
    enum { N = 4, DRAWS = 400000, MOST = 250, CONTACT = 200 };
    static double areas[MOST], values[MOST], x[MOST], paper[MOST];
    static uint32_t counts[MOST];
    double at[N][2], area = 0, mean = 0;
    uint64_t random = 7, limits[MOST + 1];
    struct disks_shape s;
    char reason[300];
    (void)state;
    struct ergo_job *job = parse("\"n\": 4, \"box\": 4");
    const struct ergo_point *point = &job->points[0];
    assert_true(disks_shape_of(point, &s, reason));
    assert_int_equal(disks_curve_size(point, DISKS_CURVE_GR), MOST);
    for (int t = 0; t < DRAWS; t++)
        for (int i = 0; i < N; i++) {
            for (int k = 0; k < 2; k++) {
                random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                at[i][k] = 4 * 0x1p-53 * (double)(random >> 11);
            }
            for (int j = 0; j < i; j++) {
                const double r =
                    hypot(remainder(at[i][0] - at[j][0], 4), remainder(at[i][1] - at[j][1], 4));
                if (r < 2)
                    counts[(int)(r / 2 * MOST)]++;
            }
        }
    disks_limits(point, &s, DISKS_CURVE_GR, limits);
    disks_areas(point, &s, DISKS_CURVE_GR, limits, areas);
    disks_curve_convert(point, &s, s.density, DISKS_CURVE_GR, areas, counts, values);
    for (int i = 0; i < MOST; i++) {
        area += areas[i];
        mean += areas[i] * values[i] / DRAWS;
    }
    near(mean / area, 1, 0.002);
    assert_int_equal(disks_curve_size(point, DISKS_CURVE_CONTACT), CONTACT);
    disks_limits(point, &s, DISKS_CURVE_CONTACT, limits);
    disks_areas(point, &s, DISKS_CURVE_CONTACT, limits, areas);
    disks_curve_x(point, DISKS_CURVE_CONTACT, x);
    disks_curve_convert(point, &s, s.density, DISKS_CURVE_CONTACT, areas, counts, values);
    for (int i = 0; i < CONTACT; i++)
        paper[i] = 2 * counts[i] / (N * 0.25 * areas[i]);
    double expected = ergo_fit_extrapolate(x, paper, CONTACT, 5, 1);
    expected = 0.25 * (1 + 0.5 * 3.14159265358979324 * 0.25 * expected);
    near(disks_pressure(point, values, CONTACT) / expected, 1, 1e-10);
    ergo_job_destroy(job);
    job = parse("\"n\": 4, \"box\": 4, \"ensemble\": \"npt\", \"pressure\": 1");
    point = &job->points[0];
    assert_true(disks_shape_of(point, &s, reason));
    disks_curve_convert(point, &s, 0.25, DISKS_CURVE_CONTACT, areas, counts, values);
    near(disks_pressure(point, values, CONTACT) / expected, 1, 1e-10);
    ergo_job_destroy(job);
}

static void test_xyz(void **state) {
    (void)state;
    struct ergo_xyz f;
    static const char *const bad[] = {
        "",
        "x\n",
        "2 3\n\n",
        "0\n\n",
        "2\n",
        "2\nc\nH 1 2 3\n",
        "1\nc\nH 1 2\n",
        "1\nc\nH 1 2 x\n",
        "1\nLattice=\"1 2 3\"\nH 1 2 3\n",
        "1\nProperties=species:S:1:vel:R:3\nH 1 2 3\n",
        "1\nProperties=pos:R\nH 1 2 3\n",
        "999999999\nc\nH 1 2 3\n",
        "1\nc\nH nan 0 0\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(xyz(bad[i], &f), ERGO_E_IO);
        assert_non_null(strstr(ergo_error_message(ctx), "f.xyz"));
        assert_null(f.positions);
    }
    assert_int_equal(
        xyz("2\r\nLattice=\"4 0 0 0 5 0 0 0 1\" note=\"pos Properties=x\" "
            "Properties=id:I:1:species:S:1:pos:R:3:psi6:R:2\r\n1 D 0.5 1.25 -3e-1 0 0\r\n2 D "
            "1 2 3 0 0",
            &f),
        ERGO_OK);
    assert_true(f.n == 2 && f.has_lattice && f.lattice[4] == 5 && f.positions[1] == 1.25 &&
                f.positions[2] == -0.3 && f.positions[5] == 3);
    ergo_xyz_free(&f);
    assert_int_equal(xyz("1\npbc=\"T F t\"\nH 1.0D+00 -2.5d-1 3\n", &f), ERGO_OK);
    assert_true(f.positions[0] == 1 && f.positions[1] == -0.25 && !f.open[0] && f.open[1] &&
                !f.open[2]);
    ergo_xyz_free(&f);
    assert_int_equal(xyz("1\n\nH 1 2 3\n9\nanother frame\n", &f), ERGO_OK);
    assert_true(f.n == 1 && !f.has_lattice && f.positions[0] == 1);
    ergo_xyz_free(&f);
}

static void write_start(const char *path, const char *lines) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "3\nLattice=\"4 0 0 0 4 0 0 0 1\"\n%s", lines);
    fclose(file);
}

/* A start from a file; an overlap in it names the pair, also where the file came to have it after
 * the job was checked. */
static void test_file(void **state) {
    (void)state;
    char path[] = "/tmp/ergocl-disks-XXXXXX", system[200], why[300];
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    snprintf(system, sizeof system, "\"n\": 3, \"box\": 4, \"start\": \"%s\"", path);
    write_start(path, "D 0.1 0.1 0\nD 2 2 0\nD 3.1 0.5 0\n");
    struct ergo_job *job = parse(system);
    struct disks_shape s;
    struct ergo_hard_cells config;
    assert_non_null(job);
    assert_true(disks_shape_of(&job->points[0], &s, why));
    assert_int_equal(ergo_hard_create(ctx, &s.hard, &config), ERGO_OK);
    assert_int_equal(disks_start(ctx, &job->points[0], &s.hard, &config), ERGO_OK);
    /* disks that overlap by rounding only are parted, in the plane */
    write_start(path, "D 0.1 0.1 0\nD 2 2 0\nD 2.9999998 2 0\n");
    assert_int_equal(disks_start(ctx, &job->points[0], &s.hard, &config), ERGO_OK);
    assert_true(ergo_hard_closest(&config, NULL, NULL) >= s.contact);
    const uint64_t side[3] = {s.side[0], s.side[1], 1u << 31}, sigma = (uint64_t)s.sigma;
    uint64_t at[2][3] = {{0, 0, 0}, {sigma - 1, 0, 0}};
    assert_int_equal(ergo_places_part(ctx, at, 2, side, s.length, s.sigma, NULL, NULL), ERGO_OK);
    assert_true(at[1][0] - at[0][0] != sigma - 1);
    assert_int_equal(at[0][2] + at[1][2], 0);
    write_start(path, "D 0.1 0.1 0\nD 2 2 0\nD 3.9 0.5 0\n");
    refused(system, "disks 1 and 3 overlap: their distance is 0.4472");
    ergo_error_clear(ctx);
    assert_int_equal(disks_start(ctx, &job->points[0], &s.hard, &config), ERGO_E_JOB);
    assert_non_null(strstr(ergo_error_message(ctx), "disks 1 and 3 overlap"));
    ergo_error_clear(ctx);
    remove(path);
    ergo_hard_free(&config);
    ergo_job_destroy(job);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_jobs),
                                       cmocka_unit_test(test_cells),
                                       cmocka_unit_test(test_rectangles),
                                       cmocka_unit_test(test_narrow_slits),
                                       cmocka_unit_test(test_transforms_fit),
                                       cmocka_unit_test(test_displacement),
                                       cmocka_unit_test(test_chord),
                                       cmocka_unit_test(test_reflection),
                                       cmocka_unit_test(test_plans),
                                       cmocka_unit_test(test_starts),
                                       cmocka_unit_test(test_damaged_volume),
                                       cmocka_unit_test(test_random_fits),
                                       cmocka_unit_test(test_growth),
                                       cmocka_unit_test(test_published),
                                       cmocka_unit_test(test_fit),
                                       cmocka_unit_test(test_rings),
                                       cmocka_unit_test(test_ideal),
                                       cmocka_unit_test(test_xyz),
                                       cmocka_unit_test(test_file)};
    return cmocka_run_group_tests(tests, context_open, context_close);
}
