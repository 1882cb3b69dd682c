/* cholupdate_mpi: a Cholesky factor whose rows are distributed over the processes of an MPI program, kept current while its matrix
 * changes.
 *
 * Given A = L L^T (n x n) and V (n x k), a factor becomes that of A + V diag(w) V^T in O(k n^2) operations, of which each of P processes
 * does its part. The rows are divided into blocks, and block i belongs to process i mod P: in ScaLAPACK's words, a P x 1 process grid
 * with square blocks. cholupdate_mpi_rows_of() and cholupdate_mpi_row_of() say which rows are a process's local rows.
 *
 * Matrices are column-major: entry (i, j) of `a` is a[i + j * lda], and lda is at least the number of rows. Rows and columns
 * are counted from 0. Of symmetric matrices, and of L, the lower triangle is read; where L is written it is zero above the diagonal.
 * Vectors of one column are matrices of one column.
 *
 * All processes of the communicator make a call together, in the same order, unless the function says that the other processes need
 * not call it. Arguments are the same on all of them, except for local rows, pointers, leading dimensions and threads. The factor has a
 * copy of the communicator, and does not use the caller's after the call that makes it.
 *
 * Every function that can fail returns a status. CHOLUPDATE_MPI_OK is 0. After any other, cholupdate_mpi_last_error() has a sentence that
 * names the argument, nothing that a pointer leads to has been changed, and the factor is bit for bit as it was, unless the status is
 * CHOLUPDATE_MPI_POISONED or what cholupdate_mpi_safeguard says of CHOLUPDATE_MPI_SAFEGUARD_NONE applies. A call of all processes returns
 * the same status on all of them, with the same message: an error of one is an error of all, and none is left waiting. The exceptions
 * are errors of MPI itself, which end the program, and a `factor` that is NULL on some processes only, which have
 * no communicator then by which the others could know. In the same way all processes give a valid `comm`.
 *
 * A pointer is NULL or leads to what the function says. NULL is an error, except for an array without entries and where
 * the function says otherwise. Arrays that are written overlap no others. Nothing is kept of an array after the call.
 *
 * MPI is initialized before the first call, and permits calls of the thread that calls the factor: MPI_THREAD_FUNNELED if that is the
 * main thread, MPI_THREAD_MULTIPLE if several threads use different factors at once. One factor is used by one thread at a time.
 *
 * "Returns" names the statuses beside CHOLUPDATE_MPI_OK and CHOLUPDATE_MPI_INTERNAL, without CHOLUPDATE_MPI_, but for one: SINGULAR where
 * A is singular and the function takes a regular one.
 *
 * Names with _d_ are for double precision, those with _s_ for single. All else is the same.
 */


#ifndef CHOLUPDATE_MPI_H
#define CHOLUPDATE_MPI_H

/* Made by cbindgen from mpi/src/capi: change it there. */

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The status of a call. The numbers are those of cholupdate_status; 7 to 10 are for devices, and not used here.
 */
typedef enum {
  /**
   * Success.
   */
  CHOLUPDATE_MPI_OK = 0,
  /**
   * A pointer is NULL that must not be.
   */
  CHOLUPDATE_MPI_NULL_POINTER = 1,
  /**
   * A size, an index, a setting or a descriptor is out of range, or MPI is not initialized.
   */
  CHOLUPDATE_MPI_INVALID_ARGUMENT = 2,
  /**
   * An argument holds a NaN or an infinity.
   */
  CHOLUPDATE_MPI_NOT_FINITE = 3,
  /**
   * Entries of an argument are so large that their squares could overflow.
   */
  CHOLUPDATE_MPI_OVERFLOW = 4,
  /**
   * The matrix asked for is not positive definite. cholupdate_mpi_last_error_column() returns the column.
   */
  CHOLUPDATE_MPI_NOT_POSITIVE_DEFINITE = 5,
  /**
   * The factor was lost in an earlier call that failed while it worked in place. It can only be freed.
   */
  CHOLUPDATE_MPI_POISONED = 6,
  /**
   * A defect of the library: please report it. In a call of all processes a defect ends the program, since the others would wait.
   */
  CHOLUPDATE_MPI_INTERNAL = 11,
  /**
   * A is singular, and the call needs a regular A. Enough updates make A regular. cholupdate_mpi_last_error_column() returns the
   * first column whose pivot is zero.
   */
  CHOLUPDATE_MPI_SINGULAR = 12,
  /**
   * The processes have made different calls, or an argument differs between them that must be the same.
   */
  CHOLUPDATE_MPI_DIFFERENT_ARGUMENTS = 13,
  /**
   * ScaLAPACK's library was not found on one of the processes.
   */
  CHOLUPDATE_MPI_SCALAPACK_MISSING = 14,
} cholupdate_mpi_status;

/**
 * Which rows of a matrix with n rows a process gives.
 */
typedef enum {
  /**
   * Its local rows, in order.
   */
  CHOLUPDATE_MPI_ROWS_MINE = 0,
  /**
   * All n rows. Every process that does so gives the same.
   */
  CHOLUPDATE_MPI_ROWS_ALL = 1,
} cholupdate_mpi_rows;

/**
 * How a modification that may break down preserves the factor. Updates cannot break down, and cost nothing more.
 */
typedef enum {
  /**
   * The new factor is written to a shadow buffer: costs memory for another factor.
   */
  CHOLUPDATE_MPI_SAFEGUARD_SHADOW_BUFFER = 0,
  /**
   * The work is done once without storing the result, and then again: costs twice the time.
   */
  CHOLUPDATE_MPI_SAFEGUARD_DRY_RUN = 1,
  /**
   * No safeguard: a breakdown loses the factor, and every later call with it returns CHOLUPDATE_MPI_POISONED.
   */
  CHOLUPDATE_MPI_SAFEGUARD_NONE = 2,
} cholupdate_mpi_safeguard;

/**
 * A process's part of a factor in double precision, of a matrix A (n x n).
 */
typedef struct cholupdate_mpi_d cholupdate_mpi_d;

/**
 * A process's part of a factor in single precision, of a matrix A (n x n).
 */
typedef struct cholupdate_mpi_s cholupdate_mpi_s;

/**
 * Settings of a factor. cholupdate_mpi_options_init() sets the defaults, which can then be changed. Functions with a pointer to
 * settings accept NULL for the defaults.
 */
typedef struct {
  /**
   * sizeof(cholupdate_mpi_options): later versions may have more settings.
   */
  size_t size;
  /**
   * The most threads of this process; 0, the default, for all available threads. Results do not depend on it.
   */
  int64_t threads;
  /**
   * One of cholupdate_mpi_safeguard, the same on all processes; CHOLUPDATE_MPI_SAFEGUARD_SHADOW_BUFFER by default.
   */
  int32_t safeguard;
  /**
   * Rows of a block, the same on all processes: a multiple of 16; 256 by default. With fewer rows the work is divided more
   * evenly, and processes wait for each other more often.
   */
  int64_t block;
} cholupdate_mpi_options;

/**
 * The report of a change of a factor, the same on all processes. Functions with a pointer to a report accept NULL. After an error
 * the report is not written.
 */
typedef struct {
  /**
   * The smallest ratio of a new squared pivot to the old one: about -log10 of it decimal digits are lost. Never below 1 for
   * an update.
   */
  double min_pivot_ratio;
  /**
   * log det of the new A minus that of the old one.
   */
  double log_det_change;
} cholupdate_mpi_report;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library, as "0.1.0". The string is static.
 */
const char *cholupdate_mpi_version(void);

/**
 * Returns 1 if ScaLAPACK's library has been found, otherwise 0. It is opened when it is first asked for, by the name in the
 * environment variable CHOLUPDATE_SCALAPACK or else by its usual names.
 */
int32_t cholupdate_mpi_has_scalapack(void);

/**
 * Describes a status in a few words. The string is static.
 */
const char *cholupdate_mpi_status_string(int32_t status);

/**
 * Copies this thread's last error message, which names the argument, to the caller's `message` of `size` bytes, shortened to
 * fit and terminated by a zero. It is empty if no call has failed. Does nothing if `message` is NULL or `size` is 0.
 */
void cholupdate_mpi_last_error(char *message,
                               size_t size);

/**
 * Returns the column of this thread's last error if that is CHOLUPDATE_MPI_NOT_POSITIVE_DEFINITE or CHOLUPDATE_MPI_SINGULAR: the
 * first column whose squared pivot is not positive. Returns -1 otherwise.
 */
int64_t cholupdate_mpi_last_error_column(void);

/**
 * Sets the defaults.
 *
 * Returns NULL_POINTER.
 */
cholupdate_mpi_status cholupdate_mpi_options_init(cholupdate_mpi_options *options);

/**
 * Writes the number of rows that this process has of a factor of order n to `*rows`. The other processes need not call it.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_mpi_status cholupdate_mpi_rows_of(MPI_Comm comm,
                                             int64_t n,
                                             const cholupdate_mpi_options *options,
                                             int64_t *rows);

/**
 * Writes the row of A that is local row `local` of this process to `*row`. The other processes need not call it.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_mpi_status cholupdate_mpi_row_of(MPI_Comm comm,
                                            int64_t n,
                                            const cholupdate_mpi_options *options,
                                            int64_t local,
                                            int64_t *row);

/**
 * Takes part in the call of the other processes that makes a factor on `comm`, as a process that cannot make it: all return
 * INVALID_ARGUMENT, with this message. For bindings, which may find an argument wrong before they can pass it.
 *
 * Returns INVALID_ARGUMENT, or the status of the others.
 */
cholupdate_mpi_status cholupdate_mpi_refuse(MPI_Comm comm,
                                            const char *message);

/**
 * Factors A (n x n), of which each process gives its local rows (local rows x n). The caller owns `*factor` and frees it by
 * cholupdate_mpi_d_free().
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, DIFFERENT_ARGUMENTS, NOT_FINITE, OVERFLOW or NOT_POSITIVE_DEFINITE.
 */
cholupdate_mpi_status cholupdate_mpi_d_new(MPI_Comm comm,
                                           int64_t n,
                                           const double *a,
                                           int64_t lda,
                                           const cholupdate_mpi_options *options,
                                           cholupdate_mpi_d **factor);

/**
 * Makes a factor of a known L (n x n), of which each process gives its local rows (local rows x n). Columns of L with a negative
 * diagonal entry are negated, which leaves L L^T as it is. With a zero on the diagonal A is singular. The caller owns `*factor` and
 * frees it by cholupdate_mpi_d_free(); `l` is copied.
 *
 * Returns as cholupdate_mpi_d_new() except NOT_POSITIVE_DEFINITE.
 */
cholupdate_mpi_status cholupdate_mpi_d_from_factor(MPI_Comm comm,
                                                   int64_t n,
                                                   const double *l,
                                                   int64_t ldl,
                                                   const cholupdate_mpi_options *options,
                                                   cholupdate_mpi_d **factor);

/**
 * Factors A (n x n), which process `root` has whole. On the others `a` and `lda` are not read. The caller owns `*factor` and frees
 * it by cholupdate_mpi_d_free().
 *
 * Returns as cholupdate_mpi_d_new().
 */
cholupdate_mpi_status cholupdate_mpi_d_scatter(MPI_Comm comm,
                                               int64_t root,
                                               int64_t n,
                                               const double *a,
                                               int64_t lda,
                                               const cholupdate_mpi_options *options,
                                               cholupdate_mpi_d **factor);

/**
 * Makes a factor of a known L (n x n), which process `root` has whole, as cholupdate_mpi_d_from_factor(). On the others `l` and `ldl`
 * are not read. The caller owns `*factor` and frees it by cholupdate_mpi_d_free().
 *
 * Returns as cholupdate_mpi_d_from_factor().
 */
cholupdate_mpi_status cholupdate_mpi_d_scatter_factor(MPI_Comm comm,
                                                      int64_t root,
                                                      int64_t n,
                                                      const double *l,
                                                      int64_t ldl,
                                                      const cholupdate_mpi_options *options,
                                                      cholupdate_mpi_d **factor);

/**
 * Takes part in the call of the other processes with this factor, whichever it is, as a process that cannot make it: all return
 * INVALID_ARGUMENT, with this message. For bindings, which may find an argument wrong before they can pass it.
 *
 * Returns INVALID_ARGUMENT, or the status of the others.
 */
cholupdate_mpi_status cholupdate_mpi_d_refuse(const cholupdate_mpi_d *factor,
                                              const char *message);

/**
 * Frees a factor. All processes call it, before or after MPI is finalized. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_mpi_d_free(cholupdate_mpi_d *factor);

/**
 * Factors A (n x n), of which each process gives its local rows (local rows x n). The caller owns `*factor` and frees it by
 * cholupdate_mpi_s_free().
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, DIFFERENT_ARGUMENTS, NOT_FINITE, OVERFLOW or NOT_POSITIVE_DEFINITE.
 */
cholupdate_mpi_status cholupdate_mpi_s_new(MPI_Comm comm,
                                           int64_t n,
                                           const float *a,
                                           int64_t lda,
                                           const cholupdate_mpi_options *options,
                                           cholupdate_mpi_s **factor);

/**
 * Makes a factor of a known L (n x n), of which each process gives its local rows (local rows x n). Columns of L with a negative
 * diagonal entry are negated, which leaves L L^T as it is. With a zero on the diagonal A is singular. The caller owns `*factor` and
 * frees it by cholupdate_mpi_s_free(); `l` is copied.
 *
 * Returns as cholupdate_mpi_s_new() except NOT_POSITIVE_DEFINITE.
 */
cholupdate_mpi_status cholupdate_mpi_s_from_factor(MPI_Comm comm,
                                                   int64_t n,
                                                   const float *l,
                                                   int64_t ldl,
                                                   const cholupdate_mpi_options *options,
                                                   cholupdate_mpi_s **factor);

/**
 * Factors A (n x n), which process `root` has whole. On the others `a` and `lda` are not read. The caller owns `*factor` and frees
 * it by cholupdate_mpi_s_free().
 *
 * Returns as cholupdate_mpi_s_new().
 */
cholupdate_mpi_status cholupdate_mpi_s_scatter(MPI_Comm comm,
                                               int64_t root,
                                               int64_t n,
                                               const float *a,
                                               int64_t lda,
                                               const cholupdate_mpi_options *options,
                                               cholupdate_mpi_s **factor);

/**
 * Makes a factor of a known L (n x n), which process `root` has whole, as cholupdate_mpi_s_from_factor(). On the others `l` and `ldl`
 * are not read. The caller owns `*factor` and frees it by cholupdate_mpi_s_free().
 *
 * Returns as cholupdate_mpi_s_from_factor().
 */
cholupdate_mpi_status cholupdate_mpi_s_scatter_factor(MPI_Comm comm,
                                                      int64_t root,
                                                      int64_t n,
                                                      const float *l,
                                                      int64_t ldl,
                                                      const cholupdate_mpi_options *options,
                                                      cholupdate_mpi_s **factor);

/**
 * Takes part in the call of the other processes with this factor, whichever it is, as a process that cannot make it: all return
 * INVALID_ARGUMENT, with this message. For bindings, which may find an argument wrong before they can pass it.
 *
 * Returns INVALID_ARGUMENT, or the status of the others.
 */
cholupdate_mpi_status cholupdate_mpi_s_refuse(const cholupdate_mpi_s *factor,
                                              const char *message);

/**
 * Frees a factor. All processes call it, before or after MPI is finalized. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_mpi_s_free(cholupdate_mpi_s *factor);

/**
 * Writes n to `*n`. The other processes need not call it.
 *
 * Returns NULL_POINTER.
 */
cholupdate_mpi_status cholupdate_mpi_d_order(const cholupdate_mpi_d *factor, int64_t *n);

/**
 * Writes the number of rows of this process to `*rows`. The other processes need not call it.
 *
 * Returns NULL_POINTER.
 */
cholupdate_mpi_status cholupdate_mpi_d_local_rows(const cholupdate_mpi_d *factor, int64_t *rows);

/**
 * Writes log det A to `*log_det`. The other processes need not call it.
 *
 * Returns NULL_POINTER or POISONED.
 */
cholupdate_mpi_status cholupdate_mpi_d_log_det(const cholupdate_mpi_d *factor, double *log_det);

/**
 * Writes the diagonal of L to the caller's array `pivots` (n). The other processes need not call it.
 *
 * Returns NULL_POINTER or POISONED.
 */
cholupdate_mpi_status cholupdate_mpi_d_pivots(const cholupdate_mpi_d *factor, double *pivots);

/**
 * Writes n to `*n`. The other processes need not call it.
 *
 * Returns NULL_POINTER.
 */
cholupdate_mpi_status cholupdate_mpi_s_order(const cholupdate_mpi_s *factor, int64_t *n);

/**
 * Writes the number of rows of this process to `*rows`. The other processes need not call it.
 *
 * Returns NULL_POINTER.
 */
cholupdate_mpi_status cholupdate_mpi_s_local_rows(const cholupdate_mpi_s *factor, int64_t *rows);

/**
 * Writes log det A to `*log_det`. The other processes need not call it.
 *
 * Returns NULL_POINTER or POISONED.
 */
cholupdate_mpi_status cholupdate_mpi_s_log_det(const cholupdate_mpi_s *factor, float *log_det);

/**
 * Writes the diagonal of L to the caller's array `pivots` (n). The other processes need not call it.
 *
 * Returns NULL_POINTER or POISONED.
 */
cholupdate_mpi_status cholupdate_mpi_s_pivots(const cholupdate_mpi_s *factor, float *pivots);

/**
 * A <- A + V V^T. V (n x k) is given by one of cholupdate_mpi_rows, `rows`, and not changed; `report` may be NULL.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, DIFFERENT_ARGUMENTS, NOT_FINITE, OVERFLOW or POISONED.
 */
cholupdate_mpi_status cholupdate_mpi_d_update(cholupdate_mpi_d *factor,
                                              int64_t k,
                                              const double *v,
                                              int64_t ldv,
                                              int32_t rows,
                                              cholupdate_mpi_report *report);

/**
 * A <- A - V V^T. V (n x k) is given by one of cholupdate_mpi_rows, `rows`, and not changed; `report` may be NULL.
 *
 * Returns as cholupdate_mpi_d_update(), and NOT_POSITIVE_DEFINITE.
 */
cholupdate_mpi_status cholupdate_mpi_d_downdate(cholupdate_mpi_d *factor,
                                                int64_t k,
                                                const double *v,
                                                int64_t ldv,
                                                int32_t rows,
                                                cholupdate_mpi_report *report);

/**
 * A <- A + V diag(w) V^T, with any mix of signs: whether it succeeds depends on the result alone. V (n x k) is given by one of
 * cholupdate_mpi_rows, `rows`, and `weights` (k) are the same on all processes; both are not changed. NULL `weights` are those of an
 * update, which are all 1; `report` may be NULL.
 *
 * Returns as cholupdate_mpi_d_downdate().
 */
cholupdate_mpi_status cholupdate_mpi_d_modify(cholupdate_mpi_d *factor,
                                              int64_t k,
                                              const double *v,
                                              int64_t ldv,
                                              int32_t rows,
                                              const double *weights,
                                              cholupdate_mpi_report *report);

/**
 * Writes 1 to `*can` if cholupdate_mpi_d_downdate() with the same V would succeed, otherwise 0, by the same arithmetic. V (n x k)
 * and the matrix are not changed; the factor's working memory is.
 *
 * Returns as cholupdate_mpi_d_update().
 */
cholupdate_mpi_status cholupdate_mpi_d_can_downdate(cholupdate_mpi_d *factor,
                                                    int64_t k,
                                                    const double *v,
                                                    int64_t ldv,
                                                    int32_t rows,
                                                    int32_t *can);

/**
 * A <- A + V V^T. V (n x k) is given by one of cholupdate_mpi_rows, `rows`, and not changed; `report` may be NULL.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, DIFFERENT_ARGUMENTS, NOT_FINITE, OVERFLOW or POISONED.
 */
cholupdate_mpi_status cholupdate_mpi_s_update(cholupdate_mpi_s *factor,
                                              int64_t k,
                                              const float *v,
                                              int64_t ldv,
                                              int32_t rows,
                                              cholupdate_mpi_report *report);

/**
 * A <- A - V V^T. V (n x k) is given by one of cholupdate_mpi_rows, `rows`, and not changed; `report` may be NULL.
 *
 * Returns as cholupdate_mpi_s_update(), and NOT_POSITIVE_DEFINITE.
 */
cholupdate_mpi_status cholupdate_mpi_s_downdate(cholupdate_mpi_s *factor,
                                                int64_t k,
                                                const float *v,
                                                int64_t ldv,
                                                int32_t rows,
                                                cholupdate_mpi_report *report);

/**
 * A <- A + V diag(w) V^T, with any mix of signs: whether it succeeds depends on the result alone. V (n x k) is given by one of
 * cholupdate_mpi_rows, `rows`, and `weights` (k) are the same on all processes; both are not changed. NULL `weights` are those of an
 * update, which are all 1; `report` may be NULL.
 *
 * Returns as cholupdate_mpi_s_downdate().
 */
cholupdate_mpi_status cholupdate_mpi_s_modify(cholupdate_mpi_s *factor,
                                              int64_t k,
                                              const float *v,
                                              int64_t ldv,
                                              int32_t rows,
                                              const float *weights,
                                              cholupdate_mpi_report *report);

/**
 * Writes 1 to `*can` if cholupdate_mpi_s_downdate() with the same V would succeed, otherwise 0, by the same arithmetic. V (n x k)
 * and the matrix are not changed; the factor's working memory is.
 *
 * Returns as cholupdate_mpi_s_update().
 */
cholupdate_mpi_status cholupdate_mpi_s_can_downdate(cholupdate_mpi_s *factor,
                                                    int64_t k,
                                                    const float *v,
                                                    int64_t ldv,
                                                    int32_t rows,
                                                    int32_t *can);

/**
 * Appends r rows and columns: B above K are the new columns of A, `cross` (n x r) and `corner` (r x r). B is given by one of
 * cholupdate_mpi_rows, `rows`; K is the same on all processes. Both are not changed; `report` may be NULL.
 *
 * Returns as cholupdate_mpi_d_downdate(); the column is that of the new A.
 */
cholupdate_mpi_status cholupdate_mpi_d_append(cholupdate_mpi_d *factor,
                                              int64_t r,
                                              const double *cross,
                                              int64_t ldcross,
                                              int32_t rows,
                                              const double *corner,
                                              int64_t ldcorner,
                                              cholupdate_mpi_report *report);

/**
 * Removes the last `count` rows and columns of A; `report` may be NULL.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, DIFFERENT_ARGUMENTS or POISONED.
 */
cholupdate_mpi_status cholupdate_mpi_d_remove_last(cholupdate_mpi_d *factor,
                                                   int64_t count,
                                                   cholupdate_mpi_report *report);

/**
 * Appends r rows and columns: B above K are the new columns of A, `cross` (n x r) and `corner` (r x r). B is given by one of
 * cholupdate_mpi_rows, `rows`; K is the same on all processes. Both are not changed; `report` may be NULL.
 *
 * Returns as cholupdate_mpi_s_downdate(); the column is that of the new A.
 */
cholupdate_mpi_status cholupdate_mpi_s_append(cholupdate_mpi_s *factor,
                                              int64_t r,
                                              const float *cross,
                                              int64_t ldcross,
                                              int32_t rows,
                                              const float *corner,
                                              int64_t ldcorner,
                                              cholupdate_mpi_report *report);

/**
 * Removes the last `count` rows and columns of A; `report` may be NULL.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, DIFFERENT_ARGUMENTS or POISONED.
 */
cholupdate_mpi_status cholupdate_mpi_s_remove_last(cholupdate_mpi_s *factor,
                                                   int64_t count,
                                                   cholupdate_mpi_report *report);

/**
 * B (n x nrhs) <- X with A X = B. Each process has its local rows of B, and gets those of X, in the caller's array `b` (local rows x
 * nrhs).
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, DIFFERENT_ARGUMENTS, NOT_FINITE or POISONED.
 */
cholupdate_mpi_status cholupdate_mpi_d_solve(const cholupdate_mpi_d *factor,
                                             int64_t nrhs,
                                             double *b,
                                             int64_t ldb);

/**
 * B (n x nrhs) <- Y with L Y = B, as cholupdate_mpi_d_solve().
 *
 * Returns as cholupdate_mpi_d_solve().
 */
cholupdate_mpi_status cholupdate_mpi_d_solve_l(const cholupdate_mpi_d *factor,
                                               int64_t nrhs,
                                               double *b,
                                               int64_t ldb);

/**
 * B (n x nrhs) <- X with L^T X = B, as cholupdate_mpi_d_solve().
 *
 * Returns as cholupdate_mpi_d_solve().
 */
cholupdate_mpi_status cholupdate_mpi_d_solve_lt(const cholupdate_mpi_d *factor,
                                                int64_t nrhs,
                                                double *b,
                                                int64_t ldb);

/**
 * B (n x nrhs) <- X with A X = B. Each process has its local rows of B, and gets those of X, in the caller's array `b` (local rows x
 * nrhs).
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, DIFFERENT_ARGUMENTS, NOT_FINITE or POISONED.
 */
cholupdate_mpi_status cholupdate_mpi_s_solve(const cholupdate_mpi_s *factor,
                                             int64_t nrhs,
                                             float *b,
                                             int64_t ldb);

/**
 * B (n x nrhs) <- Y with L Y = B, as cholupdate_mpi_s_solve().
 *
 * Returns as cholupdate_mpi_s_solve().
 */
cholupdate_mpi_status cholupdate_mpi_s_solve_l(const cholupdate_mpi_s *factor,
                                               int64_t nrhs,
                                               float *b,
                                               int64_t ldb);

/**
 * B (n x nrhs) <- X with L^T X = B, as cholupdate_mpi_s_solve().
 *
 * Returns as cholupdate_mpi_s_solve().
 */
cholupdate_mpi_status cholupdate_mpi_s_solve_lt(const cholupdate_mpi_s *factor,
                                                int64_t nrhs,
                                                float *b,
                                                int64_t ldb);

/**
 * Copies L (n x n) to the array `l` of process `root`. On the others `l` and `ldl` are not used.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, DIFFERENT_ARGUMENTS or POISONED.
 */
cholupdate_mpi_status cholupdate_mpi_d_gather(const cholupdate_mpi_d *factor,
                                              int64_t root,
                                              double *l,
                                              int64_t ldl);

/**
 * Copies the local rows of L to the caller's array `l` (local rows x n). The other processes need not call it.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or POISONED.
 */
cholupdate_mpi_status cholupdate_mpi_d_to_rows(const cholupdate_mpi_d *factor,
                                               double *l,
                                               int64_t ldl);

/**
 * Copies L (n x n) to the array `l` of process `root`. On the others `l` and `ldl` are not used.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, DIFFERENT_ARGUMENTS or POISONED.
 */
cholupdate_mpi_status cholupdate_mpi_s_gather(const cholupdate_mpi_s *factor,
                                              int64_t root,
                                              float *l,
                                              int64_t ldl);

/**
 * Copies the local rows of L to the caller's array `l` (local rows x n). The other processes need not call it.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or POISONED.
 */
cholupdate_mpi_status cholupdate_mpi_s_to_rows(const cholupdate_mpi_s *factor,
                                               float *l,
                                               int64_t ldl);

/**
 * Factors a matrix A (n x n) of ScaLAPACK, on any process grid whose processes are among those of `comm`. Each process gives the
 * descriptor (9 numbers) and its local array, which may be NULL if it has no entries of A. A process outside the grid has the context
 * -1 in the descriptor, and the same M, N, MB, NB, RSRC and CSRC as the others. The caller owns `*factor` and frees it by
 * cholupdate_mpi_d_free().
 *
 * Returns as cholupdate_mpi_d_new(), and SCALAPACK_MISSING.
 */
cholupdate_mpi_status cholupdate_mpi_d_from_scalapack(MPI_Comm comm,
                                                      int64_t n,
                                                      const int *descriptor,
                                                      const double *a,
                                                      const cholupdate_mpi_options *options,
                                                      cholupdate_mpi_d **factor);

/**
 * Makes a factor of a known L (n x n) in a matrix of ScaLAPACK, as cholupdate_mpi_d_from_factor() and
 * cholupdate_mpi_d_from_scalapack(). The caller owns `*factor` and frees it by cholupdate_mpi_d_free().
 *
 * Returns as cholupdate_mpi_d_from_factor(), and SCALAPACK_MISSING.
 */
cholupdate_mpi_status cholupdate_mpi_d_from_scalapack_factor(MPI_Comm comm,
                                                             int64_t n,
                                                             const int *descriptor,
                                                             const double *l,
                                                             const cholupdate_mpi_options *options,
                                                             cholupdate_mpi_d **factor);

/**
 * Copies L to a matrix of ScaLAPACK (n x n). Each process gives the descriptor (9 numbers) and its local array `l`, as with
 * cholupdate_mpi_d_from_scalapack().
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, DIFFERENT_ARGUMENTS, POISONED or SCALAPACK_MISSING.
 */
cholupdate_mpi_status cholupdate_mpi_d_to_scalapack(const cholupdate_mpi_d *factor,
                                                    const int *descriptor,
                                                    double *l);

/**
 * Factors a matrix A (n x n) of ScaLAPACK, on any process grid whose processes are among those of `comm`. Each process gives the
 * descriptor (9 numbers) and its local array, which may be NULL if it has no entries of A. A process outside the grid has the context
 * -1 in the descriptor, and the same M, N, MB, NB, RSRC and CSRC as the others. The caller owns `*factor` and frees it by
 * cholupdate_mpi_s_free().
 *
 * Returns as cholupdate_mpi_s_new(), and SCALAPACK_MISSING.
 */
cholupdate_mpi_status cholupdate_mpi_s_from_scalapack(MPI_Comm comm,
                                                      int64_t n,
                                                      const int *descriptor,
                                                      const float *a,
                                                      const cholupdate_mpi_options *options,
                                                      cholupdate_mpi_s **factor);

/**
 * Makes a factor of a known L (n x n) in a matrix of ScaLAPACK, as cholupdate_mpi_s_from_factor() and
 * cholupdate_mpi_s_from_scalapack(). The caller owns `*factor` and frees it by cholupdate_mpi_s_free().
 *
 * Returns as cholupdate_mpi_s_from_factor(), and SCALAPACK_MISSING.
 */
cholupdate_mpi_status cholupdate_mpi_s_from_scalapack_factor(MPI_Comm comm,
                                                             int64_t n,
                                                             const int *descriptor,
                                                             const float *l,
                                                             const cholupdate_mpi_options *options,
                                                             cholupdate_mpi_s **factor);

/**
 * Copies L to a matrix of ScaLAPACK (n x n). Each process gives the descriptor (9 numbers) and its local array `l`, as with
 * cholupdate_mpi_s_from_scalapack().
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, DIFFERENT_ARGUMENTS, POISONED or SCALAPACK_MISSING.
 */
cholupdate_mpi_status cholupdate_mpi_s_to_scalapack(const cholupdate_mpi_s *factor,
                                                    const int *descriptor,
                                                    float *l);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CHOLUPDATE_MPI_H */
