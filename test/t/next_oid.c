/*
 * For test/t/017_toast_ids.pl: sets the server's counter of OIDs, as if the counter had wrapped
 * around. It is written in C because it is no part of the extension.
 */
#include "postgres.h"

#include "access/transam.h"
#include "fmgr.h"
#include "storage/lwlock.h"

#if PG_VERSION_NUM < 170000
#define TransamVariables ShmemVariableCache
#endif

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(set_next_oid);
Datum
set_next_oid(PG_FUNCTION_ARGS)
{
	LWLockAcquire(OidGenLock, LW_EXCLUSIVE);
	TransamVariables->nextOid = PG_GETARG_OID(0);
	TransamVariables->oidCount = 0;
	LWLockRelease(OidGenLock);
	PG_RETURN_VOID();
}
