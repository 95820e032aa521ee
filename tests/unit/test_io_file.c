/* Files: whole or not at all, and messages that name the file and the reason. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

struct fixture {
    struct ergo_context *ctx;
    char folder[64];
    char path[96];
    struct ergo_folder opened; /* folder */
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    if (!f)
        return -1;
    f->ctx = ergo_context_create();
    snprintf(f->folder, sizeof f->folder, "/tmp/ergo-test-XXXXXX");
    if (!f->ctx || !mkdtemp(f->folder) ||
        ergo_folder_open(f->ctx, f->folder, &f->opened) != ERGO_OK)
        return -1;
    snprintf(f->path, sizeof f->path, "%s/file", f->folder);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    ergo_folder_close(&f->opened);
    int result = system(command);
    ergo_context_destroy(f->ctx);
    free(f);
    return result;
}

static int count_entries(const char *folder) {
    int count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));)
        count += e->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void expect_content(struct fixture *f, const char *expected) {
    char *data;
    size_t length;
    assert_int_equal(ergo_file_read(f->ctx, NULL, f->path, 1 << 20, &data, &length), ERGO_OK);
    assert_int_equal(length, strlen(expected));
    assert_string_equal(data, expected); /* a terminating zero is promised */
    free(data);
}

static void write_replaces_and_reads_back(void **state) {
    struct fixture *f = *state;
    assert_int_equal(ergo_file_write(f->ctx, NULL, f->path, "old", 3), ERGO_OK);
    expect_content(f, "old");
    assert_int_equal(ergo_file_write(f->ctx, NULL, f->path, "newer", 5), ERGO_OK);
    expect_content(f, "newer");
    assert_int_equal(ergo_file_write(f->ctx, NULL, f->path, NULL, 0), ERGO_OK);
    expect_content(f, "");
    assert_int_equal(count_entries(f->folder), 1);
}

static void full_disk_leaves_the_old_file(void **state) {
    struct fixture *f = *state;
    enum { LARGE = 1 << 20 };
    char *large = calloc(1, LARGE);
    struct rlimit before, small;
    assert_non_null(large);
    assert_int_equal(ergo_file_write(f->ctx, NULL, f->path, "old", 3), ERGO_OK);
    /* A limit on file size stops write() half way, as a full disk does. */
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 4096;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum ergo_status status = ergo_file_write(f->ctx, NULL, f->path, large, LARGE);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    free(large);
    assert_int_equal(status, ERGO_E_IO);
    assert_non_null(strstr(ergo_error_message(f->ctx), f->path));
    assert_non_null(strstr(ergo_error_message(f->ctx), "File too large"));
    expect_content(f, "old");
    assert_int_equal(count_entries(f->folder), 1); /* no temporary left */
}

static void unwritable_targets_are_refused(void **state) {
    struct fixture *f = *state;
    char path[128];
    /* as root a rename would replace the device */
    assert_int_equal(ergo_file_write(f->ctx, NULL, "/dev/full", "x", 1), ERGO_E_IO);
    assert_non_null(strstr(ergo_error_message(f->ctx), "/dev/full"));
    struct stat info;
    assert_int_equal(stat("/dev/full", &info), 0);
    assert_true(S_ISCHR(info.st_mode));

    ergo_error_clear(f->ctx);
    snprintf(path, sizeof path, "%s/absent/file", f->folder);
    assert_int_equal(ergo_file_write(f->ctx, NULL, path, "x", 1), ERGO_E_IO);
    assert_non_null(strstr(ergo_error_message(f->ctx), "No such file or directory"));

    if (geteuid() == 0)
        return; /* root writes into read-only folders */
    ergo_error_clear(f->ctx);
    assert_int_equal(chmod(f->folder, 0500), 0);
    assert_int_equal(ergo_file_write(f->ctx, NULL, f->path, "x", 1), ERGO_E_IO);
    assert_non_null(strstr(ergo_error_message(f->ctx), "Permission denied"));
    assert_int_equal(chmod(f->folder, 0700), 0);
}

static void expect_text(const char *path, const char *expected) {
    char text[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    if (!fgets(text, sizeof text, file))
        text[0] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
}

/* What the user names may be a link, as for cp; dots and slashes in it are no matter. */
static void links_of_the_user_are_followed(void **state) {
    struct fixture *f = *state;
    char target[128], link[128], nowhere[128];
    struct stat info;
    snprintf(target, sizeof target, "%s/target", f->folder);
    snprintf(link, sizeof link, "%s/link", f->folder);
    snprintf(nowhere, sizeof nowhere, "%s/nowhere", f->folder);
    assert_int_equal(ergo_file_write(f->ctx, NULL, target, "old", 3), ERGO_OK);
    assert_int_equal(symlink("target", link), 0);
    assert_int_equal(ergo_file_write(f->ctx, NULL, link, "new", 3), ERGO_OK);
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    expect_text(target, "new");
    assert_int_equal(symlink("absent", nowhere), 0);
    assert_int_equal(ergo_file_write(f->ctx, NULL, nowhere, "x", 1), ERGO_E_IO);
    assert_non_null(strstr(ergo_error_message(f->ctx), "a link that leads nowhere"));
    assert_int_equal(ergo_file_write(f->ctx, NULL, f->folder, "x", 1), ERGO_E_IO);
    assert_non_null(strstr(ergo_error_message(f->ctx), "it is a folder"));
}

/* A pipe, as standard output is one, is written to and stays what it is. */
static void special_files_are_written_to(void **state) {
    struct fixture *f = *state;
    char path[128], got[16] = "";
    int ends[2];
    struct stat info;
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "%s/out", f->folder);
    snprintf(got, sizeof got, "/dev/fd/%d", ends[1]);
    assert_int_equal(symlink(got, path), 0);
    memset(got, 0, sizeof got);
    assert_int_equal(ergo_file_write(f->ctx, NULL, path, "a page", 6), ERGO_OK);
    assert_int_equal(read(ends[0], got, sizeof got - 1), 6);
    assert_string_equal(got, "a page");
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(ergo_file_write(f->ctx, NULL, "/dev/null", "x", 1), ERGO_OK);
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    close(ends[0]);
    close(ends[1]);
}

/* What stands in a run folder under a name is replaced, or refused, and never followed. */
static void links_in_a_folder_lead_nowhere(void **state) {
    struct fixture *f = *state;
    char outside[96], link[128], *data;
    size_t length;
    struct stat info;
    struct ergo_folder inner;
    int lock;
    snprintf(outside, sizeof outside, "%s-outside", f->folder);
    snprintf(link, sizeof link, "%s/result.json", f->folder);
    assert_int_equal(ergo_file_write(f->ctx, NULL, outside, "mine", 4), ERGO_OK);
    assert_int_equal(symlink(outside, link), 0);
    assert_int_equal(ergo_file_read(f->ctx, &f->opened, "result.json", 100, &data, &length),
                     ERGO_E_IO);
    assert_non_null(strstr(ergo_error_message(f->ctx), "symbolic link"));
    assert_int_equal(ergo_file_write(f->ctx, &f->opened, "result.json", "run's", 5), ERGO_OK);
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISREG(info.st_mode));
    expect_text(outside, "mine");

    static const char *const names[] = {"snapshots", "lock"};
    for (size_t i = 0; i < 2; i++) {
        ergo_error_clear(f->ctx);
        snprintf(link, sizeof link, "%s/%s", f->folder, names[i]);
        assert_int_equal(symlink(i ? outside : "/tmp", link), 0);
        const enum ergo_status status = i ? ergo_folder_lock(f->ctx, &f->opened, &lock)
                                          : ergo_folder_inner(f->ctx, &f->opened, names[i], &inner);
        assert_int_equal(status, ERGO_E_IO);
        assert_non_null(strstr(ergo_error_message(f->ctx), link));
        assert_non_null(strstr(ergo_error_message(f->ctx), "symbolic link"));
        assert_int_equal(unlink(link), 0);
        if (!i)
            ergo_folder_close(&inner);
    }
    /* another name of a file elsewhere can be locked, and is not written to */
    snprintf(link, sizeof link, "%s/lock", f->folder);
    assert_int_equal(linkat(AT_FDCWD, outside, AT_FDCWD, link, 0), 0);
    assert_int_equal(ergo_folder_lock(f->ctx, &f->opened, &lock), ERGO_OK);
    close(lock);
    expect_text(outside, "mine");
    assert_int_equal(unlink(outside), 0);
}

/* A named pipe is not waited for. */
static void pipes_in_a_folder_are_refused(void **state) {
    struct fixture *f = *state;
    char path[128], *data;
    size_t length;
    int lock;
    alarm(10);
    snprintf(path, sizeof path, "%s/lock", f->folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(ergo_folder_lock(f->ctx, &f->opened, &lock), ERGO_E_IO);
    assert_non_null(strstr(ergo_error_message(f->ctx), "not a regular file"));
    assert_int_equal(ergo_file_read(f->ctx, &f->opened, "lock", 100, &data, &length), ERGO_E_IO);
    alarm(0);
}

static void reading_says_what_is_wrong(void **state) {
    struct fixture *f = *state;
    char *data;
    size_t length;
    assert_int_equal(ergo_file_read(f->ctx, NULL, f->path, 100, &data, &length), ERGO_E_IO);
    assert_null(data);
    assert_non_null(strstr(ergo_error_message(f->ctx), f->path));
    ergo_error_clear(f->ctx);
    assert_int_equal(ergo_file_read(f->ctx, NULL, f->folder, 100, &data, &length), ERGO_E_IO);
    assert_non_null(strstr(ergo_error_message(f->ctx), "a folder"));
    assert_int_equal(ergo_file_write(f->ctx, NULL, f->path, "12345", 5), ERGO_OK);
    assert_int_equal(ergo_file_read(f->ctx, NULL, f->path, 4, &data, &length), ERGO_E_IO);
    assert_int_equal(ergo_file_read(f->ctx, NULL, f->path, 5, &data, &length), ERGO_OK);
    free(data);
    /* files of /proc say they are empty */
    assert_int_equal(ergo_file_read(f->ctx, NULL, "/proc/self/status", 1 << 20, &data, &length),
                     ERGO_OK);
    assert_true(length > 100 && strlen(data) == length);
    free(data);
    assert_int_equal(ergo_file_read(f->ctx, NULL, "/proc/self/status", 10, &data, &length),
                     ERGO_E_IO);
}

static void folders_are_made_with_their_parents(void **state) {
    struct fixture *f = *state;
    char path[160];
    struct stat info;
    snprintf(path, sizeof path, "%s/a//b/c/", f->folder);
    assert_int_equal(ergo_folder_create(f->ctx, path), ERGO_OK);
    assert_int_equal(ergo_folder_create(f->ctx, path), ERGO_OK);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(ergo_folder_create(f->ctx, "/"), ERGO_OK);
    assert_int_equal(ergo_file_write(f->ctx, NULL, f->path, "x", 1), ERGO_OK);
    snprintf(path, sizeof path, "%s/file/below", f->folder);
    assert_int_equal(ergo_folder_create(f->ctx, path), ERGO_E_IO);
    assert_non_null(strstr(ergo_error_message(f->ctx), "in the way"));
    assert_int_equal(ergo_folder_create(f->ctx, ""), ERGO_E_IO);
}

static void paths_join(void **state) {
    (void)state;
    const char *const cases[][3] = {
        {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"/", "b", "/b"}, {"", "b", "b"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = ergo_path_join(cases[i][0], cases[i][1]);
        assert_string_equal(path, cases[i][2]);
        free(path);
    }
}

static void a_folder_is_locked_once(void **state) {
    struct fixture *f = *state;
    int first, second;
    char owner[64];
    assert_int_equal(ergo_folder_lock(f->ctx, &f->opened, &first), ERGO_OK);
    assert_int_equal(ergo_folder_lock(f->ctx, &f->opened, &second), ERGO_E_IO);
    assert_int_equal(second, -1);
    snprintf(owner, sizeof owner, "process %ld", (long)getpid());
    assert_non_null(strstr(ergo_error_message(f->ctx), "another ergocl"));
    assert_non_null(strstr(ergo_error_message(f->ctx), owner));
    close(first);
    assert_int_equal(ergo_folder_lock(f->ctx, &f->opened, &second), ERGO_OK);
    close(second);
}

/* A killed run whose driver had just forked: the child holds the lock for a moment longer. */
static void a_lock_is_waited_for(void **state) {
    struct fixture *f = *state;
    int lock, code = 0;
    const pid_t owner = fork();
    if (owner == 0) {
        if (ergo_folder_lock(f->ctx, &f->opened, &lock) != ERGO_OK)
            _exit(1);
        if (fork() == 0)
            usleep(300000);
        _exit(0);
    }
    assert_true(owner > 0);
    assert_int_equal(waitpid(owner, &code, 0), owner);
    assert_int_equal(code, 0);
    if (ergo_folder_lock(f->ctx, &f->opened, &lock) != ERGO_OK)
        fail_msg("%s", ergo_error_message(f->ctx));
    close(lock);
}

static void messages_hold_nothing_for_terminals(void **state) {
    struct fixture *f = *state;
    char *data = NULL;
    size_t length = 0;
    const char *name = "/nowhere/\x1b[31m\a\tred\x7f \xc2\x9b \xc3\xa9\n";
    assert_int_equal(ergo_file_read(f->ctx, NULL, name, 10, &data, &length), ERGO_E_IO);
    assert_non_null(strstr(ergo_error_message(f->ctx),
                           "/nowhere/\\u001B[31m\\u0007 red\\u007F \\u009B \xc3\xa9\n"));
    ergo_error_clear(f->ctx);
    assert_int_equal(ergo_file_read(f->ctx, NULL, "/nowhere/\xff \xc3", 10, &data, &length),
                     ERGO_E_IO);
    assert_non_null(strstr(ergo_error_message(f->ctx), "/nowhere/\\xFF \\xC3:"));
}

/* Whole characters, as many as fit; the length of all. */
static void shown_text_is_cut_between_characters(void **state) {
    static const char text[] = "a\xc3\xa9\x1b[\xed\xa0\x80\xf0\x9f\x98\x80\t\n";
    static const char whole[] = "a\xc3\xa9\\u001B[\\xED\\xA0\\x80\xf0\x9f\x98\x80 \n";
    char out[64];
    (void)state;
    assert_int_equal(ergo_message_show(NULL, 0, text), sizeof whole - 1);
    assert_int_equal(ergo_message_show(out, sizeof out, text), sizeof whole - 1);
    assert_string_equal(out, whole);
    for (size_t size = 1; size < sizeof whole; size++) {
        memset(out, 'x', sizeof out);
        assert_int_equal(ergo_message_show(out, size, text), sizeof whole - 1);
        assert_true(strlen(out) < size && strncmp(out, whole, strlen(out)) == 0);
        assert_int_equal(ergo_message_show(NULL, 0, out), strlen(out)); /* nothing is left to do */
    }
    assert_int_equal(ergo_message_show(out, sizeof out, NULL), 0);
    assert_string_equal(out, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(write_replaces_and_reads_back, setup, teardown),
        cmocka_unit_test_setup_teardown(full_disk_leaves_the_old_file, setup, teardown),
        cmocka_unit_test_setup_teardown(unwritable_targets_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(links_of_the_user_are_followed, setup, teardown),
        cmocka_unit_test_setup_teardown(special_files_are_written_to, setup, teardown),
        cmocka_unit_test_setup_teardown(links_in_a_folder_lead_nowhere, setup, teardown),
        cmocka_unit_test_setup_teardown(pipes_in_a_folder_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(reading_says_what_is_wrong, setup, teardown),
        cmocka_unit_test(shown_text_is_cut_between_characters),
        cmocka_unit_test_setup_teardown(messages_hold_nothing_for_terminals, setup, teardown),
        cmocka_unit_test_setup_teardown(folders_are_made_with_their_parents, setup, teardown),
        cmocka_unit_test(paths_join),
        cmocka_unit_test_setup_teardown(a_folder_is_locked_once, setup, teardown),
        cmocka_unit_test_setup_teardown(a_lock_is_waited_for, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
