// A temporary file that one process of a parallel query writes and another one reads. It carries
// what would take too much memory in a message.
//
// It counts against the writer's temp_file_limit and lies in one of temp_tablespaces, in a
// directory that is named after the leader. The process that reads it deletes it. Files that nobody
// read, because an error or LIMIT ended the query, are deleted by the leader when its transaction
// ends, because its workers are gone then. After a crash the server deletes them when it starts,
// like all temporary files.
#ifndef BLOOMFILTER_PG_AGGREGATE_SHARED_FILE_HPP
#define BLOOMFILTER_PG_AGGREGATE_SHARED_FILE_HPP

#include "pg/server.hpp"

extern "C" {
#include "storage/buffile.h"
#include "storage/fileset.h"
#include "utils/palloc.h"
#include "utils/resowner.h"
}

namespace bloomfilter {

// What another process needs to find a file.
struct SharedFileName {
  Oid tablespace;
  int writer; // its process number
  uint32 number;
};

struct SharedFile {
  BufFile *file;
  SharedFileName name;
  FileSet directory; // which the file points to
};

// Registers what deletes files that were left behind.
void define_shared_files();

// Tells that files of this transaction may be left behind, because it reads or writes some. A
// worker leaves it to the leader to delete them.
void expect_shared_files();

// Opens a file by open(), in a memory context and for a resource owner, which closes it on an
// error.
template <typename Open> BufFile *open_for(MemoryContext context, ResourceOwner owner, Open open) {
  const MemoryContext context_before = MemoryContextSwitchTo(context);
  const ResourceOwner owner_before = CurrentResourceOwner;
  CurrentResourceOwner = owner;
  BufFile *file = open();
  CurrentResourceOwner = owner_before;
  MemoryContextSwitchTo(context_before);
  return file;
}

SharedFile *create_shared_file(MemoryContext context, ResourceOwner owner);

// Completes a written file, so that its reader can open it.
void publish_shared_file(SharedFile *shared);
SharedFile *open_shared_file(MemoryContext context, ResourceOwner owner,
                             const SharedFileName &name);

// Deletes a file, which may be open.
void delete_shared_file(SharedFile *shared);

} // namespace bloomfilter

#endif
