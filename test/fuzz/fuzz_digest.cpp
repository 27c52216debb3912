// Fuzzes the digests of values, of every family and in every layout. The core must give the same
// digest as a second implementation, which is written here from the systems' own descriptions. It
// must read nothing outside the value, and equal values must have equal digests.
//
// The first byte chooses a scheme, and the second a family. The next eight bytes are the seed. The
// rest are the value's canonical bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/foreign/foreign.hpp"
#include "core/hash.hpp"
#include "core/partial.hpp"
#include "core/text.hpp"

using namespace bloomfilter;

namespace {

using Bytes = std::vector<std::uint8_t>;

void require(bool condition) {
  if (!condition)
    std::abort();
}

// Memory of exactly `length` bytes, so that a sanitizer notices one byte too many.
struct Exact {
  std::unique_ptr<std::uint8_t[]> bytes;

  explicit Exact(std::size_t length) : bytes(new std::uint8_t[length]) {}
  explicit Exact(const Bytes &copied) : Exact(copied.size()) {
    std::copy(copied.begin(), copied.end(), bytes.get());
  }
};

// --- the second implementation: byte by byte, without any code of the core ---

// The bytes from `at` on as a little-endian number. Bytes after the end are zeros.
std::uint64_t number_at(const Bytes &bytes, std::size_t at, std::size_t count) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < count && at + i < bytes.size(); i++)
    number += std::uint64_t{bytes[at + i]} << 8 * i;
  return number;
}

Bytes little_endian_bytes(std::uint64_t number, std::size_t count) {
  Bytes bytes;
  for (std::size_t i = 0; i < count; i++)
    bytes.push_back(static_cast<std::uint8_t>(number >> 8 * i));
  return bytes;
}

std::uint64_t turned(std::uint64_t x, int by) {
  return x << by | x >> (64 - by);
}
std::uint32_t turned(std::uint32_t x, int by) {
  return x << by | x >> (32 - by);
}

// MurmurHash3_x64_128 (SMHasher's MurmurHash3.cpp) with seed 0. An absent tail mixes in zeros.
Digest specified_guava(const Bytes &bytes) {
  const auto mixed = [](std::uint64_t k) {
    k = (k ^ k >> 33) * 0xff51afd7ed558ccd;
    k = (k ^ k >> 33) * 0xc4ceb9fe1a85ec53;
    return k ^ k >> 33;
  };
  constexpr std::uint64_t kC1 = 0x87c37b91114253d5, kC2 = 0x4cf5ad432745937f;
  std::uint64_t h1 = 0, h2 = 0;
  for (std::size_t at = 0; at <= bytes.size(); at += 16) {
    const bool whole = at + 16 <= bytes.size();
    h1 ^= turned(number_at(bytes, at, 8) * kC1, 31) * kC2;
    if (whole)
      h1 = (turned(h1, 27) + h2) * 5 + 0x52dce729;
    h2 ^= turned(number_at(bytes, at + 8, 8) * kC2, 33) * kC1;
    if (whole)
      h2 = (turned(h2, 31) + h1) * 5 + 0x38495ab5;
  }
  h1 ^= bytes.size();
  h2 ^= bytes.size();
  h1 += h2;
  h2 += h1;
  h1 = mixed(h1);
  h2 = mixed(h2);
  h1 += h2;
  return {h1, h2 + h1};
}

// MurmurHash64A (SMHasher's MurmurHash2.cpp).
std::uint64_t specified_murmur64a(const Bytes &bytes, std::uint64_t seed) {
  constexpr std::uint64_t kM = 0xc6a4a7935bd1e995;
  std::uint64_t h = seed ^ bytes.size() * kM;
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t k = number_at(bytes, at, 8);
    if (at + 8 <= bytes.size()) {
      k *= kM;
      k ^= k >> 47;
      k *= kM;
    }
    h = (h ^ k) * kM;
  }
  h = (h ^ h >> 47) * kM;
  return h ^ h >> 47;
}

Digest specified_redis(const Bytes &bytes) {
  const std::uint64_t first = specified_murmur64a(bytes, 0xc6a4a7935bd1e995);
  return {first, specified_murmur64a(bytes, first)};
}

// Murmur3_x86_32.hashUnsafeBytes of Spark. After the words, each byte is mixed in as a signed word.
std::uint32_t specified_murmur32(const Bytes &bytes, std::uint32_t seed) {
  std::uint32_t h = seed;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint32_t k;
    if (at + 4 <= bytes.size()) {
      k = static_cast<std::uint32_t>(number_at(bytes, at, 4));
      at += 4;
    } else {
      k = bytes[at] < 0x80 ? bytes[at] : bytes[at] | 0xffffff00U;
      at++;
    }
    k = turned(k * 0xcc9e2d51, 15) * 0x1b873593;
    h = turned(h ^ k, 13) * 5 + 0xe6546b64;
  }
  h ^= static_cast<std::uint32_t>(bytes.size());
  h = (h ^ h >> 16) * 0x85ebca6b;
  h = (h ^ h >> 13) * 0xc2b2ae35;
  return h ^ h >> 16;
}

Digest specified_spark(const Bytes &bytes, std::uint64_t seed) {
  const std::uint32_t first = specified_murmur32(bytes, static_cast<std::uint32_t>(seed));
  return {first, specified_murmur32(bytes, first)};
}

// XXH64 (doc/xxhash_spec.md of xxHash).
std::uint64_t specified_xxh64(const Bytes &bytes, std::uint64_t seed) {
  constexpr std::uint64_t kP1 = 0x9e3779b185ebca87, kP2 = 0xc2b2ae3d27d4eb4f,
                          kP3 = 0x165667b19e3779f9, kP4 = 0x85ebca77c2b2ae63,
                          kP5 = 0x27d4eb2f165667c5;
  const auto round = [](std::uint64_t lane, std::uint64_t word) {
    return turned(lane + word * kP2, 31) * kP1;
  };
  std::uint64_t h = seed + kP5;
  std::size_t at = 0;
  if (bytes.size() >= 32) {
    std::uint64_t lane[4] = {seed + kP1 + kP2, seed + kP2, seed, seed - kP1};
    for (; at + 32 <= bytes.size(); at += 32)
      for (std::size_t i = 0; i < 4; i++)
        lane[i] = round(lane[i], number_at(bytes, at + 8 * i, 8));
    h = turned(lane[0], 1) + turned(lane[1], 7) + turned(lane[2], 12) + turned(lane[3], 18);
    for (const std::uint64_t each : lane)
      h = (h ^ round(0, each)) * kP1 + kP4;
  }
  h += bytes.size();
  for (; at + 8 <= bytes.size(); at += 8)
    h = turned(h ^ round(0, number_at(bytes, at, 8)), 27) * kP1 + kP4;
  for (; at + 4 <= bytes.size(); at += 4)
    h = turned(h ^ number_at(bytes, at, 4) * kP1, 23) * kP2 + kP3;
  for (; at < bytes.size(); at++)
    h = turned(h ^ bytes[at] * kP5, 11) * kP1;
  h = (h ^ h >> 33) * kP2;
  h = (h ^ h >> 29) * kP3;
  return h ^ h >> 32;
}

Digest specified_datasketches(const Bytes &bytes, std::uint64_t seed) {
  const std::uint64_t first = specified_xxh64(bytes, seed);
  return {first, specified_xxh64(bytes, first)};
}

// Murmur3.hash64 of Hive: the first of the two states of MurmurHash3_x64_128 takes all words.
Digest specified_hive(const Bytes &bytes) {
  std::uint64_t h = 104729;
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    h ^= turned(number_at(bytes, at, 8) * 0x87c37b91114253d5, 31) * 0x4cf5ad432745937f;
    if (at + 8 <= bytes.size())
      h = turned(h, 27) * 5 + 0x52dce729;
  }
  h ^= bytes.size();
  h = (h ^ h >> 33) * 0xff51afd7ed558ccd;
  h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53;
  return {h ^ h >> 33, 0};
}

Digest specified_digest(System system, std::uint64_t seed, const Bytes &bytes) {
  switch (system) {
  case System::guava:
    return specified_guava(bytes);
  case System::parquet:
    return {specified_xxh64(bytes, 0), 0};
  case System::redis:
    return specified_redis(bytes);
  case System::datasketches:
    return specified_datasketches(bytes, seed);
  case System::hive:
    return specified_hive(bytes);
  default:
    return specified_spark(bytes, seed);
  }
}

// The number of continuation bytes of a sequence of UTF-8, from `at` on.
std::size_t continued(const Bytes &text, std::size_t at, std::size_t most) {
  std::size_t count = 0;
  while (count < most && at + count < text.size() && text[at + count] / 64 == 2)
    count++;
  return count;
}

// The chars of `new String(bytes, UTF_8)` in OpenJDK (sun.nio.cs.UTF_8). This implementation uses
// tables of lengths and checks each decoded point. The core uses ranges of bytes.
Bytes specified_utf16(const Bytes &text) {
  constexpr std::uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000}, kReplacement = 0xfffd;
  Bytes utf16;
  const auto put = [&](std::uint32_t unit) {
    const Bytes bytes = little_endian_bytes(unit, 2);
    utf16.insert(utf16.end(), bytes.begin(), bytes.end());
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::uint8_t lead = text[at];
    const std::size_t more = lead / 0x20 == 6 ? 1 : lead / 0x10 == 14 ? 2 : lead / 8 == 30 ? 3 : 0;
    const std::size_t got = continued(text, at + 1, more);
    if (more == 0) { // a whole character, or a byte that begins no sequence
      put(lead < 0x80 ? lead : kReplacement);
      at++;
      continue;
    }
    std::uint32_t point = lead % (64U >> more);
    for (std::size_t i = 1; i <= got; i++)
      point = point * 64 + text[at + i] % 64;
    // The range of code points that the bytes so far could still become.
    const std::size_t missing = 6 * (more - got);
    const std::uint32_t least = point << missing, most = ((point + 1) << missing) - 1;
    // An overlong encoding, or one of too large a number, is wrong from its second byte on. Its
    // lead byte alone is wrong only if no second byte could be right.
    const bool hopeless = most < kLeast[more] || least > 0x10ffff;
    if (hopeless) {
      put(kReplacement);
      at++;
    } else if (got < more || (point >= 0xd800 && point < 0xe000)) {
      put(kReplacement);
      at += 1 + got;
    } else if (more < 3) {
      put(point);
      at += 1 + more;
    } else {
      put(0xd7c0 + point / 0x400);
      put(0xdc00 + point % 0x400);
      at += 1 + more;
    }
  }
  return utf16;
}

// The encodings of a value in another system; none if the system has no such value. The first one
// is added. If `any`, the value may equal every value.
struct Specified {
  std::vector<Bytes> each;
  bool any = false;
};

Specified specified_float(const Bytes &value, bool narrow) {
  const std::uint64_t bits = number_at(value, 0, 8);
  const double number = bits_double(bits);
  const bool is_zero = bits << 1 == 0, is_nan = bits << 1 > 0xffe0000000000000;
  Specified specified;
  specified.any = is_nan;
  // A float has an exponent of 8 bits and a fraction of 23; subnormals have fewer.
  const auto single = static_cast<float>(number);
  if (narrow && !is_nan && static_cast<double>(single) != number)
    return specified;
  std::uint32_t single_bits;
  std::memcpy(&single_bits, &single, sizeof single_bits);
  for (int zero = 0; zero < (is_zero ? 2 : 1); zero++)
    specified.each.push_back(narrow ? little_endian_bytes(single_bits ^ (zero ? 1U << 31 : 0), 4)
                                    : little_endian_bytes(bits ^ (zero ? 1ULL << 63 : 0), 8));
  return specified;
}

// All NaN are one value. One zero is added, and a probe looks for both.
Specified specified_double(const Bytes &value) {
  const std::uint64_t bits = number_at(value, 0, 8);
  if (bits << 1 > 0xffe0000000000000)
    return {{little_endian_bytes(0x7ff8000000000000, 8)}};
  if (bits << 1 == 0)
    return {{little_endian_bytes(0, 8), little_endian_bytes(1ULL << 63, 8)}};
  return {{value}};
}

Specified specified_int32(System system, const Bytes &value) {
  const std::uint64_t bits = number_at(value, 0, 8);
  const bool is_signed = bits < 1ULL << 31 || bits >= ~0ULL << 31;
  const bool is_unsigned = bits < 1ULL << 32;
  if (!is_signed && !(system == System::parquet && is_unsigned))
    return {};
  return {{little_endian_bytes(bits, 4)}};
}

// The encoding of the canonical bytes in a system, as doc/interop.md describes it.
Specified specified_encoding(System system, Family family, Family stored, const Bytes &value) {
  if (stored == Family::utf16)
    return {{specified_utf16(value)}};
  if (system == System::datasketches && family == Family::floating)
    return specified_double(value);
  if (system == System::hive && (family == Family::integer || family == Family::floating)) {
    Specified specified = {{value}};
    if (family == Family::floating)
      specified = specified_float(value, false);
    if (specified.any)
      specified = {{little_endian_bytes(0x7ff8000000000000, 8)}};
    for (Bytes &each : specified.each)
      std::reverse(each.begin(), each.end());
    return specified;
  }
  if (system == System::datasketches && value.empty()) {
    Specified always;
    always.any = true;
    return always;
  }
  if (family == Family::floating)
    return specified_float(value, stored == Family::float32);
  if (stored == Family::int32 && family == Family::integer)
    return specified_int32(system, value);
  if (stored == Family::string && family == Family::integer) {
    const std::string digits = std::to_string(static_cast<std::int64_t>(number_at(value, 0, 8)));
    return {{Bytes(digits.begin(), digits.end())}};
  }
  return {{value}};
}

// --- both, side by side ---

Encoded encoded(Layout layout, std::uint64_t seed, Family family, Family stored,
                const Bytes &value) {
  const Exact copy(value), scratch(scratch_bytes(value.size()));
  return encode(layout, seed,
                {family, stored, copy.bytes.get(), value.size(), scratch.bytes.get()});
}

bool equal(const Layout layout, const Digest &a, const Digest &b) {
  return a.first == b.first && (digest_size(layout) == 1 || a.second == b.second);
}

// The length of a family's canonical bytes (doc/format.md, Families). 0 if the length varies.
std::size_t fixed_length(Family family) {
  switch (family) {
  case Family::integer:
  case Family::floating:
  case Family::timestamp:
  case Family::timestamptz:
  case Family::time:
    return 8;
  case Family::date:
    return 4;
  case Family::uuid:
    return 16;
  default:
    return 0;
  }
}

void use_scheme(const Scheme &scheme, Layout layout, Family family, std::uint64_t seed,
                const Bytes &value) {
  const Family stored = stored_family(scheme, family);
  if (!is_in(kFamiliesOfSql, family) || stored == Family::none)
    return;
  const Encoded found = encoded(layout, seed, family, stored, value);
  const Specified wanted = specified_encoding(system_of(layout), family, stored, value);
  require(found.count == static_cast<int>(wanted.each.size()));
  require((found.outcome == Encoded::none) == (wanted.each.empty() && !wanted.any));
  require((found.outcome == Encoded::any) == wanted.any);
  for (int i = 0; i < found.count; i++) {
    const Bytes &bytes = wanted.each[static_cast<std::size_t>(i)];
    require(equal(layout, found.digests[i], specified_digest(system_of(layout), seed, bytes)));
    // digest_bytes() needs no scratch for values that are kept as they are.
    const Exact copy(bytes);
    require(equal(layout, found.digests[i],
                  digest_bytes(layout, seed, copy.bytes.get(), bytes.size())));
  }
  // If one zero was added, a probe for the other zero finds it.
  if (family == Family::floating && found.count == 2) {
    Bytes other = value;
    other[7] ^= 0x80;
    const Encoded opposite = encoded(layout, seed, family, stored, other);
    // DataSketches adds the same zero for both.
    const int first = system_of(layout) == System::datasketches ? 0 : 1;
    require(opposite.count == 2 && equal(layout, opposite.digests[0], found.digests[first]) &&
            equal(layout, opposite.digests[1], found.digests[1 - first]));
  }
}

// In our own layouts, the hash of parts is the hash of the whole, wherever the bytes are cut. The
// same holds for parts after their lengths, also near the end of the hasher's buffer.
void use_our_layouts(std::uint64_t seed, const Bytes &value) {
  const Exact copy(value);
  const std::uint8_t *bytes = copy.bytes.get();
  const std::uint64_t hash = hash_bytes(bytes, value.size(), seed);
  const std::size_t cut = seed % (value.size() + 1), rest = value.size() - cut;
  Hasher two(seed), headed(seed), parts(seed);
  two.add(bytes, cut);
  two.add(bytes + cut, rest);
  require(two.hash() == hash);
  headed.add(bytes, cut, bytes + cut, rest);
  require(headed.hash() == hash);

  Bytes whole(seed % 4 == 0 ? 4096 - seed / 4 % 64 : 0);
  const auto append = [&](const Bytes &more) {
    whole.insert(whole.end(), more.begin(), more.end());
  };
  if (!whole.empty())
    parts.add(whole.data(), whole.size());
  parts.add_part([&] {
    parts.add(bytes, cut);
    parts.add_part([&] { parts.add(bytes + cut, rest); });
  });
  append(little_endian_bytes(value.size() + 4, 4));
  append(Bytes(bytes, bytes + cut));
  append(little_endian_bytes(rest, 4));
  append(Bytes(bytes + cut, bytes + value.size()));
  require(parts.hash() == hash_bytes(whole.data(), whole.size(), seed));
}

// A hashed value is written and read back, as bytes and as text.
void use_hashed(Family family, std::uint64_t seed, const Bytes &value) {
  const std::uint64_t hash = hash_bytes(value.data(), value.size(), 0);
  const std::uint32_t shape = is_composed(family) ? static_cast<std::uint32_t>(seed >> 40) : 0;
  const HashedValue written = {{family, shape}, hash, family == Family::text ? ~hash : hash};
  std::uint8_t bytes[kHashedValueBytes],
      decoded[decoded_length_limit(encoded_length(sizeof bytes))];
  char text[encoded_length(sizeof bytes)];
  write_hashed_value(bytes, written);
  encode_base64(bytes, sizeof bytes, text);
  std::size_t length = 0;
  require(decode_base64(text, sizeof text, decoded, &length) && length == sizeof bytes);
  require(std::memcmp(decoded, bytes, sizeof bytes) == 0);
  HashedValue read;
  const bool good = read_hashed_value(decoded, length, &read).ok();
  require(good == (is_in(kFamiliesOfSql, family) && family != Family::none &&
                   (!is_composed(family) || shape != 0)));
  require(!good || read == written);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t length) {
  constexpr std::size_t kHead = 10;
  if (length < kHead)
    return 0;
  const Scheme &scheme = kSchemes[bytes[0] % (sizeof kSchemes / sizeof *kSchemes)];
  const auto family = static_cast<Family>(bytes[1] % (static_cast<int>(kLastFamily) + 1));
  const Bytes head(bytes, bytes + kHead);
  const std::uint64_t seed = number_at(head, 2, 8);
  Bytes value(bytes + kHead, bytes + length);
  if (fixed_length(family) > 0)
    value.resize(fixed_length(family));

  use_our_layouts(seed, value);
  use_hashed(family, seed, value);
  for (const LayoutRow &row : kLayoutRows)
    if (row.system != System::ours && row.profile == scheme.layout)
      use_scheme(scheme, row.layout, family, row.seed_bits == 0 ? 0 : seed, value);
  return 0;
}
