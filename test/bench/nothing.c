/*
 * The floor of any extension's work: an aggregate and a function that do nothing. They are called
 * like bf_agg() and bf_contains(). They are in C, because they are not part of the extension.
 */
#include "postgres.h"

#include "fmgr.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(nothing_trans);
Datum
nothing_trans(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_POINTER(palloc0(sizeof(int64)));
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

PG_FUNCTION_INFO_V1(nothing_final);
Datum
nothing_final(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(0);
}

PG_FUNCTION_INFO_V1(nothing_contains);
Datum
nothing_contains(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(true);
}
