! The start of the suite's Fortran programs, as check.h is for C: they print what is wrong, and
! count it.
module checking
  implicit none
  integer, save :: wrong = 0
contains
  subroutine check(holds, line)
    logical, intent(in) :: holds
    integer, intent(in) :: line
    if (.not. holds) then
      !$omp critical (saying)
      print *, "not so: line ", line
      wrong = wrong + 1
      !$omp end critical (saying)
    end if
  end subroutine check
end module checking

