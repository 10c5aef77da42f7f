// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In place of libweft_pthread, which announces to the bridge for OpenBLAS which threads start:
// ThreadSanitizer's own pthread_create comes before that library's. A program that has this object
// calls it by the name that the sanitizer leaves for that purpose.
#include <pthread.h>

extern "C" {

bool weft_openblas_thread_starts(void* (**body)(void*), void** argument);
void weft_openblas_thread_refused(void* (*body)(void*), void* argument);
int __interceptor_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                                 void* argument);   // NOLINT: the sanitizer's

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
    weft_openblas_thread_starts(&body, &argument);
    const int error = __interceptor_pthread_create(thread, attributes, body, argument);
    if (error != 0) weft_openblas_thread_refused(body, argument);
    return error;
}

}   // extern "C"
