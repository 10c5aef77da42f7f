! What Fortran's programs of the suite begin with, as C's do with check.h: they say what is not so, and count it.
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

