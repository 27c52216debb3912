// A temporary file that one process of a parallel query writes and another one reads. It carries
// data that would take too much memory in a message.
//
// The file counts against the writer's temp_file_limit. It lies in one of temp_tablespaces, in a
// directory that is named after the leader. The process that reads the file deletes it: once it has
// read it, or, if it may have to read it again, when its query ends. If an error or LIMIT ends the
// query early, some files may never be read. The leader deletes these when its transaction ends,
// because its workers are gone then. After a crash, the server deletes the files when it starts,
// like all temporary files.
#pragma once

#include "pg/server.hpp"

extern "C" {
#include "nodes/execnodes.h"
#include "storage/buffile.h"
#include "storage/fileset.h"
#include "utils/palloc.h"
#include "utils/resowner.h"
}

namespace bloomfilter {

// What another process needs to find a file.
struct SharedFileName {
  Oid tablespace;
  int writer; // the process ID of the writer
  uint32 number;
};

struct SharedFile {
  BufFile *file;
  SharedFileName name;
  FileSet directory; // the file has a pointer to this field
};

// Registers the callbacks that delete unread files when a transaction ends.
void define_shared_files();

// Notes that this transaction may read or write shared files, so that unread files are looked for
// when it ends. A worker does not look for them: the leader deletes them.
void expect_shared_files();

// Opens a file by open(), in a memory context and for a resource owner. The resource owner closes
// the file on an error.
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

// Closes a written file, so that another process can open it, and frees it. Returns its name.
SharedFileName give_shared_file(SharedFile *shared);

SharedFile *open_shared_file(MemoryContext context, ResourceOwner owner,
                             const SharedFileName &name);

// Deletes a file. It may be open.
void delete_shared_file(SharedFile *shared);

// Deletes a file when the query ends. May be called more than once for a file.
void delete_with_query(EState *query, const SharedFileName &name);

} // namespace bloomfilter
