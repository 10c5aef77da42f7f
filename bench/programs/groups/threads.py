# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""C++ programs whose threads are not OpenMP's."""
from program import Place, Program

LEFT_ALONE = (
    "The threads are the program's own. Weft leaves them alone unless it is told to admit them " "(`--guests=admit`)."
)


def compiled(source: str, full: int, small: int, *, needs: str = "g++", links: tuple = ("-pthread",)):
    def command(place: Place) -> list:
        program = place.compiled(source, ["g++", "-O2", "-std=c++20", "-o"], needs, links=links)
        return [program, place.threads(), place.size(full, small)]

    return command


PROGRAMS = [
    Program(
        "tbb",
        "oneTBB: loops, a sort, tasks that fork",
        "oneTBB has one pool of threads, no more than it is told to have. Under `weft run` Weft has its workers, "
        "and where nothing else is parallel they compete with nothing.",
        compiled("tbb.cpp", 20, 1, needs="libtbb-dev", links=("-ltbb",)),
    ),
    Program(
        "threads-phases",
        "std::thread: phases of computation with a barrier after each",
        LEFT_ALONE,
        compiled("phases.cpp", 1000, 20),
    ),
    Program(
        "threads-queue",
        "std::thread: jobs of 10 us through a bounded queue",
        LEFT_ALONE,
        compiled("queue.cpp", 20000, 1000),
    ),
]
