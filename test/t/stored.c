/*
 * For test/t/037_release.pl: stored_bytes() returns the bytes that a table stores for a value, and
 * value_of() makes a value from such bytes.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/lsyscache.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

PG_MODULE_MAGIC;

/* Returns the length of the values of an argument's type, or -1 if it differs from value to value. */
static int
length_of_argument(FunctionCallInfo fcinfo, int number)
{
	int16		length;
	bool		by_value;

	get_typlenbyval(get_fn_expr_argtype(fcinfo->flinfo, number), &length, &by_value);
	if (by_value || length < -1)
		elog(ERROR, "values of this type are not kept by reference");
	return length;
}

/* stored_bytes(value anyelement) RETURNS bytea */
PG_FUNCTION_INFO_V1(stored_bytes);

Datum
stored_bytes(PG_FUNCTION_ARGS)
{
	int			length = length_of_argument(fcinfo, 0);
	bytea	   *bytes;

	if (length == -1)
		PG_RETURN_BYTEA_P(PG_GETARG_BYTEA_P_COPY(0));
	bytes = palloc(VARHDRSZ + length);
	SET_VARSIZE(bytes, VARHDRSZ + length);
	memcpy(VARDATA(bytes), PG_GETARG_POINTER(0), length);
	PG_RETURN_BYTEA_P(bytes);
}

/* value_of(bytes bytea, a_value anyelement) RETURNS anyelement */
PG_FUNCTION_INFO_V1(value_of);

Datum
value_of(PG_FUNCTION_ARGS)
{
	int			length = length_of_argument(fcinfo, 1);
	bytea	   *bytes = PG_GETARG_BYTEA_P_COPY(0);

	if (length == -1)
		PG_RETURN_BYTEA_P(bytes);
	if (VARSIZE(bytes) != VARHDRSZ + length)
		elog(ERROR, "these are not the bytes of such a value");
	PG_RETURN_POINTER(VARDATA(bytes));
}
