// Threads use their own factors at the same time, read one factor at the same time, and each has its own last error.
#include "cholupdate.h"
#include "check.h"
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Free {
    void operator()(cholupdate_d *factor) const { cholupdate_d_free(factor); }
};
using Factor = std::unique_ptr<cholupdate_d, Free>;

Factor identity(std::int64_t n) {
    std::vector<double> a(static_cast<std::size_t>(n * n));
    for (std::int64_t i = 0; i < n; i++) a[static_cast<std::size_t>(i * (n + 1))] = 2;
    cholupdate_d *factor = nullptr;
    CHECK(cholupdate_d_new(n, a.data(), n, 'L', nullptr, &factor) == CHOLUPDATE_OK);
    return Factor(factor);
}

void works(std::int64_t n) {
    Factor factor = identity(n);
    std::vector<double> v(static_cast<std::size_t>(n), 0.5);
    for (int round = 0; round < 20; round++) {
        CHECK(cholupdate_d_update(factor.get(), 1, v.data(), n, nullptr) == CHOLUPDATE_OK);
        CHECK(cholupdate_d_downdate(factor.get(), 1, v.data(), n, nullptr) == CHOLUPDATE_OK);
        const std::string expected = "`k` is -" + std::to_string(n);
        REFUSED(cholupdate_d_update(factor.get(), -n, v.data(), n, nullptr), CHOLUPDATE_INVALID_ARGUMENT, expected.c_str());
    }
    double log_det = 0;
    CHECK(cholupdate_d_log_det(factor.get(), &log_det) == CHOLUPDATE_OK);
    CHECK(log_det - static_cast<double>(n) * 0.6931471805599453 < 1e-11);
}

// One thread at a time has the library's threads awake. This one may end without letting them sleep.
void works_awake(std::int64_t n) {
    CHECK(cholupdate_keep_awake(4) == CHOLUPDATE_OK);
    works(n);
    if (n != 300) CHECK(cholupdate_let_sleep() == CHOLUPDATE_OK);
}

}  // namespace

int main() {
    std::vector<std::thread> threads;
    for (std::int64_t n : {3, 40, 150, 300}) threads.emplace_back(works, n);
    for (std::int64_t n : {150, 300}) threads.emplace_back(works_awake, n);
    const Factor shared = identity(100);
    std::atomic<int> solved{0};
    for (int reader = 0; reader < 3; reader++) {
        threads.emplace_back([&] {
            std::vector<double> b(100, 2.0);
            CHECK(cholupdate_d_solve(shared.get(), 1, b.data(), 100) == CHOLUPDATE_OK);
            solved += b[99] > 0.999 && b[99] < 1.001;
        });
    }
    for (auto &thread : threads) thread.join();
    CHECK(solved == 3);
    std::puts("threads: ok");
}
