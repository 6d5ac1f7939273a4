/** Characters of rows that go into one statement, beside one row. */
const TEXT_AT_ONCE = 1 << 19

/**
 * The JSON of rows as a few arrays, so that no statement is made of more than so much text at once: many rows of an upsert may
 * come to 32 MiB.
 */
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
