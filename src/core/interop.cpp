#include "core/interop.hpp"

#include <algorithm>
#include <cmath>

#include "core/bytes.hpp"
#include "core/sizing.hpp"

namespace bloomfilter {
namespace {

const Problem kNone = {nullptr, 0, 0};

// Thrift's compact protocol (thrift-compact-protocol.md), as far as a reader needs it that looks
// for a few fields and skips all others.
class ThriftReader {
public:
  enum Type : std::uint8_t {
    stop = 0,
    yes = 1,
    no = 2,
    i8 = 3,
    i16 = 4,
    i32 = 5,
    i64 = 6,
    f64 = 7,
    binary = 8,
    list = 9,
    set = 10,
    map = 11,
    structure = 12,
    uuid = 13,
  };

  ThriftReader(const std::uint8_t *bytes, std::size_t length)
      : begin_(bytes), at_(bytes), end_(bytes + length), good_(true) {}

  // False from the first byte on that makes no sense, or is not there.
  bool good() const { return good_; }
  std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }

  // The next field of a struct whose last one was `*id`.
  Type field(std::int64_t *id) {
    const std::uint8_t head = byte();
    const auto type = static_cast<Type>(head & 0x0F);
    if (type == stop)
      return stop;
    if (head >> 4 != 0)
      *id += head >> 4;
    else
      *id = integer();
    if (*id != static_cast<std::int16_t>(*id))
      good_ = false;
    return type;
  }

  std::int64_t integer() { // zigzag
    const std::uint64_t coded = varint();
    return static_cast<std::int64_t>(coded >> 1) ^ -static_cast<std::int64_t>(coded & 1);
  }

  void skip(Type type, int depth = 0) {
    if (depth > 16)
      good_ = false;
    if (!good_)
      return;
    switch (type) {
    case yes:
    case no:
      break; // the value of a field is in its type
    case i8:
      advance(1);
      break;
    case i16:
    case i32:
    case i64:
      varint();
      break;
    case f64:
      advance(8);
      break;
    case uuid:
      advance(16);
      break;
    case binary:
      advance(varint());
      break;
    case list:
    case set:
      skip_list(depth);
      break;
    case map:
      skip_map(depth);
      break;
    case structure: {
      std::int64_t id = 0;
      for (Type of_field = field(&id); good_ && of_field != stop; of_field = field(&id))
        skip(of_field, depth + 1);
      break;
    }
    default:
      good_ = false;
    }
  }

private:
  std::uint8_t byte() {
    if (at_ == end_) {
      good_ = false;
      return 0;
    }
    return *at_++;
  }
  void advance(std::uint64_t count) {
    if (count > static_cast<std::uint64_t>(end_ - at_))
      good_ = false;
    else
      at_ += count;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t part = byte();
      value |= static_cast<std::uint64_t>(part & 0x7F) << shift;
      if (part < 0x80)
        return value;
    }
    good_ = false;
    return 0;
  }
  // Booleans take a byte here; everything takes one at least, so a count beyond the bytes is wrong.
  void skip_items(std::uint64_t count, Type type, int depth) {
    if (count > static_cast<std::uint64_t>(end_ - at_))
      good_ = false;
    for (; good_ && count > 0; count--)
      skip(type == yes || type == no ? i8 : type, depth + 1);
  }
  void skip_list(int depth) {
    const std::uint8_t head = byte();
    const std::uint64_t count = head >> 4 == 15 ? varint() : head >> 4;
    skip_items(count, static_cast<Type>(head & 0x0F), depth);
  }
  void skip_map(int depth) {
    const std::uint64_t count = varint();
    if (count == 0)
      return;
    const std::uint8_t types = byte();
    if (count > static_cast<std::uint64_t>(end_ - at_))
      good_ = false;
    for (std::uint64_t i = 0; good_ && i < count; i++) {
      skip_items(1, static_cast<Type>(types >> 4), depth);
      skip_items(1, static_cast<Type>(types & 0x0F), depth);
    }
  }

  const std::uint8_t *begin_, *at_, *end_;
  bool good_;
};

// Reads a union whose only known variant is field 1, an empty struct; 0 if another one is set.
std::int64_t read_variant(ThriftReader *reader) {
  std::int64_t id = 0, variant = 0;
  int variants = 0;
  for (ThriftReader::Type type = reader->field(&id); reader->good() && type != ThriftReader::stop;
       type = reader->field(&id)) {
    variant = type == ThriftReader::structure ? id : 0;
    variants++;
    reader->skip(type);
  }
  return variants == 1 ? variant : 0;
}

Layout mitz32(Layout layout) {
  return static_cast<Layout>(static_cast<int>(layout) + static_cast<int>(Layout::guava_mitz32) -
                             static_cast<int>(Layout::guava));
}

std::uint32_t load_big(const std::uint8_t *bytes) {
  return static_cast<std::uint32_t>(bytes[0]) << 24 | static_cast<std::uint32_t>(bytes[1]) << 16 |
         static_cast<std::uint32_t>(bytes[2]) << 8 | bytes[3];
}

std::size_t write_varint(std::uint8_t *bytes, std::uint64_t value) {
  std::size_t count = 0;
  for (; value >= 0x80; value >>= 7)
    bytes[count++] = static_cast<std::uint8_t>(value | 0x80);
  bytes[count++] = static_cast<std::uint8_t>(value);
  return count;
}

// A link's entry in the header chunk. RedisBloom loads any capacity, and an error that is NaN;
// where bits are does not depend on them.
Problem read_redis_link(const std::uint8_t *entry, Link *link) {
  const auto size = load<std::uint64_t>(entry), bits = load<std::uint64_t>(entry + 8);
  const double error = bits_double(load<std::uint64_t>(entry + 24));
  const double bits_per_value = bits_double(load<std::uint64_t>(entry + 32));
  const auto hashes = load<std::uint32_t>(entry + 40);
  const auto capacity = load<std::uint64_t>(entry + 44);
  const std::uint8_t log = entry[52];
  if (size == 0 || size % kWordBytes != 0 || size > kMaxBits / 8)
    return {"the number of bytes of a link is not a multiple of 8 within the limits", size};
  if (bits != 8 * size)
    return {"the number of bits of a link does not fit its bytes", bits};
  if (log != 0 && (log > 63 || bits != std::uint64_t{1} << log))
    return {"the number of bits of a link is not the power of two that it says", log};
  if (hashes == 0 || hashes > kMaxForeignHashes)
    return {"the number of hash functions of a link is out of range", hashes};
  constexpr double kLn2 = 0.693147180559945; // to as many digits as RedisBloom has
  if (hashes != std::ceil(kLn2 * bits_per_value))
    return {"the number of hash functions of a link does not fit its bits per value", hashes};
  if (error <= 0 || error >= 1)
    return {"the error of a link is not between 0 and 1; its capacity is", capacity};
  const bool known = capacity >= 1 && capacity <= kMaxBits && rate_in_range(error);
  *link = {{Layout::redis, static_cast<std::uint8_t>(hashes),
            static_cast<std::uint32_t>(size / kWordBytes)},
           kFlagOwn,
           known ? capacity : 0,
           known ? error : 0.0};
  return kNone;
}

} // namespace

Problem read_guava(const std::uint8_t *bytes, std::size_t length, Layout layout, Found *found) {
  if (length < kGuavaHead)
    return {"the file is shorter than its head", length};
  if (bytes[0] > 1)
    return {"the strategy is neither MURMUR128_MITZ_32 (0) nor MURMUR128_MITZ_64 (1)", bytes[0]};
  if (bytes[1] == 0)
    return {"the number of hash functions is out of range", bytes[1]};
  const std::uint32_t words = load_big(bytes + 2);
  if (words == 0 || words > kMaxBits / 64)
    return {"the number of words is out of range", words};
  if (length - kGuavaHead != std::size_t{8} * words)
    return {"the number of words does not fit the length of the file", words};
  found->geometry = {bytes[0] == 0 ? mitz32(layout) : layout, bytes[1], words};
  found->offset = kGuavaHead;
  return kNone;
}

void write_guava_head(std::uint8_t *bytes, const Geometry &geometry) {
  bytes[0] = is_mitz32(geometry.layout) ? 0 : 1;
  bytes[1] = geometry.hashes;
  for (int i = 0; i < 4; i++)
    bytes[2 + i] = static_cast<std::uint8_t>(geometry.units >> (24 - 8 * i));
}

void swap_words(std::uint8_t *to, const std::uint8_t *from, std::size_t words) {
  for (std::size_t i = 0; i < words; i++)
    store(to + 8 * i, __builtin_bswap64(load<std::uint64_t>(from + 8 * i)));
}

Problem read_parquet(const std::uint8_t *bytes, std::size_t length, Layout layout, Found *found) {
  *found = {};
  ThriftReader reader(bytes, length);
  std::int64_t id = 0, size = 0, algorithm = -1, hash = -1, compression = -1;
  bool sized = false;
  for (ThriftReader::Type type = reader.field(&id); reader.good() && type != ThriftReader::stop;
       type = reader.field(&id)) {
    if (id == 1 && type == ThriftReader::i32) {
      size = reader.integer();
      sized = true;
    } else if (id >= 2 && id <= 4 && type == ThriftReader::structure) {
      std::int64_t *const variant = id == 2 ? &algorithm : id == 3 ? &hash : &compression;
      *variant = read_variant(&reader);
    } else {
      reader.skip(type);
    }
  }
  if (!reader.good())
    return {"the header ends early or is not Thrift's compact protocol, at byte", reader.offset()};
  if (!sized || algorithm < 0 || hash < 0 || compression < 0)
    return {"the header lacks a field; its length is", reader.offset()};
  if (algorithm != 1)
    return {"the algorithm is not BLOCK (1)", static_cast<std::uint64_t>(algorithm)};
  if (hash != 1)
    return {"the hash is not XXHASH (1)", static_cast<std::uint64_t>(hash)};
  if (compression != 1)
    return {"the compression is not UNCOMPRESSED (1)", static_cast<std::uint64_t>(compression)};
  if (size < kBlockBytes || size % kBlockBytes != 0 ||
      static_cast<std::uint64_t>(size) > kMaxBits / 8)
    return {"the number of bytes is not a multiple of 32 within the limits",
            static_cast<std::uint64_t>(size)};
  found->geometry = {layout, kBlockWords, static_cast<std::uint32_t>(size / kBlockBytes)};
  found->offset = reader.offset();
  if (length != found->end())
    return {"the number of bytes is not that of those that follow",
            static_cast<std::uint64_t>(size), length - reader.offset()};
  return kNone;
}

std::size_t write_parquet_head(std::uint8_t *bytes, const Geometry &geometry) {
  std::size_t length = 0;
  bytes[length++] = 0x15;                                       // field 1: i32
  length += write_varint(bytes + length, 2 * geometry.bytes()); // zigzag
  for (int field = 0; field < 3; field++) {                     // fields 2, 3, 4:
    static constexpr std::uint8_t kVariant[] = {0x1C, 0x1C, 0x00,
                                                0x00}; // a union of an empty struct
    for (const std::uint8_t byte : kVariant)
      bytes[length++] = byte;
  }
  bytes[length++] = 0x00;
  return length;
}

Problem read_redis(const std::uint8_t *bytes, std::size_t length, Link *links, int *count) {
  constexpr std::size_t kHead = 20, kEntry = 53;
  constexpr std::size_t kOldHead = 16, kOldEntry = 49; // without growth; of a capacity u32
  constexpr std::uint32_t kForce64 = 4, kKnownOptions = 15;
  if (length < kOldHead)
    return {"the header chunk is shorter than its head", length};
  const std::uint32_t number = load<std::uint32_t>(bytes + 8);
  const std::uint32_t options = load<std::uint32_t>(bytes + 12);
  if (number == 0 || number > static_cast<std::uint32_t>(kMaxLinks))
    return {"the number of links is out of range", number};
  if (length == kOldHead + number * kOldEntry || length == kHead + number * kOldEntry)
    return {"the header chunk was made by RedisBloom before 2.2.1; its number of links is", number};
  if (length != kHead + number * kEntry)
    return {"the number of links does not fit the length of the header chunk", number};
  if (options & ~kKnownOptions)
    return {"the options are unknown", options};
  if (!(options & kForce64))
    return {"the filter does not use 64-bit hashes; its options are", options};

  const auto values = load<std::uint64_t>(bytes);
  const Problem unequal = {"the links' values do not add up to those of the filter", values};
  std::uint64_t left = values;
  for (std::uint32_t i = 0; i < number; i++) {
    const std::uint8_t *entry = bytes + kHead + i * kEntry;
    const Problem problem = read_redis_link(entry, &links[i]);
    if (problem.phrase)
      return problem;
    const auto of_link = load<std::uint64_t>(entry + 16);
    if (of_link > left)
      return unequal;
    left -= of_link;
  }
  if (left != 0)
    return unequal;
  *count = static_cast<int>(number);
  return kNone;
}

Problem fit_redis_chunks(const Link *links, int count, const std::size_t *lengths, int chunks) {
  int chunk = 0;
  for (int i = 0; i < count; i++) {
    std::size_t left = links[i].geometry.bytes();
    const std::size_t piece = chunk < chunks ? lengths[chunk] : 0;
    for (; left > 0; left -= lengths[chunk++]) {
      if (chunk == chunks)
        return {"chunks are missing; the number of bytes that a link lacks is", left};
      const std::size_t next = std::min(piece, left);
      if (lengths[chunk] != next || next == 0)
        return {"the number of bytes of a chunk is not that of its place", lengths[chunk], next};
    }
  }
  if (chunk < chunks)
    return {"a chunk follows those of the last link; the number of its bytes is", lengths[chunk]};
  return kNone;
}

} // namespace bloomfilter
