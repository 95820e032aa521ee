/*
 * The run folder: taken at the start, cleared once the new run is sure to begin, given back when it
 * never did. A run's files have fixed names; no other file is touched.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dist/dist.h"
#include "run/run.h"

static const char *const files[] = {ERGO_CHECKPOINT, ERGO_CHECKPOINT "-#-#", "result.json",
                                    "series.h5", "report.html", "configurations.png",
                                    /* of earlier versions */
                                    ERGO_CHECKPOINT_OLD, "checkpoint-#-#.h5"};
/* # stands for digits */
static const char *const snapshots[] = {"point-#-step-#.png", "p#-#.xyz", "p#-#.vti"};
static const char *const frames[] = {"p#-#.xyz", "p#-#.vti"};
static const char *const blocks[] = {"p#.dat"};

/* What follows the pattern in `text`, or NULL when it does not begin with it. */
static const char *match(const char *text, const char *pattern) {
    for (; *pattern; pattern++) {
        if (*pattern != '#') {
            if (*text++ != *pattern)
                return NULL;
            continue;
        }
        if (!isdigit((unsigned char)*text))
            return NULL;
        while (isdigit((unsigned char)*text))
            text++;
    }
    return text;
}

/* Our own process has written nothing here yet: in a container the one that was killed may well
 * have had our number. */
static bool is_dead(long pid) {
    return pid == (long)getpid() || (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH);
}

/* Whether to remove NAME; NAME.tmp-PID-N is what ergo_file_write leaves when it is killed. */
static bool is_old(const char *name, const char *pattern, bool all) {
    const char *rest = match(name, pattern);
    if (!rest)
        return false;
    if (!*rest)
        return all;
    const char *end = match(rest, ".tmp-#-#");
    return end && !*end && is_dead(strtol(rest + strlen(".tmp-"), NULL, 10));
}

static void clear(const char *folder, const char *const *patterns, size_t n, bool all) {
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    while (entries && (entry = readdir(entries)) != NULL)
        for (size_t i = 0; i < n; i++)
            if (patterns[i] && is_old(entry->d_name, patterns[i], all))
                unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
}

static bool exists(const char *folder, const char *name) {
    char *path = ergo_path_join(folder, name);
    const bool there = path && access(path, F_OK) == 0;
    free(path);
    return there;
}

static bool holds_run(const struct ergo_run *run) {
    return exists(run->folder, ERGO_CHECKPOINT) || exists(run->folder, ERGO_CHECKPOINT_OLD) ||
           exists(run->folder, "result.json");
}

static atomic_bool has_checkpoint; /* of the process's latest run */

bool ergo_run_has_checkpoint(void) {
    return has_checkpoint;
}

enum ergo_status ergo_run_take_folder(struct ergo_run *run) {
    has_checkpoint = false;
    run->made_folder = access(run->folder, F_OK) != 0;
    enum ergo_status status = ergo_folder_create(run->ctx, run->folder);
    if (status == ERGO_OK)
        status = ergo_folder_lock(run->ctx, run->folder, &run->lock);
    if (status == ERGO_OK && holds_run(run) && !run->options->overwrite)
        status = ERGO_FAIL(run->ctx, ERGO_E_JOB,
                           "the folder %s holds an earlier run: continue it with `ergocl resume "
                           "%s`, replace it with --overwrite, or choose another folder with -o",
                           run->folder, run->folder);
    return status;
}

enum ergo_status ergo_run_hold_folder(struct ergo_run *run) {
    struct stat ours, there;
    int lock = -1;
    if (run->lock < 0)
        return ERGO_OK;
    char *path = ergo_path_join(run->folder, "lock");
    if (!path || fstat(run->lock, &ours) != 0)
        memset(&ours, 0, sizeof ours);
    const bool gone = path && stat(path, &there) != 0 && errno == ENOENT;
    const bool same = path && !gone && ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
    free(path);
    if (same)
        return ERGO_OK;
    if (!gone)
        return ERGO_FAIL(run->ctx, ERGO_E_IO,
                         "the folder %s was taken away, and another run works or has worked in one "
                         "of that name: nothing is written there",
                         run->folder);
    enum ergo_status status = ergo_folder_create(run->ctx, run->folder);
    if (status == ERGO_OK)
        status = ergo_folder_lock(run->ctx, run->folder, &lock);
    if (status != ERGO_OK)
        return status;
    ergo_log(run->ctx, ERGO_LOG_WARNING, "the folder %s was taken away, and is made again",
             run->folder);
    close(run->lock);
    run->lock = lock;
    return ERGO_OK;
}

static void clear_inside(const struct ergo_run *run, const char *name, const char *const *patterns,
                         size_t n, bool all) {
    char *folder = ergo_path_join(run->folder, name);
    if (folder) {
        clear(folder, patterns, n, all);
        if (all)
            rmdir(folder); /* unless something else is in it */
    }
    free(folder);
}

/* What killed processes left half-written; all: every file of the run. */
static void clear_folder(const struct ergo_run *run, bool all) {
    clear(run->folder, files, sizeof files / sizeof files[0], all);
    clear_inside(run, "snapshots", snapshots, sizeof snapshots / sizeof snapshots[0], all);
    clear_inside(run, "trajectory", frames, sizeof frames / sizeof frames[0], all);
    clear_inside(run, "blocks", blocks, sizeof blocks / sizeof blocks[0], all);
}

enum ergo_status ergo_run_begin(struct ergo_run *run) {
    if (ergo_ranks_rank() > 0) { /* the folder is rank 0's */
        run->begun = true;
        return ERGO_OK;
    }
    clear_folder(run, holds_run(run));
    const enum ergo_status status = ergo_run_save(run);
    has_checkpoint = run->begun = status == ERGO_OK;
    return status;
}

void ergo_run_continue(struct ergo_run *run) {
    clear_folder(run, false);
    has_checkpoint = run->begun = true;
}

void ergo_run_leave_folder(struct ergo_run *run) {
    if (run->begun || !run->made_folder)
        return;
    char *lock = ergo_path_join(run->folder, "lock");
    if (lock && run->lock >= 0) /* without it the folder may by now be that of another process */
        unlink(lock);
    free(lock);
    rmdir(run->folder); /* unless something is in it */
}
