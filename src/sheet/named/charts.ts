import type { StoredNamed } from '../../store/named/named-store.ts'
import type { ChartState } from '../../store/named/stored-chart.ts'
import { readGroups } from '../queries/summarize-records.ts'
import { resolveActor, type GivenActor } from '../resolve-actor.ts'
import { saveNamed, type SaveRequest } from './save-named.ts'
import type { Sheet } from '../sheet.ts'

export type StoredChart = StoredNamed<ChartState>
export type SaveChartRequest = SaveRequest<ChartState & { readonly group: string }>

/** Returns all charts by name, with the present names of fields. */
export async function listCharts(sheet: Sheet): Promise<readonly StoredChart[]> {
  const { store } = await sheet.current()
  return store.charts.list()
}

/**
 * Makes or replaces a chart, and returns it. Throws ValidationError for a bad name and for fields by which records cannot be
 * grouped, divided or added up, SheetError for an unknown id, ConflictError for a name that another chart has, and for too many.
 */
export async function saveChart(sheet: Sheet, request: SaveChartRequest): Promise<StoredChart> {
  const { contract, store } = await sheet.current()
  const { total, ...groups } = request.state
  readGroups(contract, { ...groups, totals: total === null ? null : [total] })
  return saveNamed<ChartState>(
    sheet,
    { store: store.charts, noun: 'chart', unknown: 'unknown_chart' },
    request,
  )
}

/** Deletes a chart. Throws SheetError for an unknown id. */
export async function deleteChart(sheet: Sheet, id: string, actor: GivenActor): Promise<void> {
  const { store } = await sheet.current()
  resolveActor(sheet, actor)
  await store.charts.delete(id)
}
