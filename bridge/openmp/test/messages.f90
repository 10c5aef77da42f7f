! Fortran: the texts of the error directive have a length, and any characters.
subroutine warn(text)
  character(len=*), intent(in) :: text
  !$omp error at(execution) severity(warning) message(text)
end subroutine warn

program messages
  call warn("text")
  call warn("blanks   ")
  call warn("")
  call warn("a" // char(0) // "b")
  call warn(repeat("long ", 700))
  !$omp error at(execution) severity(warning)
  !$omp parallel num_threads(3)
  !$omp single
  !$omp error at(execution) severity(fatal) message("the " // "end")
  !$omp end single
  !$omp end parallel
end program messages
