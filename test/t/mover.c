/*
 * Functions for test/t/036_filter_index.pl, which lock parts of an index:
 *
 * - hold_mover(index) takes the lock that a session holds while it moves rows into groups. The lock
 *   is kept until the transaction ends. lock_work() in src/pg/index_page.cpp takes the same lock.
 * - hold_page(index, block) locks a page, waits for advisory lock 1, and unlocks the page.
 */
#include "postgres.h"

#include "fmgr.h"
#include "access/relation.h"
#include "storage/bufmgr.h"
#include "storage/itemptr.h"
#include "storage/lmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/rel.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(hold_mover);

Datum
hold_mover(PG_FUNCTION_ARGS)
{
	Relation	index = relation_open(PG_GETARG_OID(0), AccessShareLock);
	ItemPointerData tag;

	ItemPointerSet(&tag, 0, 1);
	LockTuple(index, &tag, ExclusiveLock);
	relation_close(index, NoLock);
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(hold_page);

Datum
hold_page(PG_FUNCTION_ARGS)
{
	Relation	index = relation_open(PG_GETARG_OID(0), AccessShareLock);
	Buffer		buffer = ReadBuffer(index, PG_GETARG_INT32(1));

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	DirectFunctionCall1(pg_advisory_xact_lock_int8, Int64GetDatum(1));
	UnlockReleaseBuffer(buffer);
	relation_close(index, NoLock);
	PG_RETURN_VOID();
}
