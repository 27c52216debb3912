// Reads a payload one part at a time, wherever it is stored: in memory, or out of line, where only
// the slices that are asked for are read.
#pragma once

#include "pg/server.hpp"

#include "pg/value/toast_cache.hpp"

extern "C" {
#include "access/detoast.h"
}

namespace bloomfilter {

// A part is valid until the next one is read.
class Slices {
public:
  explicit Slices(const uint8 *payload) : payload_(payload) {}
  explicit Slices(struct varlena *value)
      : payload_(VARATT_IS_4B_U(value) ? reinterpret_cast<const uint8 *>(VARDATA(value)) : nullptr),
        value_(value) {}
  // Reads one link of a cached filter. Offsets count from `start`, where its bitmap begins.
  Slices(CachedFilter *filter, Size start) : cached_(filter), start_(start) {}

  const uint8 *operator()(Size offset, Size length) {
    if (payload_)
      return payload_ + offset;
    release();
    last_ = cached_ ? read_slice(cached_, start_ + offset, length)
                    : detoast_attr_slice(value_, static_cast<int32>(offset),
                                         static_cast<int32>(length));
    return reinterpret_cast<const uint8 *>(VARDATA_ANY(last_));
  }
  void release() {
    if (last_)
      pfree(last_);
    last_ = nullptr;
  }

private:
  const uint8 *payload_ = nullptr; // NULL if the payload is not in memory
  struct varlena *value_ = nullptr;
  CachedFilter *cached_ = nullptr; // NULL: slices are read from the value
  Size start_ = 0;
  struct varlena *last_ = nullptr;
};

} // namespace bloomfilter
