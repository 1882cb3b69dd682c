// The rank-one update and downdate of Eigen's LLT on a factor that the caller owns (lower, by columns), without the copy of it
// that LLT::rankUpdate works on: k of them, one after the other.
#include <Eigen/Dense>

template <class T>
static int modify(T* l, std::ptrdiff_t n, std::ptrdiff_t stride, const T* v, std::ptrdiff_t k, typename Eigen::NumTraits<T>::Real sign) {
    using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
    using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    Eigen::Map<Matrix, 0, Eigen::OuterStride<>> factor(l, n, n, Eigen::OuterStride<>(stride));
    for (std::ptrdiff_t r = 0; r < k; ++r) {
        Eigen::Map<const Vector> column(v + r * n, n);
        const auto broken = Eigen::internal::llt_inplace<T, Eigen::Lower>::rankUpdate(factor, column, sign);
        if (broken >= 0) return 1;
    }
    return 0;
}

extern "C" int eigen_f32(float* l, std::ptrdiff_t n, std::ptrdiff_t stride, const float* v, std::ptrdiff_t k, float sign) {
    return modify(l, n, stride, v, k, sign);
}
extern "C" int eigen_f64(double* l, std::ptrdiff_t n, std::ptrdiff_t stride, const double* v, std::ptrdiff_t k, double sign) {
    return modify(l, n, stride, v, k, sign);
}
extern "C" int eigen_c64(std::complex<double>* l, std::ptrdiff_t n, std::ptrdiff_t stride, const std::complex<double>* v, std::ptrdiff_t k,
                         double sign) {
    return modify(l, n, stride, v, k, sign);
}
// The rank-one update of Eigen's LDLT on a factor without permutations: unit L below the diagonal, D on it. V is overwritten.
extern "C" int eigen_ldlt_f64(double* ld, std::ptrdiff_t n, std::ptrdiff_t stride, double* v, std::ptrdiff_t k, double sign) {
    Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>> factor(ld, n, n, Eigen::OuterStride<>(stride));
    for (std::ptrdiff_t r = 0; r < k; ++r) {
        Eigen::Map<Eigen::VectorXd> column(v + r * n, n);
        if (!Eigen::internal::ldlt_inplace<Eigen::Lower>::updateInPlace(factor, column, sign)) return 1;
    }
    return 0;
}
extern "C" int eigen_version() { return EIGEN_WORLD_VERSION * 10000 + EIGEN_MAJOR_VERSION * 100 + EIGEN_MINOR_VERSION; }
