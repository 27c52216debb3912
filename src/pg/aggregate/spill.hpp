// Hashes of a bag that left memory: its temporary files.
//
// One file has the hashes that the bag itself moved out of memory. Beside it are files that other
// processes of the query wrote (pg/aggregate/shared_file.hpp), for the bag that takes them over.
//
// A temporary file belongs to the executor's resource owner, which closes it on an error. It must
// not belong to whoever is current when it is made: a user's final function may read the state of
// an aggregate of his own in a subtransaction, and go on when that has failed. In the regular
// course a callback closes the file when its group ends, before the group's memory is reset.
#ifndef BLOOMFILTER_PG_AGGREGATE_SPILL_HPP
#define BLOOMFILTER_PG_AGGREGATE_SPILL_HPP

#include "pg/server.hpp"

#include "pg/aggregate/hash_array.hpp"
#include "pg/aggregate/shared_file.hpp"
#include "pg/list.hpp"

extern "C" {
#include "nodes/execnodes.h"
}

namespace bloomfilter {

// How the hashes in a bag's files reach the process that the bag is serialized for.
enum class FileTransfer : uint8 {
  none, // within the serialized bag; no file goes to another process
  move, // the bag's file changes hands
  copy, // a copy does, because a rescan may ask for the serialized bag again
};

// Where an aggregate keeps a group's state, and how the state uses files.
struct GroupMemory {
  MemoryContext context;
  ExprContext *group = nullptr; // calls back when the group ends; without it, no hash leaves memory
  FileTransfer transfer = FileTransfer::none;
  ResourceOwner owner = CurrentResourceOwner; // of files that stay open between steps
};

struct FilePosition {
  int file;
  off_t offset;
};

struct HashFile {
  BufFile *file; // NULL: there is none yet
  uint64 count;
};

// A file that another process wrote.
struct TakenFile {
  HashFile hashes;
  SharedFile *shared;
  TakenFile *next;
};

struct Spill {
  GroupMemory memory; // make_spill() sets it for good
  HashFile written;   // by this process, which may go on
  FilePosition end;   // of the written file
  SharedFile *shared; // the written file, if it is to change hands
  bool given;         // it has changed hands
  TakenFile *taken;
  uint64 count; // of the hashes in all these files

  // The distinct hashes of these files in ascending order, as of when there were `sorted_count`.
  HashFile sorted;
  uint64 sorted_count;

  bool is_sorted() const { return sorted_count == count; }
};

// A spill without files. They are closed when the group ends.
Spill *make_spill(const GroupMemory &memory);

// Writes hashes to the written file.
void write_spill(Spill *spill, const uint64 *hashes, Size count);

// Lets another process have the written file, which must not change after it.
SharedFileName give_file(Spill *spill);

// Takes a file of so many hashes over.
void take_file(Spill *spill, const SharedFileName &name, uint64 count);

// Writes the distinct hashes of all files to spill->sorted. They are sorted in the array, which is
// empty before and afterwards and may grow up to `limit`, beyond it for the largest spills alone.
void sort_spill(Spill *spill, HashArray *array, Size limit);

// Appends hashes to a file.
void write_hashes(HashFile *file, const uint64 *hashes, Size count);

// Returns the position to come back to.
FilePosition rewind_file(BufFile *file);
void seek_file(BufFile *file, const FilePosition &position);
void read_file(BufFile *file, void *bytes, Size count);
inline void read_hashes(BufFile *file, uint64 *hashes, Size count) {
  read_file(file, hashes, count * sizeof(uint64));
}

// Calls use(hashes, count) for all hashes of a file, or of a spill, in batches.
template <typename Use> void for_each_batch(const HashFile &file, Use use) {
  const FilePosition before = rewind_file(file.file);
  auto *batch = make_array<uint64>(kBatch);
  for (uint64 left = file.count; left > 0;) {
    CHECK_FOR_INTERRUPTS();
    const Size length = Min(left, kBatch);
    read_hashes(file.file, batch, length);
    use(batch, length);
    left -= length;
  }
  pfree(batch);
  seek_file(file.file, before);
}

template <typename Use> void for_each_batch(const Spill &spill, Use use) {
  if (spill.written.file)
    for_each_batch(spill.written, use);
  for (const TakenFile *taken = spill.taken; taken; taken = taken->next)
    for_each_batch(taken->hashes, use);
}

} // namespace bloomfilter

#endif
