/* Messages and the progress bar: everything on stderr. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

double cli_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool bar_is_drawn; /* one flag, as the process has one stderr */

static bool colours(void) {
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) && !(no && *no) && terminal && strcmp(terminal, "dumb") != 0;
}

static void wipe_bar(void) {
    if (bar_is_drawn)
        fputs("\r\033[K", stderr);
    bar_is_drawn = false;
}

/* Prints each line of `said` after the program's name and the kind of message. Words of the command
 * line and names of files are escaped: a terminal might obey them. */
static void print_lines(const char *kind, const char *colour, const char *said) {
    char some[1024]; /* when memory ran out */
    const size_t length_shown = ergo_message_show(NULL, 0, said);
    char *all = malloc(length_shown + 1), *text = all ? all : some;
    bool coloured = *kind && colours();
    ergo_message_show(text, all ? length_shown + 1 : sizeof some, said);
    wipe_bar();
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (length) /* build logs have empty lines */
            fprintf(stderr, "ergocl: %s%s%s%.*s\n", coloured ? colour : "", kind,
                    coloured ? "\033[0m" : "", (int)length, text);
        text += length;
        if (*text)
            text++;
    }
    free(all);
}

static void print_message(const char *kind, const char *colour, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text) {
        vsnprintf(text, (size_t)length + 1, format, again);
        print_lines(kind, colour, text);
        free(text);
    } else {
        char some[1024]; /* memory ran out */
        vsnprintf(some, sizeof some, format, again);
        print_lines(kind, colour, some);
    }
    va_end(again);
}

void cli_error(const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_message("error: ", "\033[1;31m", format, args);
    va_end(args);
}

void cli_note(const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_message("", "", format, args);
    va_end(args);
}

enum ergo_status cli_print(enum ergo_status status, char *text) {
    if (status == ERGO_OK)
        fputs(text, stdout);
    free(text);
    return status;
}

void cli_put(const char *text) {
    char shown[8192];
    ergo_message_show(shown, sizeof shown, text);
    fputs(shown, stdout);
}

void cli_log(void *user, enum ergo_log_level level, const char *message) {
    static const char *const kinds[] = {"error: ", "warning: ", "", "debug: "};
    static const char *const tints[] = {"\033[1;31m", "\033[1;33m", "", "\033[2m"};
    (void)user;
    print_lines(kinds[level], tints[level], message);
}

/* ---- progress ------------------------------------------------------------------------------- */

static unsigned terminal_width(void) {
    struct winsize size = {0};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    return size.ws_col;
}

/* "1:02:03", "4:05"; "" for times that are not known yet. */
static void format_time(double seconds, char *text, size_t size) {
    if (!isfinite(seconds) || seconds < 0 || seconds > 3.6e8) {
        snprintf(text, size, "-:--");
        return;
    }
    long whole = lround(seconds);
    if (whole >= 3600)
        snprintf(text, size, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
    else
        snprintf(text, size, "%ld:%02ld", whole / 60, whole % 60);
}

/* "0:25"; "about 0:25" when it is a guess. */
static void format_eta(const struct ergo_progress *progress, char *text, size_t size) {
    char left[32];
    format_time(progress->eta, left, sizeof left);
    snprintf(text, size, "%s%s", progress->rough && progress->eta >= 0 ? "about " : "", left);
}

static void draw_bar(const struct ergo_progress *progress, double part) {
    enum { CELLS_MAX = 40 };
    char tail[160], left[48], line[320], cells[CELLS_MAX + 1];
    format_eta(progress, left, sizeof left);
    snprintf(tail, sizeof tail, "%3.0f%%  %.3g %s  ETA %s", floor(100 * part), progress->rate,
             progress->rate_unit ? progress->rate_unit : "", left);

    unsigned width = terminal_width();
    /* Leave the last column free: some terminals wrap there, and \r would no longer reach the
     * start. */
    size_t room = width > 1 ? width - 1 : 1;
    size_t fixed = strlen(tail) + 14 + 4;
    size_t n = room > fixed ? room - fixed : 0;
    if (n > CELLS_MAX)
        n = CELLS_MAX;
    for (size_t i = 0; i < n; i++)
        cells[i] = (double)i < part * (double)n ? '#' : '.';
    cells[n] = '\0';
    snprintf(line, sizeof line, "%-13s %s%s%s%s", progress->phase ? progress->phase : "",
             n ? "[" : "", cells, n ? "] " : "", tail);
    fprintf(stderr, "\r%.*s\033[K", (int)room, line);
    fflush(stderr);
    bar_is_drawn = true;
}

void cli_progress(void *user, const struct ergo_progress *progress) {
    struct cli_progress *state = user;
    const bool terminal = isatty(STDERR_FILENO);
    const double now = cli_clock(), between = terminal ? 0.1 : state->verbose ? 10 : 30;
    double part = progress->total > 0 ? progress->done / progress->total : 0.0;
    if (state->quiet)
        return;
    /* Log files get a line now and then, and none of a run that is done before the first is due. */
    if (!terminal && !(state->next > 0))
        state->next = now + (state->verbose ? 0 : between);
    if (now < state->next && !(terminal && progress->done >= progress->total))
        return;
    state->next = now + between;
    if (part > 1)
        part = 1;
    if (terminal) {
        draw_bar(progress, part);
        return;
    }
    char left[48];
    format_eta(progress, left, sizeof left);
    cli_note("%s %.0f%%, %.3g %s, ETA %s", progress->phase ? progress->phase : "",
             floor(100 * part), progress->rate, progress->rate_unit ? progress->rate_unit : "",
             left);
}

void cli_progress_end(void) {
    wipe_bar();
    fflush(stderr);
}
