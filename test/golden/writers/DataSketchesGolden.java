import java.io.IOException;
import org.apache.datasketches.filters.bloomfilter.BloomFilter;
import org.apache.datasketches.filters.bloomfilter.BloomFilterBuilder;

/** Writes the files of test/golden/datasketches that Java makes: DataSketchesGolden FOLDER. */
public final class DataSketchesGolden {
  private DataSketchesGolden() {}

  static void update(BloomFilter filter, Object item, boolean count) {
    if (item instanceof Long) {
      if (count) filter.queryAndUpdate((long) (Long) item); else filter.update((long) (Long) item);
    } else if (item instanceof Double) {
      if (count) filter.queryAndUpdate((double) (Double) item); else filter.update((double) (Double) item);
    } else if (item instanceof String) {
      if (count) filter.queryAndUpdate((String) item); else filter.update((String) item);
    } else {
      if (count) filter.queryAndUpdate((byte[]) item); else filter.update((byte[]) item);
    }
  }

  static boolean query(BloomFilter filter, Object item) {
    return item instanceof Long
        ? filter.query((long) (Long) item)
        : item instanceof Double
            ? filter.query((double) (Double) item)
            : item instanceof String ? filter.query((String) item) : filter.query((byte[]) item);
  }

  /** If `counted` is false, the file has -1 for the number of bits that are set. */
  static void write(
      Golden golden, String file, BloomFilter filter, boolean counted, String kind, int n)
      throws IOException {
    for (Object item : Golden.members(kind, n)) {
      update(filter, item, counted);
    }
    byte[] bytes = filter.toByteArray();
    String facts =
        String.format(
            "\"by\":\"Java\",\"seed\":%d,\"k\":%d,\"bits\":%d,\"bits_set\":%d,\"counted\":%b,",
            filter.getSeed(), filter.getNumHashes(), filter.getCapacity(), filter.getBitsUsed(),
            counted);
    golden.write("java_" + file + ".ds", bytes, facts, kind, n, item -> query(filter, item));
  }

  public static void main(String[] arguments) throws IOException {
    Golden golden = new Golden(arguments[0], "java.jsonl");
    for (String kind : new String[] {"int64", "double", "string", "bytes"}) {
      write(golden, kind + "_acc1000_0.01_seed9001",
          BloomFilterBuilder.createByAccuracy(1000, 0.01, 9001), kind.equals("string"), kind, 1000);
    }
    write(golden, "edges_acc100_0.001_seed-1",
        BloomFilterBuilder.createByAccuracy(100, 0.001, -1), false, "edges", Golden.EDGES.length);
    write(golden, "double_edges_acc100_0.05_seed0",
        BloomFilterBuilder.createByAccuracy(100, 0.05, 0), false, "double_edges",
        Golden.DOUBLE_EDGES.length);
    write(golden, "minus_zero_size64_2_seed3",
        BloomFilterBuilder.createBySize(64, 2, 3), false, "minus_zero", 1);
    write(golden, "unicode_acc20_0.0001_seed7",
        BloomFilterBuilder.createByAccuracy(20, 0.0001, 7), true, "unicode", Golden.UNICODE.length);
    write(golden, "string_empty_size100_3_seed5",
        BloomFilterBuilder.createBySize(100, 3, 5), true, "string", 0);
  }
}
