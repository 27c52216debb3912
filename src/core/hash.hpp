// The hash of an element: XXH3, 64 bits, over the element's canonical bytes.
//
// XXH3's output is promised for ever from version 0.8.0 on (doc/xxhash_spec.md of xxHash), does
// not depend on the processor, and costs 1.6 ns for an integer. PostgreSQL's own hash functions
// promise nothing across versions and byte orders, so a stored filter cannot rest on them.
#ifndef BLOOMFILTER_CORE_HASH_HPP
#define BLOOMFILTER_CORE_HASH_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#if XXH_VERSION_NUMBER < 800
#error "bloomfilter requires xxHash 0.8.0 or newer, the first with a stable XXH3"
#endif

namespace bloomfilter {

inline std::uint64_t hash_bytes(const void *bytes, std::size_t length, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, length, seed);
}

// The same hash of bytes that come in parts, in constant memory. Up to a buffer of them is hashed
// as a whole, which spares setting up XXH3's state.
class Hasher {
public:
  explicit Hasher(std::uint64_t seed) : seed_(seed), pending_(0), streaming_(false) {}

  void add(const void *bytes, std::size_t length) {
    if (length > sizeof buffer_ - pending_) {
      flush();
      if (length > sizeof buffer_) {
        XXH3_64bits_update(&state_, bytes, length);
        return;
      }
    }
    std::memcpy(buffer_ + pending_, bytes, length);
    pending_ += length;
  }

  std::uint64_t hash() {
    if (!streaming_)
      return hash_bytes(buffer_, pending_, seed_);
    flush();
    return XXH3_64bits_digest(&state_);
  }

private:
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
  std::size_t pending_; // bytes of the buffer
  bool streaming_;      // is the state in use?
  std::uint8_t buffer_[512];
  XXH3_state_t state_;
};

} // namespace bloomfilter

#endif
