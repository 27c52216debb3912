// Whether an operator class is one that the access method can use.

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

void report(const char *problem) {
  ereport(INFO, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
                 errmsg("operator class of access method \"%s\" %s", "bloomfilter", problem)));
}

} // namespace

// It has the functions that make probes, and the one operator whose right side is a probe.
bool validate_class(Oid operator_class) {
  HeapTuple tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(operator_class));
  if (!HeapTupleIsValid(tuple))
    elog(ERROR, "cache lookup failed for operator class %u", operator_class);
  const auto *entry = reinterpret_cast<Form_pg_opclass>(GETSTRUCT(tuple));
  const Oid family = entry->opcfamily, type = entry->opcintype;
  ReleaseSysCache(tuple);

  const Oid of_value = get_opfamily_proc(family, type, type, 1);
  const Oid of_literal = get_opfamily_proc(family, type, type, 2);
  if (!OidIsValid(of_value) || !OidIsValid(of_literal) ||
      get_func_rettype(of_value) != get_func_rettype(of_literal)) {
    report("lacks the functions that make what it is asked for");
    return false;
  }
  const Oid operation = get_opfamily_member(family, type, get_func_rettype(of_value), 1);
  if (!OidIsValid(operation) || get_op_rettype(operation) != BOOLOID) {
    report("lacks its operator");
    return false;
  }
  return true;
}

} // namespace bloomfilter
