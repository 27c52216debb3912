// Measures queries in DuckDB, on one thread and in memory: duckdb.cjs ROUNDS SETUP.sql < QUERIES
//
// SETUP.sql has one statement a line. Each line of the input has a workload, a part of the workload
// (\N for none) and a query, separated by tabs. Prints the workload, the part, the round and the
// milliseconds. Round 0 warms up.

const { DuckDBInstance } = require('@duckdb/node-api');
const { readFileSync } = require('fs');

const [rounds, setup] = process.argv.slice(2);
const linesOf = (file) => readFileSync(file, 'utf8').split('\n').filter(Boolean);

async function main() {
  const database = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await database.connect();
  for (const statement of linesOf(setup)) await connection.run(statement);
  const queries = linesOf(0).map((line) => line.split('\t'));
  for (let round = 0; round <= rounds; round++) {
    for (const [workload, part, query] of queries) {
      const started = process.hrtime.bigint();
      await connection.runAndReadAll(query);
      const ms = Number(process.hrtime.bigint() - started) / 1e6;
      console.log([workload, part, round, ms].join('\t'));
    }
  }
}

main();
