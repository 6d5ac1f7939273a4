/** A fault that the server names in a batch: which record and field of the request it is about. */
export interface CellFault {
  /** Of the record in the batch. */
  readonly position: number
  readonly field: string
  readonly text: string
}

/** What there is to know of a request to read the faults that the server finds in it. */
export interface SentRecord {
  readonly id: string
}

/** A JSON text as the server writes it. */
const JSON_TEXT = String.raw`"(?:[^"\\]|\\.)*"`
const HEAD = new RegExp(
  String.raw`(^|; )records\[(\d+)\] \((?:no id|id (${JSON_TEXT}))\), field (${JSON_TEXT}): `,
  'g',
)
const MORE = /; and \d+ more$/

/**
 * The faults that a message of `POST /api/records` lists; empty when it is of another form, and so about the request as
 * a whole. Faults look like `records[0] (id "DE"), field "area": 0 is too low`, with `; ` between them, which a
 * fault's text may hold too: a new fault begins only where record, id and position fit the request.
 */
export function parseFaults(message: string, sent: readonly SentRecord[]): readonly CellFault[] {
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

/** Ids and names of fields as messages have them. */
export function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}
