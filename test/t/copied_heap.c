/*
 * For test/t/023_scan.pl: a table access method that works as heap does but is not heap. It is
 * written in C because it is no part of the extension.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "catalog/pg_am_d.h"
#include "fmgr.h"

PG_MODULE_MAGIC;

/* Values that are too long for a row are stored in a TOAST table that heap's own code can read. */
static Oid
toast_am(Relation rel)
{
	return HEAP_TABLE_AM_OID;
}

PG_FUNCTION_INFO_V1(copied_heap);
Datum
copied_heap(PG_FUNCTION_ARGS)
{
	static TableAmRoutine routine;

	routine = *GetHeapamTableAmRoutine();
	routine.relation_toast_am = toast_am;
	PG_RETURN_POINTER(&routine);
}
