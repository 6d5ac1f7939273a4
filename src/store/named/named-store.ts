/** A state under a name, which people share. */
export interface Named<State> {
  readonly name: string
  readonly state: State
}

export interface StoredNamed<State> extends Named<State> {
  readonly id: string
  /** The actor who saved it last, and when. */
  readonly actor: string
  readonly at: string
}

export interface SavedNamed<State> extends Named<State> {
  /** The id of what is replaced; null makes a new one. */
  readonly id: string | null
  readonly actor: string
}

/** The most views, and the most charts, of a sheet. */
export const MOST_NAMED = 500

/** The views or the charts of a sheet. */
export interface NamedStore<State> {
  /** Returns all by name. They follow the names of fields; what names a removed field is left out. */
  list(): Promise<readonly StoredNamed<State>[]>
  /**
   * Makes or replaces one, and returns its id. Throws SheetError for an unknown id, ConflictError for a name that another one
   * has, and for more than {@link MOST_NAMED}.
   */
  save(named: SavedNamed<State>): Promise<string>
  /** Throws SheetError for an unknown id. */
  delete(id: string): Promise<void>
}
