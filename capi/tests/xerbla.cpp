// A program's own xerbla_ may throw, as Octave's does: the exception passes through the drop-in library.
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>

extern "C" {
void dch1dn_(const int *n, double *r, const int *ldr, double *u, double *w, int *info);

void xerbla_(const char *name, const int *info, std::size_t length) {
    throw std::invalid_argument(std::string(name, length) + " " + std::to_string(*info));
}
}

int main() {
    const int n = -1, ldr = 1;
    double r = 1, u = 1, w = 1;
    int info = 0;
    try {
        dch1dn_(&n, &r, &ldr, &u, &w, &info);
    } catch (const std::invalid_argument &error) {
        std::puts("xerbla: ok");
        return std::string(error.what()) == "DCH1DN 1" && info == -1 ? 0 : 1;
    }
    return 1;
}
