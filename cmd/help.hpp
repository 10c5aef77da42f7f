// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The help texts of `weft` and its commands.
#pragma once

namespace weft_command {

inline constexpr char run_help[] =
    "Usage: weft run [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Runs a program unchanged; its parallel libraries share the hardware threads.\n"
    "\n"
    "  --harts N                use at most N hardware threads; 0: all that the process may use (WEFT_HARTS)\n"
    "  --report[=FILE]          at exit, say what was taken over and what was left alone, on standard error\n"
    "                           or in FILE (WEFT_REPORT)\n"
    "  --report=json[:FILE]     the report as JSON\n"
    "  --no-rescue              do not run other work while a thread blocks in a system call or spins\n"
    "                           (WEFT_RESCUE=off)\n"
    "  --openmp=weft|native     run OpenMP programs that gcc compiled on Weft (default), or on their own runtime\n"
    "  --tbb=weft|native        give oneTBB workers of Weft's (default), or leave it its own\n"
    "  --blas=weft|native       fit the threads of OpenBLAS to the load (default), or leave them alone\n"
    "                           (WEFT_BLAS_THREADS=full)\n"
    "  --guests=admit|leave     make the program's own threads wait for a hardware thread, too, or leave them\n"
    "                           alone (default) (WEFT_GUESTS)\n"
    "  --preview                do not run the program: say what would be taken over, and why\n"
    "  --trace FILE             write a trace for Chrome and Perfetto to FILE (WEFT_TRACE)\n"
    "  -h, --help               print this text\n"
    "\n"
    "Exit status: that of PROGRAM; 125 if weft itself fails, 126 if PROGRAM cannot be executed, 127 if it is\n"
    "not found.\n"
    "\n"
    "Manual page: weft-run(1). Environment variables: weft(7).\n";

inline constexpr char info_help[] =
    "Usage: weft info [--check | --json]\n"
    "\n"
    "Prints which hardware threads there are and where they lie, how many streams a program starts with, and\n"
    "each environment variable with its value, where the value comes from, its meaning and its legal values.\n"
    "\n"
    "  --json        print the same as one JSON object\n"
    "  --check       print only the variables whose value is not legal or whose name is probably misspelt\n"
    "  -h, --help    print this text\n"
    "\n"
    "Exit status: 0; 1 if a variable has a value that is not legal; 125 if weft itself fails.\n"
    "\n"
    "Manual page: weft-info(1). Environment variables: weft(7).\n";

inline constexpr char weft_help[] =
    "Usage: weft COMMAND [OPTIONS]\n"
    "       weft --version\n"
    "\n"
    "  weft run [OPTIONS] [--] PROGRAM [ARGUMENTS]    run a program whose parallel libraries share the processors\n"
    "  weft info [--check | --json]                   show hardware threads, settings and environment variables\n"
    "  weft help [COMMAND]                            print the options of a command\n"
    "\n"
    "`weft run --help` and `weft info --help` print the options, too. Manual page: weft(1).\n";

}   // namespace weft_command
