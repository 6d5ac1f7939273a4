import type { QueryClient } from '@tanstack/react-query'
import type { RecordDifferenceAnswer } from '../../../src/wire/records/proposals.ts'
import type { SheetContract } from '../api/contract.ts'
import type { DoneChange, DoneRecords } from '../editing/undo-stack.ts'
import { addStored, undoStored, type StoredEdit } from '../editing/use-editing.ts'

/** Returns what accepting changes of records stored, as edits that can be undone. */
export function acceptedEdits(
  { fieldByName }: Pick<SheetContract, 'fieldByName'>,
  records: readonly RecordDifferenceAnswer[],
): readonly StoredEdit[] {
  const changes = records
    .filter(({ change }) => change === 'update')
    .flatMap(({ record_id: recordId, fields }) =>
      fields.flatMap(({ field: name, now, proposed }): DoneChange[] => {
        const field = fieldByName.get(name)
        return field === undefined ? [] : [{ recordId, field, before: now, after: proposed }]
      }),
    )
  const ofRecords = (kind: DoneRecords['kind'], change: 'create' | 'delete'): StoredEdit[] => {
    const ids = records.filter((record) => record.change === change).map(({ record_id: id }) => id)
    return ids.length === 0 ? [] : [{ changes: [], records: { kind, ids } }]
  }
  return [
    ...(changes.length === 0 ? [] : [{ changes }]),
    ...ofRecords('created', 'create'),
    ...ofRecords('deleted', 'delete'),
  ]
}

/** Adds what was accepted to what Ctrl+Z undoes, and returns a function that undoes exactly this. */
export function addAccepted(client: QueryClient, edits: readonly StoredEdit[], actor: string): () => void {
  const orders = addStored(edits)
  return () => undoStored(client, orders, actor)
}
