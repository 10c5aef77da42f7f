/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two tiny libraries in C that share harts: each call of a library is a domain with a policy of its
 * own. The first library calls a function for each row of a table; that function calls the second
 * library, which does two things at once, to add up the row by halves. Neither library starts an OS
 * thread, and however many calls there are at once, no more contexts compute than there are harts.
 * doc/domains.md says how to write such a library.
 *
 * Prints the total of the table. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include <weft/weft.h>

/* ---- what both libraries begin with ---------------------------------------------------------- */

enum { most = 16 };

struct common {
    weft_domain *domain;
    pthread_mutex_t lock; /* for what follows; held for a few stores */
    size_t begun;         /* helpers that have begun */
    size_t ready;
    weft_unit *contexts[most + 1]; /* those that can continue: helpers, and the caller */
};

static void unblock(void *raw, weft_unit *context) {
    struct common *self = raw;
    pthread_mutex_lock(&self->lock);
    self->contexts[self->ready++] = context;
    pthread_mutex_unlock(&self->lock);
}

/* The context that was unblocked first. */
static weft_unit *take_first(struct common *self) {
    weft_unit *first = self->contexts[0];
    --self->ready;
    for (size_t i = 0; i < self->ready; ++i) self->contexts[i] = self->contexts[i + 1];
    return first;
}

/* Whether another library has a better claim to a hart of this one. */
static bool wanted(const struct common *self) {
    return __atomic_load_n(weft_domain_wanted(self->domain), __ATOMIC_RELAXED) != 0;
}

/* ---- the first library: call(i, argument) for each i below count ----------------------------- */

struct loop {
    struct common common;
    void (*call)(size_t i, void *argument);
    void *argument;
    size_t count;
    atomic_size_t next; /* the first i that no context has taken */
    size_t made;        /* contexts that help the caller */
    weft_unit *helpers[most];
};

static void loop_work(void *raw) {
    struct loop *self = raw;
    for (size_t i; (i = atomic_fetch_add(&self->next, 1)) < self->count;) self->call(i, self->argument);
}

/* A hart has arrived. A context that was unblocked continues; if there is none, a helper begins.
 * Without a decision the hart goes back to the parent, as by weft_domain_yield. */
static void loop_enter(void *raw) {
    struct loop *self = raw;
    struct common *common = &self->common;
    pthread_mutex_lock(&common->lock);
    if (wanted(common)) {
        weft_domain_yield();
    } else if (common->ready != 0) {
        weft_context_resume(take_first(common));
    } else if (common->begun != self->made) {
        weft_context_run(self->helpers[common->begun++], loop_work, self);
    }
    pthread_mutex_unlock(&common->lock);
}

static weft_status for_each(size_t count, void (*call)(size_t i, void *argument), void *argument) {
    static const weft_domain_ops ops = {.size = sizeof ops, .enter = loop_enter, .unblock = unblock};
    struct loop self = {.common.lock = PTHREAD_MUTEX_INITIALIZER, .call = call, .argument = argument, .count = count};
    weft_status status = weft_domain_register(&ops, &self, &self.common.domain);
    if (status != WEFT_OK) return status;
    /* Where memory is short there are fewer helpers, or none: the caller works as well. */
    while (self.made < most && self.made + 1 < count &&
           weft_context_create(NULL, 0, &self.helpers[self.made]) == WEFT_OK) {
        ++self.made;
    }
    const size_t other_harts = weft_hart_limit() - 1;
    weft_domain_request(self.common.domain, (ptrdiff_t)(self.made < other_harts ? self.made : other_harts));
    loop_work(&self);
    status = weft_unit_join_free_many(self.helpers, self.made); /* the caller's hart runs them meanwhile */
    const weft_status left = weft_domain_unregister(self.common.domain);
    return status != WEFT_OK ? status : left;
}

/* ---- the second library: call(one) and call(other) at once ----------------------------------- */

struct pair {
    struct common common;
    void (*call)(void *argument);
    void *other;
    weft_unit *helper;
};

/* The helper begins before any context continues. */
static void pair_enter(void *raw) {
    struct pair *self = raw;
    struct common *common = &self->common;
    pthread_mutex_lock(&common->lock);
    if (wanted(common)) {
        weft_domain_yield();
    } else if (common->begun == 0 && self->helper != NULL) {
        common->begun = 1;
        weft_context_run(self->helper, self->call, self->other);
    } else if (common->ready != 0) {
        weft_context_resume(take_first(common));
    }
    pthread_mutex_unlock(&common->lock);
}

static weft_status both(void (*call)(void *argument), void *one, void *other) {
    static const weft_domain_ops ops = {.size = sizeof ops, .enter = pair_enter, .unblock = unblock};
    struct pair self = {.common.lock = PTHREAD_MUTEX_INITIALIZER, .call = call, .other = other};
    weft_status status = weft_domain_register(&ops, &self, &self.common.domain);
    if (status != WEFT_OK) return status;
    if (weft_context_create(NULL, 0, &self.helper) == WEFT_OK) weft_domain_request(self.common.domain, 1);
    call(one);
    if (self.helper == NULL) {
        call(other); /* memory is short */
    } else {
        status = weft_unit_join_free(self.helper);
    }
    const weft_status left = weft_domain_unregister(self.common.domain);
    return status != WEFT_OK ? status : left;
}

/* ---- a program that uses both ---------------------------------------------------------------- */

enum { rows = 12, columns = 10000 };

struct table {
    atomic_long total;
    atomic_int status; /* of the last call that has failed */
};

struct part {
    size_t row, begin, end;
    long sum;
};

static void add(void *raw) {
    struct part *part = raw;
    for (size_t i = part->begin; i < part->end; ++i) part->sum += (long)((part->row + 1) * i % 10);
}

static void add_row(size_t row, void *raw) {
    struct table *table = raw;
    struct part left = {row, 0, columns / 2, 0}, right = {row, columns / 2, columns, 0};
    const weft_status status = both(add, &left, &right);
    if (status != WEFT_OK) table->status = (int)status;
    weft_unit_yield(); /* a context may wait for anything */
    table->total += left.sum + right.sum;
}

int main(void) {
    struct table table = {0, WEFT_OK};
    weft_status status = weft_init(NULL);
    if (status == WEFT_OK) status = for_each(rows, add_row, &table);
    if (status == WEFT_OK) status = (weft_status)table.status;
    if (status == WEFT_OK) status = weft_finalize();
    if (status != WEFT_OK) {
        fprintf(stderr, "%s: %s\n", weft_status_name(status), weft_error_text());
        return 1;
    }
    printf("%d rows of %d elements: the total is %ld\n", rows, columns, (long)table.total);
    return 0;
}
