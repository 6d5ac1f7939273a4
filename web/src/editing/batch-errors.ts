/** A violation in a batch that the server names by record and field. */
export interface CellError {
  /** The position of the record in the batch. */
  readonly position: number
  readonly field: string
  readonly text: string
}

/** The parts of a request that parsing its violations needs. */
export interface SentRecord {
  readonly id: string
}

/** A JSON string as the server formats it. */
const JSON_TEXT = String.raw`"(?:[^"\\]|\\.)*"`
const HEAD = new RegExp(
  String.raw`(^|; )records\[(\d+)\] \((?:no id|id (${JSON_TEXT}))\), field (${JSON_TEXT}): `,
  'g',
)
const MORE = /; and \d+ more$/

/**
 * Parses the violations in a message of `POST /api/records`; empty for a message of another form, which concerns the
 * whole request. Violations look like `records[0] (id "DE"), field "area": 0 is too low`, separated by `; `. Their
 * text may contain that too, so a new one begins only where record, id and position match the request.
 */
export function parseBatchErrors(message: string, sent: readonly SentRecord[]): readonly CellError[] {
  const heads = [...message.matchAll(HEAD)].filter(([, , position, id]) => fits(sent[Number(position)], id))
  if (heads[0]?.index !== 0) return []
  return heads.map((head, index) => {
    const end = heads[index + 1]?.index ?? message.length
    const text = message.slice(head.index + head[0].length, end)
    const isLast = index === heads.length - 1
    return {
      position: Number(head[2]),
      field: unquote(head[4] ?? ''),
      text: isLast ? text.replace(MORE, '') : text,
    }
  })
}

function fits(record: SentRecord | undefined, id: string | undefined): boolean {
  return record !== undefined && (id === undefined || unquote(id) === shorten(record.id))
}

function unquote(json: string): string {
  try {
    return String(JSON.parse(json))
  } catch {
    return ''
  }
}

/** Shortens ids and field names as the server does in messages. */
export function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}
