/** The formats in which records come in and go out. */
export const FILE_FORMATS = ['csv', 'json', 'ndjson', 'parquet', 'xlsx'] as const

export type FileFormat = (typeof FILE_FORMATS)[number]

interface FormatFacts {
  /** The content type under which HTTP sends it. */
  readonly contentType: string
  /** How names of such files end, the one for new files first. */
  readonly endings: readonly string[]
}

/** What there is to know of each format from outside. */
export const FORMAT_FACTS: Readonly<Record<FileFormat, FormatFacts>> = {
  csv: { contentType: 'text/csv; charset=utf-8; header=present', endings: ['.csv', '.tsv', '.tab'] },
  json: { contentType: 'application/json; charset=utf-8', endings: ['.json'] },
  ndjson: { contentType: 'application/x-ndjson; charset=utf-8', endings: ['.ndjson', '.jsonl'] },
  parquet: { contentType: 'application/vnd.apache.parquet', endings: ['.parquet'] },
  xlsx: {
    contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    endings: ['.xlsx'],
  },
}

/** The format that a file's name says it has, or null when its ending says nothing. */
export function formatOf(path: string): FileFormat | null {
  const name = path.toLowerCase()
  return (
    FILE_FORMATS.find((format) => FORMAT_FACTS[format].endings.some((ending) => name.endsWith(ending))) ??
    null
  )
}

/** The format of a file that is to be read, by its name, which may say that it is compressed; null when it says nothing. */
export function inputFormatOf(path: string): FileFormat | null {
  const name = path.toLowerCase().replace(/\.(?:gz|zst)$/, '')
  const format = formatOf(name)
  if (format !== null) return name.length < path.length && !isText(format) ? null : format
  return INPUT_ENDINGS.find(([ending]) => name.endsWith(ending))?.[1] ?? null
}

/** Endings of files of other programs. Spreadsheets call text with tabs `.txt`. */
const INPUT_ENDINGS: readonly (readonly [ending: string, format: FileFormat])[] = [
  ['.txt', 'csv'],
  ['.geojson', 'json'],
]

function isText(format: FileFormat): boolean {
  return format !== 'parquet' && format !== 'xlsx'
}

/** The delimiter that a CSV file's name asks for, or null when its ending says nothing. */
export function delimiterOf(path: string): string | null {
  return /\.(?:tsv|tab)(?:\.(?:gz|zst))?$/i.test(path) ? '\t' : null
}

/** Whether a word names a format. */
export function isFileFormat(word: string): word is FileFormat {
  return (FILE_FORMATS as readonly string[]).includes(word)
}
