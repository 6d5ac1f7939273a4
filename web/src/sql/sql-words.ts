/** Keywords of SQLite that a SELECT can hold, or that a name cannot be without quotes. */
const KEYWORDS =
  'all and as asc between by case cast collate cross current current_date current_time current_timestamp desc distinct ' +
  'else end escape except exclude exists filter first following from full glob group groups having in inner intersect ' +
  'is isnull join last left like limit materialized natural no not notnull null nulls offset on or order others outer ' +
  'over partition preceding range recursive regexp right row rows select then ties unbounded union using values when ' +
  'where window with'

/** They mean nothing in a SELECT, but a name that is one of them must be quoted all the same. */
const RESERVED =
  'add alter autoincrement check commit constraint create default deferrable delete drop foreign index insert into ' +
  'primary references returning set table to transaction unique update'

export const SQL_KEYWORDS = KEYWORDS

const WORDS: ReadonlySet<string> = new Set(`${KEYWORDS} ${RESERVED}`.split(' '))

/** A name as it is written in a statement: in quotes where it must be. */
export function quoteName(name: string): string {
  const isPlain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !WORDS.has(name.toLowerCase())
  return isPlain ? name : `"${name.replaceAll('"', '""')}"`
}

/** Functions that are offered, each with what goes into it. The server allows more; it tells which it refuses. */
export const SQL_FUNCTIONS: Readonly<Record<string, string>> = {
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
