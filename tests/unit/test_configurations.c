/* configurations.h5: frames are taken when the schedule says, states come back from them, files are
 * adopted, made anew with their frames, or refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../context.h"
#include "ergocl/ergocl.h"
#include "job/schedule.h"
#include "result/configurations.h"

static struct ergo_job *parse(const char *text) {
    struct ergo_job *job = NULL;
    if (ergo_job_parse(ctx, text, strlen(text), "job.json", NULL, 0, &job) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    return job;
}

/* A run: glasses of two words, so that arrays are in pieces and not all of a state; batches of two
 * lengths. */
static struct ergo_job *glasses(const char *sweeps, unsigned replicas) {
    char text[512];
    snprintf(text, sizeof text,
             "{\"sampler\":\"spin-lattice\",\"replicas\":%u,\"system\":{\"model\":\"spin-glass\","
             "\"size\":[4,4],"
             "\"samples\":64,\"temperature\":1,\"ladder\":2,\"temperature_max\":2},\"run\":{"
             "\"equilibration\":7,"
             "\"sweeps\":1,\"measure_every\":3},\"scan\":{\"/run/"
             "sweeps\":[%s]},\"output\":{\"configurations_every\":5}}",
             replicas, sweeps);
    return parse(text);
}

/* Byte i of a state of a point after a step: like nothing else. Of glasses all but the counts of
 * exchanges, which a frame does not have. */
static void fill(char *state, size_t length, const struct ergo_point *point, uint64_t step) {
    for (size_t i = 0; i < length; i++)
        state[i] = (char)(1 + (i * 7 + step * 13 + (point->stream >> 3)) % 251);
}

struct folder {
    char path[64];
    struct ergo_folder open;
};

static struct folder make_folder(void) {
    struct folder f;
    snprintf(f.path, sizeof f.path, "/tmp/ergo-test-XXXXXX");
    assert_non_null(mkdtemp(f.path));
    assert_int_equal(ergo_folder_open(ctx, f.path, &f.open), ERGO_OK);
    return f;
}

static void remove_folder(struct folder *f) {
    unlinkat(f->open.fd, ERGO_CONFIGURATIONS, 0);
    ergo_folder_close(&f->open);
    assert_int_equal(rmdir(f->path), 0); /* nothing is left beside it */
}

static struct ergo_configurations prepare(const struct folder *f, const struct ergo_job *job,
                                          int *fd) {
    struct ergo_configurations c = {0};
    if (ergo_configurations_prepare(ctx, &f->open, job, true, &c) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    assert_true(ergo_configurations_open(&c, ctx, &f->open, fd));
    return c;
}

/* Frames [first, last) of every point. */
static void write_frames(const struct ergo_configurations *c, int fd, size_t first, size_t last) {
    for (size_t p = 0; p < c->job->n_points; p++) {
        const struct ergo_point *point = &c->job->points[p];
        const struct ergo_frames_place place = c->places[p];
        const size_t length = c->forms[place.group].bytes;
        char *state = malloc(length);
        for (size_t k = first; k < last && k < c->groups[place.group].frames; k++) {
            const uint64_t step = ergo_configurations_step(c, point, k);
            fill(state, length, point, step);
            assert_int_equal(ergo_configurations_write(c, ctx, fd, p, k, step, state, length),
                             ERGO_OK);
        }
        free(state);
    }
}

static void check_frames(const struct ergo_configurations *c, int fd, size_t first, size_t last) {
    for (size_t p = 0; p < c->job->n_points; p++) {
        const struct ergo_point *point = &c->job->points[p];
        const struct ergo_form *form = &c->forms[c->places[p].group];
        for (size_t k = first; k < last && k < c->groups[c->places[p].group].frames; k++) {
            char *wanted = calloc(form->bytes, 1), *whole = malloc(form->bytes), *state = NULL;
            char *array = malloc(form->bytes);
            size_t length = 0;
            fill(whole, form->bytes, point, ergo_configurations_step(c, point, k));
            for (size_t i = 0; i < form->n_parts; i++) {
                ergo_form_take(&form->parts[i], whole, array);
                ergo_form_put(&form->parts[i], array, wanted);
            }
            assert_int_equal(
                ergo_configurations_state(c, ctx, fd, "there", point, k, &state, &length), ERGO_OK);
            assert_int_equal(length, form->bytes);
            assert_memory_equal(state, wanted, length);
            free(wanted), free(whole), free(array), free(state);
        }
    }
}

static uint64_t missing(const struct ergo_configurations *c, int fd) {
    uint64_t n = 0;
    assert_int_equal(ergo_configurations_missing(c, ctx, fd, &n), ERGO_OK);
    return n;
}

/* By counting: a frame at the first measurement at or after each multiple, or each of some. */
static void check_schedule(const struct ergo_schedule *s, struct ergo_frame_times times) {
    static const uint64_t numbers[] = {1,  2,  3,  4,  5,  6,  8,   10,  12,  15, 20,
                                       25, 30, 40, 50, 60, 80, 100, 120, 150, 200};
    const size_t equilibration = s->n_equilibration, all = ergo_schedule_frames(s, times);
    const uint64_t apart = times.steps > s->every ? times.steps : s->every;
    size_t frames = 0;
    for (size_t i = 1; i <= s->n_samples - equilibration; i++) {
        const uint64_t due = times.logarithmic ? numbers[frames] * apart : (frames + 1) * apart;
        const size_t next = ergo_schedule_next_frame(s, times, equilibration + i - 1);
        assert_int_equal(next, frames < all ? frames : SIZE_MAX);
        if (i * s->every >= due) {
            assert_int_equal(ergo_schedule_frame(s, times, frames), equilibration + i);
            frames++;
        }
    }
    assert_int_equal(all, frames);
}

static void test_schedule(void **state) {
    (void)state;
    for (uint64_t every = 1; every < 6; every++)
        for (uint64_t interval = 1; interval < 14; interval++)
            for (size_t equilibration = 0; equilibration < 3; equilibration++) {
                const struct ergo_schedule s = {.every = every,
                                                .n_equilibration = equilibration,
                                                .n_samples = equilibration + 151};
                check_schedule(&s, (struct ergo_frame_times){interval, false});
                check_schedule(&s, (struct ergo_frame_times){interval, true});
            }
    const struct ergo_schedule s = {.every = 1, .n_samples = 5};
    assert_int_equal(ergo_schedule_frames(&s, (struct ergo_frame_times){0, true}), 0);
    assert_int_equal(ergo_schedule_next_frame(&s, (struct ergo_frame_times){0, false}, 0),
                     SIZE_MAX);
}

/* The spins of each word-lattice of a glass, [temperature][copy][site], without what is between
 * them. */
static void test_pieces(void **state) {
    (void)state;
    enum { SPINS = 4 * 2 * 2 * 16, WALKERS = 4 * 4 + 8 * 2 + 8 * 2 };
    struct ergo_job *job = glasses("20", 1);
    struct ergo_form form;
    assert_int_equal(job->model->form(ctx, &job->points[0], &form), ERGO_OK);
    assert_int_equal(form.bytes, 8 + 2 * (SPINS + WALKERS));
    assert_int_equal(ergo_form_part_bytes(&form.parts[0]), 2 * SPINS);
    char *whole = malloc(form.bytes), *array = malloc(form.bytes);
    fill(whole, form.bytes, &job->points[0], 0);
    ergo_form_take(&form.parts[0], whole, array);
    assert_memory_equal(array, whole + 8, SPINS);
    assert_memory_equal(array + SPINS, whole + 8 + SPINS + WALKERS, SPINS);
    ergo_form_take(&form.parts[1], whole, array);
    assert_memory_equal(array, whole, 8);
    free(whole), free(array);
    ergo_job_destroy(job);
}

static void test_frames(void **state) {
    (void)state;
    struct folder f = make_folder();
    struct ergo_job *job = glasses("20, 4, 31", 2);
    int fd = -1, again = -1;
    struct ergo_configurations c = prepare(&f, job, &fd);
    assert_int_equal(c.n_groups, 3);
    assert_int_equal(c.groups[0].frames, 3); /* 18 steps are measured */
    assert_int_equal(c.groups[1].frames, 0);
    assert_int_equal(missing(&c, fd), 2 * (3 + 6));
    write_frames(&c, fd, 0, 2);
    assert_int_equal(missing(&c, fd), 2 * (1 + 4));
    check_frames(&c, fd, 0, 2);

    char *none = NULL;
    size_t length = 0;
    assert_int_equal(
        ergo_configurations_state(&c, ctx, fd, "there", &job->points[0], 2, &none, &length),
        ERGO_E_JOB);
    assert_non_null(strstr(ergo_error_message(ctx), "/start/frame: frame 2 of point 0 is not in"));
    assert_int_equal(
        ergo_configurations_state(&c, ctx, fd, "there", &job->points[0], 3, &none, &length),
        ERGO_E_JOB);
    assert_non_null(strstr(ergo_error_message(ctx), "found 3, but point 0"));
    assert_null(none);

    /* a resume: the same file, in which frames are written again */
    struct ergo_configurations same = prepare(&f, job, &again);
    assert_int_equal(missing(&same, again), 2 * (1 + 4));
    write_frames(&same, again, 1, 6);
    assert_int_equal(missing(&same, again), 0);
    check_frames(&same, again, 0, 6);
    check_frames(&c, fd, 0, 6);
    /* a state of another step, or too short, is a defect */
    char small[4] = "";
    assert_int_equal(ergo_configurations_write(&c, ctx, fd, 0, 0, 9, small, sizeof small),
                     ERGO_E_INTERNAL);
    ergo_error_clear(ctx);
    close(fd), close(again);
    ergo_configurations_free(&same);
    ergo_configurations_free(&c);
    ergo_job_destroy(job);
    remove_folder(&f);
}

/* A longer run with more replicas, in other places: a new file with the frames of the old one. */
static void test_extended(void **state) {
    (void)state;
    struct folder f = make_folder(), other = make_folder();
    struct ergo_job *job = glasses("20, 31", 2), *longer = glasses("50, 33", 3);
    int fd = -1, first = -1;
    struct ergo_configurations c = prepare(&f, job, &first);
    write_frames(&c, first, 0, 6);
    close(first);
    struct ergo_configurations more = prepare(&f, longer, &fd);
    assert_int_equal(more.groups[0].frames, 9);
    /* all points have the streams of the old ones, but for the third replica */
    assert_int_equal(missing(&more, fd), 3 * (9 + 6) - 2 * (6 + 6));
    assert_false(ergo_configurations_open(&c, ctx, &f.open, &first));

    /* and by a copy from another folder */
    struct ergo_configurations third = prepare(&other, longer, &first);
    write_frames(&more, fd, 0, 9);
    assert_int_equal(ergo_configurations_copy(&third, ctx, first, &f.open), ERGO_OK);
    assert_int_equal(missing(&third, first), 0);
    check_frames(&third, first, 0, 9);
    close(fd), close(first);
    ergo_configurations_free(&third);
    ergo_configurations_free(&more);
    ergo_configurations_free(&c);
    ergo_job_destroy(longer);
    ergo_job_destroy(job);
    remove_folder(&other);
    remove_folder(&f);
}

/* Any byte of the text at the beginning, any length: adopted only if it says the same, and never
 * read beyond. */
static void test_damaged(void **state) {
    (void)state;
    struct folder f = make_folder();
    struct ergo_job *job = glasses("20", 1);
    int fd = -1, there = -1;
    struct ergo_configurations c = prepare(&f, job, &fd), read = {0};
    char name[128], *text = strdup(c.head);
    const size_t used = (size_t)(strstr(text, "]}\n") - text) + 3;
    const off_t size = lseek(fd, 0, SEEK_END);
    snprintf(name, sizeof name, "%s/%s", f.path, ERGO_CONFIGURATIONS);
    for (size_t i = 0; i < used; i++) {
        static const char other[] = "9{\"\0 ,";
        const char bad = other[i % (sizeof other - 1)];
        assert_true(ergo_file_write_at(fd, i, &bad, 1));
        const enum ergo_status status =
            ergo_configurations_read_head(ctx, name, fd, (uint64_t)size, &read);
        for (size_t g = 0; status == ERGO_OK && g < read.n_groups; g++) {
            const struct ergo_frames_group *group = &read.groups[g];
            assert_true(group->step + 8 * group->points * group->frames <= (uint64_t)size);
            for (size_t k = 0; k < group->n_parts; k++)
                assert_true(group->parts[k].offset +
                                group->points * group->frames * group->parts[k].bytes <=
                            (uint64_t)size);
        }
        ergo_configurations_free(&read);
        assert_true(ergo_file_write_at(fd, i, &text[i], 1));
    }
    assert_int_equal(ergo_configurations_read_head(ctx, name, fd, (uint64_t)size, &read), ERGO_OK);
    ergo_configurations_free(&read);
    const struct ergo_frames_group *group = &c.groups[0];
    uint64_t end = 0; /* of arrays; what HDF5 has behind them is not looked at */
    for (size_t k = 0; k < group->n_parts; k++) {
        const uint64_t here = group->parts[k].offset + group->frames * group->parts[k].bytes;
        end = here > end ? here : end;
    }
    /* with another name, too, it is not written on: a copy takes its place */
    assert_int_equal(linkat(f.open.fd, ERGO_CONFIGURATIONS, f.open.fd, "other", 0), 0);
    assert_false(ergo_configurations_open(&c, ctx, &f.open, &there));
    struct ergo_configurations copy = prepare(&f, job, &there);
    ergo_configurations_free(&copy);
    close(there);
    close(fd);
    fd = open(name, O_RDWR);
    assert_int_equal(unlinkat(f.open.fd, "other", 0), 0);
    for (off_t length = (off_t)end - 1; length > 0; length /= 2) {
        assert_int_equal(ftruncate(fd, length), 0);
        assert_int_equal(ergo_configurations_prepare(ctx, &f.open, job, false, &read), ERGO_E_IO);
        ergo_configurations_free(&read);
    }
    ergo_error_clear(ctx);
    close(fd);
    struct ergo_configurations anew = prepare(&f, job, &fd); /* with a warning */
    assert_string_equal(anew.head, text);
    close(fd);
    free(text);
    ergo_configurations_free(&anew);
    ergo_configurations_free(&c);
    ergo_job_destroy(job);
    remove_folder(&f);
}

/* Groups that are said to be in the same place of a vast file: their frames together are not more
 * than it has room for, so that no sum of them is wrong. */
static void test_vast(void **state) {
    (void)state;
    static const char tail[] = "{\"points\":67108864,\"frames\":67108864,\"stream\":0,\"step\":0,"
                               "\"arrays\":[{\"offset\":0,\"bytes\":0}]}";
    const int fd = memfd_create("vast", 0);
    struct ergo_configurations read = {0};
    char head[16384];
    memset(head, '\n', sizeof head);
    int n = snprintf(head, sizeof head,
                     "ergocl configurations 1 0000016384\n{\"identity\":\"0123456789abcdef\","
                     "\"groups\":[%s",
                     tail);
    for (int i = 1; i < 128; i++)
        n += snprintf(head + n, sizeof head - (size_t)n, ",%s", tail);
    n += snprintf(head + n, sizeof head - (size_t)n, "]}");
    head[n] = '\n';
    assert_int_equal(ftruncate(fd, (off_t)1 << 57), 0);
    assert_true(ergo_file_write_at(fd, 0, head, sizeof head));
    assert_int_equal(ergo_configurations_read_head(ctx, "vast", fd, UINT64_C(1) << 57, &read),
                     ERGO_E_IO);
    ergo_configurations_free(&read);
    ergo_error_clear(ctx);
    close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedule), cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_frames),   cmocka_unit_test(test_extended),
        cmocka_unit_test(test_damaged),  cmocka_unit_test(test_vast),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
