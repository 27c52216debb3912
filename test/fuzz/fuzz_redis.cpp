// Whatever bytes arrive, read_redis() refuses them or they are a chain of filters that can be used.
// The input is a header chunk, as long as its number of links says, and the other chunks.

#include <algorithm>

#include "core/bytes.hpp"
#include "core/links.hpp"
#include "fuzz/foreign.hpp"

using namespace bloomfilter;

namespace {

constexpr std::size_t kHead = 20, kEntry = 53;

void require_links(const Link *links, int count, std::uint64_t bitmap_bytes) {
  require(count >= 1 && count <= kMaxLinks);
  std::uint64_t sum = 0;
  for (int i = 0; i < count; i++) {
    const Link &link = links[i];
    std::uint8_t head[kHeaderBytes];
    Header header = {link.geometry, some_family(Layout::redis), link.flags, 0, 0, link.expected,
                     link.rate};
    Header read;
    write_header(head, header);
    require(link.geometry.layout == Layout::redis);
    require(parse(head, header.payload_bytes(), &read).ok());
    sum += link.geometry.bytes();
  }
  require(sum == bitmap_bytes);
}

// The value of links that an import makes.
void use_links(const Link *links, int count, const std::uint8_t *bitmaps) {
  LinkView views[kMaxLinks];
  for (int i = 0; i < count; i++) {
    use_bitmap(links[i].geometry, bitmaps);
    views[i] = {links[i], bitmaps, nullptr};
    bitmaps += links[i].geometry.bytes();
  }
  const int kept = normalize_links(views, count);
  require(kept >= 1 && kept <= count);
  if (kept == 1)
    return;
  Header header = {{Layout::redis, 0, static_cast<std::uint32_t>(kept)},
                   some_family(Layout::redis),
                   kFlagChain,
                   0,
                   0,
                   0,
                   0};
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

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t length) {
  Link links[kMaxLinks];
  int count = 0;
  const std::uint64_t number = length < kHead ? 0 : load<std::uint32_t>(bytes + 8);
  const auto header =
      static_cast<std::size_t>(std::min<std::uint64_t>(kHead + number * kEntry, length));
  if (!read_redis(bytes, header, length - header, links, &count).phrase) {
    require_links(links, count, length - header);
    use_links(links, count, bytes + header);
  }

  // The header alone, of chunks that are as long as it says, however long.
  std::uint64_t sum = 0;
  for (std::size_t at = kHead; at + kEntry <= header; at += kEntry)
    sum += load<std::uint64_t>(bytes + at);
  if (!read_redis(bytes, header, sum, links, &count).phrase)
    require_links(links, count, sum);
  return 0;
}
