// A library that a program opens while it runs, with a variable for each thread.
namespace {

thread_local int variable = 17;

}   // namespace

extern "C" [[gnu::visibility("default")]] int* variable_of_thread() { return &variable; }
