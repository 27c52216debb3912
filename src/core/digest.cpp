#include "core/digest.hpp"

#include <cstring>

#include "core/bytes.hpp"
#include "core/hash.hpp"
#include "core/murmur3.hpp"

namespace bloomfilter {
namespace {

// MurmurHash64A (A. Appleby, public domain), as RedisBloom calls it twice.
std::uint64_t murmur64a(const std::uint8_t *bytes, std::size_t length, std::uint64_t seed) {
  constexpr std::uint64_t kMultiplier = 0xc6a4a7935bd1e995;
  constexpr int kShift = 47;
  std::uint64_t h = seed ^ (length * kMultiplier);
  const std::uint8_t *const tail = bytes + length / 8 * 8;
  for (; bytes < tail; bytes += 8) {
    std::uint64_t k = load<std::uint64_t>(bytes) * kMultiplier;
    k = (k ^ k >> kShift) * kMultiplier;
    h = (h ^ k) * kMultiplier;
  }
  if (length % 8 != 0)
    h = (h ^ load_first(tail, length % 8)) * kMultiplier;
  h = (h ^ h >> kShift) * kMultiplier;
  return h ^ h >> kShift;
}

// UTF-8 as UTF-16, little-endian: what a Java string's chars are. Bytes that are not UTF-8, which
// only SQL_ASCII databases have, become U+FFFD as in Java: one for a sequence that breaks off or is
// a surrogate, else one for each byte.
std::size_t utf16_of(const std::uint8_t *bytes, std::size_t length, std::uint8_t *out) {
  std::size_t written = 0;
  const auto put = [&](std::uint32_t unit) {
    store(out + written, static_cast<std::uint16_t>(unit));
    written += 2;
  };
  for (std::size_t i = 0; i < length;) {
    const std::uint8_t lead = bytes[i++];
    int more = lead < 0xC2 || lead > 0xF4 ? 0 : lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    std::uint32_t point = more == 0 ? lead : lead & (0x3F >> more);
    bool good = lead < 0x80 || more > 0;
    // No point has two encodings, and U+10FFFF is the last.
    std::uint8_t least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    std::uint8_t most = lead == 0xF4 ? 0x8F : 0xBF;
    for (; more > 0 && good; more--, least = 0x80, most = 0xBF) {
      good = i < length && bytes[i] >= least && bytes[i] <= most;
      if (good)
        point = point << 6 | (bytes[i++] & 0x3F);
    }
    if (!good || (point >= 0xD800 && point < 0xE000))
      put(0xFFFD);
    else if (point < 0x10000)
      put(point);
    else {
      put(0xD800 + ((point - 0x10000) >> 10));
      put(0xDC00 + ((point - 0x10000) & 0x3FF));
    }
  }
  return written;
}

std::size_t decimal_of(std::int64_t number, std::uint8_t *out) {
  std::uint8_t digits[20];
  std::size_t count = 0, written = 0;
  std::uint64_t left =
      number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
  do
    digits[count++] = static_cast<std::uint8_t>('0' + left % 10);
  while ((left /= 10) != 0);
  if (number < 0)
    out[written++] = '-';
  while (count > 0)
    out[written++] = digits[--count];
  return written;
}

} // namespace

Digest digest_of(Layout layout, const std::uint8_t *bytes, std::size_t length) {
  if (!bytes) // of nothing
    length = 0;
  if (is_parquet(layout)) // whose numbers have mostly 8 bytes, which the compiler unrolls
    return {length == 8 ? XXH64(bytes, 8, 0) : XXH64(bytes, length, 0), 0};
  if (layout == Layout::redis) {
    const std::uint64_t first = murmur64a(bytes, length, 0xc6a4a7935bd1e995);
    return {first, murmur64a(bytes, length, first)};
  }
  const Murmur3 hash = murmur3(bytes, length, 0);
  return {hash.first, hash.second};
}

bool is_plain(Layout layout, Family family) {
  switch (family) {
  case Family::floating:
    return false;
  case Family::integer:
    return layout == Layout::guava || layout == Layout::guava_mitz32 || layout == Layout::parquet;
  case Family::text:
    return layout != Layout::guava_chars && layout != Layout::guava_chars_mitz32;
  default:
    return true;
  }
}

Family family_in(Layout layout, Family family) {
  switch (layout) {
  case Layout::guava:
  case Layout::guava_mitz32:
    return family == Family::integer || family == Family::text || family == Family::bytea
               ? family
               : Family::none;
  case Layout::guava_integer:
  case Layout::guava_integer_mitz32:
    return family == Family::integer ? family : Family::none;
  case Layout::guava_chars:
  case Layout::guava_chars_mitz32:
    return family == Family::text ? family : Family::none;
  case Layout::parquet_int32:
    return family == Family::integer || family == Family::date ? family : Family::none;
  case Layout::parquet_float:
    return family == Family::floating ? family : Family::none;
  case Layout::parquet:
    switch (family) {
    case Family::integer:
    case Family::floating:
    case Family::timestamp:
    case Family::timestamptz:
    case Family::time:
      return family;
    case Family::text:
    case Family::bytea:
    case Family::uuid:
    case Family::string:
      return Family::string;
    default:
      return Family::none;
    }
  case Layout::redis:
    return family == Family::integer || family == Family::text || family == Family::bytea ||
                   family == Family::string
               ? Family::string
               : Family::none;
  case Layout::lines:
  case Layout::pages:
  case Layout::counting_lines:
  case Layout::counting_pages:
  case Layout::cuckoo:
    break;
  }
  return family == Family::string ? Family::none : family;
}

Encoded encode(Layout layout, Family family, const std::uint8_t *canonical, std::size_t length,
               std::uint8_t *scratch) {
  Encoded encoded;
  encoded.kind = Encoded::values;
  encoded.count = 1;
  const auto number = [&] { return static_cast<std::int64_t>(load<std::uint64_t>(canonical)); };
  const auto hash = [&](const std::uint8_t *bytes, std::size_t count) {
    return digest_of(layout, bytes, count);
  };

  if (is_plain(layout, family)) {
    encoded.digests[0] = hash(canonical, length);
  } else if (family == Family::integer && layout == Layout::redis) {
    encoded.digests[0] = hash(scratch, decimal_of(number(), scratch));
  } else if (family == Family::integer) {
    const auto narrow = static_cast<std::uint32_t>(number());
    const bool is_signed = static_cast<std::int32_t>(narrow) == number();
    const bool is_unsigned = static_cast<std::int64_t>(narrow) == number();
    if (!is_signed && !(is_unsigned && layout == Layout::parquet_int32))
      return {Encoded::none, 0, {}};
    store(scratch, narrow);
    encoded.digests[0] = hash(scratch, sizeof narrow);
  } else if (family == Family::text) {
    encoded.digests[0] = hash(scratch, utf16_of(canonical, length, scratch));
  } else {
    const double value = bits_double(load<std::uint64_t>(canonical));
    if (value != value)
      encoded.kind = Encoded::any;
    const auto add = [&](double one, int i) {
      if (layout == Layout::parquet_float) {
        const auto narrow = static_cast<float>(one);
        std::uint32_t bits;
        std::memcpy(&bits, &narrow, sizeof bits);
        store(scratch, bits);
        encoded.digests[i] = hash(scratch, sizeof bits);
      } else {
        store(scratch, double_bits(one));
        encoded.digests[i] = hash(scratch, sizeof(double));
      }
    };
    if (layout == Layout::parquet_float && encoded.kind == Encoded::values &&
        static_cast<double>(static_cast<float>(value)) != value)
      return {Encoded::none, 0, {}};
    add(value, 0);
    if (value == 0) {
      add(-value, 1);
      encoded.count = 2;
    }
  }
  return encoded;
}

} // namespace bloomfilter
