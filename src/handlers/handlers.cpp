// The handlers of the index access methods "bloomfilter" and "bloompages". They are a library of
// their own, bloomfilter_handlers, which is small.
//
// A handler tells the server what an access method can do, and its callbacks. From PostgreSQL 18
// on, the planner asks for that whenever a query has an operator of one of the method's operator
// families. bloompages has the `=` of all types, so nearly every session of a database with the
// extension calls its handler. It must not load the whole library for that: loading takes a
// millisecond and some hundred kilobytes. Also, if that library cannot be loaded, queries without
// filters still work, and so do \d, pg_dump and DROP EXTENSION.
//
// So what a method can do is written here, and each callback of a handler loads the library of the
// extension when it is called first. A session may have loaded this library before an update, and
// loads the other one after it. What they know of each other must therefore stay: the names of the
// two functions that return the callbacks.
//
// What loading costs is the pages that a new process touches. The dynamic linker looks for a symbol
// in the server and then in each of its libraries. So this library has no symbol of the C library,
// nor those that start files bring, and is bound lazily (see Makefile).

#include "pg/server.hpp"

#include "pg/bloompages/columns.hpp"
#include "pg/filter_index/access_method.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "commands/vacuum.h"
#include "utils/syscache.h"
}

using namespace bloomfilter;

namespace {

struct FilterIndex {
  static constexpr const char *kCallbacks = "bloomfilter_index_callbacks";
};
struct PagesIndex {
  static constexpr const char *kCallbacks = "bloomfilter_pages_callbacks";
};

// Loads the library of the extension, and returns the callbacks of an access method. The SQL
// function of the handler names this library, `name_handlers`, and the other SQL functions of the
// extension name that one, `name`.
const IndexAmRoutine *load_callbacks(Oid handler, const char *function) {
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(handler));
  if (!HeapTupleIsValid(tuple))
    elog(ERROR, "cache lookup failed for function %u", handler);
  bool is_null;
  const text *own = DatumGetTextPP(SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_probin, &is_null));
  const char *library = pnstrdup(VARDATA_ANY(own), VARSIZE_ANY_EXHDR(own) - strlen("_handlers"));
  ReleaseSysCache(tuple);
  auto *callbacks_of = reinterpret_cast<const IndexAmRoutine *(*)()>(
      load_external_function(library, function, true, nullptr));
  return callbacks_of();
}

// What is known of an access method: the OID of its handler, which the server called last, and its
// callbacks, or NULL before the first call of one.
template <typename Method> Oid handler_of;
template <typename Method> const IndexAmRoutine *callbacks_of() {
  static const IndexAmRoutine *callbacks;
  if (unlikely(!callbacks))
    callbacks = load_callbacks(handler_of<Method>, Method::kCallbacks);
  return callbacks;
}

// A callback of an access method: calls the function that the library has in the same field.
template <typename Method, auto kField> struct Callback;
template <typename Method, typename Result, typename... Arguments,
          Result (*IndexAmRoutine::*kField)(Arguments...)>
struct Callback<Method, kField> {
  static Result call(Arguments... arguments) {
    return (callbacks_of<Method>()->*kField)(arguments...);
  }
};

// The routine that a handler fills. Its fields are false or NULL. The server keeps a pointer to it
// from 19 on, so it is `kept` there; before, the server copies and frees it.
template <typename Method>
IndexAmRoutine *new_routine(FunctionCallInfo fcinfo, IndexAmRoutine *kept) {
  handler_of<Method> = fcinfo->flinfo->fn_oid;
#if PG_VERSION_NUM >= 190000
  NodeSetTag(kept, T_IndexAmRoutine);
  return kept;
#else
  (void)kept;
  return makeNode(IndexAmRoutine);
#endif
}

} // namespace

#define FORWARD(method, field) routine->field = Callback<method, &IndexAmRoutine::field>::call

SQL_FUNCTIONS_BEGIN

#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "bloomfilter_handlers", .version = CppAsString2(BLOOMFILTER_VERSION));
#else
PG_MODULE_MAGIC;
#endif

// The index over stored filters has one column and one operator (@>>). It supports plain and bitmap
// scans, but no ORDER BY, no parallel scans, no index-only scans and no uniqueness. VACUUM may
// process several indexes of a table in parallel.
SQL_FUNCTION(bloomfilter_index_handler) {
  static IndexAmRoutine kept;
  IndexAmRoutine *routine = new_routine<FilterIndex>(fcinfo, &kept);
  routine->amstrategies = 1;
  routine->amsupport = kOptionsFunction;
  routine->amoptsprocnum = kOptionsFunction;
  routine->amusemaintenanceworkmem = true;
  routine->amparallelvacuumoptions =
      VACUUM_OPTION_PARALLEL_BULKDEL | VACUUM_OPTION_PARALLEL_CLEANUP;
  routine->amkeytype = InvalidOid;
  FORWARD(FilterIndex, ambuild);
  FORWARD(FilterIndex, ambuildempty);
  FORWARD(FilterIndex, aminsert);
  FORWARD(FilterIndex, ambulkdelete);
  FORWARD(FilterIndex, amvacuumcleanup);
  FORWARD(FilterIndex, amcostestimate);
  FORWARD(FilterIndex, amoptions);
  FORWARD(FilterIndex, amvalidate);
  FORWARD(FilterIndex, ambeginscan);
  FORWARD(FilterIndex, amrescan);
  FORWARD(FilterIndex, amgettuple);
  FORWARD(FilterIndex, amgetbitmap);
  FORWARD(FilterIndex, amendscan);
  PG_RETURN_POINTER(routine);
}

// The index of filters of heap pages has one or more columns or expressions, and its operators are
// those of their operator classes (pg/bloompages/columns.hpp). It supports bitmap scans only. It
// has no ORDER BY, no uniqueness, no INCLUDE and no index-only scans.
SQL_FUNCTION(bloomfilter_pages_handler) {
  static IndexAmRoutine kept;
  IndexAmRoutine *routine = new_routine<PagesIndex>(fcinfo, &kept);
  routine->amstrategies = 0; // each operator class has its own, as in GIN
  routine->amsupport = kSupportFunctions;
  routine->amstorage = true;
  routine->amcanmulticol = true;
  routine->amoptionalkey = true;
#if PG_VERSION_NUM >= 160000
  routine->amsummarizing = true;
#endif
#if PG_VERSION_NUM >= 170000
  routine->amcanbuildparallel = true;
#endif
  routine->amkeytype = InvalidOid;
  FORWARD(PagesIndex, ambuild);
  FORWARD(PagesIndex, ambuildempty);
  FORWARD(PagesIndex, aminsert);
  FORWARD(PagesIndex, ambulkdelete);
  FORWARD(PagesIndex, amvacuumcleanup);
  FORWARD(PagesIndex, amcostestimate);
  FORWARD(PagesIndex, amoptions);
  FORWARD(PagesIndex, amvalidate);
  FORWARD(PagesIndex, ambeginscan);
  FORWARD(PagesIndex, amrescan);
  FORWARD(PagesIndex, amgetbitmap);
  FORWARD(PagesIndex, amendscan);
  PG_RETURN_POINTER(routine);
}

SQL_FUNCTIONS_END
