// The arrays and the files that hashes are kept in. A spill is the temporary files with the hashes
// of a bag that exceeded the memory limit.
//
// One file has the hashes that the bag itself moved out of memory. A bag that merges the bags of
// other processes of the query also takes over their files (pg/aggregate/shared_file.hpp).
//
// A temporary file belongs to the executor's resource owner, which closes the file on an error. It
// must not belong to the resource owner that is current when the file is made. That may be the one
// of a subtransaction. A user's final function may read the state of its aggregate in a
// subtransaction, and continue after the subtransaction has failed. Without an error, a callback
// closes the file when its group ends, before the group's memory is reset.
#pragma once

#include "pg/server.hpp"

#include "pg/aggregate/shared_file.hpp"
#include "pg/list.hpp"

extern "C" {
#include "nodes/execnodes.h"
}

namespace bloomfilter {

constexpr Size kBatch = 8192; // hashes handled between two checks for interrupts

// An array of hashes that grows on demand. It is the part of a bag (hash_bag.hpp) that new hashes
// go to, and the workspace in which a spill is sorted. It may exceed 1 GB.
struct HashArray {
  uint64 *hashes; // NULL while the capacity is 0
  Size count, capacity;
};

// Gives an array another capacity. The first call takes the array's memory from `context`; later
// calls keep that context.
void resize_array(HashArray *array, MemoryContext context, Size capacity);
void free_array(HashArray *array);

// Sorts an array, and keeps at most `copies` copies of each hash.
void sort_array(HashArray *array, int copies);

// Appends hashes. Calls make_room() whenever the array is full.
template <typename MakeRoom>
void append(HashArray *array, const uint64 *hashes, Size count, MakeRoom make_room) {
  while (count > 0) {
    if (array->count == array->capacity)
      make_room();
    const Size length = Min(count, array->capacity - array->count);
    memcpy(array->hashes + array->count, hashes, length * sizeof(uint64));
    array->count += length;
    hashes += length;
    count -= length;
  }
}

// Calls use(hashes, count) for all hashes, in batches.
template <typename Use> void for_each_batch(const HashArray &array, Use use) {
  for (Size i = 0; i < array.count; i += kBatch) {
    CHECK_FOR_INTERRUPTS();
    use(array.hashes + i, Min(array.count - i, kBatch));
  }
}

// How the hashes in a bag's files reach the process that combines states.
enum class FileTransfer : uint8 {
  none,     // in the message; no file goes to another process
  once,     // the other process takes over the bag's file, and reads it once
  by_plan,  // the same, unless the plan between the processes may repeat the message
  repeated, // a rescan may serialize the bag again, so the file stays
};

// Where an aggregate keeps a group's state, and how the state uses files.
struct GroupMemory {
  MemoryContext context;
  ExprContext *expr_context = nullptr; // calls back when the group ends; NULL: nothing is spilled
  FileTransfer transfer = FileTransfer::none;
  ResourceOwner owner = CurrentResourceOwner; // owns the files that stay open between steps
};

struct FilePosition {
  int file;
  off_t offset;
};

struct HashFile {
  BufFile *file; // NULL if there is none yet
  uint64 count;
};

// A file that another process wrote, and that this process reads.
struct TakenFile {
  HashFile hashes;
  SharedFile *shared; // is deleted with the group; NULL if the file stays
  TakenFile *next;
};

struct Spill {
  GroupMemory memory; // set by make_spill(); never changes
  HashFile written;   // the file that this process writes
  FilePosition end;   // where the written file ends
  SharedFile *shared; // the written file, if another process will take it over
  bool exported;      // true once another process may take it over
  TakenFile *taken;
  uint64 count; // the number of hashes in the written file and in the taken files

  // The distinct hashes of these files in ascending order, from when there were `sorted_count`
  // hashes.
  HashFile sorted;
  uint64 sorted_count;

  bool is_sorted() const { return sorted_count == count; }
};

// Makes a spill without files. A callback closes its files when the group ends.
Spill *make_spill(const GroupMemory &memory);

// Appends hashes to the written file. Makes the file if there is none.
void write_spill(Spill *spill, const uint64 *hashes, Size count);

// Exports the written file to another process, and returns its name. May be called again. The file
// must not change afterwards.
SharedFileName export_file(Spill *spill);

// Takes over a file of `count` hashes. If it does not stay, it is deleted when the group ends.
void take_file(Spill *spill, const SharedFileName &name, uint64 count, bool stays);

// Writes the distinct hashes of all files to spill->sorted, in ascending order. Sorts them in the
// array, which must be empty, and is freed afterwards. It grows as the spill needs, up to `limit`
// hashes, and beyond for the largest spills.
void sort_spill(Spill *spill, HashArray *array, Size limit);

// Appends hashes to a file.
void write_hashes(HashFile *file, const uint64 *hashes, Size count);

// Moves to the start of a file. Returns the position before, for seek_file().
FilePosition rewind_file(BufFile *file);
void seek_file(BufFile *file, const FilePosition &position);
void read_file(BufFile *file, void *bytes, Size count);
inline void read_hashes(BufFile *file, uint64 *hashes, Size count) {
  read_file(file, hashes, count * sizeof(uint64));
}

// Calls use(hashes, count) for all hashes of a file, or of a spill, in batches. A file is at the
// same position again afterwards, unless use() fails.
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
