// Checks whether the access method can use an opclass (amvalidate), and refuses columns that are no
// filters.
//
// A usable opclass has functions that make probes, and the operator @>>. One opclass, for all other
// types, has only function 5, which raises an error with a hint.

#include "pg/index/access_method.hpp"

extern "C" {
#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace bloomfilter {
namespace {

constexpr int kNeededFunctions = 2;

void report(const char *problem) {
  ereport(INFO, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
                 errmsg("operator class of access method \"%s\" %s", "bloomfilter", problem)));
}

} // namespace

// An opclass is valid in two cases. Either it has function 5, which refuses its columns. Or it has
// the functions that make probes, and one operator whose right operand is a probe. The functions
// for values and for literals are required.
bool validate_class(Oid operator_class) {
  HeapTuple tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(operator_class));
  if (!HeapTupleIsValid(tuple))
    elog(ERROR, "cache lookup failed for operator class %u", operator_class);
  const auto *entry = reinterpret_cast<Form_pg_opclass>(GETSTRUCT(tuple));
  const Oid family = entry->opcfamily, type = entry->opcintype;
  ReleaseSysCache(tuple);
  if (OidIsValid(get_opfamily_proc(family, type, type, kOptionsFunction)))
    return true;

  Oid probe = InvalidOid;
  for (int number = 1; number <= kProbeFunctions; number++) {
    const Oid make = get_opfamily_proc(family, type, type, static_cast<int16>(number));
    if (number == 1 && OidIsValid(make))
      probe = get_func_rettype(make);
    if (OidIsValid(make) ? get_func_rettype(make) != probe : number <= kNeededFunctions) {
      report("lacks the functions that make what it is asked for");
      return false;
    }
  }
  const Oid operation = get_opfamily_member(family, type, probe, 1);
  if (!OidIsValid(operation) || get_op_rettype(operation) != BOOLOID) {
    report("lacks its operator");
    return false;
  }
  return true;
}

} // namespace bloomfilter

using namespace bloomfilter;

SQL_FUNCTIONS_BEGIN

PG_FUNCTION_INFO_V1(bloomfilter_unindexed);
Datum bloomfilter_unindexed(PG_FUNCTION_ARGS) {
  (void)fcinfo;
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
                  errmsg("access method \"%s\" takes only columns of type bloomfilter or "
                         "countingbloomfilter",
                         "bloomfilter"),
                  errhint("To index a column of values, use another access method, such as btree "
                          "or hash.")));
}

SQL_FUNCTIONS_END
