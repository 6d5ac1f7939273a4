/** A value of a statement's parameter that both engines take. */
export type QueryParam = string | number | Uint8Array | null

/** A row of a result, by the names of its columns. */
export type QueryRow = Readonly<
  Record<string, string | number | bigint | boolean | Uint8Array | null | undefined>
>

/** A statement that both engines carry out. Its parameters are `?1`, `?2` and so on, in SQL that has no other `?`. */
export interface Statement {
  readonly sql: string
  readonly params: readonly QueryParam[]
}

/** A statement that reads, with the conversion of its rows. */
export interface Query<T> extends Statement {
  result(rows: readonly QueryRow[]): T
}
