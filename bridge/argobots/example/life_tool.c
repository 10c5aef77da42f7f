/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A tool: registered once, it is notified of each work unit's events, and prints the life of one
 * unit. */
#include "check.h"

#include <string.h>

static ABT_thread watched = ABT_THREAD_NULL;
static char life[512];

static void told(ABT_thread thread, ABT_xstream xstream, uint64_t event, ABT_tool_context context, void *argument) {
    (void)xstream, (void)context, (void)argument;
    static const struct {
        uint64_t event;
        const char *word;
    } words[] = {{ABT_TOOL_EVENT_THREAD_CREATE, "create"}, {ABT_TOOL_EVENT_THREAD_RUN, "run"},
                 {ABT_TOOL_EVENT_THREAD_YIELD, "yield"},   {ABT_TOOL_EVENT_THREAD_SUSPEND, "suspend"},
                 {ABT_TOOL_EVENT_THREAD_RESUME, "resume"}, {ABT_TOOL_EVENT_THREAD_FINISH, "finish"},
                 {ABT_TOOL_EVENT_THREAD_JOIN, "join"},     {ABT_TOOL_EVENT_THREAD_FREE, "free"},
                 {ABT_TOOL_EVENT_THREAD_CANCEL, "cancel"}, {ABT_TOOL_EVENT_THREAD_REVIVE, "revive"}};
    if (event == ABT_TOOL_EVENT_THREAD_CREATE && watched == ABT_THREAD_NULL) watched = thread;
    if (thread != watched) return;
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        if (event != words[i].event) continue;
        if (life[0] != '\0') strcat(life, " ");
        strcat(life, words[i].word);
    }
}

static void body(void *eventual) {
    check(ABT_thread_yield(), "ABT_thread_yield");
    check(ABT_eventual_wait(*(ABT_eventual *)eventual, NULL), "ABT_eventual_wait");
}

int main(int argc, char **argv) {
    check(ABT_init(argc, argv), "ABT_init");
    if (ABT_tool_register_thread_callback(told, ABT_TOOL_EVENT_THREAD_ALL, NULL) == ABT_ERR_FEATURE_NA) {
        puts("this library was built without its tool interface");
        return ABT_finalize();
    }
    ABT_eventual eventual;
    check(ABT_eventual_create(0, &eventual), "ABT_eventual_create");
    ABT_thread thread;
    check(ABT_thread_create(main_pool_of(this_xstream()), body, &eventual, ABT_THREAD_ATTR_NULL, &thread),
          "ABT_thread_create");
    for (int i = 0; i < 3; ++i) check(ABT_thread_yield(), "ABT_thread_yield");
    check(ABT_eventual_set(eventual, NULL, 0), "ABT_eventual_set");
    check(ABT_thread_free(&thread), "ABT_thread_free");
    check(ABT_tool_register_thread_callback(NULL, ABT_TOOL_EVENT_THREAD_NONE, NULL),
          "ABT_tool_register_thread_callback");
    check(ABT_eventual_free(&eventual), "ABT_eventual_free");
    check(ABT_finalize(), "ABT_finalize");
    puts(life);
    return strcmp(life, "create run yield run suspend resume run finish join free") != 0;
}
