/*
 * The run folder. It is locked at the start. Files of an earlier run are removed when the new run
 * has its first checkpoint; a new folder is removed again if the run never gets one. A run's files
 * have fixed names; no other file is touched.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dist/dist.h"
#include "job/schedule.h"
#include "result/checkpoint.h"
#include "result/configurations.h"
#include "run/session.h"

/* patterns: # stands for digits */
static const char of_rank[] = ERGO_CHECKPOINT "-#-#";
static const char *const files[] = {ERGO_CHECKPOINT, of_rank, "result.json", "series.h5",
                                    "report.html", "configurations.png", ERGO_CONFIGURATIONS,
                                    /* checkpoints of earlier versions */
                                    ERGO_CHECKPOINT_OLD, "checkpoint-#-#.h5"};
static const char *const snapshots[] = {"point-#-step-#.png", "p#-#.xyz", "p#-#.vti", "p#-#.txt"};
static const char *const frames[] = {"p#-#.xyz", "p#-#.vti", "p#-#.txt", "p#.txt", "p#.gsd"};
static const char *const states[] = {"p#.txt"};
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

/* Is the process that wrote a temporary file gone? A file with our own number counts as such: we
 * have written nothing yet, and in a container the killed process often had the same number. */
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

/* Does the job take a snapshot of that point and step? */
static bool is_snapshot(const struct ergo_job *job, const char *name) {
    static const char digits[] = "0123456789";
    char *end = NULL;
    const uint64_t point = strtoull(name + strcspn(name, digits), &end, 10);
    const uint64_t step = strtoull(end + strcspn(end, digits), NULL, 10);
    if (point >= job->n_points)
        return false;
    const struct ergo_schedule s = ergo_schedule_of(&job->points[point]);
    return ergo_schedule_has_snapshot(&s, (size_t)job->points[point].parameters->snapshots.integer,
                                      step);
}

/* The entries of a folder; NULL: it cannot be read. */
static DIR *list(int folder, const char *name) {
    const int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : ergo_memory_got(fdopendir(fd));
    if (fd >= 0 && !entries)
        close(fd);
    return entries;
}

/* Removes files of a pattern; those of the job's own snapshots stay (NULL: none), and names that
 * begin with `own`. */
static void clear(int folder, const char *name, const char *const *patterns, size_t n, bool all,
                  const char *own, const struct ergo_job *job) {
    DIR *entries = list(folder, name);
    const struct dirent *entry;
    while (entries && (entry = readdir(entries)) != NULL)
        for (size_t i = 0; i < n; i++)
            if (is_old(entry->d_name, patterns[i],
                       all && !(own && strncmp(entry->d_name, own, strlen(own)) == 0) &&
                           !(job && is_snapshot(job, entry->d_name))))
                unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
}

/* Folders of a run folder. */
static const struct {
    const char *name;
    const char *const *patterns;
    size_t n;
} rooms[] = {{"snapshots", snapshots, sizeof snapshots / sizeof snapshots[0]},
             {"trajectory", frames, sizeof frames / sizeof frames[0]},
             {"states", states, sizeof states / sizeof states[0]},
             {"blocks", blocks, sizeof blocks / sizeof blocks[0]}};
enum { ROOMS = sizeof rooms / sizeof rooms[0] };

/* Removes what killed processes left half-written. all: every file of the earlier run, except the
 * checkpoint and this run's files of ranks. */
static void clear_folder(const struct ergo_session *session, bool all, const char *own) {
    const int folder = session->folder.fd;
    clear(folder, ".", files, 1, false, NULL, NULL);
    clear(folder, ".", files + 1, sizeof files / sizeof files[0] - 1, all, own, NULL);
    for (size_t i = 0; i < ROOMS; i++) {
        clear(folder, rooms[i].name, rooms[i].patterns, rooms[i].n, all, NULL, NULL);
        if (all)
            unlinkat(folder, rooms[i].name, AT_REMOVEDIR); /* unless something else is in it */
    }
}

static bool holds_run(const struct ergo_session *session) {
    return ergo_folder_has(&session->folder, ERGO_CHECKPOINT) ||
           ergo_folder_has(&session->folder, ERGO_CHECKPOINT_OLD) ||
           ergo_folder_has(&session->folder, "result.json");
}

static atomic_bool has_checkpoint; /* whether this process's latest run has a checkpoint */

bool ergo_run_has_checkpoint(void) {
    return has_checkpoint;
}

enum ergo_status ergo_session_lock_folder(struct ergo_session *session) {
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < ROOMS && status == ERGO_OK; i++)
        status = ergo_folder_check(session->ctx, &session->folder, rooms[i].name);
    return status == ERGO_OK ? ergo_folder_lock(session->ctx, &session->folder, &session->lock)
                             : status;
}

enum ergo_status ergo_session_take_folder(struct ergo_session *session, const char *path) {
    has_checkpoint = false;
    session->made_folder = access(path, F_OK) != 0;
    enum ergo_status status = ergo_folder_create(session->ctx, path);
    if (status == ERGO_OK)
        status = ergo_folder_open(session->ctx, path, &session->folder);
    if (status == ERGO_OK)
        status = ergo_session_lock_folder(session);
    session->replaces = status == ERGO_OK && holds_run(session);
    return status;
}

/* Other ranks have no lock. Rank 0 may have made the folder again, so they open it again by its
 * name. */
static enum ergo_status open_again(struct ergo_session *session) {
    struct ergo_folder now;
    const enum ergo_status status = ergo_folder_open(session->ctx, session->folder.path, &now);
    if (status != ERGO_OK) {
        ergo_folder_close(&now);
        return status;
    }
    ergo_folder_close(&session->folder);
    session->folder = now;
    return ERGO_OK;
}

enum ergo_status ergo_session_hold_folder(struct ergo_session *session) {
    struct stat ours, there = {0};
    if (session->lock < 0)
        return open_again(session);
    const int fd = ergo_folder_descriptor(AT_FDCWD, session->folder.path, 0);
    const bool gone =
        (fd < 0 || fstatat(fd, "lock", &there, AT_SYMLINK_NOFOLLOW) != 0) && errno == ENOENT;
    const bool same = fd >= 0 && !gone && fstat(session->lock, &ours) == 0 &&
                      ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
    if (fd >= 0)
        close(fd);
    if (same)
        return ERGO_OK;
    if (!gone)
        return ERGO_FAIL(session->ctx, ERGO_E_IO,
                         "the folder %s was removed, and its name now belongs to another run: "
                         "nothing is written there",
                         session->folder.path);
    struct ergo_session again = {.ctx = session->ctx, .folder = {.fd = -1}, .lock = -1};
    enum ergo_status status = ergo_folder_create(session->ctx, session->folder.path);
    if (status == ERGO_OK)
        status = ergo_folder_open(session->ctx, session->folder.path, &again.folder);
    if (status == ERGO_OK)
        status = ergo_session_lock_folder(&again);
    if (status != ERGO_OK) {
        ergo_folder_close(&again.folder);
        return status;
    }
    ergo_log(session->ctx, ERGO_LOG_WARNING, "the folder %s was removed, and is made again",
             session->folder.path);
    close(session->lock);
    session->lock = again.lock;
    ergo_folder_close(&session->folder);
    session->folder = again.folder;
    return ERGO_OK;
}

void ergo_session_stands(struct ergo_session *session, const char *own) {
    if (ergo_ranks_rank() == 0) /* the folder is its */
        clear_folder(session, session->replaces, own);
    has_checkpoint = session->begun = true;
}

void ergo_session_continue(struct ergo_session *session, bool fresh) {
    /* Results without any step: they are what a kill left of an earlier run. */
    session->replaces = fresh && ergo_folder_has(&session->folder, "result.json");
    ergo_session_stands(session, NULL);
}

void ergo_session_forget_files(struct ergo_session *session, const struct ergo_job *job) {
    const int folder = session->folder.fd;
    clear(folder, "blocks", blocks, sizeof blocks / sizeof *blocks, true, NULL, NULL);
    clear(folder, "snapshots", snapshots, sizeof snapshots / sizeof *snapshots, true, NULL,
          session->renumbers ? NULL : job);
    if (session->renumbers)
        clear(folder, "states", states, sizeof states / sizeof *states, true, NULL, NULL);
}

static enum ergo_status copy_file(struct ergo_context *ctx, const struct ergo_folder *from,
                                  const struct ergo_folder *to, const char *name) {
    char *data = NULL;
    size_t length = 0;
    enum ergo_status status = ergo_file_read(ctx, from, name, SIZE_MAX - 1, &data, &length);
    if (status == ERGO_OK)
        status = ergo_file_write(ctx, to, name, data, length);
    free(data);
    return status;
}

/* Files of one room, of the patterns of configurations. */
static enum ergo_status copy_room(struct ergo_session *session, const struct ergo_folder *outer,
                                  const char *name) {
    struct ergo_folder from = {.fd = -1}, to = {.fd = -1};
    enum ergo_status status = ergo_folder_inner(session->ctx, outer, name, &from);
    DIR *entries = status == ERGO_OK ? list(outer->fd, name) : NULL;
    const struct dirent *entry;
    while (status == ERGO_OK && entries && (entry = readdir(entries)) != NULL) {
        bool wanted = false;
        for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
            const char *rest = match(entry->d_name, frames[i]);
            wanted = wanted || (rest && !*rest);
        }
        if (!wanted)
            continue;
        if (to.fd < 0)
            status = ergo_folder_inner(session->ctx, &session->folder, name, &to);
        if (status == ERGO_OK)
            status = copy_file(session->ctx, &from, &to, entry->d_name);
    }
    if (entries)
        closedir(entries);
    ergo_folder_close(&from);
    ergo_folder_close(&to);
    return status;
}

enum ergo_status ergo_session_copy_frames(struct ergo_session *session,
                                          const struct ergo_folder *from) {
    static const char *const names[] = {"snapshots", "trajectory", "states"};
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names && status == ERGO_OK; i++)
        if (ergo_folder_has(from, names[i]))
            status = copy_room(session, from, names[i]);
    return status;
}

uint64_t ergo_session_generation(const struct ergo_session *session) {
    DIR *entries = list(session->folder.fd, ".");
    const struct dirent *entry;
    uint64_t next = 0;
    while (entries && (entry = readdir(entries)) != NULL) {
        if (!match(entry->d_name, of_rank))
            continue;
        const uint64_t number = strtoull(entry->d_name + strlen("checkpoint-"), NULL, 10);
        next = number >= next && number < UINT64_MAX ? number + 1 : next;
    }
    if (entries)
        closedir(entries);
    return next;
}

void ergo_session_leave_folder(struct ergo_session *session) {
    if (session->begun || !session->made_folder || !session->folder.path)
        return;
    if (session->lock >= 0) /* without it the folder may by now be that of another process */
        unlinkat(session->folder.fd, "lock", 0);
    rmdir(session->folder.path); /* unless something is in it */
}

void ergo_session_close(struct ergo_session *session) {
    ergo_eta_free(&session->eta);
    if (session->lock >= 0)
        close(session->lock);
    ergo_folder_close(&session->folder);
}
