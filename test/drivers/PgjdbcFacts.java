import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.sql.Array;
import java.sql.Connection;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Time;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.postgresql.util.PGobject;

/**
 * The extension through pgjdbc: prints {@code ok FACT}, or {@code not ok FACT: what came instead}.
 *
 * <pre>
 *   java -cp /usr/share/java/postgresql.jar:. PgjdbcFacts URL
 * </pre>
 *
 * test/t/019_drivers.pl makes the tables {@code filters} and {@code copies}.
 */
public final class PgjdbcFacts {
  private PgjdbcFacts() {}

  private static Connection db;

  private interface Attempt {
    Object result() throws Exception;
  }

  private static void fact(String name, Object expected, Attempt attempt) {
    String got;
    try {
      got = shown(attempt.result());
    } catch (Exception error) { // an error is a result that was not expected
      got = error.getMessage().replaceAll("\\s+", " ");
    }
    System.out.println(
        got.equals(shown(expected)) ? "ok " + name : "not ok " + name + ": " + got);
  }

  private static String shown(Object value) {
    if (value instanceof byte[]) {
      return Arrays.toString((byte[]) value);
    }
    return value instanceof Object[] ? Arrays.deepToString((Object[]) value) : "" + value;
  }

  /** A way to give a value to a statement. */
  private interface Setter {
    void set(PreparedStatement statement, int parameter, Object value) throws SQLException;
  }

  private static final Setter AS_OBJECT = PreparedStatement::setObject;
  private static final Setter UNTYPED = (statement, parameter, value) ->
      statement.setObject(parameter, value, Types.OTHER);
  private static final Setter AS_BYTES = (statement, parameter, value) ->
      statement.setBytes(parameter, (byte[]) value);
  private static final Setter AS_TEXT_ARRAY = (statement, parameter, value) ->
      statement.setArray(parameter, db.createArrayOf("text", (Object[]) value));

  /** Prepares a statement and sets the values of its parameters. */
  private static PreparedStatement prepared(String sql, Setter setter, Object... values)
      throws SQLException {
    PreparedStatement statement = db.prepareStatement(sql);
    for (int i = 0; i < values.length; i++) {
      setter.set(statement, i + 1, values[i]);
    }
    return statement;
  }

  /** Runs a query and returns its first row. */
  private static Object[] row(PreparedStatement statement) throws SQLException {
    try (statement; ResultSet rows = statement.executeQuery()) {
      rows.next();
      Object[] row = new Object[rows.getMetaData().getColumnCount()];
      for (int i = 0; i < row.length; i++) {
        Object field = rows.getObject(i + 1);
        row[i] = field instanceof Array ? ((Array) field).getArray() : field;
      }
      return row;
    }
  }

  private static Object[] row(String sql, Setter setter, Object... values) throws SQLException {
    return row(prepared(sql, setter, values));
  }

  private static void run(String sql, Setter setter, Object... values) throws SQLException {
    try (PreparedStatement statement = prepared(sql, setter, values)) {
      statement.execute();
    }
  }

  private static String sqlstateOf(String sql, Setter setter, Object... values) {
    try {
      return shown(row(sql, setter, values));
    } catch (SQLException error) {
      return error.getSQLState();
    }
  }

  private static final Object[] YES_NO = {true, false};

  /** Probes the filter of a family for each value and returns the answers. */
  private static Object[] asked(String family, String parameter, Setter setter, Object... values)
      throws SQLException {
    String sql = "SELECT f @> " + parameter + " AND " + parameter + " <@ f FROM filters"
        + " WHERE family = '" + family + "'";
    Object[] answers = new Object[values.length];
    for (int i = 0; i < values.length; i++) {
      answers[i] = row(sql, setter, values[i], values[i])[0];
    }
    return answers;
  }

  private static void probes(String family, String type, Object member, Object stranger) {
    String name = family + " filter, " + member.getClass().getName();
    String from = " FROM filters WHERE family = '" + family + "'";
    Setter setter = member instanceof byte[] ? AS_BYTES : AS_OBJECT;
    fact(name, YES_NO, () -> asked(family, "?", setter, member, stranger));
    fact(name + " and a cast", YES_NO,
        () -> asked(family, "?::" + type, setter, member, stranger));
    fact(name + ": adding", new Object[] {true, true},
        () -> row("SELECT f + ? @> ?, bf_add(f, ?) @> ?" + from,
            setter, stranger, stranger, stranger, stranger));
  }

  private static void texts(String family, String type, String member, String stranger) {
    String name = family + " filter, text of " + type;
    String from = " FROM filters WHERE family = '" + family + "'";
    fact(name + ", without a type", YES_NO, () -> asked(family, "?", UNTYPED, member, stranger));
    fact(name + " and a cast", YES_NO,
        () -> asked(family, "?::text::" + type, AS_OBJECT, member, stranger));
    String[] both = {member, stranger};
    String array = "?::text[]::" + type + "[]";
    fact(name + ", an array", new Object[] {true, false, new Boolean[] {true, false}},
        () -> row("SELECT bf_contains_any(f, " + array + "), bf_contains_all(f, " + array
            + "), bf_contains_each(f, " + array + ")" + from, AS_TEXT_ARRAY, both, both, both));
  }

  private static void array(String family, String type, Object... values) {
    fact(family + " filter, createArrayOf " + type,
        new Object[] {new Boolean[] {true, false}, true}, () -> {
          try (PreparedStatement statement = db.prepareStatement(
              "SELECT bf_contains_each(f, ?), bf_contains_all(bf_add_all(f, ?), ?)"
                  + " FROM filters WHERE family = '" + family + "'")) {
            for (int i = 1; i <= 3; i++) {
              statement.setArray(i, db.createArrayOf(type, values));
            }
            return row(statement);
          }
        });
  }

  private static void everyFamily() {
    probes("text", "text", "Zürich", "Zurich");
    probes("integer", "bigint", 4711, 4712);
    probes("integer", "bigint", 4711L, 4712L);
    probes("integer", "bigint", (short) 4711, (short) 4712);
    probes("float", "float8", 3.5, 3.25);
    probes("float", "float4", 3.5f, 3.25f);
    probes("float", "numeric", new BigDecimal("3.5"), new BigDecimal("3.25"));
    probes("float", "int", 7, 8);
    probes("numeric", "numeric", new BigDecimal("12.50"), new BigDecimal("12.51"));
    probes("numeric", "int", 7, 8);
    probes("date", "date", LocalDate.of(2024, 1, 8), LocalDate.of(2024, 1, 9));
    probes("date", "date", Date.valueOf("2024-01-08"), Date.valueOf("2024-01-09"));
    probes("timestamp", "timestamp",
        LocalDateTime.parse("2024-01-08T12:30:15.25"), LocalDateTime.parse("2024-01-08T12:30:15"));
    probes("timestamp", "timestamp",
        Timestamp.valueOf("2024-01-08 12:30:15.25"), Timestamp.valueOf("2024-01-08 12:30:15"));
    OffsetDateTime instant = OffsetDateTime.parse("2024-01-08T12:30:15.25+02:00");
    probes("timestamptz", "timestamptz", instant, instant.plusHours(2));
    probes("timestamptz", "timestamptz",
        Timestamp.from(instant.toInstant()), Timestamp.from(instant.plusHours(2).toInstant()));
    probes("time", "time", LocalTime.parse("12:30:15.25"), LocalTime.parse("12:30:15"));
    probes("time", "time", Time.valueOf("12:30:16"), Time.valueOf("12:30:17"));
    probes("uuid", "uuid",
        UUID.fromString("6f1d1a52-0a3e-4c0e-9a57-1f7ad3b5a001"), new UUID(0, 1));
    probes("boolean", "boolean", true, false);
    probes("bytea", "bytea", new byte[] {-34, -83, 0, -1}, new byte[] {-34, -83, 0, -2});

    texts("text", "text", "Zürich", "Zurich");
    texts("integer", "bigint", "4711", "4712");
    texts("float", "float8", "3.5", "3.25");
    texts("numeric", "numeric", "12.50", "12.51");
    texts("date", "date", "2024-01-08", "2024-01-09");
    texts("timestamp", "timestamp", "2024-01-08T12:30:15.25", "2024-01-08 12:30:15");
    texts("timestamptz", "timestamptz", "2024-01-08T10:30:15.25Z", "2024-01-08 12:30:15.25+05:30");
    texts("time", "time", "12:30:15.25", "12:30:15");
    texts("uuid", "uuid", "6f1d1a52-0a3e-4c0e-9a57-1f7ad3b5a001",
        "6f1d1a52-0a3e-4c0e-9a57-1f7ad3b5a002");
    texts("boolean", "boolean", "true", "f");
    texts("bytea", "bytea", "\\xdead00ff", "\\xdead00fe");

    array("text", "text", "Zürich", "Zurich");
    array("integer", "int4", 4711, 4712);
    array("integer", "int8", 4711L, 4712L);
    array("float", "float8", 3.5, 3.25);
    array("numeric", "numeric", new BigDecimal("12.50"), new BigDecimal("12.51"));
    array("date", "date", LocalDate.of(2024, 1, 8), LocalDate.of(2024, 1, 9));
    array("boolean", "bool", true, false);
  }

  /** If no filter gives the type of a parameter, PostgreSQL raises an error; a cast prevents it. */
  private static void typesAreNeeded() {
    for (String call : List.of("bf_shard(?, 669)", "bf_hash(?)", "bf_agg(?)")) {
      fact(call + " without a type is an error", "42P18",
          () -> sqlstateOf("SELECT " + call, UNTYPED, "x"));
    }
    fact("bf_contains_any without a type is an error", "42804",
        () -> sqlstateOf("SELECT bf_contains_any(bf_create(1), ?)", UNTYPED, "{x}"));
    for (String parameter : List.of("?", "?::text")) {
      fact("bf_shard, bf_hash and bf_agg of a String, " + parameter,
          new Object[] {true, true, true},
          () -> row("SELECT bf_shard(?, 669) = bf_shard('x'::text, 669),"
              .replace("?", parameter)
              + " bf_hash(?) = bf_hash('x'::text), bf_agg(?) @> 'x'".replace("?", parameter),
              AS_OBJECT, "x", "x", "x"));
    }
  }

  private static final String OF_INTEGERS = " FROM filters WHERE family = 'integer'";

  private static Object sameCopies() throws SQLException {
    return row("SELECT count(*) > 0 AND bool_and(c.f = o.f) FROM copies c, filters o"
        + " WHERE o.family = 'integer'", AS_OBJECT)[0];
  }

  /** Runs a statement that fills {@code copies}. True if all rows are the filter of integers. */
  private static Object copied(String sql, Setter setter, Object value) throws SQLException {
    run("TRUNCATE copies", AS_OBJECT);
    run(sql, setter, value);
    return sameCopies();
  }

  private static Object inBatches() throws SQLException {
    run("TRUNCATE copies", AS_OBJECT);
    run("INSERT INTO copies VALUES (bf_create(100, 1e-9) + ?)", AS_OBJECT, 4711);
    try (PreparedStatement statement =
        db.prepareStatement("UPDATE copies SET f = f + ? WHERE NOT f @> ?")) {
      for (int value = 10; value < 60; value++) {
        statement.setInt(1, value);
        statement.setInt(2, value);
        statement.addBatch();
      }
      statement.executeBatch();
    }
    return row("SELECT bf_contains_all(f, array(SELECT generate_series(10, 59))),"
        + " bf_contains_any(f, array(SELECT generate_series(60, 109))) FROM copies", AS_OBJECT);
  }

  /** Reads the bytes and the text of a filter, and writes them back. */
  private static void thereAndBack() throws Exception {
    byte[] data = (byte[]) row("SELECT f::bytea" + OF_INTEGERS, AS_OBJECT)[0];
    PGobject filter = (PGobject) row("SELECT f" + OF_INTEGERS, AS_OBJECT)[0];
    fact("f is a PGobject of base64", new Object[] {"bloomfilter", true},
        () -> new Object[] {filter.getType(),
            row("SELECT ?::bloomfilter = f" + OF_INTEGERS, AS_OBJECT, filter.getValue())[0]});
    String insert = "INSERT INTO copies VALUES (?)";
    fact("the PGobject is inserted", true, () -> copied(insert, AS_OBJECT, filter));
    fact("bytes are inserted", true, () -> copied(insert, AS_BYTES, data));
    fact("bytes are inserted by ?::bytea::bloomfilter", true,
        () -> copied("INSERT INTO copies VALUES (?::bytea::bloomfilter)", AS_BYTES, data));
    fact("base64 is inserted without a type", true,
        () -> copied(insert, UNTYPED, filter.getValue()));
    fact("base64 is inserted by ?::bloomfilter", true, () ->
        copied("INSERT INTO copies VALUES (?::bloomfilter)", AS_OBJECT, filter.getValue()));
    fact("inserting a String as a filter without a cast is an error", "42804",
        () -> sqlstateOf(insert, AS_OBJECT, filter.getValue()));
    fact("casting bytes that are no filter is an error", "22P03",
        () -> sqlstateOf("SELECT ?::bytea::bloomfilter", AS_BYTES, new byte[] {1}));
    fact("a batch of updates adds all its values", new Object[] {true, false}, () -> inBatches());

    CopyManager copy = db.unwrap(PGConnection.class).getCopyAPI();
    for (String form : List.of("TEXT", "BINARY")) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      fact("COPY TO sends one row, " + form, 1L, () ->
          copy.copyOut("COPY (SELECT f" + OF_INTEGERS + ") TO STDOUT (FORMAT " + form + ")", out));
      fact("COPY FROM reads the same filter back, " + form, true, () -> {
        run("TRUNCATE copies", AS_OBJECT);
        copy.copyIn("COPY copies FROM STDIN (FORMAT " + form + ")",
            new ByteArrayInputStream(out.toByteArray()));
        return sameCopies();
      });
    }
  }

  public static void main(String[] arguments) throws Exception {
    db = DriverManager.getConnection(arguments[0]);
    everyFamily();
    typesAreNeeded();
    thereAndBack();
  }
}
