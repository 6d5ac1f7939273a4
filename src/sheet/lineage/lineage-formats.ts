/** The formats of the provenance of a sheet, beside those of its records. */
export const LINEAGE_FORMATS = ['openlineage', 'prov-json'] as const
export type LineageFormat = (typeof LINEAGE_FORMATS)[number]

/** Whether a text names a format of the provenance of a sheet. */
export function isLineageFormat(text: string): text is LineageFormat {
  return LINEAGE_FORMATS.some((format) => format === text)
}

interface LineageFormatFacts {
  /** The contents of a file, of which no part can be selected. */
  readonly contents: string
  /** The end of the name of a file. */
  readonly ending: string
  readonly contentType: string
}

export const LINEAGE_FACTS: Readonly<Record<LineageFormat, LineageFormatFacts>> = {
  openlineage: {
    contents: 'the runs of the sheet',
    ending: '.openlineage.ndjson',
    contentType: 'application/x-ndjson; charset=utf-8',
  },
  'prov-json': {
    contents: 'the whole provenance log',
    ending: '.prov.json',
    contentType: 'application/json; charset=utf-8',
  },
}
