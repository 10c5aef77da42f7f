/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A user-defined pool in the old definition (ABT_pool_def): a more important ready unit is popped
 * first. A key holds the importance of each unit. */
#include "check.h"

#include <pthread.h>

enum { levels = 3 };

struct element {
    ABT_thread thread;
    struct element *next;
    int level;
    int waiting;
};

struct queue {
    pthread_mutex_t lock; /* held for a few loads and stores, and never over a switch */
    struct element *first[levels], *last[levels];
    size_t length;
};

static ABT_key level_key; /* the value is the level, 0 the most important, plus one; no value: the least */

static ABT_unit create_unit(ABT_thread thread) {
    struct element *made = calloc(1, sizeof *made);
    if (made == NULL) return ABT_UNIT_NULL;
    made->thread = thread;
    return (ABT_unit)made;
}

static void free_unit(ABT_unit *unit) {
    free(*unit);
    *unit = ABT_UNIT_NULL;
}

static ABT_bool is_in_pool(ABT_unit unit) { return ((struct element *)unit)->waiting ? ABT_TRUE : ABT_FALSE; }

static struct queue *queue_of(ABT_pool pool) {
    void *queue;
    check(ABT_pool_get_data(pool, &queue), "ABT_pool_get_data");
    return queue;
}

static int init(ABT_pool pool, ABT_pool_config config) {
    (void)config;
    struct queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL) return ABT_ERR_MEM;
    pthread_mutex_init(&queue->lock, NULL);
    return ABT_pool_set_data(pool, queue);
}

static int destroy(ABT_pool pool) {
    struct queue *queue = queue_of(pool);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
    return ABT_SUCCESS;
}

static size_t get_size(ABT_pool pool) {
    struct queue *queue = queue_of(pool);
    pthread_mutex_lock(&queue->lock);
    const size_t length = queue->length;
    pthread_mutex_unlock(&queue->lock);
    return length;
}

static void push(ABT_pool pool, ABT_unit unit) {
    struct queue *queue = queue_of(pool);
    struct element *element = (struct element *)unit;
    void *level = NULL;
    check(ABT_thread_get_specific(element->thread, level_key, &level), "ABT_thread_get_specific");
    element->level = level == NULL ? levels - 1 : (int)((size_t)level - 1);
    element->next = NULL;
    pthread_mutex_lock(&queue->lock);
    if (queue->first[element->level] == NULL) queue->first[element->level] = element;
    else queue->last[element->level]->next = element;
    queue->last[element->level] = element;
    element->waiting = 1;
    ++queue->length;
    pthread_mutex_unlock(&queue->lock);
}

static ABT_unit pop(ABT_pool pool) {
    struct queue *queue = queue_of(pool);
    struct element *found = NULL;
    pthread_mutex_lock(&queue->lock);
    for (int level = 0; level < levels && found == NULL; ++level) {
        found = queue->first[level];
        if (found == NULL) continue;
        queue->first[level] = found->next;
        found->waiting = 0;
        --queue->length;
    }
    pthread_mutex_unlock(&queue->lock);
    return found == NULL ? ABT_UNIT_NULL : (ABT_unit)found;
}

static int remove_unit(ABT_pool pool, ABT_unit unit) {
    struct queue *queue = queue_of(pool);
    struct element *element = (struct element *)unit;
    int error = ABT_ERR_POOL;
    pthread_mutex_lock(&queue->lock);
    struct element *before = NULL;
    for (struct element *at = queue->first[element->level]; at != NULL; before = at, at = at->next) {
        if (at != element) continue;
        if (before == NULL) queue->first[element->level] = at->next;
        else before->next = at->next;
        if (queue->last[element->level] == at) queue->last[element->level] = before;
        at->waiting = 0;
        --queue->length;
        error = ABT_SUCCESS;
        break;
    }
    pthread_mutex_unlock(&queue->lock);
    return error;
}

static int order[64], ran;
static void note(void *level) { order[ran++] = (int)(size_t)level; }

int main(int argc, char **argv) {
    enum { units = 30 };
    check(ABT_init(argc, argv), "ABT_init");
    check(ABT_key_create(NULL, &level_key), "ABT_key_create");
    ABT_pool_def def = {.access = ABT_POOL_ACCESS_MPMC,
                        .u_is_in_pool = is_in_pool,
                        .u_create_from_thread = create_unit,
                        .u_free = free_unit,
                        .p_init = init,
                        .p_get_size = get_size,
                        .p_push = push,
                        .p_pop = pop,
                        .p_remove = remove_unit,
                        .p_free = destroy};
    ABT_pool pool;
    check(ABT_pool_create(&def, ABT_POOL_CONFIG_NULL, &pool), "ABT_pool_create");
    /* All ULTs wait before the first one runs, since the stream is created last. They are pushed
     * once more, now that they have a level. */
    ABT_thread threads[units];
    for (size_t i = 0; i < units; ++i) {
        check(ABT_thread_create(pool, note, (void *)(i % levels), ABT_THREAD_ATTR_NULL, &threads[i]),
              "ABT_thread_create");
        check(ABT_thread_set_specific(threads[i], level_key, (void *)(i % levels + 1)), "ABT_thread_set_specific");
    }
    ABT_thread popped[units];
    for (int i = 0; i < units; ++i) check(ABT_pool_pop_thread(pool, &popped[i]), "ABT_pool_pop_thread");
    for (int i = 0; i < units; ++i) check(ABT_pool_push_thread(pool, popped[i]), "ABT_pool_push_thread");
    ABT_xstream xstream;
    check(ABT_xstream_create_basic(ABT_SCHED_BASIC, 1, &pool, ABT_SCHED_CONFIG_NULL, &xstream),
          "ABT_xstream_create_basic");
    check(ABT_thread_free_many(units, threads), "ABT_thread_free_many");
    check(ABT_xstream_free(&xstream), "ABT_xstream_free");
    check(ABT_pool_free(&pool), "ABT_pool_free");
    check(ABT_key_free(&level_key), "ABT_key_free");
    check(ABT_finalize(), "ABT_finalize");
    int wrong = ran != units;
    for (int i = 1; i < ran; ++i) wrong += order[i] < order[i - 1];
    printf("%d units of %d levels, %d out of their order\n", ran, levels, wrong);
    return wrong != 0;
}
