! An assumed-shape array that is absent: gfortran does not set the size of its copy, and libgomp
! crashes if that size happens to be large.
module absent_checks
  implicit none
contains
  subroutine optional_array(expected, failed, cells)
    logical, intent(in) :: expected
    integer, intent(inout) :: failed
    integer, optional :: cells(:)
    logical :: there
    integer :: total
    there = .not. expected; total = 0
    !$omp target firstprivate(cells) map(tofrom: there, total)
    there = present(cells)
    if (there) then
      total = sum(cells)
      cells(2) = 99
    end if
    !$omp end target
    if (there .neqv. expected) failed = failed + 1
    if (expected) then
      if (total /= 10 .or. cells(2) /= 2) failed = failed + 1
    end if
  end subroutine optional_array
end module absent_checks

program absent
  use absent_checks
  implicit none
  integer :: values(4), failed, i
  failed = 0
  values = [1, 2, 3, 4]
  do i = 1, 10
    call optional_array(.false., failed)
    call optional_array(.true., failed, values)
  end do
  if (failed /= 0) then
    print *, "wrong: ", failed
    error stop 1
  end if
end program absent
