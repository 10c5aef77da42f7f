// The smallest program that uses the library from C++: one thread, spawned and joined. Prints its
// answer.
#include <weft/weft.hpp>

#include <iostream>

int main() {
    int answer = 0;
    weft::runtime runtime;
    weft::thread thread([&] { answer = 42; });
    thread.join();
    std::cout << "answer " << answer << '\n';
}
