/** Part of the corpus of {@link ./hostile-sql.ts}: texts that name tables other than `records`. */

const INTERNAL_TABLES = [
  '$sheet', '$target', '$cell', '$todo', '$failure', '$cache', '$provenance', '$deleted', '$deleted_block', '$import', '$packed', '$run',
  '$run_failure', '$derivation',
] // prettier-ignore

/** Spellings of a table's name that SQLite allows. */
const SPELLINGS: readonly ((name: string) => string)[] = [
  (name) => `"${name}"`,
  (name) => `main."${name}"`,
  (name) => `[${name}]`,
  (name) => `main.[${name.toUpperCase()}]`,
  (name) => `\`${name}\``,
  (name) => `"main" . /* */ \`${name.toUpperCase()}\``,
  (name) => `'${name}'`,
  (name) => `main.'${name}'`,
  (name) => `'main'--\n."${name}"`,
  (name) => `temp."${name}"`,
]

function spelt(name: string, index: number): string {
  return SPELLINGS[index % SPELLINGS.length]?.(name) ?? name
}

/** Functions of PRAGMA as tables. */
const PRAGMAS = [
  'application_id', 'cache_size', 'collation_list', 'data_version', 'encoding', 'foreign_key_list', 'freelist_count',
  'index_info', 'index_list', 'integrity_check', 'journal_mode', 'page_count', 'page_size', 'pragma_list',
  'quick_check', 'schema_version', 'stats', 'synchronous', 'table_xinfo', 'temp_store',
] // prettier-ignore

/** Virtual tables, of this build of SQLite and of others. */
const MODULES = [
  'carray', 'completion', 'csv', 'dbstat', 'fsdir', 'fts3aux', 'fts4', 'fts5', 'fts5vocab', 'fts3tokenize',
  'generate_series', 'geopoly', 'jsonb_each', 'jsonb_tree', 'rtree', 'rtree_i32', 'sqlite_btreeinfo', 'sqlite_dbdata',
  'sqlite_dbpage', 'sqlite_dbptr', 'sqlite_memstat', 'sqlite_stat1', 'sqlite_stmt', 'tables_used', 'wholenumber', 'zipfile',
] // prettier-ignore

/** Tables of other engines. */
const OF_OTHER_ENGINES = [
  'information_schema.tables',
  'pg_catalog.pg_tables',
  'pg_shadow',
  'mysql.user',
  'dual',
]

/** FROM clauses with look-alikes: other letters, or invisible characters. */
const LOOK_ALIKES = [
  'ｒecords', 'rеcords', 'records\u200B', 'records\u00A0', '\u00ADrecords', 'recor\u0000ds', 'sqlite＿master', 'sqlıte_master',
  'SQLİTE_MASTER', '"＄data"', '"﹩data"', '"$dat\u0430"', '"$data\u200B"', '"$data "', '" $data"', '"$data\u0000"',
  'main．records', '"main.$data"', '"records"".""$data"',
] // prettier-ignore

/** A CTE, subquery or alias that hides `records` behind its name, or the other table behind `records`. */
const SHADOWS = [
  'WITH records AS (SELECT * FROM "$cache") SELECT entry FROM records',
  'WITH records AS (SELECT actor FROM "$run") SELECT count(*) FROM records',
  'WITH main AS (SELECT 1) SELECT count(*) FROM main."$run"',
  'WITH "$run" AS (SELECT 1) SELECT count(*) FROM main."$run"',
  'WITH "$cache"(entry) AS (SELECT 1) SELECT entry FROM main."$cache"',
  'WITH records(line) AS MATERIALIZED (SELECT line FROM "$provenance") SELECT line FROM records',
  'WITH RECURSIVE records(x) AS (SELECT line FROM "$provenance" UNION SELECT x FROM records) SELECT x FROM records',
  'WITH RECURSIVE x(n) AS (SELECT 1 UNION SELECT seq FROM "$provenance", x) SELECT n FROM x',
  'WITH a AS (WITH records AS (SELECT entry FROM "$cache") SELECT * FROM records) SELECT * FROM a',
  'SELECT records.line FROM "$provenance" AS records',
  'SELECT records.line FROM main."$provenance" records, main.records AS other',
  'SELECT * FROM (SELECT line FROM "$provenance") AS records',
  'SELECT records.* FROM "$run" AS records',
  'SELECT "$data".id FROM records',
  'SELECT records.id FROM records AS r',
  'SELECT main."$data".id FROM records',
  'SELECT sqlite_schema.sql FROM records',
  'SELECT main.sqlite_schema.sql FROM records',
  'SELECT id FROM temp.records',
  'SELECT id FROM other.records',
  'SELECT id FROM main.main.records',
  'SELECT id FROM main.records.id',
  'SELECT id FROM records INDEXED BY "$provenance_of_record"',
  'SELECT id FROM records INDEXED BY sqlite_autoindex_records_1',
  "SELECT id FROM records('x')",
  'SELECT id FROM "$provenance"(1)',
  'SELECT new.id FROM records',
  'SELECT old.id FROM records',
  'SELECT excluded.id FROM records',
]

/** Clauses of a SELECT that can contain a subquery, whose place is marked by `X`. */
const CLAUSES = [
  'SELECT (X) AS x',
  'SELECT (X) AS x FROM records',
  'SELECT id FROM records WHERE (X) > 0',
  'SELECT n FROM records GROUP BY n HAVING (X) > 0',
  'SELECT n FROM records GROUP BY (X)',
  'SELECT id FROM records ORDER BY (X)',
  'SELECT id FROM records LIMIT (X)',
  'SELECT id FROM records LIMIT 1 OFFSET (X)',
  'SELECT a.id FROM records AS a JOIN records AS b ON (X)',
  'SELECT sum(n) OVER (PARTITION BY (X)) AS x FROM records',
  'SELECT sum(n) OVER (ORDER BY (X)) AS x FROM records',
  'SELECT sum(n) OVER w AS x FROM records WINDOW w AS (ORDER BY (X))',
  'SELECT sum(n) OVER (ROWS (X) PRECEDING) AS x FROM records',
  'SELECT lag(n, (X)) OVER () AS x FROM records',
  'SELECT sum(n) FILTER (WHERE (X)) AS x FROM records',
  'SELECT group_concat(n ORDER BY (X)) AS x FROM records',
  'SELECT CASE (X) WHEN 1 THEN 2 END AS x',
  'SELECT CASE WHEN 1 THEN 2 ELSE (X) END AS x',
  'SELECT coalesce(1, (X)) AS x',
  'SELECT iif(0, (X), 1) AS x',
  'SELECT (1, (X)) = (1, 2) AS x',
  'SELECT 1 IN (1, (X)) AS x',
  'SELECT 1 BETWEEN 0 AND (X) AS x',
  "SELECT 'a' LIKE 'b' ESCAPE (X) AS x",
  'SELECT CAST((X) AS TEXT) AS x',
  'SELECT count(*) AS x FROM json_each((X))',
  "SELECT count(*) AS x FROM json_tree('[]', (X))",
  'SELECT json_group_array((X)) AS x',
  'SELECT 1 AS x UNION ALL X',
  'SELECT 1 AS x EXCEPT X',
  'WITH t AS (X) SELECT * FROM t',
  'WITH t(a) AS (VALUES ((X))) SELECT a FROM t',
  'SELECT * FROM (VALUES ((X)))',
]

/** Subqueries for the marks of the clauses. */
const SUBQUERIES = [
  'SELECT count(*) FROM "$provenance"',
  'SELECT max(seq) FROM "$provenance"',
  'SELECT length(entry) FROM "$cache"',
  'SELECT count(*) FROM sqlite_schema',
  'SELECT page_size FROM pragma_page_size',
  'SELECT "$seq" FROM main."$data"',
  'SELECT total FROM "$run"',
]

function filled(clause: string, index: number): string {
  return clause.replace('X', () => SUBQUERIES[index % SUBQUERIES.length] ?? '')
}

export const STATEMENTS_WITH_NAMES: readonly string[] = [
  ...INTERNAL_TABLES.map((name, index) => `SELECT * FROM ${spelt(name, index)}`),
  ...INTERNAL_TABLES.map((name, index) => `SELECT count(*) FROM ${spelt(name, index + 5)}`),
  ...SPELLINGS.map((spell) => `SELECT count(*) FROM ${spell('$cache')}`),
  ...SPELLINGS.map((spell) => `SELECT count(*) FROM ${spell('sqlite_schema')}`),
  ...PRAGMAS.map((name, index) => `SELECT ${index % 2 === 0 ? '*' : 'count(*)'} FROM pragma_${name}`),
  ...MODULES.map((name, index) => `SELECT ${index % 2 === 0 ? 'count(*)' : '*'} FROM ${name}`),
  ...OF_OTHER_ENGINES.map((name) => `SELECT * FROM ${name}`),
  ...LOOK_ALIKES.map((name) => `SELECT count(*) FROM ${name}`),
  ...SHADOWS,
  ...CLAUSES.map(filled),
]

export const FILTERS_WITH_NAMES: readonly string[] = [
  ...INTERNAL_TABLES.map((name, index) => `EXISTS (SELECT 1 FROM ${spelt(name, index)})`),
  ...SPELLINGS.map((spell) => `(SELECT count(*) FROM ${spell('$run')}) > 0`),
  ...PRAGMAS.slice(0, 10).map((name) => `EXISTS (SELECT 1 FROM pragma_${name})`),
  ...MODULES.map((name) => `EXISTS (SELECT 1 FROM ${name})`),
  ...LOOK_ALIKES.map((name) => `EXISTS (SELECT 1 FROM ${name})`),
  // Not in EXISTS, where SQLite reads no result column.
  ...CLAUSES.map((clause, index) => `(${filled(clause, index + 1)}) IS NOT 7`),
  'main.records."$seq" > 0',
  'EXISTS (SELECT 1 FROM records AS r WHERE r."$seq" < records."$seq")',
  '(SELECT records."$seq") > 0',
  '(SELECT max("$seq") FROM (SELECT * FROM records)) > 0',
  'n IN (SELECT "$seq" FROM (SELECT 1))',
  'n > (SELECT 1 ORDER BY "$seq")',
]
