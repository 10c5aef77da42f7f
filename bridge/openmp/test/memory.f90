! Fortran: allocators, their traits, their memory and the allocate clause. With -fdefault-integer-8 omp_init_allocator
! takes a count of 8 bytes.
#include "check.f90"
module allocation
  use checking
  use omp_lib
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: pool_bytes = 65536
  integer(c_size_t), parameter :: most_overhead = 296
contains
  logical function has(allocator, bytes)
    integer(omp_allocator_handle_kind), intent(in) :: allocator
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr) :: block
    block = omp_alloc(bytes, allocator)
    has = c_associated(block)
    call omp_free(block, allocator)
  end function has

  logical function aligned(block, alignment)
    type(c_ptr), intent(in) :: block
    integer, intent(in) :: alignment
    aligned = mod(transfer(block, 0_c_intptr_t), int(alignment, c_intptr_t)) == 0
  end function aligned

  integer(omp_allocator_handle_kind) function of_trait(key, value)
    integer(omp_alloctrait_key_kind), intent(in) :: key
    integer(omp_alloctrait_val_kind), intent(in) :: value
    type(omp_alloctrait) :: traits(1)
    traits(1) = omp_alloctrait(key, value)
    of_trait = omp_init_allocator(omp_default_mem_space, 1, traits)
  end function of_trait

  ! A trait has its own values, and the default one.
  subroutine values(key, first, last)
    integer(omp_alloctrait_key_kind), intent(in) :: key
    integer(omp_alloctrait_val_kind), intent(in) :: first, last
    integer(omp_alloctrait_val_kind) :: value
    integer(omp_allocator_handle_kind) :: allocator
    do value = 0, 20
      allocator = of_trait(key, value)
      call check((allocator /= omp_null_allocator) .eqv. (value >= first .and. value <= last), __LINE__)
      call omp_destroy_allocator(allocator)
    end do
    allocator = of_trait(key, int(omp_atv_default, omp_alloctrait_val_kind))
    call check(allocator /= omp_null_allocator, __LINE__)
    call check(has(allocator, 1000_c_size_t), __LINE__)
    call omp_destroy_allocator(allocator)
  end subroutine values

  subroutine traits_and_spaces
    type(omp_alloctrait) :: none(0)
    integer(omp_allocator_handle_kind) :: allocator
    call values(omp_atk_sync_hint, omp_atv_contended, omp_atv_private)
    call values(omp_atk_access, omp_atv_all, omp_atv_cgroup)
    call values(omp_atk_fallback, omp_atv_default_mem_fb, omp_atv_allocator_fb)
    call values(omp_atk_pinned, omp_atv_false, omp_atv_false)
    call values(omp_atk_partition, omp_atv_environment, omp_atv_interleaved)
    call check(omp_atv_serialized == omp_atv_sequential, __LINE__)
    allocator = omp_init_allocator(omp_default_mem_space, 0, none)
    call check(allocator /= omp_null_allocator, __LINE__)
    call check(has(allocator, 100000_c_size_t), __LINE__)
    call omp_destroy_allocator(allocator)
    allocator = omp_init_allocator(omp_large_cap_mem_space, 0, none)
    call check(allocator /= omp_null_allocator, __LINE__)
    call omp_destroy_allocator(allocator)
    call omp_destroy_allocator(omp_null_allocator)
  end subroutine traits_and_spaces

  ! Memory of a pool, which grows and shrinks there.
  subroutine memory
    type(omp_alloctrait) :: traits(2)
    integer(omp_allocator_handle_kind) :: pool
    type(c_ptr) :: block
    integer(4), pointer :: cells(:)
    integer(4) :: i
    traits(1) = omp_alloctrait(omp_atk_pool_size, pool_bytes)
    traits(2) = omp_alloctrait(omp_atk_fallback, omp_atv_null_fb)
    pool = omp_init_allocator(omp_default_mem_space, 2, traits)
    block = omp_calloc(100_c_size_t, 4_c_size_t, pool)
    call c_f_pointer(block, cells, [100])
    call check(all(cells == 0), __LINE__)
    cells = [(i, i = 1, 100)]
    block = omp_realloc(block, pool_bytes - most_overhead, pool, pool)
    call check(c_associated(block), __LINE__)
    call c_f_pointer(block, cells, [100])
    call check(all(cells == [(i, i = 1, 100)]), __LINE__)
    call check(.not. c_associated(omp_realloc(block, pool_bytes + 1_c_size_t, pool, omp_null_allocator)), __LINE__)
    block = omp_realloc(block, 400_c_size_t, omp_null_allocator, omp_null_allocator)
    call c_f_pointer(block, cells, [100])
    call check(all(cells == [(i, i = 1, 100)]), __LINE__)
    call check(has(pool, pool_bytes / 2_c_size_t), __LINE__)
    call omp_free(block, pool)
    block = omp_aligned_alloc(1024_c_size_t, 2048_c_size_t, pool)
    call check(aligned(block, 1024), __LINE__)
    call omp_free(block, omp_null_allocator)
    call check(has(pool, pool_bytes - most_overhead), __LINE__)
    call omp_destroy_allocator(pool)
  end subroutine memory

  ! Private variables of regions and loops, in memory of an allocator, which is complete afterwards.
  subroutine clauses
    type(omp_alloctrait) :: traits(3)
    integer(omp_allocator_handle_kind) :: pool
    integer, target :: number, cells(10)
    real(8), target :: total
    character(len=20) :: text
    integer :: i, last, right
    traits(1) = omp_alloctrait(omp_atk_pool_size, pool_bytes)
    traits(2) = omp_alloctrait(omp_atk_alignment, 256)
    traits(3) = omp_alloctrait(omp_atk_fallback, omp_atv_abort_fb)
    pool = omp_init_allocator(omp_default_mem_space, 3, traits)
    number = 5; total = 1; cells = [(i, i = 1, 10)]; text = "text"; right = 0
    !$omp parallel num_threads(4) firstprivate(number, cells, text) reduction(+ : total, right) &
    !$omp& allocate(pool : number, cells, text, total)
    if (aligned(c_loc(number), 256) .and. aligned(c_loc(cells), 256) .and. aligned(c_loc(total), 256)) right = right + 1
    if (number == 5 .and. cells(10) == 10 .and. text == "text") right = right + 1
    number = omp_get_thread_num()
    cells = number
    total = total + cells(3)
    !$omp barrier
    if (number == omp_get_thread_num() .and. all(cells == number)) right = right + 1
    !$omp end parallel
    call check(right == 12 .and. total == 7 .and. number == 5 .and. cells(1) == 1, __LINE__)
    !$omp parallel do num_threads(3) lastprivate(last) firstprivate(cells) allocate(pool : last) &
    !$omp& allocate(omp_low_lat_mem_alloc : cells) reduction(+ : total)
    do i = 1, 50
      last = i + cells(1)
      total = total + 1
    end do
    call check(last == 51 .and. total == 57, __LINE__)
    call check(has(pool, pool_bytes - most_overhead), __LINE__)
    call omp_destroy_allocator(pool)
  end subroutine clauses

  ! Each implicit task has a default allocator. Its regions begin with it, and the tasks that its
  ! thread runs see it.
  subroutine default_allocator
    call omp_set_default_allocator(omp_null_allocator)
    call check(omp_get_default_allocator() == omp_default_mem_alloc, __LINE__)
    call omp_set_default_allocator(omp_const_mem_alloc)
    !$omp parallel num_threads(3)
    call check(omp_get_default_allocator() == omp_const_mem_alloc, __LINE__)
    !$omp barrier
    call omp_set_default_allocator(int(omp_get_thread_num() + 4, omp_allocator_handle_kind))
    !$omp barrier
    !$omp task
    call check(omp_get_default_allocator() == omp_get_thread_num() + 4, __LINE__)
    !$omp end task
    !$omp barrier
    !$omp task if(.false.)
    call omp_set_default_allocator(omp_thread_mem_alloc)
    !$omp end task
    call check(omp_get_default_allocator() == omp_thread_mem_alloc, __LINE__)
    !$omp end parallel
    call check(omp_get_default_allocator() == omp_const_mem_alloc, __LINE__)
    call omp_set_default_allocator(omp_default_mem_alloc)
  end subroutine default_allocator
end module allocation

program allocators
  use allocation
  call traits_and_spaces
  call memory
  call clauses
  call default_allocator
  if (wrong /= 0) stop 1
end program allocators
