import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import type { ProvenanceEntryAnswer } from '../../../src/wire/records/provenance.ts'
import type { CellExplanationAnswer } from '../../../src/wire/runs/status.ts'
import { ApiError } from '../api/api-error.ts'
import type { SheetContract } from '../api/contract.ts'
import { explanationQuery, historyQuery, recordQuery } from '../api/queries.ts'
import { useAsOf } from '../state/as-of.ts'
import type { CellRef } from '../state/view-state.ts'

/** The data of a cell, as far as it is loaded. */
export interface CellData {
  readonly record: UseQueryResult<Record<string, unknown>>
  /** Newest first. */
  readonly history: UseQueryResult<ProvenanceEntryAnswer[]>
  /** The explanation of a derived cell. */
  readonly why: UseQueryResult<CellExplanationAnswer>
  /** Whether the record does not exist. */
  readonly isGone: boolean
  /** Whether all queries have succeeded or failed. */
  readonly isComplete: boolean
}

export function useCellData({ fieldByName }: SheetContract, { recordId, field: name }: CellRef): CellData {
  const field = fieldByName.get(name)
  const asOf = useAsOf()
  const record = useQuery(recordQuery(recordId, asOf))
  const isGone = isAbsent(record.error)
  const history = useQuery({ ...historyQuery(recordId, name, asOf), enabled: field !== undefined })
  // The states of cells are those of now.
  const isDerived = field !== undefined && field.derived !== null && asOf === null
  const why = useQuery({ ...explanationQuery(recordId, name), enabled: isDerived && !isGone })
  const pending = [record, ...(field === undefined ? [] : [history]), ...(isDerived && !isGone ? [why] : [])]
  return { record, history, why, isGone, isComplete: pending.every(({ isPending }) => !isPending) }
}

function isAbsent(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 404
}
