/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Many ULTs wait for messages on few streams, as in a communication layer. Each receiver waits at
 * its mailbox with a mutex and a condition, and while it waits its stream runs other ULTs.
 *
 *     blocking_receive [RECEIVERS [STREAMS [MESSAGES]]] */
#include "check.h"

struct mailbox {
    ABT_mutex mutex;
    ABT_cond filled;
    int full;
    long message;
    long sum;     /* of the received messages */
    int messages; /* still expected */
};

static void receive(void *argument) {
    struct mailbox *box = argument;
    for (int i = 0; i < box->messages; ++i) {
        check(ABT_mutex_lock(box->mutex), "ABT_mutex_lock");
        while (!box->full) check(ABT_cond_wait(box->filled, box->mutex), "ABT_cond_wait");
        box->sum += box->message;
        box->full = 0;
        check(ABT_cond_signal(box->filled), "ABT_cond_signal");
        check(ABT_mutex_unlock(box->mutex), "ABT_mutex_unlock");
    }
}

static void send(struct mailbox *box, long message) {
    check(ABT_mutex_lock(box->mutex), "ABT_mutex_lock");
    while (box->full) check(ABT_cond_wait(box->filled, box->mutex), "ABT_cond_wait");
    box->message = message;
    box->full = 1;
    check(ABT_cond_signal(box->filled), "ABT_cond_signal");
    check(ABT_mutex_unlock(box->mutex), "ABT_mutex_unlock");
}

int main(int argc, char **argv) {
    const int receivers = argc > 1 ? atoi(argv[1]) : 64;
    const int streams = argc > 2 ? atoi(argv[2]) : 3;
    const int messages = argc > 3 ? atoi(argv[3]) : 100;
    check(ABT_init(argc, argv), "ABT_init");
    ABT_xstream *xstreams = malloc(sizeof *xstreams * (size_t)streams);
    struct mailbox *boxes = calloc((size_t)receivers, sizeof *boxes);
    ABT_thread *threads = malloc(sizeof *threads * (size_t)receivers);
    for (int i = 0; i < streams; ++i) check(ABT_xstream_create(ABT_SCHED_NULL, &xstreams[i]), "ABT_xstream_create");
    for (int i = 0; i < receivers; ++i) {
        boxes[i].messages = messages;
        check(ABT_mutex_create(&boxes[i].mutex), "ABT_mutex_create");
        check(ABT_cond_create(&boxes[i].filled), "ABT_cond_create");
        check(
            ABT_thread_create_on_xstream(xstreams[i % streams], receive, &boxes[i], ABT_THREAD_ATTR_NULL, &threads[i]),
            "ABT_thread_create");
    }
    for (int round = 1; round <= messages; ++round) {
        for (int i = 0; i < receivers; ++i) send(&boxes[i], (long)round * (i + 1));
    }
    long wrong = 0;
    for (int i = 0; i < receivers; ++i) {
        check(ABT_thread_free(&threads[i]), "ABT_thread_free");
        wrong += boxes[i].sum != (long)messages * (messages + 1) / 2 * (i + 1);
        check(ABT_cond_free(&boxes[i].filled), "ABT_cond_free");
        check(ABT_mutex_free(&boxes[i].mutex), "ABT_mutex_free");
    }
    for (int i = 0; i < streams; ++i) check(ABT_xstream_free(&xstreams[i]), "ABT_xstream_free");
    check(ABT_finalize(), "ABT_finalize");
    free(threads);
    free(boxes);
    free(xstreams);
    printf("%d receivers on %d streams, %d messages each, %ld wrong\n", receivers, streams, messages, wrong);
    return wrong != 0;
}
