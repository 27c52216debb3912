// The SQL functions for the owner of an index of one of our access methods: bf_index_info(),
// bf_index_check() and bf_index_tidy().
//
// They evaluate the index's expressions as the table's owner (pg/index_page.hpp). A partitioned
// index has no pages. bf_index_check() and bf_index_tidy() work on the index of each partition
// instead.

#include "pg/server.hpp"

#include "pg/compat.hpp"
#include "pg/filter_index/inspect.hpp"
#include "pg/list.hpp"
#include "pg/index_page.hpp"
#include "pg/bloompages/inspect.hpp"
#include "pg/value/result_row.hpp"

extern "C" {
#include "access/relation.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

using namespace bloomfilter;

namespace {

void check_owner(Oid index) {
  if (!object_ownercheck(RelationRelationId, index, GetUserId()))
    aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, get_rel_name(index));
}

bool is_ours(Relation index) {
  return is_filter_index(index) || is_range_index(index);
}

[[noreturn]] void raise_not_ours(Relation relation) {
  ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                  errmsg("\"%s\" is not an index of access method \"%s\" or \"%s\"",
                         RelationGetRelationName(relation), "bloomfilter", "bloompages"),
                  relation->rd_rel->relkind == RELKIND_INDEX ||
                          relation->rd_rel->relkind == RELKIND_PARTITIONED_INDEX
                      ? 0
                      : errhint("Give the name of an index of the table.")));
}

struct OpenIndex {
  Relation table, index;
  CallerRights caller; // restored by close_index()
};

// Raises 42809 if `oid` is no index of our access methods, 42501 if the user does not own it, and
// 0A000 if it is another session's temporary index. Raises 55000 if the index is not valid: while
// it is built CONCURRENTLY, some of its pages are missing.
OpenIndex open_index(Oid oid, LOCKMODE mode) {
  // The table is locked before its index, as the server does it, to avoid deadlocks.
  const Oid table =
      get_rel_relkind(oid) == RELKIND_INDEX ? IndexGetRelation(oid, true) : InvalidOid;
  OpenIndex open = {};
  if (OidIsValid(table)) {
    check_owner(oid);
    open.table = table_open(table, mode);
    open.caller = act_as_owner(open.table);
  }
  open.index = relation_open(oid, mode);
  if (!open.table || !is_ours(open.index))
    raise_not_ours(open.index);
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
  act_as_caller(open.caller);
}

bool is_partitioned(Oid oid) {
  return get_rel_relkind(oid) == RELKIND_PARTITIONED_INDEX;
}

// Raises the errors of open_index() that also a partitioned index can give. The partitioned table
// is locked until the transaction ends, so that no partition is dropped meanwhile.
void check_partitioned(Oid oid) {
  check_owner(oid);
  LockRelationOid(IndexGetRelation(oid, false), AccessShareLock);
  Relation index = relation_open(oid, AccessShareLock);
  if (!is_ours(index))
    raise_not_ours(index);
  relation_close(index, NoLock);
}

// The indexes of all partitions that a partitioned index consists of.
List *indexes_of_partitions(Oid oid) {
  check_partitioned(oid);
  List *indexes = NIL;
  ListCell *cell;
  foreach (cell, find_all_inheritors(oid, NoLock, nullptr))
    if (!is_partitioned(lfirst_oid(cell)))
      indexes = lappend_oid(indexes, lfirst_oid(cell));
  return indexes;
}

// Calls use(open index) for an index, or for the index of each partition.
template <typename Use> void for_each_index(Oid oid, LOCKMODE mode, Use use) {
  List *indexes = is_partitioned(oid) ? indexes_of_partitions(oid) : list_make1_oid(oid);
  ListCell *cell;
  foreach (cell, indexes) {
    CHECK_FOR_INTERRUPTS();
    const OpenIndex open = open_index(lfirst_oid(cell), mode);
    use(open);
    close_index(open, mode);
  }
}

// Raises 42809. The numbers of several indexes have no sum: their rates and pages differ.
[[noreturn]] void raise_partitioned(Oid oid) {
  check_partitioned(oid);
  const char *name = get_rel_name(oid);
  ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("index \"%s\" is partitioned", name),
                  errhint("Ask for the index of each partition: SELECT relid, info.* FROM "
                          "pg_partition_tree(%s) JOIN LATERAL bf_index_info(relid) info ON isleaf.",
                          quote_literal_cstr(quote_qualified_identifier(
                              get_namespace_name(get_rel_namespace(oid)), name)))));
}

// Raises 55000 on a standby.
void check_not_in_recovery() {
  if (RecoveryInProgress())
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("recovery is in progress"),
             errhint("Call this function on the primary server.")));
}

// Adds the columns that only a filter index has.
void add_filters(ResultRow *row, const OpenIndex &open) {
  const bool has = is_filter_index(open.index);
  const FilterIndexInfo info = has ? filter_index_info(open.index) : FilterIndexInfo{};
  row->add_if(has, Int64GetDatum(info.groups));
  row->add_if(has, Int64GetDatum(info.grouped));
  row->add_if(has, Int64GetDatum(info.pending));
  row->add_if(has, Int64GetDatum(info.loose));
  row->add(Int64GetDatum(int64{RelationGetNumberOfBlocks(open.index)} * BLCKSZ));
  row->add_if(has, Int64GetDatum(info.free_pages * BLCKSZ));
}

// Adds the columns that only a bloompages index has.
void add_ranges(ResultRow *row, const OpenIndex &open) {
  const bool has = is_range_index(open.index);
  const RangeIndexInfo info = has ? range_index_info(open.table, open.index) : RangeIndexInfo{};
  row->add_if(has, Int64GetDatum(info.ranges));
  row->add_if(has, Int64GetDatum(info.ready));
  row->add_if(has, Int64GetDatum(info.tail_pages));
  row->add_if(has, Int64GetDatum(info.pages_per_range));
  row->add_if(has, Float8GetDatum(info.bits_per_value));
  row->add_if(has, Float8GetDatum(info.fill));
  row->add_if(has, Int64GetDatum(info.overfull));
  row->add_if(has, Float8GetDatum(info.false_pages));
  row->add_if(has, Float8GetDatum(info.additions));
}

} // namespace

SQL_FUNCTIONS_BEGIN

SQL_FUNCTION(bf_index_info) {
  if (is_partitioned(PG_GETARG_OID(0)))
    raise_partitioned(PG_GETARG_OID(0));
  const OpenIndex open = open_index(PG_GETARG_OID(0), AccessShareLock);
  ResultRow row(fcinfo);
  add_filters(&row, open);
  add_ranges(&row, open);
  close_index(open, AccessShareLock);
  return row.datum();
}

SQL_FUNCTION(bf_index_check) {
  check_not_in_recovery();
  for_each_index(PG_GETARG_OID(0), AccessShareLock, [](const OpenIndex &open) {
    (is_range_index(open.index) ? check_range_index : check_filter_index)(open.table, open.index);
  });
  PG_RETURN_VOID();
}

SQL_FUNCTION(bf_index_tidy) {
  check_not_in_recovery();
  for_each_index(PG_GETARG_OID(0), RowExclusiveLock, [](const OpenIndex &open) {
    (is_range_index(open.index) ? tidy_range_index : tidy_filter_index)(open.table, open.index);
  });
  PG_RETURN_VOID();
}

SQL_FUNCTIONS_END
