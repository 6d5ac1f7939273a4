import { Type } from 'typebox'
import { closedObject } from './closed-object.ts'

/** Path of `GET /api/export/{format}`. */
export const ExportParams = Type.Object({
  format: Type.String({ description: '`csv`, `json`, `ndjson`, `parquet` or `xlsx`.', examples: ['csv'] }),
})

/** Query of `GET /api/export/{format}`. */
export const ExportRecordsQuery = closedObject({
  fields: Type.Optional(
    Type.String({
      description: 'Comma-separated field names, in the order of the columns; every field when absent.',
    }),
  ),
  filter: Type.Optional(Type.String({ description: 'A boolean SQL expression over the fields (D16).' })),
  sort: Type.Optional(
    Type.String({
      description:
        'Comma-separated field names, a minus before those from the greatest down; creation order when absent.',
    }),
  ),
  raw: Type.Optional(
    Type.String({
      pattern: '^(true|false)?$',
      title: 'true or false',
      description: 'With `true`, texts in CSV that look like formulas are not guarded.',
    }),
  ),
})
