// Apache DataSketches' files, as its BloomFilter's serialize() and toByteArray() write them. All
// numbers are little-endian: length of the head in words of 64 bits u8, version u8, family of
// sketches u8, flags u8, k u16, 0 u16, seed u64, number of words u32, 0 u32. A filter without
// values ends here. Other filters continue: number of set bits u64, or -1 if it was not counted,
// and words u64.
#pragma once

#include "core/foreign/file.hpp"

namespace bloomfilter {

constexpr std::size_t kMaxDataSketchesHead = 32;
// Checks a whole file and finds its filter. If found->offset is the length of the file, the file
// has no words and the filter has no set bits.
Finding read_datasketches(const std::uint8_t *bytes, std::size_t length, FoundFilter *found,
                          CheckInterrupts check_interrupts = check_nothing);
// Writes the head of a filter with `bits_set` set bits and with a subset of kOtherFlags. Returns
// the length of the head. Words follow only a head of kMaxDataSketchesHead bytes.
std::size_t write_datasketches_head(std::uint8_t *bytes, const Geometry &geometry,
                                    std::uint64_t seed, std::uint64_t bits_set, std::uint8_t flags);

} // namespace bloomfilter
