/*
 * Tells AddressSanitizer what PostgreSQL tells memcheck in a server built with USE_VALGRIND.
 *
 * The server says when each byte of its memory contexts and each page of its buffers may be used.
 * So to use a byte behind a palloc'd chunk, a freed byte or a page that is not pinned is an error
 * for AddressSanitizer as it is for memcheck, at a tenth of the time. It does not know, however,
 * whether bytes have a value.
 */
#ifndef BLOOMFILTER_TEST_REDZONES_MEMCHECK_H
#define BLOOMFILTER_TEST_REDZONES_MEMCHECK_H

#include <sanitizer/asan_interface.h>

#define VALGRIND_MAKE_MEM_NOACCESS(at, size) ASAN_POISON_MEMORY_REGION(at, size)
#define VALGRIND_MAKE_MEM_UNDEFINED(at, size) ASAN_UNPOISON_MEMORY_REGION(at, size)
#define VALGRIND_MAKE_MEM_DEFINED(at, size) ASAN_UNPOISON_MEMORY_REGION(at, size)
#define VALGRIND_MEMPOOL_ALLOC(context, at, size) ASAN_UNPOISON_MEMORY_REGION(at, size)

/* The server itself says which bytes of a chunk that it frees or moves must not be used. */
#define VALGRIND_CREATE_MEMPOOL(context, redzone, zeroed) ((void)(context))
#define VALGRIND_DESTROY_MEMPOOL(context) ((void)(context))
#define VALGRIND_MEMPOOL_FREE(context, at) ((void)(context))
#define VALGRIND_MEMPOOL_CHANGE(context, from, to, size) ((void)(context))
#define VALGRIND_MEMPOOL_TRIM(context, at, size) ((void)(context))

#define VALGRIND_CHECK_MEM_IS_DEFINED(at, size) ((void)0)
#define VALGRIND_GET_VBITS(at, bits, size) 0
#define VALGRIND_COUNT_ERRORS 0
#define VALGRIND_PRINTF(...) ((void)0)
#define RUNNING_ON_VALGRIND 0

#endif
