import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * The values of golden files, and the lines of a manifest. The README.md beside the files lists the
 * values.
 */
final class Golden {
  static final long[] EDGES = {
    0, 1, -1, 127, -128, 32767, -32768, Integer.MAX_VALUE, Integer.MIN_VALUE, 1L << 31, 1L << 32,
    Long.MAX_VALUE, Long.MIN_VALUE
  };
  static final double[] DOUBLE_EDGES = {
    0.0, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.MIN_VALUE,
    -Double.MIN_VALUE, Double.MAX_VALUE, -Double.MAX_VALUE, 0.1, 1.0 / 3
  };
  static final String[] UNICODE = {
    "", "a", "ab", "abc", "abcd", "abcde", "abcdefg", "abcdefgh", "naïve", "日本語", "😀", "Zażółć",
    "ÿþ", "x".repeat(1000)
  };

  private final Path folder;
  private final PrintWriter manifest;

  Golden(String folder, String manifest) throws IOException {
    this.folder = Path.of(folder);
    this.manifest = new PrintWriter(Files.newBufferedWriter(this.folder.resolve(manifest)));
  }

  static Object item(String kind, int i) {
    switch (kind) {
      case "int64":
        return i * 1000003L - 500;
      case "double":
        return 0.25 * i - 10;
      case "string":
        return "user-" + i;
      case "bytes":
        byte[] bytes = new byte[1 + i % 40];
        for (int j = 0; j < bytes.length; j++) {
          bytes[j] = (byte) (7 * i + 13 * j + (i >> 5));
        }
        return bytes;
      case "edges":
        return EDGES[i];
      case "double_edges":
        return DOUBLE_EDGES[i];
      case "minus_zero":
        return -0.0;
      case "unicode":
        return UNICODE[i];
      default:
        throw new IllegalArgumentException(kind);
    }
  }

  /** Returns items 0 to n - 1 of a kind. */
  static List<Object> members(String kind, int n) {
    List<Object> items = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      items.add(item(kind, i));
    }
    return items;
  }

  /** Writes a file and its line in the manifest. `facts` are fields of the line, a comma after each. */
  void write(
      String file, byte[] bytes, String facts, String values, int n, Predicate<Object> asked)
      throws IOException {
    Files.write(folder.resolve(file), bytes);
    String strangers =
        values.contains("double") || values.equals("minus_zero")
            ? "double"
            : values.equals("edges") ? "int64" : values.equals("unicode") ? "string" : values;
    StringBuilder positives = new StringBuilder();
    for (int i = 1000000; i < 1020000; i++) {
      if (asked.test(item(strangers, i))) {
        positives.append(positives.length() == 0 ? "" : ",").append(i);
      }
    }
    manifest.printf(
        "{\"file\":\"%s\",\"values\":\"%s\",\"n\":%d,%s\"strangers\":\"%s\",\"from\":1000000,"
            + "\"count\":20000,\"false_positives\":[%s]}%n",
        file, values, n, facts, strangers, positives);
    manifest.flush();
    for (Object member : members(values, n)) {
      if (!asked.test(member) && !member.equals("")) {
        throw new IllegalStateException(file + " denies " + member);
      }
    }
  }
}
