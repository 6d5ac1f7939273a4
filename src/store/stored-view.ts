import type { JsonObject } from '../contract/json/json.ts'

/** A named way to look at the records: which, in which order, and with which columns. */
export interface View {
  readonly name: string
  readonly state: ViewState
}

/** The content of a view. Fields are named as now, whatever they were called when it was saved. */
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

export interface StoredView extends View {
  readonly id: string
  /** The actor who saved it last, and when. */
  readonly actor: string
  readonly at: string
}

export interface SavedView extends View {
  /** The id of the view to replace; null makes a view. */
  readonly id: string | null
  readonly actor: string
}

/** The most views of a sheet. */
export const MOST_VIEWS = 500

/** The views of a sheet. */
export interface ViewStore {
  /** Returns all views by name. They follow the names of fields; what names a removed field is left out. */
  list(): Promise<readonly StoredView[]>
  /**
   * Makes or replaces a view, and returns its id. Throws SheetError for an unknown id, ConflictError for a name that another
   * view has, and for more than {@link MOST_VIEWS}.
   */
  save(view: SavedView): Promise<string>
  /** Throws SheetError for an unknown id. */
  delete(id: string): Promise<void>
}
