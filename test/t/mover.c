/*
 * For test/t/036_filter_index.pl: takes the lock of a filter index that a session holds while it
 * moves rows into groups. The lock is kept until the transaction ends. lock_moves() in
 * src/pg/filter_index/pages.cpp takes the same lock.
 */
#include "postgres.h"

#include "fmgr.h"
#include "access/relation.h"
#include "storage/itemptr.h"
#include "storage/lmgr.h"
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
