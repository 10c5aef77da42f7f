! Fortran: constructs as gfortran compiles them, and the routines of omp_lib. With
! -fdefault-integer-8 those that take 8 bytes.
#include "check.f90"
module checks
  use checking
  use omp_lib
  implicit none
  integer, save :: kept = 7
  !$omp threadprivate(kept)
contains
  subroutine loops
    integer :: i, j, total, last, cells(20, 30), ordered_sum
    real(8) :: real_sum
    complex(8) :: complex_sum
    logical :: all_of, any_of
    total = 0; real_sum = 0; complex_sum = 0; all_of = .true.; any_of = .false.; last = 0
    !$omp parallel do num_threads(4) reduction(+ : total, real_sum, complex_sum) reduction(.and. : all_of) &
    !$omp& reduction(.or. : any_of) schedule(dynamic, 3) lastprivate(last)
    do i = 1, 100
      total = total + i
      real_sum = real_sum + 0.5d0
      complex_sum = complex_sum + (0d0, 1d0)
      all_of = all_of .and. i > 0
      any_of = any_of .or. i == 77
      last = i
    end do
    !$omp end parallel do
    call check(total == 5050 .and. real_sum == 50d0 .and. complex_sum == (0d0, 100d0), __LINE__)
    call check(all_of .and. any_of .and. last == 100, __LINE__)
    cells = 0
    !$omp parallel do collapse(2) num_threads(3) schedule(guided)
    do i = 1, 20
      do j = 30, 1, -1
        cells(i, j) = cells(i, j) + i * j
      end do
    end do
    call check(sum(cells) == 210 * 465, __LINE__)
    ordered_sum = 0
    !$omp parallel do ordered num_threads(4) schedule(runtime)
    do i = 1, 50
      !$omp ordered
      ordered_sum = mod(ordered_sum * 3 + i, 1000)
      !$omp end ordered
    end do
    total = 0
    do i = 1, 50
      total = mod(total * 3 + i, 1000)
    end do
    call check(total == ordered_sum, __LINE__)
    total = 0
    !$omp parallel do simd num_threads(4) reduction(max : total)
    do i = 1, 100
      total = max(total, mod(i * 37, 101))
    end do
    call check(total == 100, __LINE__)
    total = -1
    !$omp parallel do num_threads(4) reduction(iand : total)
    do i = 0, 9
      total = iand(total, not(ishft(1, i)))
    end do
    call check(total == not(1023), __LINE__)
  end subroutine loops

  subroutine workshare
    real(8) :: a(1000), b(1000), c
    integer :: i
    c = 0
    !$omp parallel num_threads(4) shared(a, b, c)
    !$omp workshare
    a = 2
    b = a + 1
    where (b > 2) a = b * 2
    forall (i = 1:1000) b(i) = a(i) + i
    c = sum(b)
    !$omp end workshare
    !$omp end parallel
    call check(c == 6000 + 500500, __LINE__)
    !$omp parallel workshare num_threads(3)
    a = b - a
    !$omp end parallel workshare
    call check(all(a == [(real(i, 8), i = 1, 1000)]), __LINE__)
  end subroutine workshare

  subroutine sharing
    integer :: told, right, ran(3), i
    integer, allocatable :: first(:), mine(:)
    character(len=5) :: text
    right = 0; ran = 0
    allocate (first(5), source=[1, 2, 3, 4, 5])
    !$omp parallel num_threads(4) private(told, text, mine) firstprivate(first) reduction(+ : right)
    allocate (mine(10))
    mine = omp_get_thread_num()
    first(1) = first(1) + omp_get_thread_num()
    !$omp single
    told = 12
    text = "hello"
    !$omp end single copyprivate(told, text)
    if (told == 12 .and. text == "hello" .and. all(mine == omp_get_thread_num()) .and. first(1) == 1 + omp_get_thread_num()) right = right + 1
    !$omp sections
    !$omp section
    ran(1) = ran(1) + 1
    !$omp section
    ran(2) = ran(2) + 1
    !$omp end sections nowait
    !$omp master
    ran(3) = ran(3) + 1
    !$omp end master
    deallocate (mine)
    !$omp end parallel
    call check(right == 4 .and. all(ran == 1) .and. first(1) == 1, __LINE__)
    right = 0
    !$omp parallel num_threads(8)
    do i = 1, 100
      !$omp atomic
      right = right + 1
      !$omp critical (named)
      ran(1) = ran(1) + 1
      !$omp end critical (named)
      !$omp barrier
    end do
    !$omp end parallel
    call check(right == 800 .and. ran(1) == 801, __LINE__)
    ! Allocatable arrays are reduced as a whole.
    deallocate (first)
    allocate (first(3))
    first = 0
    !$omp parallel num_threads(4) reduction(+ : first)
    first = first + [1, 2, 3]
    !$omp end parallel
    call check(all(first == [4, 8, 12]), __LINE__)
  end subroutine sharing

  subroutine threadprivates
    integer :: same, common_kept, common_array(10)
    common /shared_block/ common_kept, common_array
    save :: /shared_block/
    !$omp threadprivate(/shared_block/)
    kept = 5; common_kept = 6; common_array = 9
    same = 0
    !$omp parallel num_threads(6) copyin(kept, /shared_block/) reduction(+ : same)
    if (kept == 5 .and. common_kept == 6 .and. all(common_array == 9)) same = same + 1
    kept = 100 + omp_get_thread_num()
    common_array(10) = omp_get_thread_num()
    !$omp end parallel
    !$omp parallel num_threads(6) reduction(+ : same)
    if (kept == 100 + omp_get_thread_num() .and. common_array(10) == omp_get_thread_num()) same = same + 1
    !$omp end parallel
    call check(same == 12, __LINE__)
  end subroutine threadprivates

  recursive integer function fib(n) result(value)
    integer, intent(in) :: n
    integer :: a, b
    if (n < 2) then
      value = n
      return
    end if
    !$omp task shared(a) if(n > 5)
    a = fib(n - 1)
    !$omp end task
    !$omp task shared(b) untied
    b = fib(n - 2)
    !$omp end task
    !$omp taskwait
    value = a + b
  end function fib

  subroutine tasks
    integer :: i, x, total, result
    integer(omp_event_handle_kind) :: event
    integer(omp_depend_kind) :: object
    x = 0; total = 0
    !$omp parallel num_threads(4)
    !$omp single
    result = fib(15)
    do i = 1, 50
      !$omp task depend(inout : x) firstprivate(i) shared(x)
      if (x /= i - 1) wrong = wrong + 1
      x = i
      !$omp end task
    end do
    !$omp taskwait
    !$omp taskgroup task_reduction(+ : total)
    do i = 1, 20
      !$omp task in_reduction(+ : total) firstprivate(i)
      total = total + i
      !$omp end task
    end do
    !$omp end taskgroup
    !$omp taskloop reduction(+ : total) grainsize(4)
    do i = 1, 100
      total = total + i
    end do
    !$omp end taskloop
    !$omp task detach(event) shared(x)
    !$omp atomic
    x = x + 1
    !$omp end task
    call omp_fulfill_event(event)
    !$omp taskwait
    !$omp end single
    !$omp end parallel
    call check(result == 610 .and. x == 51 .and. total == 210 + 5050, __LINE__)
    !$omp depobj(object) depend(inout : x)
    !$omp parallel num_threads(3)
    !$omp single
    do i = 1, 10
      !$omp task depend(depobj : object) shared(x)
      x = x + 1
      !$omp end task
    end do
    !$omp end single
    !$omp end parallel
    !$omp depobj(object) destroy
    call check(x == 61, __LINE__)
  end subroutine tasks

  subroutine locks
    integer(omp_lock_kind) :: lock
    integer(omp_nest_lock_kind) :: nest
    integer :: i, value
    call omp_init_lock(lock)
    call omp_init_nest_lock(nest)
    value = 0
    !$omp parallel num_threads(8) private(i)
    do i = 1, 100
      call omp_set_lock(lock)
      value = value + 1
      call omp_unset_lock(lock)
      do while (.not. omp_test_lock(lock))
        call omp_set_nest_lock(nest)
        call omp_unset_nest_lock(nest)
      end do
      value = value + 1
      call omp_unset_lock(lock)
      call omp_set_nest_lock(nest)
      call check(omp_test_nest_lock(nest) == 2, __LINE__)
      call omp_unset_nest_lock(nest)
      call omp_unset_nest_lock(nest)
    end do
    !$omp end parallel
    call check(value == 1600, __LINE__)
    call omp_destroy_lock(lock)
    call omp_destroy_nest_lock(nest)
  end subroutine locks

  subroutine routines
    integer(omp_sched_kind) :: kind
    integer :: chunk, ids(1), numbers(1)
    character(len=60) :: text
    integer(omp_allocator_handle_kind) :: allocator
    type(omp_alloctrait) :: traits(2)
    real(8) :: before
    call omp_set_num_threads(3)
    call check(omp_get_max_threads() == 3, __LINE__)
    call omp_set_dynamic(.true.)
    call check(omp_get_dynamic() .or. .false., __LINE__)
    call omp_set_dynamic(.false.)
    call omp_set_nested(.true.)
    call check(omp_get_nested() .or. .false., __LINE__)
    call omp_set_max_active_levels(2)
    call check(omp_get_max_active_levels() == 2 .and. omp_get_supported_active_levels() >= 2, __LINE__)
    call omp_set_schedule(omp_sched_guided, 7)
    call omp_get_schedule(kind, chunk)
    call check(kind == omp_sched_guided .and. chunk == 7, __LINE__)
    call check(.not. omp_in_parallel() .and. .not. omp_in_final() .and. omp_get_thread_num() == 0, __LINE__)
    call check(omp_get_num_threads() == 1 .and. omp_get_num_procs() > 0 .and. omp_get_thread_limit() > 0, __LINE__)
    call check(omp_get_ancestor_thread_num(0) == 0 .and. omp_get_team_size(0) == 1 .and. omp_get_team_size(3) == -1, __LINE__)
    !$omp parallel num_threads(2)
    call check(omp_in_parallel() .and. omp_get_level() == 1 .and. omp_get_active_level() == 1, __LINE__)
    call check(omp_get_ancestor_thread_num(1) == omp_get_thread_num() .and. omp_get_team_size(1) == 2, __LINE__)
    !$omp end parallel
    before = omp_get_wtime()
    call check(omp_get_wtime() >= before .and. omp_get_wtick() > 0, __LINE__)
    call check(omp_get_cancellation() .or. .true., __LINE__)
    call check(omp_get_proc_bind() == omp_proc_bind_false, __LINE__)
    call check(omp_get_num_places() == 0 .and. omp_get_place_num() == -1 .and. omp_get_partition_num_places() == 0, __LINE__)
    call check(omp_get_place_num_procs(0) == 0, __LINE__)
    call omp_get_place_proc_ids(0, ids)
    call omp_get_partition_place_nums(numbers)
    call check(omp_get_max_task_priority() == 0, __LINE__)
    call omp_set_default_device(2)
    call check(omp_get_default_device() == 2, __LINE__)
    call omp_set_default_device(0)
    call check(omp_get_num_devices() == 0 .and. omp_get_initial_device() == 0 .and. omp_get_device_num() == 0 .and. omp_is_initial_device(), __LINE__)
    call check(omp_get_num_teams() == 1 .and. omp_get_team_num() == 0, __LINE__)
    call omp_set_num_teams(5)
    call check(omp_get_max_teams() == 5, __LINE__)
    call omp_set_teams_thread_limit(4)
    call check(omp_get_teams_thread_limit() == 4, __LINE__)
    call omp_set_affinity_format("%n of %N")
    call check(omp_get_affinity_format(text) == 8 .and. text == "%n of %N", __LINE__)
    call check(omp_capture_affinity(text, "") == 6 .and. text == "0 of 1", __LINE__)
    call omp_display_affinity("%L %n")
    call check(omp_pause_resource(omp_pause_soft, omp_get_initial_device()) == 0 .and. omp_pause_resource_all(omp_pause_hard) == 0, __LINE__)
    allocator = omp_get_default_allocator()
    call check(allocator == omp_default_mem_alloc, __LINE__)
    call omp_set_default_allocator(omp_large_cap_mem_alloc)
    call check(omp_get_default_allocator() == omp_large_cap_mem_alloc, __LINE__)
    call omp_set_default_allocator(allocator)
    traits(1) = omp_alloctrait(omp_atk_alignment, 64)
    traits(2) = omp_alloctrait(omp_atk_pool_size, 4096)
    allocator = omp_init_allocator(omp_default_mem_space, 2, traits)
    call check(allocator /= omp_null_allocator, __LINE__)
    call omp_destroy_allocator(allocator)
    call omp_display_env(.false.)
  end subroutine routines
end module checks

program fortran
  use checks
  call loops
  call workshare
  call sharing
  call threadprivates
  call tasks
  call locks
  call routines
  if (wrong /= 0) stop 1
end program fortran
