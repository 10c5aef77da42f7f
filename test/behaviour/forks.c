/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Forks that C programs compile: for parallel_test.cpp. */
#include <weft/embed/job.h>
#include <weft/parallel.h>

weft_status fork_in_c(void (*f)(void *argument), void *f_argument, void (*g)(void *argument), void *g_argument);
long fib_by_invoke(int n);
long fib_by_jobs(int n);
extern weft_status (*const invoke_by_address)(void (*f)(void *argument), void *f_argument, void (*g)(void *argument),
                                              void *g_argument);

weft_status fork_in_c(void (*f)(void *argument), void *f_argument, void (*g)(void *argument), void *g_argument) {
    return weft_invoke(f, f_argument, g, g_argument);
}

weft_status (*const invoke_by_address)(void (*f)(void *argument), void *f_argument, void (*g)(void *argument),
                                       void *g_argument) = weft_invoke;

typedef struct {
    int n;
    long result;
} fib_call;

static void fib_body(void *raw) {
    fib_call *const self = raw;
    if (self->n < 2) {
        self->result = self->n;
        return;
    }
    fib_call a = {self->n - 1, 0}, b = {self->n - 2, 0};
    const weft_status status = weft_invoke(fib_body, &a, fib_body, &b);
    self->result = status == WEFT_OK ? a.result + b.result : -1000000;
}

long fib_by_invoke(int n) {
    fib_call all = {n, 0};
    fib_body(&all);
    return all.result;
}

/* The second call of fib, as long as another stream may make it. */
typedef struct {
    weft_job job;
    int n;
    long result;
} fib_job;

static void fib_job_run(weft_job *job) {
    fib_job *const self = (fib_job *)job;
    self->result = fib_by_jobs(self->n);
}

long fib_by_jobs(int n) {
    if (n < 2) return n;
    fib_job second;
    second.job.run = fib_job_run;
    second.n = n - 2;
    weft_job_fork(&second.job);
    const long first = fib_by_jobs(n - 1);
    return first + (weft_job_join(&second.job) ? fib_by_jobs(n - 2) : second.result);
}
