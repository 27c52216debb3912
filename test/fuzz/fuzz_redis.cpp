// Fuzzes read_redis(). It either refuses the input, or the input is a chain of filters that can be
// used. The input is a header chunk, of the length that follows from its number of links, and then
// the bitmaps.

#include <algorithm>

#include "core/bytes.hpp"
#include "core/foreign/file.hpp"
#include "core/links.hpp"
#include "fuzz/foreign.hpp"

using namespace bloomfilter;

namespace {

// Returns the number of bytes of all links.
std::size_t require_links(const Link *links, int count) {
  require(count >= 1 && count <= kMaxLinks);
  std::size_t sum = 0;
  for (int i = 0; i < count; i++) {
    const Link &link = links[i];
    std::uint8_t head[kHeaderBytes];
    Header header = {link.geometry, {Family::string, 0}, 0, link.capacity, link.flags};
    Header read;
    write_header(head, header);
    require(link.geometry.layout == Layout::redis);
    require(parse(head, header.payload_bytes(), &read).ok());
    sum += link.geometry.bytes();
  }
  return sum;
}

// Uses the value of several links that an import makes.
void use_links(const Link *links, int count, const std::uint8_t *bitmaps) {
  LinkView views[kMaxLinks];
  for (int i = 0; i < count; i++) {
    use_bitmap(links[i].geometry, bitmaps);
    views[i] = {links[i], bitmaps, nullptr};
    bitmaps += links[i].geometry.bytes();
  }
  const int kept = normalize_links(views, count, check_nothing);
  require(kept >= 1 && kept <= count);
  if (kept == 1)
    return;
  Header header = {{Layout::redis, 0, 0},           {Family::string, 0}, 0, {}, kFlagChain,
                   static_cast<std::uint32_t>(kept)};
  Header read;
  std::vector<std::uint8_t> payload(header.head_bytes());
  write_header(payload.data(), header);
  for (int i = 0; i < kept; i++) {
    write_link(payload.data(), i, views[i].link);
    payload.insert(payload.end(), views[i].bitmap,
                   views[i].bitmap + views[i].link.geometry.bytes());
  }
  require(validate(payload.data(), payload.size(), &read).ok());
  require(read.links() == kept);
}

// What is written for links is read back as the same links. If their capacities and rates are
// known, they are read back, too.
void write_links(const Link *links, int count, double values) {
  const std::vector<double> each(static_cast<std::size_t>(count), values);
  std::uint8_t header[kMaxRedisHeader];
  const std::size_t length = write_redis(header, links, each.data(), count);
  Link read[kMaxLinks];
  int read_count = 0;
  require(length <= kMaxRedisHeader);
  require(!read_redis(header, length, read, &read_count).text && read_count == count);
  for (int i = 0; i < count; i++) {
    require(read[i].geometry == links[i].geometry);
    require(!links[i].capacity.is_known() || (read[i].capacity.values == links[i].capacity.values &&
                                              read[i].capacity.rate == links[i].capacity.rate));
  }
}

// If each link is cut into pieces, chunks of the pieces' lengths fit. Other lengths fit only if
// they end where the links end.
void fit_chunks(const Link *links, int count, std::size_t piece) {
  std::vector<std::size_t> each, across;
  std::size_t left = 0;
  for (int i = 0; i < count; i++) {
    for (std::size_t rest = links[i].geometry.bytes(); rest > 0; rest -= each.back())
      each.push_back(std::min(piece, rest));
    left += links[i].geometry.bytes();
  }
  const auto fits = [&](const std::vector<std::size_t> &lengths) {
    return !fit_redis_chunks(links, count, lengths.data(), static_cast<int>(lengths.size())).text;
  };
  require(fits(each));
  for (; left > 0; left -= across.back())
    across.push_back(std::min(piece, left));
  require(fits(across) == (across == each));
  for (std::size_t i = 1; i < each.size(); i++)
    if (each[i] != each[i - 1]) {
      std::swap(each[i], each[i - 1]);
      require(!fits(each));
      std::swap(each[i], each[i - 1]);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t length) {
  Link links[kMaxLinks];
  int count = 0;
  const std::uint64_t number = length < kRedisHead ? 0 : load<std::uint32_t>(bytes + 8);
  const auto header =
      static_cast<std::size_t>(std::min<std::uint64_t>(kRedisHead + number * kRedisEntry, length));
  if (read_redis(bytes, header, links, &count).text)
    return 0;
  const std::size_t sum = require_links(links, count);
  write_links(links, count, static_cast<double>(load<std::uint64_t>(bytes)));
  // The growth of a chain does not matter to a reader, so the fuzzer uses it as a length of pieces.
  fit_chunks(links, count, std::max<std::size_t>(load<std::uint32_t>(bytes + 16), sum / 1000 + 1));
  if (length - header == sum)
    use_links(links, count, bytes + header);
  return 0;
}
