#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A script like those of build systems and configure: many short commands, one after another.
count=$1
while [ "$count" -gt 0 ]; do
    /bin/true
    /bin/echo "$count" | /bin/cat
    count=$((count - 1))
done
