import { server } from '../../api/server.ts'
import { sameValue } from '../../values/same-value.ts'
import type { CellRef } from '../../state/view-state.ts'
import type { RestoreMethod } from './restore-method.ts'

export interface RestoreOrder {
  readonly cell: CellRef
  readonly how: RestoreMethod
  readonly value: unknown
  /** The value that the user saw. */
  readonly seen: unknown
  readonly actor: string
}

/** Restores a value. Throws ApiError, or an Error if the cell has changed. */
export async function restoreValue({ cell, how, value, seen, actor }: RestoreOrder): Promise<void> {
  if (how.by === 'undo') {
    const { reverted } = await server.cells.revert({ record_id: cell.recordId, field: cell.field }, how.seq, {
      actor,
    })
    if (reverted === 0) throw new Error(CONFLICT)
    return
  }
  const { record, version } = await server.records.getVersioned(cell.recordId)
  if (!sameValue(record[cell.field], seen)) throw new Error(CHANGED)
  await server.records.upsert([{ id: cell.recordId, [cell.field]: value ?? null }], {
    actor,
    ifMatch: version,
  })
}

const CONFLICT =
  'Nothing restored: the cell was changed in the meantime, or the contract no longer allows the earlier value (for example, another record has the same unique value).'

const CHANGED = 'Nothing written: someone changed the cell in the meantime.'
