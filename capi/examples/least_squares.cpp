// Least squares over the last observations of a stream: one is added and one removed in each call.
#include <cholupdate.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace {

void must(cholupdate_status status) {
    if (status != CHOLUPDATE_OK) {
        std::array<char, 256> message{};
        cholupdate_last_error(message.data(), message.size());
        throw std::runtime_error(message.data());
    }
}

struct Free {
    void operator()(cholupdate_d *factor) const { cholupdate_d_free(factor); }
};

std::array<double, 3> observation(int at) {
    const double t = 0.1 * at;
    return {1.0, t, std::sin(t)};
}

}  // namespace

int main() {
    const std::array<double, 3> truth{2.0, -1.0, 0.5};
    const std::array<double, 2> weights{1.0, -1.0};
    const int window = 50;
    std::array<double, 9> gram{};
    std::array<double, 3> moments{};
    const auto take = [&](int at, double sign) {
        const auto row = observation(at);
        const double y = row[0] * truth[0] + row[1] * truth[1] + row[2] * truth[2];
        for (std::size_t i = 0; i < 3; i++) moments[i] += sign * row[i] * y;
    };
    for (int at = 0; at < window; at++) {
        const auto row = observation(at);
        for (std::size_t i = 0; i < 9; i++) gram[i] += row[i % 3] * row[i / 3];
        take(at, 1.0);
    }
    cholupdate_d *made = nullptr;
    must(cholupdate_d_new(3, gram.data(), 3, 'L', nullptr, &made));
    const std::unique_ptr<cholupdate_d, Free> factor(made);

    for (int at = window; at < 4 * window; at++) {
        const auto comes = observation(at), goes = observation(at - window);
        const std::array<double, 6> v{comes[0], comes[1], comes[2], goes[0], goes[1], goes[2]};
        must(cholupdate_d_modify(factor.get(), 2, v.data(), 3, weights.data(), nullptr));
        take(at, 1.0);
        take(at - window, -1.0);
    }
    auto x = moments;
    must(cholupdate_d_solve(factor.get(), 1, x.data(), 3));
    std::printf("x = (%.6f, %.6f, %.6f)\n", x[0], x[1], x[2]);
    return std::abs(x[0] - truth[0]) + std::abs(x[1] - truth[1]) + std::abs(x[2] - truth[2]) < 1e-8 ? 0 : 1;
}
