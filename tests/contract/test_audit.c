/*
 * An audit passes on what the device has done, and fails when the device did something else. Faults
 * of a device are imitated between the program and OpenCL: the functions below replace those of the
 * library, and lose a kernel launch, or flip a bit of a buffer without the sampler's knowledge. Not
 * every flipped bit can be found: a lattice with one spin turned over is as good as before. So the
 * test asks for this of runs, stretches of which are replayed: in constants, the buffers that are
 * made with numbers of the host's in them, all are found; of the first launches some are.
 */
#include <dlfcn.h>

#include "base/file.h"
#include "contract.h"

static struct faults {
    size_t launches;    /* from the first sampled step on: of a start, the clock decides how many */
    size_t lose;        /* this launch is not made; they count from 1, 0: none */
    size_t flip_at;     /* before this launch, */
    size_t buffer;      /* a bit of its first byte is flipped */
    bool flipped;       /* it was there to be flipped */
    size_t n_buffers;   /* created so far */
    cl_mem buffers[64]; /* NULL: released */
    size_t sizes[64];
    bool touched[64], constant[64]; /* written so far; only once, as a whole, and not by zeros */
} faults;

/* The library's own. POSIX: a function's address through a data pointer. */
static void *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "no %s in the OpenCL library\n", name);
        abort();
    }
    return found;
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *data,
                      cl_int *code) {
    cl_mem (*real)(cl_context, cl_mem_flags, size_t, void *, cl_int *);
    *(void **)&real = next("clCreateBuffer");
    const cl_mem mem = real(context, flags, size, data, code);
    if (mem && !contract_replays() && faults.n_buffers < 64) {
        faults.sizes[faults.n_buffers] = size;
        faults.buffers[faults.n_buffers++] = mem;
    }
    return mem;
}

cl_int clReleaseMemObject(cl_mem mem) {
    cl_int (*real)(cl_mem);
    *(void **)&real = next("clReleaseMemObject");
    for (size_t i = 0; i < faults.n_buffers; i++)
        if (faults.buffers[i] == mem)
            faults.buffers[i] = NULL;
    return real(mem);
}

static bool is_zero(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t at,
                            size_t size, const void *data, cl_uint n_waits, const cl_event *waits,
                            cl_event *event) {
    cl_int (*real)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint,
                   const cl_event *, cl_event *);
    *(void **)&real = next("clEnqueueWriteBuffer");
    for (size_t i = 0; i < faults.n_buffers; i++)
        if (faults.buffers[i] == mem) {
            faults.constant[i] =
                !faults.touched[i] && at == 0 && size == faults.sizes[i] && !is_zero(data, size);
            faults.touched[i] = true;
        }
    return real(queue, mem, blocking, at, size, data, n_waits, waits, event);
}

/* Of a buffer that is created empty, and whose first state comes from the host later. */
cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem mem, const void *pattern, size_t unit,
                           size_t at, size_t size, cl_uint n_waits, const cl_event *waits,
                           cl_event *event) {
    cl_int (*real)(cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, cl_uint,
                   const cl_event *, cl_event *);
    *(void **)&real = next("clEnqueueFillBuffer");
    for (size_t i = 0; i < faults.n_buffers; i++)
        faults.touched[i] = faults.touched[i] || faults.buffers[i] == mem;
    return real(queue, mem, pattern, unit, at, size, n_waits, waits, event);
}

static void flip(cl_command_queue queue, size_t buffer) {
    uint8_t bits;
    if (buffer >= faults.n_buffers || !faults.buffers[buffer])
        return;
    faults.flipped = clEnqueueReadBuffer(queue, faults.buffers[buffer], CL_TRUE, 0, 1, &bits, 0,
                                         NULL, NULL) == CL_SUCCESS;
    bits ^= 1;
    faults.flipped =
        faults.flipped && clEnqueueWriteBuffer(queue, faults.buffers[buffer], CL_TRUE, 0, 1, &bits,
                                               0, NULL, NULL) == CL_SUCCESS;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint n_waits, const cl_event *waits, cl_event *event) {
    cl_int (*real)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                   const size_t *, cl_uint, const cl_event *, cl_event *);
    *(void **)&real = next("clEnqueueNDRangeKernel");
    if (contract_replays() || !contract.steps)
        return real(queue, kernel, dims, offset, global, local, n_waits, waits, event);
    faults.launches++;
    if (faults.launches == faults.flip_at)
        flip(queue, faults.buffer);
    if (faults.launches == faults.lose)
        return event ? clEnqueueMarkerWithWaitList(queue, n_waits, waits, event) : CL_SUCCESS;
    return real(queue, kernel, dims, offset, global, local, n_waits, waits, event);
}

static bool was_flipped; /* in the last of these runs */

/* A run with a fault: ERGO_E_AUDIT ends it without a result, what was measured before is in a file
 * that says so, and its checkpoint is still good. */
static bool run_fails(const struct ergo_result *whole, const struct faults *fault) {
    struct ergo_result *result = NULL;
    faults = *fault;
    const enum ergo_status status = contract_try(contract.job, NULL, 0, &result);
    was_flipped = faults.flipped;
    memset(&faults, 0, sizeof faults);
    if (status != ERGO_E_AUDIT) {
        if (status == ERGO_E_JOB && fault->lose == 1) /* a replay has seen that launch */
            fail_msg("%s: the run's first launch is lost, and the job is blamed: %s",
                     contract.sampler->name, ergo_error_message(contract.ctx));
        ergo_result_destroy(result);
        return false;
    }
    char *path = ergo_path_join(contract.folder, "result.json");
    assert_int_equal(ergo_status_exit_code(status), 5);
    assert_null(result);
    char *text = NULL;
    size_t length = 0;
    if (access(path, F_OK) == 0) {
        contract_ok(ergo_file_read(contract.ctx, NULL, path, SIZE_MAX - 1, &text, &length), path);
        assert_non_null(strstr(text, "\"status\": \"audit-failed\""));
    }
    free(text);
    free(path);
    const struct ergo_run_options options = contract_options(NULL);
    contract_ok(ergo_resume(contract.ctx, contract.folder, &options, &result), "resume");
    contract_same("resumed after a failed audit", whole, result);
    ergo_result_destroy(result);
    return true;
}

/* All faults of constants are found, and of launches some that a replay covers. */
static void replays(const struct ergo_result *whole, size_t buffers) {
    bool constant[64];
    size_t found = 0;
    memcpy(constant, faults.constant, sizeof constant);
    if (!whole->audits.stretches || !whole->audits.steps)
        fail_msg("%s: %zu stretches were replayed: %s", contract.sampler->name,
                 whole->audits.stretches, whole->audits.reason);
    for (size_t i = 0; i < buffers; i++) {
        const struct faults fault = {.flip_at = 1, .buffer = i};
        if (constant[i] && !run_fails(whole, &fault) && was_flipped) /* else it has gone */
            fail_msg("%s: a bit of constant %zu flipped, and the run passes",
                     contract.sampler->name, i);
    }
    for (size_t k = 1; k <= 8; k++) {
        const struct faults fault = {.lose = k};
        found += run_fails(whole, &fault);
    }
    print_message("%s: of the run's first 8 launches, lost one by one, %zu were found\n",
                  contract.sampler->name, found);
    assert_true(found > 0);
}

static void runs(void) {
    memset(&faults, 0, sizeof faults);
    contract.block_samples = 1;
    struct ergo_result *whole = contract_run(contract.job, NULL, NULL);
    const size_t buffers = faults.n_buffers;
    replays(whole, buffers);
    ergo_result_destroy(whole);
}

static void test_runs(void **state) {
    (void)state;
    contract_each_model(runs);
}

static int set_up(void **state) {
    if (contract_set_up(state) != 0)
        return -1;
    contract.audits = true;
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
    };
    return cmocka_run_group_tests(tests, set_up, contract_tear_down);
}
