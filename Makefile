# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The project's commands. A newcomer needs two of them, `make demo` and `make test`; CMake
# (CMakePresets.json) and the scripts in tools/ do the work.
#
#   JOBS=n         processes at a time (default: the number of CPUs)
#   DIR=path       the tree that `make treesum` hashes (default: /usr/share)
#   GROUP=g        only the tests of this group: release, models, simulation, debug, asan, tsan,
#                  aarch64, lean, fuzz
#   FIGURES=path   where `make bench-promotion`, `bench-argobots`, `bench-openmp`, `bench-compose` and
#                  `bench-blas` also put their figures (the README uses bench/promotion/figures)
#   PARTS=...      the parts that `make bench-openmp` runs: kernels, nested, oversubscribed,
#                  neighbours, dgemm, constructs, tasks, kmeans (default: all of them); of
#                  `make bench-compose`: alone, mixed; of `make bench-blas`: threads, alternating,
#                  joblib, start
#   PROGRAMS=... THREADS=... PAIRS=n MINUTES=n AGAIN=yes PAGE=path
#                  for `make bench-programs`: see bench/programs/README.md
#   SETUP=no       neither searches for packages nor installs them (systems without dpkg)
JOBS ?= $(shell nproc)
DIR ?= /usr/share
SETUP ?= yes
PYTHON ?= python3
export JOBS DIR GROUP SETUP

.PHONY: help setup demo treesum test test-full test-soak python-env bench bench-promotion bench-argobots bench-openmp bench-compose bench-blas bench-programs bench-abt abt-differential format doc site clean
help:
	@echo "make demo        builds a release and measures Debian programs without and with weft run; a picture"
	@echo "make treesum     hashes $(DIR) with an example, and with find and sha256sum; then runs the tour"
	@echo "make test        the tests that every change must pass (15 minutes at most on 2 cores)"
	@echo "make test-full   the tests of make test and the longer ones (40 minutes at most)"
	@echo "make test-soak   the long tests; GROUP=name runs one group, also with make test and make test-full"
	@echo "make python-env  installs Python's numerical libraries in build/python, for the tests of make test-full that need them"
	@echo "make bench       runs the benchmarks; a table of multiples of the floor, and JSON"
	@echo "make bench-promotion  measures when each kind of thread is best; tables and figures"
	@echo "make bench-argobots   measures create, join and free separately, and streams beside streams; tables and figures"
	@echo "make bench-openmp     measures OpenMP programs on Weft, libgomp and libomp; PARTS=..., tables and figures"
	@echo "make bench-compose    measures TBB programs without and with weft run, alone and with OpenMP inside; tables and figures"
	@echo "make bench-blas       measures Python programs that call BLAS from several threads, as bench-compose does (make python-env first)"
	@echo "make bench-programs   measures whole programs without and with weft run; PROGRAMS=..., THREADS=..., PAGE=doc/when-it-helps.md"
	@echo "make bench-abt   measures operations of abt.h, also with another Argobots if pkg-config finds one"
	@echo "make abt-differential  runs the bridge's tests with another Argobots, which pkg-config must find"
	@echo "make doc         builds the API reference in build/doc/html"
	@echo "make site        the site: tutorials, guides, reference, decisions and figures, in build/site"
	@echo "make format      formats the sources as .clang-format says"
	@echo "make setup       installs what the commands above need (as root; otherwise prints the line to run)"
	@echo "make clean       removes build/"

setup:
	@tools/setup demo test bench

# The first configuration omits the tests, because they need packages that the demo does not need.
# The whole release is built, because `weft run` preloads parts of it.
demo:
	@tools/setup demo
	@test -f build/release/build.ninja || cmake --preset release --log-level=WARNING -DWEFT_TESTS=OFF
	@cmake --build build/release --parallel $(JOBS)
	@$(PYTHON) tools/demo.py build/release

treesum:
	@tools/setup demo
	@test -f build/release/build.ninja || cmake --preset release --log-level=WARNING -DWEFT_TESTS=OFF
	@cmake --build build/release --parallel $(JOBS) --target treesum tour
	@tools/treesum build/release "$(DIR)"

test:
	@tools/setup test
	@$(PYTHON) tools/test.py quick --jobs $(JOBS) $(if $(GROUP),--group $(GROUP))

test-full:
	@tools/setup test
	@$(PYTHON) tools/test.py full --jobs $(JOBS) $(if $(GROUP),--group $(GROUP))

test-soak:
	@tools/setup test
	@$(PYTHON) tools/test.py soak --jobs $(JOBS) $(if $(GROUP),--group $(GROUP))

# Today's libraries, and NumPy 1.26 with its contemporaries. Says so if they cannot be had.
python-env:
	@tools/setup python
	@$(PYTHON) tools/python_env.py bridge/together/python/today.txt build/python/today
	@$(PYTHON) tools/python_env.py bridge/together/python/numpy1.txt build/python/numpy1

bench:
	@tools/setup bench
	@cmake --preset release -B build/bench -DWEFT_TESTS=OFF -DWEFT_SIM=OFF -DWEFT_BENCH=ON
	@cmake --build build/bench --parallel $(JOBS)
	@$(PYTHON) bench/run.py build/bench

bench-argobots:
	@tools/setup bench
	@cmake --preset release -B build/bench -DWEFT_TESTS=OFF -DWEFT_SIM=OFF -DWEFT_BENCH=ON --log-level=WARNING
	@cmake --build build/bench --parallel $(JOBS) --target bench_argobots_phases bench_argobots_streams
	@cmake --preset lean -B build/bench-lean -DWEFT_TESTS=OFF -DWEFT_BENCH=ON --log-level=WARNING
	@cmake --build build/bench-lean --parallel $(JOBS) --target bench_argobots_phases
	@$(PYTHON) bench/argobots/plot.py build/bench --lean build/bench-lean $(if $(FIGURES),--figures $(FIGURES))

OPENMP_PARTS = $(or $(PARTS),kernels nested oversubscribed neighbours dgemm constructs tasks kmeans)
OPENMP_PROGRAMS = $(filter-out constructs tasks kmeans,$(OPENMP_PARTS))
bench-compose:
	@tools/setup bench
	@cmake --preset release -B build/bench -DWEFT_TESTS=OFF -DWEFT_SIM=OFF -DWEFT_BENCH=ON --log-level=WARNING
	@cmake --build build/bench --parallel $(JOBS) --target bench_compose weft_command weft_openblas
	@$(PYTHON) bench/compose/run.py build/bench $(PARTS) $(if $(FIGURES),--figures $(FIGURES))

bench-blas:
	@tools/setup bench
	@cmake --preset release -B build/bench -DWEFT_TESTS=OFF -DWEFT_SIM=OFF -DWEFT_BENCH=ON --log-level=WARNING
	@cmake --build build/bench --parallel $(JOBS) --target weft_command weft_openblas weft_tbb
	@$(PYTHON) bench/compose/blas.py build/bench $(PARTS) $(if $(FIGURES),--figures $(FIGURES))

bench-openmp:
	@tools/setup bench
	@cmake --preset release -B build/bench -DWEFT_TESTS=OFF -DWEFT_SIM=OFF -DWEFT_BENCH=ON --log-level=WARNING
	@cmake --build build/bench --parallel $(JOBS) --target bench_openmp weft_openmp weft_pthread weft_openblas
	@$(if $(OPENMP_PROGRAMS),$(PYTHON) bench/openmp/run.py build/bench $(OPENMP_PROGRAMS) $(if $(FIGURES),--figures $(FIGURES)))
	@$(if $(filter constructs,$(OPENMP_PARTS)),$(PYTHON) bench/openmp/constructs.py --build build/bench)
	@$(if $(filter tasks,$(OPENMP_PARTS)),$(PYTHON) bench/openmp/tasks.py --build build/bench)
	@$(if $(filter kmeans,$(OPENMP_PARTS)),$(PYTHON) bench/openmp/kmeans.py --build build/bench $(if $(FIGURES),--figures $(FIGURES)))

# Fetches the wheels of PyPI if that is possible; otherwise measures only the other programs.
bench-programs:
	@tools/setup bench
	@cmake --preset release -B build/bench -DWEFT_TESTS=OFF -DWEFT_SIM=OFF -DWEFT_BENCH=ON --log-level=WARNING
	@cmake --build build/bench --parallel $(JOBS) --target weft_command
	@$(PYTHON) tools/python_env.py bench/programs/requirements.txt build/programs/venv
	@$(PYTHON) bench/programs/run.py build/bench $(if $(PROGRAMS),--programs $(PROGRAMS)) $(if $(THREADS),--threads $(THREADS)) \
	  $(if $(PAIRS),--pairs $(PAIRS)) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(AGAIN),--again) $(if $(PAGE),--page $(PAGE))

bench-abt:
	@tools/setup bench
	@cmake --preset release -B build/bench -DWEFT_TESTS=OFF -DWEFT_SIM=OFF -DWEFT_BENCH=ON --log-level=WARNING
	@cmake --build build/bench --parallel $(JOBS) --target bench_abt
	@$(PYTHON) bench/abt/compare.py build/bench/bench

# The bridge's tests once more, each linked with another Argobots: a failure there is a difference
# that is not documented.
abt-differential:
	@tools/setup test
	@cmake --preset release -B build/differential -DWEFT_SIM=OFF -DWEFT_EXAMPLES=OFF -DWEFT_ABT_DIFFERENTIAL=ON --log-level=WARNING
	@cmake --build build/differential --parallel $(JOBS) --target abt_differential
	@ABT_DIFFERENTIAL=1 ctest --test-dir build/differential --output-on-failure -L differential

# Counts the instructions for AArch64 if its compiler and its emulator are installed (`tools/setup
# test`).
bench-promotion:
	@tools/setup bench
	@cmake --preset release -B build/bench -DWEFT_TESTS=OFF -DWEFT_SIM=OFF -DWEFT_BENCH=ON --log-level=WARNING
	@cmake --build build/bench --parallel $(JOBS) --target promotion
	@if command -v aarch64-linux-gnu-g++ >/dev/null && command -v qemu-aarch64 >/dev/null; then \
	  cmake --preset aarch64 -B build/bench-aarch64 -DCMAKE_BUILD_TYPE=Release -DWEFT_CHECKED=OFF -DWEFT_TESTS=OFF -DWEFT_SIM=OFF \
	    -DWEFT_EXAMPLES=OFF -DWEFT_BENCH=ON --log-level=WARNING && \
	  cmake --build build/bench-aarch64 --parallel $(JOBS) --target promotion_fork_join; fi
	@$(PYTHON) bench/promotion/plot.py build/bench --aarch64 build/bench-aarch64 $(if $(FIGURES),--figures $(FIGURES))

format:
	@tools/setup format
	@$(PYTHON) tools/format.py

doc:
	@tools/setup doc
	@mkdir -p build/doc
	@doxygen -q doc/Doxyfile
	@echo "build/doc/html/index.html"

site:
	@tools/setup site
	@$(PYTHON) tools/site.py --out build/site

clean:
	rm -rf build
