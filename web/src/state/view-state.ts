import { useMemo } from 'react'
import { useSearchParams } from 'wouter'
import { recordFilter, type RecordFilter } from '../api/record-filter.ts'
import { AS_OF_PARAMETER } from './as-of.ts'
import { conditionsToData } from './condition-data.ts'
import { isOfCell, parseConditions, type Condition } from './conditions.ts'
import { useOpenView, VIEW_PARAMETER, type SavedView } from './saved-view.ts'

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
  /** The tab of the panel; absent is that of the cell. */
  readonly tab?: PanelTab
  /** Whether the cells of the filter are reviewed one by one instead of shown in the grid. */
  readonly review?: boolean
  /** The id of the open view of the sheet; null for all records. */
  readonly savedId: string | null
  /** The groups beside the grid; null for none. */
  readonly groups: GroupsView | null
  /** Whether the pinned charts are beside the grid, if the groups are not. */
  readonly charts?: boolean
  /** The moment that the grid shows, as in `useAsOf`; null for now. */
  readonly asOf: string | null
}

/** The tabs of the provenance panel. */
export const PANEL_TABS = ['cell', 'record', 'history'] as const

export type PanelTab = (typeof PANEL_TABS)[number]

/** The groups that the panel beside the grid shows. */
export interface GroupsView {
  /** The field by whose values records are grouped. */
  readonly by: string
  /** A second field, which divides the groups; null for none. */
  readonly split: string | null
  /** The field that is added up; null for the number of records. */
  readonly total: string | null
  /** The length of time by which dates and timestamps are grouped. */
  readonly period: GroupPeriod
}

/** The lengths of time by which dates and timestamps are grouped. */
export const GROUP_PERIODS = ['day', 'month', 'year'] as const

export type GroupPeriod = (typeof GROUP_PERIODS)[number]

const DEFAULT_PERIOD: GroupPeriod = 'month'

/** The part of the state that a view of the sheet has. What the URL does not name is as in that view. */
export type ListState = Pick<ViewState, 'sort' | 'conditions' | 'sql'>

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
  const { saved } = useOpenView()
  const base = useMemo(() => listStateOf(saved), [saved])
  const view = useMemo(() => readView(new URLSearchParams(text), base), [text, base])
  const change = (wanted: ViewChange): void => {
    const isMove = Object.keys(wanted).every((key) => key === 'cell' || key === 'panel' || key === 'tab')
    // The browser's way back leads out of the past, not through every moment that was looked at.
    const isInPast = view.asOf !== null && wanted.asOf !== undefined && wanted.asOf !== null
    setParams((now) => writeView({ ...readView(now, base), ...wanted }, base), {
      replace: isMove || isInPast,
    })
  }
  return [view, change]
}

/** Returns the filter of a view; null for all records. */
export function filterOf({ conditions, sql }: Pick<ViewState, 'conditions' | 'sql'>): RecordFilter | null {
  return recordFilter({ where: conditionsToData(conditions), sql })
}

/** Returns the part of a filter that an earlier state can have: conditions on values. SQL, states, reviews and writers are those of now. */
export function pastListOf({
  conditions,
}: Pick<ViewState, 'conditions'>): Pick<ViewState, 'conditions' | 'sql'> {
  return { conditions: conditions.filter(({ is }) => !isOfCell(is)), sql: null }
}

const NO_LIST: ListState = { sort: null, conditions: [], sql: null }

/** Returns the filter and the sort order of a view of the sheet; null is the view of all records. */
export function listStateOf(saved: SavedView | null): ListState {
  if (saved === null) return NO_LIST
  const { conditions, sort, sql } = saved
  return {
    conditions: parseConditions(JSON.stringify(conditions)),
    sort: sort.length === 0 ? null : sort.join(),
    sql: sql || null,
  }
}

/** Whether two states select the same records in the same order. */
export function isSameList(one: ListState, other: ListState): boolean {
  const textOf = ({ sort, conditions, sql }: ListState): string => JSON.stringify([sort, conditions, sql])
  return textOf(one) === textOf(other)
}

export function readView(params: URLSearchParams, base: ListState = NO_LIST): ViewState {
  const [recordId, field] = (params.get('cell') ?? '').split(SEPARATOR).map(decodeURIComponent)
  return {
    sort: params.has('sort') ? params.get('sort') || null : base.sort,
    conditions: params.has('where') ? parseConditions(params.get('where')) : base.conditions,
    sql: params.has('sql') ? params.get('sql') || null : base.sql,
    cell: recordId !== undefined && recordId !== '' && field !== undefined ? { recordId, field } : null,
    panel: params.get('panel') === '1',
    tab: PANEL_TABS.find((tab) => tab === params.get('tab')) ?? 'cell',
    review: params.get('review') === '1',
    groups: readGroups(params),
    charts: params.get('charts') === '1',
    asOf: params.get(AS_OF_PARAMETER) || null,
    savedId: params.get(VIEW_PARAMETER) || null,
  }
}

export function writeView(
  { sort, conditions, sql, cell, panel, tab = 'cell', review, groups, charts, asOf, savedId }: ViewState,
  base: ListState = NO_LIST,
): URLSearchParams {
  const params = new URLSearchParams()
  if (savedId !== null) params.set(VIEW_PARAMETER, savedId)
  if (sort !== base.sort) params.set('sort', sort ?? '')
  const where = JSON.stringify(conditions)
  if (where !== JSON.stringify(base.conditions)) params.set('where', where)
  if (sql !== base.sql) params.set('sql', sql ?? '')
  if (cell !== null) params.set('cell', [cell.recordId, cell.field].map(encodeURIComponent).join(SEPARATOR))
  if (panel) params.set('panel', '1')
  if (panel && tab !== 'cell') params.set('tab', tab)
  if (review === true) params.set('review', '1')
  if (asOf !== null) params.set(AS_OF_PARAMETER, asOf)
  if (charts === true) params.set('charts', '1')
  if (groups !== null) {
    params.set('group', groups.by)
    if (groups.split !== null) params.set('split', groups.split)
    if (groups.total !== null) params.set('total', groups.total)
    if (groups.period !== DEFAULT_PERIOD) params.set('period', groups.period)
  }
  return params
}

/** Returns the groups of a field, neither divided nor added up. */
export function groupsBy(field: string): GroupsView {
  return { by: field, split: null, total: null, period: DEFAULT_PERIOD }
}

function readGroups(params: URLSearchParams): GroupsView | null {
  const by = params.get('group')
  if (!by) return null
  return {
    by,
    split: params.get('split') || null,
    total: params.get('total') || null,
    period: GROUP_PERIODS.find((period) => period === params.get('period')) ?? DEFAULT_PERIOD,
  }
}

/** Returns the URL of the grid with the drawer that edits a field. */
export function editFieldPath(field: string): string {
  return `/?${new URLSearchParams({ edit: field }).toString()}`
}

/** Returns the URL of a cell, by default with its provenance panel. */
export function cellPath(cell: CellRef, panel = true): string {
  return `/?${writeView({ ...NO_LIST, cell, panel, groups: null, asOf: null, savedId: null }).toString()}`
}
