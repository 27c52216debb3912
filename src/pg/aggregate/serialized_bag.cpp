// See serialized_bag.hpp. A bag is written where rows were aggregated, and read where states are
// combined.

#include "pg/aggregate/serialized_bag.hpp"

extern "C" {
#include "utils/guc.h"
#include "utils/memutils.h"
}

namespace bloomfilter {
namespace {

// A message is copied four times on its way, and cannot have 1 GB. A file is faster for more hashes
// than this.
constexpr Size kMostInMessage = 8 * 1024 * 1024 / sizeof(uint64);

// True if a bag's hashes are handed over in a file. They are if some have been spilled, or
// if they might not fit into a message. Other large bags use a file only if temp_file_limit is not
// set, because the limit must not make the query fail.
bool goes_by_file(const HashBag *bag) {
  if (bag->memory.transfer == FileTransfer::none || !bag->registers)
    return false;
  return bag->spill || !AllocSizeIsValid(2 * bag->size() * sizeof(uint64)) ||
         (bag->size() > kMostInMessage && temp_file_limit < 0);
}

// Writes a copy of all hashes to a file for another process.
SharedFileName give_copy(const HashBag *bag) {
  SharedFile *shared = create_shared_file(bag->memory.context, CurrentResourceOwner);
  HashFile copy = {shared->file, 0};
  for_each_batch(*bag,
                 [&copy](const uint64 *hashes, Size count) { write_hashes(&copy, hashes, count); });
  return give_shared_file(shared);
}

// Spills the hashes in memory, and gives another process the bag's own file.
SharedFileName give_all(HashBag *bag) {
  if (bag->in_memory() > 0)
    spill_memory(bag);
  return export_file(bag->spill);
}

// Appends hashes that are already in the registers, without counting them again.
void take_counted(HashBag *bag, const SerializedBag &serialized) {
  HashArray *array = &bag->array;
  const Size limit = memory_limit(bag, kCounting);
  const Size count = serialized.count;
  if (array->count + count > limit && array->count > 0)
    spill_memory(bag);
  if (count > limit) {
    for_each_batch(serialized, [bag](const uint64 *hashes, Size length) {
      write_spill(spill_of(bag), hashes, length);
    });
    return;
  }
  if (array->count + count > array->capacity)
    resize_array(bag, Max(array->count + count, Min(2 * array->capacity, limit)));
  load_hashes(array->hashes + array->count, serialized.hashes, count);
  array->count += count;
  bag->registered = array->count;
}

} // namespace

Size PreparedBag::bytes() const {
  if (form == BagForm::file)
    return kRegisters + sizeof(uint64) + sizeof(SharedFileName);
  return (form == BagForm::counted ? kRegisters : 0) + bag->size() * sizeof(uint64);
}

PreparedBag prepare_bag(HashBag *bag) {
  update_registers(bag);
  if (!goes_by_file(bag))
    return {bag, bag->registers ? BagForm::counted : BagForm::hashes, {}};
  return {bag, BagForm::file,
          bag->memory.transfer == FileTransfer::copy ? give_copy(bag) : give_all(bag)};
}

void write_bag(const PreparedBag &prepared, uint8 *bytes) {
  if (prepared.form != BagForm::hashes) {
    memcpy(bytes, prepared.bag->registers, kRegisters);
    bytes += kRegisters;
  }
  if (prepared.form == BagForm::file) {
    const uint64 count = prepared.bag->size();
    memcpy(bytes, &count, sizeof count);
    memcpy(bytes + sizeof count, &prepared.file, sizeof prepared.file);
    return;
  }
  for_each_batch(*prepared.bag, [&bytes](const uint64 *hashes, Size count) {
    bytes = store_hashes(bytes, hashes, count);
  });
}

bool read_bag(BagForm form, const uint8 *bytes, Size length, SerializedBag *serialized) {
  *serialized = {};
  if (form != BagForm::hashes) {
    if (length < kRegisters)
      return false;
    serialized->registers = bytes;
    bytes += kRegisters;
    length -= kRegisters;
  }
  if (form == BagForm::file) {
    if (length != sizeof(uint64) + sizeof(SharedFileName))
      return false;
    memcpy(&serialized->count, bytes, sizeof(uint64));
    memcpy(&serialized->file, bytes + sizeof(uint64), sizeof(SharedFileName));
    return true;
  }
  serialized->hashes = bytes;
  serialized->count = length / sizeof(uint64);
  return length % sizeof(uint64) == 0;
}

void merge_serialized(HashBag *bag, const SerializedBag &serialized) {
  if (serialized.registers)
    merge_registers(bag, serialized.registers);
  if (!serialized.hashes)
    take_file(spill_of(bag), serialized.file, serialized.count);
  else if (serialized.registers && !bag->set.slots)
    take_counted(bag, serialized);
  else
    for_each_batch(serialized, [bag](const uint64 *hashes, Size count) {
      append(&bag->array, hashes, count, [bag] { make_room_in_bag(bag); });
    });
}

} // namespace bloomfilter
