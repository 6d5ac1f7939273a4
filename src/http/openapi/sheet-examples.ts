import type { SheetSchemas } from '../../sheet/schema/read-record-schemas.ts'
import type { SheetExamples } from './schemas.ts'

/** Returns examples of a sheet: its first record and its names. Without records, only those of its names. */
export function sheetExamples({ records, derivations, sample }: SheetSchemas): SheetExamples {
  const names = records === null ? {} : nameExamples(records.fields)
  const [target] = derivations?.targets ?? []
  return {
    ...names,
    ...(target === undefined ? {} : { target, targets: [target] }),
    ...(sample === null ? {} : recordExamples(JSON.parse(sample) as { readonly id: string })),
  }
}

function nameExamples(fields: readonly string[]): SheetExamples {
  const fewFields = fields.slice(0, 2)
  const list = fewFields.map((name) => `"${name}"`).join(', ')
  return {
    field: fewFields.at(-1),
    fields: fewFields,
    sort: ['-id'],
    statement: `SELECT ${list} FROM records LIMIT 10`,
  }
}

function recordExamples(record: { readonly id: string }): SheetExamples {
  const { id } = record
  return {
    recordId: id,
    recordIds: [id],
    records: [record],
    filter: `id = '${id.replaceAll("'", "''")}'`,
    where: { field: 'id', operator: 'equals', value: id },
  }
}
