import type { SqlDialect } from '../../../../src/wire/schema/dialect.ts'

/** Keywords of a SELECT in both dialects, or that must be quoted as names. */
const KEYWORDS =
  'all and as asc between by case cast collate cross current current_date current_time current_timestamp desc distinct ' +
  'else end escape except exists filter first following from full group groups having in inner intersect ' +
  'is isnull join last left like limit materialized natural not notnull null nulls offset on or order outer ' +
  'over partition preceding range recursive right row rows select then ties unbounded union using values when ' +
  'where window with'

const KEYWORDS_OF: Readonly<Record<SqlDialect, string>> = {
  sqlite: 'glob no others regexp',
  postgres: 'any array at fetch ilike interval lateral ordinality similar some symmetric time to within zone',
}

/** Keywords that no SELECT contains, but that must be quoted as names. */
const RESERVED =
  'abort action add after alter always analyse analyze asymmetric attach authorization autoincrement before begin binary both ' +
  'cascade check column commit concurrently conflict constraint create current_catalog current_role current_schema current_user ' +
  'database default deferrable deferred delete detach do drop each exclude exclusive explain fail false for foreign freeze ' +
  'generated grant if ignore immediate index indexed initially insert instead into key leading localtime localtimestamp match ' +
  'nothing of only overlaps placing plan pragma primary query raise references reindex release rename replace restrict returning ' +
  'rollback savepoint session_user set system_user table tablesample temp temporary trailing transaction trigger true unique ' +
  'update user vacuum variadic verbose view virtual without'

/** Returns the keywords of a SELECT in a dialect. */
export function sqlKeywords(dialect: SqlDialect): string {
  return `${KEYWORDS} ${KEYWORDS_OF[dialect]}`
}

const WORDS: ReadonlySet<string> = new Set(
  [KEYWORDS, ...Object.values(KEYWORDS_OF), RESERVED].join(' ').split(' '),
)

/** Returns a name for a statement of any dialect, quoted if needed. PostgreSQL folds unquoted names to lower case. */
export function quoteName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !WORDS.has(name) ? name : quotedName(name)
}

/** Returns a quoted name. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

const FUNCTIONS_OF_SQLITE: Readonly<Record<string, string>> = {
  abs: 'x',
  avg: 'x',
  ceil: 'x',
  coalesce: 'x, y, …',
  concat: 'x, …',
  count: '* or x',
  date: 'time, modifier…',
  datetime: 'time, modifier…',
  dense_rank: '',
  exp: 'x',
  first_value: 'x',
  floor: 'x',
  format: 'format, …',
  group_concat: 'x, separator',
  ifnull: 'x, y',
  iif: 'condition, then, else',
  instr: 'text, part',
  json_array_length: 'array',
  json_each: 'array',
  json_extract: 'json, path',
  json_group_array: 'x',
  json_group_object: 'name, x',
  json_tree: 'json',
  json_type: 'json, path',
  julianday: 'time',
  lag: 'x, offset',
  last_value: 'x',
  lead: 'x, offset',
  length: 'text',
  ln: 'x',
  log10: 'x',
  lower: 'text',
  ltrim: 'text',
  max: 'x, …',
  median: 'x',
  min: 'x, …',
  mod: 'x, y',
  ntile: 'n',
  nullif: 'x, y',
  percent_rank: '',
  percentile: 'x, percent',
  pow: 'x, y',
  random: '',
  rank: '',
  replace: 'text, from, to',
  round: 'x, digits',
  row_number: '',
  rtrim: 'text',
  sign: 'x',
  sqrt: 'x',
  strftime: 'format, time',
  string_agg: 'x, separator',
  substr: 'text, start, length',
  sum: 'x',
  time: 'time',
  timediff: 'time, time',
  total: 'x',
  trim: 'text',
  typeof: 'x',
  unicode: 'text',
  unixepoch: 'time',
  upper: 'text',
}

const FUNCTIONS_OF_POSTGRES: Readonly<Record<string, string>> = {
  abs: 'x',
  age: 'time, time',
  array_agg: 'x',
  avg: 'x',
  bool_and: 'x',
  bool_or: 'x',
  ceil: 'x',
  coalesce: 'x, y, …',
  concat: 'x, …',
  count: '* or x',
  date_bin: 'width, time, origin',
  date_trunc: 'unit, time',
  dense_rank: '',
  exp: 'x',
  extract: 'part FROM time',
  first_value: 'x',
  floor: 'x',
  format: 'format, …',
  generate_series: 'from, to, step',
  greatest: 'x, y, …',
  jsonb_array_elements: 'array',
  jsonb_array_elements_text: 'array',
  jsonb_array_length: 'array',
  jsonb_each: 'object',
  jsonb_each_text: 'object',
  jsonb_exists: 'json, key',
  jsonb_object_keys: 'object',
  jsonb_path_query: 'json, path',
  jsonb_path_query_first: 'json, path',
  jsonb_typeof: 'json',
  lag: 'x, offset',
  last_value: 'x',
  lead: 'x, offset',
  least: 'x, y, …',
  left: 'text, length',
  length: 'text',
  ln: 'x',
  log: 'x',
  lower: 'text',
  ltrim: 'text',
  max: 'x',
  min: 'x',
  mod: 'x, y',
  mode: '',
  now: '',
  ntile: 'n',
  nullif: 'x, y',
  percent_rank: '',
  percentile_cont: 'share',
  power: 'x, y',
  random: '',
  rank: '',
  regexp_count: 'text, pattern',
  regexp_matches: 'text, pattern, flags',
  regexp_replace: 'text, pattern, replacement',
  regexp_substr: 'text, pattern',
  replace: 'text, from, to',
  right: 'text, length',
  round: 'x, digits',
  row_number: '',
  rtrim: 'text',
  sign: 'x',
  split_part: 'text, separator, n',
  sqrt: 'x',
  starts_with: 'text, part',
  stddev: 'x',
  string_agg: 'x, separator',
  strpos: 'text, part',
  substr: 'text, start, length',
  sum: 'x',
  to_char: 'x, format',
  to_timestamp: 'seconds',
  trim: 'text',
  trunc: 'x, digits',
  unnest: 'array',
  upper: 'text',
  variance: 'x',
  width_bucket: 'x, from, to, count',
}

/** The functions for completion, with their parameters. The server allows more. */
export const SQL_FUNCTIONS: Readonly<Record<SqlDialect, Readonly<Record<string, string>>>> = {
  sqlite: FUNCTIONS_OF_SQLITE,
  postgres: FUNCTIONS_OF_POSTGRES,
}
