// See shared_file.hpp. Most of this code deletes files that nobody read. It runs in callbacks at
// the end of a transaction. The callbacks must not raise an error, because they also run while a
// transaction aborts.

#include "pg/aggregate/shared_file.hpp"

#include "pg/list.hpp"

#include <dirent.h>
#include <unistd.h>

extern "C" {
#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/pg_tablespace_d.h"
#include "commands/tablespace.h"
#include "common/file_utils.h"
#include "executor/executor.h"
#include "storage/fd.h"
#include "storage/proc.h"
#include "utils/memutils.h"
}

namespace bloomfilter {
namespace {

// The number of the leader's file set. The server numbers its own file sets below INT_MAX, so none
// of them has this number.
constexpr uint32 kDirectory = 0xB100F17E;

// True if unread files may exist. Then the end of the transaction deletes them, also if it commits.
bool may_be_left_behind;

const PGPROC *leader() {
  return MyProc->lockGroupLeader ? MyProc->lockGroupLeader : MyProc;
}

FileSet directory_in(Oid tablespace) {
  FileSet directory = {};
  directory.creator_pid = leader()->pid;
  directory.number = kDirectory;
  directory.ntablespaces = 1;
  directory.tablespaces[0] = tablespace;
  return directory;
}

// Calls use(directory, name) for each file in a directory, or never if the directory does not
// exist. Returns false if the directory cannot be opened.
//
// The server's own functions are not used, because they raise an error if this process has too many
// directories open. An error while a transaction aborts would leave locks that outlive the session.
template <typename Use> bool for_each_file(const char *path, Use use) {
  ReserveExternalFD(); // closes other files of the server if there are too many
  DIR *directory = opendir(path);
  if (directory) {
    while (const dirent *entry = readdir(directory))
      if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
        use(directory, entry->d_name);
    closedir(directory);
  }
  const bool done = directory || errno == ENOENT;
  if (!done)
    ereport(LOG, (errcode_for_file_access(), errmsg("could not open directory \"%s\": %m", path)));
  ReleaseExternalFD();
  return done;
}

// Deletes the leader's directory in a tablespace, like FileSetDeleteAll(). Returns false if the
// directory may still exist.
bool delete_directory(Oid tablespace) {
  char parent[MAXPGPATH], path[MAXPGPATH];
  TempTablespacePath(parent, tablespace);
  snprintf(path, sizeof path, "%s/%s%d.%u.fileset", parent, PG_TEMP_FILE_PREFIX, leader()->pid,
           kDirectory);
  if (!for_each_file(path, [](DIR *all, const char *name) { unlinkat(dirfd(all), name, 0); }))
    return false;
  if (rmdir(path) == 0 || errno == ENOENT)
    return true;
  ereport(LOG, (errcode_for_file_access(), errmsg("could not remove directory \"%s\": %m", path)));
  return false;
}

// Deletes the leader's directories in all tablespaces. It does not look only at temp_tablespaces,
// because an aborting transaction cannot look up the tablespaces' names. If a directory cannot be
// deleted, the end of the next transaction tries again.
void delete_directories() {
  bool all = delete_directory(DEFAULTTABLESPACE_OID);
  const bool found = for_each_file("pg_tblspc", [&all](DIR *, const char *name) {
    if (const Oid tablespace = atooid(name))
      all &= delete_directory(tablespace);
  });
  may_be_left_behind = !found || !all;
}

// Deletes unread files when a leader's transaction ends. Workers may have written files that their
// leader does not know of yet. So if a transaction aborts, each leader of a lock group looks for
// files. A process that had workers once stays the leader of its lock group. So all its later
// aborts look for files, too, which is a small waste.
void end_transaction(XactEvent event, void *) {
  if (event == XACT_EVENT_ABORT ? may_be_left_behind || MyProc->lockGroupLeader == MyProc
                                : may_be_left_behind && (event == XACT_EVENT_PRE_COMMIT ||
                                                         event == XACT_EVENT_PRE_PREPARE))
    delete_directories();
}

// Only notes that unread files may exist. They are deleted at the end of the transaction, because
// the transaction may still use other files in the same directory.
void end_subtransaction(SubXactEvent event, SubTransactionId, SubTransactionId, void *) {
  if (event == SUBXACT_EVENT_ABORT_SUB && MyProc->lockGroupLeader == MyProc)
    may_be_left_behind = true;
}

struct Text {
  char text[32];
};

Text text_of(const SharedFileName &name) {
  Text text;
  snprintf(text.text, sizeof text.text, "%d.%u", name.writer, name.number);
  return text;
}

SharedFile *make_shared_file(MemoryContext context, const SharedFileName &name) {
  auto *shared = make_zeroed<SharedFile>(context);
  shared->name = name;
  shared->directory = directory_in(name.tablespace);
  return shared;
}

} // namespace

void define_shared_files() {
  RegisterXactCallback(end_transaction, nullptr);
  RegisterSubXactCallback(end_subtransaction, nullptr);
}

void expect_shared_files() {
  may_be_left_behind = !IsParallelWorker();
}

SharedFile *create_shared_file(MemoryContext context, ResourceOwner owner) {
  static uint32 files = 0;
  // A file's name is the process ID and this number. A later worker of the same transaction may get
  // this worker's process ID, but its start time differs. So it counts from another number.
  const uint32 number = static_cast<uint32>(MyStartTimestamp) + files++;
  PrepareTempTablespaces();
  const Oid tablespace = GetNextTempTableSpace();
  SharedFile *shared = make_shared_file(
      context, {OidIsValid(tablespace) ? tablespace : MyDatabaseTableSpace, MyProcPid, number});
  expect_shared_files();
  shared->file = open_for(context, owner, [shared] {
    return BufFileCreateFileSet(&shared->directory, text_of(shared->name).text);
  });
  return shared;
}

SharedFileName give_shared_file(SharedFile *shared) {
  BufFileClose(shared->file);
  const SharedFileName name = shared->name;
  pfree(shared);
  return name;
}

SharedFile *open_shared_file(MemoryContext context, ResourceOwner owner,
                             const SharedFileName &name) {
  SharedFile *shared = make_shared_file(context, name);
  shared->file = open_for(context, owner, [shared, &name] {
    return BufFileOpenFileSet(&shared->directory, text_of(name).text, O_RDONLY, false);
  });
  return shared;
}

void delete_shared_file(SharedFile *shared) {
  BufFileDeleteFileSet(&shared->directory, text_of(shared->name).text, false);
}

// The query frees its context for single rows last, after all plan nodes have closed their files.
// After an error it does not call the callback, and the end of the transaction deletes the file.
void delete_with_query(EState *query, const SharedFileName &name) {
  const auto remove = [](Datum argument) {
    auto *shared = reinterpret_cast<SharedFile *>(DatumGetPointer(argument));
    BufFileDeleteFileSet(&shared->directory, text_of(shared->name).text, true);
  };
  RegisterExprContextCallback(GetPerTupleExprContext(query), remove,
                              PointerGetDatum(make_shared_file(query->es_query_cxt, name)));
}

} // namespace bloomfilter
