/** The formats in which records are imported and exported. */
export const FILE_FORMATS = ['csv', 'json', 'ndjson', 'parquet', 'xlsx'] as const

export type FileFormat = (typeof FILE_FORMATS)[number]

interface FormatFacts {
  /** The content type in HTTP. */
  readonly contentType: string
  /** The file name extensions, the default first. */
  readonly endings: readonly string[]
}

/** The names and types of each format. */
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

/** Returns the format for a file name, or null if its extension is unknown. */
export function formatOf(path: string): FileFormat | null {
  const name = path.toLowerCase()
  return (
    FILE_FORMATS.find((format) => FORMAT_FACTS[format].endings.some((ending) => name.endsWith(ending))) ??
    null
  )
}

/** Returns the format of an input file by its name, ignoring the extension of a compression; null if unknown. */
export function inputFormatOf(path: string): FileFormat | null {
  const name = path.toLowerCase().replace(/\.(?:gz|zst)$/, '')
  const format = formatOf(name)
  if (format !== null) return name.length < path.length && !isText(format) ? null : format
  return INPUT_ENDINGS.find(([ending]) => name.endsWith(ending))?.[1] ?? null
}

/** Extensions of other programs. Spreadsheet programs name text with tabs `.txt`. */
const INPUT_ENDINGS: readonly (readonly [ending: string, format: FileFormat])[] = [
  ['.txt', 'csv'],
  ['.geojson', 'json'],
]

function isText(format: FileFormat): boolean {
  return format !== 'parquet' && format !== 'xlsx'
}

/** Returns the delimiter that the extension of a CSV file suggests, or null. */
export function delimiterOf(path: string): string | null {
  return /\.(?:tsv|tab)(?:\.(?:gz|zst))?$/i.test(path) ? '\t' : null
}

/** Whether a word names a format. */
export function isFileFormat(word: string): word is FileFormat {
  return (FILE_FORMATS as readonly string[]).includes(word)
}
