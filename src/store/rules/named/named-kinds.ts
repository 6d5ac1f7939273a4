import type { CodeOf } from '../../../errors/codes.ts'
import type { ConflictError } from '../../../errors/service-error.ts'
import type { NamedTable } from '../../rows/named-tables.ts'
import type { ChartState } from '../../named/stored-chart.ts'
import type { ViewState } from '../../named/stored-view.ts'
import { presentChart } from './present-chart.ts'
import { presentView, type PresentName } from './present-view.ts'

/** The rules of a kind of state that is stored under names. */
export interface NamedKind<State> {
  readonly noun: 'view' | 'chart'
  readonly table: NamedTable
  /** Returns a state with the present names of fields. */
  readonly present: (state: State, present: PresentName) => State
  /** The errors of an unknown id, of a name that another has, and of too many. */
  readonly unknown: CodeOf<'SheetError'>
  readonly exists: ConflictError['code']
  readonly tooMany: ConflictError['code']
}

export const VIEWS: NamedKind<ViewState> = {
  noun: 'view',
  table: '$view',
  present: presentView,
  unknown: 'unknown_view',
  exists: 'view_exists',
  tooMany: 'too_many_views',
}

export const CHARTS: NamedKind<ChartState> = {
  noun: 'chart',
  table: '$chart',
  present: presentChart,
  unknown: 'unknown_chart',
  exists: 'chart_exists',
  tooMany: 'too_many_charts',
}
