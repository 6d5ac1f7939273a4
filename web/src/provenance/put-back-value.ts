import { getTagged } from '../api/http.ts'
import { revertEntry, upsertRecords } from '../api/commands.ts'
import { sameValue } from '../editing/same-value.ts'
import type { CellRef } from '../state/view-state.ts'
import type { WayBack } from './put-back.ts'

export interface PutBackOrder {
  readonly cell: CellRef
  readonly how: WayBack
  readonly value: unknown
  /** What the cell had when it was decided. */
  readonly seen: unknown
  readonly actor: string
}

/** Puts a value back. Throws ApiError, and an Error that says so when nothing was done since the cell has changed. */
export async function putBackValue({ cell, how, value, seen, actor }: PutBackOrder): Promise<void> {
  if (how.by === 'undo') {
    const { reverted } = await revertEntry(cell, how.seq, actor)
    if (reverted === 0) throw new Error(CONFLICT)
    return
  }
  const path = `/api/records/${encodeURIComponent(cell.recordId)}`
  const { value: record, tag } = await getTagged(path)
  if (!sameValue(record[cell.field], seen)) throw new Error(CHANGED)
  await upsertRecords([{ id: cell.recordId, [cell.field]: value ?? null }], actor, tag)
}

const CONFLICT =
  'Nothing was put back. Either the cell has been changed meanwhile, or the contract does not allow the old value any more, such as one that must be unique and that another record has by now.'

const CHANGED = 'Nothing was written: somebody has changed the cell meanwhile.'
