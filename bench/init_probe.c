/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Started by init.cpp in a fresh process: starts Weft with one stream, then adds streams, and
 * prints the cost. It is plain C and links nothing else, so that its memory is the library's. */
#include <stdio.h>
#include <stdlib.h>

#include <weft/weft.h>

#include "probe.h"

enum { further_streams = 4 };

static void must(weft_status status) {
    if (status == WEFT_OK) return;
    fprintf(stderr, "init_probe: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

int main(void) {
    weft_settings settings = {.size = sizeof settings, .streams = 1};
    weft_stream_options options = {.size = sizeof options};
    weft_stream *streams[further_streams];

    struct probe_memory before = probe_memory();
    double start = probe_now_ns();
    must(weft_init(&settings));
    probe_print("init/first stream:weft", probe_now_ns() - start, "ns");
    struct probe_memory one = probe_memory();

    for (int i = 0; i < further_streams; ++i) {
        start = probe_now_ns();
        must(weft_stream_create(&options, &streams[i]));
        probe_print("init/further stream:weft", probe_now_ns() - start, "ns");
    }
    struct probe_memory more = probe_memory();
    for (int i = 0; i < further_streams; ++i) must(weft_stream_join_free(streams[i]));
    start = probe_now_ns();
    must(weft_finalize());
    probe_print("init/finalize:weft", probe_now_ns() - start, "ns");

    probe_print("init/resident:weft", one.resident, "bytes");
    probe_print("init/anonymous:weft", one.anonymous, "bytes");
    probe_print("init/resident by weft_init:weft", one.resident - before.resident, "bytes");
    probe_print("init/resident per further stream:weft", (more.resident - one.resident) / further_streams, "bytes");
    return 0;
}
