import { getRecord, getRecordAsOf } from '../../../sheet/queries/get-record.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { membersOf } from '../../terminal/object-lines.ts'

export interface WhichRecord {
  readonly id: string
  readonly fields: readonly string[] | null
  readonly asOf: string | null
}

/** Prints one record, in a table one line for each field. Throws as {@link getRecord} and {@link getRecordAsOf} do. */
export async function printRecord(
  { sheet, out }: CommandContext,
  { id, fields, asOf }: WhichRecord,
): Promise<void> {
  const json =
    asOf === null
      ? (await getRecord(sheet, id, fields)).json
      : await getRecordAsOf(sheet, id, { fields, asOf })
  const record = JSON.parse(Buffer.from(json).toString()) as Readonly<Record<string, unknown>>
  await out.print(record, (screen) => membersOf(record, screen))
}
