interface ColumnTypes {
  readonly integer: string
  readonly text: string
  /** The options of the table, which follow the list of its columns. */
  readonly options: string
}

/**
 * Creates the table of views. `state` is JSON of a {@link ViewState}; `fields_seq` is the seq of the last change of fields when it was
 * saved, whose names it has.
 */
export function viewTable({ integer, text, options }: ColumnTypes): string {
  return `
  CREATE TABLE "$view" (
    id ${text} NOT NULL PRIMARY KEY, name ${text} NOT NULL UNIQUE, state ${text} NOT NULL, fields_seq ${integer} NOT NULL,
    actor ${text} NOT NULL, at ${text} NOT NULL
  ) ${options};
  `
}
