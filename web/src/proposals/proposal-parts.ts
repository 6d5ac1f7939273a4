import type { ProposalCells } from '../../../src/client/client.ts'
import type { ProposalAnswer, RecordDifferenceAnswer } from '../../../src/wire/records/proposals.ts'
import { cellKey } from '../editing/edit.ts'

/** The ticked parts of a proposal: keys of {@link cellKey}. */
export type Ticked = ReadonlySet<string>

/** Stands for a record that is decided as a whole: one to be deleted, or created without values. */
const WHOLE = 'id'

/** Whether a record is decided as a whole, and not by field. */
export function isWhole({ change, fields }: RecordDifferenceAnswer): boolean {
  return change === 'delete' || fields.length === 0
}

/** Returns the key of a part: of a field, or of the record for null. */
export function partKey({ record_id: recordId }: RecordDifferenceAnswer, field: string | null): string {
  return cellKey({ recordId, field: field ?? WHOLE })
}

/** Returns the keys of the parts of a record that wait. */
export function waitingKeys(record: RecordDifferenceAnswer): readonly string[] {
  if (isWhole(record)) return record.decision === null ? [partKey(record, null)] : []
  return record.fields.filter(({ decision }) => decision === null).map(({ field }) => partKey(record, field))
}

/** Returns the records of a proposal with the parts that a decision would be on: those ticked, or all that wait where none is. */
export function chosenRecords({ records }: ProposalAnswer, ticked: Ticked): RecordDifferenceAnswer[] {
  return records.flatMap((record) => {
    const waiting = new Set(waitingKeys(record))
    const isChosen = (field: string | null): boolean => {
      const key = partKey(record, field)
      return waiting.has(key) && (ticked.size === 0 || ticked.has(key))
    }
    if (isWhole(record)) return isChosen(null) ? [record] : []
    const fields = record.fields.filter(({ field }) => isChosen(field))
    if (fields.length === 0) return []
    const isMoved = record.moved !== 'changed' || fields.some(({ moved }) => moved)
    return [{ ...record, fields, moved: isMoved ? record.moved : null }]
  })
}

/** Returns chosen records as the cells of a decision. */
export function cellsOf(records: readonly RecordDifferenceAnswer[]): readonly ProposalCells[] {
  return records.map((record) => ({
    recordId: record.record_id,
    ...(!isWhole(record) && { fields: record.fields.map(({ field }) => field) }),
  }))
}

/** Returns the ticked parts with these ticked, or not ticked where all of them are. */
export function toggled(ticked: Ticked, keys: readonly string[]): Ticked {
  const isTicked = keys.every((key) => ticked.has(key))
  const next = new Set(ticked)
  for (const key of keys) {
    if (isTicked) next.delete(key)
    else next.add(key)
  }
  return next
}

/** Returns whether all, some or none of these are ticked. */
export function tickedState(ticked: Ticked, keys: readonly string[]): 'all' | 'some' | 'none' {
  const count = keys.filter((key) => ticked.has(key)).length
  return count === 0 ? 'none' : count === keys.length ? 'all' : 'some'
}
