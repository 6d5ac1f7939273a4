/**
 * The functions of SQLite that SQL from users may call (D18), including operators such as LIKE and `->`. All others are
 * refused: functions that load code, reveal the machine or the build, belong to full-text, r-tree or geometry tables, or
 * count the writes of the connection. A test compares the two lists with the functions of SQLite.
 */
export const ALLOWED_FUNCTIONS: ReadonlySet<string> = new Set(
  `
  abs char coalesce concat concat_ws format glob hex if ifnull iif instr length like likelihood likely lower ltrim
  max min nullif octet_length printf quote random randomblob replace round rtrim sign substr substring trim typeof
  unhex unicode unistr unistr_quote unlikely upper zeroblob

  avg count group_concat median percentile percentile_cont percentile_disc string_agg sum total

  cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number

  acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power
  radians sin sinh sqrt tan tanh trunc

  current_date current_time current_timestamp date datetime julianday strftime time timediff unixepoch

  -> ->> json json_array json_array_insert json_array_length json_error_position json_extract json_group_array
  json_group_object json_insert json_object json_patch json_pretty json_quote json_remove json_replace json_set
  json_type json_valid
  jsonb jsonb_array jsonb_array_insert jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object
  jsonb_patch jsonb_remove jsonb_replace jsonb_set
  `
    .trim()
    .split(/\s+/),
)

/** The table-valued functions that SQL from users may read (D18). */
export const ALLOWED_TABLE_FUNCTIONS: ReadonlySet<string> = new Set(['json_each', 'json_tree'])

/** The functions of date and time, whose result depends on the current time unless an argument is a date. */
export const DATE_FUNCTIONS: ReadonlySet<string> = new Set([
  'date',
  'datetime',
  'julianday',
  'strftime',
  'time',
  'timediff',
  'unixepoch',
])
