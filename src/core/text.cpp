// See text.hpp.

#include "core/text.hpp"

namespace bloomfilter {
namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::uint8_t kForeign = 0xff;
constexpr std::uint8_t kSpace = 0xfe;
constexpr std::uint8_t kPadding = 0xfd;

struct Digits {
  std::uint8_t of[256];

  constexpr Digits() : of() {
    for (std::uint8_t &digit : of)
      digit = kForeign;
    for (std::uint8_t i = 0; i < 64; i++)
      of[static_cast<unsigned char>(kAlphabet[i])] = i;
    of[static_cast<unsigned char>('=')] = kPadding;
    for (const char *space = " \t\n\r"; *space; space++)
      of[static_cast<unsigned char>(*space)] = kSpace;
  }
};
constexpr Digits kDigits;

char digit(std::uint32_t group, int shift) {
  return kAlphabet[group >> shift & 63];
}

} // namespace

void encode_base64(const std::uint8_t *bytes, std::size_t length, char *text,
                   CheckInterrupts check_interrupts) {
  std::size_t i = 0, next_check = 0;
  for (; i + 3 <= length; i += 3, text += 4) {
    if (i >= next_check) {
      check_interrupts();
      next_check = i + kBytesBetweenChecks;
    }
    const std::uint32_t group = static_cast<std::uint32_t>(bytes[i]) << 16 |
                                static_cast<std::uint32_t>(bytes[i + 1]) << 8 | bytes[i + 2];
    for (int j = 0; j < 4; j++)
      text[j] = digit(group, 18 - 6 * j);
  }
  if (i == length)
    return;
  const bool two = i + 2 == length;
  const std::uint32_t group = static_cast<std::uint32_t>(bytes[i]) << 16 |
                              (two ? static_cast<std::uint32_t>(bytes[i + 1]) << 8 : 0);
  text[0] = digit(group, 18);
  text[1] = digit(group, 12);
  text[2] = two ? digit(group, 6) : '=';
  text[3] = '=';
}

bool decode_base64(const char *text, std::size_t length, std::uint8_t *bytes, std::size_t *decoded,
                   CheckInterrupts check_interrupts) {
  std::uint8_t *out = bytes;
  std::uint32_t group = 0;
  int digits = 0, padding = 0;
  for (std::size_t i = 0; i < length; i++) {
    if (i % kBytesBetweenChecks == 0)
      check_interrupts();
    const std::uint8_t value = kDigits.of[static_cast<unsigned char>(text[i])];
    if (value == kSpace)
      continue;
    if (value == kPadding) {
      padding++;
      continue;
    }
    if (value == kForeign || padding > 0)
      return false;
    group = group << 6 | value;
    if (++digits == 4) {
      *out++ = static_cast<std::uint8_t>(group >> 16);
      *out++ = static_cast<std::uint8_t>(group >> 8);
      *out++ = static_cast<std::uint8_t>(group);
      group = 0;
      digits = 0;
    }
  }
  if (digits == 0 ? padding != 0 : digits + padding != 4 || digits == 1)
    return false;
  if (digits >= 2) {
    if ((digits == 2 ? group & 15 : group & 3) != 0)
      return false;
    *out++ = static_cast<std::uint8_t>(digits == 2 ? group >> 4 : group >> 10);
    if (digits == 3)
      *out++ = static_cast<std::uint8_t>(group >> 2);
  }
  *decoded = static_cast<std::size_t>(out - bytes);
  return true;
}

} // namespace bloomfilter
