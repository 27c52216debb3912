// The handler of the index access method "bloomfilter": tells the server what the method can do,
// and which functions do it.
//
// An index has one column and one operator (@>>). It supports plain and bitmap scans, but no
// ORDER BY, no parallel scans, no index-only scans and no uniqueness. VACUUM may process several
// indexes of a table in parallel.

#include "pg/index/access_method.hpp"
#include "pg/index/options.hpp"

extern "C" {
#include "commands/vacuum.h"
}

using namespace bloomfilter;

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(bloomfilter_index_handler);
Datum bloomfilter_index_handler(PG_FUNCTION_ARGS) {
  (void)fcinfo;
#if PG_VERSION_NUM >= 190000 // the server keeps a pointer to the routine
  static IndexAmRoutine routine;
  IndexAmRoutine *method = &routine;
  NodeSetTag(method, T_IndexAmRoutine);
#else // the server copies the routine and frees it
  IndexAmRoutine *method = makeNode(IndexAmRoutine);
#endif
  // Fields that are not set here are false or NULL.
  method->amstrategies = 1;
  method->amsupport = kOptionsFunction;
  method->amoptsprocnum = kOptionsFunction;
  method->amusemaintenanceworkmem = true;
  method->amparallelvacuumoptions = VACUUM_OPTION_PARALLEL_BULKDEL | VACUUM_OPTION_PARALLEL_CLEANUP;
  method->amkeytype = InvalidOid;
  method->ambuild = build_index;
  method->ambuildempty = build_empty;
  method->aminsert = insert_row;
  method->ambulkdelete = bulk_delete;
  method->amvacuumcleanup = vacuum_cleanup;
  method->amcostestimate = estimate_cost;
  method->amoptions = index_options;
  method->amvalidate = validate_class;
  method->ambeginscan = begin_scan;
  method->amrescan = rescan;
  method->amgettuple = next_row;
  method->amgetbitmap = all_rows;
  method->amendscan = end_scan;
  PG_RETURN_POINTER(method);
}

SQL_FUNCTIONS_END
