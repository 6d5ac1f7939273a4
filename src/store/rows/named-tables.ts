interface ColumnTypes {
  readonly integer: string
  readonly text: string
  /** The options of the table, which follow the list of its columns. */
  readonly options: string
}

/** The tables of views and of charts. */
export type NamedTable = '$view' | '$chart'

/**
 * Creates the table of views or of charts. `state` is JSON of a {@link ViewState} or a {@link ChartState}; `fields_seq` is the
 * seq of the last change of fields when it was saved, whose names it has.
 */
export function namedTable(table: NamedTable, { integer, text, options }: ColumnTypes): string {
  return `
  CREATE TABLE "${table}" (
    id ${text} NOT NULL PRIMARY KEY, name ${text} NOT NULL UNIQUE, state ${text} NOT NULL, fields_seq ${integer} NOT NULL,
    actor ${text} NOT NULL, at ${text} NOT NULL
  ) ${options};
  `
}
