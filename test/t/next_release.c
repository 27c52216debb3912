/*
 * For test/t/034_update.pl: the library of a pretended next release. It adds the function bf_next.
 * All other functions come from the library of this release, with which it is linked.
 */
#include "postgres.h"

#include "fmgr.h"

PG_MODULE_MAGIC;

extern Datum bf_count(PG_FUNCTION_ARGS);

PG_FUNCTION_INFO_V1(bf_next);

Datum
bf_next(PG_FUNCTION_ARGS)
{
	return bf_count(fcinfo);
}
