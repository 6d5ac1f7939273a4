import { Type, type Static } from 'typebox'
import type { FileColumns } from '../../sheet/transfer/read-columns.ts'
import type { ImportResult } from '../../sheet/transfer/import-records.ts'
import { closedObject } from '../schema/closed-object.ts'
import { inDocument } from '../schema/openapi-keywords.ts'
import { flagParameter, WHOLE_NUMBER } from '../schema/page-parameters.ts'

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

/** Parameters that say how a file is read. */
const reading = {
  name: Type.String({
    minLength: 1,
    title: 'the name of the file',
    description: 'The name of the file, for messages, the run, and the format.',
    examples: ['people.csv'],
  }),
  format: Type.Optional(
    Type.String({
      description: '`csv`, `json`, `ndjson`, `parquet` or `xlsx`; by the extension of `name` when absent.',
      ...inDocument({ enum: ['csv', 'json', 'ndjson', 'parquet', 'xlsx'] }),
    }),
  ),
  encoding: Type.Optional(
    Type.String({
      description: 'The encoding of a text file, such as `windows-1252`; detected when absent.',
    }),
  ),
  delimiter: Type.Optional(
    Type.String({ description: 'The character between cells of CSV; detected when absent.' }),
  ),
  skip: Type.Optional(
    Type.String({
      pattern: WHOLE_NUMBER,
      title: 'a whole number',
      description: 'Lines, or rows of a worksheet, above the names of the columns.',
      ...inDocument({ minimum: 0 }),
    }),
  ),
  worksheet: Type.Optional(
    Type.String({ description: 'The worksheet of a workbook; the first with a table when absent.' }),
  ),
  records_at: Type.Optional(
    Type.String({
      description: 'The path of the records in JSON, such as `data.items`; detected when absent.',
    }),
  ),
  date_order: Type.Optional(
    Type.String({
      pattern: '^(dmy|mdy)$',
      title: 'dmy or mdy',
      description: 'The order of day and month in ambiguous dates.',
      ...inDocument({ pattern: undefined, enum: ['dmy', 'mdy'] }),
    }),
  ),
}

/** Query of `POST /api/import/columns`. */
export const FileColumnsQuery = closedObject(reading)
export type FileColumnsQuery = Static<typeof FileColumnsQuery>

/** Query of `POST /api/import`. */
export const ImportFileQuery = closedObject({
  ...reading,
  columns: Type.Optional(
    Type.String({
      description:
        'The fields of columns by their names; null leaves a column out. Columns that are absent follow their names.',
      ...inDocument({
        type: undefined,
        contentMediaType: 'application/json',
        contentSchema: {
          type: 'object',
          additionalProperties: { type: ['string', 'null'] },
        },
      }),
    }),
  ),
  numbered: Type.Optional(
    flagParameter(
      'With `true`, the ids are the numbers of the records, in a sheet whose ids are such numbers.',
    ),
  ),
  keep_empty: Type.Optional(flagParameter('With `true`, an empty cell keeps the present value.')),
  dry_run: Type.Optional(flagParameter('With `true`, only the effect is returned.')),
})
export type ImportFileQuery = Static<typeof ImportFileQuery>

/** Response of `POST /api/import/columns`. */
export const FileColumnsAnswer = Type.Object({
  format: Type.String(),
  columns: Type.Array(
    Type.Object({
      name: Type.String(),
      field: textOrNull('The field that it is by its name.'),
      samples: Type.Array(Type.Unknown(), { description: 'The first different values, at most three.' }),
      new_field: Type.Object(
        { name: Type.String(), type: Type.String() },
        { description: 'A free name and the type of its values, for a new field.' },
      ),
    }),
  ),
  ids: textOrNull(
    '`numbers` if records may be numbered (`numbered`), `joined` if ids are joined from fields.',
  ),
  guesses: Type.Array(Type.String(), { description: 'What was guessed about the file.' }),
})
export type FileColumnsAnswer = Static<typeof FileColumnsAnswer>

/** Response of `POST /api/import`. */
export const ImportAnswer = Type.Object({
  records: Type.Integer({ description: 'The records of the file.' }),
  inserted: Type.Integer({ description: 'Of these, new records.' }),
  updated: Type.Integer({ description: 'Existing records that change.' }),
  unchanged: Type.Integer(),
  written: Type.Boolean({ description: 'Whether they were written; false in a dry run.' }),
  run_id: textOrNull('The run that wrote them, which can be reverted; null where nothing was written.'),
  faults: Type.Array(
    Type.Object({
      place: Type.String({ description: 'The file and line, row or record.' }),
      record_id: textOrNull('Null where the record has no id.'),
      field: Type.String(),
      message: Type.String(),
    }),
    { description: 'Values that do not fit, at most a hundred; only in a dry run.' },
  ),
  fault_count: Type.Integer(),
  preview: Type.Array(
    Type.Object({
      record_id: Type.String(),
      place: Type.String(),
      change: Type.Union([Type.Literal('create'), Type.Literal('update')]),
      fields: Type.Array(Type.Object({ field: Type.String(), was: Type.Unknown(), value: Type.Unknown() })),
    }),
    { description: 'In a dry run, the first records that would be created or changed, at most fifty.' },
  ),
  guesses: Type.Array(Type.String(), { description: 'What was guessed about the file.' }),
})
export type ImportAnswer = Static<typeof ImportAnswer>

/** Converts the columns of a file to the wire format. */
export function toFileColumnsAnswer(
  format: string,
  { columns, ids, guesses }: FileColumns,
): FileColumnsAnswer {
  return {
    format,
    columns: columns.map(({ name, field, samples, newField }) => ({
      name,
      field,
      samples: [...samples],
      new_field: newField,
    })),
    ids,
    guesses: [...guesses],
  }
}

/** Converts the result of an import to the wire format. */
export function toImportAnswer(result: ImportResult, guesses: readonly string[]): ImportAnswer {
  const { records, inserted, updated, unchanged, written, run, faults, faultCount, preview } = result
  return {
    records,
    inserted,
    updated,
    unchanged,
    written,
    run_id: run,
    faults: faults.map(({ place, id, field, message }) => ({ place, record_id: id, field, message })),
    fault_count: faultCount,
    preview: preview.map(({ recordId, place, change, fields }) => ({
      record_id: recordId,
      place,
      change,
      fields: fields.map((field) => ({ ...field })),
    })),
    guesses: [...guesses],
  }
}
