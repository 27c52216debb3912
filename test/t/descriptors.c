/*
 * For test/t/022_parallel.pl: a function that opens as many directories as a process may have open.
 * It is written in C because it is no part of the extension.
 */
#include "postgres.h"

#include "fmgr.h"
#include "storage/fd.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(take_descriptors);

/* The server closes the directories when the transaction ends. */
Datum
take_descriptors(PG_FUNCTION_ARGS)
{
	for (int i = 0; i < max_safe_fds / 3; i++)
		AllocateDir(".");
	PG_RETURN_VOID();
}
