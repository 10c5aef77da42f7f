// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads a trace as Chrome and Perfetto do, and reports its faults: the format is the "JSON Object
// Format" of the Trace Event Format, with the phases M, B, E, i, s and f.
#pragma once

#include <cctype>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "test/behaviour/file.hpp"

namespace weft_test {

// A JSON value (RFC 8259).
struct Json {
    enum class Kind { null, boolean, number, string, array, object } kind = Kind::null;
    double number = 0;
    std::string text;   // of a string; of a number, as written
    std::vector<Json> items;
    std::map<std::string, Json> fields;

    bool is(Kind wanted) const { return kind == wanted; }
    bool has(const std::string& field) const { return fields.count(field) != 0; }
    // Null if there is no such field.
    const Json& operator[](const std::string& field) const {
        static const Json none;
        const auto at = fields.find(field);
        return at == fields.end() ? none : at->second;
    }
};

class JsonReader {
public:
    explicit JsonReader(const std::string& text) : text_(text) {}

    // Throws std::runtime_error if the text is not JSON.
    Json read() {
        Json value = read_value();
        skip_space();
        if (at_ != text_.size()) fail("something behind the value");
        return value;
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw std::runtime_error(what + " at byte " + std::to_string(at_) + ": " +
                                 text_.substr(at_ < 20 ? 0 : at_ - 20, 60));
    }
    void skip_space() {
        while (at_ < text_.size() && std::string(" \t\r\n").find(text_[at_]) != std::string::npos) ++at_;
    }
    char peek() {
        skip_space();
        if (at_ == text_.size()) fail("the text ends");
        return text_[at_];
    }
    void take(char wanted) {
        if (peek() != wanted) fail(std::string("no '") + wanted + "'");
        ++at_;
    }
    bool take_word(const std::string& word) {
        if (text_.compare(at_, word.size(), word) != 0) return false;
        at_ += word.size();
        return true;
    }

    Json read_value() {
        Json value;
        const char first = peek();
        if (first == '{') return read_object();
        if (first == '[') return read_array();
        if (first == '"') {
            value.kind = Json::Kind::string;
            value.text = read_string();
        } else if (take_word("true") || take_word("false")) {
            value.kind = Json::Kind::boolean;
        } else if (!take_word("null")) {
            value = read_number();
        }
        return value;
    }

    Json read_object() {
        Json value;
        value.kind = Json::Kind::object;
        take('{');
        while (peek() != '}') {
            if (!value.fields.empty()) take(',');
            peek();
            const std::string name = read_string();
            take(':');
            if (!value.fields.emplace(name, read_value()).second) fail("'" + name + "' twice");
        }
        take('}');
        return value;
    }

    Json read_array() {
        Json value;
        value.kind = Json::Kind::array;
        take('[');
        while (peek() != ']') {
            if (!value.items.empty()) take(',');
            value.items.push_back(read_value());
        }
        take(']');
        return value;
    }

    Json read_number() {
        const std::size_t begin = at_;
        if (text_[at_] == '-') ++at_;
        if (at_ == text_.size() || std::isdigit(static_cast<unsigned char>(text_[at_])) == 0) fail("no value");
        while (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 ||
                                      std::string(".eE+-").find(text_[at_]) != std::string::npos))
            ++at_;
        Json value;
        value.kind = Json::Kind::number;
        value.text = text_.substr(begin, at_ - begin);
        char* end = nullptr;
        value.number = std::strtod(value.text.c_str(), &end);
        if (*end != '\0' || (value.text.size() > 1 && value.text[0] == '0' && value.text[1] != '.'))
            fail("no number: " + value.text);
        return value;
    }

    void append(std::string& to, unsigned point) {
        if (point < 0x80) {
            to += static_cast<char>(point);
        } else if (point < 0x800) {
            to += static_cast<char>(0xc0 | point >> 6);
            to += static_cast<char>(0x80 | (point & 0x3f));
        } else {
            to += static_cast<char>(0xe0 | point >> 12);
            to += static_cast<char>(0x80 | (point >> 6 & 0x3f));
            to += static_cast<char>(0x80 | (point & 0x3f));
        }
    }

    std::string read_string() {
        std::string out;
        if (at_ == text_.size() || text_[at_] != '"') fail("no string");
        for (++at_;; ++at_) {
            if (at_ == text_.size()) fail("a string without an end");
            const auto byte = static_cast<unsigned char>(text_[at_]);
            if (byte == '"') break;
            if (byte < 0x20) fail("a control character in a string");
            if (byte >= 0x80) read_character(out);
            else if (byte != '\\') out += text_[at_];
            else read_escape(out);
        }
        ++at_;
        return out;
    }

    void read_escape(std::string& out) {
        static const std::map<char, char> plain{{'"', '"'},  {'\\', '\\'}, {'/', '/'},  {'b', '\b'},
                                                {'f', '\f'}, {'n', '\n'},  {'r', '\r'}, {'t', '\t'}};
        const char escape = text_[++at_];
        if (escape == 'u') {
            append(out, static_cast<unsigned>(std::stoul(text_.substr(at_ + 1, 4), nullptr, 16)));
            at_ += 4;
        } else if (plain.count(escape) != 0) {
            out += plain.at(escape);
        } else {
            fail("no such escape");
        }
    }

    // A character of several bytes in UTF-8; afterwards at_ is its last byte.
    void read_character(std::string& out) {
        const auto first = static_cast<unsigned char>(text_[at_]);
        const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
        if (first < 0xc2 || first > 0xf4) fail("not UTF-8");
        out += text_[at_];
        for (int i = 0; i < more; ++i) {
            if (++at_ == text_.size() || (static_cast<unsigned char>(text_[at_]) & 0xc0) != 0x80) fail("not UTF-8");
            out += text_[at_];
        }
    }

    const std::string& text_;
    std::size_t at_ = 0;
};

// The events of a trace, and its faults.
class Trace {
public:
    explicit Trace(const File& file) {
        try {
            all = JsonReader(text = file.text()).read();
        } catch (const std::exception& error) {
            wrong.push_back(std::string("not JSON: ") + error.what());
            return;
        }
        if (!all["traceEvents"].is(Json::Kind::array)) wrong.push_back("no array traceEvents");
        for (const Json& event : all["traceEvents"].items) check(event);
        check_end();
    }

    // The faults as one text, for a failure's message.
    std::string faults() const {
        std::string joined;
        for (std::size_t i = 0; i < wrong.size() && i < 10; ++i) joined += wrong[i] + "\n";
        return joined;
    }

    const std::vector<Json>& events() const { return all["traceEvents"].items; }
    // The events of a phase and, unless `called` is empty, of that name.
    std::vector<Json> with(const std::string& phase, const std::string& called = "") const {
        std::vector<Json> found;
        for (const Json& event : events()) {
            if (event["ph"].text == phase && (called.empty() || event["name"].text == called)) found.push_back(event);
        }
        return found;
    }
    // The ends of the slices of that name that were left in the given way.
    std::vector<Json> left(const std::string& called, const std::string& how) const {
        std::vector<Json> found;
        for (const Json& event : with("E", called)) {
            if (event["args"]["left"].text == how) found.push_back(event);
        }
        return found;
    }

    Json all;
    std::string text;
    std::vector<std::string> wrong;

private:
    struct Track {
        std::vector<std::string> open;
        double latest = 0;
        bool named = false, used = false;
    };
    struct Flow {
        std::string key;
        double begin = 0;
        int begins = 0, ends = 0;
    };

    void check(const Json& event) {
        const auto say = [&](const std::string& what) {
            wrong.push_back(what + ": event " + std::to_string(&event - events().data()));
        };
        if (!event.is(Json::Kind::object)) return say("no object");
        if (!event["ph"].is(Json::Kind::string) || !event["name"].is(Json::Kind::string))
            return say("ph and name are strings");
        for (const char* field : {"pid", "tid"}) {
            if (!event[field].is(Json::Kind::number) || event[field].text.find('.') != std::string::npos)
                return say(std::string(field) + " is a whole number");
        }
        if (!event["ts"].is(Json::Kind::number) || event["ts"].number < 0)
            return say("ts is a number, of microseconds from 0 on");
        if (event.has("args") && !event["args"].is(Json::Kind::object)) return say("args is an object");
        if (event.has("cat") && !event["cat"].is(Json::Kind::string)) return say("cat is a string");
        Track& track = tracks_[event["tid"].text];
        if (processes_.emplace(event["pid"].text, 0).second && processes_.size() > 1) say("one process");
        const std::string phase = event["ph"].text, name = event["name"].text;
        if (phase == "M") {
            if (name == "process_name" || name == "thread_name") {
                if (!event["args"]["name"].is(Json::Kind::string)) say("no name in args");
                (name == "process_name" ? process_named_ : track.named) = true;
            } else if (name != "thread_sort_index" || !event["args"]["sort_index"].is(Json::Kind::number)) {
                say("no such metadata");
            }
            return;
        }
        track.used = true;
        if (event["ts"].number < track.latest) say("time goes back on a track");
        track.latest = event["ts"].number;
        if (phase == "B") {
            track.open.push_back(name);
        } else if (phase == "E") {
            if (track.open.empty()) return say("an end without a begin");
            if (track.open.back() != name) say("'" + name + "' ends within '" + track.open.back() + "'");
            track.open.pop_back();
        } else if (phase == "i") {
            if (event["s"].text != "t" && event["s"].text != "p" && event["s"].text != "g")
                say("the scope of an instant is t, p or g");
        } else if (phase == "s" || phase == "f") {
            check_flow(event, track, say);
        } else {
            say("phase '" + phase + "'");
        }
    }

    template <class Say>
    void check_flow(const Json& event, const Track& track, Say say) {
        if (!event["id"].is(Json::Kind::number)) return say("an arrow without an id");
        if (track.open.empty()) say("an arrow begins and ends in a slice");
        Flow& flow = flows_[event["id"].text];
        const std::string key = event["cat"].text + "/" + event["name"].text;   // arrows are matched by them, too
        if (event["ph"].text == "s") {
            if (++flow.begins != 1) say("an arrow begins twice");
            flow.key = key;
            flow.begin = event["ts"].number;
            return;
        }
        if (event["bp"].text != "e") say("an arrow ends in the slice that is open");
        if (++flow.ends != 1) say("an arrow ends twice");
        if (flow.begins != 1 || flow.key != key || event["ts"].number < flow.begin)
            say("an arrow ends that has not begun");
    }

    void check_end() {
        if (!process_named_) wrong.push_back("the process has no name");
        for (const auto& [tid, track] : tracks_) {
            if (!track.open.empty()) wrong.push_back("'" + track.open.back() + "' on track " + tid + " has no end");
            if (track.used && !track.named) wrong.push_back("track " + tid + " has no name");
        }
    }

    std::map<std::string, Track> tracks_;
    std::map<std::string, Flow> flows_;
    std::map<std::string, int> processes_;
    bool process_named_ = false;
};

}   // namespace weft_test
