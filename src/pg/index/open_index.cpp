// See open_index.hpp. The functions are bf_index_info(), bf_index_check() and bf_index_tidy().

#include "pg/index/open_index.hpp"

#include "pg/compat.hpp"
#include "pg/index/access_method.hpp"

extern "C" {
#include "access/relation.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
}

namespace bloomfilter {
namespace {

void check_owner(Oid index) {
  if (!object_ownercheck(RelationRelationId, index, GetUserId()))
    aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, get_rel_name(index));
}

} // namespace

OpenIndex open_index(Oid oid, LOCKMODE mode) {
  // The table is locked before its index, as the server does it, to avoid deadlocks.
  const Oid table =
      get_rel_relkind(oid) == RELKIND_INDEX ? IndexGetRelation(oid, true) : InvalidOid;
  OpenIndex open = {};
  GetUserIdAndSecContext(&open.user, &open.context);
  open.nest_level = NewGUCNestLevel();
  if (OidIsValid(table)) {
    check_owner(oid);
    open.table = table_open(table, mode);
    SetUserIdAndSecContext(open.table->rd_rel->relowner,
                           open.context | SECURITY_RESTRICTED_OPERATION);
    RestrictSearchPath();
  }
  open.index = relation_open(oid, mode);
  if (!open.table || open.index->rd_indam->ambuild != build_index)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                    errmsg("\"%s\" is not an index of access method \"%s\"",
                           RelationGetRelationName(open.index), "bloomfilter")));
  if (RELATION_IS_OTHER_TEMP(open.index))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("cannot access temporary indexes of other sessions")));
  if (!open.index->rd_index->indisvalid)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("index \"%s\" is not valid", RelationGetRelationName(open.index)),
                    errhint("Unless it is being built, rebuild it with REINDEX INDEX.")));
  return open;
}

void close_index(const OpenIndex &open, LOCKMODE mode) {
  relation_close(open.index, mode);
  table_close(open.table, mode);
  AtEOXact_GUC(false, open.nest_level);
  SetUserIdAndSecContext(open.user, open.context);
}

void check_not_in_recovery() {
  if (RecoveryInProgress())
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("recovery is in progress"),
             errhint("Call this function on the primary server.")));
}

} // namespace bloomfilter
