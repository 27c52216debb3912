// The text form of a value: base64 (RFC 4648, section 4) of its payload.
//
// It is a third shorter than bytea's hexadecimal form, so that even the largest filter stays below
// PostgreSQL's 1 GB limit for a text and survives a dump. White space is skipped when reading, as
// decode(..., 'base64') does, so that wrapped text can be pasted.
#ifndef BLOOMFILTER_CORE_TEXT_HPP
#define BLOOMFILTER_CORE_TEXT_HPP

#include <cstddef>
#include <cstdint>

#include "core/interrupts.hpp"

namespace bloomfilter {

constexpr std::size_t encoded_length(std::size_t bytes) {
  return (bytes + 2) / 3 * 4;
}
constexpr std::size_t decoded_length_limit(std::size_t chars) {
  return (chars + 3) / 4 * 3;
}

// Writes encoded_length(length) characters, without a terminating zero.
void encode_base64(const std::uint8_t *bytes, std::size_t length, char *text,
                   CheckInterrupts check_interrupts = check_nothing);

// Reads `length` characters into at most decoded_length_limit(length) bytes and sets `decoded` to
// their number. False if the text is not base64: if it has a foreign character, missing or
// misplaced padding, or unused bits that are not zero (so that two texts never mean the same
// value).
bool decode_base64(const char *text, std::size_t length, std::uint8_t *bytes, std::size_t *decoded,
                   CheckInterrupts check_interrupts = check_nothing);

} // namespace bloomfilter

#endif
