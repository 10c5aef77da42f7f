! Leagues and what they distribute, devices and the data of target regions, as gfortran compiles
! them.
#include "check.f90"
module team_checks
  use checking
  use omp_lib
  implicit none
  integer, save :: declared = 1
  !$omp declare target (declared)
  type point
    integer :: x = 0, y = 0
  end type point
  !$omp declare reduction (join : point : omp_out = point(omp_out%x + omp_in%x, max(omp_out%y, omp_in%y))) &
  !$omp& initializer (omp_priv = point(0, -100))
contains
  ! Every operator, over teams.
  subroutine reductions
    integer :: total, product_of, least, greatest, both_bits, any_bits, odd_bits, mine
    real(8) :: real_total
    complex(8) :: z
    logical :: all_of, any_of, same, differs
    type(point) :: joined
    total = 1; product_of = 2; least = 100; greatest = -100; both_bits = 255; any_bits = 0; odd_bits = 1
    real_total = 0.5d0; z = (0d0, 1d0); all_of = .true.; any_of = .false.; same = .true.; differs = .false.
    joined = point(1, -7)
    !$omp teams num_teams(4) private(mine) reduction(+ : total, real_total, z) reduction(* : product_of) &
    !$omp& reduction(min : least) reduction(max : greatest) reduction(iand : both_bits) reduction(ior : any_bits) &
    !$omp& reduction(ieor : odd_bits) reduction(.and. : all_of) reduction(.or. : any_of) reduction(.eqv. : same) &
    !$omp& reduction(.neqv. : differs) reduction(join : joined)
    mine = omp_get_team_num()
    total = total + mine
    product_of = product_of * (mine + 1)
    least = mine - 5
    greatest = mine
    both_bits = iand(both_bits, not(ishft(1, mine)))
    any_bits = ior(any_bits, ishft(1, mine))
    odd_bits = ieor(odd_bits, 1)
    real_total = real_total + mine
    z = z + (1d0, 0d0)
    all_of = all_of .and. mine /= 2
    any_of = any_of .or. mine == 3
    same = same .eqv. mine /= 1
    differs = differs .neqv. mine == 1
    joined%x = joined%x + 1
    joined%y = mine
    !$omp end teams
    call check(total == 7 .and. product_of == 48 .and. least == -5 .and. greatest == 3, __LINE__)
    call check(both_bits == 240 .and. any_bits == 15 .and. odd_bits == 1, __LINE__)
    call check(real_total == 6.5d0 .and. z == (4d0, 1d0), __LINE__)
    call check(.not. all_of .and. any_of .and. .not. same .and. differs, __LINE__)
    call check(joined%x == 5 .and. joined%y == 3, __LINE__)
  end subroutine reductions

  ! private, firstprivate, shared and default; arrays of the program and automatic ones.
  subroutine clauses(n)
    integer, intent(in) :: n
    integer :: own, first, all_teams(0:3), cells(n), other
    own = 9; first = 3; all_teams = -1; cells = 1; other = 0
    !$omp teams num_teams(4) default(none) private(own) firstprivate(first, cells) shared(all_teams, n) &
    !$omp& reduction(+ : other) thread_limit(2)
    own = omp_get_team_num()
    if (first /= 3 .or. any(cells /= 1)) other = other + 1
    first = first + own
    cells = own
    all_teams(own) = first + cells(n)
    !$omp end teams
    call check(other == 0 .and. own == 9 .and. first == 3 .and. all(cells == 1), __LINE__)
    call check(all(all_teams == [3, 5, 7, 9]), __LINE__)
  end subroutine clauses

  ! Every iteration once, up and down, collapsed, in each composite form; lastprivate has the last
  ! one's value.
  subroutine distributed(n)
    integer, intent(in) :: n
    integer :: i, k, last, times(n), table(n, 3)
    times = 0; table = 0; last = -1
    !$omp teams num_teams(3)
    !$omp distribute dist_schedule(static, 4)
    do i = n, 1, -1
      times(i) = times(i) + 1
    end do
    !$omp end distribute
    !$omp distribute parallel do num_threads(2) schedule(dynamic, 3)
    do i = 1, n
      times(i) = times(i) + 10
    end do
    !$omp distribute simd
    do i = 1, n
      times(i) = times(i) + 100
    end do
    !$omp distribute parallel do simd num_threads(2)
    do i = 1, n
      times(i) = times(i) + 1000
    end do
    !$omp end teams
    call check(all(times == 1111), __LINE__)
    !$omp teams distribute num_teams(2) collapse(2) lastprivate(last)
    do i = 1, n
      do k = 3, 1, -1
        table(i, k) = table(i, k) + 1
        last = i * 10 + k
      end do
    end do
    call check(all(table == 1) .and. last == n * 10 + 1, __LINE__)
    !$omp target teams distribute parallel do num_teams(3) collapse(2) map(tofrom: table)
    do i = 1, n
      do k = 1, 3
        table(i, k) = table(i, k) + i
      end do
    end do
    call check(sum(table) == 3 * n + 3 * n * (n + 1) / 2, __LINE__)
    !$omp teams loop num_teams(2)
    do i = 1, n
      times(i) = times(i) + 1
    end do
    call check(all(times == 1112), __LINE__)
  end subroutine distributed

  ! A team's threads share loops, sections and workshare within it.
  subroutine within_teams
    integer :: total, i, a(30), b(30)
    total = 0; a = 1
    !$omp teams num_teams(2) reduction(+ : total) private(b)
    b = 0
    !$omp parallel workshare num_threads(2)
    b = a + 1
    !$omp end parallel workshare
    !$omp parallel do num_threads(3) reduction(+ : total)
    do i = 1, 30
      total = total + b(i)
    end do
    !$omp parallel sections num_threads(2) reduction(+ : total)
    !$omp section
    total = total + 100
    !$omp section
    total = total + 100
    !$omp end parallel sections
    !$omp end teams
    call check(total == 2 * (60 + 200), __LINE__)
  end subroutine within_teams

  ! Allocatables, pointers, sections and components are mapped where they are.
  subroutine mapped
    integer, allocatable :: cells(:), none(:)
    integer, pointer :: pointed(:)
    integer, target :: behind(4)
    type(point) :: p
    logical :: there
    allocate(cells(0:9))
    cells = 1; behind = 2; pointed => behind; there = .true.
    !$omp target map(tofrom: cells(2:5), pointed, p%y) map(from: there)
    cells(2:5) = 7
    pointed(4) = 8
    p%y = 9
    there = .false.
    !$omp end target
    call check(sum(cells) == 34 .and. behind(4) == 8 .and. p%y == 9 .and. .not. there, __LINE__)
    !$omp target map(tofrom: none, there)
    there = allocated(none)
    !$omp end target
    call check(.not. there, __LINE__)
    !$omp target data map(tofrom: cells) use_device_addr(cells)
    call check(lbound(cells, 1) == 0 .and. ubound(cells, 1) == 9, __LINE__)
    !$omp target has_device_addr(cells)
    cells(9) = 5
    !$omp end target
    !$omp end target data
    call check(cells(9) == 5, __LINE__)
    !$omp target defaultmap(tofrom: scalar)
    declared = declared + 4
    !$omp end target
    call check(declared == 5, __LINE__)
  end subroutine mapped

  ! Each caller is on the host.
  subroutine devices
    logical :: host
    host = .false.
    !$omp target map(tofrom: host)
    host = omp_is_initial_device() .and. omp_get_num_devices() == 0
    host = host .and. omp_get_device_num() == omp_get_initial_device()
    !$omp end target
    call check(host, __LINE__)
    call omp_set_default_device(3)
    call check(omp_get_default_device() == 3, __LINE__)
    !$omp target map(tofrom: host)
    host = omp_get_default_device() == 3
    call omp_set_default_device(4)
    !$omp end target
    call check(.not. host .and. omp_get_default_device() == 3, __LINE__)
    call omp_set_default_device(0)
    call omp_set_num_threads(7)
    !$omp target map(tofrom: host)
    host = omp_get_max_threads() == 7
    call omp_set_num_threads(5)
    !$omp end target
    call check(.not. host .and. omp_get_max_threads() == 7, __LINE__)
  end subroutine devices
end module team_checks

program team_suite
  use team_checks
  implicit none
  call reductions
  call clauses(5)
  call distributed(1)
  call distributed(40)
  call within_teams
  call mapped
  call devices
  if (wrong /= 0) error stop 1
end program team_suite
