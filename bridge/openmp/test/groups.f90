! Fortran: reductions by tasks, and cancellation.
#include "check.f90"
module group_checks
  use checking
  use omp_lib
  implicit none
  logical, save :: on = .false.
  integer, parameter :: some = 20
contains
  ! Scalars of each type, arrays, array sections, assumed-shape dummies. (gfortran 12 compiles no
  ! allocatable ones, and no operators that the program defines.)
  subroutine items(threads, shaped)
    integer, intent(in) :: threads
    real(8), intent(inout) :: shaped(:)
    integer :: i, total, cells(4, 5)
    real(8) :: product
    complex(8) :: turning
    logical :: all_of, any_of
    total = 3; cells = 1; product = 0.5d0; turning = (1, 2); all_of = .true.; any_of = .false.; shaped = 0
    !$omp parallel num_threads(threads)
    !$omp single
    !$omp taskgroup task_reduction(+ : total, cells, turning, shaped) task_reduction(* : product) &
    !$omp& task_reduction(.and. : all_of) task_reduction(.or. : any_of)
    do i = 1, some
      !$omp task in_reduction(+ : total, cells, turning, shaped) in_reduction(* : product) &
      !$omp& in_reduction(.and. : all_of) in_reduction(.or. : any_of)
      total = total + i
      cells(1 + mod(i, 4), 1 + mod(i, 5)) = cells(1 + mod(i, 4), 1 + mod(i, 5)) + 1
      turning = turning + (0, 1)
      shaped(1) = shaped(1) + 1
      product = product * merge(2d0, 0.5d0, mod(i, 2) == 0)
      all_of = all_of .and. i /= 7
      any_of = any_of .or. i == 7
      !$omp end task
    end do
    !$omp end taskgroup
    !$omp end single
    !$omp end parallel
    call check(total == 3 + some * (some + 1) / 2, __LINE__)
    call check(sum(cells) == 20 + some .and. all(cells == 2), __LINE__)
    call check(turning == cmplx(1, 2 + some, 8), __LINE__)
    call check(shaped(1) == some .and. sum(shaped) == some, __LINE__)
    call check(product == 0.5d0 .and. .not. all_of .and. any_of, __LINE__)
  end subroutine items

  ! Each construct that may have a task reduction, and in it also tasks of the thread's own
  ! taskgroup.
  subroutine constructs(threads)
    integer, intent(in) :: threads
    integer :: i, common, sums, own
    common = 0; sums = 0
    !$omp parallel num_threads(threads) private(own) reduction(+ : sums)
    own = 0
    !$omp taskgroup task_reduction(+ : own)
    !$omp do reduction(task, + : common) schedule(dynamic)
    do i = 1, some
      !$omp task in_reduction(+ : own, common)
      own = own + 1
      common = common + 2
      !$omp end task
    end do
    !$omp end do
    !$omp sections reduction(task, + : common)
    !$omp section
    !$omp task in_reduction(+ : own, common)
    own = own + 1
    common = common + 2
    !$omp end task
    !$omp section
    common = common + 1
    !$omp end sections
    !$omp scope reduction(task, + : common)
    !$omp task in_reduction(+ : own, common)
    own = own + 1
    common = common + 2
    !$omp end task
    !$omp end scope
    !$omp end taskgroup
    sums = sums + own
    !$omp end parallel
    call check(sums == some + 1 + threads, __LINE__)
    call check(common == 2 * sums + 1, __LINE__)
    common = 1
    !$omp parallel do num_threads(threads) reduction(task, + : common)
    do i = 1, some
      common = common + 1
      !$omp task in_reduction(+ : common)
      common = common + 1
      !$omp end task
    end do
    call check(common == 1 + 2 * some, __LINE__)
    !$omp parallel num_threads(threads)
    !$omp single
    !$omp taskgroup task_reduction(+ : common)
    !$omp taskloop in_reduction(+ : common) nogroup
    do i = 1, some
      common = common + 1
    end do
    !$omp end taskloop
    !$omp end taskgroup
    !$omp end single
    !$omp end parallel
    call check(common == 1 + 3 * some, __LINE__)
  end subroutine constructs

  subroutine cancelled_constructs(threads)
    integer, intent(in) :: threads
    integer :: i, round, behind, ran(2), parts
    behind = 0; ran = 0; parts = 0
    !$omp parallel num_threads(threads) reduction(+ : behind)
    !$omp cancel parallel if (omp_get_thread_num() == threads - 1)
    !$omp cancellation point parallel
    !$omp barrier
    behind = behind + 1
    !$omp end parallel
    call check(behind == merge(0, threads, on) .or. on, __LINE__)
    !$omp parallel num_threads(threads) private(round)
    do round = 1, 2
      !$omp do schedule(dynamic)
      do i = 1, some
        !$omp cancellation point do
        !$omp atomic
        ran(round) = ran(round) + 1
        !$omp cancel do if (round == 1)
      end do
      !$omp end do
    end do
    !$omp sections
    !$omp section
    !$omp atomic
    parts = parts + 1
    !$omp cancel sections
    !$omp section
    !$omp cancellation point sections
    !$omp atomic
    parts = parts + 1
    !$omp end sections
    !$omp end parallel
    call check(merge(ran(1) >= 1 .and. ran(1) <= threads, ran(1) == some, on), __LINE__)
    call check(ran(2) == some, __LINE__)
    call check(merge(parts == 1 .or. parts == 2, parts == 2, on), __LINE__)
  end subroutine cancelled_constructs

  ! A taskgroup around a loop with a task reduction; allocatable arrays of which tasks have copies.
  subroutine cancelled_groups(threads)
    integer, intent(in) :: threads
    integer :: i, began, behind, others, iterations, summed
    integer, allocatable :: numbers(:)
    allocate (numbers(500))
    numbers = 1
    began = 0; behind = 0; others = 0; iterations = 0; summed = 0
    !$omp parallel num_threads(threads)
    !$omp taskgroup
    !$omp do schedule(static, 1) reduction(task, + : iterations)
    do i = 1, threads
      iterations = iterations + 1
      !$omp task if (.false.) firstprivate(i)
      !$omp cancel taskgroup if (i == 1)
      !$omp atomic
      began = began + 1
      !$omp end task
    end do
    !$omp end do
    if (omp_get_thread_num() == 0) then
      !$omp task
      !$omp atomic
      behind = behind + 1
      !$omp end task
    else
      !$omp task
      !$omp atomic
      others = others + 1
      !$omp end task
    end if
    !$omp end taskgroup
    !$omp single
    !$omp taskgroup
    do i = 1, some
      !$omp task firstprivate(numbers, i)
      numbers(i) = numbers(i) + sum(numbers)
      !$omp cancel taskgroup if (i == 5)
      !$omp atomic
      summed = summed + numbers(i) - 501
      !$omp end task
    end do
    !$omp end taskgroup
    !$omp end single
    !$omp end parallel
    call check(began == merge(threads - 1, threads, on), __LINE__)
    call check(behind == merge(0, 1, on), __LINE__)
    call check(others == threads - 1 .and. iterations == threads, __LINE__)
    call check(summed == 0 .and. all(numbers == 1), __LINE__)
  end subroutine cancelled_groups
end module group_checks

program groups
  use group_checks
  real(8) :: numbers(9)
  integer, parameter :: sizes(4) = [1, 2, 3, 8]
  integer :: at
  on = omp_get_cancellation()
  do at = 1, 4
    call items(sizes(at), numbers(1 : 9 : 2))
    call constructs(sizes(at))
    call cancelled_constructs(sizes(at))
    call cancelled_groups(sizes(at))
  end do
  if (wrong /= 0) stop 1
end program groups
