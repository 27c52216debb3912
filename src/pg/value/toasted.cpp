// See toasted.hpp.

#include "pg/value/toasted.hpp"

#include "pg/compat.hpp"
#include "pg/value/memory.hpp"

extern "C" {
#include "access/detoast.h"
#include "access/genam.h"
#include "access/heaptoast.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
}

namespace bloomfilter {
namespace {

// Copies the TOAST chunks of a value, in order. Returns false if any chunk is missing.
bool copy_chunks(const struct varatt_external &pointer, char *to) {
  const auto bytes = static_cast<int32>(VARATT_EXTERNAL_GET_EXTSIZE(pointer));
  Relation toast = table_open(pointer.va_toastrelid, AccessShareLock), *indexes;
  int count;
  const int valid = toast_open_indexes(toast, AccessShareLock, &indexes, &count);
  ScanKeyData key;
  ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(pointer.va_valueid));
  SysScanDesc scan =
      systable_beginscan_ordered(toast, indexes[valid], get_toast_snapshot(), 1, &key);
  int32 done = 0;
  bool whole = true;
  while (whole && done < bytes) {
    HeapTuple tuple = systable_getnext_ordered(scan, ForwardScanDirection);
    if (!HeapTupleIsValid(tuple))
      break;
    bool is_null;
    const auto number = DatumGetInt32(heap_getattr(tuple, 2, RelationGetDescr(toast), &is_null));
    auto *chunk = reinterpret_cast<struct varlena *>(
        DatumGetPointer(heap_getattr(tuple, 3, RelationGetDescr(toast), &is_null)));
    const auto length = static_cast<int32>(VARSIZE_ANY_EXHDR(chunk));
    whole = number == done / static_cast<int32>(TOAST_MAX_CHUNK_SIZE) && length <= bytes - done &&
            (length == TOAST_MAX_CHUNK_SIZE || length == bytes - done);
    if (whole)
      memcpy(to + done, VARDATA_ANY(chunk), length);
    done += length;
  }
  systable_endscan_ordered(scan);
  toast_close_indexes(indexes, count, AccessShareLock);
  table_close(toast, AccessShareLock);
  return whole && done == bytes;
}

} // namespace

struct varlena *whole_value(struct varlena *value) {
  if (!VARATT_IS_EXTERNAL_ONDISK(value))
    return PG_DETOAST_DATUM(PointerGetDatum(value));
  struct varatt_external pointer;
  VARATT_EXTERNAL_GET_POINTER(pointer, value);
  const Size bytes = VARATT_EXTERNAL_GET_EXTSIZE(pointer) + VARHDRSZ;
  struct varlena *whole = new_value(bytes - VARHDRSZ);
  if (!copy_chunks(pointer, VARDATA(whole)))
    return nullptr;
  // The server's VARATT_EXTERNAL_IS_COMPRESSED() would cause a compiler warning, because it
  // compares a signed number with an unsigned one.
  if (bytes >= static_cast<Size>(pointer.va_rawsize))
    return whole;
  SET_VARSIZE_COMPRESSED(whole, bytes);
  return PG_DETOAST_DATUM(PointerGetDatum(whole));
}

} // namespace bloomfilter
