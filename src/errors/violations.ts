/** A violation of the contract or of permissions by one record of a batch. */
export interface Violation {
  /** The index of the record in the batch, from 0. */
  readonly index: number
  /** The id of the record; null when it has none. */
  readonly id: string | null
  readonly field: string
  readonly message: string
}

/** The violations of a batch: those that the message of the error lists, and the number of all. */
export interface ListedViolations {
  readonly listed: readonly Violation[]
  readonly count: number
}

/** Returns the message that lists violations; `placeOf` names the place of a record. */
export function violationsMessage(
  { listed, count }: ListedViolations,
  placeOf: (index: number) => string = (index) => `records[${index}]`,
): string {
  const texts = listed.map(({ index, id, field, message }) => {
    const who = id === null ? 'no id' : `id ${JSON.stringify(shorten(id))}`
    return `${placeOf(index)} (${who}), field ${JSON.stringify(shorten(field))}: ${message}`
  })
  return listMessage(texts, count)
}

/** Returns texts in one line; `count` is the number of all, of which they are the first. */
export function listMessage(texts: readonly string[], count: number): string {
  const listed = texts.join('; ')
  return count > texts.length ? `${listed}; and ${count - texts.length} more` : listed
}

/** Returns at most 80 characters of a text, for messages. */
export function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
