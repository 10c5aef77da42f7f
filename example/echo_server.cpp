// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A TCP echo server on the loopback interface, and its clients in the same program: a unit for each
// connection, and a unit for each client. The sockets never block. A unit whose socket is not ready
// waits for an event, which a weft::poller sets once the kernel reports the socket as ready.
// Meanwhile the stream runs other units; it sleeps when there are none.
//
// Prints the number of connections that the server has accepted, and of bytes that came back.
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

namespace {

ssize_t checked(ssize_t result, const char* call) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), call);
    return result;
}

class tcp_socket {
public:
    tcp_socket() : tcp_socket(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {}
    explicit tcp_socket(int descriptor) : descriptor_(static_cast<int>(checked(descriptor, "socket"))) {}
    tcp_socket(tcp_socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    ~tcp_socket() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    int get() const { return descriptor_; }

    // Repeats a system call on this socket until it need not wait. Returns its result, or -1 when
    // `stop` is set first. One unit at a time may wait for a socket.
    template <class Call, class... Event>
    ssize_t when_ready(const char* name, std::uint32_t epoll_events, Call call, Event&... stop) const {
        for (;;) {
            const ssize_t result = call();
            if (result >= 0) return result;
            if (errno != EAGAIN && errno != EINPROGRESS && errno != EINTR) checked(result, name);
            weft::event ready;
            const weft_poller_hint hint{.size = sizeof hint,
                                        .has_descriptor = true,
                                        .descriptor = descriptor_,
                                        .events = epoll_events,
                                        .only_when_ready = true};
            const weft::poller poller([&ready] { return ready.set(); }, &hint);   // to the end of this block
            if (weft::wait_any(ready, stop...) != 0) return -1;
        }
    }

    void send_all(const std::string& bytes) const {
        for (std::size_t sent = 0; sent < bytes.size();) {
            const auto call = [&] { return send(descriptor_, &bytes[sent], bytes.size() - sent, MSG_NOSIGNAL); };
            sent += static_cast<std::size_t>(when_ready("send", EPOLLOUT, call));
        }
    }
    // Appends what has arrived. False: the other side has closed the connection.
    bool receive(std::string& bytes) const {
        char buffer[4096];
        const ssize_t count = when_ready("recv", EPOLLIN, [&] { return recv(descriptor_, buffer, sizeof buffer, 0); });
        bytes.append(buffer, static_cast<std::size_t>(count));
        return count != 0;
    }

private:
    int descriptor_;
};

// ---- the server ---------------------------------------------------------------------------------

tcp_socket listen_on_loopback(sockaddr_in& address) {
    tcp_socket listener;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    checked(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), "bind");
    checked(listen(listener.get(), SOMAXCONN), "listen");
    checked(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
    return listener;
}

// The unit of a connection. An error ends this connection only.
void echo(const tcp_socket& connection) {
    try {
        for (std::string bytes; connection.receive(bytes); bytes.clear()) connection.send_all(bytes);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "a connection has failed: %s\n", error.what());
    }
}

// Accepts connections until a stop is requested. Returns their number when all are closed.
int serve(const tcp_socket& listener, std::stop_token token) {
    weft::event stop;
    const std::stop_callback sets(token, [&stop] { stop.set(); });
    weft::task_group connections;
    for (int accepted = 0;; ++accepted) {
        const auto call = [&] { return accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC); };
        const ssize_t descriptor = listener.when_ready("accept4", EPOLLIN, call, stop);
        if (descriptor < 0) {
            connections.wait();
            return accepted;
        }
        connections.run([connection = tcp_socket(static_cast<int>(descriptor))] { echo(connection); });
    }
}

// ---- a client -----------------------------------------------------------------------------------

// Sends lines, and waits for each to come back. Returns the number of bytes.
std::size_t talk(const sockaddr_in& server, int number) {
    const tcp_socket connection;
    const auto call = [&] {
        return connect(connection.get(), reinterpret_cast<const sockaddr*>(&server), sizeof server);
    };
    connection.when_ready("connect", EPOLLOUT, call);
    std::size_t echoed = 0;
    for (int i = 0; i < 10; ++i) {
        const std::string line = "line " + std::to_string(i) + " of client " + std::to_string(number) + "\n";
        connection.send_all(line);
        std::string answer;
        while (answer.size() < line.size() && connection.receive(answer)) {}
        if (answer != line) throw std::runtime_error("instead of " + line + "the server has sent " + answer);
        echoed += answer.size();
    }
    return echoed;
}

}   // namespace

int main() try {
    const weft::runtime runtime;
    sockaddr_in address{};
    int accepted = 0;
    weft::thread server([&accepted, listener = listen_on_loopback(address)](std::stop_token stop) {
        try {
            accepted = serve(listener, stop);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "the server has failed: %s\n", error.what());
        }   // now the listener is closed, and clients that wait for it fail, too
    });
    std::vector<weft::join_handle<std::size_t>> clients;
    for (int i = 10; i < 60; ++i) clients.push_back(weft::spawn(talk, address, i));
    std::size_t echoed = 0;
    for (auto& client : clients) echoed += client.join();
    server.request_stop();
    server.join();
    std::printf("%d connections, %zu bytes came back\n", accepted, echoed);
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
