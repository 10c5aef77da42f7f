# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python threads that compute in pure Python, one at a time, and pass results to each other through
a queue.

    interpreter.py THREADS SIZE
"""
import queue
import sys
import threading

threads, size = int(sys.argv[1]), int(sys.argv[2])
results = queue.Queue(maxsize=4)


def work(number):
    for part in range(20):
        total = 0
        for i in range(size):
            total = (total * 31 + i + number) % 1000003
        results.put((number, part, total))


workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
for worker in workers:
    worker.start()
found = sorted(results.get() for _ in range(20 * threads))
for worker in workers:
    worker.join()
print(len(found), sum(total for _, _, total in found))
