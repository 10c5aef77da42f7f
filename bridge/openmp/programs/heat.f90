! A Fortran program with OpenMP as gfortran compiles it: heat on a grid (loops, reductions), a sum
! over pairs with a dynamic schedule, a recursion by tasks, and what each thread keeps. Prints what
! does not depend on the order of additions.
program heat
  use omp_lib
  implicit none
  integer, parameter :: n = 300, steps = 120, bodies = 700
  double precision :: a(0:n+1, 0:n+1), b(0:n+1, 0:n+1), x(bodies), force(bodies), change, total, alone, energy
  integer :: i, j, step, threads, counted
  integer, save :: kept = 0
  !$omp threadprivate(kept)

  a = 0d0
  a(0, :) = 100d0
  b = a
  do step = 1, steps
    change = 0d0
    !$omp parallel do collapse(2) schedule(static) reduction(max: change)
    do j = 1, n
      do i = 1, n
        b(i, j) = 0.25d0 * (a(i-1, j) + a(i+1, j) + a(i, j-1) + a(i, j+1))
        change = max(change, abs(b(i, j) - a(i, j)))
      end do
    end do
    !$omp end parallel do
    !$omp parallel workshare
    a(1:n, 1:n) = b(1:n, 1:n)
    !$omp end parallel workshare
  end do
  total = 0d0
  !$omp parallel do reduction(+: total) schedule(guided)
  do j = 1, n
    total = total + sum(a(1:n, j))
  end do
  alone = sum(a(1:n, 1:n))
  print '(a, es22.15)', 'last change ', change
  print '(a, l1)', 'sum agrees ', abs(total - alone) <= 1d-10 * alone

  do i = 1, bodies
    x(i) = sin(dble(i)) * 10d0
  end do
  energy = 0d0
  !$omp parallel do schedule(dynamic, 7) private(j) reduction(+: energy)
  do i = 1, bodies
    force(i) = 0d0
    do j = 1, bodies
      if (j /= i) force(i) = force(i) + (x(j) - x(i)) / (abs(x(j) - x(i))**3 + 1d-2)
    end do
    energy = energy + force(i)
  end do
  print '(a, es22.15)', 'largest force ', maxval(abs(force))
  print '(a, l1)', 'forces cancel ', abs(energy) <= 1d-7 * maxval(abs(force))

  !$omp parallel
  !$omp single
  counted = fib(21)
  !$omp end single
  !$omp end parallel
  print '(a, i0)', 'fib ', counted

  threads = omp_get_max_threads()
  counted = 0
  !$omp parallel
  kept = omp_get_thread_num() + 1
  !$omp end parallel
  !$omp parallel reduction(+: counted)
  if (kept == omp_get_thread_num() + 1) counted = counted + 1
  !$omp end parallel
  print '(a, l1)', 'threads keep what is theirs ', counted == threads

  counted = 0
  !$omp parallel do ordered schedule(dynamic) num_threads(4)
  do i = 1, 50
    !$omp ordered
    if (counted == i - 1) counted = i
    !$omp end ordered
  end do
  print '(a, i0)', 'in order ', counted
contains
  recursive integer function fib(k) result(r)
    integer, intent(in) :: k
    integer :: p, q
    if (k < 2) then
      r = k
      return
    end if
    !$omp task shared(p) if(k > 8)
    p = fib(k - 1)
    !$omp end task
    !$omp task shared(q) if(k > 8)
    q = fib(k - 2)
    !$omp end task
    !$omp taskwait
    r = p + q
  end function fib
end program heat
