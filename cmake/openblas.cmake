# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# OpenBLAS as Debian builds it, with its own threads and with OpenMP's: those that are installed.
set(WEFT_OPENBLAS_LIBRARIES)
foreach(kind pthread openmp)
  set(path /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-${kind}/libopenblas.so.0)
  if(EXISTS ${path})
    list(APPEND WEFT_OPENBLAS_LIBRARIES ${path})
  endif()
endforeach()
