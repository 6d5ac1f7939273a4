import type { JsonObject } from '../../contract/json/json.ts'

/** The content of a view: which records, in which order, and with which columns. Fields are named as now, whatever they were called when it was saved. */
export interface ViewState {
  /** Conditions that must all hold. A member `field`, or the list `fields`, names fields; the viewer defines the rest. */
  readonly conditions: readonly JsonObject[]
  /** A filter in SQL; null for none. */
  readonly sql: string | null
  /** Fields to sort by, with a minus for descending. */
  readonly sort: readonly string[]
  /** Settings of columns: each member is a list of fields, or has a value for each of some fields. */
  readonly columns: JsonObject
}
