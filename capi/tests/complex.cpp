// std::complex numbers are those of the library.
#include "cholupdate.h"
#include "check.h"
#include <cmath>
#include <complex>
#include <memory>
#include <type_traits>
#include <vector>

namespace {

static_assert(std::is_same_v<cholupdate_c64, std::complex<double>> && std::is_same_v<cholupdate_c32, std::complex<float>>);

struct Free {
    void operator()(cholupdate_z *factor) const { cholupdate_z_free(factor); }
    void operator()(cholupdate_c *factor) const { cholupdate_c_free(factor); }
};

}  // namespace

int main() {
    using namespace std::complex_literals;
    // A <- A + v v^H is (5, 1 + i; 1 - i, 6), whose determinant is 28.
    const std::vector<std::complex<double>> a{4.0, 1.0 - 2.0i, 0.0, 5.0}, v{1.0, 1.0i};
    cholupdate_z *made = nullptr;
    CHECK(cholupdate_z_new(2, a.data(), 2, 'L', nullptr, &made) == CHOLUPDATE_OK);
    const std::unique_ptr<cholupdate_z, Free> factor(made);
    CHECK(cholupdate_z_update(factor.get(), 1, v.data(), 2, nullptr) == CHOLUPDATE_OK);
    double log_det = 0;
    CHECK(cholupdate_z_log_det(factor.get(), &log_det) == CHOLUPDATE_OK);
    CHECK(std::abs(log_det - std::log(28.0)) < 1e-14);
    std::vector<std::complex<double>> b{5.0 + 1.0i * (1.0 + 1.0i), 1.0 - 1.0i + 6.0i};
    CHECK(cholupdate_z_solve(factor.get(), 1, b.data(), 2) == CHOLUPDATE_OK);
    CHECK(std::abs(b[0] - 1.0) < 1e-14 && std::abs(b[1] - 1.0i) < 1e-14);

    const std::vector<std::complex<float>> single{4.0f, 1.0f - 2.0if, 0.0f, 5.0f};
    cholupdate_c *made_single = nullptr;
    CHECK(cholupdate_c_new(2, single.data(), 2, 'L', nullptr, &made_single) == CHOLUPDATE_OK);
    const std::unique_ptr<cholupdate_c, Free> other(made_single);
    std::vector<std::complex<float>> l(4);
    CHECK(cholupdate_c_to_factor(other.get(), 'L', l.data(), 2) == CHOLUPDATE_OK);
    CHECK(std::abs(l[0] - 2.0f) < 1e-6f && std::abs(l[1] - (0.5f - 1.0if)) < 1e-6f);
    std::puts("complex in C++: ok");
}
