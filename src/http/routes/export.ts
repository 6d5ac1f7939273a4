import { Readable } from 'node:stream'
import { Type, type Static } from 'typebox'
import { SheetError, ValidationError } from '../../errors/service-error.ts'
import { exportLineage } from '../../sheet/lineage/export-lineage.ts'
import {
  isLineageFormat,
  LINEAGE_FACTS,
  LINEAGE_FORMATS,
  type LineageFormat,
} from '../../sheet/lineage/lineage-formats.ts'
import {
  exportRecords,
  FILE_FORMATS,
  isFileFormat,
  type RecordExport,
} from '../../sheet/transfer/export-records.ts'
import { commaList } from '../../wire/schema/comma-list.ts'
import { ExportParams, ExportRecordsQuery } from '../../wire/records/export.ts'
import { RecordAnswer } from '../../wire/records/records.ts'
import { attachment } from '../response/content-disposition.ts'
import type { Operation } from '../openapi/operation.ts'
import type { Sheet } from '../../sheet/sheet.ts'
import type { Api, RouteContext } from './route-context.ts'

const BINARY = Type.String({ format: 'binary' })

/** An object that another specification describes. */
const ANY_OBJECT = Type.Object({})

const EXPORT: Operation = {
  id: 'exportRecords',
  tag: 'Files',
  summary: 'Export records or provenance as a file',
  description:
    'The file is streamed, without a length: if an error occurs while it is sent, the connection is closed early.',
  errors: [404],
  answers: {
    200: {
      description: 'The file.',
      headers: ['Content-Disposition'],
      content: {
        'text/csv': Type.String(),
        'application/json': Type.Union([Type.Array(RecordAnswer), ANY_OBJECT]),
        'application/x-ndjson': Type.Union([RecordAnswer, ANY_OBJECT]),
        'application/vnd.apache.parquet': BINARY,
        'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': BINARY,
      },
    },
  },
}

/** `GET /api/export/{format}`: any number of records as a file, or the provenance of the sheet. */
export function exportRoutes(app: Api, { sheet, read, logger }: RouteContext): void {
  const schema = { params: ExportParams, querystring: ExportRecordsQuery }
  app.get(
    '/api/export/:format',
    { ...read, schema, config: { operation: EXPORT } },
    async (request, reply) => {
      const { format } = request.params
      const file = await exportOf(sheet, format, request.query)
      const stream = Readable.from(file.bytes, { objectMode: false })
      // After the first byte an error can only be signalled by closing the connection.
      stream.on('error', (error: Error) => {
        if (reply.raw.headersSent) logger.error({ err: error, format }, 'an export failed')
      })
      return reply
        .header('content-type', file.contentType)
        .header('content-disposition', attachment(file.fileName))
        .send(stream)
    },
  )
}

function exportOf(
  sheet: Sheet,
  format: string,
  query: Static<typeof ExportRecordsQuery>,
): Promise<RecordExport> {
  if (isLineageFormat(format)) return lineageOf(sheet, format, query)
  if (!isFileFormat(format)) {
    throw new SheetError(
      `unknown export format ${JSON.stringify(format.slice(0, 40))}; known formats: ${[...FILE_FORMATS, ...LINEAGE_FORMATS].join(', ')}`,
      'unknown_format',
    )
  }
  const { fields, filter = null, where = null, sort, raw, namespace } = query
  if (namespace !== undefined) {
    throw new ValidationError(
      `namespace applies to openlineage only; ${format} has records`,
      'conflicting_parameters',
    )
  }
  return exportRecords(sheet, {
    format,
    fields: commaList(fields),
    filter,
    where,
    sort: commaList(sort),
    raw: raw === 'true',
  })
}

function lineageOf(
  sheet: Sheet,
  format: LineageFormat,
  query: Static<typeof ExportRecordsQuery>,
): Promise<RecordExport> {
  const { namespace = null, ...selection } = query
  const [given] = Object.keys(selection)
  if (given === undefined) return exportLineage(sheet, { format, namespace })
  throw new ValidationError(
    `${given} does not apply to ${format}, which has ${LINEAGE_FACTS[format].contents} and no records`,
    'conflicting_parameters',
  )
}
