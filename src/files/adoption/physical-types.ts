import { LOGICAL_TYPES, type LogicalType } from '../../contract/contract.ts'

/** Type names of databases, file formats and languages, by the type of a contract (D6). */
const NAMES: Readonly<Record<LogicalType, string>> = {
  string:
    'text varchar varchar2 nvarchar nvarchar2 char character nchar bpchar clob nclob string str utf8 uuid guid uniqueidentifier ' +
    'enum citext tinytext mediumtext longtext xml inet symbol',
  integer:
    'int integer int2 int4 int8 int16 int32 int64 bigint smallint tinyint mediumint long short byte serial bigserial ' +
    'uint8 uint16 uint32 uint64 hugeint year',
  number:
    'number numeric decimal dec float float4 float8 float32 float64 double real money smallmoney bignumeric bigdecimal ' +
    'binary_double binary_float',
  boolean: 'bool boolean bit logical',
  date: 'date date32',
  timestamp:
    'timestamp timestamptz timestamp_tz timestamp_ntz timestamp_ltz timestampltz datetime datetime2 smalldatetime datetimeoffset instant',
  time: 'time timetz',
  array: 'array list repeated set tuple',
  object: 'object struct record map json jsonb variant super row hstore',
}

const TYPES: ReadonlyMap<string, LogicalType> = new Map(
  LOGICAL_TYPES.flatMap((type) => NAMES[type].split(' ').map((name) => [name, type] as const)),
)

/**
 * Returns the type of a contract for a type name of another system (`NUMERIC(10,2)`, `ARRAY<STRING>`), null if
 * unknown.
 */
export function typeOfName(name: string): LogicalType | null {
  const text = name.trim().toLowerCase()
  if (text.endsWith('[]')) return 'array'
  // A decimal without fractional digits is an integer.
  if (/^(?:number|numeric|decimal)\s*\(\s*\d+\s*(?:,\s*0\s*)?\)/.test(text)) return 'integer'
  const [word = ''] = /^[a-z][a-z0-9_]*/.exec(text) ?? []
  return TYPES.get(word) ?? null
}
