import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.apache.hive.common.util.BloomKFilter;

/** Writes the files of test/golden/hive with Hive's class: HiveGolden FOLDER. */
public final class HiveGolden {
  private HiveGolden() {}

  static void add(BloomKFilter filter, Object item) {
    if (item instanceof Long) {
      filter.addLong((Long) item);
    } else if (item instanceof Double) {
      filter.addDouble((Double) item);
    } else if (item instanceof String) {
      filter.addString((String) item);
    } else {
      filter.addBytes((byte[]) item);
    }
  }

  static boolean test(BloomKFilter filter, Object item) {
    return item instanceof Long
        ? filter.testLong((Long) item)
        : item instanceof Double
            ? filter.testDouble((Double) item)
            : item instanceof String
                ? filter.testString((String) item)
                : filter.testBytes((byte[]) item);
  }

  static void write(Golden golden, String file, BloomKFilter filter, int expected, String kind, int n)
      throws IOException {
    for (Object item : Golden.members(kind, n)) {
      add(filter, item);
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BloomKFilter.serialize(bytes, filter);
    int set = 0;
    for (long word : filter.getBitSet()) {
      set += Long.bitCount(word);
    }
    String facts =
        String.format(
            "\"expected\":%d,\"k\":%d,\"bits\":%d,\"bits_set\":%d,",
            expected, filter.getNumHashFunctions(), filter.getBitSize(), set);
    golden.write(
        file + ".hive", bytes.toByteArray(), facts, kind, n, item -> test(filter, item));
  }

  public static void main(String[] arguments) throws IOException {
    Golden golden = new Golden(arguments[0], "manifest.jsonl");
    for (String kind : new String[] {"int64", "double", "string", "bytes"}) {
      write(golden, kind + "_1000", new BloomKFilter(1000), 1000, kind, 1000);
    }
    write(golden, "edges_100", new BloomKFilter(100), 100, "edges", Golden.EDGES.length);
    write(
        golden, "double_edges_1", new BloomKFilter(1), 1, "double_edges", Golden.DOUBLE_EDGES.length);
    write(golden, "minus_zero_10", new BloomKFilter(10), 10, "minus_zero", 1);
    write(golden, "unicode_50", new BloomKFilter(50), 50, "unicode", Golden.UNICODE.length);
    write(golden, "int64_empty_20000", new BloomKFilter(20000), 20000, "int64", 0);
    write(golden, "string_20000", new BloomKFilter(20000), 20000, "string", 20000);
    // expected is 0 for a filter that was made of words and a number of hash functions
    write(golden, "int64_words24_k1", new BloomKFilter(new long[24], 1), 0, "int64", 100);
    write(golden, "string_words8_k127", new BloomKFilter(new long[8], 127), 0, "string", 3);
    write(golden, "bytes_words8000_k10", new BloomKFilter(new long[8000], 10), 0, "bytes", 5000);
  }
}
