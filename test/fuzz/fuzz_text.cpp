// Fuzzes the decoder of base64. It either refuses the input, or the input is, apart from white
// space, the only text of the bytes that the decoder gives.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/text.hpp"

using namespace bloomfilter;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *input, std::size_t length) {
  std::string text(input, input + length);
  std::vector<std::uint8_t> bytes(decoded_length_limit(length));
  std::size_t decoded = 0;
  if (!decode_base64(text.data(), length, bytes.data(), &decoded))
    return 0;
  if (decoded > bytes.size())
    std::abort();

  std::string canonical(encoded_length(decoded), '\0');
  encode_base64(bytes.data(), decoded, canonical.data());
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  text.erase(std::remove_if(text.begin(), text.end(), is_space), text.end());
  if (text != canonical)
    std::abort();
  return 0;
}
