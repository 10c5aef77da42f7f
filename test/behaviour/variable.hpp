#pragma once

#include <cstdlib>
#include <string>

namespace weft_test {

// A variable of the environment, for the time of a test.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
    ~Variable() { unsetenv(name_); }
    Variable(const Variable&) = delete;

private:
    const char* name_;
};

}   // namespace weft_test
