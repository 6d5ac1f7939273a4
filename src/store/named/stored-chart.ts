/** The lengths of time by which dates and timestamps are grouped, these in UTC. */
export type GroupPeriod = 'day' | 'month' | 'year'

/** The content of a chart: which groups of records it counts. Fields are named as now, as in a view. */
export interface ChartState {
  /** The field by whose values records are grouped; null once it is removed. */
  readonly group: string | null
  /** A second field, which divides the groups; null for none. */
  readonly split: string | null
  /** The field that is added up; null for the number of records. */
  readonly total: string | null
  readonly period: GroupPeriod
}
