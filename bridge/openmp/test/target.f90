! Target regions that the host runs, leagues and distribute, as gfortran compiles them. With -fdefault-integer-8, too.
#include "check.f90"
module target_checks
  use checking
  use omp_lib
  implicit none
  type row
    integer :: cells(20)
    real(8) :: weight
  end type row
contains
  ! Scalars of every type keep their values after the region.
  subroutine scalars
    integer :: i
    real(4) :: small
    real(8) :: real_one
    real(16) :: longer
    complex(8) :: z
    logical :: truth, seen
    character(len=5) :: text
    i = 1; small = 1.5; real_one = 2.5d0; longer = 3.5_16; z = (1d0, 2d0)
    truth = .true.; text = "abcde"; seen = .false.
    !$omp target firstprivate(i, small, real_one, longer, z, truth, text) map(tofrom: seen)
    seen = i == 1 .and. small == 1.5 .and. real_one == 2.5d0 .and. longer == 3.5_16 .and. z == (1d0, 2d0)
    seen = seen .and. truth .and. text == "abcde"
    i = 50; small = 0; real_one = 0; longer = 0; z = 0; truth = .false.; text = "?????"
    !$omp end target
    call check(seen, __LINE__)
    call check(i == 1 .and. small == 1.5 .and. real_one == 2.5d0 .and. longer == 3.5_16 .and. z == (1d0, 2d0), __LINE__)
    call check(truth .and. text == "abcde", __LINE__)
  end subroutine scalars

  ! Derived types, arrays whose bounds the compiler knows, and arrays whose bounds depend on an
  ! argument.
  subroutine aggregates(n)
    integer, intent(in) :: n
    type(row) :: one
    integer :: fixed(3, 4), automatic(n), total
    character(len=n) :: text
    one%cells = 1; one%weight = 0.5d0; fixed = 2; automatic = 3; text = repeat("x", n)
    total = 0
    !$omp target firstprivate(one, fixed, automatic, text) map(tofrom: total)
    total = sum(one%cells) + sum(fixed) + sum(automatic)
    if (text(n:n) == "x") total = total + 1000
    one%cells = -1; one%weight = -1; fixed = -1; automatic = -1; text = " "
    !$omp end target
    call check(total == 1000 + 20 + 24 + 3 * n, __LINE__)
    call check(all(one%cells == 1) .and. one%weight == 0.5d0, __LINE__)
    call check(all(fixed == 2) .and. all(automatic == 3) .and. text == repeat("x", n), __LINE__)
  end subroutine aggregates

  ! An assumed-shape array, contiguous.
  subroutine assumed(cells)
    integer, intent(inout) :: cells(:)
    integer :: total
    total = 0
    !$omp target firstprivate(cells) map(tofrom: total)
    total = sum(cells)
    cells(1) = -1
    !$omp end target
    call check(total == sum(cells) .and. cells(1) /= -1, __LINE__)
  end subroutine assumed

  ! Absent arguments stay absent; present ones are copied.
  subroutine optional_ones(expected, wide, one)
    logical, intent(in) :: expected
    real(16), optional :: wide
    type(row), optional :: one
    logical :: there
    there = .not. expected
    !$omp target firstprivate(wide) map(tofrom: there)
    there = present(wide)
    if (there) wide = wide + 1
    !$omp end target
    call check(there .eqv. expected, __LINE__)
    there = .not. expected
    !$omp target firstprivate(one) map(tofrom: there)
    there = present(one)
    if (there) one%cells = 99
    !$omp end target
    call check(there .eqv. expected, __LINE__)
    if (expected) call check(wide == 1 .and. all(one%cells == 4), __LINE__)
  end subroutine optional_ones

  ! The descriptor of a pointer or an allocatable array is the region's own: changes to it do not
  ! come back.
  subroutine descriptions
    integer, pointer :: pointed(:)
    integer, allocatable, target :: cells(:)
    integer, target :: other(2)
    integer :: total
    allocate(cells(5))
    cells = 1; other = 7; total = 0
    pointed => cells
    !$omp target firstprivate(pointed) map(tofrom: total)
    total = sum(pointed)
    nullify(pointed)
    !$omp end target
    call check(total == 5 .and. associated(pointed, cells), __LINE__)
    !$omp target map(tofrom: cells)
    cells(3) = 10
    !$omp end target
    call check(sum(cells) == 14, __LINE__)
  end subroutine descriptions

  ! Data directives, updates and addresses for devices leave the host's memory as it is.
  subroutine data_regions
    integer :: cells(10), value, i
    cells = 1; value = 1
    !$omp target enter data map(to: cells)
    !$omp target data map(tofrom: value) use_device_addr(value)
    !$omp target map(always, tofrom: cells(2:4)) map(tofrom: value)
    cells(2:4) = 5
    value = value + 1
    !$omp end target
    !$omp target update from(cells(2:4)) to(value)
    call check(value == 2, __LINE__)
    !$omp end target data
    !$omp target exit data map(from: cells)
    call check(sum(cells) == 22, __LINE__)
    !$omp target defaultmap(firstprivate: aggregate) defaultmap(tofrom: scalar)
    cells = 0
    value = 9
    !$omp end target
    call check(sum(cells) == 22 .and. value == 9, __LINE__)
    !$omp target teams distribute parallel do simd num_teams(3) reduction(+: value) map(tofrom: value)
    do i = 1, 100
      value = value + i
    end do
    call check(value == 5059, __LINE__)
  end subroutine data_regions

  ! Regions with nowait run after what they depend on, each with the values of its encounter.
  subroutine target_tasks
    integer :: value, i
    type(row) :: one
    value = 0
    !$omp parallel num_threads(3) shared(value)
    !$omp single private(i)
    do i = 1, 5
      one%cells = i
      !$omp target nowait depend(inout: value) firstprivate(one) map(tofrom: value)
      value = value * 10 + one%cells(20)
      !$omp end target
      one%cells = 0
    end do
    !$omp end single
    !$omp end parallel
    call check(value == 12345, __LINE__)
  end subroutine target_tasks

  ! All threads of a team of a league return its number, in nested teams, too.
  subroutine leagues
    integer :: other, ran, mine, i, times(100)
    other = 0; ran = 0; times = 0
    call omp_set_max_active_levels(2)
    !$omp teams num_teams(3) private(mine) reduction(+: other, ran)
    mine = omp_get_team_num()
    ran = ran + 1
    !$omp parallel num_threads(3) reduction(+: other)
    if (omp_get_team_num() /= mine .or. omp_get_num_teams() /= 3) other = other + 1
    !$omp parallel num_threads(2) reduction(+: other)
    if (omp_get_team_num() /= mine .or. omp_get_num_teams() /= 3) other = other + 1
    !$omp end parallel
    !$omp end parallel
    !$omp end teams
    call check(ran == 3 .and. other == 0, __LINE__)
    call check(omp_get_team_num() == 0 .and. omp_get_num_teams() == 1, __LINE__)
    call omp_set_max_active_levels(1)
    !$omp target teams num_teams(4) map(tofrom: ran, other) reduction(+: ran, other)
    ran = ran + 1
    if (omp_get_num_teams() /= 4) other = other + 1
    !$omp end target teams
    call check(ran == 7 .and. other == 0, __LINE__)
    call check(omp_get_num_teams() == 1, __LINE__)
    !$omp teams num_teams(2)
    !$omp distribute dist_schedule(static, 7)
    do i = 1, 100
      times(i) = times(i) + 1
    end do
    !$omp distribute parallel do num_threads(3)
    do i = 1, 100
      times(i) = times(i) + 10
    end do
    !$omp end teams
    call check(all(times == 11), __LINE__)
  end subroutine leagues
end module target_checks

program target_suite
  use target_checks
  implicit none
  integer :: values(6)
  real(16) :: wide
  type(row) :: one
  call scalars
  call aggregates(7)
  call aggregates(1)
  values = [1, 2, 3, 4, 5, 6]
  call assumed(values)
  wide = 1
  one%cells = 4
  call optional_ones(.false.)
  call optional_ones(.true., wide, one)
  call descriptions
  call data_regions
  call target_tasks
  call leagues
  if (wrong /= 0) error stop 1
end program target_suite
