import {
  TIMESTAMP_SCHEMA,
  type JsonSchema,
  type SheetSchemas,
} from '../../sheet/schema/read-record-schemas.ts'

const ANY_RECORD: JsonSchema = {
  type: 'object',
  description: 'A record of the sheet.',
  additionalProperties: true,
}

const CONDITION = {
  self: { $ref: '#/components/schemas/Condition' },
  target: { $ref: '#/components/schemas/TargetName' },
  field: { $ref: '#/components/schemas/FieldName' },
}

/** Returns the components of an OpenAPI document that the definition of the sheet determines. An invalid definition allows any names. */
export function sheetComponents({
  records,
  derivations,
  sample,
}: SheetSchemas): Readonly<Record<string, JsonSchema>> {
  const examples = sample === null ? {} : { examples: [JSON.parse(sample) as unknown] }
  const descending = records?.sortable.map((name) => `-${name}`) ?? []
  return {
    Record: { ...examples, ...(records?.record ?? ANY_RECORD) },
    RecordInput: { ...examples, ...(records?.input ?? ANY_RECORD) },
    FieldName: names('A field of the contract.', records?.fields),
    SortKey: names(
      'A field to sort by; with a leading minus in descending order.',
      records === null ? undefined : [...records.sortable, ...descending],
    ),
    TargetName: names('A field that a derivation computes.', derivations?.targets),
    DerivationFile: names('A derivation file of the sheet.', derivations?.files),
    Condition: records?.condition(CONDITION) ?? { type: 'object', description: 'A condition on records.' },
    Timestamp: { description: 'A time: ISO 8601 with offset.', ...TIMESTAMP_SCHEMA },
  }
}

function names(description: string, known: readonly string[] | undefined): JsonSchema {
  const text = { type: 'string', minLength: 1, description }
  if (known === undefined) return text
  // An empty enumeration is not a valid schema.
  return { ...text, ...(known.length === 0 ? { not: {} } : { enum: known }) }
}
