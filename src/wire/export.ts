import { Type } from 'typebox'
import { closedObject } from './closed-object.ts'
import { filterParameter, whereParameter } from './conditions.ts'
import { sortParameter } from './page-parameters.ts'

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
  filter: Type.Optional(filterParameter),
  where: Type.Optional(whereParameter),
  sort: Type.Optional(sortParameter),
  raw: Type.Optional(
    Type.String({
      pattern: '^(true|false)?$',
      title: 'true or false',
      description: 'With `true`, texts in CSV that look like formulas are not guarded.',
    }),
  ),
})
