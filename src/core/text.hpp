// The text form of a value: base64 (RFC 4648, section 4) of its payload.
//
// It is a third shorter than bytea's hexadecimal form. So the text of even the largest filter stays
// below PostgreSQL's limit of 1 GB and survives a dump. Reading skips white space, as decode(...,
// 'base64') does, so that wrapped text can be pasted.
#pragma once

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
// the number of bytes. False if the text is not base64: it has another character, padding that is
// missing or misplaced, or unused bits that are not zero. (Unused bits must be zero so that no two
// texts mean the same value.)
bool decode_base64(const char *text, std::size_t length, std::uint8_t *bytes, std::size_t *decoded,
                   CheckInterrupts check_interrupts = check_nothing);

} // namespace bloomfilter
