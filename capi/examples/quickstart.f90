! The factor of a small matrix through an update and a solve, by the interfaces of C.
module cholupdate
  use, intrinsic :: iso_c_binding
  implicit none

  interface
    integer(c_int) function cholupdate_d_new(n, a, lda, uplo, options, factor) bind(c)
      import
      integer(c_int64_t), value :: n, lda
      real(c_double), intent(in) :: a(lda, *)
      character(kind=c_char), value :: uplo
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: factor
    end function

    integer(c_int) function cholupdate_d_update(factor, k, v, ldv, report) bind(c)
      import
      type(c_ptr), value :: factor, report
      integer(c_int64_t), value :: k, ldv
      real(c_double), intent(in) :: v(ldv, *)
    end function

    integer(c_int) function cholupdate_d_solve(factor, nrhs, b, ldb) bind(c)
      import
      type(c_ptr), value :: factor
      integer(c_int64_t), value :: nrhs, ldb
      real(c_double), intent(inout) :: b(ldb, *)
    end function

    subroutine cholupdate_d_free(factor) bind(c)
      import
      type(c_ptr), value :: factor
    end subroutine

    subroutine cholupdate_last_error(message, length) bind(c)
      import
      integer(c_size_t), value :: length
      character(kind=c_char), intent(out) :: message(length)
    end subroutine
  end interface
end module

program quickstart
  use cholupdate
  implicit none
  real(c_double) :: a(3, 3), v(3, 1), x(3, 1)
  type(c_ptr) :: factor

  a = reshape([4d0, 2d0, 0d0, 2d0, 5d0, 1d0, 0d0, 1d0, 3d0], [3, 3])
  v(:, 1) = [1d0, 0d0, 2d0]
  x(:, 1) = [9d0, 8d0, 10d0] ! (A + v v') (1, 1, 1)'
  call must(cholupdate_d_new(3_c_int64_t, a, 3_c_int64_t, 'L', c_null_ptr, factor))
  call must(cholupdate_d_update(factor, 1_c_int64_t, v, 3_c_int64_t, c_null_ptr))
  call must(cholupdate_d_solve(factor, 1_c_int64_t, x, 3_c_int64_t))
  print '(a, 3(f9.6, 1x))', 'x = ', x
  call cholupdate_d_free(factor)
  if (any(abs(x - 1) > 1d-14)) error stop 'another solution'

contains

  ! Ends the program where a call did not do what it was asked.
  subroutine must(status)
    integer(c_int), intent(in) :: status
    character(kind=c_char) :: message(256)
    integer :: i
    if (status == 0) return
    call cholupdate_last_error(message, size(message, kind=c_size_t))
    do i = 1, size(message)
      if (message(i) == c_null_char) exit
      write (*, '(a)', advance='no') message(i)
    end do
    print *
    error stop
  end subroutine
end program
