// See spill.hpp.

#include "pg/aggregate/spill.hpp"

#include "core/distinct.hpp"
#include "pg/list.hpp"
#include "pg/value/bitmaps.hpp"

extern "C" {
#include "executor/executor.h"
#include "utils/memutils.h"
}

namespace bloomfilter {
namespace {

BufFile *create_file(MemoryContext context, ResourceOwner owner) {
  return open_for(context, owner, [] { return BufFileCreateTemp(false); });
}

// Closes a file if there is one. Deletes the shared file if there is one; a caller passes none if
// the file is deleted elsewhere or later.
void close_file(const HashFile &file, SharedFile *shared) {
  if (file.file)
    BufFileClose(file.file);
  if (shared)
    delete_shared_file(shared);
}

void close_files(Datum argument) {
  const auto *spill = reinterpret_cast<const Spill *>(DatumGetPointer(argument));
  close_file(spill->written, spill->exported ? nullptr : spill->shared);
  for (const TakenFile *taken = spill->taken; taken; taken = taken->next)
    close_file(taken->hashes, taken->shared);
  close_file(spill->sorted, nullptr);
}

// Distributes the hashes of all files over 2^bits parts by their highest bits. The parts belong to
// the current resource owner, because the caller closes them before it returns.
void split_spill(const Spill *spill, HashFile *parts, int bits) {
  for (int part = 0; part >> bits == 0; part++)
    parts[part] = {create_file(spill->memory.context, CurrentResourceOwner), 0};
  for_each_batch(*spill, [parts, bits](const uint64 *hashes, Size count) {
    for (Size i = 0; i < count; i++)
      write_hashes(&parts[bits > 0 ? hashes[i] >> (64 - bits) : 0], &hashes[i], 1);
  });
}

} // namespace

void resize_array(HashArray *array, MemoryContext context, Size capacity) {
  const Size bytes = capacity * sizeof(uint64);
  array->hashes = static_cast<uint64 *>(array->hashes ? repalloc_huge(array->hashes, bytes)
                                                      : MemoryContextAllocHuge(context, bytes));
  array->capacity = capacity;
}

void free_array(HashArray *array) {
  if (array->hashes)
    pfree(array->hashes);
  *array = {};
}

void sort_array(HashArray *array, int copies) {
  sort_hashes(array->hashes, array->count, check_for_interrupts);
  array->count = keep_copies(array->hashes, array->count, copies);
}

Spill *make_spill(const GroupMemory &memory) {
  auto *spill = make_zeroed<Spill>(memory.context);
  spill->memory = memory;
  RegisterExprContextCallback(memory.expr_context, close_files, PointerGetDatum(spill));
  return spill;
}

// If reading the file has failed before, the file is not at its end. So this seeks the end first.
void write_spill(Spill *spill, const uint64 *hashes, Size count) {
  HashFile *written = &spill->written;
  if (!written->file) {
    if (spill->memory.transfer != FileTransfer::none)
      spill->shared = create_shared_file(spill->memory.context, spill->memory.owner);
    written->file = spill->shared ? spill->shared->file
                                  : create_file(spill->memory.context, spill->memory.owner);
  }
  seek_file(written->file, spill->end);
  write_hashes(written, hashes, count);
  BufFileTell(written->file, &spill->end.file, &spill->end.offset);
  spill->count += count;
}

SharedFileName export_file(Spill *spill) {
  if (!spill->exported)
    BufFileExportFileSet(spill->shared->file); // now another process can open it
  spill->exported = true;
  return spill->shared->name;
}

void take_file(Spill *spill, const SharedFileName &name, uint64 count, bool stays) {
  SharedFile *shared = open_shared_file(spill->memory.context, spill->memory.owner, name);
  auto *taken = make_array<TakenFile>(1, spill->memory.context);
  *taken = {{shared->file, count}, stays ? nullptr : shared, spill->taken};
  spill->taken = taken;
  spill->count += count;
}

// Sorts one part after the other in the array. There are at most 256 parts, so the parts of the
// largest spills exceed the limit.
void sort_spill(Spill *spill, HashArray *array, Size limit) {
  constexpr int kMaxPartBits = 8;
  int bits = 0;
  while (bits < kMaxPartBits && spill->count >> bits > limit / 4 * 3)
    bits++;
  HashFile parts[1 << kMaxPartBits];
  split_spill(spill, parts, bits);

  close_file(spill->sorted, nullptr);
  spill->sorted = {nullptr, 0}; // a closed file must not stay here if making the next one fails
  spill->sorted.file = create_file(spill->memory.context, spill->memory.owner);
  for (int part = 0; part >> bits == 0; part++) {
    seek_file(parts[part].file, {0, 0});
    for (uint64 left = parts[part].count; left > 0;) {
      if (array->count >= array->capacity / 4 * 3)
        resize_array(array, spill->memory.context,
                     Max(2 * array->capacity, Min(limit, parts[part].count / 3 * 4 + kBatch)));
      const Size length = Min(left, array->capacity - array->count);
      read_hashes(parts[part].file, array->hashes + array->count, length);
      array->count += length;
      left -= length;
      sort_array(array, 1);
    }
    BufFileClose(parts[part].file);
    write_hashes(&spill->sorted, array->hashes, array->count);
    array->count = 0;
  }
  free_array(array);
  spill->sorted_count = spill->count;
}

void write_hashes(HashFile *file, const uint64 *hashes, Size count) {
  BufFileWrite(file->file, const_cast<uint64 *>(hashes), count * sizeof(uint64));
  file->count += count;
}

FilePosition rewind_file(BufFile *file) {
  FilePosition position;
  BufFileTell(file, &position.file, &position.offset);
  seek_file(file, {0, 0});
  return position;
}

void seek_file(BufFile *file, const FilePosition &position) {
  if (BufFileSeek(file, position.file, position.offset, SEEK_SET) != 0)
    ereport(ERROR, (errcode(ERRCODE_IO_ERROR), errmsg("could not seek in temporary file")));
}

void read_file(BufFile *file, void *bytes, Size count) {
  const Size read = BufFileRead(file, bytes, count); // raises the errors of the system itself
  if (read != count)
    ereport(ERROR, (errcode(ERRCODE_IO_ERROR),
                    errmsg("could not read from temporary file: read only %zu of %zu bytes", read,
                           count)));
}

} // namespace bloomfilter
