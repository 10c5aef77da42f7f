! Fortran: affinity formats. All of a format counts, its trailing blanks, too; buffers are filled up
! with blanks.
#include "check.f90"
module formats
  use checking
  use omp_lib
  implicit none
contains
  subroutine captured(format, expected, line)
    character(len=*), intent(in) :: format, expected
    integer, intent(in) :: line
    character(len=100) :: text
    integer :: length
    length = omp_capture_affinity(text, format)
    call check(length == len(expected), line)
    call check(text == expected, line)
  end subroutine captured

  ! A number as characters.
  function shown(form, number) result(text)
    character(len=*), intent(in) :: form
    integer(4), intent(in) :: number   ! as in omp_lib, also where integers have 8 bytes
    character(len=:), allocatable :: text
    character(len=20) :: whole
    write (whole, form) number
    text = trim(whole)
  end function shown

  subroutine numbers
    call captured("%t", shown("(I0)", omp_get_team_num()), __LINE__)
    call captured("%{num_teams}", shown("(I0)", omp_get_num_teams()), __LINE__)
    call captured("%L", shown("(I0)", omp_get_level()), __LINE__)
    call captured("%{nesting_level}", shown("(I0)", omp_get_level()), __LINE__)
    call captured("%.6n", shown("(I6)", omp_get_thread_num()), __LINE__)
    call captured("%0.6{thread_num}", shown("(I6.6)", omp_get_thread_num()), __LINE__)
    call captured("%N", shown("(I0)", omp_get_num_threads()), __LINE__)
    call captured("%.6a", shown("(I6)", omp_get_ancestor_thread_num(omp_get_level() - 1)), __LINE__)
  end subroutine numbers

  subroutine forms
    call captured("%%", "%", __LINE__)
    call captured("%5n|%.5n|%0.5n|", "0    |    0|00000|", __LINE__)
    call captured("%5a|%.5a|%0.5a|%0.2a", "-1   |   -1|-0001|-1", __LINE__)
    call captured("%0.5{ancestor_tnum}", "-0001", __LINE__)
    call captured(" %n%n ", " 00 ", __LINE__)
    call captured("%n  ", "0  ", __LINE__)
    call captured("   ", "   ", __LINE__)
  end subroutine forms

  ! A text that is too long is cut; a short one is followed by blanks. The length returned is that
  ! of the whole text.
  subroutine buffers
    character(len=12) :: buffer
    integer :: length
    do length = 0, 12
      buffer = "############"
      call check(omp_capture_affinity(buffer(1:length), "ab%ncdefg ") == 9, __LINE__)
      call check(buffer(1:length) == cut("ab0cdefg    ", length), __LINE__)
      call check(verify(buffer(length + 1:), "#") == 0, __LINE__)
    end do
    call omp_set_affinity_format("ab%n%N ")
    do length = 0, 12
      buffer = "############"
      call check(omp_get_affinity_format(buffer(1:length)) == 7, __LINE__)
      call check(buffer(1:length) == cut("ab%n%N      ", length), __LINE__)
      call check(verify(buffer(length + 1:), "#") == 0, __LINE__)
      call check(omp_capture_affinity(buffer(1:length), "") == 5, __LINE__)
      call check(buffer(1:length) == cut("ab01        ", length), __LINE__)
    end do
    call omp_set_affinity_format("")
    call check(omp_get_affinity_format(buffer) == 0, __LINE__)
    call check(buffer == "", __LINE__)
    call captured("", "", __LINE__)
  end subroutine buffers

  function cut(text, length)
    character(len=*), intent(in) :: text
    integer, intent(in) :: length
    character(len=length) :: cut
    cut = text(1:length)
  end function cut
end module formats

program affinity
  use formats
  character(len=40) :: text
  call check(omp_get_affinity_format(text) == 30, __LINE__)
  call check(text == "level %L thread %i affinity %A", __LINE__)
  call omp_set_max_active_levels(2)
  call numbers
  !$omp parallel num_threads(3)
  call numbers
  !$omp parallel num_threads(2)
  call numbers
  !$omp end parallel
  !$omp end parallel
  call forms
  call buffers
  if (wrong /= 0) stop 1
end program affinity
