// Fuzzes a page of an index's directory and a page of its lines. Each slot is either refused, or a
// probe of its group reads nothing outside the group's pages. Setting a bit in a page of lines
// never removes a column from the answer.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/bytes.hpp"
#include "core/filter_index_pages.hpp"

using namespace bloomfilter;

namespace {

constexpr std::uint32_t kBlocks = 1000;

void require(bool condition) {
  if (!condition)
    std::abort();
}

// Probes a group for a hash, as if all of its pages of lines were this one.
FilterSet probe(const GroupSlot &slot, const std::uint8_t *page, std::uint64_t hash) {
  ProbedLine lines[kMaxProbedLines];
  FilterSet found = live_filters(slot);
  const int count = probed_lines(slot.key.geometry(), hash, lines);
  require(count >= 1 && count <= kMaxProbedLines);
  for (int i = 0; i < count; i++) {
    require(lines[i].line < slot.key.lines());
    const LinePlace place = line_place(slot.columns, lines[i].line);
    require(place.page < slot.pages);
    require(place.offset + static_cast<std::size_t>(slot.columns) * kLineBytes <= kIndexPageBytes);
    found = found & filters_with(page + place.offset, slot.columns, lines[i]);
  }
  return found;
}

void use_slot(const GroupSlot &slot, std::uint8_t *lines, std::uint64_t hash) {
  require(slot.start > 0 && slot.pages > 0);
  if (slot.state == SlotState::space)
    return;
  require(slot.start + slot.pages <= kBlocks);
  const FilterSet live = live_filters(slot);
  int count = 0;
  for (int column = 0; column < slot.columns; column++)
    count += live.has(column) ? 1 : 0;
  require(count == slot.live && !live.is_empty());
  (void)is_page_of(lines, slot, 0);
  const FilterSet found = probe(slot, lines, hash);
  lines[kContentAt + hash % kContentBytes] |= 1U << hash / kContentBytes % 8;
  const FilterSet then = probe(slot, lines, hash);
  require((found & then).words[0] == found.words[0] && (found & then).words[1] == found.words[1]);
  std::memset(lines + kContentAt, 0xFF, kContentBytes);
  const FilterSet all = probe(slot, lines, hash);
  require(all.words[0] == live.words[0] && all.words[1] == live.words[1]);
}

} // namespace

// The input is a hash, some slots, and then as much of a page of lines as there is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *input, std::size_t length) {
  if (length < sizeof(std::uint64_t) + sizeof(GroupSlot))
    return 0;
  const auto hash = load<std::uint64_t>(input);
  input += sizeof hash;
  length -= sizeof hash;
  GroupSlot slot;
  std::memcpy(&slot, input, sizeof slot);
  input += sizeof slot;
  length -= sizeof slot;
  alignas(8) std::uint8_t page[kIndexPageBytes] = {};
  std::memcpy(page, input, std::min(length, sizeof page));
  for (const PageKind kind : {PageKind::meta, PageKind::list, PageKind::directory, PageKind::lines})
    if (is_index_page(page, kind) && kind == PageKind::list)
      require(sizeof(ListEntry) * head_of(page)->count <= kContentBytes);
  if (slot.state != SlotState::none && is_sound_slot(slot, kBlocks))
    use_slot(slot, page, hash);
  return 0;
}
