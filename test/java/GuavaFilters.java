import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import com.google.common.io.BaseEncoding;
import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * Guava's side of the filters that Guava and PostgreSQL exchange.
 *
 * <pre>
 *   build FUNNEL STRATEGY EXPECTED FPP VALUES FILE   writes a filter of the lines of VALUES
 *   answer FUNNEL FILE QUESTIONS ANSWERS             probes it with each line of QUESTIONS: 1 or 0
 *   sizes PARAMETERS ANSWERS                         number of hashes and longs for "EXPECTED FPP"
 *
 *   FUNNEL     long, integer, string_utf8, unencoded_chars, or bytes, whose lines are hexadecimal
 *   STRATEGY   mitz64 or mitz32
 * </pre>
 *
 * Files of values and answers are lines in UTF-8; only a line feed ends a line.
 *
 * <pre>
 *   javac -cp /usr/share/java/guava.jar GuavaFilters.java
 *   java -cp /usr/share/java/guava.jar:. GuavaFilters build long mitz64 1000 0.01 values file
 * </pre>
 */
public final class GuavaFilters {
  private GuavaFilters() {}

  /** The element type of a filter, and how a line is read as a value of this type. */
  private static final class Elements<T> {
    final Funnel<? super T> funnel;
    final Function<String, T> value;

    Elements(Funnel<? super T> funnel, Function<String, T> value) {
      this.funnel = funnel;
      this.value = value;
    }

    static Elements<?> named(String funnel) {
      switch (funnel) {
        case "long":
          return new Elements<>(Funnels.longFunnel(), Long::valueOf);
        case "integer":
          return new Elements<>(Funnels.integerFunnel(), Integer::valueOf);
        case "string_utf8":
          return new Elements<>(Funnels.stringFunnel(StandardCharsets.UTF_8), line -> line);
        case "unencoded_chars":
          return new Elements<>(Funnels.unencodedCharsFunnel(), line -> line);
        case "bytes":
          return new Elements<>(
              Funnels.byteArrayFunnel(), BaseEncoding.base16().lowerCase()::decode);
        default:
          throw new IllegalArgumentException("no such funnel: " + funnel);
      }
    }
  }

  public static void main(String[] command) throws IOException {
    String form = command.length == 0 ? "nothing" : command[0] + " " + command.length;
    switch (form) {
      case "build 7":
        build(Elements.named(command[1]), command[2], Long.parseLong(command[3]),
            Double.parseDouble(command[4]), command[5], command[6]);
        break;
      case "answer 5":
        answer(Elements.named(command[1]), command[2], command[3], command[4]);
        break;
      case "sizes 3":
        sizes(command[1], command[2]);
        break;
      default:
        throw new IllegalArgumentException("not a command: " + String.join(" ", command));
    }
  }

  private static <T> void build(Elements<T> elements, String strategy, long expected, double fpp,
      String values, String file) throws IOException {
    BloomFilter<T> filter = empty(elements.funnel, strategy, expected, fpp);
    for (String line : lines(values)) {
      filter.put(elements.value.apply(line));
    }
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(Path.of(file)))) {
      filter.writeTo(out);
    }
  }

  private static <T> void answer(Elements<T> elements, String file, String questions,
      String answers) throws IOException {
    BloomFilter<T> filter = read(elements.funnel, Files.readAllBytes(Path.of(file)));
    List<String> result = new ArrayList<>();
    for (String line : lines(questions)) {
      result.add(filter.mightContain(elements.value.apply(line)) ? "1" : "0");
    }
    Files.write(Path.of(answers), result);
  }

  private static void sizes(String parameters, String answers) throws IOException {
    List<String> result = new ArrayList<>();
    for (String line : lines(parameters)) {
      String[] pair = line.split(" ");
      byte[] bytes = written(BloomFilter.create(
          Funnels.longFunnel(), Long.parseLong(pair[0]), Double.parseDouble(pair[1])));
      result.add((bytes[1] & 0xff) + " " + (bytes.length - 6) / 8);
    }
    Files.write(Path.of(answers), result);
  }

  /**
   * Makes an empty filter. Guava has no public way to make a filter of the older strategy, which
   * has the number 0, but Guava reads one: so the number in the bytes of a new filter is changed.
   */
  private static <T> BloomFilter<T> empty(Funnel<? super T> funnel, String strategy, long expected,
      double fpp) throws IOException {
    BloomFilter<T> filter = BloomFilter.create(funnel, expected, fpp);
    if (strategy.equals("mitz64")) {
      return filter;
    }
    if (!strategy.equals("mitz32")) {
      throw new IllegalArgumentException("no such strategy: " + strategy);
    }
    byte[] bytes = written(filter);
    bytes[0] = 0;
    return read(funnel, bytes);
  }

  private static <T> BloomFilter<T> read(Funnel<? super T> funnel, byte[] bytes)
      throws IOException {
    ByteArrayInputStream in = new ByteArrayInputStream(bytes);
    BloomFilter<T> filter = BloomFilter.readFrom(in, funnel);
    if (in.available() > 0) {
      throw new IOException(in.available() + " bytes after the filter");
    }
    return filter;
  }

  private static byte[] written(BloomFilter<?> filter) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    filter.writeTo(out);
    return out.toByteArray();
  }

  /** Reads lines. {@link Files#readAllLines} would also end a line at a carriage return. */
  private static List<String> lines(String file) throws IOException {
    String text = Files.readString(Path.of(file));
    if (!text.isEmpty() && !text.endsWith("\n")) {
      throw new IOException(file + " ends within a line");
    }
    List<String> lines = Arrays.asList(text.split("\n", -1));
    return lines.subList(0, lines.size() - 1);
  }
}
