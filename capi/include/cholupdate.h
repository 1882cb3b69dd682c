/* cholupdate: the Cholesky factor of a symmetric or Hermitian positive definite matrix, kept current while the matrix
 * changes.
 *
 * Given A = L L^T (n x n) and V (n x k), a factor becomes that of A + V diag(w) V^T in O(k n^2) operations.
 *
 * Matrices are column-major: entry (i, j) of `a` is a[i + j * lda], and lda is at least the number of rows. Rows and columns
 * are counted from 0. `uplo` is 'L' for a lower triangle, with A = L L^T, or 'U' for an upper one, with A = R^T R and R = L^T; the
 * other triangle is not read, and not written but by derivatives, which fill it with zeros. Vectors of one column are matrices of one
 * column.
 *
 * Every function that can fail returns a status. CHOLUPDATE_OK is 0. After any other, cholupdate_last_error() has a sentence that names
 * the argument, nothing that a pointer leads to has been changed, and the factor is bit for bit as it was, unless the status is
 * CHOLUPDATE_SOME_FAILED, which is for batches, CHOLUPDATE_POISONED or what cholupdate_safeguard says of CHOLUPDATE_SAFEGUARD_NONE applies. The factor is lost if
 * the GPU fails while changing it, if a shift on a GPU finds it singular to working precision, or after CHOLUPDATE_INTERNAL.
 *
 * A pointer is NULL or leads to what the function says. NULL is an error, except for an array without entries and where
 * the function says otherwise. Arrays that are written overlap no others. Nothing is kept of an array after the call.
 *
 * A batch, cholupdate_d_batch, is of many small factors. Its arrays hold `count` matrices: entry (i, j) of matrix b of `v` is
 * v[b * v_strides[0] + i * v_strides[1] + j * v_strides[2]], with strides of 0 or more. NULL strides are those of matrices one after the other,
 * each column-major. A row-major matrix, and an upper triangle where the lower one is read, has its last two strides exchanged. What is wrong with
 * one matrix leaves the others alone: the call returns CHOLUPDATE_SOME_FAILED, and `info` (count), which may be NULL, has for each matrix
 *     0          if it has not failed,
 *     1 + j      if the squared pivot of column j is not positive: it would not be positive definite, or is singular,
 *     -status    for any other reason, for example -CHOLUPDATE_NOT_FINITE.
 * A matrix that has failed is bit for bit as it was.
 *
 * With the engine CHOLUPDATE_CUDA a batch is in the memory of a GPU. Functions whose names end in _on_device take arrays there, which are read
 * and written on a stream of the caller's. They return without waiting for the device, and use V and B until the work is done; those that make a
 * batch, and those with weights, a mask or indices in host memory, wait. What a modification has done is on the device until the next one, or
 * until cholupdate_d_batch_reserve() or cholupdate_d_batch_replace(): cholupdate_d_batch_outcome() waits for it.
 *
 * A cholupdate_d_ldlt is the factor of a symmetric, possibly indefinite matrix: A = L S L^T, where L has a positive diagonal and S is
 * diagonal with entries of 1 and -1. Their numbers are the inertia of A: the numbers of its positive and negative eigenvalues. With
 * D = diag(l_jj^2 s_j) and a unit lower triangle this is L D L^T without pivoting. There is one for every order of the rows if A is
 * quasi-definite, as a regularized KKT matrix is, and otherwise as long as no leading minor of A is zero. Close to that the factor
 * loses digits: cholupdate_d_ldlt_growth() says how many, and a call whose result would have lost all returns CHOLUPDATE_UNSTABLE or
 * CHOLUPDATE_SINGULAR.
 *
 * The CUDA context that is current on the calling thread is so after every function.
 *
 * Different factors may be used by different threads at once. One factor may be read by many threads at once, through functions that take
 * a pointer to const, and used by no other while a function changes it.
 *
 * A process that is forked works on the thread that it has; the pool of threads stays with its parent. A GPU that its parent has used is not for it.
 *
 * "Returns" names the statuses beside CHOLUPDATE_OK and CHOLUPDATE_INTERNAL, without CHOLUPDATE_, but for two: INVALID_ARGUMENT where a
 * modification of the factor is in flight, as cholupdate_d_submit() begins it, and SINGULAR where A is singular, as with cholupdate_d_zeros(), and the
 * function takes a regular one.
 *
 * Names with _d_ are for double precision, those with _s_ for single. All else is the same.
 *
 * Names with _z_ are for complex numbers in double precision, those with _c_ for complex numbers in single precision, of the types
 * cholupdate_c64 and cholupdate_c32. A is Hermitian, and ^H, which is the conjugate transpose, takes the place of ^T everywhere:
 * A = L L^H with a real positive diagonal of L, for an `uplo` of 'U' A = R^H R and R = L^H, and a modification is A + V diag(w) V^H.
 * Names with _lt are for L^H. The imaginary part of the diagonal of A is not read. Weights, a decay, sums of squares, log det A, a
 * condition number, the signs of S and reports are real. There are all functions for a factor of a positive definite matrix, its
 * modifications in flight and its extensions, for that of an indefinite one, and for batches, except for those on arrays in the memory of
 * a GPU, what they have done, cholupdate_d_modify_array(), and derivatives. The engine is CHOLUPDATE_CPU; complex factors on another one
 * are refused with INVALID_ARGUMENT.
 */


#ifndef CHOLUPDATE_H
#define CHOLUPDATE_H

/* Made by cbindgen from capi/src: change it there. */

#include <stddef.h>
#include <stdint.h>

/* A complex number in double and in single precision: the real part, and then the imaginary one. */
#ifdef __cplusplus
#include <complex>
typedef std::complex<double> cholupdate_c64;
typedef std::complex<float> cholupdate_c32;
#elif defined(_MSC_VER) && !defined(__clang__)
#include <complex.h>
typedef _Dcomplex cholupdate_c64;
typedef _Fcomplex cholupdate_c32;
#else
typedef double _Complex cholupdate_c64;
typedef float _Complex cholupdate_c32;
#endif

/**
 * The status of a call.
 */
typedef enum {
  /**
   * Success.
   */
  CHOLUPDATE_OK = 0,
  /**
   * A pointer is NULL that must not be.
   */
  CHOLUPDATE_NULL_POINTER = 1,
  /**
   * A size, an index, a setting or `uplo` is out of range.
   */
  CHOLUPDATE_INVALID_ARGUMENT = 2,
  /**
   * An argument holds a NaN or an infinity.
   */
  CHOLUPDATE_NOT_FINITE = 3,
  /**
   * Entries of an argument are so large that their squares could overflow.
   */
  CHOLUPDATE_OVERFLOW = 4,
  /**
   * The matrix asked for is not positive definite. cholupdate_last_error_column() returns the column.
   */
  CHOLUPDATE_NOT_POSITIVE_DEFINITE = 5,
  /**
   * The factor was lost in an earlier call that failed while it worked in place. It can only be freed.
   */
  CHOLUPDATE_POISONED = 6,
  /**
   * There is no GPU, no driver, or none that can be used. Another engine can do the work.
   */
  CHOLUPDATE_UNAVAILABLE = 7,
  /**
   * The GPU, or page-locked host memory, is full.
   */
  CHOLUPDATE_OUT_OF_DEVICE_MEMORY = 8,
  /**
   * The GPU has failed, and what was in its memory is lost.
   */
  CHOLUPDATE_DEVICE_LOST = 9,
  /**
   * Any other error of a GPU or its driver.
   */
  CHOLUPDATE_DEVICE_ERROR = 10,
  /**
   * A defect of the library: please report it. A factor that was being changed can only be freed.
   */
  CHOLUPDATE_INTERNAL = 11,
  /**
   * A is singular, and the call needs a regular A. Enough updates make A regular. Of an indefinite matrix, as in
   * cholupdate_d_ldlt: a leading minor of the A asked for is zero to working precision. cholupdate_last_error_column() returns the
   * first column whose pivot is zero.
   */
  CHOLUPDATE_SINGULAR = 12,
  /**
   * Some matrices of a batch have failed and are as they were; the call has processed the others. cholupdate_last_error() names
   * the first one and says why, and the array `info` of the call has the reason for each.
   */
  CHOLUPDATE_SOME_FAILED = 15,
  /**
   * The indefinite matrix asked for is so close to one without a factor that its factor would have lost its digits: the growth
   * would be above its limit. cholupdate_last_error() has the growth, and cholupdate_last_error_column() returns the column of L with
   * the largest entry in the row that has grown most.
   */
  CHOLUPDATE_UNSTABLE = 16,
  /**
   * The indefinite matrix asked for has other numbers of positive and negative eigenvalues than cholupdate_d_ldlt_expect_inertia()
   * has set. cholupdate_last_error() has the numbers.
   */
  CHOLUPDATE_UNEXPECTED_INERTIA = 17,
  /**
   * A pivot of the indefinite matrix asked for has another sign than cholupdate_d_ldlt_expect_signs() has set.
   * cholupdate_last_error_column() returns the first such column.
   */
  CHOLUPDATE_UNEXPECTED_SIGN = 18,
} cholupdate_status;

/**
 * Engines: where a factor is stored, and which processor modifies it.
 */
typedef enum {
  /**
   * Host memory, and the threads of the CPU.
   */
  CHOLUPDATE_CPU = 0,
  /**
   * Host memory, streamed through a GPU.
   */
  CHOLUPDATE_HYBRID = 1,
  /**
   * The memory of a GPU.
   */
  CHOLUPDATE_CUDA = 2,
  /**
   * Host memory, streamed through an OpenCL device.
   */
  CHOLUPDATE_OPENCL = 3,
  /**
   * The memories of several GPUs of this machine, over which the rows of the factor are distributed.
   */
  CHOLUPDATE_DISTRIBUTED = 4,
} cholupdate_engine;

/**
 * How a modification that may break down preserves the factor. Updates cannot break down, and cost nothing more.
 */
typedef enum {
  /**
   * The new factor is written to a shadow buffer: costs memory for another factor.
   */
  CHOLUPDATE_SAFEGUARD_SHADOW_BUFFER = 0,
  /**
   * The work is done once without storing the result, and then again: costs twice the time.
   */
  CHOLUPDATE_SAFEGUARD_DRY_RUN = 1,
  /**
   * No safeguard: a breakdown loses the factor, and every later call with it returns CHOLUPDATE_POISONED.
   */
  CHOLUPDATE_SAFEGUARD_NONE = 2,
} cholupdate_safeguard;

/**
 * A factor in complex single precision, of a matrix A (n x n).
 */
typedef struct cholupdate_c cholupdate_c;

/**
 * Factors in complex single precision of many small matrices A (n x n), which are modified side by side.
 */
typedef struct cholupdate_c_batch cholupdate_c_batch;

/**
 * A factor in complex single precision, of A bordered by r rows and columns. The factor of A is not changed, so many
 * extensions can share one.
 */
typedef struct cholupdate_c_extension cholupdate_c_extension;

/**
 * A factor L S L^H in complex single precision, of a Hermitian, possibly indefinite matrix A (n x n).
 */
typedef struct cholupdate_c_ldlt cholupdate_c_ldlt;

/**
 * A factor in complex single precision, of a possibly indefinite A bordered by r rows and columns. The factor of A is not
 * changed, so many extensions can share one.
 */
typedef struct cholupdate_c_ldlt_extension cholupdate_c_ldlt_extension;

/**
 * A modification in flight, which has exclusive use of the factor: from cholupdate_c_submit() until
 * cholupdate_c_pending_wait() or a solve that takes it has returned its outcome, or cholupdate_c_pending_free() has freed
 * it. In between every other function of the factor, except cholupdate_c_order() and cholupdate_c_free(), returns
 * INVALID_ARGUMENT.
 */
typedef struct cholupdate_c_pending cholupdate_c_pending;

/**
 * A factor in double precision, of a matrix A (n x n).
 */
typedef struct cholupdate_d cholupdate_d;

/**
 * Factors in double precision of many small matrices A (n x n), which are modified side by side.
 */
typedef struct cholupdate_d_batch cholupdate_d_batch;

/**
 * A factor in double precision, of A bordered by r rows and columns. The factor of A is not changed, so many extensions can
 * share one.
 */
typedef struct cholupdate_d_extension cholupdate_d_extension;

/**
 * A factor L S L^T in double precision, of a symmetric, possibly indefinite matrix A (n x n).
 */
typedef struct cholupdate_d_ldlt cholupdate_d_ldlt;

/**
 * A factor in double precision, of a possibly indefinite A bordered by r rows and columns. The factor of A is not changed, so many
 * extensions can share one.
 */
typedef struct cholupdate_d_ldlt_extension cholupdate_d_ldlt_extension;

/**
 * A modification in flight, which has exclusive use of the factor: from cholupdate_d_submit() until
 * cholupdate_d_pending_wait() or a solve that takes it has returned its outcome, or cholupdate_d_pending_free() has freed it.
 * In between every other function of the factor, except cholupdate_d_order() and cholupdate_d_free(), returns
 * INVALID_ARGUMENT.
 */
typedef struct cholupdate_d_pending cholupdate_d_pending;

/**
 * Working memory of cholupdate_d_modify_array(), cholupdate_d_modify_vjp() and cholupdate_d_modify_jvp(). It grows to the largest size
 * needed so far, and never shrinks.
 */
typedef struct cholupdate_d_workspace cholupdate_d_workspace;

/**
 * A factor in single precision, of a matrix A (n x n).
 */
typedef struct cholupdate_s cholupdate_s;

/**
 * Factors in single precision of many small matrices A (n x n), which are modified side by side.
 */
typedef struct cholupdate_s_batch cholupdate_s_batch;

/**
 * A factor in single precision, of A bordered by r rows and columns. The factor of A is not changed, so many extensions can
 * share one.
 */
typedef struct cholupdate_s_extension cholupdate_s_extension;

/**
 * A factor L S L^T in single precision, of a symmetric, possibly indefinite matrix A (n x n).
 */
typedef struct cholupdate_s_ldlt cholupdate_s_ldlt;

/**
 * A factor in single precision, of a possibly indefinite A bordered by r rows and columns. The factor of A is not changed, so many
 * extensions can share one.
 */
typedef struct cholupdate_s_ldlt_extension cholupdate_s_ldlt_extension;

/**
 * A modification in flight, which has exclusive use of the factor: from cholupdate_s_submit() until
 * cholupdate_s_pending_wait() or a solve that takes it has returned its outcome, or cholupdate_s_pending_free() has freed it.
 * In between every other function of the factor, except cholupdate_s_order() and cholupdate_s_free(), returns
 * INVALID_ARGUMENT.
 */
typedef struct cholupdate_s_pending cholupdate_s_pending;

/**
 * Working memory of cholupdate_s_modify_array(), cholupdate_s_modify_vjp() and cholupdate_s_modify_jvp(). It grows to the largest size
 * needed so far, and never shrinks.
 */
typedef struct cholupdate_s_workspace cholupdate_s_workspace;

/**
 * A factor in complex double precision, of a matrix A (n x n).
 */
typedef struct cholupdate_z cholupdate_z;

/**
 * Factors in complex double precision of many small matrices A (n x n), which are modified side by side.
 */
typedef struct cholupdate_z_batch cholupdate_z_batch;

/**
 * A factor in complex double precision, of A bordered by r rows and columns. The factor of A is not changed, so many
 * extensions can share one.
 */
typedef struct cholupdate_z_extension cholupdate_z_extension;

/**
 * A factor L S L^H in complex double precision, of a Hermitian, possibly indefinite matrix A (n x n).
 */
typedef struct cholupdate_z_ldlt cholupdate_z_ldlt;

/**
 * A factor in complex double precision, of a possibly indefinite A bordered by r rows and columns. The factor of A is not
 * changed, so many extensions can share one.
 */
typedef struct cholupdate_z_ldlt_extension cholupdate_z_ldlt_extension;

/**
 * A modification in flight, which has exclusive use of the factor: from cholupdate_z_submit() until
 * cholupdate_z_pending_wait() or a solve that takes it has returned its outcome, or cholupdate_z_pending_free() has freed
 * it. In between every other function of the factor, except cholupdate_z_order() and cholupdate_z_free(), returns
 * INVALID_ARGUMENT.
 */
typedef struct cholupdate_z_pending cholupdate_z_pending;

/**
 * Settings of a factor or a workspace. cholupdate_options_init() sets the defaults, which can then be changed. Functions with
 * a pointer to settings accept NULL for the defaults.
 */
typedef struct {
  /**
   * sizeof(cholupdate_options): later versions may have more settings.
   */
  size_t size;
  /**
   * One of cholupdate_engine; CHOLUPDATE_CPU by default.
   */
  int32_t engine;
  /**
   * One of cholupdate_safeguard; CHOLUPDATE_SAFEGUARD_SHADOW_BUFFER by default, and always for CHOLUPDATE_CUDA and
   * CHOLUPDATE_DISTRIBUTED.
   */
  int32_t safeguard;
  /**
   * Number of the GPU, the first GPU of CHOLUPDATE_DISTRIBUTED, or the OpenCL device, of which GPUs come first; 0 by default.
   */
  int64_t device;
  /**
   * The most threads that the CPU engine uses; 0, the default, for all available threads. Results do not depend on it.
   */
  int64_t threads;
  /**
   * Number of GPUs of CHOLUPDATE_DISTRIBUTED, from `device` on; 1 by default, and for every other engine.
   */
  int64_t devices;
} cholupdate_options;

/**
 * The report of a change of a factor, at no extra cost. Functions with a pointer to a report accept NULL. After an error the
 * report is not written.
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
} cholupdate_report;

/**
 * The report of a change of a factor L S L^T, at no extra cost. Functions with a pointer to a report accept NULL. After an error
 * the report is not written.
 */
typedef struct {
  /**
   * The smallest ratio |new pivot / old pivot|, where a pivot is an entry of D in A = L D L^T with a unit lower triangle L; of a new
   * row, |pivot| over its diagonal entry of |L| |D| |L^T|. About -log10 of it decimal digits are lost in the worst column.
   */
  double min_pivot_ratio;
  /**
   * log |det| of the new A minus that of the old one.
   */
  double log_abs_det_change;
  /**
   * The growth of the new factor, as from cholupdate_d_ldlt_growth().
   */
  double growth;
  /**
   * The number of positive eigenvalues of A before.
   */
  int64_t positive_before;
  /**
   * The number of negative eigenvalues of A before.
   */
  int64_t negative_before;
  /**
   * The number of positive eigenvalues of the new A.
   */
  int64_t positive;
  /**
   * The number of negative eigenvalues of the new A.
   */
  int64_t negative;
} cholupdate_ldlt_report;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library, as "0.1.0". The string is static.
 */
const char *cholupdate_version(void);

/**
 * Describes a status in a few words. The string is static.
 */
const char *cholupdate_status_string(int32_t status);

/**
 * Copies this thread's last error message, which names the argument, to the caller's `message` of `size` bytes, shortened to
 * fit and terminated by a zero. It is empty if no call has failed. Does nothing if `message` is NULL or `size` is 0.
 */
void cholupdate_last_error(char *message,
                           size_t size);

/**
 * Returns the column of this thread's last error if that is CHOLUPDATE_NOT_POSITIVE_DEFINITE or CHOLUPDATE_SINGULAR, or if either is
 * what the first matrix of CHOLUPDATE_SOME_FAILED has: the first column whose squared pivot is not positive. The column of
 * CHOLUPDATE_UNSTABLE and CHOLUPDATE_UNEXPECTED_SIGN is the one that they describe. Returns -1 otherwise.
 */
int64_t cholupdate_last_error_column(void);

/**
 * Sets the defaults.
 */
cholupdate_status cholupdate_options_init(cholupdate_options *options);

/**
 * Keeps the threads of the engine CHOLUPDATE_CPU awake for the calls of this thread, until it calls cholupdate_let_sleep() as
 * many times as this. To wake a thread takes longer than many a modification. After a call the threads stay awake for 50
 * microseconds and then sleep; this is for loops that modify a factor again and again with other work in between. Results do not
 * depend on it.
 *
 * `threads` is the number of threads, 0 for all: that of the factors that are modified. They wait actively, so this costs as many
 * cores, and leaves one only to other threads that want to run. One thread at a time can have them awake: for a second one this has no
 * effect, nor in a process that was forked after its parent had used several threads.
 *
 * Returns INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_keep_awake(int64_t threads);

/**
 * Ends the last cholupdate_keep_awake() of this thread. When all have ended the threads sleep, and an idle program uses no
 * processor time. The end of the thread ends them as well.
 *
 * Returns INVALID_ARGUMENT if there is none.
 */
cholupdate_status cholupdate_let_sleep(void);

/**
 * Factors A (n x n), of which the triangle `uplo` is read. The caller owns `*factor` and frees it by cholupdate_d_free().
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or NOT_POSITIVE_DEFINITE; UNAVAILABLE and the other statuses of
 * devices for an engine with a GPU.
 */
cholupdate_status cholupdate_d_new(int64_t n,
                                   const double *a,
                                   int64_t lda,
                                   char uplo,
                                   const cholupdate_options *options,
                                   cholupdate_d **factor);

/**
 * Makes a factor of a known L (n x n), or R = L^T for an `uplo` of 'U'. Columns of L with a negative diagonal entry are
 * negated, which leaves L L^T as it is. The caller owns `*factor` and frees it by cholupdate_d_free(); `l` is copied.
 *
 * Returns as cholupdate_d_new() except NOT_POSITIVE_DEFINITE. With a zero on the diagonal A is singular, as in
 * cholupdate_d_zeros().
 */
cholupdate_status cholupdate_d_from_factor(int64_t n,
                                           const double *l,
                                           int64_t ldl,
                                           char uplo,
                                           const cholupdate_options *options,
                                           cholupdate_d **factor);

/**
 * Makes the factor L = 0 of A = 0 (n x n): the start of least squares that are accumulated row by row, as with LINPACK's
 * dchud. A is singular until updates have made every pivot positive. Until then cholupdate_d_update() and every modification
 * with only positive weights work, and so do calls that read L; calls that need a regular A return SINGULAR. The caller owns
 * `*factor` and frees it by cholupdate_d_free().
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_d_zeros(int64_t n,
                                     const cholupdate_options *options,
                                     cholupdate_d **factor);

/**
 * Copies the factor, on the same engine. The caller owns `*copy` and frees it by cholupdate_d_free().
 *
 * Returns NULL_POINTER or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_d_clone(const cholupdate_d *factor, cholupdate_d **copy);

/**
 * Copies the factor with other settings, for example to another engine. The caller owns `*copy` and frees it by
 * cholupdate_d_free().
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT for settings, or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_d_to_engine(const cholupdate_d *factor,
                                         const cholupdate_options *options,
                                         cholupdate_d **copy);

/**
 * Frees a factor. If a modification is in flight, the pending object frees it when the modification ends. The pointer is
 * invalid afterwards. NULL is ignored.
 */
void cholupdate_d_free(cholupdate_d *factor);

/**
 * Writes n to `*n`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_d_order(const cholupdate_d *factor, int64_t *n);

/**
 * Reserves memory for `additional` more rows, which can then be inserted without another allocation.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_d_reserve(cholupdate_d *factor, int64_t additional);

/**
 * Copies L to the triangle `uplo` of the caller's array `l` (n x n), or R = L^T for 'U'. The other triangle is not changed.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_d_to_factor(const cholupdate_d *factor,
                                         char uplo,
                                         double *l,
                                         int64_t ldl);

/**
 * Factors A (n x n), of which the triangle `uplo` is read. The caller owns `*factor` and frees it by cholupdate_s_free().
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or NOT_POSITIVE_DEFINITE; UNAVAILABLE and the other statuses of
 * devices for an engine with a GPU.
 */
cholupdate_status cholupdate_s_new(int64_t n,
                                   const float *a,
                                   int64_t lda,
                                   char uplo,
                                   const cholupdate_options *options,
                                   cholupdate_s **factor);

/**
 * Makes a factor of a known L (n x n), or R = L^T for an `uplo` of 'U'. Columns of L with a negative diagonal entry are
 * negated, which leaves L L^T as it is. The caller owns `*factor` and frees it by cholupdate_s_free(); `l` is copied.
 *
 * Returns as cholupdate_s_new() except NOT_POSITIVE_DEFINITE. With a zero on the diagonal A is singular, as in
 * cholupdate_s_zeros().
 */
cholupdate_status cholupdate_s_from_factor(int64_t n,
                                           const float *l,
                                           int64_t ldl,
                                           char uplo,
                                           const cholupdate_options *options,
                                           cholupdate_s **factor);

/**
 * Makes the factor L = 0 of A = 0 (n x n): the start of least squares that are accumulated row by row, as with LINPACK's
 * dchud. A is singular until updates have made every pivot positive. Until then cholupdate_s_update() and every modification
 * with only positive weights work, and so do calls that read L; calls that need a regular A return SINGULAR. The caller owns
 * `*factor` and frees it by cholupdate_s_free().
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_s_zeros(int64_t n,
                                     const cholupdate_options *options,
                                     cholupdate_s **factor);

/**
 * Copies the factor, on the same engine. The caller owns `*copy` and frees it by cholupdate_s_free().
 *
 * Returns NULL_POINTER or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_s_clone(const cholupdate_s *factor, cholupdate_s **copy);

/**
 * Copies the factor with other settings, for example to another engine. The caller owns `*copy` and frees it by
 * cholupdate_s_free().
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT for settings, or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_s_to_engine(const cholupdate_s *factor,
                                         const cholupdate_options *options,
                                         cholupdate_s **copy);

/**
 * Frees a factor. If a modification is in flight, the pending object frees it when the modification ends. The pointer is
 * invalid afterwards. NULL is ignored.
 */
void cholupdate_s_free(cholupdate_s *factor);

/**
 * Writes n to `*n`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_s_order(const cholupdate_s *factor, int64_t *n);

/**
 * Reserves memory for `additional` more rows, which can then be inserted without another allocation.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_s_reserve(cholupdate_s *factor, int64_t additional);

/**
 * Copies L to the triangle `uplo` of the caller's array `l` (n x n), or R = L^T for 'U'. The other triangle is not changed.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_s_to_factor(const cholupdate_s *factor,
                                         char uplo,
                                         float *l,
                                         int64_t ldl);

/**
 * Writes log det A to `*log_det`.
 *
 * Returns NULL_POINTER or POISONED.
 */
cholupdate_status cholupdate_d_log_det(const cholupdate_d *factor, double *log_det);

/**
 * Writes an estimate of the condition number of A in the 1-norm to `*condition`.
 *
 * Returns NULL_POINTER or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_d_condition(const cholupdate_d *factor, double *condition);

/**
 * Writes an estimate of max |(L L^T - A)_ij| / sqrt(a_ii a_jj) to `*estimate`, where A is the exact matrix: the error that all
 * modifications since L was computed have added, in either precision.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_d_error_estimate(const cholupdate_d *factor,
                                              double *estimate);

/**
 * Writes 1 to `*needs` if A should be factored again, otherwise 0. It should be if cholupdate_d_error_estimate() exceeds
 * `max_error`, or if there were more than `max_modifications` since L was computed. A `max_error` of 0 stands for half of the
 * digits, the square root of the unit roundoff; INT64_MAX permits any number of modifications.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_d_needs_refactor(const cholupdate_d *factor,
                                              double max_error,
                                              int64_t max_modifications,
                                              int32_t *needs);

/**
 * Writes log det A to `*log_det`.
 *
 * Returns NULL_POINTER or POISONED.
 */
cholupdate_status cholupdate_s_log_det(const cholupdate_s *factor, float *log_det);

/**
 * Writes an estimate of the condition number of A in the 1-norm to `*condition`.
 *
 * Returns NULL_POINTER or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_s_condition(const cholupdate_s *factor, float *condition);

/**
 * Writes an estimate of max |(L L^T - A)_ij| / sqrt(a_ii a_jj) to `*estimate`, where A is the exact matrix: the error that all
 * modifications since L was computed have added, in either precision.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_s_error_estimate(const cholupdate_s *factor,
                                              double *estimate);

/**
 * Writes 1 to `*needs` if A should be factored again, otherwise 0. It should be if cholupdate_s_error_estimate() exceeds
 * `max_error`, or if there were more than `max_modifications` since L was computed. A `max_error` of 0 stands for half of the
 * digits, the square root of the unit roundoff; INT64_MAX permits any number of modifications.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_s_needs_refactor(const cholupdate_s *factor,
                                              double max_error,
                                              int64_t max_modifications,
                                              int32_t *needs);

/**
 * A <- A + V V^T. V (n x k) is not changed; `report` may be NULL.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_d_update(cholupdate_d *factor,
                                      int64_t k,
                                      const double *v,
                                      int64_t ldv,
                                      cholupdate_report *report);

/**
 * A <- A - V V^T. V (n x k) is not changed; `report` may be NULL.
 *
 * Returns as cholupdate_d_update(), and NOT_POSITIVE_DEFINITE.
 */
cholupdate_status cholupdate_d_downdate(cholupdate_d *factor,
                                        int64_t k,
                                        const double *v,
                                        int64_t ldv,
                                        cholupdate_report *report);

/**
 * A <- A + V diag(w) V^T, with any mix of signs: whether it succeeds depends on the result alone. V (n x k) and `weights` (k)
 * are not changed. NULL `weights` are those of an update, which are all 1; `report` may be NULL.
 *
 * Returns as cholupdate_d_downdate().
 */
cholupdate_status cholupdate_d_modify(cholupdate_d *factor,
                                      int64_t k,
                                      const double *v,
                                      int64_t ldv,
                                      const double *weights,
                                      cholupdate_report *report);

/**
 * Writes 1 to `*can` if cholupdate_d_downdate() with the same V would succeed, otherwise 0, by the same arithmetic. V (n x k)
 * and the matrix are not changed; the factor's working memory is.
 *
 * Returns as cholupdate_d_update().
 */
cholupdate_status cholupdate_d_can_downdate(cholupdate_d *factor,
                                            int64_t k,
                                            const double *v,
                                            int64_t ldv,
                                            int32_t *can);

/**
 * A <- A + V V^T. V (n x k) is not changed; `report` may be NULL.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_s_update(cholupdate_s *factor,
                                      int64_t k,
                                      const float *v,
                                      int64_t ldv,
                                      cholupdate_report *report);

/**
 * A <- A - V V^T. V (n x k) is not changed; `report` may be NULL.
 *
 * Returns as cholupdate_s_update(), and NOT_POSITIVE_DEFINITE.
 */
cholupdate_status cholupdate_s_downdate(cholupdate_s *factor,
                                        int64_t k,
                                        const float *v,
                                        int64_t ldv,
                                        cholupdate_report *report);

/**
 * A <- A + V diag(w) V^T, with any mix of signs: whether it succeeds depends on the result alone. V (n x k) and `weights` (k)
 * are not changed. NULL `weights` are those of an update, which are all 1; `report` may be NULL.
 *
 * Returns as cholupdate_s_downdate().
 */
cholupdate_status cholupdate_s_modify(cholupdate_s *factor,
                                      int64_t k,
                                      const float *v,
                                      int64_t ldv,
                                      const float *weights,
                                      cholupdate_report *report);

/**
 * Writes 1 to `*can` if cholupdate_s_downdate() with the same V would succeed, otherwise 0, by the same arithmetic. V (n x k)
 * and the matrix are not changed; the factor's working memory is.
 *
 * Returns as cholupdate_s_update().
 */
cholupdate_status cholupdate_s_can_downdate(cholupdate_s *factor,
                                            int64_t k,
                                            const float *v,
                                            int64_t ldv,
                                            int32_t *can);

/**
 * A <- decay A + V diag(w) V^T, 0 < decay <= 1: earlier observations count less with each call. V (n x k) and `weights` (k)
 * are not changed; NULL weights are all 1. `report`, relative to the old A, may be NULL.
 *
 * Returns as cholupdate_d_modify().
 */
cholupdate_status cholupdate_d_modify_scaled(cholupdate_d *factor,
                                             double decay,
                                             int64_t k,
                                             const double *v,
                                             int64_t ldv,
                                             const double *weights,
                                             cholupdate_report *report);

/**
 * Starts m least squares problems that cholupdate_d_modify_carrying() updates, with A = X^T X for observations X and observed
 * values Y: `b` (n x m), X^T Y, becomes z = L^-1 X^T Y, and `sums` (m), the sums of squares of Y, become the residual sums of
 * squares. A sum that is smaller than the explained sum of squares by more than rounding errors becomes -1.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_d_carry(const cholupdate_d *factor,
                                     int64_t m,
                                     double *b,
                                     int64_t ldb,
                                     double *sums);

/**
 * As cholupdate_d_modify_scaled(), with m least squares problems: the rows of V^T with the values `y` (k x m) are added as
 * observations, or removed if their weight is negative. `z` (n x m) and `squares` (m) are results of cholupdate_d_carry() or
 * of an earlier call, and become those of the new factor. cholupdate_d_solve_lt() computes the solutions from a copy of `z`. A
 * sum of squares that would become negative is -1 from then on, as RHO in LINPACK's dchdd. `report` may be NULL.
 *
 * Returns as cholupdate_d_modify_scaled(); nothing is changed unless it returns OK.
 */
cholupdate_status cholupdate_d_modify_carrying(cholupdate_d *factor,
                                               double decay,
                                               int64_t k,
                                               const double *v,
                                               int64_t ldv,
                                               const double *weights,
                                               int64_t m,
                                               const double *y,
                                               int64_t ldy,
                                               double *z,
                                               int64_t ldz,
                                               double *squares,
                                               cholupdate_report *report);

/**
 * A <- decay A + V diag(w) V^T, 0 < decay <= 1: earlier observations count less with each call. V (n x k) and `weights` (k)
 * are not changed; NULL weights are all 1. `report`, relative to the old A, may be NULL.
 *
 * Returns as cholupdate_s_modify().
 */
cholupdate_status cholupdate_s_modify_scaled(cholupdate_s *factor,
                                             float decay,
                                             int64_t k,
                                             const float *v,
                                             int64_t ldv,
                                             const float *weights,
                                             cholupdate_report *report);

/**
 * Starts m least squares problems that cholupdate_s_modify_carrying() updates, with A = X^T X for observations X and observed
 * values Y: `b` (n x m), X^T Y, becomes z = L^-1 X^T Y, and `sums` (m), the sums of squares of Y, become the residual sums of
 * squares. A sum that is smaller than the explained sum of squares by more than rounding errors becomes -1.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_s_carry(const cholupdate_s *factor,
                                     int64_t m,
                                     float *b,
                                     int64_t ldb,
                                     float *sums);

/**
 * As cholupdate_s_modify_scaled(), with m least squares problems: the rows of V^T with the values `y` (k x m) are added as
 * observations, or removed if their weight is negative. `z` (n x m) and `squares` (m) are results of cholupdate_s_carry() or
 * of an earlier call, and become those of the new factor. cholupdate_s_solve_lt() computes the solutions from a copy of `z`. A
 * sum of squares that would become negative is -1 from then on, as RHO in LINPACK's dchdd. `report` may be NULL.
 *
 * Returns as cholupdate_s_modify_scaled(); nothing is changed unless it returns OK.
 */
cholupdate_status cholupdate_s_modify_carrying(cholupdate_s *factor,
                                               float decay,
                                               int64_t k,
                                               const float *v,
                                               int64_t ldv,
                                               const float *weights,
                                               int64_t m,
                                               const float *y,
                                               int64_t ldy,
                                               float *z,
                                               int64_t ldz,
                                               float *squares,
                                               cholupdate_report *report);

/**
 * As cholupdate_d_modify(), without waiting for the engine. When this returns, V and `weights` have been copied, and the rest
 * of the work may still be in progress. Only CHOLUPDATE_CUDA works on after the call; the other engines finish within it. The
 * caller owns `*pending` and frees it by cholupdate_d_pending_free(); only one thread at a time may use it.
 *
 * Returns as cholupdate_d_modify(), as far as errors are found within the call: `*pending` is written only if it returns OK.
 */
cholupdate_status cholupdate_d_submit(cholupdate_d *factor,
                                      int64_t k,
                                      const double *v,
                                      int64_t ldv,
                                      const double *weights,
                                      cholupdate_d_pending **pending);

/**
 * Waits for the outcome, which is that of cholupdate_d_modify(). `report` may be NULL. The factor can be used afterwards.
 *
 * Returns as cholupdate_d_modify(); INVALID_ARGUMENT if the outcome has already been returned.
 */
cholupdate_status cholupdate_d_pending_wait(cholupdate_d_pending *pending,
                                            cholupdate_report *report);

/**
 * Waits for the outcome, and B (n x nrhs) <- X with A X = B in the caller's array `b`, with the A that results: the new one if
 * the modification has succeeded, otherwise the old one. On CHOLUPDATE_CUDA the host waits once for both. `*solved` is the
 * status of the solve, which is as from cholupdate_d_solve(); `report` may be NULL. The factor can be used afterwards.
 *
 * Returns as cholupdate_d_pending_wait(). The last error is that of the modification, or that of the solve if only the solve
 * failed. If an argument is NULL or invalid, the modification is still in flight, and `*solved` is not written.
 */
cholupdate_status cholupdate_d_pending_solve(cholupdate_d_pending *pending,
                                             int64_t nrhs,
                                             double *b,
                                             int64_t ldb,
                                             cholupdate_report *report,
                                             cholupdate_status *solved);

/**
 * Frees a pending object. If its outcome has not been returned, waits for it and discards it; the factor is then the new one
 * or the old one. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_d_pending_free(cholupdate_d_pending *pending);

/**
 * As cholupdate_s_modify(), without waiting for the engine. When this returns, V and `weights` have been copied, and the rest
 * of the work may still be in progress. Only CHOLUPDATE_CUDA works on after the call; the other engines finish within it. The
 * caller owns `*pending` and frees it by cholupdate_s_pending_free(); only one thread at a time may use it.
 *
 * Returns as cholupdate_s_modify(), as far as errors are found within the call: `*pending` is written only if it returns OK.
 */
cholupdate_status cholupdate_s_submit(cholupdate_s *factor,
                                      int64_t k,
                                      const float *v,
                                      int64_t ldv,
                                      const float *weights,
                                      cholupdate_s_pending **pending);

/**
 * Waits for the outcome, which is that of cholupdate_s_modify(). `report` may be NULL. The factor can be used afterwards.
 *
 * Returns as cholupdate_s_modify(); INVALID_ARGUMENT if the outcome has already been returned.
 */
cholupdate_status cholupdate_s_pending_wait(cholupdate_s_pending *pending,
                                            cholupdate_report *report);

/**
 * Waits for the outcome, and B (n x nrhs) <- X with A X = B in the caller's array `b`, with the A that results: the new one if
 * the modification has succeeded, otherwise the old one. On CHOLUPDATE_CUDA the host waits once for both. `*solved` is the
 * status of the solve, which is as from cholupdate_s_solve(); `report` may be NULL. The factor can be used afterwards.
 *
 * Returns as cholupdate_s_pending_wait(). The last error is that of the modification, or that of the solve if only the solve
 * failed. If an argument is NULL or invalid, the modification is still in flight, and `*solved` is not written.
 */
cholupdate_status cholupdate_s_pending_solve(cholupdate_s_pending *pending,
                                             int64_t nrhs,
                                             float *b,
                                             int64_t ldb,
                                             cholupdate_report *report,
                                             cholupdate_status *solved);

/**
 * Frees a pending object. If its outcome has not been returned, waits for it and discards it; the factor is then the new one
 * or the old one. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_s_pending_free(cholupdate_s_pending *pending);

/**
 * Creates working memory for cholupdate_d_modify_array() and derivatives. `options` sets the number of threads and the safeguard; its
 * engine must be the CPU. The caller owns `*workspace` and frees it by cholupdate_d_workspace_free().
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_d_workspace_new(const cholupdate_options *options,
                                             cholupdate_d_workspace **workspace);

/**
 * Frees the memory. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_d_workspace_free(cholupdate_d_workspace *workspace);

/**
 * Replaces the factor in the caller's array `l` (n x n) by that of A + V diag(w) V^T: L, or R = L^T for an `uplo` of 'U'. Its
 * diagonal must not be negative, nor zero if a weight is negative; its other entries must be finite, which is not checked. V
 * (n x k) and `weights` (k) are not changed; NULL weights are all 1. Only one thread at a time may use a `workspace`; NULL
 * uses one for this call alone, with default settings. 'L' is modified in place, 'U' through a copy. `report` may be NULL.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW, NOT_POSITIVE_DEFINITE or SINGULAR.
 */
cholupdate_status cholupdate_d_modify_array(char uplo,
                                            int64_t n,
                                            double *l,
                                            int64_t ldl,
                                            int64_t k,
                                            const double *v,
                                            int64_t ldv,
                                            const double *weights,
                                            cholupdate_d_workspace *workspace,
                                            cholupdate_report *report);

/**
 * Creates working memory for cholupdate_s_modify_array() and derivatives. `options` sets the number of threads and the safeguard; its
 * engine must be the CPU. The caller owns `*workspace` and frees it by cholupdate_s_workspace_free().
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_s_workspace_new(const cholupdate_options *options,
                                             cholupdate_s_workspace **workspace);

/**
 * Frees the memory. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_s_workspace_free(cholupdate_s_workspace *workspace);

/**
 * Replaces the factor in the caller's array `l` (n x n) by that of A + V diag(w) V^T: L, or R = L^T for an `uplo` of 'U'. Its
 * diagonal must not be negative, nor zero if a weight is negative; its other entries must be finite, which is not checked. V
 * (n x k) and `weights` (k) are not changed; NULL weights are all 1. Only one thread at a time may use a `workspace`; NULL
 * uses one for this call alone, with default settings. 'L' is modified in place, 'U' through a copy. `report` may be NULL.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW, NOT_POSITIVE_DEFINITE or SINGULAR.
 */
cholupdate_status cholupdate_s_modify_array(char uplo,
                                            int64_t n,
                                            float *l,
                                            int64_t ldl,
                                            int64_t k,
                                            const float *v,
                                            int64_t ldv,
                                            const float *weights,
                                            cholupdate_s_workspace *workspace,
                                            cholupdate_report *report);

/**
 * Derivatives of L' L'^T = L L^T + V diag(w) V^T in reverse mode: the cotangents of L, V and w from that of L', where a cotangent is
 * the derivative of a number by each entry. L, the `l_new` that a modification has left, and `cotangent` (n x n) are lower triangular,
 * or for an `uplo` of 'U' R, R' and the cotangent of R', upper triangular. V (n x k) and `weights` (k) are those of the
 * modification; NULL weights are all 1, and weights of zero are permitted. Written are `l_cotangent` (n x n), with zeros in its other
 * triangle, `v_cotangent` (n x k), and `weights_cotangent` (k), which may be NULL. `workspace` is as for cholupdate_d_modify_array().
 * The diagonal of L must not be negative. Other entries that are not finite make what depends on them NaN or infinite.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, or NOT_POSITIVE_DEFINITE for a diagonal entry of L' that is not positive; with
 * weights of both signs also OVERFLOW.
 */
cholupdate_status cholupdate_d_modify_vjp(char uplo,
                                          int64_t n,
                                          const double *l,
                                          int64_t ldl,
                                          const double *l_new,
                                          int64_t ldl_new,
                                          int64_t k,
                                          const double *v,
                                          int64_t ldv,
                                          const double *weights,
                                          const double *cotangent,
                                          int64_t ldcotangent,
                                          double *l_cotangent,
                                          int64_t ldl_cotangent,
                                          double *v_cotangent,
                                          int64_t ldv_cotangent,
                                          double *weights_cotangent,
                                          cholupdate_d_workspace *workspace);

/**
 * Derivatives of L' L'^T = L L^T + V diag(w) V^T in forward mode: the tangent of L' from those of L, V and w. `l_tangent` (n x n) has
 * the triangle of L, `v_tangent` is n x k, and `weights_tangent` has k entries; NULL stands for zeros. Written is `tangent` (n x n),
 * that of L' or R', with zeros in its other triangle. The other arguments are as for cholupdate_d_modify_vjp().
 *
 * Returns as cholupdate_d_modify_vjp().
 */
cholupdate_status cholupdate_d_modify_jvp(char uplo,
                                          int64_t n,
                                          const double *l,
                                          int64_t ldl,
                                          const double *l_new,
                                          int64_t ldl_new,
                                          int64_t k,
                                          const double *v,
                                          int64_t ldv,
                                          const double *weights,
                                          const double *l_tangent,
                                          int64_t ldl_tangent,
                                          const double *v_tangent,
                                          int64_t ldv_tangent,
                                          const double *weights_tangent,
                                          double *tangent,
                                          int64_t ldtangent,
                                          cholupdate_d_workspace *workspace);

/**
 * Derivatives of the solution X (n x nrhs) of A X = B in reverse mode: the cotangents of L and B from that of X. L (n x n) is lower
 * triangular, or upper triangular for an `uplo` of 'U'. Written are `l_cotangent` (n x n), with zeros in its other triangle, and
 * `b_cotangent` (n x nrhs).
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or SINGULAR.
 */
cholupdate_status cholupdate_d_solve_vjp(char uplo,
                                         int64_t n,
                                         const double *l,
                                         int64_t ldl,
                                         int64_t nrhs,
                                         const double *x,
                                         int64_t ldx,
                                         const double *cotangent,
                                         int64_t ldcotangent,
                                         double *l_cotangent,
                                         int64_t ldl_cotangent,
                                         double *b_cotangent,
                                         int64_t ldb_cotangent);

/**
 * Derivatives of cholupdate_d_append() in reverse mode: the cotangents of L, `cross` and `corner` from that of L'. L', the `l_new`
 * that it has left, and `cotangent` (n + r x n + r) are lower triangular, or upper triangular for an `uplo` of 'U'. Written are
 * `l_cotangent` (n x n), `cross_cotangent` (n x r) and `corner_cotangent` (r x r); of the latter the triangle `uplo` counts, and it and
 * `l_cotangent` have zeros in the other one.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or SINGULAR.
 */
cholupdate_status cholupdate_d_append_vjp(char uplo,
                                          int64_t n,
                                          int64_t r,
                                          const double *l_new,
                                          int64_t ldl_new,
                                          const double *cotangent,
                                          int64_t ldcotangent,
                                          double *l_cotangent,
                                          int64_t ldl_cotangent,
                                          double *cross_cotangent,
                                          int64_t ldcross_cotangent,
                                          double *corner_cotangent,
                                          int64_t ldcorner_cotangent);

/**
 * Derivatives of L' L'^T = L L^T + V diag(w) V^T in reverse mode: the cotangents of L, V and w from that of L', where a cotangent is
 * the derivative of a number by each entry. L, the `l_new` that a modification has left, and `cotangent` (n x n) are lower triangular,
 * or for an `uplo` of 'U' R, R' and the cotangent of R', upper triangular. V (n x k) and `weights` (k) are those of the
 * modification; NULL weights are all 1, and weights of zero are permitted. Written are `l_cotangent` (n x n), with zeros in its other
 * triangle, `v_cotangent` (n x k), and `weights_cotangent` (k), which may be NULL. `workspace` is as for cholupdate_s_modify_array().
 * The diagonal of L must not be negative. Other entries that are not finite make what depends on them NaN or infinite.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, or NOT_POSITIVE_DEFINITE for a diagonal entry of L' that is not positive; with
 * weights of both signs also OVERFLOW.
 */
cholupdate_status cholupdate_s_modify_vjp(char uplo,
                                          int64_t n,
                                          const float *l,
                                          int64_t ldl,
                                          const float *l_new,
                                          int64_t ldl_new,
                                          int64_t k,
                                          const float *v,
                                          int64_t ldv,
                                          const float *weights,
                                          const float *cotangent,
                                          int64_t ldcotangent,
                                          float *l_cotangent,
                                          int64_t ldl_cotangent,
                                          float *v_cotangent,
                                          int64_t ldv_cotangent,
                                          float *weights_cotangent,
                                          cholupdate_s_workspace *workspace);

/**
 * Derivatives of L' L'^T = L L^T + V diag(w) V^T in forward mode: the tangent of L' from those of L, V and w. `l_tangent` (n x n) has
 * the triangle of L, `v_tangent` is n x k, and `weights_tangent` has k entries; NULL stands for zeros. Written is `tangent` (n x n),
 * that of L' or R', with zeros in its other triangle. The other arguments are as for cholupdate_s_modify_vjp().
 *
 * Returns as cholupdate_s_modify_vjp().
 */
cholupdate_status cholupdate_s_modify_jvp(char uplo,
                                          int64_t n,
                                          const float *l,
                                          int64_t ldl,
                                          const float *l_new,
                                          int64_t ldl_new,
                                          int64_t k,
                                          const float *v,
                                          int64_t ldv,
                                          const float *weights,
                                          const float *l_tangent,
                                          int64_t ldl_tangent,
                                          const float *v_tangent,
                                          int64_t ldv_tangent,
                                          const float *weights_tangent,
                                          float *tangent,
                                          int64_t ldtangent,
                                          cholupdate_s_workspace *workspace);

/**
 * Derivatives of the solution X (n x nrhs) of A X = B in reverse mode: the cotangents of L and B from that of X. L (n x n) is lower
 * triangular, or upper triangular for an `uplo` of 'U'. Written are `l_cotangent` (n x n), with zeros in its other triangle, and
 * `b_cotangent` (n x nrhs).
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or SINGULAR.
 */
cholupdate_status cholupdate_s_solve_vjp(char uplo,
                                         int64_t n,
                                         const float *l,
                                         int64_t ldl,
                                         int64_t nrhs,
                                         const float *x,
                                         int64_t ldx,
                                         const float *cotangent,
                                         int64_t ldcotangent,
                                         float *l_cotangent,
                                         int64_t ldl_cotangent,
                                         float *b_cotangent,
                                         int64_t ldb_cotangent);

/**
 * Derivatives of cholupdate_s_append() in reverse mode: the cotangents of L, `cross` and `corner` from that of L'. L', the `l_new`
 * that it has left, and `cotangent` (n + r x n + r) are lower triangular, or upper triangular for an `uplo` of 'U'. Written are
 * `l_cotangent` (n x n), `cross_cotangent` (n x r) and `corner_cotangent` (r x r); of the latter the triangle `uplo` counts, and it and
 * `l_cotangent` have zeros in the other one.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or SINGULAR.
 */
cholupdate_status cholupdate_s_append_vjp(char uplo,
                                          int64_t n,
                                          int64_t r,
                                          const float *l_new,
                                          int64_t ldl_new,
                                          const float *cotangent,
                                          int64_t ldcotangent,
                                          float *l_cotangent,
                                          int64_t ldl_cotangent,
                                          float *cross_cotangent,
                                          int64_t ldcross_cotangent,
                                          float *corner_cotangent,
                                          int64_t ldcorner_cotangent);

/**
 * Appends r rows and columns: B above K are the new columns of A, `cross` (n x r) and `corner` (r x r), of which the triangle
 * `uplo` is read. Both are not changed; `report` may be NULL.
 *
 * Returns as cholupdate_d_downdate(); the column is that of the new A.
 */
cholupdate_status cholupdate_d_append(cholupdate_d *factor,
                                      int64_t r,
                                      const double *cross,
                                      int64_t ldcross,
                                      const double *corner,
                                      int64_t ldcorner,
                                      char uplo,
                                      cholupdate_report *report);

/**
 * Inserts r rows and columns, which become rows `at` to `at` + r - 1; `at` is at most the old n. `columns` (n + r x r) are the
 * new columns of A, in the numbering of the new A; of their rows `at` to `at` + r - 1 the lower triangle is read. They are not
 * changed; `report` may be NULL.
 *
 * Returns as cholupdate_d_append().
 */
cholupdate_status cholupdate_d_insert(cholupdate_d *factor,
                                      int64_t at,
                                      int64_t r,
                                      const double *columns,
                                      int64_t ldcolumns,
                                      cholupdate_report *report);

/**
 * Removes the r rows and columns with the distinct `indices` (r), in any order. `indices` is not changed; `report` may be
 * NULL.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, OVERFLOW or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_d_remove(cholupdate_d *factor,
                                      int64_t r,
                                      const int64_t *indices,
                                      cholupdate_report *report);

/**
 * Replaces r neighbouring rows and columns, from row `at` on. `columns` (n x r) are the new columns of A; of their rows `at`
 * to `at` + r - 1 the lower triangle is read. They are not changed; `report` may be NULL.
 *
 * Returns as cholupdate_d_append().
 */
cholupdate_status cholupdate_d_replace(cholupdate_d *factor,
                                       int64_t at,
                                       int64_t r,
                                       const double *columns,
                                       int64_t ldcolumns,
                                       cholupdate_report *report);

/**
 * Moves row and column `from` of A to row and column `to`; those between move up or down by one. `report` may be NULL.
 *
 * Returns as cholupdate_d_remove().
 */
cholupdate_status cholupdate_d_shift(cholupdate_d *factor,
                                     int64_t from,
                                     int64_t to,
                                     cholupdate_report *report);

/**
 * Reorders rows and columns: row `order`[i] of A becomes row i. `order` (n) contains every row once and is not changed;
 * `report` may be NULL.
 *
 * Returns as cholupdate_d_remove().
 */
cholupdate_status cholupdate_d_permute(cholupdate_d *factor,
                                       const int64_t *order,
                                       cholupdate_report *report);

/**
 * Appends r rows and columns: B above K are the new columns of A, `cross` (n x r) and `corner` (r x r), of which the triangle
 * `uplo` is read. Both are not changed; `report` may be NULL.
 *
 * Returns as cholupdate_s_downdate(); the column is that of the new A.
 */
cholupdate_status cholupdate_s_append(cholupdate_s *factor,
                                      int64_t r,
                                      const float *cross,
                                      int64_t ldcross,
                                      const float *corner,
                                      int64_t ldcorner,
                                      char uplo,
                                      cholupdate_report *report);

/**
 * Inserts r rows and columns, which become rows `at` to `at` + r - 1; `at` is at most the old n. `columns` (n + r x r) are the
 * new columns of A, in the numbering of the new A; of their rows `at` to `at` + r - 1 the lower triangle is read. They are not
 * changed; `report` may be NULL.
 *
 * Returns as cholupdate_s_append().
 */
cholupdate_status cholupdate_s_insert(cholupdate_s *factor,
                                      int64_t at,
                                      int64_t r,
                                      const float *columns,
                                      int64_t ldcolumns,
                                      cholupdate_report *report);

/**
 * Removes the r rows and columns with the distinct `indices` (r), in any order. `indices` is not changed; `report` may be
 * NULL.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, OVERFLOW or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_s_remove(cholupdate_s *factor,
                                      int64_t r,
                                      const int64_t *indices,
                                      cholupdate_report *report);

/**
 * Replaces r neighbouring rows and columns, from row `at` on. `columns` (n x r) are the new columns of A; of their rows `at`
 * to `at` + r - 1 the lower triangle is read. They are not changed; `report` may be NULL.
 *
 * Returns as cholupdate_s_append().
 */
cholupdate_status cholupdate_s_replace(cholupdate_s *factor,
                                       int64_t at,
                                       int64_t r,
                                       const float *columns,
                                       int64_t ldcolumns,
                                       cholupdate_report *report);

/**
 * Moves row and column `from` of A to row and column `to`; those between move up or down by one. `report` may be NULL.
 *
 * Returns as cholupdate_s_remove().
 */
cholupdate_status cholupdate_s_shift(cholupdate_s *factor,
                                     int64_t from,
                                     int64_t to,
                                     cholupdate_report *report);

/**
 * Reorders rows and columns: row `order`[i] of A becomes row i. `order` (n) contains every row once and is not changed;
 * `report` may be NULL.
 *
 * Returns as cholupdate_s_remove().
 */
cholupdate_status cholupdate_s_permute(cholupdate_s *factor,
                                       const int64_t *order,
                                       cholupdate_report *report);

/**
 * B (n x nrhs) <- X with A X = B, in the caller's array `b`.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_d_solve(const cholupdate_d *factor,
                                     int64_t nrhs,
                                     double *b,
                                     int64_t ldb);

/**
 * B (n x nrhs) <- Y with L Y = B, in the caller's array `b`.
 *
 * Returns as cholupdate_d_solve().
 */
cholupdate_status cholupdate_d_solve_l(const cholupdate_d *factor, int64_t nrhs, double *b, int64_t ldb);

/**
 * B (n x nrhs) <- X with L^T X = B, in the caller's array `b`.
 *
 * Returns as cholupdate_d_solve().
 */
cholupdate_status cholupdate_d_solve_lt(const cholupdate_d *factor, int64_t nrhs, double *b, int64_t ldb);

/**
 * X (n x m) <- A X = L L^T X, in the caller's array `x`. A is not formed, and may be singular.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_d_multiply(const cholupdate_d *factor,
                                        int64_t m,
                                        double *x,
                                        int64_t ldx);

/**
 * X (n x m) <- L X, in the caller's array `x`.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_d_multiply_l(const cholupdate_d *factor,
                                          int64_t m,
                                          double *x,
                                          int64_t ldx);

/**
 * X (n x m) <- L^T X, in the caller's array `x`.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_d_multiply_lt(const cholupdate_d *factor,
                                           int64_t m,
                                           double *x,
                                           int64_t ldx);

/**
 * B (n x nrhs) <- X with A X = B, in the caller's array `b`.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_s_solve(const cholupdate_s *factor,
                                     int64_t nrhs,
                                     float *b,
                                     int64_t ldb);

/**
 * B (n x nrhs) <- Y with L Y = B, in the caller's array `b`.
 *
 * Returns as cholupdate_s_solve().
 */
cholupdate_status cholupdate_s_solve_l(const cholupdate_s *factor, int64_t nrhs, float *b, int64_t ldb);

/**
 * B (n x nrhs) <- X with L^T X = B, in the caller's array `b`.
 *
 * Returns as cholupdate_s_solve().
 */
cholupdate_status cholupdate_s_solve_lt(const cholupdate_s *factor, int64_t nrhs, float *b, int64_t ldb);

/**
 * X (n x m) <- A X = L L^T X, in the caller's array `x`. A is not formed, and may be singular.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_s_multiply(const cholupdate_s *factor,
                                        int64_t m,
                                        float *x,
                                        int64_t ldx);

/**
 * X (n x m) <- L X, in the caller's array `x`.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_s_multiply_l(const cholupdate_s *factor,
                                          int64_t m,
                                          float *x,
                                          int64_t ldx);

/**
 * X (n x m) <- L^T X, in the caller's array `x`.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_s_multiply_lt(const cholupdate_s *factor,
                                           int64_t m,
                                           float *x,
                                           int64_t ldx);

/**
 * As cholupdate_d_modify() with V in the memory of GPU number `device`: `v` is a CUdeviceptr, `stream` a CUstream of the
 * device's primary context or NULL for its default stream. The call comes after work already on the stream, and before later
 * work on it. `weights` (k) are in host memory.
 *
 * Returns as cholupdate_d_modify(), and the statuses of devices.
 */
cholupdate_status cholupdate_d_modify_on_device(cholupdate_d *factor,
                                                int64_t k,
                                                uint64_t v,
                                                int64_t ldv,
                                                const double *weights,
                                                int64_t device,
                                                void *stream,
                                                cholupdate_report *report);

/**
 * As cholupdate_d_submit() with V in the memory of GPU number `device`, as in cholupdate_d_modify_on_device().
 *
 * Returns as cholupdate_d_submit(), and the statuses of devices.
 */
cholupdate_status cholupdate_d_submit_on_device(cholupdate_d *factor,
                                                int64_t k,
                                                uint64_t v,
                                                int64_t ldv,
                                                const double *weights,
                                                int64_t device,
                                                void *stream,
                                                cholupdate_d_pending **pending);

/**
 * As cholupdate_d_pending_solve() with B in the memory of GPU number `device`, as in cholupdate_d_modify_on_device(): `b` is a
 * CUdeviceptr.
 *
 * Returns as cholupdate_d_pending_solve(), and the statuses of devices.
 */
cholupdate_status cholupdate_d_pending_solve_on_device(cholupdate_d_pending *pending,
                                                       int64_t nrhs,
                                                       uint64_t b,
                                                       int64_t ldb,
                                                       int64_t device,
                                                       void *stream,
                                                       cholupdate_report *report,
                                                       cholupdate_status *solved);

/**
 * As cholupdate_d_solve() with B in the memory of GPU number `device`, as in cholupdate_d_modify_on_device(): `b` is a CUdeviceptr.
 *
 * Returns as cholupdate_d_solve(), and the statuses of devices.
 */
cholupdate_status cholupdate_d_solve_on_device(const cholupdate_d *factor,
                                               int64_t nrhs,
                                               uint64_t b,
                                               int64_t ldb,
                                               int64_t device,
                                               void *stream);

/**
 * As cholupdate_d_solve_l(), on a device.
 *
 * Returns as cholupdate_d_solve_on_device().
 */
cholupdate_status cholupdate_d_solve_l_on_device(const cholupdate_d *factor,
                                                 int64_t nrhs,
                                                 uint64_t b,
                                                 int64_t ldb,
                                                 int64_t device,
                                                 void *stream);

/**
 * As cholupdate_d_solve_lt(), on a device.
 *
 * Returns as cholupdate_d_solve_on_device().
 */
cholupdate_status cholupdate_d_solve_lt_on_device(const cholupdate_d *factor,
                                                  int64_t nrhs,
                                                  uint64_t b,
                                                  int64_t ldb,
                                                  int64_t device,
                                                  void *stream);

/**
 * As cholupdate_s_modify() with V in the memory of GPU number `device`: `v` is a CUdeviceptr, `stream` a CUstream of the
 * device's primary context or NULL for its default stream. The call comes after work already on the stream, and before later
 * work on it. `weights` (k) are in host memory.
 *
 * Returns as cholupdate_s_modify(), and the statuses of devices.
 */
cholupdate_status cholupdate_s_modify_on_device(cholupdate_s *factor,
                                                int64_t k,
                                                uint64_t v,
                                                int64_t ldv,
                                                const float *weights,
                                                int64_t device,
                                                void *stream,
                                                cholupdate_report *report);

/**
 * As cholupdate_s_submit() with V in the memory of GPU number `device`, as in cholupdate_s_modify_on_device().
 *
 * Returns as cholupdate_s_submit(), and the statuses of devices.
 */
cholupdate_status cholupdate_s_submit_on_device(cholupdate_s *factor,
                                                int64_t k,
                                                uint64_t v,
                                                int64_t ldv,
                                                const float *weights,
                                                int64_t device,
                                                void *stream,
                                                cholupdate_s_pending **pending);

/**
 * As cholupdate_s_pending_solve() with B in the memory of GPU number `device`, as in cholupdate_s_modify_on_device(): `b` is a
 * CUdeviceptr.
 *
 * Returns as cholupdate_s_pending_solve(), and the statuses of devices.
 */
cholupdate_status cholupdate_s_pending_solve_on_device(cholupdate_s_pending *pending,
                                                       int64_t nrhs,
                                                       uint64_t b,
                                                       int64_t ldb,
                                                       int64_t device,
                                                       void *stream,
                                                       cholupdate_report *report,
                                                       cholupdate_status *solved);

/**
 * As cholupdate_s_solve() with B in the memory of GPU number `device`, as in cholupdate_s_modify_on_device(): `b` is a CUdeviceptr.
 *
 * Returns as cholupdate_s_solve(), and the statuses of devices.
 */
cholupdate_status cholupdate_s_solve_on_device(const cholupdate_s *factor,
                                               int64_t nrhs,
                                               uint64_t b,
                                               int64_t ldb,
                                               int64_t device,
                                               void *stream);

/**
 * As cholupdate_s_solve_l(), on a device.
 *
 * Returns as cholupdate_s_solve_on_device().
 */
cholupdate_status cholupdate_s_solve_l_on_device(const cholupdate_s *factor,
                                                 int64_t nrhs,
                                                 uint64_t b,
                                                 int64_t ldb,
                                                 int64_t device,
                                                 void *stream);

/**
 * As cholupdate_s_solve_lt(), on a device.
 *
 * Returns as cholupdate_s_solve_on_device().
 */
cholupdate_status cholupdate_s_solve_lt_on_device(const cholupdate_s *factor,
                                                  int64_t nrhs,
                                                  uint64_t b,
                                                  int64_t ldb,
                                                  int64_t device,
                                                  void *stream);

/**
 * Borders A by B (n x r), `cross`, and K (r x r), `corner`, of which the triangle `uplo` is read: the matrix is (A B; B^T K).
 * The caller owns `*extension` and frees it by cholupdate_d_extension_free(). It belongs to the current factor: functions that
 * take both require that the factor has not changed since.
 *
 * Returns as cholupdate_d_append().
 */
cholupdate_status cholupdate_d_extension_new(const cholupdate_d *factor,
                                             int64_t r,
                                             const double *cross,
                                             int64_t ldcross,
                                             const double *corner,
                                             int64_t ldcorner,
                                             char uplo,
                                             cholupdate_d_extension **extension);

/**
 * Frees an extension. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_d_extension_free(cholupdate_d_extension *extension);

/**
 * Writes n + r to `*order`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_d_extension_order(const cholupdate_d_extension *extension, int64_t *order);

/**
 * B (n + r x nrhs) <- X with A X = B for the bordered A, in the caller's array `b`. `factor` is the one that was extended, and
 * must not have changed since.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_d_extension_solve(const cholupdate_d *factor,
                                               const cholupdate_d_extension *extension,
                                               int64_t nrhs,
                                               double *b,
                                               int64_t ldb);

/**
 * Writes log det of the bordered A to `*log_det`. `factor` is the one that was extended, and must not have changed since.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or POISONED.
 */
cholupdate_status cholupdate_d_extension_log_det(const cholupdate_d *factor,
                                                 const cholupdate_d_extension *extension,
                                                 double *log_det);

/**
 * Copies C with C C^T = K - B^T A^-1 B, the Schur complement of A, to the triangle `uplo` of the caller's array `corner` (r x
 * r), or its transpose for 'U'. The other triangle is not changed.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_d_extension_corner(const cholupdate_d_extension *extension,
                                                char uplo,
                                                double *corner,
                                                int64_t ldcorner);

/**
 * Borders A by B (n x r), `cross`, and K (r x r), `corner`, of which the triangle `uplo` is read: the matrix is (A B; B^T K).
 * The caller owns `*extension` and frees it by cholupdate_s_extension_free(). It belongs to the current factor: functions that
 * take both require that the factor has not changed since.
 *
 * Returns as cholupdate_s_append().
 */
cholupdate_status cholupdate_s_extension_new(const cholupdate_s *factor,
                                             int64_t r,
                                             const float *cross,
                                             int64_t ldcross,
                                             const float *corner,
                                             int64_t ldcorner,
                                             char uplo,
                                             cholupdate_s_extension **extension);

/**
 * Frees an extension. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_s_extension_free(cholupdate_s_extension *extension);

/**
 * Writes n + r to `*order`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_s_extension_order(const cholupdate_s_extension *extension, int64_t *order);

/**
 * B (n + r x nrhs) <- X with A X = B for the bordered A, in the caller's array `b`. `factor` is the one that was extended, and
 * must not have changed since.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED; the statuses of devices for an engine with a GPU.
 */
cholupdate_status cholupdate_s_extension_solve(const cholupdate_s *factor,
                                               const cholupdate_s_extension *extension,
                                               int64_t nrhs,
                                               float *b,
                                               int64_t ldb);

/**
 * Writes log det of the bordered A to `*log_det`. `factor` is the one that was extended, and must not have changed since.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or POISONED.
 */
cholupdate_status cholupdate_s_extension_log_det(const cholupdate_s *factor,
                                                 const cholupdate_s_extension *extension,
                                                 float *log_det);

/**
 * Copies C with C C^T = K - B^T A^-1 B, the Schur complement of A, to the triangle `uplo` of the caller's array `corner` (r x
 * r), or its transpose for 'U'. The other triangle is not changed.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_s_extension_corner(const cholupdate_s_extension *extension,
                                                char uplo,
                                                float *corner,
                                                int64_t ldcorner);

/**
 * Factors `count` matrices A (n x n), of which lower triangles are read. With `orders` (count), of matrix b only the leading
 * orders[b] rows and columns are read, and of V and right-hand sides as many rows; NULL `orders` are n for all. The engine of
 * `options` is CHOLUPDATE_CPU or, for factors in the memory of a GPU, CHOLUPDATE_CUDA, with n of at most 4096; their safeguard is not
 * used. The caller owns `*made` and frees it by cholupdate_d_batch_free().
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; the statuses of devices for a GPU, as all functions on such a batch. Returns SOME_FAILED,
 * with the batch, if a matrix is not positive definite, not finite or too large: it has no factor and fails in every later call, until
 * cholupdate_d_batch_replace(). cholupdate_d_batch_status() has the reasons.
 */
cholupdate_status cholupdate_d_batch_new(int64_t count,
                                         int64_t n,
                                         const double *a,
                                         const int64_t *a_strides,
                                         const int64_t *orders,
                                         const cholupdate_options *options,
                                         cholupdate_d_batch **made);

/**
 * Makes a batch of known factors L (n x n), of which lower triangles are read; they are copied. As in cholupdate_d_from_factor(),
 * columns with a negative diagonal entry are negated, and zeros on the diagonal are accepted. `options` are as in
 * cholupdate_d_batch_new(). The caller owns `*made` and frees it by cholupdate_d_batch_free().
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT, or the statuses of devices. Returns SOME_FAILED, with the batch, if some L is not finite,
 * or too large.
 */
cholupdate_status cholupdate_d_batch_from_factors(int64_t count,
                                                  int64_t n,
                                                  const double *l,
                                                  const int64_t *l_strides,
                                                  const cholupdate_options *options,
                                                  cholupdate_d_batch **made);

/**
 * Copies the batch. The caller owns `*copy` and frees it by cholupdate_d_batch_free().
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_d_batch_clone(const cholupdate_d_batch *batch, cholupdate_d_batch **copy);

/**
 * Copies the matrices numbered `indices` (m), in this order, to another batch; one may occur several times. The caller owns
 * `*selected` and frees it by cholupdate_d_batch_free().
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_d_batch_select(const cholupdate_d_batch *batch,
                                            int64_t m,
                                            const int64_t *indices,
                                            cholupdate_d_batch **selected);

/**
 * Frees a batch. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_d_batch_free(cholupdate_d_batch *batch);

/**
 * Writes the number of matrices to `*count` and n to `*n`. Each may be NULL.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_d_batch_extents(const cholupdate_d_batch *batch, int64_t *count, int64_t *n);

/**
 * Writes to `info` (count) which matrices have no factor, and why.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, or SOME_FAILED if there are any.
 */
cholupdate_status cholupdate_d_batch_status(const cholupdate_d_batch *batch, int64_t *info);

/**
 * Factors A (m x m), of which the triangle `uplo` is read, in place of a matrix, with m of at most n.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or NOT_POSITIVE_DEFINITE; the matrix is then as it was.
 */
cholupdate_status cholupdate_d_batch_replace(cholupdate_d_batch *batch,
                                             int64_t matrix,
                                             int64_t m,
                                             const double *a,
                                             int64_t lda,
                                             char uplo);

/**
 * Copies L of a matrix, of its order m, to the triangle `uplo` of the caller's array `l` (m x m), or R = L^T for 'U'. The other
 * triangle is not changed.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; for a matrix without a factor the reason for that, as cholupdate_d_new() would.
 */
cholupdate_status cholupdate_d_batch_to_factor(const cholupdate_d_batch *batch,
                                               int64_t matrix,
                                               char uplo,
                                               double *l,
                                               int64_t ldl);

/**
 * Copies all L to the lower triangles of the caller's array `l` (n x n each). Upper triangles are not changed, nor rows that a
 * matrix does not have, nor matrices without a factor.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_d_batch_to_factors(const cholupdate_d_batch *batch,
                                                double *l,
                                                const int64_t *l_strides);

/**
 * Factors `count` matrices A (n x n), of which lower triangles are read. With `orders` (count), of matrix b only the leading
 * orders[b] rows and columns are read, and of V and right-hand sides as many rows; NULL `orders` are n for all. The engine of
 * `options` is CHOLUPDATE_CPU or, for factors in the memory of a GPU, CHOLUPDATE_CUDA, with n of at most 4096; their safeguard is not
 * used. The caller owns `*made` and frees it by cholupdate_s_batch_free().
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; the statuses of devices for a GPU, as all functions on such a batch. Returns SOME_FAILED,
 * with the batch, if a matrix is not positive definite, not finite or too large: it has no factor and fails in every later call, until
 * cholupdate_s_batch_replace(). cholupdate_s_batch_status() has the reasons.
 */
cholupdate_status cholupdate_s_batch_new(int64_t count,
                                         int64_t n,
                                         const float *a,
                                         const int64_t *a_strides,
                                         const int64_t *orders,
                                         const cholupdate_options *options,
                                         cholupdate_s_batch **made);

/**
 * Makes a batch of known factors L (n x n), of which lower triangles are read; they are copied. As in cholupdate_s_from_factor(),
 * columns with a negative diagonal entry are negated, and zeros on the diagonal are accepted. `options` are as in
 * cholupdate_s_batch_new(). The caller owns `*made` and frees it by cholupdate_s_batch_free().
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT, or the statuses of devices. Returns SOME_FAILED, with the batch, if some L is not finite,
 * or too large.
 */
cholupdate_status cholupdate_s_batch_from_factors(int64_t count,
                                                  int64_t n,
                                                  const float *l,
                                                  const int64_t *l_strides,
                                                  const cholupdate_options *options,
                                                  cholupdate_s_batch **made);

/**
 * Copies the batch. The caller owns `*copy` and frees it by cholupdate_s_batch_free().
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_s_batch_clone(const cholupdate_s_batch *batch, cholupdate_s_batch **copy);

/**
 * Copies the matrices numbered `indices` (m), in this order, to another batch; one may occur several times. The caller owns
 * `*selected` and frees it by cholupdate_s_batch_free().
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_s_batch_select(const cholupdate_s_batch *batch,
                                            int64_t m,
                                            const int64_t *indices,
                                            cholupdate_s_batch **selected);

/**
 * Frees a batch. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_s_batch_free(cholupdate_s_batch *batch);

/**
 * Writes the number of matrices to `*count` and n to `*n`. Each may be NULL.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_s_batch_extents(const cholupdate_s_batch *batch, int64_t *count, int64_t *n);

/**
 * Writes to `info` (count) which matrices have no factor, and why.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, or SOME_FAILED if there are any.
 */
cholupdate_status cholupdate_s_batch_status(const cholupdate_s_batch *batch, int64_t *info);

/**
 * Factors A (m x m), of which the triangle `uplo` is read, in place of a matrix, with m of at most n.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or NOT_POSITIVE_DEFINITE; the matrix is then as it was.
 */
cholupdate_status cholupdate_s_batch_replace(cholupdate_s_batch *batch,
                                             int64_t matrix,
                                             int64_t m,
                                             const float *a,
                                             int64_t lda,
                                             char uplo);

/**
 * Copies L of a matrix, of its order m, to the triangle `uplo` of the caller's array `l` (m x m), or R = L^T for 'U'. The other
 * triangle is not changed.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; for a matrix without a factor the reason for that, as cholupdate_s_new() would.
 */
cholupdate_status cholupdate_s_batch_to_factor(const cholupdate_s_batch *batch,
                                               int64_t matrix,
                                               char uplo,
                                               float *l,
                                               int64_t ldl);

/**
 * Copies all L to the lower triangles of the caller's array `l` (n x n each). Upper triangles are not changed, nor rows that a
 * matrix does not have, nor matrices without a factor.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_s_batch_to_factors(const cholupdate_s_batch *batch,
                                                float *l,
                                                const int64_t *l_strides);

/**
 * A <- A + V V^T for each matrix. V (n x k each) is not changed. `info`, `min_pivot_ratio` and `log_det_change` (count each) may be
 * NULL; the last two are as in cholupdate_report, and NaN for matrices that have failed.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED, with NOT_FINITE or OVERFLOW in `info`, or why there is no factor.
 */
cholupdate_status cholupdate_d_batch_update(cholupdate_d_batch *batch,
                                            int64_t k,
                                            const double *v,
                                            const int64_t *v_strides,
                                            int64_t *info,
                                            double *min_pivot_ratio,
                                            double *log_det_change);

/**
 * A <- A - V V^T for each matrix. As cholupdate_d_batch_update().
 *
 * Returns as cholupdate_d_batch_update(); SOME_FAILED also for matrices that would not be positive definite, or are singular.
 */
cholupdate_status cholupdate_d_batch_downdate(cholupdate_d_batch *batch,
                                              int64_t k,
                                              const double *v,
                                              const int64_t *v_strides,
                                              int64_t *info,
                                              double *min_pivot_ratio,
                                              double *log_det_change);

/**
 * A <- A + V diag(w) V^T for each matrix, with any mix of signs. A `weights_stride` of 0 is for `weights` (k) of all matrices;
 * otherwise it is k or more, and those of matrix b begin at weights[b * weights_stride]. NULL `weights` are ones. Columns with the
 * weight 0 may be anything. With a `mask` (count), matrices with mask[b] == 0 stay as they are: their `info` is 0, their ratio 1, and
 * their change 0. A NULL `mask` is for all matrices. The rest is as in cholupdate_d_batch_update().
 *
 * Returns as cholupdate_d_batch_downdate(), and NOT_FINITE for `weights` of all matrices.
 */
cholupdate_status cholupdate_d_batch_modify(cholupdate_d_batch *batch,
                                            int64_t k,
                                            const double *v,
                                            const int64_t *v_strides,
                                            const double *weights,
                                            int64_t weights_stride,
                                            const uint8_t *mask,
                                            int64_t *info,
                                            double *min_pivot_ratio,
                                            double *log_det_change);

/**
 * B (n x nrhs each) <- X with A X = B for each matrix, in the caller's array `b`, of which no two entries share memory. The
 * right-hand sides of matrices that fail stay as they were. `info` (count) may be NULL.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED for B that is not finite, singular matrices, and those without a factor.
 */
cholupdate_status cholupdate_d_batch_solve(const cholupdate_d_batch *batch,
                                           int64_t nrhs,
                                           double *b,
                                           const int64_t *b_strides,
                                           int64_t *info);

/**
 * B (n x nrhs each) <- Y with L Y = B. As cholupdate_d_batch_solve().
 *
 * Returns as cholupdate_d_batch_solve().
 */
cholupdate_status cholupdate_d_batch_solve_l(const cholupdate_d_batch *batch,
                                             int64_t nrhs,
                                             double *b,
                                             const int64_t *b_strides,
                                             int64_t *info);

/**
 * B (n x nrhs each) <- X with L^T X = B. As cholupdate_d_batch_solve().
 *
 * Returns as cholupdate_d_batch_solve().
 */
cholupdate_status cholupdate_d_batch_solve_lt(const cholupdate_d_batch *batch,
                                              int64_t nrhs,
                                              double *b,
                                              const int64_t *b_strides,
                                              int64_t *info);

/**
 * Writes log det A of each matrix to `log_det` (count): NaN if it is singular or has no factor. `info` (count)
 * may be NULL.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED if there are such matrices.
 */
cholupdate_status cholupdate_d_batch_log_det(const cholupdate_d_batch *batch,
                                             double *log_det,
                                             int64_t *info);

/**
 * A <- A + V V^T for each matrix. V (n x k each) is not changed. `info`, `min_pivot_ratio` and `log_det_change` (count each) may be
 * NULL; the last two are as in cholupdate_report, and NaN for matrices that have failed.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED, with NOT_FINITE or OVERFLOW in `info`, or why there is no factor.
 */
cholupdate_status cholupdate_s_batch_update(cholupdate_s_batch *batch,
                                            int64_t k,
                                            const float *v,
                                            const int64_t *v_strides,
                                            int64_t *info,
                                            double *min_pivot_ratio,
                                            double *log_det_change);

/**
 * A <- A - V V^T for each matrix. As cholupdate_s_batch_update().
 *
 * Returns as cholupdate_s_batch_update(); SOME_FAILED also for matrices that would not be positive definite, or are singular.
 */
cholupdate_status cholupdate_s_batch_downdate(cholupdate_s_batch *batch,
                                              int64_t k,
                                              const float *v,
                                              const int64_t *v_strides,
                                              int64_t *info,
                                              double *min_pivot_ratio,
                                              double *log_det_change);

/**
 * A <- A + V diag(w) V^T for each matrix, with any mix of signs. A `weights_stride` of 0 is for `weights` (k) of all matrices;
 * otherwise it is k or more, and those of matrix b begin at weights[b * weights_stride]. NULL `weights` are ones. Columns with the
 * weight 0 may be anything. With a `mask` (count), matrices with mask[b] == 0 stay as they are: their `info` is 0, their ratio 1, and
 * their change 0. A NULL `mask` is for all matrices. The rest is as in cholupdate_s_batch_update().
 *
 * Returns as cholupdate_s_batch_downdate(), and NOT_FINITE for `weights` of all matrices.
 */
cholupdate_status cholupdate_s_batch_modify(cholupdate_s_batch *batch,
                                            int64_t k,
                                            const float *v,
                                            const int64_t *v_strides,
                                            const float *weights,
                                            int64_t weights_stride,
                                            const uint8_t *mask,
                                            int64_t *info,
                                            double *min_pivot_ratio,
                                            double *log_det_change);

/**
 * B (n x nrhs each) <- X with A X = B for each matrix, in the caller's array `b`, of which no two entries share memory. The
 * right-hand sides of matrices that fail stay as they were. `info` (count) may be NULL.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED for B that is not finite, singular matrices, and those without a factor.
 */
cholupdate_status cholupdate_s_batch_solve(const cholupdate_s_batch *batch,
                                           int64_t nrhs,
                                           float *b,
                                           const int64_t *b_strides,
                                           int64_t *info);

/**
 * B (n x nrhs each) <- Y with L Y = B. As cholupdate_s_batch_solve().
 *
 * Returns as cholupdate_s_batch_solve().
 */
cholupdate_status cholupdate_s_batch_solve_l(const cholupdate_s_batch *batch,
                                             int64_t nrhs,
                                             float *b,
                                             const int64_t *b_strides,
                                             int64_t *info);

/**
 * B (n x nrhs each) <- X with L^T X = B. As cholupdate_s_batch_solve().
 *
 * Returns as cholupdate_s_batch_solve().
 */
cholupdate_status cholupdate_s_batch_solve_lt(const cholupdate_s_batch *batch,
                                              int64_t nrhs,
                                              float *b,
                                              const int64_t *b_strides,
                                              int64_t *info);

/**
 * Writes log det A of each matrix to `log_det` (count): NaN if it is singular or has no factor. `info` (count)
 * may be NULL.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED if there are such matrices.
 */
cholupdate_status cholupdate_s_batch_log_det(const cholupdate_s_batch *batch,
                                             double *log_det,
                                             int64_t *info);

/**
 * Writes the order of each matrix to `orders` (count): 0 for one without a factor.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_d_batch_orders(const cholupdate_d_batch *batch, int64_t *orders);

/**
 * Makes room for matrices of order `n`, which becomes the n of the batch, and with it the number of rows of V and of right-hand
 * sides, unless that is as large already. No matrix changes.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_d_batch_reserve(cholupdate_d_batch *batch,
                                             int64_t n);

/**
 * Appends a row and column to each matrix. `a` (n x 1 each) are the new columns: of a matrix of order m the first m entries are above
 * the diagonal, the next one is on it, and the others may be anything. `mask` is as in cholupdate_d_batch_modify(); the columns of
 * matrices that it leaves out may be anything. `info`, `min_pivot_ratio` and `log_det_change` (count each) may be NULL.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED, with the reason in `info`, for matrices that would not be positive definite,
 * are singular or of order n, or whose column is not finite or too large.
 */
cholupdate_status cholupdate_d_batch_append(cholupdate_d_batch *batch,
                                            const double *a,
                                            const int64_t *a_strides,
                                            const uint8_t *mask,
                                            int64_t *info,
                                            double *min_pivot_ratio,
                                            double *log_det_change);

/**
 * Removes a row and column of each matrix b, that of the number indices[b]. `mask` is as in cholupdate_d_batch_modify(); the indices
 * of matrices that it leaves out may be anything. `info`, `min_pivot_ratio` and `log_det_change` (count each) may be NULL.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED, with the reason in `info`, for matrices that do not have the row, or are
 * singular.
 */
cholupdate_status cholupdate_d_batch_remove(cholupdate_d_batch *batch,
                                            const int64_t *indices,
                                            const uint8_t *mask,
                                            int64_t *info,
                                            double *min_pivot_ratio,
                                            double *log_det_change);

/**
 * Writes the order of each matrix to `orders` (count): 0 for one without a factor.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_s_batch_orders(const cholupdate_s_batch *batch, int64_t *orders);

/**
 * Makes room for matrices of order `n`, which becomes the n of the batch, and with it the number of rows of V and of right-hand
 * sides, unless that is as large already. No matrix changes.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_s_batch_reserve(cholupdate_s_batch *batch,
                                             int64_t n);

/**
 * Appends a row and column to each matrix. `a` (n x 1 each) are the new columns: of a matrix of order m the first m entries are above
 * the diagonal, the next one is on it, and the others may be anything. `mask` is as in cholupdate_s_batch_modify(); the columns of
 * matrices that it leaves out may be anything. `info`, `min_pivot_ratio` and `log_det_change` (count each) may be NULL.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED, with the reason in `info`, for matrices that would not be positive definite,
 * are singular or of order n, or whose column is not finite or too large.
 */
cholupdate_status cholupdate_s_batch_append(cholupdate_s_batch *batch,
                                            const float *a,
                                            const int64_t *a_strides,
                                            const uint8_t *mask,
                                            int64_t *info,
                                            double *min_pivot_ratio,
                                            double *log_det_change);

/**
 * Removes a row and column of each matrix b, that of the number indices[b]. `mask` is as in cholupdate_s_batch_modify(); the indices
 * of matrices that it leaves out may be anything. `info`, `min_pivot_ratio` and `log_det_change` (count each) may be NULL.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED, with the reason in `info`, for matrices that do not have the row, or are
 * singular.
 */
cholupdate_status cholupdate_s_batch_remove(cholupdate_s_batch *batch,
                                            const int64_t *indices,
                                            const uint8_t *mask,
                                            int64_t *info,
                                            double *min_pivot_ratio,
                                            double *log_det_change);

/**
 * As cholupdate_d_batch_new() on the engine CHOLUPDATE_CUDA, with A in the memory of GPU number `device`, where the factors will be as
 * well: `a` is a CUdeviceptr, `stream` a CUstream of the device's primary context or NULL for its default stream. The call comes after
 * work already on the stream, and waits for the device. `a_strides` and `orders` are in host memory.
 *
 * Returns as cholupdate_d_batch_new().
 */
cholupdate_status cholupdate_d_batch_new_on_device(int64_t count,
                                                   int64_t n,
                                                   uint64_t a,
                                                   const int64_t *a_strides,
                                                   const int64_t *orders,
                                                   int64_t device,
                                                   void *stream,
                                                   cholupdate_d_batch **made);

/**
 * As cholupdate_d_batch_from_factors(), with L on a device as in cholupdate_d_batch_new_on_device().
 *
 * Returns as cholupdate_d_batch_from_factors().
 */
cholupdate_status cholupdate_d_batch_from_factors_on_device(int64_t count,
                                                            int64_t n,
                                                            uint64_t l,
                                                            const int64_t *l_strides,
                                                            int64_t device,
                                                            void *stream,
                                                            cholupdate_d_batch **made);

/**
 * A <- A + V V^T for each matrix of a batch on GPU number `device`, with V in its memory: `v` is a CUdeviceptr, `stream` a CUstream of
 * the device's primary context or NULL for its default stream. The work comes after work already on the stream, and before later work
 * on it. The call does not wait for it: until the work is done, V must stay as it is. cholupdate_d_batch_outcome() says what has come of
 * it, and cholupdate_d_batch_outcome_addresses() where that is on the device.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT, or the statuses of devices: DEVICE_ERROR if the batch is on another one.
 */
cholupdate_status cholupdate_d_batch_update_on_device(cholupdate_d_batch *batch,
                                                      int64_t k,
                                                      uint64_t v,
                                                      const int64_t *v_strides,
                                                      int64_t device,
                                                      void *stream);

/**
 * A <- A - V V^T for each matrix. As cholupdate_d_batch_update_on_device().
 *
 * Returns as cholupdate_d_batch_update_on_device().
 */
cholupdate_status cholupdate_d_batch_downdate_on_device(cholupdate_d_batch *batch,
                                                        int64_t k,
                                                        uint64_t v,
                                                        const int64_t *v_strides,
                                                        int64_t device,
                                                        void *stream);

/**
 * A <- A + V diag(w) V^T for each matrix, with V as in cholupdate_d_batch_update_on_device(). `weights` and `mask` are as in
 * cholupdate_d_batch_modify(), in host memory. The call waits for the device unless both are NULL.
 *
 * Returns as cholupdate_d_batch_update_on_device(), and NOT_FINITE for `weights` of all matrices.
 */
cholupdate_status cholupdate_d_batch_modify_on_device(cholupdate_d_batch *batch,
                                                      int64_t k,
                                                      uint64_t v,
                                                      const int64_t *v_strides,
                                                      const double *weights,
                                                      int64_t weights_stride,
                                                      const uint8_t *mask,
                                                      int64_t device,
                                                      void *stream);

/**
 * A <- A + V diag(w) V^T for each matrix, with V and w on the device, as V is in cholupdate_d_batch_update_on_device(): `weights` is a
 * CUdeviceptr, and `weights_stride` as in cholupdate_d_batch_modify(). The call does not wait for the device. A matrix with a weight that
 * is not finite fails, with NOT_FINITE in its outcome.
 *
 * Returns as cholupdate_d_batch_update_on_device().
 */
cholupdate_status cholupdate_d_batch_modify_by_weights_on_device(cholupdate_d_batch *batch,
                                                                 int64_t k,
                                                                 uint64_t v,
                                                                 const int64_t *v_strides,
                                                                 uint64_t weights,
                                                                 int64_t weights_stride,
                                                                 int64_t device,
                                                                 void *stream);

/**
 * As cholupdate_d_batch_append(), with the new columns on a device, as V is in cholupdate_d_batch_update_on_device(). `mask` is in host
 * memory, and the call waits for the device unless it is NULL.
 *
 * Returns as cholupdate_d_batch_update_on_device().
 */
cholupdate_status cholupdate_d_batch_append_on_device(cholupdate_d_batch *batch,
                                                      uint64_t a,
                                                      const int64_t *a_strides,
                                                      const uint8_t *mask,
                                                      int64_t device,
                                                      void *stream);

/**
 * B (n x nrhs each) <- X with A X = B for each matrix of a batch on GPU number `device`, with B in its memory, as V is in
 * cholupdate_d_batch_update_on_device(): `b` is a CUdeviceptr, of which no two entries share memory, and the call does not wait for the
 * device. The right-hand sides of matrices that fail stay as they were. cholupdate_d_batch_solve_outcome() says which ones have.
 *
 * Returns as cholupdate_d_batch_update_on_device().
 */
cholupdate_status cholupdate_d_batch_solve_on_device(const cholupdate_d_batch *batch,
                                                     int64_t nrhs,
                                                     uint64_t b,
                                                     const int64_t *b_strides,
                                                     int64_t device,
                                                     void *stream);

/**
 * B (n x nrhs each) <- Y with L Y = B. As cholupdate_d_batch_solve_on_device().
 *
 * Returns as cholupdate_d_batch_solve_on_device().
 */
cholupdate_status cholupdate_d_batch_solve_l_on_device(const cholupdate_d_batch *batch,
                                                       int64_t nrhs,
                                                       uint64_t b,
                                                       const int64_t *b_strides,
                                                       int64_t device,
                                                       void *stream);

/**
 * B (n x nrhs each) <- X with L^T X = B. As cholupdate_d_batch_solve_on_device().
 *
 * Returns as cholupdate_d_batch_solve_on_device().
 */
cholupdate_status cholupdate_d_batch_solve_lt_on_device(const cholupdate_d_batch *batch,
                                                        int64_t nrhs,
                                                        uint64_t b,
                                                        const int64_t *b_strides,
                                                        int64_t device,
                                                        void *stream);

/**
 * As cholupdate_d_batch_to_factors() for a batch on GPU number `device`, to L in its memory, as V is in
 * cholupdate_d_batch_update_on_device(): `l` is a CUdeviceptr, and the call does not wait for the device.
 *
 * Returns as cholupdate_d_batch_update_on_device().
 */
cholupdate_status cholupdate_d_batch_to_factors_on_device(const cholupdate_d_batch *batch,
                                                          uint64_t l,
                                                          const int64_t *l_strides,
                                                          int64_t device,
                                                          void *stream);

/**
 * As cholupdate_s_batch_new() on the engine CHOLUPDATE_CUDA, with A in the memory of GPU number `device`, where the factors will be as
 * well: `a` is a CUdeviceptr, `stream` a CUstream of the device's primary context or NULL for its default stream. The call comes after
 * work already on the stream, and waits for the device. `a_strides` and `orders` are in host memory.
 *
 * Returns as cholupdate_s_batch_new().
 */
cholupdate_status cholupdate_s_batch_new_on_device(int64_t count,
                                                   int64_t n,
                                                   uint64_t a,
                                                   const int64_t *a_strides,
                                                   const int64_t *orders,
                                                   int64_t device,
                                                   void *stream,
                                                   cholupdate_s_batch **made);

/**
 * As cholupdate_s_batch_from_factors(), with L on a device as in cholupdate_s_batch_new_on_device().
 *
 * Returns as cholupdate_s_batch_from_factors().
 */
cholupdate_status cholupdate_s_batch_from_factors_on_device(int64_t count,
                                                            int64_t n,
                                                            uint64_t l,
                                                            const int64_t *l_strides,
                                                            int64_t device,
                                                            void *stream,
                                                            cholupdate_s_batch **made);

/**
 * A <- A + V V^T for each matrix of a batch on GPU number `device`, with V in its memory: `v` is a CUdeviceptr, `stream` a CUstream of
 * the device's primary context or NULL for its default stream. The work comes after work already on the stream, and before later work
 * on it. The call does not wait for it: until the work is done, V must stay as it is. cholupdate_s_batch_outcome() says what has come of
 * it, and cholupdate_s_batch_outcome_addresses() where that is on the device.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT, or the statuses of devices: DEVICE_ERROR if the batch is on another one.
 */
cholupdate_status cholupdate_s_batch_update_on_device(cholupdate_s_batch *batch,
                                                      int64_t k,
                                                      uint64_t v,
                                                      const int64_t *v_strides,
                                                      int64_t device,
                                                      void *stream);

/**
 * A <- A - V V^T for each matrix. As cholupdate_s_batch_update_on_device().
 *
 * Returns as cholupdate_s_batch_update_on_device().
 */
cholupdate_status cholupdate_s_batch_downdate_on_device(cholupdate_s_batch *batch,
                                                        int64_t k,
                                                        uint64_t v,
                                                        const int64_t *v_strides,
                                                        int64_t device,
                                                        void *stream);

/**
 * A <- A + V diag(w) V^T for each matrix, with V as in cholupdate_s_batch_update_on_device(). `weights` and `mask` are as in
 * cholupdate_s_batch_modify(), in host memory. The call waits for the device unless both are NULL.
 *
 * Returns as cholupdate_s_batch_update_on_device(), and NOT_FINITE for `weights` of all matrices.
 */
cholupdate_status cholupdate_s_batch_modify_on_device(cholupdate_s_batch *batch,
                                                      int64_t k,
                                                      uint64_t v,
                                                      const int64_t *v_strides,
                                                      const float *weights,
                                                      int64_t weights_stride,
                                                      const uint8_t *mask,
                                                      int64_t device,
                                                      void *stream);

/**
 * A <- A + V diag(w) V^T for each matrix, with V and w on the device, as V is in cholupdate_s_batch_update_on_device(): `weights` is a
 * CUdeviceptr, and `weights_stride` as in cholupdate_s_batch_modify(). The call does not wait for the device. A matrix with a weight that
 * is not finite fails, with NOT_FINITE in its outcome.
 *
 * Returns as cholupdate_s_batch_update_on_device().
 */
cholupdate_status cholupdate_s_batch_modify_by_weights_on_device(cholupdate_s_batch *batch,
                                                                 int64_t k,
                                                                 uint64_t v,
                                                                 const int64_t *v_strides,
                                                                 uint64_t weights,
                                                                 int64_t weights_stride,
                                                                 int64_t device,
                                                                 void *stream);

/**
 * As cholupdate_s_batch_append(), with the new columns on a device, as V is in cholupdate_s_batch_update_on_device(). `mask` is in host
 * memory, and the call waits for the device unless it is NULL.
 *
 * Returns as cholupdate_s_batch_update_on_device().
 */
cholupdate_status cholupdate_s_batch_append_on_device(cholupdate_s_batch *batch,
                                                      uint64_t a,
                                                      const int64_t *a_strides,
                                                      const uint8_t *mask,
                                                      int64_t device,
                                                      void *stream);

/**
 * B (n x nrhs each) <- X with A X = B for each matrix of a batch on GPU number `device`, with B in its memory, as V is in
 * cholupdate_s_batch_update_on_device(): `b` is a CUdeviceptr, of which no two entries share memory, and the call does not wait for the
 * device. The right-hand sides of matrices that fail stay as they were. cholupdate_s_batch_solve_outcome() says which ones have.
 *
 * Returns as cholupdate_s_batch_update_on_device().
 */
cholupdate_status cholupdate_s_batch_solve_on_device(const cholupdate_s_batch *batch,
                                                     int64_t nrhs,
                                                     uint64_t b,
                                                     const int64_t *b_strides,
                                                     int64_t device,
                                                     void *stream);

/**
 * B (n x nrhs each) <- Y with L Y = B. As cholupdate_s_batch_solve_on_device().
 *
 * Returns as cholupdate_s_batch_solve_on_device().
 */
cholupdate_status cholupdate_s_batch_solve_l_on_device(const cholupdate_s_batch *batch,
                                                       int64_t nrhs,
                                                       uint64_t b,
                                                       const int64_t *b_strides,
                                                       int64_t device,
                                                       void *stream);

/**
 * B (n x nrhs each) <- X with L^T X = B. As cholupdate_s_batch_solve_on_device().
 *
 * Returns as cholupdate_s_batch_solve_on_device().
 */
cholupdate_status cholupdate_s_batch_solve_lt_on_device(const cholupdate_s_batch *batch,
                                                        int64_t nrhs,
                                                        uint64_t b,
                                                        const int64_t *b_strides,
                                                        int64_t device,
                                                        void *stream);

/**
 * As cholupdate_s_batch_to_factors() for a batch on GPU number `device`, to L in its memory, as V is in
 * cholupdate_s_batch_update_on_device(): `l` is a CUdeviceptr, and the call does not wait for the device.
 *
 * Returns as cholupdate_s_batch_update_on_device().
 */
cholupdate_status cholupdate_s_batch_to_factors_on_device(const cholupdate_s_batch *batch,
                                                          uint64_t l,
                                                          const int64_t *l_strides,
                                                          int64_t device,
                                                          void *stream);

/**
 * Waits for the last modification of a batch in the memory of a GPU, of rows as well, and writes its outcome to `info`, `min_pivot_ratio`
 * and `log_det_change` (count each), as cholupdate_d_batch_modify() does. Each may be NULL.
 *
 * Returns NULL_POINTER, or INVALID_ARGUMENT if there is no outcome: the batch was not modified, or cholupdate_d_batch_reserve() or
 * cholupdate_d_batch_replace() came after; SOME_FAILED as the modification would; the statuses of devices.
 */
cholupdate_status cholupdate_d_batch_outcome(const cholupdate_d_batch *batch,
                                             int64_t *info,
                                             double *min_pivot_ratio,
                                             double *log_det_change);

/**
 * Writes where the outcome of the last modification of a batch in the memory of a GPU is, for work on the device: the addresses, each a
 * CUdeviceptr, of arrays with an entry for each matrix. Each pointer may be NULL. `*status` has 32-bit integers: 0, 1 + the column of a
 * squared pivot that is not positive, or
 *     -1         if the matrix has no factor,
 *     -2, -3     if V or a new column, or a weight, is not finite,
 *     -4         if squares could overflow,
 *     -5         if the matrix is singular,
 *     -6         if the call failed on the device before it was decided,
 *     -7, -8     if it has no room for a row, or not the row that was to be removed.
 * `*pivot_ratio` has numbers in double precision, the least ratio of a new pivot to the old one, whose square is `min_pivot_ratio`;
 * `*log_det_change` has the change of log det A, in double precision. Both are undefined for matrices that have failed. The arrays are
 * written by the next modification. Work on its stream that comes before that may read them.
 *
 * Returns NULL_POINTER, or INVALID_ARGUMENT if there is no outcome, as cholupdate_d_batch_outcome().
 */
cholupdate_status cholupdate_d_batch_outcome_addresses(const cholupdate_d_batch *batch,
                                                       uint64_t *status,
                                                       uint64_t *pivot_ratio,
                                                       uint64_t *log_det_change);

/**
 * Waits for the last solve with a batch in the memory of a GPU, of any thread, and writes to `info` (count), which may be NULL, what
 * has failed.
 *
 * Returns NULL_POINTER, or INVALID_ARGUMENT if there is no outcome: there was no solve, or cholupdate_d_batch_reserve() or
 * cholupdate_d_batch_replace() came after; SOME_FAILED as cholupdate_d_batch_solve(); the statuses of devices.
 */
cholupdate_status cholupdate_d_batch_solve_outcome(const cholupdate_d_batch *batch,
                                                   int64_t *info);

/**
 * Writes the address on the device, a CUdeviceptr, of what cholupdate_d_batch_solve_outcome() is about to `*status`: a 32-bit integer
 * for each matrix, as in cholupdate_d_batch_outcome_addresses(), with -2 for B that is not finite. The next solve writes them.
 *
 * Returns NULL_POINTER, or INVALID_ARGUMENT if there is no outcome, as cholupdate_d_batch_solve_outcome().
 */
cholupdate_status cholupdate_d_batch_solve_outcome_address(const cholupdate_d_batch *batch,
                                                           uint64_t *status);

/**
 * Waits for the last modification of a batch in the memory of a GPU, of rows as well, and writes its outcome to `info`, `min_pivot_ratio`
 * and `log_det_change` (count each), as cholupdate_s_batch_modify() does. Each may be NULL.
 *
 * Returns NULL_POINTER, or INVALID_ARGUMENT if there is no outcome: the batch was not modified, or cholupdate_s_batch_reserve() or
 * cholupdate_s_batch_replace() came after; SOME_FAILED as the modification would; the statuses of devices.
 */
cholupdate_status cholupdate_s_batch_outcome(const cholupdate_s_batch *batch,
                                             int64_t *info,
                                             double *min_pivot_ratio,
                                             double *log_det_change);

/**
 * Writes where the outcome of the last modification of a batch in the memory of a GPU is, for work on the device: the addresses, each a
 * CUdeviceptr, of arrays with an entry for each matrix. Each pointer may be NULL. `*status` has 32-bit integers: 0, 1 + the column of a
 * squared pivot that is not positive, or
 *     -1         if the matrix has no factor,
 *     -2, -3     if V or a new column, or a weight, is not finite,
 *     -4         if squares could overflow,
 *     -5         if the matrix is singular,
 *     -6         if the call failed on the device before it was decided,
 *     -7, -8     if it has no room for a row, or not the row that was to be removed.
 * `*pivot_ratio` has numbers in single precision, the least ratio of a new pivot to the old one, whose square is `min_pivot_ratio`;
 * `*log_det_change` has the change of log det A, in single precision. Both are undefined for matrices that have failed. The arrays are
 * written by the next modification. Work on its stream that comes before that may read them.
 *
 * Returns NULL_POINTER, or INVALID_ARGUMENT if there is no outcome, as cholupdate_s_batch_outcome().
 */
cholupdate_status cholupdate_s_batch_outcome_addresses(const cholupdate_s_batch *batch,
                                                       uint64_t *status,
                                                       uint64_t *pivot_ratio,
                                                       uint64_t *log_det_change);

/**
 * Waits for the last solve with a batch in the memory of a GPU, of any thread, and writes to `info` (count), which may be NULL, what
 * has failed.
 *
 * Returns NULL_POINTER, or INVALID_ARGUMENT if there is no outcome: there was no solve, or cholupdate_s_batch_reserve() or
 * cholupdate_s_batch_replace() came after; SOME_FAILED as cholupdate_s_batch_solve(); the statuses of devices.
 */
cholupdate_status cholupdate_s_batch_solve_outcome(const cholupdate_s_batch *batch,
                                                   int64_t *info);

/**
 * Writes the address on the device, a CUdeviceptr, of what cholupdate_s_batch_solve_outcome() is about to `*status`: a 32-bit integer
 * for each matrix, as in cholupdate_s_batch_outcome_addresses(), with -2 for B that is not finite. The next solve writes them.
 *
 * Returns NULL_POINTER, or INVALID_ARGUMENT if there is no outcome, as cholupdate_s_batch_solve_outcome().
 */
cholupdate_status cholupdate_s_batch_solve_outcome_address(const cholupdate_s_batch *batch,
                                                           uint64_t *status);

/**
 * Factors A (n x n), of which the triangle `uplo` is read, as L S L^T. `options` sets the number of threads; its engine must be the
 * CPU, and its safeguard is not used: no call loses the factor. The caller owns `*factor` and frees it by cholupdate_d_ldlt_free().
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW, SINGULAR or UNSTABLE.
 */
cholupdate_status cholupdate_d_ldlt_new(int64_t n,
                                        const double *a,
                                        int64_t lda,
                                        char uplo,
                                        const cholupdate_options *options,
                                        cholupdate_d_ldlt **factor);

/**
 * Makes a factor of a known A = L diag(d) L^T: of L (n x n), or R = L^T for an `uplo` of 'U', with any diagonal that is not zero, and
 * `d` (n). Both are copied. `options` are as in cholupdate_d_ldlt_new(). The caller owns `*factor` and frees it by
 * cholupdate_d_ldlt_free().
 *
 * Returns as cholupdate_d_ldlt_new(): SINGULAR if an entry of `d` or of the diagonal is zero.
 */
cholupdate_status cholupdate_d_ldlt_from_factor(int64_t n,
                                                const double *l,
                                                int64_t ldl,
                                                char uplo,
                                                const double *d,
                                                const cholupdate_options *options,
                                                cholupdate_d_ldlt **factor);

/**
 * Copies the factor, with its limit of the growth and what is expected of it. The caller owns `*copy` and frees it by
 * cholupdate_d_ldlt_free().
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_d_ldlt_clone(const cholupdate_d_ldlt *factor,
                                          cholupdate_d_ldlt **copy);

/**
 * Frees a factor. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_d_ldlt_free(cholupdate_d_ldlt *factor);

/**
 * Writes n to `*n`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_d_ldlt_order(const cholupdate_d_ldlt *factor, int64_t *n);

/**
 * Copies L, whose diagonal is positive, to the triangle `uplo` of the caller's array `l` (n x n), or R = L^T for 'U'. The other
 * triangle is not changed.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_d_ldlt_to_factor(const cholupdate_d_ldlt *factor,
                                              char uplo,
                                              double *l,
                                              int64_t ldl);

/**
 * Writes the diagonal of S to `signs` (n): 1 or -1.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_d_ldlt_signs(const cholupdate_d_ldlt *factor, double *signs);

/**
 * Writes A = L S L^T, both triangles, to the caller's array `a` (n x n).
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_d_ldlt_reconstruct(const cholupdate_d_ldlt *factor, double *a, int64_t lda);

/**
 * Factors A (n x n), of which the triangle `uplo` is read, as L S L^T. `options` sets the number of threads; its engine must be the
 * CPU, and its safeguard is not used: no call loses the factor. The caller owns `*factor` and frees it by cholupdate_s_ldlt_free().
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW, SINGULAR or UNSTABLE.
 */
cholupdate_status cholupdate_s_ldlt_new(int64_t n,
                                        const float *a,
                                        int64_t lda,
                                        char uplo,
                                        const cholupdate_options *options,
                                        cholupdate_s_ldlt **factor);

/**
 * Makes a factor of a known A = L diag(d) L^T: of L (n x n), or R = L^T for an `uplo` of 'U', with any diagonal that is not zero, and
 * `d` (n). Both are copied. `options` are as in cholupdate_s_ldlt_new(). The caller owns `*factor` and frees it by
 * cholupdate_s_ldlt_free().
 *
 * Returns as cholupdate_s_ldlt_new(): SINGULAR if an entry of `d` or of the diagonal is zero.
 */
cholupdate_status cholupdate_s_ldlt_from_factor(int64_t n,
                                                const float *l,
                                                int64_t ldl,
                                                char uplo,
                                                const float *d,
                                                const cholupdate_options *options,
                                                cholupdate_s_ldlt **factor);

/**
 * Copies the factor, with its limit of the growth and what is expected of it. The caller owns `*copy` and frees it by
 * cholupdate_s_ldlt_free().
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_s_ldlt_clone(const cholupdate_s_ldlt *factor,
                                          cholupdate_s_ldlt **copy);

/**
 * Frees a factor. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_s_ldlt_free(cholupdate_s_ldlt *factor);

/**
 * Writes n to `*n`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_s_ldlt_order(const cholupdate_s_ldlt *factor, int64_t *n);

/**
 * Copies L, whose diagonal is positive, to the triangle `uplo` of the caller's array `l` (n x n), or R = L^T for 'U'. The other
 * triangle is not changed.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_s_ldlt_to_factor(const cholupdate_s_ldlt *factor,
                                              char uplo,
                                              float *l,
                                              int64_t ldl);

/**
 * Writes the diagonal of S to `signs` (n): 1 or -1.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_s_ldlt_signs(const cholupdate_s_ldlt *factor, float *signs);

/**
 * Writes A = L S L^T, both triangles, to the caller's array `a` (n x n).
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_s_ldlt_reconstruct(const cholupdate_s_ldlt *factor, float *a, int64_t lda);

/**
 * Writes the number of positive eigenvalues of A to `*positive`, and that of negative ones to `*negative`. Each may be NULL.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_d_ldlt_inertia(const cholupdate_d_ldlt *factor,
                                            int64_t *positive,
                                            int64_t *negative);

/**
 * Writes log |det A| to `*log_abs_det`. The sign of det A is that of (-1)^m, with the number m of negative eigenvalues.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_d_ldlt_log_abs_det(const cholupdate_d_ldlt *factor,
                                                double *log_abs_det);

/**
 * Writes an estimate of the condition number of A in the 1-norm to `*condition`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_d_ldlt_condition(const cholupdate_d_ldlt *factor, double *condition);

/**
 * Writes max (|L| |D| |L^T|)_ii / max |A_ii|, at least 1, to `*growth`; 1 for n = 0. Rounding errors of the factor, and of solutions,
 * are larger by up to this factor than those of a positive definite matrix. Every call that changes the factor has computed it.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_d_ldlt_growth(const cholupdate_d_ldlt *factor,
                                           double *growth);

/**
 * Writes the growth above which a call returns UNSTABLE to `*limit`. At the beginning it is 1 / (4 u), with the unit roundoff u: no
 * digit is left.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_d_ldlt_growth_limit(const cholupdate_d_ldlt *factor,
                                                 double *limit);

/**
 * Sets the limit of the growth, at least 1, for later calls. The current factor may have more.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_d_ldlt_set_growth_limit(cholupdate_d_ldlt *factor, double limit);

/**
 * From now on a call whose result would have other numbers of positive and negative eigenvalues returns UNEXPECTED_INERTIA. The
 * current factor may have others, for instance before rows are appended. Replaces what was expected before.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_d_ldlt_expect_inertia(cholupdate_d_ldlt *factor,
                                                   int64_t positive,
                                                   int64_t negative);

/**
 * From now on a call after which a pivot would not have the sign of its row's entry of `signs` (n) returns UNEXPECTED_SIGN: for
 * quasi-definite matrices, whose pivots keep their signs in every order of the rows. An entry of 0 expects nothing, nor does a new
 * row. Replaces what was expected before. `signs` is copied.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or NOT_FINITE.
 */
cholupdate_status cholupdate_d_ldlt_expect_signs(cholupdate_d_ldlt *factor,
                                                 const double *signs);

/**
 * From now on any inertia is accepted, as at the beginning.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_d_ldlt_expect_any_inertia(cholupdate_d_ldlt *factor);

/**
 * Writes the number of positive eigenvalues of A to `*positive`, and that of negative ones to `*negative`. Each may be NULL.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_s_ldlt_inertia(const cholupdate_s_ldlt *factor,
                                            int64_t *positive,
                                            int64_t *negative);

/**
 * Writes log |det A| to `*log_abs_det`. The sign of det A is that of (-1)^m, with the number m of negative eigenvalues.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_s_ldlt_log_abs_det(const cholupdate_s_ldlt *factor,
                                                float *log_abs_det);

/**
 * Writes an estimate of the condition number of A in the 1-norm to `*condition`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_s_ldlt_condition(const cholupdate_s_ldlt *factor, float *condition);

/**
 * Writes max (|L| |D| |L^T|)_ii / max |A_ii|, at least 1, to `*growth`; 1 for n = 0. Rounding errors of the factor, and of solutions,
 * are larger by up to this factor than those of a positive definite matrix. Every call that changes the factor has computed it.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_s_ldlt_growth(const cholupdate_s_ldlt *factor,
                                           double *growth);

/**
 * Writes the growth above which a call returns UNSTABLE to `*limit`. At the beginning it is 1 / (4 u), with the unit roundoff u: no
 * digit is left.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_s_ldlt_growth_limit(const cholupdate_s_ldlt *factor,
                                                 double *limit);

/**
 * Sets the limit of the growth, at least 1, for later calls. The current factor may have more.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_s_ldlt_set_growth_limit(cholupdate_s_ldlt *factor, double limit);

/**
 * From now on a call whose result would have other numbers of positive and negative eigenvalues returns UNEXPECTED_INERTIA. The
 * current factor may have others, for instance before rows are appended. Replaces what was expected before.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_s_ldlt_expect_inertia(cholupdate_s_ldlt *factor,
                                                   int64_t positive,
                                                   int64_t negative);

/**
 * From now on a call after which a pivot would not have the sign of its row's entry of `signs` (n) returns UNEXPECTED_SIGN: for
 * quasi-definite matrices, whose pivots keep their signs in every order of the rows. An entry of 0 expects nothing, nor does a new
 * row. Replaces what was expected before. `signs` is copied.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or NOT_FINITE.
 */
cholupdate_status cholupdate_s_ldlt_expect_signs(cholupdate_s_ldlt *factor,
                                                 const float *signs);

/**
 * From now on any inertia is accepted, as at the beginning.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_s_ldlt_expect_any_inertia(cholupdate_s_ldlt *factor);

/**
 * A <- A + V V^T. V (n x k) is not changed; `report` may be NULL.
 *
 * Returns as cholupdate_d_ldlt_modify().
 */
cholupdate_status cholupdate_d_ldlt_update(cholupdate_d_ldlt *factor,
                                           int64_t k,
                                           const double *v,
                                           int64_t ldv,
                                           cholupdate_ldlt_report *report);

/**
 * A <- A - V V^T. V (n x k) is not changed; `report` may be NULL.
 *
 * Returns as cholupdate_d_ldlt_modify().
 */
cholupdate_status cholupdate_d_ldlt_downdate(cholupdate_d_ldlt *factor,
                                             int64_t k,
                                             const double *v,
                                             int64_t ldv,
                                             cholupdate_ldlt_report *report);

/**
 * A <- A + V diag(w) V^T, with any mix of signs: whether it succeeds depends on the leading minors of the result alone. V (n x k) and
 * `weights` (k) are not changed. NULL `weights` are those of an update, which are all 1; `report` may be NULL.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW, SINGULAR or UNSTABLE; UNEXPECTED_INERTIA or UNEXPECTED_SIGN if
 * something is expected.
 */
cholupdate_status cholupdate_d_ldlt_modify(cholupdate_d_ldlt *factor,
                                           int64_t k,
                                           const double *v,
                                           int64_t ldv,
                                           const double *weights,
                                           cholupdate_ldlt_report *report);

/**
 * A <- decay A + V diag(w) V^T, 0 < decay <= 1. V (n x k) and `weights` (k) are not changed; NULL weights are all 1. `report`,
 * relative to the old A, may be NULL.
 *
 * Returns as cholupdate_d_ldlt_modify().
 */
cholupdate_status cholupdate_d_ldlt_modify_scaled(cholupdate_d_ldlt *factor,
                                                  double decay,
                                                  int64_t k,
                                                  const double *v,
                                                  int64_t ldv,
                                                  const double *weights,
                                                  cholupdate_ldlt_report *report);

/**
 * As cholupdate_d_ldlt_modify_scaled(), with m right-hand sides b, which become decay b + V diag(w) `y`, `y` (k x m), for A and b with
 * A x = b. `z` (n x m) is L^-1 b, as cholupdate_d_ldlt_solve_l() or an earlier call has computed it, and becomes that of the new L and
 * b. cholupdate_d_ldlt_solve_lt() of S z is x. `report` may be NULL.
 *
 * Returns as cholupdate_d_ldlt_modify(); nothing is changed unless it returns OK.
 */
cholupdate_status cholupdate_d_ldlt_modify_carrying(cholupdate_d_ldlt *factor,
                                                    double decay,
                                                    int64_t k,
                                                    const double *v,
                                                    int64_t ldv,
                                                    const double *weights,
                                                    int64_t m,
                                                    const double *y,
                                                    int64_t ldy,
                                                    double *z,
                                                    int64_t ldz,
                                                    cholupdate_ldlt_report *report);

/**
 * Writes 1 to `*can` if cholupdate_d_ldlt_downdate() with the same V would succeed, otherwise 0, by the same arithmetic. V (n x k) and
 * the matrix are not changed; the factor's working memory is.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or OVERFLOW.
 */
cholupdate_status cholupdate_d_ldlt_can_downdate(cholupdate_d_ldlt *factor,
                                                 int64_t k,
                                                 const double *v,
                                                 int64_t ldv,
                                                 int32_t *can);

/**
 * A <- A + V V^T. V (n x k) is not changed; `report` may be NULL.
 *
 * Returns as cholupdate_s_ldlt_modify().
 */
cholupdate_status cholupdate_s_ldlt_update(cholupdate_s_ldlt *factor,
                                           int64_t k,
                                           const float *v,
                                           int64_t ldv,
                                           cholupdate_ldlt_report *report);

/**
 * A <- A - V V^T. V (n x k) is not changed; `report` may be NULL.
 *
 * Returns as cholupdate_s_ldlt_modify().
 */
cholupdate_status cholupdate_s_ldlt_downdate(cholupdate_s_ldlt *factor,
                                             int64_t k,
                                             const float *v,
                                             int64_t ldv,
                                             cholupdate_ldlt_report *report);

/**
 * A <- A + V diag(w) V^T, with any mix of signs: whether it succeeds depends on the leading minors of the result alone. V (n x k) and
 * `weights` (k) are not changed. NULL `weights` are those of an update, which are all 1; `report` may be NULL.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW, SINGULAR or UNSTABLE; UNEXPECTED_INERTIA or UNEXPECTED_SIGN if
 * something is expected.
 */
cholupdate_status cholupdate_s_ldlt_modify(cholupdate_s_ldlt *factor,
                                           int64_t k,
                                           const float *v,
                                           int64_t ldv,
                                           const float *weights,
                                           cholupdate_ldlt_report *report);

/**
 * A <- decay A + V diag(w) V^T, 0 < decay <= 1. V (n x k) and `weights` (k) are not changed; NULL weights are all 1. `report`,
 * relative to the old A, may be NULL.
 *
 * Returns as cholupdate_s_ldlt_modify().
 */
cholupdate_status cholupdate_s_ldlt_modify_scaled(cholupdate_s_ldlt *factor,
                                                  float decay,
                                                  int64_t k,
                                                  const float *v,
                                                  int64_t ldv,
                                                  const float *weights,
                                                  cholupdate_ldlt_report *report);

/**
 * As cholupdate_s_ldlt_modify_scaled(), with m right-hand sides b, which become decay b + V diag(w) `y`, `y` (k x m), for A and b with
 * A x = b. `z` (n x m) is L^-1 b, as cholupdate_s_ldlt_solve_l() or an earlier call has computed it, and becomes that of the new L and
 * b. cholupdate_s_ldlt_solve_lt() of S z is x. `report` may be NULL.
 *
 * Returns as cholupdate_s_ldlt_modify(); nothing is changed unless it returns OK.
 */
cholupdate_status cholupdate_s_ldlt_modify_carrying(cholupdate_s_ldlt *factor,
                                                    float decay,
                                                    int64_t k,
                                                    const float *v,
                                                    int64_t ldv,
                                                    const float *weights,
                                                    int64_t m,
                                                    const float *y,
                                                    int64_t ldy,
                                                    float *z,
                                                    int64_t ldz,
                                                    cholupdate_ldlt_report *report);

/**
 * Writes 1 to `*can` if cholupdate_s_ldlt_downdate() with the same V would succeed, otherwise 0, by the same arithmetic. V (n x k) and
 * the matrix are not changed; the factor's working memory is.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or OVERFLOW.
 */
cholupdate_status cholupdate_s_ldlt_can_downdate(cholupdate_s_ldlt *factor,
                                                 int64_t k,
                                                 const float *v,
                                                 int64_t ldv,
                                                 int32_t *can);

/**
 * Appends r rows and columns: B above C are the new columns of A, `cross` (n x r) and `corner` (r x r), of which the triangle `uplo`
 * is read. Both are not changed; `report` may be NULL.
 *
 * Returns as cholupdate_d_ldlt_modify(); the column is that of the new A.
 */
cholupdate_status cholupdate_d_ldlt_append(cholupdate_d_ldlt *factor,
                                           int64_t r,
                                           const double *cross,
                                           int64_t ldcross,
                                           const double *corner,
                                           int64_t ldcorner,
                                           char uplo,
                                           cholupdate_ldlt_report *report);

/**
 * Inserts r rows and columns, which become rows `at` to `at` + r - 1; `at` is at most the old n. `columns` (n + r x r) are the new
 * columns of A, in the numbering of the new A; of their rows `at` to `at` + r - 1 the lower triangle is read. They are not changed;
 * `report` may be NULL.
 *
 * Returns as cholupdate_d_ldlt_append().
 */
cholupdate_status cholupdate_d_ldlt_insert(cholupdate_d_ldlt *factor,
                                           int64_t at,
                                           int64_t r,
                                           const double *columns,
                                           int64_t ldcolumns,
                                           cholupdate_ldlt_report *report);

/**
 * Replaces r neighbouring rows and columns, from row `at` on, in one step: the matrix without them need not have a factor. `columns`
 * (n x r) are the new columns of A; of their rows `at` to `at` + r - 1 the lower triangle is read. They are not changed; `report` may
 * be NULL.
 *
 * Returns as cholupdate_d_ldlt_append().
 */
cholupdate_status cholupdate_d_ldlt_replace(cholupdate_d_ldlt *factor,
                                            int64_t at,
                                            int64_t r,
                                            const double *columns,
                                            int64_t ldcolumns,
                                            cholupdate_ldlt_report *report);

/**
 * Removes the r rows and columns with the distinct `indices` (r), in any order. Unlike that of a positive definite matrix the rest may
 * have no factor. `indices` is not changed; `report` may be NULL.
 *
 * Returns as cholupdate_d_ldlt_modify(), except NOT_FINITE; the column is that of the new A.
 */
cholupdate_status cholupdate_d_ldlt_remove(cholupdate_d_ldlt *factor,
                                           int64_t r,
                                           const int64_t *indices,
                                           cholupdate_ldlt_report *report);

/**
 * Moves row and column `from` of A to row and column `to`; those between move up or down by one. `report` may be NULL.
 *
 * Returns as cholupdate_d_ldlt_remove().
 */
cholupdate_status cholupdate_d_ldlt_shift(cholupdate_d_ldlt *factor,
                                          int64_t from,
                                          int64_t to,
                                          cholupdate_ldlt_report *report);

/**
 * Reorders rows and columns: row `order`[i] of A becomes row i. `order` (n) contains every row once and is not changed; `report` may
 * be NULL.
 *
 * Returns as cholupdate_d_ldlt_remove().
 */
cholupdate_status cholupdate_d_ldlt_permute(cholupdate_d_ldlt *factor,
                                            const int64_t *order,
                                            cholupdate_ldlt_report *report);

/**
 * Appends r rows and columns: B above C are the new columns of A, `cross` (n x r) and `corner` (r x r), of which the triangle `uplo`
 * is read. Both are not changed; `report` may be NULL.
 *
 * Returns as cholupdate_s_ldlt_modify(); the column is that of the new A.
 */
cholupdate_status cholupdate_s_ldlt_append(cholupdate_s_ldlt *factor,
                                           int64_t r,
                                           const float *cross,
                                           int64_t ldcross,
                                           const float *corner,
                                           int64_t ldcorner,
                                           char uplo,
                                           cholupdate_ldlt_report *report);

/**
 * Inserts r rows and columns, which become rows `at` to `at` + r - 1; `at` is at most the old n. `columns` (n + r x r) are the new
 * columns of A, in the numbering of the new A; of their rows `at` to `at` + r - 1 the lower triangle is read. They are not changed;
 * `report` may be NULL.
 *
 * Returns as cholupdate_s_ldlt_append().
 */
cholupdate_status cholupdate_s_ldlt_insert(cholupdate_s_ldlt *factor,
                                           int64_t at,
                                           int64_t r,
                                           const float *columns,
                                           int64_t ldcolumns,
                                           cholupdate_ldlt_report *report);

/**
 * Replaces r neighbouring rows and columns, from row `at` on, in one step: the matrix without them need not have a factor. `columns`
 * (n x r) are the new columns of A; of their rows `at` to `at` + r - 1 the lower triangle is read. They are not changed; `report` may
 * be NULL.
 *
 * Returns as cholupdate_s_ldlt_append().
 */
cholupdate_status cholupdate_s_ldlt_replace(cholupdate_s_ldlt *factor,
                                            int64_t at,
                                            int64_t r,
                                            const float *columns,
                                            int64_t ldcolumns,
                                            cholupdate_ldlt_report *report);

/**
 * Removes the r rows and columns with the distinct `indices` (r), in any order. Unlike that of a positive definite matrix the rest may
 * have no factor. `indices` is not changed; `report` may be NULL.
 *
 * Returns as cholupdate_s_ldlt_modify(), except NOT_FINITE; the column is that of the new A.
 */
cholupdate_status cholupdate_s_ldlt_remove(cholupdate_s_ldlt *factor,
                                           int64_t r,
                                           const int64_t *indices,
                                           cholupdate_ldlt_report *report);

/**
 * Moves row and column `from` of A to row and column `to`; those between move up or down by one. `report` may be NULL.
 *
 * Returns as cholupdate_s_ldlt_remove().
 */
cholupdate_status cholupdate_s_ldlt_shift(cholupdate_s_ldlt *factor,
                                          int64_t from,
                                          int64_t to,
                                          cholupdate_ldlt_report *report);

/**
 * Reorders rows and columns: row `order`[i] of A becomes row i. `order` (n) contains every row once and is not changed; `report` may
 * be NULL.
 *
 * Returns as cholupdate_s_ldlt_remove().
 */
cholupdate_status cholupdate_s_ldlt_permute(cholupdate_s_ldlt *factor,
                                            const int64_t *order,
                                            cholupdate_ldlt_report *report);

/**
 * B (n x nrhs) <- X with A X = B, in the caller's array `b`.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or NOT_FINITE.
 */
cholupdate_status cholupdate_d_ldlt_solve(const cholupdate_d_ldlt *factor,
                                          int64_t nrhs,
                                          double *b,
                                          int64_t ldb);

/**
 * B (n x nrhs) <- Y with L Y = B, in the caller's array `b`. With it Y^T S Y = B^T A^-1 B.
 *
 * Returns as cholupdate_d_ldlt_solve().
 */
cholupdate_status cholupdate_d_ldlt_solve_l(const cholupdate_d_ldlt *factor,
                                            int64_t nrhs,
                                            double *b,
                                            int64_t ldb);

/**
 * B (n x nrhs) <- X with L^T X = B, in the caller's array `b`.
 *
 * Returns as cholupdate_d_ldlt_solve().
 */
cholupdate_status cholupdate_d_ldlt_solve_lt(const cholupdate_d_ldlt *factor,
                                             int64_t nrhs,
                                             double *b,
                                             int64_t ldb);

/**
 * B (n x nrhs) <- X with A X = B, in the caller's array `b`.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or NOT_FINITE.
 */
cholupdate_status cholupdate_s_ldlt_solve(const cholupdate_s_ldlt *factor,
                                          int64_t nrhs,
                                          float *b,
                                          int64_t ldb);

/**
 * B (n x nrhs) <- Y with L Y = B, in the caller's array `b`. With it Y^T S Y = B^T A^-1 B.
 *
 * Returns as cholupdate_s_ldlt_solve().
 */
cholupdate_status cholupdate_s_ldlt_solve_l(const cholupdate_s_ldlt *factor,
                                            int64_t nrhs,
                                            float *b,
                                            int64_t ldb);

/**
 * B (n x nrhs) <- X with L^T X = B, in the caller's array `b`.
 *
 * Returns as cholupdate_s_ldlt_solve().
 */
cholupdate_status cholupdate_s_ldlt_solve_lt(const cholupdate_s_ldlt *factor,
                                             int64_t nrhs,
                                             float *b,
                                             int64_t ldb);

/**
 * Borders A by B (n x r), `cross`, and K (r x r), `corner`, of which the triangle `uplo` is read: the matrix is (A B; B^T K). The
 * caller owns `*extension` and frees it by cholupdate_d_ldlt_extension_free(). It belongs to the current factor: functions that take
 * both require that the factor has not changed since. What is expected of changes is not asked of it.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW, SINGULAR or UNSTABLE.
 */
cholupdate_status cholupdate_d_ldlt_extension_new(const cholupdate_d_ldlt *factor,
                                                  int64_t r,
                                                  const double *cross,
                                                  int64_t ldcross,
                                                  const double *corner,
                                                  int64_t ldcorner,
                                                  char uplo,
                                                  cholupdate_d_ldlt_extension **extension);

/**
 * Frees an extension. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_d_ldlt_extension_free(cholupdate_d_ldlt_extension *extension);

/**
 * Writes n + r to `*order`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_d_ldlt_extension_order(const cholupdate_d_ldlt_extension *extension,
                                                    int64_t *order);

/**
 * B (n + r x nrhs) <- X with A X = B for the bordered A, in the caller's array `b`. `factor` is the one that was extended, and must
 * not have changed since.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or NOT_FINITE.
 */
cholupdate_status cholupdate_d_ldlt_extension_solve(const cholupdate_d_ldlt *factor,
                                                    const cholupdate_d_ldlt_extension *extension,
                                                    int64_t nrhs,
                                                    double *b,
                                                    int64_t ldb);

/**
 * Writes log |det| of the bordered A to `*log_abs_det`. `factor` is the one that was extended, and must not have changed since.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_d_ldlt_extension_log_abs_det(const cholupdate_d_ldlt *factor,
                                                          const cholupdate_d_ldlt_extension *extension,
                                                          double *log_abs_det);

/**
 * Writes the number of positive eigenvalues of the bordered A to `*positive`, and that of negative ones to `*negative`. Each may be
 * NULL. `factor` is the one that was extended, and must not have changed since.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_d_ldlt_extension_inertia(const cholupdate_d_ldlt *factor,
                                                      const cholupdate_d_ldlt_extension *extension,
                                                      int64_t *positive,
                                                      int64_t *negative);

/**
 * Copies C, whose diagonal is positive, with C S C^T = K - B^T A^-1 B, the Schur complement of A, to the triangle `uplo` of the
 * caller's array `corner` (r x r), or its transpose for 'U'. The other triangle is not changed. The diagonal of S, 1 or -1, is
 * written to `signs` (r).
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_d_ldlt_extension_corner(const cholupdate_d_ldlt_extension *extension,
                                                     char uplo,
                                                     double *corner,
                                                     int64_t ldcorner,
                                                     double *signs);

/**
 * Borders A by B (n x r), `cross`, and K (r x r), `corner`, of which the triangle `uplo` is read: the matrix is (A B; B^T K). The
 * caller owns `*extension` and frees it by cholupdate_s_ldlt_extension_free(). It belongs to the current factor: functions that take
 * both require that the factor has not changed since. What is expected of changes is not asked of it.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW, SINGULAR or UNSTABLE.
 */
cholupdate_status cholupdate_s_ldlt_extension_new(const cholupdate_s_ldlt *factor,
                                                  int64_t r,
                                                  const float *cross,
                                                  int64_t ldcross,
                                                  const float *corner,
                                                  int64_t ldcorner,
                                                  char uplo,
                                                  cholupdate_s_ldlt_extension **extension);

/**
 * Frees an extension. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_s_ldlt_extension_free(cholupdate_s_ldlt_extension *extension);

/**
 * Writes n + r to `*order`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_s_ldlt_extension_order(const cholupdate_s_ldlt_extension *extension,
                                                    int64_t *order);

/**
 * B (n + r x nrhs) <- X with A X = B for the bordered A, in the caller's array `b`. `factor` is the one that was extended, and must
 * not have changed since.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or NOT_FINITE.
 */
cholupdate_status cholupdate_s_ldlt_extension_solve(const cholupdate_s_ldlt *factor,
                                                    const cholupdate_s_ldlt_extension *extension,
                                                    int64_t nrhs,
                                                    float *b,
                                                    int64_t ldb);

/**
 * Writes log |det| of the bordered A to `*log_abs_det`. `factor` is the one that was extended, and must not have changed since.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_s_ldlt_extension_log_abs_det(const cholupdate_s_ldlt *factor,
                                                          const cholupdate_s_ldlt_extension *extension,
                                                          float *log_abs_det);

/**
 * Writes the number of positive eigenvalues of the bordered A to `*positive`, and that of negative ones to `*negative`. Each may be
 * NULL. `factor` is the one that was extended, and must not have changed since.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_s_ldlt_extension_inertia(const cholupdate_s_ldlt *factor,
                                                      const cholupdate_s_ldlt_extension *extension,
                                                      int64_t *positive,
                                                      int64_t *negative);

/**
 * Copies C, whose diagonal is positive, with C S C^T = K - B^T A^-1 B, the Schur complement of A, to the triangle `uplo` of the
 * caller's array `corner` (r x r), or its transpose for 'U'. The other triangle is not changed. The diagonal of S, 1 or -1, is
 * written to `signs` (r).
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_s_ldlt_extension_corner(const cholupdate_s_ldlt_extension *extension,
                                                     char uplo,
                                                     float *corner,
                                                     int64_t ldcorner,
                                                     float *signs);

/**
 * Factors A (n x n), of which the triangle `uplo` is read. The caller owns `*factor` and frees it by cholupdate_z_free().
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or NOT_POSITIVE_DEFINITE.
 */
cholupdate_status cholupdate_z_new(int64_t n,
                                   const cholupdate_c64 *a,
                                   int64_t lda,
                                   char uplo,
                                   const cholupdate_options *options,
                                   cholupdate_z **factor);

/**
 * Makes a factor of a known L (n x n), or R = L^H for an `uplo` of 'U'. Each column of L is multiplied by the number of
 * magnitude 1 that makes its diagonal entry real and positive, which leaves L L^H as it is. The caller owns `*factor` and
 * frees it by cholupdate_z_free(); `l` is copied.
 *
 * Returns as cholupdate_z_new() except NOT_POSITIVE_DEFINITE. With a zero on the diagonal A is singular, as in
 * cholupdate_z_zeros().
 */
cholupdate_status cholupdate_z_from_factor(int64_t n,
                                           const cholupdate_c64 *l,
                                           int64_t ldl,
                                           char uplo,
                                           const cholupdate_options *options,
                                           cholupdate_z **factor);

/**
 * Makes the factor L = 0 of A = 0 (n x n): the start of least squares that are accumulated row by row, as with LINPACK's
 * zchud. A is singular until updates have made every pivot positive. Until then cholupdate_z_update() and every
 * modification with only positive weights work, and so do calls that read L; calls that need a regular A return SINGULAR.
 * The caller owns `*factor` and frees it by cholupdate_z_free().
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_z_zeros(int64_t n,
                                     const cholupdate_options *options,
                                     cholupdate_z **factor);

/**
 * Copies the factor, on the same engine. The caller owns `*copy` and frees it by cholupdate_z_free().
 *
 * Returns NULL_POINTER or POISONED.
 */
cholupdate_status cholupdate_z_clone(const cholupdate_z *factor, cholupdate_z **copy);

/**
 * Copies the factor with other settings, for example the number of threads. The caller owns `*copy` and frees it by
 * cholupdate_z_free().
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT for settings, or POISONED.
 */
cholupdate_status cholupdate_z_to_engine(const cholupdate_z *factor,
                                         const cholupdate_options *options,
                                         cholupdate_z **copy);

/**
 * Frees a factor. If a modification is in flight, the pending object frees it when the modification ends. The pointer is
 * invalid afterwards. NULL is ignored.
 */
void cholupdate_z_free(cholupdate_z *factor);

/**
 * Writes n to `*n`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_z_order(const cholupdate_z *factor, int64_t *n);

/**
 * Reserves memory for `additional` more rows, which can then be inserted without another allocation.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or POISONED.
 */
cholupdate_status cholupdate_z_reserve(cholupdate_z *factor, int64_t additional);

/**
 * Copies L to the triangle `uplo` of the caller's array `l` (n x n), or R = L^H for 'U'. The other triangle is not changed.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or POISONED.
 */
cholupdate_status cholupdate_z_to_factor(const cholupdate_z *factor,
                                         char uplo,
                                         cholupdate_c64 *l,
                                         int64_t ldl);

/**
 * Factors A (n x n), of which the triangle `uplo` is read. The caller owns `*factor` and frees it by cholupdate_c_free().
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or NOT_POSITIVE_DEFINITE.
 */
cholupdate_status cholupdate_c_new(int64_t n,
                                   const cholupdate_c32 *a,
                                   int64_t lda,
                                   char uplo,
                                   const cholupdate_options *options,
                                   cholupdate_c **factor);

/**
 * Makes a factor of a known L (n x n), or R = L^H for an `uplo` of 'U'. Each column of L is multiplied by the number of
 * magnitude 1 that makes its diagonal entry real and positive, which leaves L L^H as it is. The caller owns `*factor` and
 * frees it by cholupdate_c_free(); `l` is copied.
 *
 * Returns as cholupdate_c_new() except NOT_POSITIVE_DEFINITE. With a zero on the diagonal A is singular, as in
 * cholupdate_c_zeros().
 */
cholupdate_status cholupdate_c_from_factor(int64_t n,
                                           const cholupdate_c32 *l,
                                           int64_t ldl,
                                           char uplo,
                                           const cholupdate_options *options,
                                           cholupdate_c **factor);

/**
 * Makes the factor L = 0 of A = 0 (n x n): the start of least squares that are accumulated row by row, as with LINPACK's
 * zchud. A is singular until updates have made every pivot positive. Until then cholupdate_c_update() and every
 * modification with only positive weights work, and so do calls that read L; calls that need a regular A return SINGULAR.
 * The caller owns `*factor` and frees it by cholupdate_c_free().
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_c_zeros(int64_t n,
                                     const cholupdate_options *options,
                                     cholupdate_c **factor);

/**
 * Copies the factor, on the same engine. The caller owns `*copy` and frees it by cholupdate_c_free().
 *
 * Returns NULL_POINTER or POISONED.
 */
cholupdate_status cholupdate_c_clone(const cholupdate_c *factor, cholupdate_c **copy);

/**
 * Copies the factor with other settings, for example the number of threads. The caller owns `*copy` and frees it by
 * cholupdate_c_free().
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT for settings, or POISONED.
 */
cholupdate_status cholupdate_c_to_engine(const cholupdate_c *factor,
                                         const cholupdate_options *options,
                                         cholupdate_c **copy);

/**
 * Frees a factor. If a modification is in flight, the pending object frees it when the modification ends. The pointer is
 * invalid afterwards. NULL is ignored.
 */
void cholupdate_c_free(cholupdate_c *factor);

/**
 * Writes n to `*n`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_c_order(const cholupdate_c *factor, int64_t *n);

/**
 * Reserves memory for `additional` more rows, which can then be inserted without another allocation.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or POISONED.
 */
cholupdate_status cholupdate_c_reserve(cholupdate_c *factor, int64_t additional);

/**
 * Copies L to the triangle `uplo` of the caller's array `l` (n x n), or R = L^H for 'U'. The other triangle is not changed.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or POISONED.
 */
cholupdate_status cholupdate_c_to_factor(const cholupdate_c *factor,
                                         char uplo,
                                         cholupdate_c32 *l,
                                         int64_t ldl);

/**
 * Writes log det A to `*log_det`.
 *
 * Returns NULL_POINTER or POISONED.
 */
cholupdate_status cholupdate_z_log_det(const cholupdate_z *factor, double *log_det);

/**
 * Writes an estimate of the condition number of A in the 1-norm to `*condition`.
 *
 * Returns NULL_POINTER or POISONED.
 */
cholupdate_status cholupdate_z_condition(const cholupdate_z *factor, double *condition);

/**
 * Writes an estimate of max |(L L^H - A)_ij| / sqrt(a_ii a_jj) to `*estimate`, where A is the exact matrix: the error that
 * all modifications since L was computed have added, in either precision.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_z_error_estimate(const cholupdate_z *factor,
                                              double *estimate);

/**
 * Writes 1 to `*needs` if A should be factored again, otherwise 0. It should be if cholupdate_z_error_estimate() exceeds
 * `max_error`, or if there were more than `max_modifications` since L was computed. A `max_error` of 0 stands for half of
 * the digits, the square root of the unit roundoff; INT64_MAX permits any number of modifications.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_z_needs_refactor(const cholupdate_z *factor,
                                              double max_error,
                                              int64_t max_modifications,
                                              int32_t *needs);

/**
 * Writes log det A to `*log_det`.
 *
 * Returns NULL_POINTER or POISONED.
 */
cholupdate_status cholupdate_c_log_det(const cholupdate_c *factor, float *log_det);

/**
 * Writes an estimate of the condition number of A in the 1-norm to `*condition`.
 *
 * Returns NULL_POINTER or POISONED.
 */
cholupdate_status cholupdate_c_condition(const cholupdate_c *factor, float *condition);

/**
 * Writes an estimate of max |(L L^H - A)_ij| / sqrt(a_ii a_jj) to `*estimate`, where A is the exact matrix: the error that
 * all modifications since L was computed have added, in either precision.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_c_error_estimate(const cholupdate_c *factor,
                                              double *estimate);

/**
 * Writes 1 to `*needs` if A should be factored again, otherwise 0. It should be if cholupdate_c_error_estimate() exceeds
 * `max_error`, or if there were more than `max_modifications` since L was computed. A `max_error` of 0 stands for half of
 * the digits, the square root of the unit roundoff; INT64_MAX permits any number of modifications.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_c_needs_refactor(const cholupdate_c *factor,
                                              double max_error,
                                              int64_t max_modifications,
                                              int32_t *needs);

/**
 * A <- A + V V^H. V (n x k) is not changed; `report` may be NULL.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or POISONED.
 */
cholupdate_status cholupdate_z_update(cholupdate_z *factor,
                                      int64_t k,
                                      const cholupdate_c64 *v,
                                      int64_t ldv,
                                      cholupdate_report *report);

/**
 * A <- A - V V^H. V (n x k) is not changed; `report` may be NULL.
 *
 * Returns as cholupdate_z_update(), and NOT_POSITIVE_DEFINITE.
 */
cholupdate_status cholupdate_z_downdate(cholupdate_z *factor,
                                        int64_t k,
                                        const cholupdate_c64 *v,
                                        int64_t ldv,
                                        cholupdate_report *report);

/**
 * A <- A + V diag(w) V^H, with any mix of signs: whether it succeeds depends on the result alone. V (n x k) and `weights`
 * (k) are not changed. NULL `weights` are those of an update, which are all 1; `report` may be NULL.
 *
 * Returns as cholupdate_z_downdate().
 */
cholupdate_status cholupdate_z_modify(cholupdate_z *factor,
                                      int64_t k,
                                      const cholupdate_c64 *v,
                                      int64_t ldv,
                                      const double *weights,
                                      cholupdate_report *report);

/**
 * Writes 1 to `*can` if cholupdate_z_downdate() with the same V would succeed, otherwise 0, by the same arithmetic. V (n x
 * k) and the matrix are not changed; the factor's working memory is.
 *
 * Returns as cholupdate_z_update().
 */
cholupdate_status cholupdate_z_can_downdate(cholupdate_z *factor,
                                            int64_t k,
                                            const cholupdate_c64 *v,
                                            int64_t ldv,
                                            int32_t *can);

/**
 * A <- A + V V^H. V (n x k) is not changed; `report` may be NULL.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or POISONED.
 */
cholupdate_status cholupdate_c_update(cholupdate_c *factor,
                                      int64_t k,
                                      const cholupdate_c32 *v,
                                      int64_t ldv,
                                      cholupdate_report *report);

/**
 * A <- A - V V^H. V (n x k) is not changed; `report` may be NULL.
 *
 * Returns as cholupdate_c_update(), and NOT_POSITIVE_DEFINITE.
 */
cholupdate_status cholupdate_c_downdate(cholupdate_c *factor,
                                        int64_t k,
                                        const cholupdate_c32 *v,
                                        int64_t ldv,
                                        cholupdate_report *report);

/**
 * A <- A + V diag(w) V^H, with any mix of signs: whether it succeeds depends on the result alone. V (n x k) and `weights`
 * (k) are not changed. NULL `weights` are those of an update, which are all 1; `report` may be NULL.
 *
 * Returns as cholupdate_c_downdate().
 */
cholupdate_status cholupdate_c_modify(cholupdate_c *factor,
                                      int64_t k,
                                      const cholupdate_c32 *v,
                                      int64_t ldv,
                                      const float *weights,
                                      cholupdate_report *report);

/**
 * Writes 1 to `*can` if cholupdate_c_downdate() with the same V would succeed, otherwise 0, by the same arithmetic. V (n x
 * k) and the matrix are not changed; the factor's working memory is.
 *
 * Returns as cholupdate_c_update().
 */
cholupdate_status cholupdate_c_can_downdate(cholupdate_c *factor,
                                            int64_t k,
                                            const cholupdate_c32 *v,
                                            int64_t ldv,
                                            int32_t *can);

/**
 * A <- decay A + V diag(w) V^H, 0 < decay <= 1: earlier observations count less with each call. V (n x k) and `weights` (k)
 * are not changed; NULL weights are all 1. `report`, relative to the old A, may be NULL.
 *
 * Returns as cholupdate_z_modify().
 */
cholupdate_status cholupdate_z_modify_scaled(cholupdate_z *factor,
                                             double decay,
                                             int64_t k,
                                             const cholupdate_c64 *v,
                                             int64_t ldv,
                                             const double *weights,
                                             cholupdate_report *report);

/**
 * Starts m least squares problems that cholupdate_z_modify_carrying() updates, with A = X^H X for observations X and
 * observed values Y: `b` (n x m), X^H Y, becomes z = L^-1 X^H Y, and `sums` (m), the sums of squares of Y, become the
 * residual sums of squares. A sum that is smaller than the explained sum of squares by more than rounding errors becomes
 * -1.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or POISONED.
 */
cholupdate_status cholupdate_z_carry(const cholupdate_z *factor,
                                     int64_t m,
                                     cholupdate_c64 *b,
                                     int64_t ldb,
                                     double *sums);

/**
 * As cholupdate_z_modify_scaled(), with m least squares problems: the rows of V^H with the values `y` (k x m) are added as
 * observations, or removed if their weight is negative. `z` (n x m) and `squares` (m) are results of cholupdate_z_carry()
 * or of an earlier call, and become those of the new factor. cholupdate_z_solve_lt() computes the solutions from a copy of
 * `z`. A sum of squares that would become negative is -1 from then on, as RHO in LINPACK's zchdd. `report` may be NULL.
 *
 * Returns as cholupdate_z_modify_scaled(); nothing is changed unless it returns OK.
 */
cholupdate_status cholupdate_z_modify_carrying(cholupdate_z *factor,
                                               double decay,
                                               int64_t k,
                                               const cholupdate_c64 *v,
                                               int64_t ldv,
                                               const double *weights,
                                               int64_t m,
                                               const cholupdate_c64 *y,
                                               int64_t ldy,
                                               cholupdate_c64 *z,
                                               int64_t ldz,
                                               double *squares,
                                               cholupdate_report *report);

/**
 * A <- decay A + V diag(w) V^H, 0 < decay <= 1: earlier observations count less with each call. V (n x k) and `weights` (k)
 * are not changed; NULL weights are all 1. `report`, relative to the old A, may be NULL.
 *
 * Returns as cholupdate_c_modify().
 */
cholupdate_status cholupdate_c_modify_scaled(cholupdate_c *factor,
                                             float decay,
                                             int64_t k,
                                             const cholupdate_c32 *v,
                                             int64_t ldv,
                                             const float *weights,
                                             cholupdate_report *report);

/**
 * Starts m least squares problems that cholupdate_c_modify_carrying() updates, with A = X^H X for observations X and
 * observed values Y: `b` (n x m), X^H Y, becomes z = L^-1 X^H Y, and `sums` (m), the sums of squares of Y, become the
 * residual sums of squares. A sum that is smaller than the explained sum of squares by more than rounding errors becomes
 * -1.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or POISONED.
 */
cholupdate_status cholupdate_c_carry(const cholupdate_c *factor,
                                     int64_t m,
                                     cholupdate_c32 *b,
                                     int64_t ldb,
                                     float *sums);

/**
 * As cholupdate_c_modify_scaled(), with m least squares problems: the rows of V^H with the values `y` (k x m) are added as
 * observations, or removed if their weight is negative. `z` (n x m) and `squares` (m) are results of cholupdate_c_carry()
 * or of an earlier call, and become those of the new factor. cholupdate_c_solve_lt() computes the solutions from a copy of
 * `z`. A sum of squares that would become negative is -1 from then on, as RHO in LINPACK's zchdd. `report` may be NULL.
 *
 * Returns as cholupdate_c_modify_scaled(); nothing is changed unless it returns OK.
 */
cholupdate_status cholupdate_c_modify_carrying(cholupdate_c *factor,
                                               float decay,
                                               int64_t k,
                                               const cholupdate_c32 *v,
                                               int64_t ldv,
                                               const float *weights,
                                               int64_t m,
                                               const cholupdate_c32 *y,
                                               int64_t ldy,
                                               cholupdate_c32 *z,
                                               int64_t ldz,
                                               float *squares,
                                               cholupdate_report *report);

/**
 * As cholupdate_z_modify(), without waiting for the engine. When this returns, V and `weights` have been copied, and the
 * rest of the work may still be in progress. The CPU engine finishes it within the call. The caller owns `*pending` and
 * frees it by cholupdate_z_pending_free(); only one thread at a time may use it.
 *
 * Returns as cholupdate_z_modify(), as far as errors are found within the call: `*pending` is written only if it returns
 * OK.
 */
cholupdate_status cholupdate_z_submit(cholupdate_z *factor,
                                      int64_t k,
                                      const cholupdate_c64 *v,
                                      int64_t ldv,
                                      const double *weights,
                                      cholupdate_z_pending **pending);

/**
 * Waits for the outcome, which is that of cholupdate_z_modify(). `report` may be NULL. The factor can be used afterwards.
 *
 * Returns as cholupdate_z_modify(); INVALID_ARGUMENT if the outcome has already been returned.
 */
cholupdate_status cholupdate_z_pending_wait(cholupdate_z_pending *pending,
                                            cholupdate_report *report);

/**
 * Waits for the outcome, and B (n x nrhs) <- X with A X = B in the caller's array `b`, with the A that results: the new one
 * if the modification has succeeded, otherwise the old one. `*solved` is the status of the solve, which is as from
 * cholupdate_z_solve(); `report` may be NULL. The factor can be used afterwards.
 *
 * Returns as cholupdate_z_pending_wait(). The last error is that of the modification, or that of the solve if only the
 * solve failed. If an argument is NULL or invalid, the modification is still in flight, and `*solved` is not written.
 */
cholupdate_status cholupdate_z_pending_solve(cholupdate_z_pending *pending,
                                             int64_t nrhs,
                                             cholupdate_c64 *b,
                                             int64_t ldb,
                                             cholupdate_report *report,
                                             cholupdate_status *solved);

/**
 * Frees a pending object. If its outcome has not been returned, waits for it and discards it; the factor is then the new
 * one or the old one. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_z_pending_free(cholupdate_z_pending *pending);

/**
 * As cholupdate_c_modify(), without waiting for the engine. When this returns, V and `weights` have been copied, and the
 * rest of the work may still be in progress. The CPU engine finishes it within the call. The caller owns `*pending` and
 * frees it by cholupdate_c_pending_free(); only one thread at a time may use it.
 *
 * Returns as cholupdate_c_modify(), as far as errors are found within the call: `*pending` is written only if it returns
 * OK.
 */
cholupdate_status cholupdate_c_submit(cholupdate_c *factor,
                                      int64_t k,
                                      const cholupdate_c32 *v,
                                      int64_t ldv,
                                      const float *weights,
                                      cholupdate_c_pending **pending);

/**
 * Waits for the outcome, which is that of cholupdate_c_modify(). `report` may be NULL. The factor can be used afterwards.
 *
 * Returns as cholupdate_c_modify(); INVALID_ARGUMENT if the outcome has already been returned.
 */
cholupdate_status cholupdate_c_pending_wait(cholupdate_c_pending *pending,
                                            cholupdate_report *report);

/**
 * Waits for the outcome, and B (n x nrhs) <- X with A X = B in the caller's array `b`, with the A that results: the new one
 * if the modification has succeeded, otherwise the old one. `*solved` is the status of the solve, which is as from
 * cholupdate_c_solve(); `report` may be NULL. The factor can be used afterwards.
 *
 * Returns as cholupdate_c_pending_wait(). The last error is that of the modification, or that of the solve if only the
 * solve failed. If an argument is NULL or invalid, the modification is still in flight, and `*solved` is not written.
 */
cholupdate_status cholupdate_c_pending_solve(cholupdate_c_pending *pending,
                                             int64_t nrhs,
                                             cholupdate_c32 *b,
                                             int64_t ldb,
                                             cholupdate_report *report,
                                             cholupdate_status *solved);

/**
 * Frees a pending object. If its outcome has not been returned, waits for it and discards it; the factor is then the new
 * one or the old one. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_c_pending_free(cholupdate_c_pending *pending);

/**
 * Appends r rows and columns: B above K are the new columns of A, `cross` (n x r) and `corner` (r x r), of which the
 * triangle `uplo` is read. Both are not changed; `report` may be NULL.
 *
 * Returns as cholupdate_z_downdate(); the column is that of the new A.
 */
cholupdate_status cholupdate_z_append(cholupdate_z *factor,
                                      int64_t r,
                                      const cholupdate_c64 *cross,
                                      int64_t ldcross,
                                      const cholupdate_c64 *corner,
                                      int64_t ldcorner,
                                      char uplo,
                                      cholupdate_report *report);

/**
 * Inserts r rows and columns, which become rows `at` to `at` + r - 1; `at` is at most the old n. `columns` (n + r x r) are
 * the new columns of A, in the numbering of the new A; of their rows `at` to `at` + r - 1 the lower triangle is read. They
 * are not changed; `report` may be NULL.
 *
 * Returns as cholupdate_z_append().
 */
cholupdate_status cholupdate_z_insert(cholupdate_z *factor,
                                      int64_t at,
                                      int64_t r,
                                      const cholupdate_c64 *columns,
                                      int64_t ldcolumns,
                                      cholupdate_report *report);

/**
 * Removes the r rows and columns with the distinct `indices` (r), in any order. `indices` is not changed; `report` may be
 * NULL.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, OVERFLOW or POISONED.
 */
cholupdate_status cholupdate_z_remove(cholupdate_z *factor,
                                      int64_t r,
                                      const int64_t *indices,
                                      cholupdate_report *report);

/**
 * Replaces r neighbouring rows and columns, from row `at` on. `columns` (n x r) are the new columns of A; of their rows
 * `at` to `at` + r - 1 the lower triangle is read. They are not changed; `report` may be NULL.
 *
 * Returns as cholupdate_z_append().
 */
cholupdate_status cholupdate_z_replace(cholupdate_z *factor,
                                       int64_t at,
                                       int64_t r,
                                       const cholupdate_c64 *columns,
                                       int64_t ldcolumns,
                                       cholupdate_report *report);

/**
 * Moves row and column `from` of A to row and column `to`; those between move up or down by one. `report` may be NULL.
 *
 * Returns as cholupdate_z_remove().
 */
cholupdate_status cholupdate_z_shift(cholupdate_z *factor,
                                     int64_t from,
                                     int64_t to,
                                     cholupdate_report *report);

/**
 * Reorders rows and columns: row `order`[i] of A becomes row i. `order` (n) contains every row once and is not changed;
 * `report` may be NULL.
 *
 * Returns as cholupdate_z_remove().
 */
cholupdate_status cholupdate_z_permute(cholupdate_z *factor,
                                       const int64_t *order,
                                       cholupdate_report *report);

/**
 * Appends r rows and columns: B above K are the new columns of A, `cross` (n x r) and `corner` (r x r), of which the
 * triangle `uplo` is read. Both are not changed; `report` may be NULL.
 *
 * Returns as cholupdate_c_downdate(); the column is that of the new A.
 */
cholupdate_status cholupdate_c_append(cholupdate_c *factor,
                                      int64_t r,
                                      const cholupdate_c32 *cross,
                                      int64_t ldcross,
                                      const cholupdate_c32 *corner,
                                      int64_t ldcorner,
                                      char uplo,
                                      cholupdate_report *report);

/**
 * Inserts r rows and columns, which become rows `at` to `at` + r - 1; `at` is at most the old n. `columns` (n + r x r) are
 * the new columns of A, in the numbering of the new A; of their rows `at` to `at` + r - 1 the lower triangle is read. They
 * are not changed; `report` may be NULL.
 *
 * Returns as cholupdate_c_append().
 */
cholupdate_status cholupdate_c_insert(cholupdate_c *factor,
                                      int64_t at,
                                      int64_t r,
                                      const cholupdate_c32 *columns,
                                      int64_t ldcolumns,
                                      cholupdate_report *report);

/**
 * Removes the r rows and columns with the distinct `indices` (r), in any order. `indices` is not changed; `report` may be
 * NULL.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, OVERFLOW or POISONED.
 */
cholupdate_status cholupdate_c_remove(cholupdate_c *factor,
                                      int64_t r,
                                      const int64_t *indices,
                                      cholupdate_report *report);

/**
 * Replaces r neighbouring rows and columns, from row `at` on. `columns` (n x r) are the new columns of A; of their rows
 * `at` to `at` + r - 1 the lower triangle is read. They are not changed; `report` may be NULL.
 *
 * Returns as cholupdate_c_append().
 */
cholupdate_status cholupdate_c_replace(cholupdate_c *factor,
                                       int64_t at,
                                       int64_t r,
                                       const cholupdate_c32 *columns,
                                       int64_t ldcolumns,
                                       cholupdate_report *report);

/**
 * Moves row and column `from` of A to row and column `to`; those between move up or down by one. `report` may be NULL.
 *
 * Returns as cholupdate_c_remove().
 */
cholupdate_status cholupdate_c_shift(cholupdate_c *factor,
                                     int64_t from,
                                     int64_t to,
                                     cholupdate_report *report);

/**
 * Reorders rows and columns: row `order`[i] of A becomes row i. `order` (n) contains every row once and is not changed;
 * `report` may be NULL.
 *
 * Returns as cholupdate_c_remove().
 */
cholupdate_status cholupdate_c_permute(cholupdate_c *factor,
                                       const int64_t *order,
                                       cholupdate_report *report);

/**
 * B (n x nrhs) <- X with A X = B, in the caller's array `b`.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED.
 */
cholupdate_status cholupdate_z_solve(const cholupdate_z *factor,
                                     int64_t nrhs,
                                     cholupdate_c64 *b,
                                     int64_t ldb);

/**
 * B (n x nrhs) <- Y with L Y = B, in the caller's array `b`.
 *
 * Returns as cholupdate_z_solve().
 */
cholupdate_status cholupdate_z_solve_l(const cholupdate_z *factor,
                                       int64_t nrhs,
                                       cholupdate_c64 *b,
                                       int64_t ldb);

/**
 * B (n x nrhs) <- X with L^H X = B, in the caller's array `b`.
 *
 * Returns as cholupdate_z_solve().
 */
cholupdate_status cholupdate_z_solve_lt(const cholupdate_z *factor,
                                        int64_t nrhs,
                                        cholupdate_c64 *b,
                                        int64_t ldb);

/**
 * X (n x m) <- A X = L L^H X, in the caller's array `x`. A is not formed, and may be singular.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED.
 */
cholupdate_status cholupdate_z_multiply(const cholupdate_z *factor,
                                        int64_t m,
                                        cholupdate_c64 *x,
                                        int64_t ldx);

/**
 * X (n x m) <- L X, in the caller's array `x`.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED.
 */
cholupdate_status cholupdate_z_multiply_l(const cholupdate_z *factor,
                                          int64_t m,
                                          cholupdate_c64 *x,
                                          int64_t ldx);

/**
 * X (n x m) <- L^H X, in the caller's array `x`.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED.
 */
cholupdate_status cholupdate_z_multiply_lt(const cholupdate_z *factor,
                                           int64_t m,
                                           cholupdate_c64 *x,
                                           int64_t ldx);

/**
 * B (n x nrhs) <- X with A X = B, in the caller's array `b`.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED.
 */
cholupdate_status cholupdate_c_solve(const cholupdate_c *factor,
                                     int64_t nrhs,
                                     cholupdate_c32 *b,
                                     int64_t ldb);

/**
 * B (n x nrhs) <- Y with L Y = B, in the caller's array `b`.
 *
 * Returns as cholupdate_c_solve().
 */
cholupdate_status cholupdate_c_solve_l(const cholupdate_c *factor,
                                       int64_t nrhs,
                                       cholupdate_c32 *b,
                                       int64_t ldb);

/**
 * B (n x nrhs) <- X with L^H X = B, in the caller's array `b`.
 *
 * Returns as cholupdate_c_solve().
 */
cholupdate_status cholupdate_c_solve_lt(const cholupdate_c *factor,
                                        int64_t nrhs,
                                        cholupdate_c32 *b,
                                        int64_t ldb);

/**
 * X (n x m) <- A X = L L^H X, in the caller's array `x`. A is not formed, and may be singular.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED.
 */
cholupdate_status cholupdate_c_multiply(const cholupdate_c *factor,
                                        int64_t m,
                                        cholupdate_c32 *x,
                                        int64_t ldx);

/**
 * X (n x m) <- L X, in the caller's array `x`.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED.
 */
cholupdate_status cholupdate_c_multiply_l(const cholupdate_c *factor,
                                          int64_t m,
                                          cholupdate_c32 *x,
                                          int64_t ldx);

/**
 * X (n x m) <- L^H X, in the caller's array `x`.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED.
 */
cholupdate_status cholupdate_c_multiply_lt(const cholupdate_c *factor,
                                           int64_t m,
                                           cholupdate_c32 *x,
                                           int64_t ldx);

/**
 * Borders A by B (n x r), `cross`, and K (r x r), `corner`, of which the triangle `uplo` is read: the matrix is (A B; B^H
 * K). The caller owns `*extension` and frees it by cholupdate_z_extension_free(). It belongs to the current factor:
 * functions that take both require that the factor has not changed since.
 *
 * Returns as cholupdate_z_append().
 */
cholupdate_status cholupdate_z_extension_new(const cholupdate_z *factor,
                                             int64_t r,
                                             const cholupdate_c64 *cross,
                                             int64_t ldcross,
                                             const cholupdate_c64 *corner,
                                             int64_t ldcorner,
                                             char uplo,
                                             cholupdate_z_extension **extension);

/**
 * Frees an extension. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_z_extension_free(cholupdate_z_extension *extension);

/**
 * Writes n + r to `*order`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_z_extension_order(const cholupdate_z_extension *extension, int64_t *order);

/**
 * B (n + r x nrhs) <- X with A X = B for the bordered A, in the caller's array `b`. `factor` is the one that was extended,
 * and must not have changed since.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED.
 */
cholupdate_status cholupdate_z_extension_solve(const cholupdate_z *factor,
                                               const cholupdate_z_extension *extension,
                                               int64_t nrhs,
                                               cholupdate_c64 *b,
                                               int64_t ldb);

/**
 * Writes log det of the bordered A to `*log_det`. `factor` is the one that was extended, and must not have changed since.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or POISONED.
 */
cholupdate_status cholupdate_z_extension_log_det(const cholupdate_z *factor,
                                                 const cholupdate_z_extension *extension,
                                                 double *log_det);

/**
 * Copies C with C C^H = K - B^H A^-1 B, the Schur complement of A, to the triangle `uplo` of the caller's array `corner` (r
 * x r), or its conjugate transpose for 'U'. The other triangle is not changed.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_z_extension_corner(const cholupdate_z_extension *extension,
                                                char uplo,
                                                cholupdate_c64 *corner,
                                                int64_t ldcorner);

/**
 * Borders A by B (n x r), `cross`, and K (r x r), `corner`, of which the triangle `uplo` is read: the matrix is (A B; B^H
 * K). The caller owns `*extension` and frees it by cholupdate_c_extension_free(). It belongs to the current factor:
 * functions that take both require that the factor has not changed since.
 *
 * Returns as cholupdate_c_append().
 */
cholupdate_status cholupdate_c_extension_new(const cholupdate_c *factor,
                                             int64_t r,
                                             const cholupdate_c32 *cross,
                                             int64_t ldcross,
                                             const cholupdate_c32 *corner,
                                             int64_t ldcorner,
                                             char uplo,
                                             cholupdate_c_extension **extension);

/**
 * Frees an extension. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_c_extension_free(cholupdate_c_extension *extension);

/**
 * Writes n + r to `*order`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_c_extension_order(const cholupdate_c_extension *extension, int64_t *order);

/**
 * B (n + r x nrhs) <- X with A X = B for the bordered A, in the caller's array `b`. `factor` is the one that was extended,
 * and must not have changed since.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or POISONED.
 */
cholupdate_status cholupdate_c_extension_solve(const cholupdate_c *factor,
                                               const cholupdate_c_extension *extension,
                                               int64_t nrhs,
                                               cholupdate_c32 *b,
                                               int64_t ldb);

/**
 * Writes log det of the bordered A to `*log_det`. `factor` is the one that was extended, and must not have changed since.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or POISONED.
 */
cholupdate_status cholupdate_c_extension_log_det(const cholupdate_c *factor,
                                                 const cholupdate_c_extension *extension,
                                                 float *log_det);

/**
 * Copies C with C C^H = K - B^H A^-1 B, the Schur complement of A, to the triangle `uplo` of the caller's array `corner` (r
 * x r), or its conjugate transpose for 'U'. The other triangle is not changed.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_c_extension_corner(const cholupdate_c_extension *extension,
                                                char uplo,
                                                cholupdate_c32 *corner,
                                                int64_t ldcorner);

/**
 * Factors A (n x n), of which the triangle `uplo` is read, as L S L^H. `options` sets the number of threads; its engine
 * must be the CPU, and its safeguard is not used: no call loses the factor. The caller owns `*factor` and frees it by
 * cholupdate_z_ldlt_free().
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW, SINGULAR or UNSTABLE.
 */
cholupdate_status cholupdate_z_ldlt_new(int64_t n,
                                        const cholupdate_c64 *a,
                                        int64_t lda,
                                        char uplo,
                                        const cholupdate_options *options,
                                        cholupdate_z_ldlt **factor);

/**
 * Makes a factor of a known A = L diag(d) L^H: of L (n x n), or R = L^H for an `uplo` of 'U', with any diagonal that is not
 * zero, and real `d` (n). Both are copied. `options` are as in cholupdate_z_ldlt_new(). The caller owns `*factor` and frees
 * it by cholupdate_z_ldlt_free().
 *
 * Returns as cholupdate_z_ldlt_new(): SINGULAR if an entry of `d` or of the diagonal is zero.
 */
cholupdate_status cholupdate_z_ldlt_from_factor(int64_t n,
                                                const cholupdate_c64 *l,
                                                int64_t ldl,
                                                char uplo,
                                                const double *d,
                                                const cholupdate_options *options,
                                                cholupdate_z_ldlt **factor);

/**
 * Copies the factor, with its limit of the growth and what is expected of it. The caller owns `*copy` and frees it by
 * cholupdate_z_ldlt_free().
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_z_ldlt_clone(const cholupdate_z_ldlt *factor,
                                          cholupdate_z_ldlt **copy);

/**
 * Frees a factor. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_z_ldlt_free(cholupdate_z_ldlt *factor);

/**
 * Writes n to `*n`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_z_ldlt_order(const cholupdate_z_ldlt *factor, int64_t *n);

/**
 * Copies L, whose diagonal is positive, to the triangle `uplo` of the caller's array `l` (n x n), or R = L^H for 'U'. The
 * other triangle is not changed.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_z_ldlt_to_factor(const cholupdate_z_ldlt *factor,
                                              char uplo,
                                              cholupdate_c64 *l,
                                              int64_t ldl);

/**
 * Writes the diagonal of S to `signs` (n): 1 or -1.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_z_ldlt_signs(const cholupdate_z_ldlt *factor, double *signs);

/**
 * Writes A = L S L^H, both triangles, to the caller's array `a` (n x n).
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_z_ldlt_reconstruct(const cholupdate_z_ldlt *factor,
                                                cholupdate_c64 *a,
                                                int64_t lda);

/**
 * Factors A (n x n), of which the triangle `uplo` is read, as L S L^H. `options` sets the number of threads; its engine
 * must be the CPU, and its safeguard is not used: no call loses the factor. The caller owns `*factor` and frees it by
 * cholupdate_c_ldlt_free().
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW, SINGULAR or UNSTABLE.
 */
cholupdate_status cholupdate_c_ldlt_new(int64_t n,
                                        const cholupdate_c32 *a,
                                        int64_t lda,
                                        char uplo,
                                        const cholupdate_options *options,
                                        cholupdate_c_ldlt **factor);

/**
 * Makes a factor of a known A = L diag(d) L^H: of L (n x n), or R = L^H for an `uplo` of 'U', with any diagonal that is not
 * zero, and real `d` (n). Both are copied. `options` are as in cholupdate_c_ldlt_new(). The caller owns `*factor` and frees
 * it by cholupdate_c_ldlt_free().
 *
 * Returns as cholupdate_c_ldlt_new(): SINGULAR if an entry of `d` or of the diagonal is zero.
 */
cholupdate_status cholupdate_c_ldlt_from_factor(int64_t n,
                                                const cholupdate_c32 *l,
                                                int64_t ldl,
                                                char uplo,
                                                const float *d,
                                                const cholupdate_options *options,
                                                cholupdate_c_ldlt **factor);

/**
 * Copies the factor, with its limit of the growth and what is expected of it. The caller owns `*copy` and frees it by
 * cholupdate_c_ldlt_free().
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_c_ldlt_clone(const cholupdate_c_ldlt *factor,
                                          cholupdate_c_ldlt **copy);

/**
 * Frees a factor. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_c_ldlt_free(cholupdate_c_ldlt *factor);

/**
 * Writes n to `*n`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_c_ldlt_order(const cholupdate_c_ldlt *factor, int64_t *n);

/**
 * Copies L, whose diagonal is positive, to the triangle `uplo` of the caller's array `l` (n x n), or R = L^H for 'U'. The
 * other triangle is not changed.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_c_ldlt_to_factor(const cholupdate_c_ldlt *factor,
                                              char uplo,
                                              cholupdate_c32 *l,
                                              int64_t ldl);

/**
 * Writes the diagonal of S to `signs` (n): 1 or -1.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_c_ldlt_signs(const cholupdate_c_ldlt *factor, float *signs);

/**
 * Writes A = L S L^H, both triangles, to the caller's array `a` (n x n).
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_c_ldlt_reconstruct(const cholupdate_c_ldlt *factor,
                                                cholupdate_c32 *a,
                                                int64_t lda);

/**
 * Writes the number of positive eigenvalues of A to `*positive`, and that of negative ones to `*negative`. Each may be
 * NULL.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_z_ldlt_inertia(const cholupdate_z_ldlt *factor,
                                            int64_t *positive,
                                            int64_t *negative);

/**
 * Writes log |det A| to `*log_abs_det`. The sign of det A is that of (-1)^m, with the number m of negative eigenvalues.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_z_ldlt_log_abs_det(const cholupdate_z_ldlt *factor,
                                                double *log_abs_det);

/**
 * Writes an estimate of the condition number of A in the 1-norm to `*condition`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_z_ldlt_condition(const cholupdate_z_ldlt *factor, double *condition);

/**
 * Writes max (|L| |D| |L^H|)_ii / max |A_ii|, at least 1, to `*growth`; 1 for n = 0. Rounding errors of the factor, and of
 * solutions, are larger by up to this factor than those of a positive definite matrix. Every call that changes the factor
 * has computed it.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_z_ldlt_growth(const cholupdate_z_ldlt *factor,
                                           double *growth);

/**
 * Writes the growth above which a call returns UNSTABLE to `*limit`. At the beginning it is 1 / (4 u), with the unit
 * roundoff u: no digit is left.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_z_ldlt_growth_limit(const cholupdate_z_ldlt *factor,
                                                 double *limit);

/**
 * Sets the limit of the growth, at least 1, for later calls. The current factor may have more.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_z_ldlt_set_growth_limit(cholupdate_z_ldlt *factor, double limit);

/**
 * From now on a call whose result would have other numbers of positive and negative eigenvalues returns UNEXPECTED_INERTIA.
 * The current factor may have others, for instance before rows are appended. Replaces what was expected before.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_z_ldlt_expect_inertia(cholupdate_z_ldlt *factor,
                                                   int64_t positive,
                                                   int64_t negative);

/**
 * From now on a call after which a pivot would not have the sign of its row's entry of `signs` (n) returns UNEXPECTED_SIGN:
 * for quasi-definite matrices, whose pivots keep their signs in every order of the rows. An entry of 0 expects nothing, nor
 * does a new row. Replaces what was expected before. `signs` is copied.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or NOT_FINITE.
 */
cholupdate_status cholupdate_z_ldlt_expect_signs(cholupdate_z_ldlt *factor,
                                                 const double *signs);

/**
 * From now on any inertia is accepted, as at the beginning.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_z_ldlt_expect_any_inertia(cholupdate_z_ldlt *factor);

/**
 * Writes the number of positive eigenvalues of A to `*positive`, and that of negative ones to `*negative`. Each may be
 * NULL.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_c_ldlt_inertia(const cholupdate_c_ldlt *factor,
                                            int64_t *positive,
                                            int64_t *negative);

/**
 * Writes log |det A| to `*log_abs_det`. The sign of det A is that of (-1)^m, with the number m of negative eigenvalues.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_c_ldlt_log_abs_det(const cholupdate_c_ldlt *factor,
                                                float *log_abs_det);

/**
 * Writes an estimate of the condition number of A in the 1-norm to `*condition`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_c_ldlt_condition(const cholupdate_c_ldlt *factor, float *condition);

/**
 * Writes max (|L| |D| |L^H|)_ii / max |A_ii|, at least 1, to `*growth`; 1 for n = 0. Rounding errors of the factor, and of
 * solutions, are larger by up to this factor than those of a positive definite matrix. Every call that changes the factor
 * has computed it.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_c_ldlt_growth(const cholupdate_c_ldlt *factor,
                                           double *growth);

/**
 * Writes the growth above which a call returns UNSTABLE to `*limit`. At the beginning it is 1 / (4 u), with the unit
 * roundoff u: no digit is left.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_c_ldlt_growth_limit(const cholupdate_c_ldlt *factor,
                                                 double *limit);

/**
 * Sets the limit of the growth, at least 1, for later calls. The current factor may have more.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_c_ldlt_set_growth_limit(cholupdate_c_ldlt *factor, double limit);

/**
 * From now on a call whose result would have other numbers of positive and negative eigenvalues returns UNEXPECTED_INERTIA.
 * The current factor may have others, for instance before rows are appended. Replaces what was expected before.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_c_ldlt_expect_inertia(cholupdate_c_ldlt *factor,
                                                   int64_t positive,
                                                   int64_t negative);

/**
 * From now on a call after which a pivot would not have the sign of its row's entry of `signs` (n) returns UNEXPECTED_SIGN:
 * for quasi-definite matrices, whose pivots keep their signs in every order of the rows. An entry of 0 expects nothing, nor
 * does a new row. Replaces what was expected before. `signs` is copied.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or NOT_FINITE.
 */
cholupdate_status cholupdate_c_ldlt_expect_signs(cholupdate_c_ldlt *factor,
                                                 const float *signs);

/**
 * From now on any inertia is accepted, as at the beginning.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_c_ldlt_expect_any_inertia(cholupdate_c_ldlt *factor);

/**
 * A <- A + V V^H. V (n x k) is not changed; `report` may be NULL.
 *
 * Returns as cholupdate_z_ldlt_modify().
 */
cholupdate_status cholupdate_z_ldlt_update(cholupdate_z_ldlt *factor,
                                           int64_t k,
                                           const cholupdate_c64 *v,
                                           int64_t ldv,
                                           cholupdate_ldlt_report *report);

/**
 * A <- A - V V^H. V (n x k) is not changed; `report` may be NULL.
 *
 * Returns as cholupdate_z_ldlt_modify().
 */
cholupdate_status cholupdate_z_ldlt_downdate(cholupdate_z_ldlt *factor,
                                             int64_t k,
                                             const cholupdate_c64 *v,
                                             int64_t ldv,
                                             cholupdate_ldlt_report *report);

/**
 * A <- A + V diag(w) V^H, with any mix of signs: whether it succeeds depends on the leading minors of the result alone. V
 * (n x k) and `weights` (k) are not changed. NULL `weights` are those of an update, which are all 1; `report` may be NULL.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW, SINGULAR or UNSTABLE; UNEXPECTED_INERTIA or UNEXPECTED_SIGN
 * if something is expected.
 */
cholupdate_status cholupdate_z_ldlt_modify(cholupdate_z_ldlt *factor,
                                           int64_t k,
                                           const cholupdate_c64 *v,
                                           int64_t ldv,
                                           const double *weights,
                                           cholupdate_ldlt_report *report);

/**
 * A <- decay A + V diag(w) V^H, 0 < decay <= 1. V (n x k) and `weights` (k) are not changed; NULL weights are all 1.
 * `report`, relative to the old A, may be NULL.
 *
 * Returns as cholupdate_z_ldlt_modify().
 */
cholupdate_status cholupdate_z_ldlt_modify_scaled(cholupdate_z_ldlt *factor,
                                                  double decay,
                                                  int64_t k,
                                                  const cholupdate_c64 *v,
                                                  int64_t ldv,
                                                  const double *weights,
                                                  cholupdate_ldlt_report *report);

/**
 * As cholupdate_z_ldlt_modify_scaled(), with m right-hand sides b, which become decay b + V diag(w) `y`, `y` (k x m), for A
 * and b with A x = b. `z` (n x m) is L^-1 b, as cholupdate_z_ldlt_solve_l() or an earlier call has computed it, and becomes
 * that of the new L and b. cholupdate_z_ldlt_solve_lt() of S z is x. `report` may be NULL.
 *
 * Returns as cholupdate_z_ldlt_modify(); nothing is changed unless it returns OK.
 */
cholupdate_status cholupdate_z_ldlt_modify_carrying(cholupdate_z_ldlt *factor,
                                                    double decay,
                                                    int64_t k,
                                                    const cholupdate_c64 *v,
                                                    int64_t ldv,
                                                    const double *weights,
                                                    int64_t m,
                                                    const cholupdate_c64 *y,
                                                    int64_t ldy,
                                                    cholupdate_c64 *z,
                                                    int64_t ldz,
                                                    cholupdate_ldlt_report *report);

/**
 * Writes 1 to `*can` if cholupdate_z_ldlt_downdate() with the same V would succeed, otherwise 0, by the same arithmetic. V
 * (n x k) and the matrix are not changed; the factor's working memory is.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or OVERFLOW.
 */
cholupdate_status cholupdate_z_ldlt_can_downdate(cholupdate_z_ldlt *factor,
                                                 int64_t k,
                                                 const cholupdate_c64 *v,
                                                 int64_t ldv,
                                                 int32_t *can);

/**
 * A <- A + V V^H. V (n x k) is not changed; `report` may be NULL.
 *
 * Returns as cholupdate_c_ldlt_modify().
 */
cholupdate_status cholupdate_c_ldlt_update(cholupdate_c_ldlt *factor,
                                           int64_t k,
                                           const cholupdate_c32 *v,
                                           int64_t ldv,
                                           cholupdate_ldlt_report *report);

/**
 * A <- A - V V^H. V (n x k) is not changed; `report` may be NULL.
 *
 * Returns as cholupdate_c_ldlt_modify().
 */
cholupdate_status cholupdate_c_ldlt_downdate(cholupdate_c_ldlt *factor,
                                             int64_t k,
                                             const cholupdate_c32 *v,
                                             int64_t ldv,
                                             cholupdate_ldlt_report *report);

/**
 * A <- A + V diag(w) V^H, with any mix of signs: whether it succeeds depends on the leading minors of the result alone. V
 * (n x k) and `weights` (k) are not changed. NULL `weights` are those of an update, which are all 1; `report` may be NULL.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW, SINGULAR or UNSTABLE; UNEXPECTED_INERTIA or UNEXPECTED_SIGN
 * if something is expected.
 */
cholupdate_status cholupdate_c_ldlt_modify(cholupdate_c_ldlt *factor,
                                           int64_t k,
                                           const cholupdate_c32 *v,
                                           int64_t ldv,
                                           const float *weights,
                                           cholupdate_ldlt_report *report);

/**
 * A <- decay A + V diag(w) V^H, 0 < decay <= 1. V (n x k) and `weights` (k) are not changed; NULL weights are all 1.
 * `report`, relative to the old A, may be NULL.
 *
 * Returns as cholupdate_c_ldlt_modify().
 */
cholupdate_status cholupdate_c_ldlt_modify_scaled(cholupdate_c_ldlt *factor,
                                                  float decay,
                                                  int64_t k,
                                                  const cholupdate_c32 *v,
                                                  int64_t ldv,
                                                  const float *weights,
                                                  cholupdate_ldlt_report *report);

/**
 * As cholupdate_c_ldlt_modify_scaled(), with m right-hand sides b, which become decay b + V diag(w) `y`, `y` (k x m), for A
 * and b with A x = b. `z` (n x m) is L^-1 b, as cholupdate_c_ldlt_solve_l() or an earlier call has computed it, and becomes
 * that of the new L and b. cholupdate_c_ldlt_solve_lt() of S z is x. `report` may be NULL.
 *
 * Returns as cholupdate_c_ldlt_modify(); nothing is changed unless it returns OK.
 */
cholupdate_status cholupdate_c_ldlt_modify_carrying(cholupdate_c_ldlt *factor,
                                                    float decay,
                                                    int64_t k,
                                                    const cholupdate_c32 *v,
                                                    int64_t ldv,
                                                    const float *weights,
                                                    int64_t m,
                                                    const cholupdate_c32 *y,
                                                    int64_t ldy,
                                                    cholupdate_c32 *z,
                                                    int64_t ldz,
                                                    cholupdate_ldlt_report *report);

/**
 * Writes 1 to `*can` if cholupdate_c_ldlt_downdate() with the same V would succeed, otherwise 0, by the same arithmetic. V
 * (n x k) and the matrix are not changed; the factor's working memory is.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE or OVERFLOW.
 */
cholupdate_status cholupdate_c_ldlt_can_downdate(cholupdate_c_ldlt *factor,
                                                 int64_t k,
                                                 const cholupdate_c32 *v,
                                                 int64_t ldv,
                                                 int32_t *can);

/**
 * Appends r rows and columns: B above C are the new columns of A, `cross` (n x r) and `corner` (r x r), of which the
 * triangle `uplo` is read. Both are not changed; `report` may be NULL.
 *
 * Returns as cholupdate_z_ldlt_modify(); the column is that of the new A.
 */
cholupdate_status cholupdate_z_ldlt_append(cholupdate_z_ldlt *factor,
                                           int64_t r,
                                           const cholupdate_c64 *cross,
                                           int64_t ldcross,
                                           const cholupdate_c64 *corner,
                                           int64_t ldcorner,
                                           char uplo,
                                           cholupdate_ldlt_report *report);

/**
 * Inserts r rows and columns, which become rows `at` to `at` + r - 1; `at` is at most the old n. `columns` (n + r x r) are
 * the new columns of A, in the numbering of the new A; of their rows `at` to `at` + r - 1 the lower triangle is read. They
 * are not changed; `report` may be NULL.
 *
 * Returns as cholupdate_z_ldlt_append().
 */
cholupdate_status cholupdate_z_ldlt_insert(cholupdate_z_ldlt *factor,
                                           int64_t at,
                                           int64_t r,
                                           const cholupdate_c64 *columns,
                                           int64_t ldcolumns,
                                           cholupdate_ldlt_report *report);

/**
 * Replaces r neighbouring rows and columns, from row `at` on, in one step: the matrix without them need not have a factor.
 * `columns` (n x r) are the new columns of A; of their rows `at` to `at` + r - 1 the lower triangle is read. They are not
 * changed; `report` may be NULL.
 *
 * Returns as cholupdate_z_ldlt_append().
 */
cholupdate_status cholupdate_z_ldlt_replace(cholupdate_z_ldlt *factor,
                                            int64_t at,
                                            int64_t r,
                                            const cholupdate_c64 *columns,
                                            int64_t ldcolumns,
                                            cholupdate_ldlt_report *report);

/**
 * Removes the r rows and columns with the distinct `indices` (r), in any order. Unlike that of a positive definite matrix
 * the rest may have no factor. `indices` is not changed; `report` may be NULL.
 *
 * Returns as cholupdate_z_ldlt_modify(), except NOT_FINITE; the column is that of the new A.
 */
cholupdate_status cholupdate_z_ldlt_remove(cholupdate_z_ldlt *factor,
                                           int64_t r,
                                           const int64_t *indices,
                                           cholupdate_ldlt_report *report);

/**
 * Moves row and column `from` of A to row and column `to`; those between move up or down by one. `report` may be NULL.
 *
 * Returns as cholupdate_z_ldlt_remove().
 */
cholupdate_status cholupdate_z_ldlt_shift(cholupdate_z_ldlt *factor,
                                          int64_t from,
                                          int64_t to,
                                          cholupdate_ldlt_report *report);

/**
 * Reorders rows and columns: row `order`[i] of A becomes row i. `order` (n) contains every row once and is not changed;
 * `report` may be NULL.
 *
 * Returns as cholupdate_z_ldlt_remove().
 */
cholupdate_status cholupdate_z_ldlt_permute(cholupdate_z_ldlt *factor,
                                            const int64_t *order,
                                            cholupdate_ldlt_report *report);

/**
 * Appends r rows and columns: B above C are the new columns of A, `cross` (n x r) and `corner` (r x r), of which the
 * triangle `uplo` is read. Both are not changed; `report` may be NULL.
 *
 * Returns as cholupdate_c_ldlt_modify(); the column is that of the new A.
 */
cholupdate_status cholupdate_c_ldlt_append(cholupdate_c_ldlt *factor,
                                           int64_t r,
                                           const cholupdate_c32 *cross,
                                           int64_t ldcross,
                                           const cholupdate_c32 *corner,
                                           int64_t ldcorner,
                                           char uplo,
                                           cholupdate_ldlt_report *report);

/**
 * Inserts r rows and columns, which become rows `at` to `at` + r - 1; `at` is at most the old n. `columns` (n + r x r) are
 * the new columns of A, in the numbering of the new A; of their rows `at` to `at` + r - 1 the lower triangle is read. They
 * are not changed; `report` may be NULL.
 *
 * Returns as cholupdate_c_ldlt_append().
 */
cholupdate_status cholupdate_c_ldlt_insert(cholupdate_c_ldlt *factor,
                                           int64_t at,
                                           int64_t r,
                                           const cholupdate_c32 *columns,
                                           int64_t ldcolumns,
                                           cholupdate_ldlt_report *report);

/**
 * Replaces r neighbouring rows and columns, from row `at` on, in one step: the matrix without them need not have a factor.
 * `columns` (n x r) are the new columns of A; of their rows `at` to `at` + r - 1 the lower triangle is read. They are not
 * changed; `report` may be NULL.
 *
 * Returns as cholupdate_c_ldlt_append().
 */
cholupdate_status cholupdate_c_ldlt_replace(cholupdate_c_ldlt *factor,
                                            int64_t at,
                                            int64_t r,
                                            const cholupdate_c32 *columns,
                                            int64_t ldcolumns,
                                            cholupdate_ldlt_report *report);

/**
 * Removes the r rows and columns with the distinct `indices` (r), in any order. Unlike that of a positive definite matrix
 * the rest may have no factor. `indices` is not changed; `report` may be NULL.
 *
 * Returns as cholupdate_c_ldlt_modify(), except NOT_FINITE; the column is that of the new A.
 */
cholupdate_status cholupdate_c_ldlt_remove(cholupdate_c_ldlt *factor,
                                           int64_t r,
                                           const int64_t *indices,
                                           cholupdate_ldlt_report *report);

/**
 * Moves row and column `from` of A to row and column `to`; those between move up or down by one. `report` may be NULL.
 *
 * Returns as cholupdate_c_ldlt_remove().
 */
cholupdate_status cholupdate_c_ldlt_shift(cholupdate_c_ldlt *factor,
                                          int64_t from,
                                          int64_t to,
                                          cholupdate_ldlt_report *report);

/**
 * Reorders rows and columns: row `order`[i] of A becomes row i. `order` (n) contains every row once and is not changed;
 * `report` may be NULL.
 *
 * Returns as cholupdate_c_ldlt_remove().
 */
cholupdate_status cholupdate_c_ldlt_permute(cholupdate_c_ldlt *factor,
                                            const int64_t *order,
                                            cholupdate_ldlt_report *report);

/**
 * B (n x nrhs) <- X with A X = B, in the caller's array `b`.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or NOT_FINITE.
 */
cholupdate_status cholupdate_z_ldlt_solve(const cholupdate_z_ldlt *factor,
                                          int64_t nrhs,
                                          cholupdate_c64 *b,
                                          int64_t ldb);

/**
 * B (n x nrhs) <- Y with L Y = B, in the caller's array `b`. With it Y^H S Y = B^H A^-1 B.
 *
 * Returns as cholupdate_z_ldlt_solve().
 */
cholupdate_status cholupdate_z_ldlt_solve_l(const cholupdate_z_ldlt *factor,
                                            int64_t nrhs,
                                            cholupdate_c64 *b,
                                            int64_t ldb);

/**
 * B (n x nrhs) <- X with L^H X = B, in the caller's array `b`.
 *
 * Returns as cholupdate_z_ldlt_solve().
 */
cholupdate_status cholupdate_z_ldlt_solve_lt(const cholupdate_z_ldlt *factor,
                                             int64_t nrhs,
                                             cholupdate_c64 *b,
                                             int64_t ldb);

/**
 * B (n x nrhs) <- X with A X = B, in the caller's array `b`.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or NOT_FINITE.
 */
cholupdate_status cholupdate_c_ldlt_solve(const cholupdate_c_ldlt *factor,
                                          int64_t nrhs,
                                          cholupdate_c32 *b,
                                          int64_t ldb);

/**
 * B (n x nrhs) <- Y with L Y = B, in the caller's array `b`. With it Y^H S Y = B^H A^-1 B.
 *
 * Returns as cholupdate_c_ldlt_solve().
 */
cholupdate_status cholupdate_c_ldlt_solve_l(const cholupdate_c_ldlt *factor,
                                            int64_t nrhs,
                                            cholupdate_c32 *b,
                                            int64_t ldb);

/**
 * B (n x nrhs) <- X with L^H X = B, in the caller's array `b`.
 *
 * Returns as cholupdate_c_ldlt_solve().
 */
cholupdate_status cholupdate_c_ldlt_solve_lt(const cholupdate_c_ldlt *factor,
                                             int64_t nrhs,
                                             cholupdate_c32 *b,
                                             int64_t ldb);

/**
 * Borders A by B (n x r), `cross`, and K (r x r), `corner`, of which the triangle `uplo` is read: the matrix is (A B; B^H
 * K). The caller owns `*extension` and frees it by cholupdate_z_ldlt_extension_free(). It belongs to the current factor:
 * functions that take both require that the factor has not changed since. What is expected of changes is not asked of it.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW, SINGULAR or UNSTABLE.
 */
cholupdate_status cholupdate_z_ldlt_extension_new(const cholupdate_z_ldlt *factor,
                                                  int64_t r,
                                                  const cholupdate_c64 *cross,
                                                  int64_t ldcross,
                                                  const cholupdate_c64 *corner,
                                                  int64_t ldcorner,
                                                  char uplo,
                                                  cholupdate_z_ldlt_extension **extension);

/**
 * Frees an extension. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_z_ldlt_extension_free(cholupdate_z_ldlt_extension *extension);

/**
 * Writes n + r to `*order`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_z_ldlt_extension_order(const cholupdate_z_ldlt_extension *extension,
                                                    int64_t *order);

/**
 * B (n + r x nrhs) <- X with A X = B for the bordered A, in the caller's array `b`. `factor` is the one that was extended,
 * and must not have changed since.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or NOT_FINITE.
 */
cholupdate_status cholupdate_z_ldlt_extension_solve(const cholupdate_z_ldlt *factor,
                                                    const cholupdate_z_ldlt_extension *extension,
                                                    int64_t nrhs,
                                                    cholupdate_c64 *b,
                                                    int64_t ldb);

/**
 * Writes log |det| of the bordered A to `*log_abs_det`. `factor` is the one that was extended, and must not have changed
 * since.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_z_ldlt_extension_log_abs_det(const cholupdate_z_ldlt *factor,
                                                          const cholupdate_z_ldlt_extension *extension,
                                                          double *log_abs_det);

/**
 * Writes the number of positive eigenvalues of the bordered A to `*positive`, and that of negative ones to `*negative`.
 * Each may be NULL. `factor` is the one that was extended, and must not have changed since.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_z_ldlt_extension_inertia(const cholupdate_z_ldlt *factor,
                                                      const cholupdate_z_ldlt_extension *extension,
                                                      int64_t *positive,
                                                      int64_t *negative);

/**
 * Copies C, whose diagonal is positive, with C S C^H = K - B^H A^-1 B, the Schur complement of A, to the triangle `uplo` of
 * the caller's array `corner` (r x r), or its conjugate transpose for 'U'. The other triangle is not changed. The diagonal
 * of S, 1 or -1, is written to `signs` (r).
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_z_ldlt_extension_corner(const cholupdate_z_ldlt_extension *extension,
                                                     char uplo,
                                                     cholupdate_c64 *corner,
                                                     int64_t ldcorner,
                                                     double *signs);

/**
 * Borders A by B (n x r), `cross`, and K (r x r), `corner`, of which the triangle `uplo` is read: the matrix is (A B; B^H
 * K). The caller owns `*extension` and frees it by cholupdate_c_ldlt_extension_free(). It belongs to the current factor:
 * functions that take both require that the factor has not changed since. What is expected of changes is not asked of it.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW, SINGULAR or UNSTABLE.
 */
cholupdate_status cholupdate_c_ldlt_extension_new(const cholupdate_c_ldlt *factor,
                                                  int64_t r,
                                                  const cholupdate_c32 *cross,
                                                  int64_t ldcross,
                                                  const cholupdate_c32 *corner,
                                                  int64_t ldcorner,
                                                  char uplo,
                                                  cholupdate_c_ldlt_extension **extension);

/**
 * Frees an extension. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_c_ldlt_extension_free(cholupdate_c_ldlt_extension *extension);

/**
 * Writes n + r to `*order`.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_c_ldlt_extension_order(const cholupdate_c_ldlt_extension *extension,
                                                    int64_t *order);

/**
 * B (n + r x nrhs) <- X with A X = B for the bordered A, in the caller's array `b`. `factor` is the one that was extended,
 * and must not have changed since.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT or NOT_FINITE.
 */
cholupdate_status cholupdate_c_ldlt_extension_solve(const cholupdate_c_ldlt *factor,
                                                    const cholupdate_c_ldlt_extension *extension,
                                                    int64_t nrhs,
                                                    cholupdate_c32 *b,
                                                    int64_t ldb);

/**
 * Writes log |det| of the bordered A to `*log_abs_det`. `factor` is the one that was extended, and must not have changed
 * since.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_c_ldlt_extension_log_abs_det(const cholupdate_c_ldlt *factor,
                                                          const cholupdate_c_ldlt_extension *extension,
                                                          float *log_abs_det);

/**
 * Writes the number of positive eigenvalues of the bordered A to `*positive`, and that of negative ones to `*negative`.
 * Each may be NULL. `factor` is the one that was extended, and must not have changed since.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_c_ldlt_extension_inertia(const cholupdate_c_ldlt *factor,
                                                      const cholupdate_c_ldlt_extension *extension,
                                                      int64_t *positive,
                                                      int64_t *negative);

/**
 * Copies C, whose diagonal is positive, with C S C^H = K - B^H A^-1 B, the Schur complement of A, to the triangle `uplo` of
 * the caller's array `corner` (r x r), or its conjugate transpose for 'U'. The other triangle is not changed. The diagonal
 * of S, 1 or -1, is written to `signs` (r).
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_c_ldlt_extension_corner(const cholupdate_c_ldlt_extension *extension,
                                                     char uplo,
                                                     cholupdate_c32 *corner,
                                                     int64_t ldcorner,
                                                     float *signs);

/**
 * Factors `count` matrices A (n x n), of which lower triangles are read. With `orders` (count), of matrix b only the
 * leading orders[b] rows and columns are read, and of V and right-hand sides as many rows; NULL `orders` are n for all. The
 * engine of `options` is CHOLUPDATE_CPU; their safeguard is not used. The caller owns `*made` and frees it by
 * cholupdate_z_batch_free().
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT. Returns SOME_FAILED, with the batch, if a matrix is not positive definite, not
 * finite or too large: it has no factor and fails in every later call, until cholupdate_z_batch_replace().
 * cholupdate_z_batch_status() has the reasons.
 */
cholupdate_status cholupdate_z_batch_new(int64_t count,
                                         int64_t n,
                                         const cholupdate_c64 *a,
                                         const int64_t *a_strides,
                                         const int64_t *orders,
                                         const cholupdate_options *options,
                                         cholupdate_z_batch **made);

/**
 * Makes a batch of known factors L (n x n), of which lower triangles are read; they are copied. As in
 * cholupdate_z_from_factor(), each column of L is multiplied by the number of magnitude 1 that makes its diagonal entry
 * real and positive, and zeros on the diagonal are accepted. `options` are as in cholupdate_z_batch_new(). The caller owns
 * `*made` and frees it by cholupdate_z_batch_free().
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT. Returns SOME_FAILED, with the batch, if some L is not finite, or too large.
 */
cholupdate_status cholupdate_z_batch_from_factors(int64_t count,
                                                  int64_t n,
                                                  const cholupdate_c64 *l,
                                                  const int64_t *l_strides,
                                                  const cholupdate_options *options,
                                                  cholupdate_z_batch **made);

/**
 * Copies the batch. The caller owns `*copy` and frees it by cholupdate_z_batch_free().
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_z_batch_clone(const cholupdate_z_batch *batch, cholupdate_z_batch **copy);

/**
 * Copies the matrices numbered `indices` (m), in this order, to another batch; one may occur several times. The caller owns
 * `*selected` and frees it by cholupdate_z_batch_free().
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_z_batch_select(const cholupdate_z_batch *batch,
                                            int64_t m,
                                            const int64_t *indices,
                                            cholupdate_z_batch **selected);

/**
 * Frees a batch. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_z_batch_free(cholupdate_z_batch *batch);

/**
 * Writes the number of matrices to `*count` and n to `*n`. Each may be NULL.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_z_batch_extents(const cholupdate_z_batch *batch, int64_t *count, int64_t *n);

/**
 * Writes to `info` (count) which matrices have no factor, and why.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, or SOME_FAILED if there are any.
 */
cholupdate_status cholupdate_z_batch_status(const cholupdate_z_batch *batch, int64_t *info);

/**
 * Factors A (m x m), of which the triangle `uplo` is read, in place of a matrix, with m of at most n.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or NOT_POSITIVE_DEFINITE; the matrix is then as it was.
 */
cholupdate_status cholupdate_z_batch_replace(cholupdate_z_batch *batch,
                                             int64_t matrix,
                                             int64_t m,
                                             const cholupdate_c64 *a,
                                             int64_t lda,
                                             char uplo);

/**
 * Copies L of a matrix, of its order m, to the triangle `uplo` of the caller's array `l` (m x m), or R = L^H for 'U'. The
 * other triangle is not changed.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; for a matrix without a factor the reason for that, as cholupdate_z_new() would.
 */
cholupdate_status cholupdate_z_batch_to_factor(const cholupdate_z_batch *batch,
                                               int64_t matrix,
                                               char uplo,
                                               cholupdate_c64 *l,
                                               int64_t ldl);

/**
 * Copies all L to the lower triangles of the caller's array `l` (n x n each). Upper triangles are not changed, nor rows
 * that a matrix does not have, nor matrices without a factor.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_z_batch_to_factors(const cholupdate_z_batch *batch,
                                                cholupdate_c64 *l,
                                                const int64_t *l_strides);

/**
 * Factors `count` matrices A (n x n), of which lower triangles are read. With `orders` (count), of matrix b only the
 * leading orders[b] rows and columns are read, and of V and right-hand sides as many rows; NULL `orders` are n for all. The
 * engine of `options` is CHOLUPDATE_CPU; their safeguard is not used. The caller owns `*made` and frees it by
 * cholupdate_c_batch_free().
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT. Returns SOME_FAILED, with the batch, if a matrix is not positive definite, not
 * finite or too large: it has no factor and fails in every later call, until cholupdate_c_batch_replace().
 * cholupdate_c_batch_status() has the reasons.
 */
cholupdate_status cholupdate_c_batch_new(int64_t count,
                                         int64_t n,
                                         const cholupdate_c32 *a,
                                         const int64_t *a_strides,
                                         const int64_t *orders,
                                         const cholupdate_options *options,
                                         cholupdate_c_batch **made);

/**
 * Makes a batch of known factors L (n x n), of which lower triangles are read; they are copied. As in
 * cholupdate_c_from_factor(), each column of L is multiplied by the number of magnitude 1 that makes its diagonal entry
 * real and positive, and zeros on the diagonal are accepted. `options` are as in cholupdate_c_batch_new(). The caller owns
 * `*made` and frees it by cholupdate_c_batch_free().
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT. Returns SOME_FAILED, with the batch, if some L is not finite, or too large.
 */
cholupdate_status cholupdate_c_batch_from_factors(int64_t count,
                                                  int64_t n,
                                                  const cholupdate_c32 *l,
                                                  const int64_t *l_strides,
                                                  const cholupdate_options *options,
                                                  cholupdate_c_batch **made);

/**
 * Copies the batch. The caller owns `*copy` and frees it by cholupdate_c_batch_free().
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_c_batch_clone(const cholupdate_c_batch *batch, cholupdate_c_batch **copy);

/**
 * Copies the matrices numbered `indices` (m), in this order, to another batch; one may occur several times. The caller owns
 * `*selected` and frees it by cholupdate_c_batch_free().
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_c_batch_select(const cholupdate_c_batch *batch,
                                            int64_t m,
                                            const int64_t *indices,
                                            cholupdate_c_batch **selected);

/**
 * Frees a batch. The pointer is invalid afterwards. NULL is ignored.
 */
void cholupdate_c_batch_free(cholupdate_c_batch *batch);

/**
 * Writes the number of matrices to `*count` and n to `*n`. Each may be NULL.
 *
 * Returns NULL_POINTER.
 */
cholupdate_status cholupdate_c_batch_extents(const cholupdate_c_batch *batch, int64_t *count, int64_t *n);

/**
 * Writes to `info` (count) which matrices have no factor, and why.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, or SOME_FAILED if there are any.
 */
cholupdate_status cholupdate_c_batch_status(const cholupdate_c_batch *batch, int64_t *info);

/**
 * Factors A (m x m), of which the triangle `uplo` is read, in place of a matrix, with m of at most n.
 *
 * Returns NULL_POINTER, INVALID_ARGUMENT, NOT_FINITE, OVERFLOW or NOT_POSITIVE_DEFINITE; the matrix is then as it was.
 */
cholupdate_status cholupdate_c_batch_replace(cholupdate_c_batch *batch,
                                             int64_t matrix,
                                             int64_t m,
                                             const cholupdate_c32 *a,
                                             int64_t lda,
                                             char uplo);

/**
 * Copies L of a matrix, of its order m, to the triangle `uplo` of the caller's array `l` (m x m), or R = L^H for 'U'. The
 * other triangle is not changed.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; for a matrix without a factor the reason for that, as cholupdate_c_new() would.
 */
cholupdate_status cholupdate_c_batch_to_factor(const cholupdate_c_batch *batch,
                                               int64_t matrix,
                                               char uplo,
                                               cholupdate_c32 *l,
                                               int64_t ldl);

/**
 * Copies all L to the lower triangles of the caller's array `l` (n x n each). Upper triangles are not changed, nor rows
 * that a matrix does not have, nor matrices without a factor.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_c_batch_to_factors(const cholupdate_c_batch *batch,
                                                cholupdate_c32 *l,
                                                const int64_t *l_strides);

/**
 * A <- A + V V^H for each matrix. V (n x k each) is not changed. `info`, `min_pivot_ratio` and `log_det_change` (count
 * each) may be NULL; the last two are as in cholupdate_report, and NaN for matrices that have failed.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED, with NOT_FINITE or OVERFLOW in `info`, or why there is no factor.
 */
cholupdate_status cholupdate_z_batch_update(cholupdate_z_batch *batch,
                                            int64_t k,
                                            const cholupdate_c64 *v,
                                            const int64_t *v_strides,
                                            int64_t *info,
                                            double *min_pivot_ratio,
                                            double *log_det_change);

/**
 * A <- A - V V^H for each matrix. As cholupdate_z_batch_update().
 *
 * Returns as cholupdate_z_batch_update(); SOME_FAILED also for matrices that would not be positive definite, or are
 * singular.
 */
cholupdate_status cholupdate_z_batch_downdate(cholupdate_z_batch *batch,
                                              int64_t k,
                                              const cholupdate_c64 *v,
                                              const int64_t *v_strides,
                                              int64_t *info,
                                              double *min_pivot_ratio,
                                              double *log_det_change);

/**
 * A <- A + V diag(w) V^H for each matrix, with any mix of signs. A `weights_stride` of 0 is for `weights` (k) of all
 * matrices; otherwise it is k or more, and those of matrix b begin at weights[b * weights_stride]. NULL `weights` are ones.
 * Columns with the weight 0 may be anything. With a `mask` (count), matrices with mask[b] == 0 stay as they are: their
 * `info` is 0, their ratio 1, and their change 0. A NULL `mask` is for all matrices. The rest is as in
 * cholupdate_z_batch_update().
 *
 * Returns as cholupdate_z_batch_downdate(), and NOT_FINITE for `weights` of all matrices.
 */
cholupdate_status cholupdate_z_batch_modify(cholupdate_z_batch *batch,
                                            int64_t k,
                                            const cholupdate_c64 *v,
                                            const int64_t *v_strides,
                                            const double *weights,
                                            int64_t weights_stride,
                                            const uint8_t *mask,
                                            int64_t *info,
                                            double *min_pivot_ratio,
                                            double *log_det_change);

/**
 * B (n x nrhs each) <- X with A X = B for each matrix, in the caller's array `b`, of which no two entries share memory. The
 * right-hand sides of matrices that fail stay as they were. `info` (count) may be NULL.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED for B that is not finite, singular matrices, and those without a
 * factor.
 */
cholupdate_status cholupdate_z_batch_solve(const cholupdate_z_batch *batch,
                                           int64_t nrhs,
                                           cholupdate_c64 *b,
                                           const int64_t *b_strides,
                                           int64_t *info);

/**
 * B (n x nrhs each) <- Y with L Y = B. As cholupdate_z_batch_solve().
 *
 * Returns as cholupdate_z_batch_solve().
 */
cholupdate_status cholupdate_z_batch_solve_l(const cholupdate_z_batch *batch,
                                             int64_t nrhs,
                                             cholupdate_c64 *b,
                                             const int64_t *b_strides,
                                             int64_t *info);

/**
 * B (n x nrhs each) <- X with L^H X = B. As cholupdate_z_batch_solve().
 *
 * Returns as cholupdate_z_batch_solve().
 */
cholupdate_status cholupdate_z_batch_solve_lt(const cholupdate_z_batch *batch,
                                              int64_t nrhs,
                                              cholupdate_c64 *b,
                                              const int64_t *b_strides,
                                              int64_t *info);

/**
 * Writes log det A of each matrix to `log_det` (count): NaN if it is singular or has no factor. `info` (count) may be NULL.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED if there are such matrices.
 */
cholupdate_status cholupdate_z_batch_log_det(const cholupdate_z_batch *batch,
                                             double *log_det,
                                             int64_t *info);

/**
 * A <- A + V V^H for each matrix. V (n x k each) is not changed. `info`, `min_pivot_ratio` and `log_det_change` (count
 * each) may be NULL; the last two are as in cholupdate_report, and NaN for matrices that have failed.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED, with NOT_FINITE or OVERFLOW in `info`, or why there is no factor.
 */
cholupdate_status cholupdate_c_batch_update(cholupdate_c_batch *batch,
                                            int64_t k,
                                            const cholupdate_c32 *v,
                                            const int64_t *v_strides,
                                            int64_t *info,
                                            double *min_pivot_ratio,
                                            double *log_det_change);

/**
 * A <- A - V V^H for each matrix. As cholupdate_c_batch_update().
 *
 * Returns as cholupdate_c_batch_update(); SOME_FAILED also for matrices that would not be positive definite, or are
 * singular.
 */
cholupdate_status cholupdate_c_batch_downdate(cholupdate_c_batch *batch,
                                              int64_t k,
                                              const cholupdate_c32 *v,
                                              const int64_t *v_strides,
                                              int64_t *info,
                                              double *min_pivot_ratio,
                                              double *log_det_change);

/**
 * A <- A + V diag(w) V^H for each matrix, with any mix of signs. A `weights_stride` of 0 is for `weights` (k) of all
 * matrices; otherwise it is k or more, and those of matrix b begin at weights[b * weights_stride]. NULL `weights` are ones.
 * Columns with the weight 0 may be anything. With a `mask` (count), matrices with mask[b] == 0 stay as they are: their
 * `info` is 0, their ratio 1, and their change 0. A NULL `mask` is for all matrices. The rest is as in
 * cholupdate_c_batch_update().
 *
 * Returns as cholupdate_c_batch_downdate(), and NOT_FINITE for `weights` of all matrices.
 */
cholupdate_status cholupdate_c_batch_modify(cholupdate_c_batch *batch,
                                            int64_t k,
                                            const cholupdate_c32 *v,
                                            const int64_t *v_strides,
                                            const float *weights,
                                            int64_t weights_stride,
                                            const uint8_t *mask,
                                            int64_t *info,
                                            double *min_pivot_ratio,
                                            double *log_det_change);

/**
 * B (n x nrhs each) <- X with A X = B for each matrix, in the caller's array `b`, of which no two entries share memory. The
 * right-hand sides of matrices that fail stay as they were. `info` (count) may be NULL.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED for B that is not finite, singular matrices, and those without a
 * factor.
 */
cholupdate_status cholupdate_c_batch_solve(const cholupdate_c_batch *batch,
                                           int64_t nrhs,
                                           cholupdate_c32 *b,
                                           const int64_t *b_strides,
                                           int64_t *info);

/**
 * B (n x nrhs each) <- Y with L Y = B. As cholupdate_c_batch_solve().
 *
 * Returns as cholupdate_c_batch_solve().
 */
cholupdate_status cholupdate_c_batch_solve_l(const cholupdate_c_batch *batch,
                                             int64_t nrhs,
                                             cholupdate_c32 *b,
                                             const int64_t *b_strides,
                                             int64_t *info);

/**
 * B (n x nrhs each) <- X with L^H X = B. As cholupdate_c_batch_solve().
 *
 * Returns as cholupdate_c_batch_solve().
 */
cholupdate_status cholupdate_c_batch_solve_lt(const cholupdate_c_batch *batch,
                                              int64_t nrhs,
                                              cholupdate_c32 *b,
                                              const int64_t *b_strides,
                                              int64_t *info);

/**
 * Writes log det A of each matrix to `log_det` (count): NaN if it is singular or has no factor. `info` (count) may be NULL.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED if there are such matrices.
 */
cholupdate_status cholupdate_c_batch_log_det(const cholupdate_c_batch *batch,
                                             double *log_det,
                                             int64_t *info);

/**
 * Writes the order of each matrix to `orders` (count): 0 for one without a factor.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_z_batch_orders(const cholupdate_z_batch *batch, int64_t *orders);

/**
 * Makes room for matrices of order `n`, which becomes the n of the batch, and with it the number of rows of V and of
 * right-hand sides, unless that is as large already. No matrix changes.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_z_batch_reserve(cholupdate_z_batch *batch,
                                             int64_t n);

/**
 * Appends a row and column to each matrix. `a` (n x 1 each) are the new columns: of a matrix of order m the first m entries
 * are above the diagonal, the next one is on it, and the others may be anything. `mask` is as in
 * cholupdate_z_batch_modify(); the columns of matrices that it leaves out may be anything. `info`, `min_pivot_ratio` and
 * `log_det_change` (count each) may be NULL.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED, with the reason in `info`, for matrices that would not be positive
 * definite, are singular or of order n, or whose column is not finite or too large.
 */
cholupdate_status cholupdate_z_batch_append(cholupdate_z_batch *batch,
                                            const cholupdate_c64 *a,
                                            const int64_t *a_strides,
                                            const uint8_t *mask,
                                            int64_t *info,
                                            double *min_pivot_ratio,
                                            double *log_det_change);

/**
 * Removes a row and column of each matrix b, that of the number indices[b]. `mask` is as in cholupdate_z_batch_modify();
 * the indices of matrices that it leaves out may be anything. `info`, `min_pivot_ratio` and `log_det_change` (count each)
 * may be NULL.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED, with the reason in `info`, for matrices that do not have the row,
 * or are singular.
 */
cholupdate_status cholupdate_z_batch_remove(cholupdate_z_batch *batch,
                                            const int64_t *indices,
                                            const uint8_t *mask,
                                            int64_t *info,
                                            double *min_pivot_ratio,
                                            double *log_det_change);

/**
 * Writes the order of each matrix to `orders` (count): 0 for one without a factor.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_c_batch_orders(const cholupdate_c_batch *batch, int64_t *orders);

/**
 * Makes room for matrices of order `n`, which becomes the n of the batch, and with it the number of rows of V and of
 * right-hand sides, unless that is as large already. No matrix changes.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT.
 */
cholupdate_status cholupdate_c_batch_reserve(cholupdate_c_batch *batch,
                                             int64_t n);

/**
 * Appends a row and column to each matrix. `a` (n x 1 each) are the new columns: of a matrix of order m the first m entries
 * are above the diagonal, the next one is on it, and the others may be anything. `mask` is as in
 * cholupdate_c_batch_modify(); the columns of matrices that it leaves out may be anything. `info`, `min_pivot_ratio` and
 * `log_det_change` (count each) may be NULL.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED, with the reason in `info`, for matrices that would not be positive
 * definite, are singular or of order n, or whose column is not finite or too large.
 */
cholupdate_status cholupdate_c_batch_append(cholupdate_c_batch *batch,
                                            const cholupdate_c32 *a,
                                            const int64_t *a_strides,
                                            const uint8_t *mask,
                                            int64_t *info,
                                            double *min_pivot_ratio,
                                            double *log_det_change);

/**
 * Removes a row and column of each matrix b, that of the number indices[b]. `mask` is as in cholupdate_c_batch_modify();
 * the indices of matrices that it leaves out may be anything. `info`, `min_pivot_ratio` and `log_det_change` (count each)
 * may be NULL.
 *
 * Returns NULL_POINTER or INVALID_ARGUMENT; SOME_FAILED, with the reason in `info`, for matrices that do not have the row,
 * or are singular.
 */
cholupdate_status cholupdate_c_batch_remove(cholupdate_c_batch *batch,
                                            const int64_t *indices,
                                            const uint8_t *mask,
                                            int64_t *info,
                                            double *min_pivot_ratio,
                                            double *log_det_change);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CHOLUPDATE_H */
