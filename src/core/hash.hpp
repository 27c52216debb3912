// The hash of an element: XXH3, 64 bits, over the element's canonical bytes.
//
// From version 0.8.0 on, xxHash promises that XXH3's output never changes (doc/xxhash_spec.md
// there). The hash does not depend on the processor, and takes 1.6 ns for an integer. PostgreSQL's
// own hash functions may change between versions and differ between byte orders, so stored filters
// cannot depend on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/bytes.hpp"

#if XXH_VERSION_NUMBER < 800
#error "bloomfilter requires xxHash 0.8.0 or newer, the first with a stable XXH3"
#endif

namespace bloomfilter {

inline std::uint64_t hash_bytes(const void *bytes, std::size_t length, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, length, seed);
}

// Computes the same hash of bytes that come in parts, in constant memory. If all bytes fit into the
// buffer, they are hashed as a whole, which saves the setup of XXH3's state.
class Hasher {
public:
  explicit Hasher(std::uint64_t seed) : seed_(seed) {}

  void add(const void *bytes, std::size_t length) {
    if (length > sizeof buffer_ - pending_) {
      add_beyond(bytes, length);
      return;
    }
    std::memcpy(buffer_ + pending_, bytes, length);
    pending_ += length;
  }
  template <typename T> void add_number(T number) {
    number = little_endian(number);
    add(&number, sizeof number);
  }
  // Adds a head and then bytes. One check of the buffer's room serves both.
  void add(const void *head, std::size_t head_length, const void *bytes, std::size_t length) {
    if (head_length + length > sizeof buffer_ - pending_) {
      add(head, head_length);
      add(bytes, length);
      return;
    }
    std::memcpy(buffer_ + pending_, head, head_length);
    std::memcpy(buffer_ + pending_ + head_length, bytes, length);
    pending_ += head_length + length;
  }

  // Adds a part: what `write` adds, after the part's length in 32 bits. The length is filled in
  // once it is known. If the buffer has no room for the part, `write` is called twice: first to
  // count the part, then to add it.
  template <typename Write> void add_part(Write write) {
    using Length = std::uint32_t;
    const std::size_t start = pending_, bytes = start + sizeof(Length);
    const bool outermost = !open_;
    open_ = true;
    add_number<Length>(0);
    write();
    open_ = !outermost;
    if (counted_ == 0) {
      store(buffer_ + start, static_cast<Length>(pending_ - bytes));
    } else if (outermost) {
      const auto length = static_cast<Length>(counted_ - bytes);
      pending_ = start;
      counted_ = 0;
      add_number(length);
      write();
    }
  }

  std::uint64_t hash() {
    if (!streaming_)
      return hash_bytes(buffer_, pending_, seed_);
    flush();
    return XXH3_64bits_digest(&state_);
  }

private:
  __attribute__((noinline)) void add_beyond(const void *bytes, std::size_t length) {
    if (open_) {
      if (counted_ == 0)
        counted_ = pending_;
      counted_ += length;
      pending_ = sizeof buffer_; // so that nothing more has room
      return;
    }
    flush();
    if (length > sizeof buffer_)
      XXH3_64bits_update(&state_, bytes, length);
    else
      add(bytes, length);
  }

  void flush() {
    if (!streaming_) {
      XXH3_INITSTATE(&state_);
      XXH3_64bits_reset_withSeed(&state_, seed_);
      streaming_ = true;
    }
    XXH3_64bits_update(&state_, buffer_, pending_);
    pending_ = 0;
  }

  std::uint64_t seed_;
  std::size_t pending_ = 0; // bytes in the buffer
  // While a part is only counted: its bytes and those before it in the buffer; else 0.
  std::uint64_t counted_ = 0;
  std::uint8_t buffer_[4096];
  bool open_ = false;      // true while a part of unknown length is being added
  bool streaming_ = false; // true if state_ is in use
  XXH3_state_t state_;
};

} // namespace bloomfilter
