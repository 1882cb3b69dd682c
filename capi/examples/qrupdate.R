# A factor in R through the drop-in library: .Fortran copies its arguments and returns all of them.
# Rscript capi/examples/qrupdate.R LIBRARY
dyn.load(commandArgs(trailingOnly = TRUE)[1])

# The upper factor of R'R + u u', and of R'R - u u'.
chol_update <- function(r, u) {
  n <- nrow(r)
  .Fortran("dch1up", n, r = r, n, as.double(u), double(n))$r
}
chol_downdate <- function(r, u) {
  n <- nrow(r)
  out <- .Fortran("dch1dn", n, r = r, n, as.double(u), double(n), info = 0L)
  if (out$info != 0) stop("not positive definite, or singular: ", out$info)
  out$r
}

a <- crossprod(matrix(sin((1:60)^2), 12, 5))
u <- cos(1:5)
r <- chol_update(chol(a), u)
stopifnot(max(abs(crossprod(r) - a - tcrossprod(u))) < 1e-13)
stopifnot(max(abs(crossprod(chol_downdate(r, u)) - a)) < 1e-13)
refused <- tryCatch(chol_downdate(r, 100 * u), error = conditionMessage)
stopifnot(grepl("1", refused))
cat("R: ok\n")
