// exceptions: what C++ promises about exceptions, printed as it happens: which
// handler catches, in which order destructors run, what is left afterwards. Ends
// with status 3, by the handler for an exception that leaves a noexcept function.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

int alive = 0;

struct Guard {
    explicit Guard(std::string name) : name(std::move(name)) { alive++; }
    Guard(const Guard &other) : name(other.name + "'") { alive++; }
    ~Guard() {
        alive--;
        std::printf("  ~%s%s\n", name.c_str(), std::uncaught_exceptions() ? " while unwinding" : "");
    }
    std::string name;
};

struct Base {
    virtual ~Base() = default;
    virtual const char *what() const { return "base"; }
};
struct Left : virtual Base {
    int left = 1;
};
struct Right : virtual Base {
    int right = 2;
};
struct Bottom : Left, Right {
    const char *what() const override { return "bottom"; }
    Guard guard{"thrown object"};
};

int depth(int n) {
    Guard guard("level " + std::to_string(n));
    if (n == 0) throw std::runtime_error("the bottom");
    return depth(n - 1) + 1;
}

void by_type(int kind) {
    try {
        switch (kind) {
            case 0: throw 42;
            case 1: throw 4.5;
            case 2: throw "text";
            case 3: throw std::string("string");
            case 4: throw std::out_of_range("out_of_range");
            case 5: throw Bottom();
            case 6: throw static_cast<const Base *>(nullptr);
            case 7: throw std::bad_alloc();
            default: throw static_cast<std::int64_t>(1) << 40;
        }
    } catch (int value) {
        std::printf("int %d\n", value);
    } catch (double value) {
        std::printf("double %g\n", value);
    } catch (const char *value) {
        std::printf("text %s\n", value);
    } catch (const std::string &value) {
        std::printf("string %s\n", value.c_str());
    } catch (const std::logic_error &error) {
        std::printf("logic error %s\n", error.what());
    } catch (Right &part) {
        std::printf("right %d of %s\n", part.right, part.what());
    } catch (const Base *) {
        std::printf("pointer to base\n");
    } catch (const std::exception &) {
        std::printf("some exception\n");
    } catch (...) {
        std::printf("something else\n");
    }
}

struct Member {
    Guard first{"first member"};
    Guard second;
    explicit Member(bool fails) try : second(fails ? throw std::invalid_argument("member") : "second member") {
        std::printf("constructed\n");
    } catch (const std::exception &error) {
        std::printf("constructor's handler: %s\n", error.what());
    }
};

void rethrowing() {
    try {
        try {
            Guard guard("inner");
            throw std::domain_error("once");
        } catch (std::exception &error) {
            Guard guard("handler");
            std::printf("first handler: %s\n", error.what());
            throw;
        }
    } catch (const std::domain_error &error) {
        std::printf("second handler: %s\n", error.what());
        try {
            throw std::length_error("while handling");
        } catch (const std::length_error &other) {
            std::printf("nested: %s\n", other.what());
        }
        std::printf("still: %s\n", error.what());
    }
}

void kept() {
    std::exception_ptr pointer;
    try {
        throw Bottom();
    } catch (...) {
        pointer = std::current_exception();
    }
    for (int i = 0; i < 2; i++) {
        try {
            std::rethrow_exception(pointer);
        } catch (const Left &part) {
            std::printf("kept: %s %d\n", part.what(), part.left);
        }
    }
}

void chained(int n) {
    try {
        if (n == 0) throw std::runtime_error("cause");
        chained(n - 1);
    } catch (...) {
        std::throw_with_nested(std::runtime_error("level " + std::to_string(n)));
    }
}

void print_chain(const std::exception &error, int indent = 0) {
    std::printf("%*s%s\n", indent, "", error.what());
    try {
        std::rethrow_if_nested(error);
    } catch (const std::exception &inner) {
        print_chain(inner, indent + 1);
    }
}

// Destructors that throw and catch inside while another exception is on its way.
struct Busy {
    ~Busy() {
        try {
            throw 1;
        } catch (int) {
            std::printf("  caught inside a destructor, %d on the way\n", std::uncaught_exceptions());
        }
    }
};

std::uint64_t many(int times) {
    std::uint64_t sum = 0;
    std::map<int, std::function<int(int)>> calls{{0, [](int n) { return n; }},
                                                 {1, [](int n) -> int { throw n; }},
                                                 {2, [](int n) -> int { throw std::to_string(n); }}};
    for (int i = 0; i < times; i++) {
        try {
            sum = sum * 31 + static_cast<std::uint64_t>(calls.at(i % 4)(i));
        } catch (int n) {
            sum = sum * 37 + static_cast<std::uint64_t>(n);
        } catch (const std::string &text) {
            sum = sum * 41 + text.size();
        } catch (const std::out_of_range &) {
            sum++;
        }
    }
    return sum;
}

int cleanup_only(int n) {
    std::unique_ptr<Guard> guard = std::make_unique<Guard>("owned");
    return n > 0 ? n : throw Busy();
}

// Opaque to the compiler, which would warn that nobody catches it.
[[gnu::noinline]] void escape(int really) {
    if (really > 0) throw std::runtime_error("nobody may catch this");
}

void noisy() noexcept(false) { throw std::bad_function_call(); }

}  // namespace

int main(int argc, char **) {
    for (int kind = 0; kind <= 8; kind++) by_type(kind);
    try {
        depth(3);
    } catch (const std::exception &error) {
        std::printf("caught %s, alive %d\n", error.what(), alive);
    }
    { Member fine(false); }
    try {
        Member broken(true);
    } catch (const std::invalid_argument &error) {
        std::printf("caught %s, alive %d\n", error.what(), alive);
    }
    rethrowing();
    kept();
    try {
        chained(3);
    } catch (const std::exception &error) {
        print_chain(error);
    }
    try {
        Busy busy;
        throw 2;
    } catch (int n) {
        std::printf("caught %d\n", n);
    }
    try {
        cleanup_only(0);
    } catch (Busy &) {
        std::printf("caught busy, alive %d\n", alive);
    }
    try {
        std::vector<int>(3).at(static_cast<std::size_t>(argc) + 2);
    } catch (const std::out_of_range &) {
        std::printf("vector's own\n");
    }
    try {
        noisy();
    } catch (const std::bad_function_call &) {
        std::printf("bad call\n");
    }
    try {
        Left left;
        Base &base = left;
        std::printf("%s\n", dynamic_cast<Bottom &>(base).what());
    } catch (const std::bad_cast &) {
        std::printf("bad cast\n");
    }
    std::printf("many: %llx\n", static_cast<unsigned long long>(many(40000)));
    std::printf("alive at the end: %d\n", alive);
    std::set_terminate([] {
        std::printf("terminated\n");
        std::fflush(stdout);
        std::_Exit(3);
    });
    [argc]() noexcept { escape(argc); }();
    return 0;
}
