// Runs a fuzz target on files, not on inputs that libFuzzer makes up. It is for compilers without
// libFuzzer, and for builds that count lines.

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *input, std::size_t length);

int main(int count, char **files) {
  for (int i = 1; i < count; i++) {
    std::ifstream file(files[i], std::ios::binary);
    const std::string input{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t *>(input.data()), input.size());
  }
}
