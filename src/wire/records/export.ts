import { Type } from 'typebox'
import { closedObject } from '../schema/closed-object.ts'
import { filterParameter, whereParameter } from '../schema/conditions.ts'
import { inDocument } from '../schema/openapi-keywords.ts'
import { fieldsParameter, flagParameter, sortParameter } from '../schema/page-parameters.ts'

/** Path of `GET /api/export/{format}`. */
export const ExportParams = Type.Object({
  format: Type.String({
    description:
      '`csv`, `json`, `ndjson`, `parquet` or `xlsx`: records. `openlineage` or `prov-json`: the provenance of the sheet, for other tools.',
    examples: ['csv'],
    ...inDocument({ enum: ['csv', 'json', 'ndjson', 'parquet', 'xlsx', 'openlineage', 'prov-json'] }),
  }),
})

/** Query of `GET /api/export/{format}`. */
export const ExportRecordsQuery = closedObject({
  fields: Type.Optional(
    fieldsParameter('Comma-separated field names, in the order of the columns; every field when absent.'),
  ),
  filter: Type.Optional(filterParameter),
  where: Type.Optional(whereParameter),
  sort: Type.Optional(sortParameter),
  raw: Type.Optional(flagParameter('With `true`, texts in CSV that look like formulas are not guarded.')),
  namespace: Type.Optional(
    Type.String({
      pattern: '\\S',
      maxLength: 200,
      title: 'a text of 1 to 200 characters',
      description: 'The namespace of the jobs and datasets of `openlineage` (default: `colophon`).',
      examples: ['colophon'],
    }),
  ),
})
