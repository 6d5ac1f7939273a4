import { LOGICAL_TYPES, type LogicalType } from '../../contract/contract.ts'

/** Names that databases, file formats and languages have for types, by what they are in a contract (D6). */
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

/** The type of a contract that a name of another system means (`NUMERIC(10,2)`, `ARRAY<STRING>`), null for an unknown one. */
export function typeOfName(name: string): LogicalType | null {
  const text = name.trim().toLowerCase()
  if (text.endsWith('[]')) return 'array'
  // An amount without a place behind the point is an integer where the database says so.
  if (/^(?:number|numeric|decimal)\s*\(\s*\d+\s*(?:,\s*0\s*)?\)/.test(text)) return 'integer'
  const [word = ''] = /^[a-z][a-z0-9_]*/.exec(text) ?? []
  return TYPES.get(word) ?? null
}
