#!/bin/sh
# A script as build systems and configure are: many short commands, one after the other.
count=$1
while [ "$count" -gt 0 ]; do
    /bin/true
    /bin/echo "$count" | /bin/cat
    count=$((count - 1))
done
