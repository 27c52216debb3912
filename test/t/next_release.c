/*
 * For test/t/034_update.pl: the library of a release after this one. It has one function more, and
 * all the others from the library that it is linked with.
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
