// See index_page.hpp.

#include "pg/index_page.hpp"

extern "C" {
#include "catalog/index.h"
#include "catalog/pg_index.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace bloomfilter {
namespace {

const char *noun_of_page(PageKind kind) {
  switch (kind) {
  case PageKind::meta:
  case PageKind::range_meta:
    return "a meta page";
  case PageKind::list:
    return "a page of the list";
  case PageKind::directory:
  case PageKind::range_directory:
    return "a page of the directory";
  case PageKind::lines:
  case PageKind::range_lines:
    break;
  }
  return "a page of lines";
}

bool is_in_c(Oid function) {
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple))
    return false;
  const Oid language = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->prolang;
  ReleaseSysCache(tuple);
  return language == INTERNALlanguageId || language == ClanguageId;
}

bool is_not_in_c(Oid function, void *) {
  return !is_in_c(function);
}

// True if an expression may call functions that are not in C. Those of a domain's conditions, and
// those that compare for GREATEST and LEAST, are not in the tree, so they count.
bool calls_other_languages(Node *node, void *) {
  return node && (IsA(node, CoerceToDomain) || IsA(node, MinMaxExpr) ||
                  check_functions_in_node(node, is_not_in_c, nullptr) ||
                  expression_tree_walker(node, calls_other_languages, nullptr));
}

} // namespace

void raise_index_damaged(Relation index, BlockNumber block, const char *what) {
  ereport(ERROR, (errcode(ERRCODE_INDEX_CORRUPTED),
                  errmsg("index \"%s\" is damaged: block %u %s", RelationGetRelationName(index),
                         block, what),
                  errhint("Rebuild the index from the table with REINDEX.")));
}

Buffer lock_right_page(Relation index, BlockNumber block, PageKind kind, BufferLockMode mode,
                       IsRight *is_right) {
  const Buffer buffer = ReadBuffer(index, block);
  LockBuffer(buffer, mode);
  if (!is_right(bytes_of(buffer), kind))
    raise_index_damaged(index, block, psprintf("is not %s", noun_of_page(kind)));
  return buffer;
}

Buffer lock_new_page(Relation index, BlockNumber block) {
  if (block >= RelationGetNumberOfBlocks(index)) {
    if (!RELATION_IS_LOCAL(index))
      LockRelationForExtension(index, ExclusiveLock);
    while (block >= RelationGetNumberOfBlocks(index))
      ReleaseBuffer(ReadBuffer(index, P_NEW));
    if (!RELATION_IS_LOCAL(index))
      UnlockRelationForExtension(index, ExclusiveLock);
  }
  return ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_ZERO_AND_LOCK, nullptr);
}

void set_used(Page page, Size bytes) {
  reinterpret_cast<PageHeader>(page)->pd_lower = static_cast<LocationIndex>(kContentAt + bytes);
}

void initialize_page(Page page, PageKind kind) {
  PageInit(page, BLCKSZ, 0);
  IndexPageHead *head = changed_head(page);
  head->magic = kIndexMagic;
  head->version = kIndexVersion;
  head->kind = kind;
  head->next = kNoBlock;
  set_used(page, kContentBytes);
}

void check_page_size(const char *access_method) {
  if (BLCKSZ < kIndexPageBytes)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("access method \"%s\" requires pages of at least %d bytes",
                           access_method, static_cast<int>(kIndexPageBytes))));
}

void check_snapshot(IndexScanDesc scan, const uint8 *page) {
#if PG_VERSION_NUM < 170000
  TestForOldSnapshot(scan->xs_snapshot, scan->indexRelation,
                     reinterpret_cast<Page>(const_cast<uint8 *>(page)));
#else
  (void)scan;
  (void)page;
#endif
}

namespace {

// The lock is a tuple lock on the meta page's first tuple, which does not exist. It is not
// a page lock, because the deadlock detector of servers up to 15.3 ignores page locks.
//
// Only VACUUM takes it in processes of one lock group. VACUUM gives an index to one process at a
// time, and its leader waits for the workers before it goes on.
ItemPointerData work_tag() {
  ItemPointerData tag;
  ItemPointerSet(&tag, kMetaBlock, FirstOffsetNumber);
  return tag;
}

bool has_work_lock(Relation index) {
  const LockRelId relation = index->rd_lockInfo.lockRelId;
  LOCKTAG lock;
  SET_LOCKTAG_TUPLE(lock, relation.dbId, relation.relId, kMetaBlock, FirstOffsetNumber);
  return LockHeldByMe(&lock, ExclusiveLock, false);
}

} // namespace

void read_seen_rows(Relation table, Relation index, Snapshot snapshot, IndexBuildCallback use,
                    void *state) {
  IndexInfo *info = BuildIndexInfo(index);
  info->ii_Concurrent = true; // makes the scan return the rows that the snapshot sees
  TableScanDesc scan = table_beginscan_strat(table, snapshot, 0, nullptr, true, true);
  (void)table_index_build_scan(table, index, info, true, false, use, state, scan);
}

void lock_work(Relation index) {
  if (has_work_lock(index))
    ereport(ERROR, (errcode(ERRCODE_OBJECT_IN_USE),
                    errmsg("index \"%s\" is being changed by this session already",
                           RelationGetRelationName(index)),
                    errhint("A function of the index must not check or tidy the index.")));
  ItemPointerData tag = work_tag();
  LockTuple(index, &tag, ExclusiveLock);
}

bool try_lock_work(Relation index) {
  ItemPointerData tag = work_tag();
  return !has_work_lock(index) && ConditionalLockTuple(index, &tag, ExclusiveLock, false);
}

void unlock_work(Relation index) {
  ItemPointerData tag = work_tag();
  UnlockTuple(index, &tag, ExclusiveLock);
}

CallerRights act_as_owner(Relation table) {
  CallerRights rights;
  GetUserIdAndSecContext(&rights.user, &rights.context);
  rights.nest_level = NewGUCNestLevel();
  SetUserIdAndSecContext(table->rd_rel->relowner, rights.context | SECURITY_RESTRICTED_OPERATION);
  RestrictSearchPath();
  return rights;
}

void act_as_caller(const CallerRights &rights) {
  AtEOXact_GUC(false, rights.nest_level);
  SetUserIdAndSecContext(rights.user, rights.context);
}

Node *stored_tree(Relation index, AttrNumber attribute) {
  bool is_null;
  const Datum tree = SysCacheGetAttr(INDEXRELID, index->rd_indextuple, attribute, &is_null);
  return is_null ? nullptr : static_cast<Node *>(stringToNode(TextDatumGetCString(tree)));
}

bool may_act_as_owner(Relation table, Relation index) {
  if (has_privs_of_role(GetUserId(), table->rd_rel->relowner))
    return true;
  constexpr AttrNumber kTrees[] = {Anum_pg_index_indexprs, Anum_pg_index_indpred};
  for (const AttrNumber attribute : kTrees) {
    Node *tree = stored_tree(index, attribute);
    fix_opfuncids(tree);
    if (calls_other_languages(tree, nullptr))
      return false;
  }
  const int functions = IndexRelationGetNumberOfKeyAttributes(index) * index->rd_indam->amsupport;
  for (int i = 0; i < functions; i++)
    if (OidIsValid(index->rd_support[i]) && !is_in_c(index->rd_support[i]))
      return false;
  return true;
}

} // namespace bloomfilter
