// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sim/run.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/single_threaded.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "sim/invariants.hpp"

namespace weft::sim {
namespace {

constexpr std::size_t most_output = 16 * 1024;

[[noreturn]] void run_child(const Plan& plan, const std::function<void()>& body, Record& record, int output,
                            pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);   // the output of a run is complete when it crashes
    alarm(plan.most_seconds);
    // the machine itself reports a run that is stuck; a scenario that tests the deadlock report
    // requests it
    setenv("WEFT_DEADLOCK", "ignore", 0);
    __libc_single_threaded = 0;   // where it is set the C++ library leaves out some steps that virtual harts need, too
    const auto strategy = plan.strategy();
    machine_quiet = broken_invariant;
    machine_describe = describe_units;
    machine_begin(plan.limits, *strategy, record);
    try {
        body();
    } catch (const std::exception& thrown) {
        machine_fail(End::check, std::string("an exception left the body: ") + thrown.what() + "\n");
    } catch (...) {
        machine_fail(End::check, "an exception left the body\n");
    }
    machine_end();
}

std::string all_of(int file) {
    std::string text(most_output, '\0');
    const off_t end = lseek(file, 0, SEEK_END);
    const off_t begin = end > static_cast<off_t>(most_output) ? end - static_cast<off_t>(most_output) : 0;
    const ssize_t count = pread(file, text.data(), text.size(), begin);
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
}

const char* kind_of(End end) {
    switch (end) {
    case End::check: return "a check failed";
    case End::stuck: return "stuck";
    case End::steps: return "never ends";
    case End::memory:
    case End::left: return "memory";
    case End::invariant: return "a broken invariant";
    default: return "";
    }
}

void judge(int status, const Record& record, const Plan& plan, Outcome& made) {
    made.failed = true;
    if (record.end != End::none && record.end != End::passed) {
        made.kind = kind_of(record.end);
        made.text = record.text;
    } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        made.kind = "too slow";
        made.text = "it took more than " + std::to_string(plan.most_seconds) +
                    " s: probably a loop without a point of pre-emption\n";
    } else if (WIFSIGNALED(status)) {
        made.kind = std::string("signal ") + strsignal(WTERMSIG(status));
        made.text = "it ended by a signal: " + std::string(strsignal(WTERMSIG(status))) + "\n";
    } else if (record.end == End::none) {
        made.kind = "exit";
        made.text =
            "the process exited with status " + std::to_string(WEXITSTATUS(status)) + " in the middle of the run\n";
    } else {
        made.failed = false;
    }
}

}   // namespace

Recorder::Recorder() : output_(static_cast<int>(memfd_create("weft-sim-output", MFD_CLOEXEC))) {
    void* const memory =
        mmap(nullptr, sizeof(Record), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    record_ = memory == MAP_FAILED ? nullptr : static_cast<Record*>(memory);
}

Recorder::~Recorder() {
    if (record_ != nullptr) munmap(record_, sizeof(Record));
    if (output_ >= 0) close(output_);
}

Outcome Recorder::run(const Plan& plan, const std::function<void()>& body) {
    Outcome made;
    record_->end = End::none;
    record_->steps = record_->faults_asked = record_->deviation_count = record_->traced_count = 0;
    record_->left_out = record_->all_left_out = 0;
    record_->text[0] = '\0';
    if (ftruncate(output_, 0) != 0) std::perror("weft::sim: ftruncate");
    lseek(output_, 0, SEEK_SET);
    std::fflush(nullptr);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) run_child(plan, body, *record_, output_, parent);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        made.failed = true;
        made.kind = "no process";
        made.text = std::string("a process for the run could not be started: ") + std::strerror(errno) + "\n";
        return made;
    }
    judge(status, *record_, plan, made);
    made.output = all_of(output_);
    made.steps = record_->steps;
    made.faults_asked = record_->faults_asked;
    made.all_deviations = record_->deviation_count <= Record::most_deviations;
    const std::size_t noted = made.all_deviations ? record_->deviation_count : Record::most_deviations;
    if (made.failed) made.deviations.assign(record_->deviations, record_->deviations + noted);
    return made;
}

}   // namespace weft::sim
