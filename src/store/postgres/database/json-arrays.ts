/** The most characters of rows in one statement, beside one row. */
const TEXT_AT_ONCE = 1 << 19

/** Yields the JSON of rows as a few arrays, which bounds the text of a statement: the rows of an upsert may have 32 MiB. */
export function* jsonArrays(rows: Iterable<object>): Generator<string> {
  let text = ''
  for (const row of rows) {
    text += `${text === '' ? '[' : ','}${JSON.stringify(row)}`
    if (text.length < TEXT_AT_ONCE) continue
    yield `${text}]`
    text = ''
  }
  if (text !== '') yield `${text}]`
}
