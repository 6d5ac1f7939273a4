interface ColumnTypes {
  readonly integer: string
  readonly text: string
  readonly bytes: string
  /** The options of the table, which follow the list of its columns. */
  readonly options: string
}

/**
 * Creates the tables of the history of the definition.
 * - `$definition_change`: a row for each change. `effect` is JSON of a {@link DefinitionEffect}; null for an edit that was found,
 *   as is `actor`. `pending` is 1 until the files of a directory are written.
 * - `$definition_file`: the files of a change, with the hashes of their texts before and after.
 * - `$definition_text`: the texts, each once, by their SHA-256. `used` is the latest change with the text, by which the oldest
 *   are removed.
 */
export function definitionTables({ integer, text, bytes, options }: ColumnTypes): string {
  return `
  CREATE TABLE "$definition_change" (
    id ${integer} NOT NULL PRIMARY KEY, at ${text} NOT NULL, actor ${text}, note ${text}, reverts ${integer},
    effect ${text}, pending ${integer} NOT NULL
  ) ${options};
  CREATE INDEX "$definition_pending" ON "$definition_change" (id) WHERE pending = 1;
  CREATE TABLE "$definition_file" (
    "change" ${integer} NOT NULL, path ${text} NOT NULL, "before" ${bytes}, "after" ${bytes}, PRIMARY KEY ("change", path)
  ) ${options};
  CREATE TABLE "$definition_text" (
    hash ${bytes} NOT NULL PRIMARY KEY, bytes ${bytes} NOT NULL, size ${integer} NOT NULL, used ${integer} NOT NULL
  ) ${options};
  `
}
