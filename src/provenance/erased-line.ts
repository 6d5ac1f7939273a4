import { isJsonObject, type JsonObject, type JsonValue } from '../contract/json/json.ts'
import { toBase64 } from '../proof/bytes.ts'
import { erasedLeaf } from '../proof/erased.ts'
import { leafOfLine } from '../proof/node-primitives.ts'
import { isEqual } from '../proof/merkle.ts'
import { hasRows } from './imported-records.ts'
import { parseLine } from './log-line.ts'

/** The values of a record that are erased from lines of the log. */
export interface ErasedValues {
  readonly recordId: string
  /** Whether the values of a field are erased, by its name right after a line. */
  isErased(field: string, seq: number): boolean
}

/** Members of the line of a computed cell that repeat no input, beside counts; any other can, as a URL or a prompt does. */
const HARMLESS: ReadonlySet<string> = new Set([
  'at',
  'actor',
  'source',
  'record_id',
  'field',
  'value',
  'previous',
  'input_hash',
  'derivation',
  'run_id',
  'received_at',
  'method',
  'model',
  'written_at',
  'erased',
  'erased_fields',
])

/**
 * Returns the text of a line of the log without the values of a record: null is in their place, and `erased_fields` names their fields.
 * `erased`, after the seq, is the leaf hash of the line as it was written, see {@link erasedLeaf}. Returns null where the line has none of these values.
 */
export function withoutValues(text: string, erased: ErasedValues): string | null {
  const line = parseLine(text)
  if (line === null) return null
  const left = hasRows(line)
    ? withoutRows(line, erased)
    : line['record_id'] === erased.recordId
      ? withoutMembers(line, erased)
      : null
  if (left === null) return null
  const { seq, erased: _hash, ...rest } = left
  const leaf = toBase64(leafOfLine(text))
  return JSON.stringify({ seq, erased: leaf, ...rest })
}

/** Whether two lines are the same, or the same but for erased values. */
export function isSameLine(one: string, other: string): boolean {
  if (one === other) return true
  const isErased = erasedLeaf(one) !== null || erasedLeaf(other) !== null
  return isErased && isEqual(leafOfLine(one), leafOfLine(other))
}

/** Returns the names of the fields whose values were erased from a line of one record; empty for a line from which none was. */
export function erasedFields({ erased, erased_fields: fields }: JsonObject): ReadonlySet<string> {
  if (typeof erased !== 'string' || !Array.isArray(fields)) return NONE
  return new Set((fields as readonly JsonValue[]).filter((name) => typeof name === 'string'))
}

const NONE: ReadonlySet<string> = new Set()

/** Returns a line with imported records without the values of one of them. */
function withoutRows(line: JsonObject, { recordId, isErased }: ErasedValues): JsonObject | null {
  const { fields, rows } = line
  if (!Array.isArray(fields)) return null
  const names = (fields as readonly JsonValue[]).map((name) => (typeof name === 'string' ? name : ''))
  const seq = Number(line['seq'])
  const place = names.indexOf('id')
  let isChanged = false
  const left = (rows as readonly JsonValue[]).map((row) => {
    if (!Array.isArray(row) || (row as readonly JsonValue[])[place] !== recordId) return row
    return (row as readonly JsonValue[]).map((value, index) => {
      if (value === null || index === place || !isErased(names[index] ?? '', seq)) return value
      isChanged = true
      return null
    })
  })
  return isChanged ? { ...line, rows: left } : null
}

/** Returns a line of a record without values. */
function withoutMembers(line: JsonObject, erased: ErasedValues): JsonObject | null {
  const known = erasedFields(line)
  const gone = new Set<string>()
  const seq = Number(line['seq'])
  const isGone = (name: JsonValue | undefined): name is string =>
    typeof name === 'string' && erased.isErased(name, seq)
  const left: Record<string, JsonValue> = { ...line }
  for (const member of VALUES) {
    const values = line[member]
    if (isJsonObject(values)) left[member] = emptied(values, isGone, gone)
  }
  // Values of removed and converted fields, which have their columns and no names.
  if (gone.size > 0) delete left['kept']
  const { field, reviewed, derivation } = line
  const cell = field ?? reviewed
  if (isGone(cell) && CELL_MEMBERS.some((member) => (line[member] ?? null) !== null)) {
    gone.add(cell)
    for (const member of CELL_MEMBERS) if (line[member] !== undefined) left[member] = null
    // Otherwise null would count as what was computed.
    delete left['input_hash']
  }
  let isChanged = gone.size > 0
  if (typeof derivation === 'string' && line['source'] !== 'revert') {
    for (const [name, value] of Object.entries(line)) {
      if (HARMLESS.has(name) || isCount(value ?? null)) continue
      delete left[name]
      isChanged = true
    }
  }
  if (!isChanged) return null
  return { ...left, erased_fields: [...known.union(gone)] }
}

/** Whether a value has no text: null, a number, a boolean, or an object of these, such as used tokens. */
function isCount(value: JsonValue): boolean {
  if (isJsonObject(value)) return Object.values(value).every((one) => isCount(one ?? null))
  return value === null || typeof value === 'number' || typeof value === 'boolean'
}

/** Members with the values of several fields by their names. */
const VALUES = ['values', 'previous', 'proposed', 'present'] as const

/** Members of the line of a cell or a review with its value. */
const CELL_MEMBERS = ['value', 'previous', 'note'] as const

function emptied(values: JsonObject, isGone: (name: string) => boolean, gone: Set<string>): JsonObject {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if ((value ?? null) === null || name === 'id' || !isGone(name)) return [name, value ?? null]
      gone.add(name)
      return [name, null]
    }),
  )
}
