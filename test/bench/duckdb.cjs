// Semi joins in DuckDB, on one thread and in memory: duckdb.cjs ROUNDS NUMBERS.csv [NAME KEYS.csv]...
// Prints name, round and milliseconds; round 0 warms up.

const { DuckDBInstance } = require('@duckdb/node-api');

const [rounds, numbers, ...joins] = process.argv.slice(2);

async function main() {
  const database = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await database.connect();
  const load = (table, file) =>
    connection.run(`CREATE TABLE ${table} AS FROM read_csv('${file}', header = false, columns = {'x': 'BIGINT'})`);
  const names = joins.filter((_, i) => i % 2 === 0);
  await load('numbers', numbers);
  for (const name of names) await load(name, joins[joins.indexOf(name) + 1]);
  for (let round = 0; round <= rounds; round++) {
    for (const name of names) {
      const started = process.hrtime.bigint();
      await connection.runAndReadAll(`SELECT count(*) FROM numbers WHERE x IN (FROM ${name})`);
      console.log(`${name}\t${round}\t${Number(process.hrtime.bigint() - started) / 1e6}`);
    }
  }
}

main();
