import { useMemo } from 'react'
import { useSearchParams } from 'wouter'
import { recordFilter, type RecordFilter } from '../api/record-filter.ts'
import { conditionsToData } from './condition-data.ts'
import { parseConditions, type Condition } from './conditions.ts'

/** The state of the grid in the URL. */
export interface ViewState {
  /** `-area,name`; null for creation order. */
  readonly sort: string | null
  readonly conditions: readonly Condition[]
  /** An SQL condition from the user, combined with `conditions` by AND. */
  readonly sql: string | null
  /** The selected cell. */
  readonly cell: CellRef | null
  /** Whether the provenance panel is open. */
  readonly panel: boolean
  /** Whether the cells of the filter are reviewed one by one instead of shown in the grid. */
  readonly review?: boolean
  /** The groups beside the grid; null for none. */
  readonly groups: GroupsView | null
}

/** The groups that the panel beside the grid shows. */
export interface GroupsView {
  /** The field by whose values records are grouped. */
  readonly by: string
  /** A second field, which divides the groups; null for none. */
  readonly split: string | null
  /** The field that is added up; null for the number of records. */
  readonly total: string | null
}

export interface CellRef {
  readonly recordId: string
  readonly field: string
}

export type ViewChange = Partial<ViewState>

const SEPARATOR = '~'

/** Returns the view of the URL and its setter. Changes of the selected cell replace the history entry. */
export function useViewState(): readonly [view: ViewState, change: (change: ViewChange) => void] {
  const [params, setParams] = useSearchParams()
  const text = params.toString()
  const view = useMemo(() => readView(new URLSearchParams(text)), [text])
  const change = (wanted: ViewChange): void => {
    const isMove = Object.keys(wanted).every((key) => key === 'cell' || key === 'panel')
    setParams((now) => writeView({ ...readView(now), ...wanted }), { replace: isMove })
  }
  return [view, change]
}

/** Returns the filter of a view; null for all records. */
export function filterOf({ conditions, sql }: Pick<ViewState, 'conditions' | 'sql'>): RecordFilter | null {
  return recordFilter({ where: conditionsToData(conditions), sql })
}

export function readView(params: URLSearchParams): ViewState {
  const [recordId, field] = (params.get('cell') ?? '').split(SEPARATOR).map(decodeURIComponent)
  return {
    sort: params.get('sort') || null,
    conditions: parseConditions(params.get('where')),
    sql: params.get('sql') || null,
    cell: recordId !== undefined && recordId !== '' && field !== undefined ? { recordId, field } : null,
    panel: params.get('panel') === '1',
    review: params.get('review') === '1',
    groups: readGroups(params),
  }
}

export function writeView(view: ViewState): URLSearchParams {
  const { sort, conditions, sql, cell, panel, review, groups } = view
  const params = new URLSearchParams()
  if (sort !== null) params.set('sort', sort)
  if (conditions.length > 0) params.set('where', JSON.stringify(conditions))
  if (sql !== null) params.set('sql', sql)
  if (cell !== null) params.set('cell', [cell.recordId, cell.field].map(encodeURIComponent).join(SEPARATOR))
  if (panel) params.set('panel', '1')
  if (review === true) params.set('review', '1')
  if (groups !== null) {
    params.set('group', groups.by)
    if (groups.split !== null) params.set('split', groups.split)
    if (groups.total !== null) params.set('total', groups.total)
  }
  return params
}

function readGroups(params: URLSearchParams): GroupsView | null {
  const by = params.get('group')
  return by ? { by, split: params.get('split') || null, total: params.get('total') || null } : null
}

/** Returns the URL of the grid with the drawer that edits a field. */
export function editFieldPath(field: string): string {
  return `/?${new URLSearchParams({ edit: field }).toString()}`
}

/** Returns the URL of a cell, by default with its provenance panel. */
export function cellPath(cell: CellRef, panel = true): string {
  return `/?${writeView({ sort: null, conditions: [], sql: null, cell, panel, groups: null }).toString()}`
}
