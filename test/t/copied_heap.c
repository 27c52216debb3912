/*
 * For test/t/023_scan.pl: a table access method that does what heap does, and is another one. In C, as it is
 * no part of the extension.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "fmgr.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(copied_heap);
Datum
copied_heap(PG_FUNCTION_ARGS)
{
	static TableAmRoutine routine;

	routine = *GetHeapamTableAmRoutine();
	PG_RETURN_POINTER(&routine);
}
