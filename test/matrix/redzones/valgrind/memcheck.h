/*
 * What PostgreSQL tells memcheck of a server built with USE_VALGRIND, told to AddressSanitizer.
 *
 * The server says of each byte of its memory contexts and of each page of its buffers when it may be
 * used: so a byte behind a palloc'd chunk, a freed one and a page that is not pinned are errors for
 * AddressSanitizer as they are for memcheck, at a tenth of the time. Whether bytes have a value,
 * it does not know.
 */
#ifndef BLOOMFILTER_TEST_REDZONES_MEMCHECK_H
#define BLOOMFILTER_TEST_REDZONES_MEMCHECK_H

#include <sanitizer/asan_interface.h>

#define VALGRIND_MAKE_MEM_NOACCESS(at, size) ASAN_POISON_MEMORY_REGION(at, size)
#define VALGRIND_MAKE_MEM_UNDEFINED(at, size) ASAN_UNPOISON_MEMORY_REGION(at, size)
#define VALGRIND_MAKE_MEM_DEFINED(at, size) ASAN_UNPOISON_MEMORY_REGION(at, size)
#define VALGRIND_MEMPOOL_ALLOC(context, at, size) ASAN_UNPOISON_MEMORY_REGION(at, size)

/* The server itself says what of a chunk that it frees or moves must not be used. */
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
