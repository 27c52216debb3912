// See function.hpp.

#include "pg/query/function.hpp"

#include "pg/compat.hpp"

extern "C" {
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "utils/acl.h"
}

namespace bloomfilter {

PGFunction code_of(Oid function) {
  FmgrInfo info;
  fmgr_info(function, &info);
  return info.fn_addr;
}

bool may_call(Oid function) {
  return object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
}

} // namespace bloomfilter
