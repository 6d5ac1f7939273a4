/**
 * The functions of PostgreSQL that SQL from users may call (D18). All others are refused: functions that read files, sleep,
 * lock, notify, run SQL from a text (`query_to_xml`, `ts_stat`), change or reveal settings and roles, or reveal the server
 * and the catalog. A test compares the list with the functions of PostgreSQL.
 */
export const ALLOWED_FUNCTIONS: ReadonlySet<string> = listed(`
  abs acos acosd acosh asin asind asinh atan atan2 atan2d atand atanh cbrt ceil ceiling cos cosd cosh cot cotd degrees div
  erf erfc exp floor gamma gcd lcm lgamma ln log log10 min_scale mod pi power pow radians random random_normal round scale
  sign sin sind sinh sqrt tan tand tanh trim_scale trunc width_bucket

  ascii bit_count bit_length btrim casefold char_length character_length chr concat concat_ws crc32 crc32c decode encode format
  initcap left length lower lpad ltrim md5 normalize octet_length overlay position quote_ident quote_literal quote_nullable
  regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace regexp_split_to_array
  regexp_split_to_table regexp_substr repeat replace reverse right rpad rtrim sha224 sha256 sha384 sha512 split_part
  starts_with string_to_array string_to_table strpos substr substring to_bin to_hex to_oct translate trim unistr upper

  age clock_timestamp date_add date_bin date_part date_subtract date_trunc extract isfinite justify_days justify_hours
  justify_interval make_date make_interval make_time make_timestamp make_timestamptz now statement_timestamp timeofday
  timezone to_char to_date to_number to_timestamp transaction_timestamp

  array_agg array_append array_cat array_dims array_length array_lower array_ndims array_position array_positions
  array_prepend array_remove array_replace array_reverse array_sample array_shuffle array_sort array_to_string array_upper
  cardinality generate_series generate_subscripts trim_array unnest

  array_to_json json json_agg json_agg_strict json_array json_array_elements json_array_elements_text json_array_length
  json_arrayagg json_build_array json_build_object json_each json_each_text json_exists json_extract_path
  json_extract_path_text json_object json_object_agg json_object_agg_strict json_object_agg_unique
  json_object_agg_unique_strict json_object_keys json_objectagg json_populate_record json_populate_recordset json_query
  json_scalar json_serialize json_strip_nulls json_table json_to_record json_to_recordset json_typeof json_value jsonb
  jsonb_agg jsonb_agg_strict jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array
  jsonb_build_object jsonb_contained jsonb_contains jsonb_delete jsonb_delete_path jsonb_each jsonb_each_text jsonb_exists
  jsonb_exists_all jsonb_exists_any jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_agg
  jsonb_object_agg_strict jsonb_object_agg_unique jsonb_object_agg_unique_strict jsonb_object_keys jsonb_path_exists
  jsonb_path_exists_tz jsonb_path_match jsonb_path_match_tz jsonb_path_query jsonb_path_query_array
  jsonb_path_query_array_tz jsonb_path_query_first jsonb_path_query_first_tz jsonb_path_query_tz jsonb_populate_record
  jsonb_populate_recordset jsonb_pretty jsonb_set jsonb_set_lax jsonb_strip_nulls jsonb_to_record jsonb_to_recordset
  jsonb_typeof row_to_json to_json to_jsonb

  any_value avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop covar_samp every grouping max min mode
  percentile_cont percentile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
  stddev stddev_pop stddev_samp string_agg sum var_pop var_samp variance

  cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number

  phraseto_tsquery plainto_tsquery to_tsquery to_tsvector ts_rank websearch_to_tsquery

  coalesce gen_random_uuid greatest least nullif num_nonnulls num_nulls uuidv4 uuidv7

  bool bpchar bytea date float4 float8 int2 int4 int8 numeric text timestamptz varchar
`)

/** Functions whose result depends on more than their arguments: on the current time, or on random values. */
export const VOLATILE_FUNCTIONS: ReadonlySet<string> = listed(`
  random random_normal gen_random_uuid uuidv4 uuidv7 array_sample array_shuffle
  clock_timestamp now statement_timestamp timeofday transaction_timestamp
`)

/** Functions over several rows, and functions that return several. */
export const ROW_FUNCTIONS: ReadonlySet<string> = listed(`
  array_agg json_agg json_agg_strict json_arrayagg json_object_agg json_object_agg_strict json_object_agg_unique
  json_object_agg_unique_strict json_objectagg jsonb_agg jsonb_agg_strict jsonb_object_agg jsonb_object_agg_strict
  jsonb_object_agg_unique jsonb_object_agg_unique_strict
  any_value avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop covar_samp every max min mode
  percentile_cont percentile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
  stddev stddev_pop stddev_samp string_agg sum var_pop var_samp variance grouping
  cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number
  generate_series generate_subscripts unnest json_array_elements json_array_elements_text json_each json_each_text
  json_object_keys json_populate_recordset json_to_recordset jsonb_array_elements jsonb_array_elements_text jsonb_each
  jsonb_each_text jsonb_object_keys jsonb_path_query jsonb_path_query_tz jsonb_populate_recordset jsonb_to_recordset
  regexp_matches regexp_split_to_table string_to_table json_table
`)

/** Unquoted words before a bracket that do not call a function: keywords, and types with a length. */
export const WORDS_BEFORE_BRACKETS: ReadonlySet<string> = listed(`
  all and any array as asymmetric between by case cast columns cross cube current_date current_time current_timestamp
  distinct else end escape except exists fetch filter first from group groups having ilike in intersect is isnull join
  lateral leading left like limit localtime localtimestamp materialized natural next not notnull offset on only or order over
  overlaps partition range recursive right rollup row rows select sets similar some symmetric then to trailing union using
  values when where window with within zone bit char character dec decimal float int integer bigint smallint interval
  nchar national numeric precision real second time timestamp varying wrapper both keys keep omit omitted path passing
  nested returning error empty default conditional unconditional
`)

/**
 * Words that never name a table, function or schema: they are reserved in PostgreSQL, or do not exist there. Knowing them
 * saves a query.
 */
export const PLAIN_WORDS: ReadonlySet<string> = new Set([
  ...WORDS_BEFORE_BRACKETS,
  ...listed(`
    asc at collate date desc double false full inner interval local no none nothing null nulls outer ordinality preceding
    following unbounded exclude others ties true unknown last within without
    text boolean bool numeric jsonb json timestamptz bytea uuid varchar
  `),
])

/** Words that call a function without brackets and reveal the user or the database. */
export const REVEALING_WORDS: ReadonlySet<string> = listed(
  'current_catalog current_role current_schema current_user session_user system_user user',
)

/**
 * Types that look up texts among the names of tables, functions and roles, types of access lists, and `xml`, whose parser
 * cannot be interrupted; and their array types.
 */
export const REFUSED_TYPES: ReadonlySet<string> = new Set(
  [
    ...listed(`
      regclass regcollation regconfig regdatabase regdictionary regnamespace regoper regoperator regproc regprocedure regrole
      regtype aclitem xml
    `),
  ].flatMap((name) => [name, `_${name}`]),
)

function listed(names: string): ReadonlySet<string> {
  return new Set(names.trim().split(/\s+/))
}
