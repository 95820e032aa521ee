/*
 * Trajectories in GSD: a file to which frames come again after a resume is that of a run that was
 * never stopped; frames of another course are dropped; files of others are left alone.
 * (cli/test_readers.sh reads them by GSD's own library.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "ergocl/ergocl.h"
#include "job/xyz.h"
#include "result/gsd.h"

#include "context.h"

static char path[] = "/tmp/ergocl-gsd-XXXXXX";
static struct ergo_folder folder;

/* Two frames of `t`, of t % 3 and 2 particles. */
static enum ergo_status write_one(const char *name, uint64_t t) {
    struct ergo_text text = {0};
    for (unsigned f = 0; f < 2; f++) {
        const unsigned n = f ? 2 : (unsigned)t % 3;
        ergo_text_append(&text,
                         "%u\nLattice=\"5 0 0 0 6 0 0 0 7\" Properties=species:S:1:pos:R:3 "
                         "pbc=\"T T T\" step=%u energy=%u.5 box=%u\n",
                         n, (unsigned)t, (unsigned)t, f);
        for (unsigned i = 0; i < n; i++)
            ergo_text_append(&text, "X %u.25 1 2\n", (unsigned)(t + i) % 5);
    }
    const enum ergo_status status = ergo_gsd_write(ctx, &folder, name, t, text.data, text.length);
    ergo_text_free(&text);
    return status;
}

static void write_all(const char *name, uint64_t from, uint64_t to, uint64_t step) {
    for (uint64_t t = from; t < to; t += step)
        assert_int_equal(write_one(name, t), ERGO_OK);
}

static void same_files(const char *a, const char *b) {
    char *one, *other;
    size_t n, m;
    assert_int_equal(ergo_file_read(ctx, &folder, a, 1 << 30, &one, &n), ERGO_OK);
    assert_int_equal(ergo_file_read(ctx, &folder, b, 1 << 30, &other, &m), ERGO_OK);
    assert_int_equal(n, m);
    assert_memory_equal(one, other, n);
    free(one);
    free(other);
}

static void copy_file(const char *from, const char *to) {
    char *data;
    size_t n;
    assert_int_equal(ergo_file_read(ctx, &folder, from, 1 << 30, &data, &n), ERGO_OK);
    assert_int_equal(ergo_file_write(ctx, &folder, to, data, n), ERGO_OK);
    free(data);
}

/* From the beginning, and around the place where the index gets longer: after a kill the file has
 * one frame too many, or all of a longer run. */
static void frames_come_again(void **state) {
    static const uint64_t back[] = {0, 1270, 1280};
    (void)state;
    write_all("whole.gsd", 0, 1350, 10);
    for (size_t i = 0; i < 3; i++) {
        unlinkat(folder.fd, "again.gsd", 0);
        write_all("again.gsd", 0, 20, 10);
        write_all("again.gsd", 0, back[i] + 10, 10);
        write_all("again.gsd", back[i], 1350, 10);
        same_files("whole.gsd", "again.gsd");
        copy_file("whole.gsd", "again.gsd");
        write_all("again.gsd", back[i] ? back[i] : 1000, 1350, 10);
        same_files("whole.gsd", "again.gsd");
    }
}

/* A machine that fails may leave anything behind the last frame that the index has, and a kill an
 * index whose data are there. */
static void half_a_frame(void **state) {
    int fd;
    uint64_t size;
    char rubbish[120];
    (void)state;
    memset(rubbish, 'r', sizeof rubbish);
    unlinkat(folder.fd, "whole.gsd", 0);
    unlinkat(folder.fd, "again.gsd", 0);
    write_all("whole.gsd", 0, 100, 10);
    write_all("again.gsd", 0, 90, 10);
    assert_int_equal(ergo_file_update(ctx, &folder, "again.gsd", &fd, &size), ERGO_OK);
    assert_true(ergo_file_write_at(fd, size, rubbish, sizeof rubbish / 2));
    close(fd);
    write_all("again.gsd", 90, 100, 10);
    same_files("whole.gsd", "again.gsd");
    /* data of the last frames, of which the index knows, did not get to the disk */
    assert_int_equal(ergo_file_update(ctx, &folder, "again.gsd", &fd, &size), ERGO_OK);
    assert_true(ergo_file_write_at(fd, size - 60, rubbish, 60));
    close(fd);
    write_all("again.gsd", 90, 100, 10);
    same_files("whole.gsd", "again.gsd");
}

/* Other steps from 200 on: what was there is gone. */
static void another_course(void **state) {
    (void)state;
    unlinkat(folder.fd, "whole.gsd", 0);
    unlinkat(folder.fd, "again.gsd", 0);
    write_all("again.gsd", 0, 1500, 10);
    write_all("again.gsd", 207, 1500, 15);
    write_all("whole.gsd", 0, 200, 10);
    write_all("whole.gsd", 200, 201, 10);
    write_all("whole.gsd", 207, 1500, 15);
    int fd;
    uint64_t size;
    uint8_t head[24], entry[32] = {0};
    assert_int_equal(ergo_file_update(ctx, &folder, "again.gsd", &fd, &size), ERGO_OK);
    assert_true(ergo_file_read_at(fd, 0, head, sizeof head));
    uint64_t index, entries, n = 0;
    memcpy(&index, head + 8, 8);
    memcpy(&entries, head + 16, 8);
    for (; n < entries; n++) {
        uint64_t location;
        assert_true(ergo_file_read_at(fd, index + 32 * n, entry, sizeof entry));
        memcpy(&location, entry + 16, 8);
        if (!location)
            break;
    }
    /* 8 chunks a frame: six of every frame, energy and box */
    assert_int_equal(n, 8 * 2 * (21 + (1500 - 207 + 14) / 15));
    for (; n < entries; n++) { /* and nothing behind */
        static const uint8_t zeros[32];
        assert_true(ergo_file_read_at(fd, index + 32 * n, entry, sizeof entry));
        assert_memory_equal(entry, zeros, sizeof zeros);
    }
    close(fd);
}

static void files_of_others(void **state) {
    static const char *const texts[] = {"", "not a trajectory", NULL};
    char *before, *after;
    size_t n, m;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        unlinkat(folder.fd, "other.gsd", 0);
        if (texts[i]) {
            assert_int_equal(ergo_file_write(ctx, &folder, "other.gsd", texts[i], strlen(texts[i])),
                             ERGO_OK);
        } else { /* cut in its index */
            write_all("other.gsd", 0, 20, 10);
            assert_int_equal(ergo_file_read(ctx, &folder, "other.gsd", 1 << 30, &before, &n),
                             ERGO_OK);
            assert_int_equal(ergo_file_write(ctx, &folder, "other.gsd", before, 4000), ERGO_OK);
            free(before);
        }
        assert_int_equal(ergo_file_read(ctx, &folder, "other.gsd", 1 << 30, &before, &n), ERGO_OK);
        assert_int_equal(write_one("other.gsd", 30), ERGO_E_IO);
        assert_non_null(strstr(ergo_error_message(ctx), "no trajectory of this run"));
        assert_int_equal(ergo_file_read(ctx, &folder, "other.gsd", 1 << 30, &after, &m), ERGO_OK);
        assert_int_equal(n, m);
        assert_memory_equal(before, after, n);
        free(before);
        free(after);
    }
}

/* The index may be anybody's. An entry of the frames that come again: they are written anew. One of
 * the frame before these: refused, and nothing is written, where it is no place for a chunk. */
static void forged_entries(void **state) {
    static const struct {
        unsigned at, bytes; /* of an entry */
        uint64_t value;
    } forged[] = {{30, 1, 10},         {30, 1, 0},         {8, 8, UINT64_MAX},  {8, 8, 0},
                  {24, 4, UINT32_MAX}, {24, 4, 0},         {16, 8, UINT64_MAX}, {16, 8, 1u << 30},
                  {16, 8, 64},         {16, 8, 1280 + 40}, {8, 8, 1ull << 61},  {0, 8, 77}};
    (void)state;
    unlinkat(folder.fd, "whole.gsd", 0);
    write_all("whole.gsd", 0, 50, 10);
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++)
        for (unsigned before = 0; before < 2; before++)
            for (unsigned chunk = 1; chunk < 16; chunk += 4) { /* of 16 of both frames */
                const uint64_t entry = 1280 + 32 * (before ? 72 + chunk % 8 : 64 + chunk);
                int fd;
                uint64_t size;
                copy_file("whole.gsd", "again.gsd");
                assert_int_equal(ergo_file_update(ctx, &folder, "again.gsd", &fd, &size), ERGO_OK);
                assert_true(ergo_file_write_at(fd, entry + forged[i].at, &forged[i].value,
                                               forged[i].bytes));
                close(fd);
                copy_file("again.gsd", "other.gsd");
                const enum ergo_status status = write_one("again.gsd", before ? 50 : 40);
                if (before && forged[i].at == 30) { /* it may be in the file as well */
                    assert_true(status == ERGO_OK || status == ERGO_E_IO);
                } else if (before) {
                    assert_int_equal(status, ERGO_E_IO);
                    same_files("other.gsd", "again.gsd");
                } else {
                    assert_int_equal(status, ERGO_OK);
                    same_files("whole.gsd", "again.gsd");
                }
            }
}

/* A file with another name, too, may be anywhere. */
static void another_name(void **state) {
    (void)state;
    unlinkat(folder.fd, "other.gsd", 0);
    copy_file("whole.gsd", "again.gsd");
    assert_int_equal(linkat(folder.fd, "again.gsd", folder.fd, "other.gsd", 0), 0);
    assert_int_equal(write_one("other.gsd", 60), ERGO_E_IO);
    same_files("whole.gsd", "again.gsd");
    unlinkat(folder.fd, "other.gsd", 0);
}

/* Types by name, in the order of line 2, whatever the order of the particles; a frame without
 * particles. The bytes of the chunk are in the file as they are. */
static void types_of_particles(void **state) {
    (void)state;
    static const char head[] = "Lattice=\"5 0 0 0 6 0 0 0 7\" Properties=species:S:1:pos:R:3 "
                               "pbc=\"T T T\" step=3 types=\"Ar Kr Xe\"\n";
    static const uint32_t types[4] = {2, 0, 2, 1};
    struct ergo_text text = {0};
    char *data;
    size_t n, found = 0;
    unlinkat(folder.fd, "whole.gsd", 0);
    ergo_text_append(&text, "4\n%sXe 1 1 1\nAr 2 2 2\nXe 3 3 3\nKr 4 4 4\n0\n%s", head, head);
    assert_int_equal(ergo_gsd_write(ctx, &folder, "whole.gsd", 3, text.data, text.length), ERGO_OK);
    ergo_text_free(&text);
    assert_int_equal(ergo_file_read(ctx, &folder, "whole.gsd", 1 << 30, &data, &n), ERGO_OK);
    for (size_t i = 0; i + sizeof types <= n; i++)
        found += memcmp(data + i, types, sizeof types) == 0;
    assert_true(found == 1);
    free(data);
    unlinkat(folder.fd, "whole.gsd", 0);
}

static int open_folder(void **state) {
    return context_open(state) || !mkdtemp(path) || ergo_folder_open(ctx, path, &folder) != ERGO_OK;
}

static int close_folder(void **state) {
    static const char *const names[] = {"whole.gsd", "again.gsd", "other.gsd"};
    for (size_t i = 0; i < 3; i++)
        unlinkat(folder.fd, names[i], 0);
    ergo_folder_close(&folder);
    rmdir(path);
    return context_close(state);
}

/* What is written is a start: the first frame, with its box, places and types. Cut anywhere, or
 * with other bytes in its head and index, it is refused or read, never beyond its end. */
static void a_frame_is_read(void **state) {
    static const char text[] = "3\nLattice=\"5 0 0 0 6 0 0 0 7\" Properties=species:S:1:pos:R:3 "
                               "types=\"He Ar\"\nAr 0.25 1 2\nHe 4.5 5 6.125\nAr 3 3 3\n";
    static const double places[9] = {0.25, 1, 2, 4.5, 5, 6.125, 3, 3, 3};
    struct ergo_xyz frame;
    char *data = NULL;
    size_t n = 0, read = 0;
    (void)state;
    assert_int_equal(ergo_gsd_write(ctx, &folder, "start.gsd", 5, text, strlen(text)), ERGO_OK);
    assert_int_equal(ergo_file_read(ctx, &folder, "start.gsd", 1 << 30, &data, &n), ERGO_OK);
    assert_int_equal(ergo_xyz_parse(ctx, "s", data, n, &frame), ERGO_OK);
    assert_true(frame.n == 3 && frame.has_lattice && frame.n_species == 2);
    assert_true(frame.lattice[0] == 5 && frame.lattice[4] == 6 && frame.lattice[8] == 7);
    assert_true(frame.rounding > 0 && frame.rounding < 1e-6);
    for (size_t i = 0; i < 9; i++)
        assert_true(frame.positions[i] == places[i]); /* these are whole in fp32 */
    assert_string_equal(frame.names[frame.species[0]], "Ar");
    assert_string_equal(frame.names[frame.species[1]], "He");
    ergo_xyz_free(&frame);
    for (size_t cut = 0; cut < n; cut += cut < 1400 ? 7 : 97) {
        char *less = malloc(cut + 1);
        memcpy(less, data, cut);
        less[cut ? cut - 1 : 0] ^= 0x55;
        if (ergo_xyz_parse(ctx, "s", less, cut, &frame) == ERGO_OK)
            read++;
        ergo_xyz_free(&frame);
        ergo_error_clear(ctx);
        free(less);
        data[cut] ^= 0x15;
        if (ergo_xyz_parse(ctx, "s", data, n, &frame) == ERGO_OK)
            ergo_xyz_free(&frame);
        ergo_error_clear(ctx);
        data[cut] ^= 0x15;
    }
    free(data);
    unlinkat(folder.fd, "start.gsd", 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_come_again),  cmocka_unit_test(half_a_frame),
        cmocka_unit_test(another_course),     cmocka_unit_test(files_of_others),
        cmocka_unit_test(forged_entries),     cmocka_unit_test(another_name),
        cmocka_unit_test(types_of_particles), cmocka_unit_test(a_frame_is_read),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
